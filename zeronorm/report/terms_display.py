"""A picture of the terms over two columns. Drawing needs matplotlib, which ``plot`` brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from zeronorm.export.description import Description, Lookup
from zeronorm.report.description import column_importance
from zeronorm.report.rows import described, features_of, look_at, outputs_of, typical


class TermsDisplay:
    """The kernel terms of a model over two columns of numbers, with its decisions.

    Parameters
    ----------
    terms : ndarray of shape (n_terms, 2)
        The terms in the units of the columns.
    weights : ndarray of shape (n_terms, n_outputs)
        Their weights.
    grid : tuple of ndarray
        Values of both columns.
    outputs : ndarray of shape (len(grid[1]), len(grid[0]), n_outputs)
        The outputs on the grid; all other columns as in the typical row.
    names : tuple of str
        The names of both columns.
    labels : list
        The classes; empty where there are none.
    rows : ndarray of shape (n_rows, 2)
        The rows.
    codes : ndarray of shape (n_rows,) or None
        The class of each, for its colour.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import SparseSVC
    >>> from zeronorm.report import TermsDisplay
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseSVC(random_state=0).fit(X, y)
    >>> display = TermsDisplay.from_estimator(model, X, y)
    >>> display.terms.shape == (model.n_terms_, 2)
    True
    >>> display = display.plot()  # doctest: +SKIP
    """

    def __init__(
        self,
        terms: np.ndarray,
        weights: np.ndarray,
        grid: tuple[np.ndarray, np.ndarray],
        outputs: np.ndarray,
        names: tuple[str, str],
        labels: list[Any],
        rows: np.ndarray,
        codes: np.ndarray | None = None,
    ) -> None:
        self.terms, self.weights, self.grid, self.outputs = terms, weights, grid, outputs
        self.names, self.labels, self.rows, self.codes = names, labels, rows, codes

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[Any] | None = None,
        feature_names: Sequence[Any] | None = None,
        resolution: int = 120,
    ) -> TermsDisplay:
        """Take the terms of a fitted model.

        Parameters
        ----------
        model : fitted estimator, Pipeline, Model or TableModel
            See :func:`zeronorm.report.describe`.
        X : array-like, data frame or Table
            Raw rows; they say how far the picture goes and what is typical of other columns.
        y : array-like, optional
            Their classes, for the colours.
        columns : two names or numbers of columns, optional
            By default the two columns of numbers that move the decisions most.
        feature_names : sequence of str, optional
            Names of the raw columns, where the model does not know them.
        resolution : int, default=120
            Values of each column at which the model is asked.
        """
        description = described(model, feature_names)
        seen = look_at(model, description, X)
        rows, taken, Z = seen.rows, seen.taken, seen.Z
        pair = _pair(description, Z, columns)
        cells = np.array([[row[index] for index in pair] for row in rows], dtype=float)
        cells = np.where(np.isnan(cells), np.nanmedian(cells, axis=0), cells)
        terms = np.column_stack([_values(description, index) for index in pair])
        grid = _grid(np.vstack([cells, terms]), resolution)
        names = tuple(description.columns[index].name for index in pair)
        codes = None
        if y is not None:
            code_of = {label: code for code, label in enumerate(description.labels)}
            codes = np.array([code_of.get(label, -1) for label in np.asarray(y).tolist()])[taken]
        outputs = _outputs(description, Z, rows[0], pair, grid)
        coef, labels = description.function.coef, description.labels
        return cls(terms, coef, grid, outputs, names, labels, cells, codes)  # type: ignore[arg-type]

    def plot(self, ax: Any = None) -> TermsDisplay:
        """Draw rows, decisions and terms.

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
            _, ax = plt.subplots(layout="constrained")
        self._draw_outputs(ax)
        self._draw_rows(ax)
        if len(self.terms):
            sizes = np.abs(self.weights).max(axis=1)
            sizes = (60 + 200 * sizes / sizes.max()) * min(1.0, 20 / len(sizes))
            style = {"marker": "*", "color": "white", "edgecolors": "black", "zorder": 3}
            ax.scatter(*self.terms.T, s=sizes, label="terms", **style)
        first, second = (name.replace("$", r"\$") for name in self.names)
        ax.set(xlabel=first, ylabel=second)
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _colours(self) -> list[str]:
        """Return the colours of the classes: of two, those of the shades of their sides."""
        if self.outputs.shape[2] == 1:
            return ["#4a2f80", "#a8500a"]
        return [f"C{i % 10}" for i in range(self.outputs.shape[2])]

    def _draw_outputs(self, ax: Any) -> None:
        count = self.outputs.shape[2]
        if count > 1:
            edges, winner = np.arange(count + 1) - 0.5, self.outputs.argmax(axis=2)
            ax.contourf(*self.grid, winner, edges, colors=self._colours(), alpha=0.25)
            return
        values, style = self.outputs[:, :, 0], {"alpha": 0.6}
        if self.labels:
            size = np.abs(values).max() or 1.0
            levels = np.linspace(-size, size, 21)
            shades = ax.contourf(*self.grid, values, levels, cmap="PuOr_r", **style)
            ax.contour(*self.grid, values, [0.0], colors="black")
        else:
            shades = ax.contourf(*self.grid, values, 20, cmap="viridis", **style)
        ax.figure.colorbar(shades, ax=ax, label="decision value" if self.labels else "value")

    def _draw_rows(self, ax: Any) -> None:
        codes = np.full(len(self.rows), -1) if self.codes is None else self.codes
        for code in np.unique(codes):
            label = str(self.labels[code]) if code >= 0 else None
            colour = self._colours()[code] if code >= 0 else "0.4"
            ax.scatter(*self.rows[codes == code].T, s=9, color=colour, label=label, linewidths=0)


def _pair(description: Description, Z: np.ndarray, columns: Sequence[Any] | None) -> list[int]:
    names = [column.name for column in description.columns]
    numbers = [
        column
        for column, indices in description.features_by_column.items()
        if not any(isinstance(description.features[i], Lookup) for i in indices)
    ]
    if description.function.points is None:
        raise ValueError("The terms of a sparse polynomial are products, not places.")
    if columns is None:
        if description.kind == "density":
            chosen = numbers[:2]
        else:
            order = [names.index(e["column"]) for e in column_importance(description, Z)]
            chosen = sorted([column for column in order if column in numbers][:2])
    else:
        chosen = [names.index(c) if c in names else c for c in columns]
    if len(chosen) != 2 or not all(column in numbers for column in chosen):
        known = ", ".join(repr(names[column]) for column in numbers)
        raise ValueError(f"The picture needs two columns of numbers that the model uses: {known}.")
    return chosen


def _values(description: Description, column: int) -> np.ndarray:
    """Return the terms' values of a column of numbers, in its units."""
    index = description.features_by_column[column][0]
    feature = description.features[index]
    return description.function.points[:, index] / feature.factor + feature.centre


def _grid(cells: np.ndarray, resolution: int) -> tuple[np.ndarray, np.ndarray]:
    """Return values of both columns that go a little beyond all cells, of rows and of terms."""
    low, high = cells.min(axis=0), cells.max(axis=0)
    room = 0.08 * (high - low) + (high == low)
    ends = zip(low - room, high + room, strict=True)
    first, second = (np.linspace(*pair, resolution) for pair in ends)
    return first, second


def _outputs(
    description: Description,
    Z: np.ndarray,
    row: list[Any],
    pair: list[int],
    grid: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return class scores or outputs on the grid, other columns as in the typical row."""
    rows = []
    for second in grid[1]:
        for first in grid[0]:
            changed = list(row)
            changed[pair[0]], changed[pair[1]] = float(first), float(second)
            rows.append(changed)
    found = features_of(description, rows)
    others = [i for i, feature in enumerate(description.features) if feature.column not in pair]
    found[:, others] = typical(description, Z)[others]
    outputs = description.class_scores(outputs_of(description, found))
    return outputs.reshape(len(grid[1]), len(grid[0]), -1)
