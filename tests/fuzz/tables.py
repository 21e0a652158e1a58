"""Small tables, labels and weights by name: plain, extreme, degenerate and impossible ones."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

EXTREMES = [0.0, -0.0, 1.0, -1.0, 2.5, 1e-150, -1e-150, 1e150, -1e150, 1e-300, 1e300, 5e-324,
            1.7e308]  # fmt: skip

#: Tables of numbers, from a random generator, rows, columns and plain class numbers.
TABLES = {
    "normal": lambda r, n, d, y: r.normal(size=(n, d)),
    "separable": lambda r, n, d, y: r.normal(size=(n, d)) + 8.0 * y[:, None],
    "integers": lambda r, n, d, y: r.integers(-3, 4, (n, d)).astype(float),
    "binary": lambda r, n, d, y: r.integers(0, 2, (n, d)).astype(float),
    "zeros": lambda r, n, d, y: np.zeros((n, d)),
    "equal rows": lambda r, n, d, y: np.tile(r.normal(size=d), (n, 1)),
    "a constant column": lambda r, n, d, y: np.where(np.arange(d) == 0, 7.0, r.normal(size=(n, d))),
    "repeated rows": lambda r, n, d, y: r.normal(size=(2, d))[r.integers(0, 2, n)],
    "near duplicates": lambda r, n, d, y: 1.0 + 1e-9 * r.normal(size=(n, d)),
    "extremes": lambda r, n, d, y: r.choice(EXTREMES, (n, d)),
    "one huge entry": lambda r, n, d, y: _with(r.normal(size=(n, d)), 1e150),
    "one entry at the limit": lambda r, n, d, y: _with(r.normal(size=(n, d)), 1.7e308),
    "huge": lambda r, n, d, y: 1e150 * r.normal(size=(n, d)),
    "large": lambda r, n, d, y: 1e20 * r.normal(size=(n, d)),
    "small": lambda r, n, d, y: 1e-20 * r.normal(size=(n, d)),
    "tiny": lambda r, n, d, y: 1e-150 * r.normal(size=(n, d)),
    "denormal": lambda r, n, d, y: 5e-324 * r.integers(0, 3, (n, d)),
    "far away": lambda r, n, d, y: 1e6 + r.normal(size=(n, d)),
    "very far away": lambda r, n, d, y: 1e15 + r.integers(0, 9, (n, d)),
    "many scales": lambda r, n, d, y: r.normal(size=(n, d)) * 10.0 ** r.integers(-12, 13, d),
    "all scales": lambda r, n, d, y: r.normal(size=(n, d)) * 10.0 ** r.integers(-150, 151, d),
    "heavy tails": lambda r, n, d, y: r.standard_cauchy((n, d)) ** 3,
}  # fmt: skip

ILLEGAL_TABLES = {
    "missing": lambda r, n, d, y: _with(r.normal(size=(n, d)), np.nan),
    "infinite": lambda r, n, d, y: _with(r.normal(size=(n, d)), -np.inf),
    "words": lambda r, n, d, y: np.full((n, d), "word", dtype=object),
    "nothing": lambda r, n, d, y: np.full((n, d), None, dtype=object),
    "no columns": lambda r, n, d, y: np.empty((n, 0)),
    "no rows": lambda r, n, d, y: np.empty((0, d)),
    "a vector": lambda r, n, d, y: r.normal(size=n),
    "a cube": lambda r, n, d, y: r.normal(size=(n, d, 2)),
    "complex": lambda r, n, d, y: 1j * r.normal(size=(n, d)),
}

#: Labels, from a random generator and plain class numbers.
LABELS = {
    "two": lambda r, y: y,
    "three": lambda r, y: np.arange(len(y)) % 3,
    "words": lambda r, y: np.array(["no", "yes"])[y],
    "objects": lambda r, y: np.array(["a", "b"], dtype=object)[y],
    "truth": lambda r, y: y == 1,
    "whole floats": lambda r, y: 2.0 * y - 1.0,
    "large numbers": lambda r, y: y * (2**62) - 2**61,
    "a rare one": lambda r, y: (np.arange(len(y)) == len(y) - 1).astype(int),
    "several rare ones": lambda r, y: np.maximum(np.arange(len(y)) - len(y) // 2, 0),
    "one row each": lambda r, y: np.arange(len(y)),
    "at random": lambda r, y: r.integers(0, 2, len(y)),
    "a column": lambda r, y: y[:, None],
}

ILLEGAL_LABELS = {
    "one class": lambda r, y: np.zeros(len(y), dtype=int),
    "continuous": lambda r, y: r.normal(size=len(y)),
    "missing": lambda r, y: np.where(np.arange(len(y)) == 0, np.nan, y),
    "infinite": lambda r, y: np.where(np.arange(len(y)) == 0, np.inf, y),
    "mixed": lambda r, y: np.array(["a", 1], dtype=object)[y],
    "none": lambda r, y: None,
    "short": lambda r, y: y[:-1],
    "a table": lambda r, y: np.eye(len(y), 2),
    "nothing": lambda r, y: np.full(len(y), None),
    "complex": lambda r, y: 1j * y,
}

#: Weights, from a random generator and the number of rows.
WEIGHTS = {
    "ones": lambda r, n: np.ones(n),
    "some zero": lambda r, n: r.integers(0, 3, n).astype(float),
    "huge": lambda r, n: np.full(n, 1e300),
    "tiny": lambda r, n: np.full(n, 1e-300),
    "large": lambda r, n: np.full(n, 1e12),
    "small": lambda r, n: np.full(n, 1e-12),
    "one huge": lambda r, n: np.where(np.arange(n) == 0, 1e300, 1.0),
    "one tiny": lambda r, n: np.where(np.arange(n) == 0, 1e-300, 1.0),
    "of all sizes": lambda r, n: r.choice([0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300], n),
    "one row alone": lambda r, n: (np.arange(n) == 0).astype(float),
}  # fmt: skip

ILLEGAL_WEIGHTS = {
    "negative": lambda r, n: np.where(np.arange(n) == 0, -1.0, 1.0),
    "missing": lambda r, n: np.where(np.arange(n) == 0, np.nan, 1.0),
    "infinite": lambda r, n: np.where(np.arange(n) == 0, np.inf, 1.0),
    "short": lambda r, n: np.ones(n - 1),
    "words": lambda r, n: ["much"] * n,
    "zero": lambda r, n: np.zeros(n),
}

FORMS = {
    "array": np.asarray,
    "fortran": np.asfortranarray,
    "lists": lambda X: X.tolist(),
    "objects": lambda X: X.astype(object),
    "float32": lambda X: np.clip(X, -3.4e38, 3.4e38).astype(np.float32),
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
}


def _with(X, value):
    """Put the value into the first entry."""
    X[0, 0] = value
    return X


@dataclass(frozen=True)
class Table:
    """A small table, by the name of its contents."""

    kind: str = "normal"
    rows: int = 9
    columns: int = 2
    seed: int = 0
    form: str = "array"

    def _codes(self) -> np.ndarray:
        return np.arange(self.rows) % 2

    def make(self, *, square: bool = False) -> Any:
        """Return the rows; with ``square`` as many columns as rows, made positive semidefinite."""
        kinds = TABLES | ILLEGAL_TABLES
        random = np.random.default_rng(self.seed)
        X = kinds[self.kind](random, self.rows, self.columns, self._codes())
        if square and self.kind in TABLES and self.seed % 2 == 0:
            with np.errstate(all="ignore"):
                X = np.nan_to_num(X @ X.T)
        if self.form in ("csr", "csc", "coo") and (X.ndim != 2 or X.dtype == object):
            return X  # such a sparse matrix cannot be made
        return FORMS[self.form](X) if np.isrealobj(X) and X.dtype != object else X

    def labels(self, kind: str) -> Any:
        """Return labels of this kind, one for every row."""
        return (LABELS | ILLEGAL_LABELS)[kind](np.random.default_rng(self.seed), self._codes())

    def weights(self, kind: str) -> Any:
        """Return weights of this kind, one for every row."""
        return (WEIGHTS | ILLEGAL_WEIGHTS)[kind](np.random.default_rng(self.seed), self.rows)

    def simpler(self) -> "list[Table]":
        """Return the tables that are one step simpler."""
        steps = [("form", "array"), ("kind", "normal"), ("columns", 1), ("columns", 2)]
        steps += [("rows", rows) for rows in (2, 4, 6, 9) if rows < self.rows]
        return [
            replace(self, **{name: value})
            for name, value in steps
            if getattr(self, name) != value and not (name == "columns" and value > self.columns)
        ]
