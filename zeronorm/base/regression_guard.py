"""A look at every fitted regressor: no model that only guesses goes out without a word.

The measure is the mean absolute residual as a share of that of the median, which no outlier
decides. A model is suspicious if it leaves most of that on its own training rows. Suspicion is no
verdict: there may be nothing to learn. Only then a plain SVR is cross-validated on few rows, and
the warning comes if its residuals on rows that it has not seen are clearly smaller than the model's
on rows that it has.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVR

from zeronorm.base.checked import CheckedExpansion
from zeronorm.base.guard import COMPARED, REFERENCE_C, reference_rows
from zeronorm.base.sampling import stratified_folds
from zeronorm.base.targets import NumericRows
from zeronorm.base.training_set import Learned

#: A model is suspicious that leaves this share; the SVR must leave this share of what it leaves,
#: and by so many standard errors less.
LEFT, LOWER, CLEARLY = 0.8, 0.8, 3.0

#: Folds of the SVR.
FOLDS = 3


def little_learned(name: str, training: NumericRows, learned: Learned) -> str | None:
    """Return a sentence if a model explains next to nothing, and more is possible.

    Parameters
    ----------
    name : str
        Name of the regressor.
    training : NumericRows
        The rows, with targets as given.
    learned : Learned
        What was learned from them.
    """
    if learned.warning is not None or len(training.codes) < 2 * FOLDS:
        return None  # that was said already, or there is nothing to cross-validate with
    random = np.random.RandomState(0)
    rows = np.sort(random.permutation(len(training.codes))[:COMPARED])
    checked = CheckedExpansion(training, learned, lambda _: learned)
    values = learned.expansion.outputs_from(checked.kernel_values(rows), checked.rows(rows))
    targets, weight = training.targets[rows], training.cost[rows]
    middle = np.median(targets, axis=0)
    spread = np.average(np.abs(targets - middle), axis=0, weights=weight)
    if not (spread > 0).all():
        return None  # a constant has nothing to be learned
    left = np.mean(np.abs(targets - values) / spread, axis=1)
    if not np.average(left, weights=weight) > LEFT:
        return None
    reference = _left_by_svr(checked, rows, (targets - middle) / spread, random)
    if reference is None:
        return None
    ours, theirs = (float(np.average(one, weights=weight)) for one in (left, reference))
    difference = left - reference
    error = float(np.std(difference)) / np.sqrt(len(rows))
    if not (theirs <= LOWER * ours and float(difference.mean()) > CLEARLY * error):
        return None
    return (
        f"{name} has learned little: with {learned.expansion.n_terms} terms its mean absolute "
        f"residual on {len(rows)} training rows is {ours:.2f} times that of the median; SVR(C="
        f"{REFERENCE_C:g}) in cross-validation leaves {theirs:.2f}. Scale the features, try "
        "another gamma, a larger C or a smaller epsilon."
    )


def _left_by_svr(
    checked: CheckedExpansion, rows: np.ndarray, numbers: np.ndarray, random: np.random.RandomState
) -> np.ndarray | None:
    """Mean absolute residual of each row, by plain SVRs that have not seen it.

    None where libsvm has no finite solution, so that there is nothing to compare with.
    """
    left = np.zeros(len(rows))
    for learn, judge in stratified_folds(np.zeros(len(rows), dtype=np.intp), FOLDS, random):
        first, rest, parameters = reference_rows(checked, rows[learn], rows[judge])
        for number in numbers.T:
            try:
                predicted = SVR(**parameters).fit(first, number[learn]).predict(rest)
            except ValueError:
                return None
            left[judge] += np.abs(number[judge] - predicted) / numbers.shape[1]
    return left
