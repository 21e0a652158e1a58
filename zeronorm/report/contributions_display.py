"""A picture of one decision. Drawing needs matplotlib, which the extra ``plot`` brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zeronorm.checks import check_integer, shown
from zeronorm.report.explanation import explain
from zeronorm.report.text import shown_output
from zeronorm.report.wording import cell_text, signed


class ContributionsDisplay:
    """What each column, or each term, adds to one decision, as bars from a start to the value.

    Parameters
    ----------
    names : list of str
        What adds.
    shares : ndarray of shape (n_names,)
        How much.
    start : float
        Where the bars begin: the decision value of the reference, or the constant of the model.
    value : float
        The decision value; ``start`` and all shares add up to it.
    output : str
        What large decision values mean: a class, or the name of the value.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import ZeroNormSVC
    >>> from zeronorm.report import ContributionsDisplay
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> model = ZeroNormSVC(random_state=0).fit(X, y)
    >>> display = ContributionsDisplay.from_estimator(model, X[0], X)
    >>> bool(abs(display.start + display.shares.sum() - display.value) < 1e-9)
    True
    >>> display = display.plot()  # doctest: +SKIP
    """

    def __init__(
        self, names: list[str], shares: np.ndarray, start: float, value: float, output: str
    ) -> None:
        self.names, self.shares, self.start = names, shares, start
        self.value, self.output = value, output

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        row: Any,
        X: Any = None,
        *,
        by: str = "columns",
        feature_names: Sequence[Any] | None = None,
        most: int = 12,
    ) -> ContributionsDisplay:
        """Explain one decision by :func:`zeronorm.report.explain`.

        Parameters
        ----------
        model, row, X, feature_names
            See there.
        by : {"columns", "terms"}, default="columns"
            What the decision is split among.
        most : int, default=12
            At most so many bars; the smallest shares are joined.
        """
        if by not in ("columns", "terms"):
            raise ValueError(f"by is 'columns' or 'terms', not {shown(by)}.")
        check_integer("most", most, least=1)
        split = shown_output(explain(model, row, X, feature_names).facts)
        if by == "columns":
            start = split["reference"]
            pairs = [
                (f"{e['column']} = {cell_text(e['cell'])}", e["share"]) for e in split["columns"]
            ]
        else:
            start = split["constant"]
            pairs = [("linear part", split["linear"])] if split["linear"] else []
            pairs += [(f"term {entry['term']}", entry["share"]) for entry in split["terms"]]
            pairs.sort(key=lambda pair: -abs(pair[1]))
        if len(pairs) > most:
            rest = sum(share for _, share in pairs[most - 1 :])
            pairs = [*pairs[: most - 1], (f"{len(pairs) - most + 1} others", rest)]
        shares = np.array([share for _, share in pairs])
        return cls([name for name, _ in pairs], shares, start, split["value"], split["output"])

    def plot(self, ax: Any = None) -> ContributionsDisplay:
        """Draw the bars, the largest share on top.

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

        if ax is None:
            size = (6.4, 1.6 + 0.32 * len(self.names))
            _, ax = plt.subplots(figsize=size, layout="constrained")
        ends = self.start + np.cumsum(self.shares)
        heights = np.arange(len(self.names))
        colours = np.where(self.shares >= 0, "C0", "C1")
        bars = ax.barh(heights, self.shares, left=ends - self.shares, color=colours)
        ax.bar_label(bars, [signed(share) for share in self.shares], padding=3, fontsize="small")
        ax.axvline(self.start, color="0.6", linestyle=":", label=f"start {signed(self.start)}")
        ax.axvline(self.value, color="black", label=f"decision value {signed(self.value)}")
        ax.set_yticks(heights, [name.replace("$", r"\$") for name in self.names])
        ax.invert_yaxis()
        reached = np.array([self.start, self.value, *ends])
        room = 0.15 * (np.ptp(reached) or 1.0)  # for the numbers beside the bars
        ax.set_xlim(reached.min() - room, reached.max() + room)
        ax.set_xlabel(f"decision value of {self.output}".replace("$", r"\$"))
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
