"""What is compared: a tuned `SVC` or `SVR`, and the sparse machine that chooses by itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold, ParameterGrid, StratifiedKFold
from sklearn.svm import SVC, SVR

from zeronorm.base.sampling import stratified_rows
from zeronorm.classifiers import sparse_svc
from zeronorm.kernels import Kernel
from zeronorm.regressors import sparse_svr
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.metrics import OF_TASK, Metric

#: `SVC` and `SVR` are fitted on at most so many rows: the time of one fit grows with their square.
#: `SVR` takes far longer where the residuals are small: 38 s for one fit on 5 000 rows with C = 100
#: spreads of the target, 4 s on 2 000.
SVC_ROWS, SVR_ROWS = 5_000, 2_000
INNER_FOLDS = 3
#: Steps of the last fit of a sparse machine of an outer fold.
OUTER_STEPS = 100
#: Most iterations of a fit of `SVC`, which warns if it reaches them; usual are a few a row.
SVC_ITERATIONS = 1_000_000

#: What a sparse machine chooses by, for a metric that is not what it goes by anyway.
SCORING = {
    "balanced": "balanced_accuracy",
    "auc": "roc_auc",
    "log_loss": "neg_log_loss",
    "mae": "neg_mean_absolute_error",
}


@dataclass(frozen=True)
class Tuning:
    """What `SVC` or `SVR` is tuned on, and what its parameters are chosen from."""

    #: At most so many rows: a grid of fits on more would take minutes.
    rows: int
    #: Values of C to try; of `SVR` in units of the spread of the target.
    C_values: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0)
    #: Kernel widths to try, as multiples of gamma="scale".
    gamma_factors: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0)
    #: Tubes to try for `SVR`, in units of the spread of the target.
    epsilons: tuple[float, ...] = (0.05, 0.2)


#: `SVC` is tuned on as many rows as each fold of `SparseSVC` learns from, `SVR` on fewer: as above.
SVC_TUNING, SVR_TUNING = Tuning(rows=2_000), Tuning(rows=1_000)


@dataclass(frozen=True)
class Rows:
    """Training rows.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Raw rows, as :func:`zeronorm.tables.reading.to_matrix` makes them.
    y : array of shape (n_rows,)
        Class codes, or numbers.
    encoder : TableEncoder
        Their preprocessing; it is fitted anew on every set of training rows.
    """

    X: NDArray[np.floating[Any]]
    y: NDArray[Any]
    encoder: TableEncoder

    def take(self, indices: NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(self.X[indices], self.y[indices], self.encoder)

    def draw(self, limit: int | None, random_state: int, least: int = INNER_FOLDS) -> Rows:
        """Return at most about `limit` of the rows, every class in its share.

        A rare class keeps as many rows as folds need, which may pass the limit by a few.
        """
        if limit is None or len(self.y) <= limit:
            return self
        random = np.random.RandomState(random_state)
        if not are_classes(self.y):
            return self.take(np.sort(random.choice(len(self.y), limit, replace=False)))
        _, codes = np.unique(self.y, return_inverse=True)
        return self.take(stratified_rows(codes, limit, random, least=least))

    def folds(self, count: int, random_state: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Return training and test rows of every fold, every class in its share."""
        return folds_of(self.y, count, random_state)


def folds_of(
    y: NDArray[Any], count: int, random_state: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return the training and test rows of every fold."""
    kind = StratifiedKFold if are_classes(y) else KFold
    return list(kind(count, shuffle=True, random_state=random_state).split(y, y))


def are_classes(y: NDArray[Any]) -> bool:
    """Whether these are class codes, and no numbers to predict."""
    return y.dtype.kind in "iu"


@dataclass(frozen=True)
class Plan:
    """How the comparison is run.

    Parameters
    ----------
    folds : int
        Outer folds, on which the error is measured.
    n_jobs : int or None
        Processes.
    random_state : int
        Seed of folds, draws and classifiers.
    n_terms : "auto" or int
        Terms of the sparse machine.
    device : str, optional
        Where the sparse machine computes, such as "cuda".
    keep_answers : bool
        Whether decision values and probabilities of held-out rows are kept, for a report.
    task : {"classification", "regression"}
        Whether classes or numbers are predicted.
    metric : str
        What the tuned machine is tuned by, and what is shown besides the usual.
    class_weight : str, optional
        "balanced": rows of rare classes cost more.
    is_outer : bool
        Whether what is fitted is that of an outer fold, which is tested and thrown away.
    held_back : int
        Rows to test on instead of folds, where there are very many.
    """

    folds: int = 5
    n_jobs: int | None = None
    random_state: int = 0
    n_terms: Any = "auto"
    device: str | None = None
    keep_answers: bool = False
    task: str = "classification"
    metric: str = "error"
    class_weight: str | None = None
    is_outer: bool = False
    held_back: int = 0

    @property
    def needs_scores(self) -> bool:
        """Whether predictions alone do not suffice."""
        return self.keep_answers or OF_TASK[self.task][self.metric].takes_scores


@dataclass(frozen=True)
class Contender:
    """How a machine is chosen, and how many rows it can be fitted on.

    Parameters
    ----------
    name : str
        What the table calls it.
    choose : callable
        Takes rows and the plan; returns the machine, unfitted. What it does not choose, the
        machine chooses itself in ``fit``.
    max_rows : int or None
        Most rows that it is fitted on.
    tuning : Tuning, optional
        What it is tuned on, which `choose` then takes too.
    """

    name: str
    choose: Callable[..., Any]
    max_rows: int | None = None
    tuning: Tuning | None = None

    def chosen(self, rows: Rows, plan: Plan) -> Any:
        """Return the machine, unfitted."""
        given = () if self.tuning is None else (self.tuning,)
        return self.choose(rows, plan, *given)


def choose_svc(rows: Rows, plan: Plan, tuning: Tuning = SVC_TUNING) -> SVC:
    """Choose C and gamma of an `SVC` by cross-validation, the preprocessing inside.

    Of many rows a stratified draw serves.
    """
    rows = rows.draw(tuning.rows, plan.random_state)
    machine = SVC(cache_size=500, max_iter=SVC_ITERATIONS, class_weight=plan.class_weight)
    grid = {"C": list(tuning.C_values), "gamma": _gammas(rows, tuning)}
    least = np.unique(rows.y, return_counts=True)[1].min()
    return _tuned(machine, grid, rows, plan, min(INNER_FOLDS, least))


def choose_svr(rows: Rows, plan: Plan, tuning: Tuning = SVR_TUNING) -> SVR:
    """Choose C, epsilon and gamma of an `SVR` by cross-validation, the preprocessing inside.

    C and epsilon are multiples of the target's spread s, which makes the problem that of a target
    of spread one: with y = s y' and f = s f', |f|²/2 + C Σ|y - f| is s² (|f'|²/2 + C/s Σ|y' - f'|).
    """
    rows = rows.draw(tuning.rows, plan.random_state)
    spread = float(np.std(rows.y)) or 1.0
    machine = SVR(cache_size=500, max_iter=SVC_ITERATIONS, tol=1e-3 * spread)
    grid = {
        "C": [C * spread for C in tuning.C_values],
        "epsilon": [epsilon * spread for epsilon in tuning.epsilons],
        "gamma": _gammas(rows, tuning),
    }
    return _tuned(machine, grid, rows, plan, INNER_FOLDS)


def _gammas(rows: Rows, tuning: Tuning) -> list[float]:
    features = clone(rows.encoder).fit_transform(rows.X)
    scale = 1.0 / (features.shape[1] * (features.var() or 1.0))  # what SVC calls gamma="scale"
    return [factor * scale for factor in tuning.gamma_factors]


def _tuned(machine: Any, grid: dict[str, list[float]], rows: Rows, plan: Plan, folds: int) -> Any:
    """Choose by cross-validation, as `GridSearchCV` does: the first of the settings that are best.

    It is not asked to, because the settings of a fold share what they are fitted on.
    """
    # SVC has no probabilities: what takes them cannot choose, the error does.
    metric = OF_TASK[plan.task]["error" if plan.metric == "log_loss" else plan.metric]
    settings = list(ParameterGrid(grid))
    scores = joblib.Parallel(n_jobs=plan.n_jobs)(
        joblib.delayed(_scores)(machine, settings, rows, fold, metric)
        for fold in rows.folds(folds, plan.random_state)
    )
    return clone(machine).set_params(**settings[int(np.argmax(np.mean(scores, axis=0)))])


def _scores(
    machine: Any,
    settings: list[dict[str, float]],
    rows: Rows,
    fold: tuple[NDArray[np.intp], NDArray[np.intp]],
    metric: Metric,
) -> list[float]:
    """Return the score of every setting on the test rows of a fold, the preprocessing inside.

    Rows are encoded once, and the kernel values of a width serve all other parameters.
    """
    train, test = (rows.take(part) for part in fold)
    encoder = clone(rows.encoder).fit(train.X)
    learned, tested = encoder.transform(train.X), encoder.transform(test.X)
    values = {
        gamma: [Kernel("rbf", gamma).matrix(X, learned) for X in (learned, tested)]
        for gamma in {one["gamma"] for one in settings}
    }
    scores = []
    for setting in settings:
        of_learned, of_tested = values[setting["gamma"]]
        fitted = clone(machine).set_params(kernel="precomputed", **setting)
        scores.append(metric.score(fitted.fit(of_learned, train.y), of_tested, test.y))
    return scores


class _Timed:
    """A machine that chooses within ``fit``, and says how long the choice took."""

    choice_seconds = 0.0

    def _choose(self, *arguments: Any) -> Any:
        start = time.perf_counter()
        choice = super()._choose(*arguments)  # type: ignore[misc]
        self.choice_seconds = time.perf_counter() - start
        return choice


class SparseSVC(_Timed, sparse_svc.SparseSVC):
    """A :class:`zeronorm.SparseSVC` with the time of its choice."""


class SparseSVR(_Timed, sparse_svr.SparseSVR):
    """A :class:`zeronorm.SparseSVR` with the time of its choice."""


def make_sparse(rows: Rows, plan: Plan) -> SparseSVC | SparseSVR:
    """Return a sparse machine, which chooses in ``fit``.

    That of an outer fold, which is tested and thrown away, has 3 inner folds instead of 5, as many
    as the tuned machine, and half as many steps of its last fit: two thirds of the time.
    """
    options: dict[str, Any] = {"cv": INNER_FOLDS, "max_iter": OUTER_STEPS} if plan.is_outer else {}
    options |= {"random_state": plan.random_state, "n_jobs": plan.n_jobs, "device": plan.device}
    options |= {"scoring": _scoring(rows, plan)}
    if plan.task == "regression":
        return SparseSVR(plan.n_terms, **options)
    return SparseSVC(plan.n_terms, class_weight=plan.class_weight, **options)


def _scoring(rows: Rows, plan: Plan) -> str | None:
    """Return the scorer that a sparse machine chooses by; without, it goes by its own loss.

    That is made for the error of classes, and for the squares of numbers.
    """
    if plan.metric == "auc" and len(np.unique(rows.y)) > 2:
        return "roc_auc_ovr"
    return SCORING.get(plan.metric)


CONTENDERS = {
    "classification": (
        Contender("SVC", choose_svc, SVC_ROWS, SVC_TUNING),
        Contender("SparseSVC", make_sparse),
    ),
    "regression": (
        Contender("SVR", choose_svr, SVR_ROWS, SVR_TUNING),
        Contender("SparseSVR", make_sparse),
    ),
}
