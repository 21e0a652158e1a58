"""Feature selection by the bound R²W².

Weston, Mukherjee, Chapelle, Pontil, Poggio & Vapnik (2001), as in Weston et al. (2003), section
4.4. Features are scaled by σ; with θ = σ² the rows have the kernel X diag(θ) Xᵀ, and the expected
error of the hard-margin SVM is bounded by R²W²(θ) / m (7): the squared radius of the smallest ball
around the rows times the squared inverse margin. Both are values of quadratic programs,

    W² = max over α ≥ 0, y'α = 0     2 Σα − α'YKYα,     ∂W²/∂θ_j = −(Σ α_i y_i x_ij)²,
    R² = max over β ≥ 0, Σβ = 1      Σ β_i K_ii − β'Kβ,  ∂R²/∂θ_j = Σ β_i x_ij² − (Σ β_i x_ij)²,

so log R²W² has a gradient, and L-BFGS-B minimises it over θ ≥ 0. The bound is a quotient of two
scales and knows none of its own; each call is made in one unit, and rows that cannot be separated
are let off by the ridge 1/C on the kernel. Features that end at θ = 0 are ranked by the gradient:
what they would cost. Where fewer are wanted than are left, the smaller half is dropped and the
descent goes on with the others.

Several classes: Σ_k W_k², one against the rest, times the mean squared distance of the rows from
their centre instead of R² (Liu et al., 2013). The ball is that of a few outlying rows, and its
slope as uneven as they are; one direction stands out of that, the many small ones that several
classes need do not. At a given size of θ the mean square is constant, what is left to minimise is
convex, and every useful feature keeps a part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize

from zeronorm.base.parameters import with_parameters
from zeronorm.feature_selection.base import LinearSelector, gap_warning
from zeronorm.solvers.elimination.columns import Columns, Selection, descending
from zeronorm.solvers.newton.squared_hinge_ridge import GramDescent, SquaredHingeSolution
from zeronorm.solvers.solution import History


@with_parameters
class R2W2Selector(LinearSelector):
    """Select the features whose scales minimise the radius-margin bound of an SVM.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many: a number, a share of all, the smallest number within one standard error of the
        best cross-validated error ("auto"), or those with a positive scale (None).
    C : float, default=1.0
        Cost of half a squared slack, in each evaluation that for the data as they are. Large
        values are the hard margin of the paper.
    tol : float, default=1e-4
        Stop when the logarithm of the bound falls by less than this share of its value.
    max_iter : int, default=100
        Most steps of descent.
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
        The scale σ of every feature.
    n_iter_ : int
        Steps of descent.
    history_ : dict of ndarray
        "bound", R²W² after every step (several classes: with the mean square in place of R²).
    cv_results_ : dict of ndarray
        With "auto": accuracy for each number of features.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    References
    ----------
    Jason Weston, Sayan Mukherjee, Olivier Chapelle, Massimiliano Pontil, Tomaso Poggio, Vladimir
    Vapnik: Feature selection for SVMs. Neural Information Processing Systems (2001).

    Xinwang Liu, Lei Wang, Jianping Yin, En Zhu, Jian Zhang: An efficient approach to integrating
    radius information into multiple kernel learning. IEEE Transactions on Cybernetics 43 (2013).

    Examples
    --------
    >>> from zeronorm import R2W2Selector
    >>> from zeronorm.datasets import make_weston_toy
    >>> X, y = make_weston_toy(200, random_state=0)
    >>> selector = R2W2Selector(2).fit(X, y)
    >>> [int(feature) for feature in selector.get_support(indices=True)]
    [2, 5]
    """

    tol: float = 1e-4
    max_iter: int = 100

    def _rank(self, columns: Columns, targets: np.ndarray, stop_at: int | None) -> Selection:
        n_columns = columns.n_columns
        left, theta = np.arange(n_columns), np.ones(n_columns)
        result = Selection(left, 0, np.zeros(n_columns), history=History("bound"))
        dropped: list[np.ndarray] = []
        gap, is_stopped = 0.0, False
        while True:
            bound = RadiusMargin(columns, targets, float(self.C))
            n_before = result.n_iter
            theta, slope = self._descend(bound, theta, result)
            is_stopped |= result.n_iter - n_before >= self.max_iter
            gap = np.max([gap, *np.abs(bound.gaps)])
            order = descending(np.stack([-slope / bound.variances, theta * bound.variances]))
            n_used = int(np.count_nonzero(theta))
            # Descend again without the smaller half, as long as there are too many.
            n_kept = max(stop_at or n_used, n_used // 2)
            if stop_at is None or n_used <= stop_at or n_kept >= len(left):
                break
            dropped.append(left[order[n_kept:]])
            kept = np.sort(order[:n_kept])
            columns.keep(np.isin(np.arange(len(left)), kept))
            left, theta = left[kept], theta[kept]
        if is_stopped:
            result.warning = (
                f"stopped after {self.max_iter} steps with a bound of "
                f"{result.history['bound'][-1]:.3g}. Raise max_iter or tol."
            )
        result.warning = gap_warning(gap) or result.warning
        result.order = np.concatenate([left[order], *reversed(dropped)])
        result.count, result.scaling[left] = n_used, np.sqrt(theta)
        return result

    def _descend(
        self, bound: RadiusMargin, theta: np.ndarray, result: Selection
    ) -> tuple[np.ndarray, np.ndarray]:
        """Scales at the minimum from this start, and their gradient; record the steps."""
        found = minimize(
            bound.log_value,
            theta,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(theta),
            callback=lambda point: result.record(bound=float(np.exp(bound.last))),
            options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 0.0},
        )
        theta = np.maximum(found.x, 0.0)
        return theta, bound.log_value(theta)[1]


class RadiusMargin:
    """The function log R²W² of θ, with its gradient.

    ``gaps`` are the relative duality gaps of the problems solved at the last θ.
    """

    def __init__(self, columns: Columns, targets: np.ndarray, C: float) -> None:
        self.columns, self.targets = columns, targets
        self.ridge = 1.0 / C
        self.has_several = targets.shape[1] > 1
        self.variances = columns.deviations**2
        self.total = float(self.variances.sum())
        self.starts: list[Any] = [None] * (targets.shape[1] + 1)
        self.last, self.gaps = np.inf, [0.0]

    def log_value(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return log R²W² and its gradient.

        θ is brought to the size at which the rows have the length that they have in the data.
        """
        size = float(theta @ self.variances) / self.total
        if not size > 0:
            return np.inf, np.zeros(len(theta))
        gram, self.gaps = self.columns.gram(np.sqrt(theta / size)), []
        # Of several classes the mean squared distance of the rows, at the size of θ in use.
        radius, radius_slope = self.total + self.ridge, self.variances
        if not self.has_several:
            radius, radius_slope = self._radius(gram)
        width, width_slope = 0.0, np.zeros(len(theta))
        for k, target in enumerate(self.targets.T):
            part = self._solve(k, gram, target, 1.0 / self.ridge)
            width += 2.0 * part.objective
            width_slope -= self.columns.adjoint(target * part.dual) ** 2
        if not min(radius, width) > 0:  # the ridge is rounding beside the data
            self.last = np.inf
            return np.inf, np.zeros(len(theta))
        slope = radius_slope / radius + width_slope / width
        self.last = float(np.log(radius) + np.log(width))
        # The value does not depend on the size of θ: take out of the slope what moves it.
        slope = (slope - float(slope @ (theta / size)) / self.total * self.variances) / size
        return self.last, slope

    def _radius(self, gram: np.ndarray) -> tuple[float, np.ndarray]:
        """Squared radius of the smallest ball, and its gradient.

        The ridge on the kernel is part of the rows; it is the same for all and moves no centre.
        """
        diagonal = gram.diagonal() + self.ridge
        ones, cost = np.ones(len(gram)), 0.5 / self.ridge
        part = self._solve(-1, 2.0 * gram, ones, cost, wanted=diagonal, total=1.0)
        center = self.columns.adjoint(part.dual)
        slope = self.columns.square_sums(part.dual) - center**2
        return float(part.objective), slope

    def _solve(
        self, k: int, gram: np.ndarray, signs: np.ndarray, cost: float, **options: Any
    ) -> SquaredHingeSolution:
        """Solve the k-th problem from its last solution."""
        costs, start = np.full(len(gram), cost), self.starts[k]
        part = GramDescent(gram, signs[:, None], costs, start=start, **options).solve()
        self.starts[k] = part.scores
        self.gaps.append(part.gap)
        return part
