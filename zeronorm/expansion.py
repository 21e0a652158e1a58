"""The model that every method learns: a kernel expansion with few terms.

    f(x) = sum_j coef_j * k(vector_j, x) + linear' x + intercept

The linear part is optional: it does cheaply what kernel terms are wasted on. Evaluation, pruning
and the file of the function alone are written here, once (``expansion_parts.py`` checks and reads
its parts); what its values mean is a model (``model.py``).
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.blocks import BLOCK_ROWS, row_blocks
from zeronorm.distances import float_rows
from zeronorm.expansion_parts import FORMAT as FORMAT
from zeronorm.expansion_parts import VERSION, as_columns, check_parts, parts_from_dict
from zeronorm.files import read_model, write_model
from zeronorm.kernels import Kernel
from zeronorm.pairs import PAIR_SCORES


class KernelExpansion:
    """A function f(x) = Σ coef_j · k(vector_j, x) + linear · x + intercept of one or more outputs.

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
    pair_scores : {"votes", "worst"}, default="votes"
        How the pairs make them: by "votes" as in ``SVC``, or the "worst" value of each class.
    linear : array-like of shape (n_features, n_outputs) or (n_features,), optional
        Weights of the features themselves, if there is a linear part; not for a precomputed
        kernel. A function with a linear part may do without kernel terms.

    Attributes
    ----------
    linear : ndarray of shape (n_features, n_outputs) or None
        The linear part, None where there is none.
    n_terms : int
        Number of kernel terms.
    n_outputs : int
        Number of outputs.
    n_products : int
        What a prediction costs: kernel terms, and inner products of a linear part.

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
        pair_scores: str = "votes",
        linear: Any = None,
    ) -> None:
        if sparse.issparse(vectors):
            vectors = vectors.toarray()
        # A copy, as of the other parts: what is prepared below must not outlive a change of it.
        self.vectors = np.array(vectors, dtype=np.float64, order="C")
        if self.vectors.ndim != 2:
            raise ValueError(f"vectors must be a matrix; got {self.vectors.ndim} dimension(s).")
        self.coef = as_columns(coef)
        self.intercept = np.array(intercept, dtype=np.float64, ndmin=1)
        self.kernel = kernel
        self.vote_classes, self.pair_scores = vote_classes, pair_scores
        self.linear = None if linear is None else as_columns(linear)
        check_parts(self)
        self._prepare()

    def __getstate__(self) -> dict[str, Any]:
        # The prepared kernel is a closure; it is made again from the vectors.
        return {key: value for key, value in self.__dict__.items() if key != "_values"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Pickles of zeronorm 0.1 know no linear part, and one way to make scores of pairs.
        self.__dict__.update({"linear": None, "pair_scores": "votes", **state})
        self._prepare()

    def _prepare(self) -> None:
        """Compute what depends on the vectors alone."""
        with np.errstate(over="ignore"):  # what overflows shows in the values, which are checked
            self._values = self.kernel.prepare(self.vectors) if self.n_terms else None

    @property
    def n_terms(self) -> int:
        """Number of kernel terms."""
        return self.vectors.shape[0]

    @property
    def n_outputs(self) -> int:
        """Number of outputs of the expansion itself, before any vote."""
        return self.coef.shape[1]

    @property
    def n_products(self) -> int:
        """What a prediction costs: kernel terms, an inner product for each output if linear."""
        return self.n_terms + (0 if self.linear is None else self.n_outputs)

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
        linear = "" if self.linear is None else "a linear part, "
        return (
            f"KernelExpansion({self.n_terms} terms, {linear}{self.n_outputs} outputs, "
            f"{self.kernel})"
        )

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
        X = self._rows(X)
        n_rows = X.shape[0]
        # Rows far out may overflow; the result then says so by not being finite.
        with np.errstate(over="ignore", invalid="ignore"):
            if self._values is None and self.linear is None:
                values = np.zeros((n_rows, self.n_outputs))
            elif n_rows <= BLOCK_ROWS:
                values = self._sums(X)
            else:
                values = np.empty((n_rows, self.n_outputs))
                for rows in row_blocks(n_rows):
                    values[rows] = self._sums(X[rows])
            values += self.intercept
        return values

    def _sums(self, X: Any) -> np.ndarray:
        """Sum the parts but the intercept, for a block of rows."""
        if self._values is None:
            return float_rows(X) @ self.linear
        values = self._values(X) @ self.coef
        if self.linear is not None:
            values += float_rows(X) @ self.linear
        return values

    def outputs_from(self, kernel_values: np.ndarray, X: Any) -> np.ndarray:
        """Values of the outputs at rows X with these for their :meth:`kernel_values`."""
        values = kernel_values @ self.coef + self.intercept
        return values if self.linear is None else values + float_rows(X) @ self.linear

    def scores(self, outputs: np.ndarray) -> np.ndarray:
        """Decision values of rows with these outputs."""
        if self.vote_classes is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                return PAIR_SCORES[self.pair_scores](outputs, self.vote_classes)
        return outputs[:, 0] if self.n_outputs == 1 else outputs

    def kernel_values(self, X: Any) -> np.ndarray:
        """Return the kernel matrix of the rows of X and the vectors."""
        X = self._rows(X)
        if self.n_terms == 0:  # nothing to call a kernel function with
            return np.zeros((X.shape[0], 0))
        return self.kernel.matrix(X, self.vectors)

    def _rows(self, X: Any) -> Any:
        """Return array-like rows as an array or sparse matrix, of the right shape."""
        if not sparse.issparse(X):
            X = np.asarray(X)
        self._check_shape(X)
        return X

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

    def to_numpy(self) -> KernelExpansion:
        """Return the expansion with NumPy arrays, which it has."""
        return self

    def prune(self, tolerance: float = 0.0) -> KernelExpansion:
        """Return the expansion without the terms whose coefficients are at most ``tolerance``."""
        keep = np.abs(self.coef).max(axis=1, initial=0.0) > tolerance
        return self.with_terms(self.vectors[keep], self.coef[keep])

    def merge(self) -> KernelExpansion:
        """Return the same function with equal vectors joined into one term."""
        vectors, which = np.unique(self.vectors, axis=0, return_inverse=True)
        coef = np.zeros((len(vectors), self.n_outputs))
        np.add.at(coef, which.ravel(), self.coef)
        return self.with_terms(vectors, coef)

    def with_terms(
        self, vectors: np.ndarray, coef: np.ndarray, intercept: Any = None
    ) -> KernelExpansion:
        """Return an expansion with other kernel terms, and the same or another intercept.

        Kernel, linear part and vote are those of this one.
        """
        return KernelExpansion(
            vectors,
            coef,
            self.intercept if intercept is None else intercept,
            self.kernel,
            vote_classes=self.vote_classes,
            pair_scores=self.pair_scores,
            linear=self.linear,
        )

    def without_linear(self, why: str) -> KernelExpansion:
        """Return this expansion if it has no linear part; else a ValueError that says why."""
        if self.linear is not None:
            raise ValueError(f"{why}, and the linear part that this model has would be lost.")
        return self

    def to_dict(self) -> dict[str, Any]:
        """Describe the expansion as plain data (numbers, strings, lists)."""
        description: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "kernel": self.kernel.to_dict(),
            "n_features": self.vectors.shape[1],
            "vote_classes": self.vote_classes,
            "intercept": self.intercept.tolist(),
            "coef": self.coef.tolist(),
            "vectors": self.vectors.tolist(),
        }
        if self.pair_scores != "votes":
            description["pair_scores"] = self.pair_scores
        if self.linear is not None:
            description["linear"] = self.linear.tolist()
        return description

    @classmethod
    def from_dict(cls, data: Any) -> KernelExpansion:
        """Rebuild an expansion from :meth:`to_dict`; a clear ``ValueError`` if it is damaged."""
        return cls(**parts_from_dict(data))

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
            return estimator.to_numpy()
        if isinstance(estimator, FrozenEstimator):
            return cls.from_estimator(estimator.estimator)
        if isinstance(estimator, MACHINES) and hasattr(estimator, "support_"):
            return expansion_of(estimator)
        if isinstance(getattr(estimator, "expansion_", None), KernelExpansion):
            return estimator.expansion_.to_numpy()
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
