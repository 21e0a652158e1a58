"""The tuned machine and the sparse one on the same rows: error, terms, times, size."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from zeronorm.exceptions import PoorFitWarning
from zeronorm.model_selection import standard_error
from zeronorm.report.measurement import Answers, answers_of, joined
from zeronorm.tables.contenders import CONTENDERS, Contender, Plan, Rows, folds_of
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.metrics import OF_TASK, USUAL
from zeronorm.tables.model import TableModel
from zeronorm.tables.target import Numbers, Target

PREDICTION_ROWS = 100_000
#: A slow prediction is timed for about so many seconds.
TIMING_SECONDS = 0.1


@dataclass(frozen=True)
class Fitted:
    """A contender chosen and fitted, and how many seconds each of both took."""

    encoder: TableEncoder
    machine: Any
    fitted_rows: int
    tuning_seconds: float
    fit_seconds: float
    notes: list[str]

    def chosen(self) -> dict[str, float]:
        """Return the parameters that were chosen: C, gamma and, for numbers, epsilon."""
        names = ("C", "gamma", "epsilon") if is_regressor(self.machine) else ("C", "gamma")
        found = (getattr(self.machine, f"{n}_", getattr(self.machine, n)) for n in names)
        return {name: float(np.ravel(value)[0]) for name, value in zip(names, found, strict=True)}

    def answers(self, X: NDArray[Any], with_scores: bool = True) -> Answers:
        """Return predictions and, where they are asked for and exist, scores and probabilities."""
        features = self.encoder.transform(X)
        if with_scores:
            return answers_of(self.machine, features)
        return Answers(np.asarray(self.machine.predict(features)))


@dataclass(frozen=True)
class Result:
    """What the table says of one contender.

    Parameters
    ----------
    name : str
        Its name.
    values : dict of str to array
        Each metric in every outer fold; NaN where it has no value.
    final : Fitted
        Chosen and fitted on all rows.
    prediction_seconds : float
        For :data:`PREDICTION_ROWS` rows.
    held_out : Answers
        What was said of every row by the model of the fold that had not seen it.
    """

    name: str
    values: dict[str, NDArray[np.float64]]
    final: Fitted
    prediction_seconds: float
    held_out: Answers

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over the outer folds."""
        return float(self.values[metric].mean())

    def standard_error(self, metric: str) -> float:
        """Return the standard error of that mean."""
        return float(standard_error(self.values[metric]))

    @property
    def fold_errors(self) -> NDArray[np.float64]:
        """Error of every fold, or its root mean square."""
        return next(iter(self.values.values()))


def guess_mean(y: NDArray[np.float64], plan: Plan) -> dict[str, NDArray[np.float64]]:
    """Return every metric, in every fold, of always answering the mean of the training rows."""
    folds = folds_of(y, plan.folds, plan.random_state)
    return measured(
        [(Answers(np.full(len(test), y[train].mean())), y[test]) for train, test in folds], plan
    )


def measured(
    parts: list[tuple[Answers, NDArray[Any]]], plan: Plan
) -> dict[str, NDArray[np.float64]]:
    """Return the usual metrics, and the one that was asked for, on each part of the rows."""
    metrics = {name: OF_TASK[plan.task][name] for name in (*USUAL[plan.task], plan.metric)}
    return {
        name: np.array([metric.value(*part) for part in parts], dtype=np.float64)
        for name, metric in metrics.items()
    }


@dataclass(frozen=True)
class Comparison:
    """All that was found.

    Parameters
    ----------
    results : list of Result
        One for each contender, the sparse machine last.
    models : list of TableModel
        What each of them learned.
    target : Target or Numbers
        The answers of the rows that were judged.
    n_rows : int
        How many rows there are in all.
    plan : Plan
        How it was made.
    guess : dict of str to array
        For numbers, every metric of always answering the mean.
    """

    results: list[Result]
    models: list[TableModel]
    target: Target | Numbers
    n_rows: int
    plan: Plan
    guess: dict[str, NDArray[np.float64]]


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
    contenders = CONTENDERS[plan.task]
    folds = rows.folds(plan.folds, plan.random_state)
    # The longest work first: the sparse machine, on all rows. All works beside each other, each in
    # one process, as choices have parts that wait for others.
    tasks = [(i, k) for k in range(-1, len(folds)) for i in reversed(range(len(contenders)))]
    names = [
        f"{contenders[i].name}, {'all rows' if k < 0 else f'fold {k + 1} of {len(folds)}'}"
        for i, k in tasks
    ]
    # What computes on a device has it for itself.
    n_jobs = 1 if plan.device is not None else plan.n_jobs
    single = replace(plan, n_jobs=1)
    found = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(_work)(contenders[i], rows, single, None if k < 0 else folds[k])
        for i, k in tasks
    )
    done: dict[tuple[int, int], Any] = {}
    for count, task in enumerate(tasks):
        update(count / len(tasks), names[count])
        done[task] = next(found)
    return [
        _result(contender, rows, plan, done[i, -1], [done[i, k] for k in range(len(folds))])
        for i, contender in enumerate(contenders)
    ]


def _work(
    contender: Contender,
    rows: Rows,
    plan: Plan,
    fold: tuple[NDArray[np.intp], NDArray[np.intp]] | None,
) -> Fitted | Answers:
    """Choose and fit on all rows; or on those of a fold, to predict its test rows.

    No test row has any part in the choice or the preprocessing.
    """
    # SVC uses one core, so each process has one. BLAS threads that have to share a core wait for
    # each other most of the time.
    with threadpool_limits(limits=1):
        if fold is None:
            return choose_and_fit(contender, rows, plan)
        train, test = fold
        fitted = choose_and_fit(contender, rows.take(train), replace(plan, is_outer=True))
        return fitted.answers(rows.X[test], plan.needs_scores)


def _result(
    contender: Contender, rows: Rows, plan: Plan, final: Fitted, parts: list[Answers]
) -> Result:
    tests = [test for _, test in rows.folds(plan.folds, plan.random_state)]
    values = measured([(part, rows.y[test]) for part, test in zip(parts, tests, strict=True)], plan)
    features = final.encoder.transform(rows.X[:10_000])
    with threadpool_limits(limits=1):
        seconds = time_prediction(final.machine.predict, features)
    return Result(contender.name, values, final, seconds, joined(parts, np.concatenate(tests)))


def choose_and_fit(
    contender: Contender,
    rows: Rows,
    plan: Plan,
    clock: Callable[[], float] = time.perf_counter,
    is_encoded: bool = False,
) -> Fitted:
    """Choose the parameters within these rows, then fit on as many of them as it takes.

    The encoder learns from the same rows, unless they are the features that it made.
    """
    start = clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of what is not chosen
        machine = contender.chosen(rows, plan)
    chosen = clock()
    fitting = rows.draw(contender.max_rows, plan.random_state)
    encoder = rows.encoder if is_encoded else clone(rows.encoder).fit(fitting.X)
    features = fitting.X if is_encoded else encoder.transform(fitting.X)
    notes = fit_and_note(contender.name, machine, features, fitting.y)
    inside = getattr(machine, "choice_seconds", 0.0)  # what it chose within fit
    return Fitted(
        encoder=encoder,
        machine=machine,
        fitted_rows=len(fitting.y),
        tuning_seconds=chosen - start + inside,
        fit_seconds=max(0.0, clock() - chosen - inside),
        notes=notes,
    )


def fit_and_note(name: str, machine: Any, X: NDArray[Any], y: NDArray[Any]) -> list[str]:
    """Fit; return what a user should hear: no convergence, or no better than guessing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        machine.fit(X, y)
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

    A slow one is timed on fewer rows, :data:`TIMING_SECONDS` worth, and the rest is extrapolated.
    """
    rows = np.resize(features, (1_000, features.shape[1]))
    trial = _seconds(lambda: predict(rows), clock)
    n_timed = int(np.clip(TIMING_SECONDS * len(rows) / trial, len(rows), PREDICTION_ROWS))
    rows = np.resize(features, (n_timed, features.shape[1]))
    return min(_seconds(lambda: predict(rows), clock) for _ in range(2)) * PREDICTION_ROWS / n_timed


def _seconds(action: Callable[[], Any], clock: Callable[[], float]) -> float:
    start = clock()
    action()
    return max(clock() - start, 1e-9)
