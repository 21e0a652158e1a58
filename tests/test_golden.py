"""Every estimator finds what it found when the golden record was made (``tests/golden``).

For changes that are to leave results as they are. One test is one estimator on one problem; how
exact it compares is said in ``golden/cases.py``. Where a result is meant to change, say so in the
change, and run ``python -m tests.golden.record``, with ``--only`` for the cases concerned.
"""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import zeronorm as z
from tests.golden.cases import CASES, SENSITIVE, SETTINGS, case_name, tolerance_of
from tests.golden.problems import FRESH, PROBLEMS, make_problem
from tests.golden.record import FILE, observe, read, versions

RECORD = read()

#: Came after the record; SparseSVC has a new learner since, and is to find something else.
NEWER = {
    "OneClassReducer",
    "RelevanceVectorRegressor",
    "SVRReducer",
    "SparseKernelFisher",
    "SparseKernelPCA",
    "SparseOneClassSVM",
    "SparseSVC",
    "SparseSVR",
    "ZeroNormQuantizer",
    "ZeroNormSVR",
}

#: An objective that is zero but for rounding has no relative error.
FLOOR = 1e-7


def off(found, recorded, kind, tolerance, floor):
    """What is to be said of two numbers or arrays that differ, or an empty list.

    Differences are measured against the recorded size, or ``floor`` where that is larger.
    """
    found, recorded = np.asarray(found, float), np.asarray(recorded, float)
    if found.shape != recorded.shape:
        return [f"{kind}: shape {found.shape}, recorded {recorded.shape}"]
    gap = np.abs(found - recorded) / np.maximum(np.abs(recorded), floor)
    if np.all(gap <= tolerance):
        return []
    at = np.unravel_index(np.argmax(np.where(np.isnan(gap), np.inf, gap)), gap.shape)
    where = f" at {tuple(map(int, at))}" if at else ""
    return [
        f"{kind}{where}: {found[at]:.10g}, recorded {recorded[at]:.10g}: off by {gap[at]:.1e}, "
        f"allowed {tolerance:.0e}"
    ]


def lead(values):
    """How far each row is from another label: from zero, or between the two largest outputs."""
    values = np.asarray(values, float)
    if values.ndim == 1:
        return np.abs(values)
    first, second = np.sort(values, axis=1).T[[-1, -2]]
    return first - second


def differences(found, recorded, tolerance):
    """Sentences about all that is not as recorded."""
    said = []
    for key in ("n_terms", "support", "ranking", "choices", "values", "labels", "objective"):
        if (key in found) != (key in recorded):
            return [f"{key} {'is new' if key in found else 'is gone'}"]
    for key in ("n_terms", "support", "ranking"):
        if found.get(key) != recorded.get(key):
            said.append(f"{key}: {found[key]}, recorded {recorded[key]}")
    for key, value in recorded.get("choices", {}).items():
        if key not in found["choices"]:
            said.append(f"{key} is gone")
        else:
            said += off(found["choices"][key], value, key, tolerance.objective, FLOOR)
    for key, exact, floor in (
        ("objective", tolerance.objective, FLOOR / tolerance.objective),
        ("scaling", tolerance.value, 1.0),
        ("values", tolerance.value, 1.0),
    ):
        if key in recorded:
            said += off(found[key], recorded[key], key, exact, floor)
    if "labels" in recorded:
        near = 2 * tolerance.value * max(1.0, np.max(np.abs(recorded["values"])))
        clear = lead(recorded["values"]) > near
        pairs = zip(found["labels"], recorded["labels"], clear, strict=True)
        said += [
            f"label of row {row}: {label}, recorded {before}"
            for row, (label, before, sure) in enumerate(pairs)
            if sure and label != before
        ]
    return said


#: Searches and learned vectors follow the last digits of the libraries below.
OTHER = [
    f"{key} {versions()[key]}"
    for key, then in RECORD["versions"].items()
    if versions()[key] != then
]


@pytest.mark.golden
@pytest.mark.skipif(bool(OTHER), reason=f"the record is of other versions than {', '.join(OTHER)}")
@pytest.mark.parametrize(("name", "problem"), CASES, ids=lambda part: part)
def test_finds_what_it_found(name, problem):
    case = case_name(name, problem)
    said = differences(observe(name, problem), RECORD["cases"][case], tolerance_of(name, problem))
    assert not said, f"{case}:\n  " + "\n  ".join(said)


def test_every_case_is_recorded_and_no_other():
    assert list(RECORD["cases"]) == [case_name(*case) for case in CASES]
    assert set(SENSITIVE) <= set(RECORD["cases"])
    assert FILE.stat().st_size < 150_000


def test_every_estimator_has_at_least_three_problems():
    tried = {}
    for name, problem in CASES:
        maker = SETTINGS[name].make(make_problem(problem))
        tried.setdefault(type(maker).__name__, set()).add(problem)
    public = {name: getattr(z, name) for name in z.__all__}
    estimators = [
        name
        for name, item in public.items()
        if isinstance(item, type) and issubclass(item, BaseEstimator)
    ]
    missing = [name for name in estimators if len(tried.get(name, ())) < 3 and name not in NEWER]
    assert len(estimators) > 15
    assert not missing, f"fewer than three problems: {', '.join(missing)}"


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_have_twelve_fresh_rows(name):
    problem = make_problem(name)
    assert problem.X_fresh.shape == (FRESH, problem.X.shape[1])
    assert len(problem.y) == problem.X.shape[0]
