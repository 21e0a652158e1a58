# The targets of this file are the CI. Each one puts into .venv what it needs and no more, and does so
# again only when pyproject.toml has changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# What is in .venv: the package by itself, or with what its tests, the linters, pictures or the
# benchmarks (all rivals) need besides. A new need is a line here.
PLAIN := $(VENV)/.plain
TEST := $(VENV)/.test
LINT := $(VENV)/.lint
PLOT := $(VENV)/.plot
BENCH := $(VENV)/.bench
DOCS := $(VENV)/.docs
EXTRAS :=
$(TEST): EXTRAS := [test,plot,parquet,dask,rvm,onnx]
$(LINT): EXTRAS := [lint]
$(PLOT): EXTRAS := [plot]
$(BENCH): EXTRAS := [bench]
$(DOCS): EXTRAS := [docs]

# One BLAS thread per test worker: two workers with two threads each only get in each other's way.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
DEMO := build/demo

.PHONY: help demo test floors devices embedded cross-tools lint format papers golden sweep fuzz bench bench-quick bench-guard check-results docs clean

# Two pips in one .venv get in each other's way.
.NOTPARALLEL:

help:
	@echo "make demo    fit a sparse classifier on a small CSV file and predict a few rows with it"
	@echo "make test    the fast tests"
	@echo "make floors  the same with the oldest versions that pyproject.toml allows"
	@echo "make embedded  exported C on microcontrollers in QEMU; says what to install for it"
	@echo "make lint    ruff (lint and format) and mypy"
	@echo "make format  let ruff rewrite what it can"
	@echo "make papers  the slow checks against published figures"
	@echo "make golden  whether every estimator finds what it found when tests/golden was recorded"
	@echo "make sweep   every classifier against SVC on hundreds of generated problems, in minutes"
	@echo "make fuzz    ten thousand calls with unhappy input; lists every distinct failure"
	@echo "make bench-quick  a tenth of every benchmark, in minutes, into build/bench-quick"
	@echo "make bench   every benchmark, in hours; rewrites RESULTS.md, and figures of README and docs"
	@echo "make bench-guard  whether a dozen fits are as good and as fast as recorded, in a minute or two"
	@echo "make check-results  whether RESULTS.md, README and docs are what the recorded runs say"
	@echo "make docs    the documentation into build/docs, with its gallery; follows every link"
	@echo "make clean   remove everything the other targets made, .venv included"
	@echo "Another Python: make test PYTHON=python3.12"

demo: $(PLAIN)
	@$(BIN)/python examples/make_demo_csv.py $(DEMO)
	$(BIN)/zeronorm fit $(DEMO)/train.csv --target outcome --out $(DEMO)/model.json
	$(BIN)/zeronorm predict $(DEMO)/model.json $(DEMO)/new.csv

test: $(TEST)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal

FLOORS := build/floors
PINS := import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
  print(*(d.replace(">=", "==") for d in p["dependencies"] + p["optional-dependencies"]["test"]))

floors:
	rm -rf $(FLOORS)
	$(PYTHON) -m venv $(FLOORS)
	$(FLOORS)/bin/python -m pip install --quiet . $$($(PYTHON) -c '$(PINS)')
	$(ONE_THREAD) $(FLOORS)/bin/python -m pytest -n 2 --dist worksteal

# SparseSVC, reducers and Dask's workers on arrays of other libraries, and the code of the guide's page on GPUs; PyTorch is large, so that `make test` does without it.
devices: $(TEST)
	$(BIN)/python -m pip install -q -e '.[gpu]' array-api-strict
	SCIPY_ARRAY_API=1 $(ONE_THREAD) $(BIN)/python -m pytest -n 2 tests/test_arrays.py \
		tests/classifiers/test_sparse_svc_devices.py tests/learned/test_stochastic.py \
		tests/reduction/test_devices.py tests/dask/test_sums.py
	$(ONE_THREAD) $(BIN)/python -m pytest tests/docs/test_snippets.py -k gpu

# Exported C, cross-compiled and run in QEMU: the tests, then the figures of the size table.
embedded: cross-tools $(TEST)
	$(ONE_THREAD) $(BIN)/python -m pytest tests/export/test_embedded.py
	$(ONE_THREAD) $(BIN)/python -m benchmarks run embedded

cross-tools:
	@command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || { \
		echo "make embedded needs two packages: apt-get install gcc-arm-none-eabi qemu-system-arm"; \
		exit 1; }

lint: $(LINT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(LINT)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

papers: $(TEST)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m papers tests/papers

golden: $(TEST)
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m golden tests/test_golden.py

# Options go into SWEEP and FUZZ: make sweep SWEEP="--only SparseSVC --seeds 8:12"
sweep: $(PLAIN)
	$(ONE_THREAD) $(BIN)/python -m tests.sweep $(SWEEP)

fuzz: $(TEST)
	$(ONE_THREAD) $(BIN)/python -m tests.fuzz $(FUZZ)

# Where data are missing (see benchmarks/data.py), a study leaves them out and says so.
bench: $(BENCH)
	$(ONE_THREAD) $(BIN)/python -m benchmarks run

bench-quick: $(BENCH)
	$(ONE_THREAD) $(BIN)/python -m benchmarks run --quick

# A dozen fits beside the recorded ones; options go into GUARD: make bench-guard GUARD="--only RVM"
bench-guard: $(PLAIN)
	$(ONE_THREAD) $(BIN)/python -m benchmarks.guard $(GUARD)

check-results: $(PLOT)
	$(BIN)/python -m benchmarks render --check
	$(BIN)/python -m benchmarks.spot_check --all

# Warnings are errors. The pages are then opened in Chromium, where there is one.
docs: $(DOCS)
	$(ONE_THREAD) $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs build/docs
	$(BIN)/python docs/check_links.py build/docs
	$(BIN)/python -m pytest -q tests/docs/test_pages.py
	@echo "Open build/docs/index.html."

clean:
	rm -rf docs/api docs/gallery
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PLAIN) $(TEST) $(LINT) $(PLOT) $(BENCH) $(DOCS): pyproject.toml | $(BIN)/pip
	@echo "Installing zeronorm$(EXTRAS) into $(VENV) (once; up to a minute) ..."
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --editable '.$(EXTRAS)' || \
		{ echo "Could not install it; this says why: $(BIN)/pip install --editable '.$(EXTRAS)'"; exit 1; }
	@touch $@

# Some systems ship Python without the piece that puts pip into a new environment; then the
# system's own pip puts it there.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "zeronorm needs Python 3.11 or newer, but $(PYTHON) is %d.%d; name another one: make PYTHON=python3.12" % v[:2])'
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { $(PYTHON) -m venv --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install --quiet --quiet pip; }
