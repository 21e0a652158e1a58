"""Pictures. Drawing needs matplotlib, which the extra ``plot`` brings."""

from __future__ import annotations

from typing import Any

import numpy as np

from zeronorm.report.wording import plural


class SparsityPathDisplay:
    """Error against the number of terms, as cross-validation inside ``SparseSVC`` found it.

    Parameters
    ----------
    terms : ndarray of shape (n_sizes,)
        Numbers of terms.
    error : ndarray of shape (n_sizes,)
        Cross-validated error of each size.
    standard_error : ndarray of shape (n_sizes,)
        Standard error of each.
    chosen : int
        The number of terms that was kept; a linear part counts as one for each output.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import SparseSVC, SparsityPathDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseSVC(random_state=0).fit(X, y)
    >>> display = SparsityPathDisplay.from_estimator(model).plot()  # doctest: +SKIP
    """

    def __init__(
        self, terms: np.ndarray, error: np.ndarray, standard_error: np.ndarray, chosen: int
    ) -> None:
        self.terms, self.chosen = terms, chosen
        self.error, self.standard_error = error, standard_error

    @classmethod
    def from_estimator(cls, estimator: Any) -> SparsityPathDisplay:
        """Take the path of a fitted ``SparseSVC`` or ``SparseSVR``, also at a pipeline's end."""
        if hasattr(estimator, "steps"):
            estimator = estimator[-1]
        path = getattr(estimator, "path_", None)
        if path is None:
            raise ValueError(
                f"{type(estimator).__name__} has no path of sizes; take a fitted SparseSVC or "
                "SparseSVR."
            )
        if not path:
            raise ValueError(
                f"This {type(estimator).__name__} had nothing to choose, so it has no path; fit it "
                "with n_terms='auto'."
            )
        kept = estimator.expansion_.n_products  # the path counts a linear part as terms
        return cls(path["terms"], path["error"], path["standard_error"], kept)

    def plot(self, ax: Any = None) -> SparsityPathDisplay:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
            With ``ax_`` and ``figure_`` set.
        """
        import matplotlib.pyplot as plt
        from matplotlib.ticker import MaxNLocator

        if ax is None:
            _, ax = plt.subplots(layout="constrained")
        percent = 100 * self.error
        best = int(np.argmin(self.error))
        limit = percent[best] + 100 * self.standard_error[best]
        ax.errorbar(self.terms, percent, 100 * self.standard_error, marker="o", capsize=3)
        ax.axhline(limit, color="0.6", linestyle="--", label="one standard error above the best")
        kept = f"kept: {plural(self.chosen, 'term')}"
        ax.axvline(self.chosen, color="C1", linestyle=":", label=kept)
        ax.set(xlabel="terms", ylabel="cross-validated error (%)")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self
