"""The model that every method learns: a kernel expansion with few terms.

    f(x) = sum_j coef_j * k(vector_j, x) + intercept

Evaluation, pruning and the file of the function alone are written here, once; what its values mean
is a model (``model.py``).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.blocks import BLOCK_ROWS, row_blocks
from zeronorm.checks import is_integer
from zeronorm.decisions import vote_scores
from zeronorm.files import check_format, number_rows, read_model, write_model
from zeronorm.kernels import Kernel

FORMAT = "zeronorm-expansion"
VERSION = 1


class KernelExpansion:
    """A function f(x) = Σ coef_j · k(vector_j, x) + intercept, with one or several outputs.

    Parameters
    ----------
    vectors : array-like of shape (n_terms, n_features)
        The expansion vectors. For a precomputed kernel: the column of each term, shape
        (n_terms, 1).
    coef : array-like of shape (n_terms, n_outputs) or (n_terms,)
        Coefficients; several outputs share the vectors.
    intercept : array-like of shape (n_outputs,) or float
        Constant of each output.
    kernel : Kernel
        The kernel function.
    vote_classes : int, optional
        Set when the outputs are the one-against-one pairs of this many classes and
        :meth:`decision_function` is to return one score per class, as
        :class:`~sklearn.svm.SVC` does with ``decision_function_shape="ovr"``.

    Attributes
    ----------
    n_terms : int
        Number of kernel terms.
    n_outputs : int
        Number of outputs.

    Examples
    --------
    >>> from zeronorm import KernelExpansion
    >>> from zeronorm.kernels import Kernel
    >>> f = KernelExpansion([[0.0], [1.0]], [2.0, -1.0], 0.5, Kernel("linear"))
    >>> f.decision_function([[3.0]])
    array([-2.5])
    """

    def __init__(
        self,
        vectors: Any,
        coef: Any,
        intercept: Any,
        kernel: Kernel,
        *,
        vote_classes: int | None = None,
    ) -> None:
        if sparse.issparse(vectors):
            vectors = vectors.toarray()
        self.vectors = np.ascontiguousarray(vectors, dtype=np.float64)
        if self.vectors.ndim != 2:
            raise ValueError(f"vectors must be a matrix; got {self.vectors.ndim} dimension(s).")
        self.coef = np.array(coef, dtype=np.float64, ndmin=1)
        if self.coef.ndim == 1:
            self.coef = self.coef[:, None]
        self.intercept = np.array(intercept, dtype=np.float64, ndmin=1)
        self.kernel = kernel
        self.vote_classes = vote_classes
        self._check()
        self._values = kernel.prepare(self.vectors) if self.n_terms else None

    def __getstate__(self) -> dict[str, Any]:
        # The prepared kernel is a closure; it is made again from the vectors.
        return {key: value for key, value in self.__dict__.items() if key != "_values"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._values = self.kernel.prepare(self.vectors) if self.n_terms else None

    def _check(self) -> None:
        if self.coef.ndim != 2 or len(self.coef) != len(self.vectors):
            raise ValueError(
                f"coef has shape {self.coef.shape}; it needs one row for each of the "
                f"{len(self.vectors)} vectors."
            )
        if self.intercept.shape != (self.coef.shape[1],):
            raise ValueError(
                f"intercept has shape {self.intercept.shape}, but coef has "
                f"{self.coef.shape[1]} outputs."
            )
        for label in ("vectors", "coef", "intercept"):
            if not np.isfinite(getattr(self, label)).all():
                raise ValueError(f"{label} holds values that are not finite.")
        if self.kernel.is_precomputed:
            columns = self.vectors
            is_count = (columns >= 0) & (columns < 2**53) & (columns % 1 == 0)
            if columns.shape[1] != 1 or not is_count.all():
                raise ValueError("The vectors of a precomputed kernel must be column numbers.")
        k = self.vote_classes
        if k is not None and (k < 3 or self.n_outputs != k * (k - 1) // 2):
            raise ValueError(f"{k} classes do not make {self.n_outputs} pairs.")

    @property
    def n_terms(self) -> int:
        """Number of kernel terms."""
        return len(self.vectors)

    @property
    def n_outputs(self) -> int:
        """Number of outputs of the expansion itself, before any vote."""
        return self.coef.shape[1]

    @property
    def n_features(self) -> int:
        """Number of features; for a precomputed kernel, of columns up to the last that is used."""
        if self.kernel.is_precomputed:
            return int(self.vectors.max(initial=-1.0)) + 1
        return self.vectors.shape[1]

    @property
    def kernel_name(self) -> str:
        """Name of the kernel."""
        return self.kernel.name

    def __repr__(self) -> str:
        return f"KernelExpansion({self.n_terms} terms, {self.n_outputs} outputs, {self.kernel})"

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the function at every row of X.

        The rows go through in blocks, so that no array of size rows × terms is ever formed.
        X is taken as it is: the classifiers validate it, this does not.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Where to evaluate; the kernel matrix with all training rows for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Decision values; one column per class where ``vote_classes`` is set.
        """
        return self.scores(self.outputs(X))

    def outputs(self, X: Any) -> np.ndarray:
        """Values of the outputs themselves, before any vote, shape (rows, outputs)."""
        if not sparse.issparse(X):
            X = np.asarray(X)
        self._check_shape(X)
        n_rows = X.shape[0]
        # Rows far out may overflow; the result then says so by not being finite.
        with np.errstate(over="ignore", invalid="ignore"):
            if self._values is None:
                values = np.zeros((n_rows, self.n_outputs))
            elif n_rows <= BLOCK_ROWS:
                values = self._values(X) @ self.coef
            else:
                values = np.empty((n_rows, self.n_outputs))
                for rows in row_blocks(n_rows):
                    values[rows] = self._values(X[rows]) @ self.coef
            values += self.intercept
        return values

    def scores(self, outputs: np.ndarray) -> np.ndarray:
        """Decision values of rows with these outputs."""
        if self.vote_classes is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                return vote_scores(outputs, self.vote_classes)
        return outputs[:, 0] if self.n_outputs == 1 else outputs

    def kernel_values(self, X: Any) -> np.ndarray:
        """Return the kernel matrix of the rows of X and the vectors."""
        self._check_shape(X)
        if self.n_terms == 0:  # nothing to call a kernel function with
            return np.zeros((X.shape[0], 0))
        return self.kernel.matrix(X, self.vectors)

    def _check_shape(self, X: Any) -> None:
        needed, columns = self.n_features, f"{self.n_features} columns"
        fits = X.ndim == 2 and X.shape[1] == needed
        if self.kernel.is_precomputed:
            # The vectors are columns of X; they do not tell how many it has in all.
            fits = X.ndim == 2 and X.shape[1] >= needed
            columns = f"at least {needed} columns, the kernel values with all training rows"
        if not fits:
            raise ValueError(
                f"X has shape {X.shape}; it must have one row for each point and {columns}."
            )

    def prune(self, tolerance: float = 0.0) -> KernelExpansion:
        """Return the expansion without the terms whose coefficients are at most ``tolerance``."""
        keep = np.abs(self.coef).max(axis=1, initial=0.0) > tolerance
        return self._with(self.vectors[keep], self.coef[keep])

    def merge(self) -> KernelExpansion:
        """Return the same function with equal vectors joined into one term."""
        vectors, which = np.unique(self.vectors, axis=0, return_inverse=True)
        coef = np.zeros((len(vectors), self.n_outputs))
        np.add.at(coef, which.ravel(), self.coef)
        return self._with(vectors, coef)

    def _with(self, vectors: np.ndarray, coef: np.ndarray) -> KernelExpansion:
        return KernelExpansion(
            vectors, coef, self.intercept, self.kernel, vote_classes=self.vote_classes
        )

    def to_dict(self) -> dict[str, Any]:
        """Describe the expansion as plain data (numbers, strings, lists)."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "kernel": self.kernel.to_dict(),
            "n_features": self.vectors.shape[1],
            "vote_classes": self.vote_classes,
            "intercept": self.intercept.tolist(),
            "coef": self.coef.tolist(),
            "vectors": self.vectors.tolist(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> KernelExpansion:
        """Rebuild an expansion from :meth:`to_dict`; a clear ``ValueError`` if it is damaged."""
        needed = ("kernel", "n_features", "vote_classes", "intercept", "coef", "vectors")
        data = check_format(data, "kernel expansion", FORMAT, VERSION, needed)
        n_features, vote_classes = data["n_features"], data["vote_classes"]
        if not is_integer(n_features) or n_features < 1:
            raise ValueError(
                "The kernel expansion is damaged: n_features is not a positive number."
            )
        if vote_classes is not None and not is_integer(vote_classes):
            raise ValueError("The kernel expansion is damaged: vote_classes is not a number.")
        outputs = data["intercept"]
        if not isinstance(outputs, list) or not outputs:
            raise ValueError("The kernel expansion is damaged: intercept is not a list of numbers.")
        what = "kernel expansion"
        intercept = number_rows([outputs], len(outputs), what, "intercept")[0]
        coef = number_rows(data["coef"], len(outputs), what, "coef")
        vectors = number_rows(data["vectors"], n_features, what, "vectors")
        kernel = Kernel.from_dict(data["kernel"])
        return cls(vectors, coef, intercept, kernel, vote_classes=vote_classes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the expansion as readable JSON with a checksum, all of it or nothing."""
        write_model(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> KernelExpansion:
        """Read what :meth:`save` wrote. Nothing in the file is ever executed.

        A file that was changed after it was written does not match its checksum and is refused.
        To edit one by hand, remove the line with the checksum: a file without one is taken as it
        is, and so are those of zeronorm 0.1, which wrote none.

        Parameters
        ----------
        path : path-like
            A file or a pipe, of at most 256 MiB (:data:`zeronorm.files.MAX_BYTES`).

        Returns
        -------
        KernelExpansion

        Raises
        ------
        ValueError
            If the content is damaged, was edited, or is anything else.
        """
        return read_model(path, cls.from_dict)

    @classmethod
    def from_estimator(cls, estimator: Any) -> KernelExpansion:
        """Return the expansion of a fitted kernel machine.

        One of zeronorm, or an ``SVC``, ``NuSVC``, ``SVR``, ``NuSVR`` or ``OneClassSVM``. A
        :class:`~sklearn.frozen.FrozenEstimator` around one is looked into, and an expansion is
        returned as it is.
        """
        from sklearn.frozen import FrozenEstimator

        from zeronorm.libsvm import MACHINES, expansion_of

        if isinstance(estimator, KernelExpansion):
            return estimator
        if isinstance(estimator, FrozenEstimator):
            return cls.from_estimator(estimator.estimator)
        if isinstance(estimator, MACHINES) and hasattr(estimator, "support_"):
            return expansion_of(estimator)
        if isinstance(getattr(estimator, "expansion_", None), KernelExpansion):
            return estimator.expansion_
        raise ValueError(
            f"{type(estimator).__name__} is no fitted kernel machine: take a fitted SVC, NuSVC, "
            "SVR, NuSVR, OneClassSVM or estimator of zeronorm, or its expansion_. Where estimators "
            "are cloned, as in cross-validation, put it in a FrozenEstimator, or it comes out "
            "unfitted."
        )

    @classmethod
    def from_svc(cls, svc: Any) -> KernelExpansion:
        """Convert a fitted :class:`~sklearn.svm.SVC` or :class:`~sklearn.svm.NuSVC`.

        The decision values are the SVC's own, whatever its ``decision_function_shape``. Several
        classes become one-against-one outputs that share the support vectors.
        """
        from zeronorm.libsvm import CLASSIFIERS, expansion_of

        if not isinstance(svc, CLASSIFIERS):
            raise ValueError(f"from_svc takes a fitted SVC or NuSVC; got {type(svc).__name__}.")
        return expansion_of(svc)
