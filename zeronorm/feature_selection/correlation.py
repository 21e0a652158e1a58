"""Selection by correlation with the class, each feature by itself.

Weston et al. (2003), section 4.2: f_j = (μ₊ − μ₋)² / (σ₊² + σ₋²), the means and standard
deviations of feature j in the two classes. Several classes: the sum of the scores of each class
against the rest.
"""

from __future__ import annotations

import numpy as np

from zeronorm.base.parameters import with_parameters
from zeronorm.feature_selection.base import LinearSelector
from zeronorm.solvers.elimination.columns import Columns, Selection


@with_parameters
class CorrelationSelector(LinearSelector):
    """Select the features whose class means lie farthest apart.

    The quickest method, and blind to what features tell together: redundant ones all rank high.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many: a number, a share of all, the smallest number within one standard error of the
        best cross-validated error ("auto"), or half of them (None).
    C : float, default=1.0
        Cost of the SVMs that "auto" compares.
    cv : int, cross-validation generator or iterable, default=5
        Folds of "auto".
    n_jobs : int, optional
        Processes of "auto".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_ : int
        Number of selected features.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 being the best.
    scaling_ : ndarray of shape (n_features,)
        The score of every feature; infinite scores, of classes without spread, are the largest
        finite number.
    n_iter_ : int
        One.
    history_ : dict
        Empty.
    cv_results_ : dict of ndarray
        With "auto": accuracy for each number of features.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    See Also
    --------
    sklearn.feature_selection.SelectKBest : With ``f_classif`` as score, nearly the same ranking.

    References
    ----------
    Jason Weston, André Elisseeff, Bernhard Schölkopf, Mike Tipping: Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research 3 (2003).

    Examples
    --------
    >>> from zeronorm import CorrelationSelector
    >>> from zeronorm.datasets import make_weston_toy
    >>> X, y = make_weston_toy(100, random_state=0)
    >>> selector = CorrelationSelector(2).fit(X, y)
    >>> [int(feature) for feature in selector.get_support(indices=True)]
    [1, 2]
    """

    def _rank(self, columns: Columns, targets: np.ndarray, stop_at: int | None) -> Selection:
        scores = np.sum([fisher_scores(columns, target) for target in targets.T], axis=0)
        order = np.argsort(-scores, kind="stable")
        return Selection(order, columns.n_columns // 2, scores, n_iter=1)


def fisher_scores(columns: Columns, target: np.ndarray) -> np.ndarray:
    """Score of every column for one output."""
    means, variances = [], []
    for sign in (1.0, -1.0):
        rows = (target == sign) / np.count_nonzero(target == sign)
        means.append(columns.adjoint(rows))
        variances.append(np.maximum(columns.square_sums(rows) - means[-1] ** 2, 0.0))
    between, within = (means[0] - means[1]) ** 2, variances[0] + variances[1]
    # Rounding leaves a little spread where there is none.
    within = np.where(within <= 1e-14 * (between + columns.deviations**2), 0.0, within)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.where(between > 0, between / within, 0.0)
    return np.minimum(scores, np.finfo(float).max / len(target))
