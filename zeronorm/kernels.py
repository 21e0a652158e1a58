"""Kernel functions: values in blocks, and derivatives with respect to the expansion vectors.

A :class:`Kernel` is a small immutable description (name and numbers). Everything that depends on
data takes the data as an argument, so that one kernel serves training, prediction and saving.

Precomputed kernels fit the same contract: a "vector" is then the index of a column of the matrix
that the caller passes as ``X``.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy import sparse

from zeronorm.blocks import by_blocks, row_blocks
from zeronorm.checks import is_number, shown
from zeronorm.distances import as_dense, float_rows, squared_norms, variance_of
from zeronorm.rbf import RBFDerivatives, checked_metric, prepare_rbf

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


def resolve_gamma(gamma: Any, X: Any, sample_weight: np.ndarray | None = None) -> float:
    """Turn ``"scale"``, ``"auto"`` or a number into the number, as :class:`~sklearn.svm.SVC` does.

    With ``sample_weight`` the variance of ``"scale"`` is the weighted one, so that a weight of two
    means the same as a repeated row.
    """
    if isinstance(gamma, str):
        n_features = X.shape[1]
        if gamma == "auto":
            return 1.0 / n_features
        if gamma == "scale":
            variance = variance_of(X, sample_weight)
            if not np.isfinite(variance):
                raise ValueError(
                    "The variance of X overflows, so gamma='scale' has no value; "
                    "scale the features first (for example with StandardScaler)."
                )
            # Tiny variances would make gamma infinite; SVC falls back to 1 for constant data.
            return 1.0 / (n_features * variance) if n_features * variance > 1e-300 else 1.0
    elif is_number(gamma) and gamma > 0:
        return float(gamma)
    raise ValueError(f"gamma must be 'scale', 'auto' or a positive number; got {shown(gamma)}.")


@dataclass(frozen=True)
class Kernel:
    """A kernel function k(x, v) with its parameters fixed to numbers.

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "sigmoid", "precomputed", "callable"}
        Which function; the formulas are scikit-learn's.
    gamma : float, default=1.0
        Coefficient of "poly", "rbf" and "sigmoid".
    degree : float, default=3
        Degree of "poly".
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    function : callable, optional
        For ``name="callable"``: ``function(X, V)`` returns the matrix of kernel values.
    metric : sequence of float of shape (n_features,), optional
        For "rbf": a factor of each feature's squared difference, at least zero; the kernel is
        exp(-gamma Σ_i metric_i (x_i - v_i)²). A feature with the factor zero does not count.

    Examples
    --------
    >>> import numpy as np
    >>> from zeronorm.kernels import Kernel
    >>> Kernel("rbf", gamma=0.5).matrix(np.array([[0.0], [2.0]]), np.array([[0.0]])).round(3)
    array([[1.   ],
           [0.135]])
    """

    name: str
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0
    function: Callable[..., Any] | None = None
    metric: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if self.name == "callable":
            if not callable(self.function):
                raise ValueError("A kernel named 'callable' needs the function itself.")
        elif self.name not in KERNELS:
            raise ValueError(
                f"Unknown kernel {shown(self.name)}; choose one of {', '.join(KERNELS)} or a "
                "function."
            )
        for label in ("gamma", "degree", "coef0"):
            value = getattr(self, label)
            if not is_number(value):
                raise ValueError(f"{label} must be a finite number; got {shown(value)}.")
        for label in ("gamma", "degree"):
            if getattr(self, label) < 0:
                raise ValueError(
                    f"{label} must not be negative; got {shown(getattr(self, label))}."
                )
        if self.metric is not None:
            if self.name != "rbf":
                raise ValueError(f"Only the rbf kernel has a metric, not {shown(self.name)}.")
            object.__setattr__(self, "metric", checked_metric(self.metric))

    def __repr__(self) -> str:
        shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self)[:-1])
        # One number for each of hundreds of features would bury the others.
        metric = "" if self.metric is None else f", metric={reprlib.repr(self.metric)}"
        return f"Kernel({', '.join(shown)}{metric})"

    @classmethod
    def from_params(
        cls,
        kernel: Any,
        *,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        X: Any,
        sample_weight: np.ndarray | None = None,
    ) -> Kernel:
        """Build the kernel from an estimator's parameters and its training data."""
        if callable(kernel):
            return cls("callable", function=kernel)
        if not isinstance(kernel, str):
            raise ValueError(f"kernel must be a name or a function; got {shown(kernel)}.")
        if kernel in ("poly", "rbf", "sigmoid"):
            number = resolve_gamma(gamma, X, sample_weight)
            return cls(kernel, gamma=number, degree=degree, coef0=coef0)
        return cls(kernel)

    @property
    def is_precomputed(self) -> bool:
        """Whether X holds kernel values, and a vector is the index of a column of it."""
        return self.name == "precomputed"

    @property
    def is_differentiable(self) -> bool:
        """Whether :meth:`gradient` exists for this kernel."""
        return self.name in ("linear", "poly", "rbf", "sigmoid")

    @property
    def is_constant(self) -> bool:
        """Whether all pairs have one value: gamma (an SVC's on huge data) or the metric is zero."""
        if self.metric is not None and not any(self.metric):
            return True
        return self.name in ("poly", "rbf", "sigmoid") and self.gamma == 0

    def with_gamma(self, gamma: float) -> Kernel:
        """Return the same kernel with another gamma."""
        return replace(self, gamma=gamma)

    def with_metric(self, metric: Any) -> Kernel:
        """Return the same kernel with another metric; None for none."""
        return replace(self, metric=metric)

    def prepare(self, V: Any) -> Callable[[Any], np.ndarray]:
        """Return a function of X alone that gives ``matrix(X, V)`` for one block of rows.

        What depends on the vectors only is computed here, once.
        """
        if self.is_precomputed:
            columns = np.asarray(V).reshape(len(V), -1)[:, 0].astype(np.intp)
            return lambda X: as_dense(X[:, columns]).astype(np.float64, copy=False)
        if self.name == "callable":
            return lambda X: self._call(X, V)
        V = float_rows(V)
        if self.name == "rbf":
            return prepare_rbf(V, self.gamma, self.metric)
        transposed = V.T if sparse.issparse(V) else np.ascontiguousarray(V.T)
        if self.name == "linear":
            return lambda X: as_dense(float_rows(X) @ transposed)
        return lambda X: self._of_product(as_dense(float_rows(X) @ transposed))

    def _of_product(self, product: np.ndarray) -> np.ndarray:
        """Poly and sigmoid of the inner products, in place."""
        product *= self.gamma
        product += self.coef0
        if self.name == "poly":
            return np.power(product, self.degree, out=product)
        return np.tanh(product, out=product)

    def _call(self, X: Any, V: Any) -> np.ndarray:
        values = np.asarray(as_dense(self.function(X, V)), dtype=np.float64)  # type: ignore[misc]
        if values.shape != (X.shape[0], V.shape[0]):
            raise ValueError(
                f"The kernel function returned shape {values.shape} for {X.shape[0]} rows and "
                f"{V.shape[0]} vectors; it must return one value per pair."
            )
        return values

    def matrix(self, X: Any, V: Any) -> np.ndarray:
        """Kernel values of every row of X with every vector, shape (rows, vectors).

        Raises
        ------
        ValueError
            If a value is not finite, which means that the data are badly scaled for this kernel.
        """
        # Overflow is caught below, with a sentence instead of a warning.
        with np.errstate(over="ignore", invalid="ignore"):
            values = by_blocks(self.prepare(V), X, V.shape[0], copy=self.function is not None)
            # A sum meets every NaN and infinity; only a suspicious one is worth the full look.
            is_suspicious = not np.isfinite(values.sum())
        if is_suspicious and not np.isfinite(values).all():
            raise ValueError(
                f"The {self.name} kernel gives values that are not finite on these data; "
                "scale the features (for example with StandardScaler) or change the parameters."
            )
        return values

    def diagonal(self, X: Any) -> np.ndarray:
        """Kernel value of every row with itself."""
        if self.name == "rbf":
            return np.ones(X.shape[0])
        if self.is_precomputed:
            return np.asarray(X.diagonal(), dtype=float)
        if self.name == "callable":
            return np.array([self._call(X[[i]], X[[i]])[0, 0] for i in range(X.shape[0])])
        squared = squared_norms(float_rows(X))
        return squared if self.name == "linear" else self._of_product(squared)

    def gradient(
        self, X: Any, V: np.ndarray, weights: np.ndarray, values: np.ndarray | None = None
    ) -> np.ndarray:
        """Differentiate by the vectors alone; see :meth:`derivatives`."""
        if self.name == "rbf":
            return self._rbf_derivatives(X, V, weights, values).by_vectors()
        return self.derivatives(X, V, weights, values)[0]

    def derivatives(
        self, X: Any, V: np.ndarray, weights: np.ndarray, values: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """Differentiate ``sum(weights * matrix(X, V))`` by the vectors and by gamma.

        Costs a few matrix products of the size of ``matrix(X, V)``; no array is larger than a
        block of it.

        Parameters
        ----------
        X, V : array of shape (rows, features) and (vectors, features)
            Arguments of the kernel; the rows may be sparse.
        weights : ndarray of shape (rows, vectors)
            Factor of each kernel value.
        values : ndarray of shape (rows, vectors), optional
            ``matrix(X, V)``, where it is at hand.

        Returns
        -------
        by_vectors : ndarray, shape of V
            Gradient with respect to the vectors.
        by_gamma : float
            Derivative with respect to gamma; zero for the linear kernel, which has none.
        """
        if not self.is_differentiable:
            raise ValueError(f"The {self.name} kernel has no derivative with respect to vectors.")
        if self.name == "rbf":
            return self._rbf_derivatives(X, V, weights, values).by_vectors_and_gamma()
        V = np.asarray(V, dtype=np.float64)
        moment = np.zeros_like(V)  # sums of the rows, weighted by the slopes
        block_of = self.prepare(V)
        for rows in row_blocks(X.shape[0]):
            block = float_rows(X[rows])
            slope = self._slope(block, V, block_of, None if values is None else values[rows])
            slope *= weights[rows]
            moment += (block.T @ slope).T
        return moment, float(np.sum(moment * V)) / self.gamma if self.name != "linear" else 0.0

    def log_width_gradient(self, X: Any, V: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Gradient of ``sum(weights * matrix(X, V))`` by the logarithm of each feature's width."""
        return self.width_derivatives(X, V, weights)[1]

    def width_derivatives(
        self, X: Any, V: np.ndarray, weights: np.ndarray, values: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Differentiate ``sum(weights * matrix(X, V))`` by the vectors and by the widths.

        Parameters are those of :meth:`derivatives`; of the rbf kernel only.

        Returns
        -------
        by_vectors : ndarray, shape of V
            Gradient with respect to the vectors.
        by_log_widths : ndarray of shape (n_features,)
            Derivative with respect to the logarithm of each entry of the metric (ones, where there
            is none); zero where the entry is.
        """
        if self.name != "rbf":
            raise ValueError(f"The {self.name} kernel has no width of each feature.")
        return self._rbf_derivatives(X, V, weights, values).by_vectors_and_widths()

    def _rbf_derivatives(
        self, X: Any, V: Any, weights: np.ndarray, values: np.ndarray | None
    ) -> RBFDerivatives:
        V = np.asarray(V, dtype=np.float64)
        return RBFDerivatives(X, V, weights, values, self.gamma, self.metric)

    def _slope(
        self,
        X: Any,
        V: np.ndarray,
        block_of: Callable[[Any], np.ndarray],
        values: np.ndarray | None,
    ) -> np.ndarray:
        """Factor of x in the derivative of a product kernel."""
        if self.name == "linear":
            return np.ones((X.shape[0], len(V)))
        if self.name == "sigmoid":
            known = block_of(X) if values is None else values
            return self.gamma * (1.0 - known**2)
        if self.degree == 0:
            return np.zeros((X.shape[0], len(V)))
        product = self.gamma * as_dense(X @ V.T) + self.coef0
        return self.gamma * self.degree * product ** (self.degree - 1)

    def to_dict(self) -> dict[str, Any]:
        """Describe the kernel as plain data; a function cannot be described."""
        if self.name == "callable":
            raise ValueError(
                "A model with a callable kernel cannot be saved: it is code, not data."
            )
        description = {
            "name": self.name,
            "gamma": float(self.gamma),
            "degree": float(self.degree),
            "coef0": float(self.coef0),
        }
        return description if self.metric is None else description | {"metric": list(self.metric)}

    @classmethod
    def from_dict(cls, data: Any) -> Kernel:
        """Rebuild a kernel from :meth:`to_dict`; a clear ``ValueError`` if it is damaged."""
        keys = {"name", "gamma", "degree", "coef0"}
        if not isinstance(data, dict) or data.keys() - {"metric"} != keys:
            raise ValueError("The kernel must be an object with name, gamma, degree and coef0.")
        if data["name"] not in KERNELS:
            raise ValueError(f"Unknown kernel {shown(data['name'])} in the file.")
        metric = data.get("metric")
        if "metric" in data and not isinstance(metric, list):
            raise ValueError("The kernel is damaged: metric is not a list of numbers.")
        kernel = cls(data["name"], data["gamma"], data["degree"], data["coef0"], metric=metric)
        # NumPy 1 multiplies no matrix by an integer of more than 64 bits.
        gamma, degree, coef0 = float(kernel.gamma), float(kernel.degree), float(kernel.coef0)
        return replace(kernel, gamma=gamma, degree=degree, coef0=coef0)
