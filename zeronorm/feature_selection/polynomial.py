"""A polynomial with few terms, as a function and as a formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class SparsePolynomial:
    """The function Σ_m coef_m ∏_j x_j^powers_mj + intercept, with one or several outputs.

    Parameters
    ----------
    factors : sequence of sequences of (int, int)
        For each term, the features that it multiplies and their exponents.
    coef : ndarray of shape (n_terms, n_outputs)
        Coefficients.
    intercept : ndarray of shape (n_outputs,)
        Constants.

    Examples
    --------
    >>> import numpy as np
    >>> from zeronorm.feature_selection.polynomial import SparsePolynomial
    >>> terms = [[(0, 1), (1, 1)], [(1, 2)]]
    >>> f = SparsePolynomial(terms, np.array([[2.0], [-1.0]]), np.ones(1))
    >>> f.formulas(["a", "b"])
    ['2·a·b - b² + 1']
    >>> f.values(np.array([[1.0, 3.0]]))
    array([[-2.]])
    """

    def __init__(
        self,
        factors: Sequence[Sequence[tuple[int, int]]],
        coef: np.ndarray,
        intercept: np.ndarray,
    ) -> None:
        self.factors, self.coef, self.intercept = factors, coef, intercept

    @classmethod
    def from_powers(
        cls, powers: np.ndarray, coef: np.ndarray, intercept: np.ndarray
    ) -> SparsePolynomial:
        """Return the polynomial whose exponents are the rows of a matrix."""
        factors = [[(int(j), int(row[j])) for j in np.flatnonzero(row)] for row in powers]
        return cls(factors, coef, intercept)

    def values(self, X: Any) -> np.ndarray:
        """Evaluate at every row of X, shape (rows, outputs)."""
        used = sorted({feature for term in self.factors for feature, _ in term})
        place = {feature: i for i, feature in enumerate(used)}
        columns = X[:, used]
        columns = columns.toarray() if sparse.issparse(columns) else np.asarray(columns)
        if [list(term) for term in self.factors] == [[(feature, 1)] for feature in used]:
            return columns @ self.coef + self.intercept  # linear
        terms = np.ones((X.shape[0], len(self.factors)))
        for m, term in enumerate(self.factors):
            for feature, power in term:
                terms[:, m] *= columns[:, place[feature]] ** power
        return terms @ self.coef + self.intercept

    def formulas(self, names: Sequence[Any], digits: int = 3) -> list[str]:
        """Return one formula for each output, the largest coefficients first."""
        products = ["·".join(_power(names[j], p) for j, p in term) for term in self.factors]
        return [
            _formula(coef, products, constant, digits)
            for coef, constant in zip(self.coef.T, self.intercept, strict=True)
        ]


def _power(name: Any, power: int) -> str:
    return str(name) if power == 1 else f"{name}{str(power).translate(SUPERSCRIPTS)}"


def _formula(coef: np.ndarray, products: Sequence[str], constant: float, digits: int) -> str:
    parts = []
    for m in np.argsort(-np.abs(coef), kind="stable"):
        if coef[m]:
            size = f"{abs(coef[m]):.{digits}g}"
            parts.append((coef[m] < 0, products[m] if size == "1" else f"{size}·{products[m]}"))
    if constant or not parts:
        parts.append((constant < 0, f"{abs(constant):.{digits}g}"))
    text = ("-" if parts[0][0] else "") + parts[0][1]
    return text + "".join(f" {'-' if negative else '+'} {part}" for negative, part in parts[1:])
