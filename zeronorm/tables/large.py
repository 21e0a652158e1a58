"""The comparison on very many rows: judged by rows held back, not by folds.

The sparse machine learns from all other rows, as features on the disk. The tuned machine, whose
time grows with the square of the rows, has a draw of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from zeronorm.report.measurement import Answers
from zeronorm.tables.comparison import Fitted, Result, choose_and_fit, measured, time_prediction
from zeronorm.tables.contenders import CONTENDERS, Plan, Rows
from zeronorm.tables.encoding import TableEncoder
from zeronorm.tables.streaming import SAMPLE_ROWS, Update, write_features
from zeronorm.tables.table import TableError
from zeronorm.tables.target import Numbers, Target
from zeronorm.tables.training import Training

#: Rows to judge by: at most so many, and one in five at most.
HELD_BACK, LEAST_SHARE = 20_000, 5
#: Parts of them, whose spread gives the standard error.
PARTS = 10


def held_back_rows(n_rows: int, random_state: int) -> NDArray[np.intp]:
    """Draw the rows to judge by; their numbers, sorted."""
    random = np.random.default_rng(random_state)
    count = min(HELD_BACK, n_rows // LEAST_SHARE)
    return np.sort(random.choice(n_rows, count, replace=False, shuffle=False))


def compare_large(
    training: Training,
    test: NDArray[np.intp],
    plan: Plan,
    folder: Path,
    update: Update,
) -> tuple[list[Result], dict[str, NDArray[np.float64]]]:
    """Choose and fit on all rows but those of `test`, and judge by these.

    Returns
    -------
    results : list of Result
        The values of a metric are those of parts of the rows to judge by.
    guess : dict of str to array
        For numbers, the same of always answering the mean.
    """
    tuned, sparse = CONTENDERS[plan.task]
    is_learned = np.ones(len(training.X), dtype=bool)
    is_learned[test] = False
    sample = _sample(training, is_learned, plan)
    _check_classes(training.target, is_learned)
    with threadpool_limits(limits=1):
        update(0.0, f"{tuned.name} on a draw of the rows")
        finals = [choose_and_fit(tuned, sample, plan)]
        encoder = TableEncoder(training.columns).fit(sample.X)
        features = write_features(
            training, encoder, test, folder, lambda share, text: update(0.1 + 0.1 * share, text)
        )
        update(0.2, f"{sparse.name} on {len(features):,} rows".replace(",", " "))
        answers = training.target.y[is_learned]
        rows = Rows(features, answers, encoder)
        finals.append(choose_and_fit(sparse, rows, plan, is_encoded=True))
        known = training.target.y[test]
        results = [
            _judged(contender.name, final, training.X[test], known, plan)
            for contender, final in zip((tuned, sparse), finals, strict=True)
        ]
    guess = {}
    if isinstance(training.target, Numbers):
        guess = _values(Answers(np.full(len(known), answers.mean())), known, plan)
    return results, guess


def _sample(training: Training, is_learned: NDArray[np.bool_], plan: Plan) -> Rows:
    rows = np.flatnonzero(is_learned)
    random = np.random.default_rng(plan.random_state + 1)
    if len(rows) > SAMPLE_ROWS:
        rows = np.sort(random.choice(rows, SAMPLE_ROWS, replace=False, shuffle=False))
    return training.rows.take(rows)


def _check_classes(target: Target | Numbers, is_learned: NDArray[np.bool_]) -> None:
    if isinstance(target, Target):
        counts = np.bincount(target.codes[is_learned], minlength=len(target.classes))
        if not counts.all():
            raise TableError(
                f"Class '{target.classes[int(counts.argmin())]}' is so rare that all of its rows "
                "were drawn to judge by; take them out, or give another --random-state."
            )


def _judged(
    name: str, final: Fitted, X: NDArray[np.float64], known: NDArray[Any], plan: Plan
) -> Result:
    answers = final.answers(X, plan.needs_scores)
    seconds = time_prediction(final.machine.predict, final.encoder.transform(X[:10_000]))
    return Result(name, _values(answers, known, plan), final, seconds, answers)


def _values(answers: Answers, known: NDArray[Any], plan: Plan) -> dict[str, NDArray[np.float64]]:
    """Return every metric on each of several parts of the rows."""
    count = max(3, min(PARTS, len(known) // 200))
    parts = [np.arange(start, len(known), count) for start in range(count)]
    return measured([(_part(answers, part), known[part]) for part in parts], plan)


def _part(answers: Answers, rows: NDArray[np.intp]) -> Answers:
    found = (answers.predicted, answers.scores, answers.probabilities)
    return Answers(*(None if one is None else one[rows] for one in found))  # type: ignore[arg-type]
