"""A polynomial with few terms, as a function and as a formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from zeronorm.distances import as_dense, float_rows
from zeronorm.expansion import KernelExpansion
from zeronorm.files import check_format, number_rows
from zeronorm.kernels import Kernel

FORMAT = "zeronorm-polynomial"
VERSION = 1

#: Features and exponents in a file are not larger.
LARGEST = 2**31

#: Numbers that the products of inputs may fill: 2 GB.
MOST_VALUES = 250_000_000

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
    >>> from zeronorm.polynomial import SparsePolynomial
    >>> terms = [[(0, 1), (1, 1)], [(1, 2)]]
    >>> f = SparsePolynomial(terms, np.array([[2.0], [-1.0]]), np.ones(1))
    >>> f.formulas(["a", "b"])
    ['2·a·b - b² + 1']
    >>> f.outputs(np.array([[1.0, 3.0]]))
    array([[-2.]])
    """

    def __init__(
        self,
        factors: Sequence[Sequence[tuple[int, int]]],
        coef: np.ndarray,
        intercept: np.ndarray,
    ) -> None:
        self.factors, self.coef, self.intercept = factors, coef, intercept

    kernel_name = "polynomial"

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.factors)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self.coef.shape[1]

    @property
    def n_features(self) -> int:
        """Number of features up to the last one that is used."""
        return 1 + max((feature for term in self.factors for feature, _ in term), default=0)

    def __repr__(self) -> str:
        return f"SparsePolynomial({self.n_terms} terms, {self.n_outputs} outputs)"

    @np.errstate(over="ignore", invalid="ignore")
    def outputs(self, X: Any) -> np.ndarray:
        """Evaluate at every row of X, shape (rows, outputs); what overflows is not finite."""
        used = sorted({feature for term in self.factors for feature, _ in term})
        index_of = {feature: i for i, feature in enumerate(used)}
        columns = as_dense(float_rows(X[:, used]))  # powers of integers would wrap around
        if [list(term) for term in self.factors] == [[(feature, 1)] for feature in used]:
            return columns @ self.coef + self.intercept  # linear
        terms = np.ones((X.shape[0], len(self.factors)))
        for m, term in enumerate(self.factors):
            for feature, power in term:
                terms[:, m] *= columns[:, index_of[feature]] ** power
        return terms @ self.coef + self.intercept

    def scores(self, outputs: np.ndarray) -> np.ndarray:
        """Decision values of rows with these outputs."""
        return outputs[:, 0] if self.n_outputs == 1 else outputs

    def linear_expansion(self, n_features: int) -> KernelExpansion:
        """Return a linear polynomial as a kernel expansion with one term for each output."""
        weights = np.zeros((self.n_outputs, n_features))
        for (factor,), coef in zip(self.factors, self.coef, strict=True):
            weights[:, factor[0]] = coef
        identity = np.eye(self.n_outputs)
        return KernelExpansion(weights, identity, self.intercept, Kernel("linear"))

    def to_dict(self) -> dict[str, Any]:
        """Describe the polynomial as plain data (numbers, strings, lists)."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "intercept": self.intercept.tolist(),
            "coef": self.coef.tolist(),
            "factors": [[list(factor) for factor in term] for term in self.factors],
        }

    @classmethod
    def from_dict(cls, data: Any) -> SparsePolynomial:
        """Rebuild a polynomial from :meth:`to_dict`; a clear ``ValueError`` if it is damaged."""
        what = "polynomial"
        data = check_format(data, what, FORMAT, VERSION, ("intercept", "coef", "factors"))
        intercept = data["intercept"]
        if not isinstance(intercept, list) or not intercept:
            raise ValueError("The polynomial is damaged: intercept is not a list of numbers.")
        coef = number_rows(data["coef"], len(intercept), what, "coef")
        factors = data["factors"]
        if not isinstance(factors, list) or len(factors) != len(coef):
            raise ValueError("The polynomial is damaged: factors is not one list for each term.")
        terms = [[(int(j), int(p)) for j, p in _factors(term)] for term in factors]
        return cls(terms, coef, number_rows([intercept], len(intercept), what, "intercept")[0])

    def formulas(self, names: Sequence[Any], digits: int = 3) -> list[str]:
        """Return one formula for each output, the largest coefficients first."""
        products = ["·".join(_power(names[j], p) for j, p in term) for term in self.factors]
        return [
            _formula(coef, products, constant, digits)
            for coef, constant in zip(self.coef.T, self.intercept, strict=True)
        ]


def products(X: Any, degree: int) -> tuple[Any, np.ndarray]:
    """Products of up to ``degree`` features for each row, and their exponents."""
    n_terms = math.comb(X.shape[1] + degree, degree) - 1
    if n_terms * X.shape[0] > MOST_VALUES:
        raise ValueError(
            f"{X.shape[1]} features have {n_terms} products of up to {degree}, too many for "
            f"{X.shape[0]} rows in memory; take a smaller degree, or select features first "
            "(AROMSelector)."
        )
    features = PolynomialFeatures(degree, include_bias=False)
    return features.fit_transform(X), features.powers_


def multiplicities(powers: np.ndarray) -> np.ndarray:
    """Return the number of ordered products with these exponents: t! / ∏ p_i!."""
    factorials = np.array([math.factorial(k) for k in range(int(powers.sum(axis=1).max()) + 1)])
    return factorials[powers.sum(axis=1)] / factorials[powers].prod(axis=1)


def _factors(term: Any) -> np.ndarray:
    """Read the features of a term and their exponents."""
    read = number_rows(term, 2, "polynomial", "factors")
    if (read % 1).any() or (read < [0, 1]).any() or (read > LARGEST).any():
        raise ValueError("The polynomial is damaged: a factor is not a feature and its exponent.")
    return read


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
