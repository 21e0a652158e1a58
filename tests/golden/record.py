"""Write down what every estimator finds on the fixed problems, for ``tests/test_golden.py``.

    python -m tests.golden.record [--only ReducedSVC,moons] [--out FILE]

Run it before a change that is to leave results as they are, and never to make a failing test pass:
a new record is a claim that the new figures are the right ones. ``--only`` takes the cases whose
name contains one of the words, and leaves the others in the file as they are.
"""

import argparse
import hashlib
import json
import platform
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import scipy
import sklearn

from .cases import CASES, SETTINGS, case_name
from .problems import make_problem

FILE = Path(__file__).with_name("record.json")

DIGITS = 10
#: Longer lists of rows are recorded as their number and a hash.
LONG = 12
#: What an estimator chose itself.
CHOICES = ("C_", "gamma_", "lam_", "bandwidth_", "best_params_")


def rounded(values):
    """Numbers with ten significant digits, in lists as deep as the array."""
    if np.ndim(values):
        return [rounded(value) for value in values]
    return float(f"{float(values):.{DIGITS}g}")


def brief(indices):
    """A list of indices, or its length and a hash of it."""
    indices = [int(index) for index in indices]
    if len(indices) <= LONG:
        return indices
    digest = hashlib.sha256(",".join(map(str, indices)).encode()).hexdigest()
    return f"{len(indices)}:{digest[:16]}"


def fitted(name, problem):
    """The estimator of this setting after its fit, and nothing said."""
    estimator = SETTINGS[name].make(problem)
    weight = {} if problem.sample_weight is None else {"sample_weight": problem.sample_weight}
    if name.startswith("AROMClassifier"):  # takes no weights
        weight = {}
    return estimator.fit(problem.X, problem.y, **weight)


def objective(model):
    """What the fit made small, in the words of this estimator, or None."""
    if hasattr(model, "objective_"):
        return model.objective_
    history = getattr(model, "history_", {})
    for key in ("objective", "bound", "residual"):
        if key in history:
            return history[key][-1]
    return None


def choices(model):
    """The parameters that the estimator chose itself, as numbers by name."""
    found = {}
    for key in CHOICES:
        value = getattr(model, key, None)
        if isinstance(value, dict):
            found |= {inner: rounded(number) for inner, number in value.items()}
        elif value is not None:
            found[key] = rounded(value)
    return found


def observe(name, problem_name):
    """Fit, and return what is recorded about a case."""
    problem = make_problem(problem_name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(name, problem)
        best = getattr(model, "best_estimator_", model)
        found = {"choices": choices(best) | choices(model)}
        if (value := objective(best)) is not None:
            found["objective"] = rounded(value)
        if hasattr(best, "ranking_"):
            found["n_terms"] = int(best.n_features_)
            used = np.flatnonzero(best.support_)
            found["support"] = brief(used)
            # Of features that vanish together rounding errors settle the rank; of these, none.
            best_first = used[np.argsort(best.ranking_[used], kind="stable")][:LONG]
            found["ranking"] = best_first.tolist()
            found["scaling"] = rounded(best.scaling_[best_first])
        else:
            found["n_terms"] = int(best.n_terms_)
            if hasattr(best, "support_"):
                found["support"] = brief(best.support_)
        if hasattr(model, "score_samples"):
            found["values"] = rounded(model.score_samples(problem.X_fresh))
        elif hasattr(model, "decision_function"):
            found["values"] = rounded(model.decision_function(problem.X_fresh))
            found["labels"] = model.predict(problem.X_fresh).tolist()
    return {key: value for key, value in found.items() if value != {}}


def versions():
    """What the figures were made with."""
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def read(file=FILE):
    """The record: versions, and what was found for every case, by its name."""
    return json.loads(file.read_text())


def write(record, file=FILE):
    """One case to a line, so that a change of the record can be read."""
    lines = [
        f"{json.dumps(case)}: {json.dumps(found, separators=(',', ':'))}"
        for case, found in record["cases"].items()
    ]
    body = ",\n".join(lines)
    file.write_text(f'{{"versions": {json.dumps(record["versions"])},\n"cases": {{\n{body}\n}}}}\n')


def main(arguments=None):
    """Read the options, fit, write."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden.record", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--only", default="", help="words, one of which the case's name contains")
    parser.add_argument("--out", type=Path, default=FILE, help="the file to write")
    parser.add_argument("--times", action="store_true", help="list the seconds of every case")
    options = parser.parse_args(arguments)
    words = options.only.split(",")
    before = read(options.out)["cases"] if options.only and options.out.exists() else {}
    cases, seconds = {}, {}
    for name, problem in CASES:
        case = case_name(name, problem)
        if any(word in case for word in words):
            start = time.process_time()
            cases[case] = observe(name, problem)
            seconds[case] = time.process_time() - start
        elif case in before:
            cases[case] = before[case]
    write({"versions": versions(), "cases": cases}, options.out)
    if options.times:
        for case in sorted(seconds, key=seconds.get):
            print(f"{seconds[case]:7.2f}  {case}")
    print(f"{len(seconds)} cases in {sum(seconds.values()):.0f} s of processor time: {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
