"""The tuned `SVC` and the sparse classifier on the same rows: error, terms, time, size."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from zeronorm.base.sampling import stratified_rows
from zeronorm.classifiers.sparse_svc import SparseSVC
from zeronorm.exceptions import PoorFitWarning
from zeronorm.report.measurement import Answers, answers_of, joined
from zeronorm.tables.model import TableEncoder

#: `SVC` is tuned on at most so many rows, as many as each fold of `SparseSVC` learns from: a grid
#: of fits on more would take minutes.
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
    n_terms : "auto" or int
        Terms of the sparse classifier.
    device : str, optional
        Where the sparse classifier computes, such as "cuda".
    keep_answers : bool
        Whether what is said of the rows of the outer folds is kept, for a report.
    """

    folds: int = 5
    n_jobs: int | None = None
    random_state: int = 0
    n_terms: Any = "auto"
    device: str | None = None
    keep_answers: bool = False


@dataclass(frozen=True)
class Fitted:
    """A contender chosen and fitted, and how long both took."""

    encoder: TableEncoder
    classifier: Any
    fitted_rows: int
    seconds: float
    notes: list[str]

    @property
    def C(self) -> float:
        """The cost that was chosen."""
        return getattr(self.classifier, "C_", self.classifier.C)

    @property
    def gamma(self) -> float:
        """The kernel width that was chosen."""
        return getattr(self.classifier, "gamma_", self.classifier.gamma)

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the class codes of raw rows."""
        return self.classifier.predict(self.encoder.transform(X))

    def answers(self, X: NDArray[np.float64]) -> Answers:
        """Return class codes, decision values and, where there are any, probabilities."""
        return answers_of(self.classifier, self.encoder.transform(X))


@dataclass(frozen=True)
class Result:
    """What the table says of one contender; times are seconds, the error is a share."""

    name: str
    fold_errors: NDArray[np.float64]
    final: Fitted
    prediction_seconds: float
    held_out: Answers | None = None

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
    """How a classifier is chosen, and how many rows it can be fitted on.

    Parameters
    ----------
    name : str
        What the table calls it.
    choose : callable
        Takes rows and the plan; returns the classifier, unfitted. What it does not choose, the
        classifier chooses itself in ``fit``.
    max_rows : int or None
        Most rows that it is fitted on.
    """

    name: str
    choose: Callable[[Rows, Plan], Any]
    max_rows: int | None = None


def choose_svc(rows: Rows, plan: Plan) -> SVC:
    """Choose C and gamma of an `SVC` by cross-validation, the preprocessing inside.

    Of more than :data:`TUNING_ROWS` rows a stratified draw serves.
    """
    rows = rows.draw(TUNING_ROWS, plan.random_state)
    features = clone(rows.encoder).fit_transform(rows.X)
    scale = 1.0 / (features.shape[1] * (features.var() or 1.0))  # what SVC calls gamma="scale"
    grid = {
        "classify__C": SVC_C_VALUES,
        "classify__gamma": [factor * scale for factor in GAMMA_FACTORS],
    }
    classifier = SVC(cache_size=500, max_iter=SVC_ITERATIONS)
    pipeline = Pipeline([("encode", rows.encoder), ("classify", classifier)])
    inner_folds = min(INNER_FOLDS, np.unique(rows.y, return_counts=True)[1].min())
    inner = StratifiedKFold(inner_folds, shuffle=True, random_state=plan.random_state)
    # A fit that fails is a bug, not a bad parameter.
    search = GridSearchCV(pipeline, grid, cv=inner, n_jobs=plan.n_jobs, error_score="raise")
    search.fit(rows.X, rows.y)
    chosen = {name: search.best_params_[f"classify__{name}"] for name in ("C", "gamma")}
    return clone(classifier).set_params(**chosen)


def make_sparse(rows: Rows, plan: Plan) -> SparseSVC:
    """Return a `SparseSVC`, which chooses in ``fit``."""
    return SparseSVC(
        plan.n_terms,
        random_state=plan.random_state,
        n_jobs=plan.n_jobs,
        device=plan.device,
    )


CONTENDERS = (
    Contender("SVC", choose_svc, SVC_ROWS),
    Contender("SparseSVC", make_sparse),
)


def compare(
    rows: Rows, plan: Plan, update: Callable[[float, str], None] = lambda share, text: None
) -> list[Result]:
    """Measure every contender by nested cross-validation, then choose and fit on all rows.

    Parameters
    ----------
    rows : Rows
        The training rows; every class has at least ``plan.folds`` of them.
    plan : Plan
        Folds, processes, seed.
    update : callable, optional
        Takes the share that is done, and a word on what comes next.

    Returns
    -------
    list of Result
    """
    steps, total = itertools.count(), len(CONTENDERS) * (plan.folds + 1)
    # SVC uses one core, so each process has one. BLAS threads that have to share a core wait for
    # each other most of the time.
    with threadpool_limits(limits=1):
        return [
            measure(contender, rows, plan, lambda text: update(next(steps) / total, text))
            for contender in CONTENDERS
        ]


def measure(
    contender: Contender, rows: Rows, plan: Plan, announce: Callable[[str], None]
) -> Result:
    """Measure one contender; no test fold has any part in the choice or the preprocessing."""
    outer = StratifiedKFold(plan.folds, shuffle=True, random_state=plan.random_state)
    errors, answers, order = [], [], []
    for fold, (train, test) in enumerate(outer.split(rows.X, rows.y), start=1):
        announce(f"{contender.name}, fold {fold} of {plan.folds}")
        fitted = choose_and_fit(contender, rows.take(train), plan)
        if plan.keep_answers:
            answers.append(fitted.answers(rows.X[test]))
            order.append(test)
        predicted = answers[-1].predicted if answers else fitted.predict(rows.X[test])
        errors.append(np.mean(predicted != rows.y[test]))
    announce(f"{contender.name}, all rows")
    final = choose_and_fit(contender, rows, plan)
    features = final.encoder.transform(rows.X[:10_000])
    seconds = time_prediction(final.classifier.predict, features)
    held_out = joined(answers, np.concatenate(order)) if answers else None
    return Result(contender.name, np.array(errors), final, seconds, held_out)


def choose_and_fit(
    contender: Contender, rows: Rows, plan: Plan, clock: Callable[[], float] = time.perf_counter
) -> Fitted:
    """Choose the parameters within these rows, then fit on as many of them as it takes."""
    start = clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of what is not chosen
        classifier = contender.choose(rows, plan)
    fitting = rows.draw(contender.max_rows, plan.random_state)
    encoder = clone(rows.encoder).fit(fitting.X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        classifier.fit(encoder.transform(fitting.X), fitting.y)
    return Fitted(
        encoder=encoder,
        classifier=classifier,
        fitted_rows=len(fitting.y),
        seconds=clock() - start,
        notes=_notes(contender.name, caught),
    )


def _notes(name: str, caught: list[warnings.WarningMessage]) -> list[str]:
    """Return what a user should hear: that it did not converge, or is no better than guessing."""
    notes = []
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning):
            notes.append(f"{name} did not converge: {warning.message}")
        elif issubclass(warning.category, PoorFitWarning):
            notes.append(f"{name}: {warning.message}")
    return notes


def time_prediction(
    predict: Callable[[NDArray[np.float64]], Any],
    features: NDArray[np.float64],
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the seconds that `predict` takes for :data:`PREDICTION_ROWS` rows.

    A slow one is timed on fewer rows, about a second's worth, and the rest is extrapolated.
    """
    rows = np.resize(features, (1_000, features.shape[1]))
    trial = _seconds(lambda: predict(rows), clock)
    n_timed = int(np.clip(len(rows) / trial, len(rows), PREDICTION_ROWS))
    rows = np.resize(features, (n_timed, features.shape[1]))
    return min(_seconds(lambda: predict(rows), clock) for _ in range(2)) * PREDICTION_ROWS / n_timed


def _seconds(action: Callable[[], Any], clock: Callable[[], float]) -> float:
    start = clock()
    action()
    return max(clock() - start, 1e-9)
