"""Feature selection via concave minimisation (FSV).

Bradley & Mangasarian (1998), as Weston et al. (2003), Problem 2, state it: the number of features
is approached by Σ 1 − exp(−α|w_j|), which is lowered by linear programs on its tangents,

    min Σ_j α exp(−α v_j*) v_j + C Σ slack    subject to y_i (w·x_i + b) ≥ 1 − slack_i, |w| ≤ v,

v* being the last solution, zero at first. Each is solved through its dual on a persistent model
(``solvers/linear_programs/hinge_lp.py``), which only the features that matter enter: wide data are
no trouble. What certifies a round is its duality gap; the rounds end when the tangents do not
change.
"""

from __future__ import annotations

import numpy as np

from zeronorm.base.parameters import with_parameters
from zeronorm.checks import check_positive
from zeronorm.feature_selection.base import LinearSelector
from zeronorm.solvers.elimination.columns import Columns, Selection, descending
from zeronorm.solvers.elimination.rounds import LinearProgram


@with_parameters
class FSVSelector(LinearSelector):
    """Select the features of the sparsest linear classifier, by successive linear programs.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many: a number, a share of all, the smallest number within one standard error of the
        best cross-validated error ("auto"), or those of the final classifier (None). A number is
        met exactly.
    alpha : float, default=5.0
        Sharpness of the approximation, for weights of the order of one.
    C : float, default=1.0
        Cost of a slack beside a feature, which costs at most one.
    max_iter : int, default=50
        Most linear programs.
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
        Rank of every feature, 1 being the best: by the last classifier that uses it, then by how
        near to use it is.
    scaling_ : ndarray of shape (n_features,)
        Size of the weights of every feature in the final classifier.
    n_iter_ : int
        Linear programs (for each class).
    history_ : dict of ndarray
        "features", "objective" (of the approximation) and "gap" of every round.
    cv_results_ : dict of ndarray
        With "auto": accuracy for each number of features.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    References
    ----------
    Paul Bradley, Olvi Mangasarian: Feature selection via concave minimization and support vector
    machines. International Conference on Machine Learning (1998).

    Examples
    --------
    >>> from zeronorm import FSVSelector
    >>> from zeronorm.datasets import make_weston_toy
    >>> X, y = make_weston_toy(100, random_state=0)
    >>> selector = FSVSelector(2).fit(X, y)
    >>> [int(feature) for feature in selector.get_support(indices=True)]
    [2, 5]
    """

    alpha: float = 5.0
    max_iter: int = 50

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive("alpha", self.alpha)

    def _rank(self, columns: Columns, targets: np.ndarray, stop_at: int | None) -> Selection:
        problem = LinearProgram(columns, targets, np.full(columns.n_rows, float(self.C)))
        new = np.zeros(columns.n_columns)
        last_use = np.zeros((3, columns.n_columns))  # slope, size and number of the last round
        result = Selection(new, 0, new)
        for number in range(1, self.max_iter + 1):
            sizes = new
            # Below this a weight costs nothing as it is, and the program should stay bounded.
            price = self.alpha * np.exp(-np.minimum(self.alpha * sizes, 25.0))
            found = problem.solve(1.0 / price)
            new = np.abs(found.coef).sum(axis=1)
            used = new > 0
            last_use[0] = found.slopes
            last_use[1, used], last_use[2, used] = new[used] * columns.deviations[used], number
            loss = found.objective - float(price @ new)
            value = float(np.sum(1.0 - np.exp(-self.alpha * new))) + loss
            result.record(features=int(used.sum()), objective=value, gap=found.gap)
            if np.abs(new - sizes).max() <= 1e-9 * new.max(initial=0.0):
                break
        else:
            result.warning = f"stopped after {self.max_iter} linear programs."
        result.order, result.count, result.scaling = descending(last_use), int(used.sum()), new
        return result
