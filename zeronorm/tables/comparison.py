"""The tuned `SVC` and the sparse classifier on the same rows: error, terms, time, size."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from zeronorm.base.sampling import stratified_rows
from zeronorm.classifiers.sparse_svc import SparseSVC
from zeronorm.expansion import KernelExpansion
from zeronorm.tables.model import TableEncoder

#: `SVC` is tuned on at most so many rows, as many as SparseSVC takes: a grid of fits on more
#: would take minutes.
TUNING_ROWS = 2_000
#: `SVC` is fitted on at most so many rows: the time of one fit grows with their square.
SVC_ROWS = 5_000
INNER_FOLDS = 3
#: Most iterations of a fit of `SVC`, which warns if it reaches them; usual are a few a row.
SVC_ITERATIONS = 1_000_000

#: Values of C to try for `SVC`.
SVC_C_VALUES = (0.1, 1.0, 10.0, 100.0)
#: Kernel widths to try, as multiples of gamma="scale".
GAMMA_FACTORS = (0.1, 0.3, 1.0, 3.0)
PREDICTION_ROWS = 100_000
#: For the progress bar: how many fits of an `SVC` a choice of `SparseSVC` takes as long as.
SPARSE_STEPS = 40


class FitCounter(TransformerMixin, BaseEstimator):
    """A step of a pipeline that changes nothing and counts fits, in whichever process they run.

    Parameters
    ----------
    path : str or None
        The file that grows by one byte a fit: the one thing that all processes of a search share.
    """

    def __init__(self, path: str | None = None) -> None:
        self.path = path

    def fit(self, X: Any, y: Any = None) -> FitCounter:
        """Count one."""
        if self.path is not None:
            with open(self.path, "ab") as file:
                file.write(b".")
        return self

    def transform(self, X: Any) -> Any:
        """Return `X` as it is."""
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(frozen=True)
class Rows:
    """Training rows.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Raw rows, as :func:`zeronorm.tables.reading.to_matrix` makes them.
    y : array of shape (n_rows,)
        Class codes.
    encoder : TableEncoder
        Their preprocessing; it is fitted anew on every set of training rows.
    """

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    encoder: TableEncoder

    def take(self, indices: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(self.X[indices], self.y[indices], self.encoder)

    def draw(self, limit: int | None, random_state: int) -> Rows:
        """Return at most about `limit` of the rows, every class in its share.

        A rare class keeps as many rows as the inner folds need, which may pass the limit by a few.
        """
        if limit is None or len(self.y) <= limit:
            return self
        _, codes = np.unique(self.y, return_inverse=True)
        random = np.random.RandomState(random_state)
        return self.take(stratified_rows(codes, limit, random, least=INNER_FOLDS))


@dataclass(frozen=True)
class Plan:
    """How the comparison is run.

    Parameters
    ----------
    folds : int
        Outer folds, on which the error is measured.
    n_jobs : int or None
        Processes of each search, as in `GridSearchCV`.
    random_state : int
        Seed of folds, draws and classifiers.
    counter_path : str or None
        See :class:`FitCounter`.
    n_terms : "auto" or int
        Terms of the sparse classifier.
    """

    folds: int = 5
    n_jobs: int | None = None
    random_state: int = 0
    counter_path: str | None = None
    n_terms: Any = "auto"


@dataclass(frozen=True)
class Fitted:
    """A contender tuned and fitted."""

    encoder: TableEncoder
    classifier: Any
    tuned_rows: int
    fitted_rows: int
    fit_seconds: float
    warning: str | None

    @property
    def expansion(self) -> KernelExpansion:
        """The kernel expansion it learned."""
        if isinstance(self.classifier, SVC):
            return KernelExpansion.from_svc(self.classifier)
        return self.classifier.expansion_

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the class codes of raw rows."""
        return self.classifier.predict(self.encoder.transform(X))


@dataclass(frozen=True)
class Result:
    """What the table says of one contender; times are seconds, the error is a share."""

    name: str
    fold_errors: NDArray[np.float64]
    final: Fitted
    prediction_seconds: float

    @property
    def error(self) -> float:
        """Mean error over the outer folds."""
        return float(self.fold_errors.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of that mean."""
        return float(self.fold_errors.std(ddof=1) / np.sqrt(len(self.fold_errors)))


@dataclass(frozen=True)
class Contender:
    """How a classifier is chosen on some rows, and how many it can be fitted on.

    Parameters
    ----------
    name : str
        What the table calls it.
    choose : callable
        Takes rows, a counter of fits and the plan; returns the classifier, all its parameters
        chosen, unfitted.
    steps : int
        How many fits `choose` counts.
    max_rows : int or None
        Most rows that it is fitted on.
    shares_cost : bool
        Whether C is divided by the growth from the rows it was chosen on to those it is fitted
        on, so that the losses weigh as much in sum.
    """

    name: str
    choose: Callable[[Rows, FitCounter, Plan], Any]
    steps: int
    max_rows: int | None = None
    shares_cost: bool = False


def contenders(n_terms: Any = "auto") -> list[Contender]:
    """Return the tuned `SVC` and the sparse classifier, with so many terms at most."""
    grid = len(SVC_C_VALUES) * len(GAMMA_FACTORS) * INNER_FOLDS + 1
    return [
        Contender("SVC", choose_svc, grid, SVC_ROWS),
        Contender(
            "SparseSVC", partial(choose_sparse, n_terms=n_terms), SPARSE_STEPS, shares_cost=True
        ),
    ]


def choose_svc(rows: Rows, counter: FitCounter, plan: Plan) -> SVC:
    """Choose C and gamma of an `SVC` by cross-validation, the preprocessing inside."""
    features = clone(rows.encoder).fit_transform(rows.X)
    scale = 1.0 / (features.shape[1] * (features.var() or 1.0))  # what SVC calls gamma="scale"
    grid = {
        "classify__C": SVC_C_VALUES,
        "classify__gamma": [factor * scale for factor in GAMMA_FACTORS],
    }
    classifier = SVC(cache_size=500, max_iter=SVC_ITERATIONS)
    pipeline = Pipeline([("encode", rows.encoder), ("count", counter), ("classify", classifier)])
    inner_folds = min(INNER_FOLDS, np.unique(rows.y, return_counts=True)[1].min())
    inner = StratifiedKFold(inner_folds, shuffle=True, random_state=plan.random_state)
    # A fit that fails is a bug, not a bad parameter.
    search = GridSearchCV(pipeline, grid, cv=inner, n_jobs=plan.n_jobs, error_score="raise")
    search.fit(rows.X, rows.y)
    chosen = {name: search.best_params_[f"classify__{name}"] for name in ("C", "gamma")}
    return clone(classifier).set_params(**chosen)


def choose_sparse(rows: Rows, counter: FitCounter, plan: Plan, *, n_terms: Any) -> SparseSVC:
    """Let a `SparseSVC` choose, and return one with its choices as parameters."""
    features = clone(rows.encoder).fit_transform(rows.X)
    classifier = SparseSVC(n_terms, random_state=plan.random_state, n_jobs=plan.n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of the final fit, it is reported
        classifier.fit(features, rows.y)
    for _ in range(SPARSE_STEPS):
        counter.fit(features)
    return clone(classifier).set_params(
        n_terms=classifier.n_terms_, C=classifier.C_, gamma=classifier.gamma_
    )


def count_fits(folds: int) -> int:
    """Return how many fits :func:`compare` counts."""
    return (folds + 1) * sum(contender.steps + 1 for contender in contenders())


def compare(rows: Rows, plan: Plan) -> list[Result]:
    """Measure every contender by nested cross-validation, then tune and fit it on all rows.

    Parameters
    ----------
    rows : Rows
        The training rows; every class has at least ``plan.folds`` of them.
    plan : Plan
        Folds, processes, seed.

    Returns
    -------
    list of Result
    """
    # SVC uses one core, so the times are of one core for all. The processes of a search have one
    # each anyway, and BLAS threads that have to share a core wait for each other most of the time.
    with threadpool_limits(limits=1):
        return [measure(contender, rows, plan) for contender in contenders(plan.n_terms)]


def measure(contender: Contender, rows: Rows, plan: Plan) -> Result:
    """Measure one contender; no test fold has any part in the tuning or the preprocessing."""
    outer = StratifiedKFold(plan.folds, shuffle=True, random_state=plan.random_state)
    errors = []
    for train, test in outer.split(rows.X, rows.y):
        fitted = tune_and_fit(contender, rows.take(train), plan)
        errors.append(np.mean(fitted.predict(rows.X[test]) != rows.y[test]))
    final = tune_and_fit(contender, rows, plan)
    features = final.encoder.transform(rows.X[:10_000])
    seconds = time_prediction(final.classifier.predict, features)
    return Result(contender.name, np.array(errors), final, seconds)


def tune_and_fit(contender: Contender, rows: Rows, plan: Plan) -> Fitted:
    """Choose the parameters within these rows, then fit on them.

    Of more rows than :data:`TUNING_ROWS`, or than the contender takes, a stratified draw serves.
    """
    tuning = rows.draw(TUNING_ROWS, plan.random_state)
    counter = FitCounter(plan.counter_path)
    classifier = contender.choose(tuning, counter, plan)

    fitting = rows.draw(contender.max_rows, plan.random_state)
    encoder = clone(rows.encoder).fit(fitting.X)
    features = encoder.transform(fitting.X)
    if contender.shares_cost:
        classifier.set_params(C=classifier.C * len(tuning.y) / len(fitting.y))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        seconds = time_fit(classifier, features, fitting.y)
    counter.fit(features)
    return Fitted(
        encoder=encoder,
        classifier=classifier,
        tuned_rows=len(tuning.y),
        fitted_rows=len(fitting.y),
        fit_seconds=seconds,
        warning=str(caught[0].message) if caught else None,
    )


def time_fit(classifier: Any, features: NDArray[np.float64], y: NDArray[np.intp]) -> float:
    """Fit and return the seconds it took; of a short fit, the best of three."""
    seconds = _seconds(lambda: classifier.fit(features, y))
    if seconds < 0.2:  # a hiccup of the machine would show
        seconds = min(seconds, *(_seconds(lambda: classifier.fit(features, y)) for _ in range(2)))
    return seconds


def time_prediction(
    predict: Callable[[NDArray[np.float64]], Any], features: NDArray[np.float64]
) -> float:
    """Return the seconds that `predict` takes for :data:`PREDICTION_ROWS` rows.

    A slow one is timed on fewer rows, about a second's worth, and the rest is extrapolated.
    """
    rows = np.resize(features, (1_000, features.shape[1]))
    trial = _seconds(lambda: predict(rows))
    n_timed = int(np.clip(len(rows) / trial, len(rows), PREDICTION_ROWS))
    rows = np.resize(features, (n_timed, features.shape[1]))
    return min(_seconds(lambda: predict(rows)) for _ in range(2)) * PREDICTION_ROWS / n_timed


def _seconds(action: Callable[[], Any]) -> float:
    start = time.perf_counter()
    action()
    return max(time.perf_counter() - start, 1e-9)
