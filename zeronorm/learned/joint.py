"""Vectors, coefficients, widths and a linear part that descend together, many models at once.

The model of one output k is

    f_k(x) = sum_j beta_jk k(z_j, x) + w_k' x + b_k,     k(z, x) = exp(-sum_i gamma_i (z_i - x_i)^2)

and all of it is learned:

    min   1/2 sum_k (beta_k' K^z beta_k + |w_k|^2 / scale)
          + 1/2 sum_ik c_ik max(0, 1 - y_ik f_k(x_i))^2
          + a Gaussian prior on the logarithms of the widths gamma_i.

The first sum is the squared norm of the function, as in Wu, Schölkopf & Bakir (2005), (5); the
linear part has the kernel scale * x'x. The hinge is squared, one per class: then all outputs are
one smooth problem, and no class waits for another. (Softmax was as accurate on the development
sets; ``docs/decisions.md``.) In regression the rounded epsilon-insensitive loss stands in its
place (``losses.py``); nothing else changes.

What makes the descent fast are its variables:

- coefficients in the basis of the vectors that is orthonormal, beta = L'^-1 v with K^z = L L', so
  that the norm is |v|^2, wherever the vectors are; and
- scaled by a Gauss-Newton matrix at the start of the descent: one for (v, w, b), shared by all
  outputs, a diagonal one for vectors and widths. A step of one is then about right.

Many models on the same rows, of different costs, widths and folds (the rows of a fold that are held
out have no cost), are learned at once: arrays have a first axis for the model, and every pass over
the rows is one matrix product for all of them (``solvers/lbfgs.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import as_on, cast, copied, double, namespace, put, take, to_numpy, zeros
from zeronorm.kernels import Kernel
from zeronorm.learned.kernel_sets import (
    Rows,
    SetsKernel,
    by_gram_of,
    factors,
    products_with_rows,
    sums_over_rows,
)
from zeronorm.learned.losses import SQUARED_HINGE, RowLoss
from zeronorm.pairs import classes_of_pairs, worst_scores

#: Widths stay within exp(-+ this) of where they began.
REACH = 8.0


@dataclass(frozen=True)
class Form:
    """What a function is made of, and what its values cost.

    ``widths`` is 0 if the kernel's width stays, 1 if it is learned, and the number of features if
    each has its own; ``spread`` is the standard deviation of their logarithms a priori; ``linear``
    the factor of the linear kernel, zero for none; ``pairs`` says that the outputs are pairs of
    classes.
    """

    kernel: Kernel
    widths: int = 0
    spread: float = 1.0
    linear: float = 0.0
    loss: RowLoss = SQUARED_HINGE
    pairs: bool = False


@dataclass
class Parameters:
    """What is learned, of every model: the first axis.

    vectors (m x d), weights v (m x outputs), intercept, linear (d x outputs; d = 0 without; in
    units in which its kernel is x'x), and logarithms of the widths (0, 1 or d of them) relative to
    where they began.
    """

    vectors: Any
    weights: Any
    intercept: Any
    linear: Any
    log_widths: Any

    @classmethod
    def nothing(cls, n_models: int, rows: Rows, form: Form) -> Parameters:
        """Return models without terms."""
        d, outputs = rows.n_features, rows.n_outputs
        linear = (d if form.linear else 0, outputs)
        shapes = (0, d), (0, outputs), (outputs,), linear, (form.widths,)
        return cls(*(zeros((n_models, *shape), rows.like) for shape in shapes))

    @classmethod
    def joined(cls, parts: list[Parameters]) -> Parameters | None:
        """Return the models of all parts, one after the other; None without any."""
        if not parts:
            return None
        xp, arrays = namespace(parts[0].vectors), [part.arrays() for part in parts]
        return cls(*(xp.concat(kind, axis=0) for kind in zip(*arrays, strict=True)))

    def arrays(self) -> tuple[Any, ...]:
        """Return all of them."""
        return self.vectors, self.weights, self.intercept, self.linear, self.log_widths

    def take(self, models: Any) -> Parameters:
        """Return those of some models."""
        return Parameters(*(take(array, models) for array in self.arrays()))

    def copy(self) -> Parameters:
        """Return copies of all of them."""
        return Parameters(*(copied(array) for array in self.arrays()))

    def put(self, models: np.ndarray, part: Parameters) -> None:
        """Replace those of some models."""
        for array, some in zip(self.arrays(), part.arrays(), strict=True):
            put(array, models, some)


@dataclass
class Used:
    """Features that the kernel and the linear part may use: ones and zeros.

    ``kernel`` (models x d) is of each model, ``linear`` (d) of all. With ``pressure`` (models x 1)
    the sum of the widths, in units of those that ``log_widths`` says, is penalised by it instead of
    the prior (``features.py``).
    """

    kernel: Any
    linear: Any
    pressure: Any = None
    log_widths: Any = None

    def take(self, models: Any) -> Used:
        """Return those of some models."""
        parts = self.kernel, self.pressure, self.log_widths
        kernel, *others = (None if part is None else take(part, models) for part in parts)
        return Used(kernel, self.linear, *others)


class JointModels:
    """Several models of one form and size on the same rows.

    Parameters
    ----------
    rows : Rows
        The rows, or where blocks of them can be taken from.
    form : Form
        What the functions are made of.
    cost : ndarray of shape (n_models, n)
        Cost of every row for every model; zero for those it must not see.
    gamma : ndarray of shape (n_models,)
        Width to begin with.
    parameters : Parameters, optional
        Where to begin; without, at models without terms.
    used : Used, optional
        Features that the models may use; without, all.
    """

    def __init__(
        self,
        rows: Any,
        form: Form,
        cost: Any,
        gamma: Any,
        parameters: Parameters | None = None,
        used: Used | None = None,
    ) -> None:
        self.rows, self.form, self.kernel = rows, form, SetsKernel(form.kernel)
        self.cost, self.gamma = (as_on(array, rows.like, rows.dtype) for array in (cost, gamma))
        self.parameters = parameters or Parameters.nothing(len(self), rows, form)
        self.used = used
        self.values = np.full(len(self), np.inf)  # of the objective
        self.falls = np.zeros(len(self))  # of it, a step, where a descent was cut short

    def __len__(self) -> int:
        return self.cost.shape[0]

    @property
    def size(self) -> int:
        """Number of kernel terms of each."""
        return self.parameters.vectors.shape[1]

    def at(self, parameters: Parameters, used: Used | None) -> JointModels:
        """Return the same models at other parameters, with these features."""
        return JointModels(self.rows, self.form, self.cost, self.gamma, parameters, used)

    def take(self, models: np.ndarray) -> JointModels:
        """Return some of the models."""
        parameters = self.parameters.take(models)
        costs, gammas = take(self.cost, models), take(self.gamma, models)
        used = self.used and self.used.take(models)
        part = JointModels(self.rows, self.form, costs, gammas, parameters, used)
        part.values, part.falls = self.values[models], self.falls[models]
        return part

    def widths(self, log_widths: Any, gamma: Any, used: Used | None) -> Any:
        """Gamma of every feature, or of all (models x d or 1)."""
        if log_widths.shape[1] == 0:
            return gamma[:, None]
        xp = namespace(log_widths)
        widths = gamma[:, None] * xp.exp(xp.clip(log_widths, -REACH, REACH))
        return widths if used is None else widths * used.kernel

    @property
    def current_widths(self) -> Any:
        """Gamma of every feature, or of all, as they are."""
        return self.widths(self.parameters.log_widths, self.gamma, self.used)

    def function(self, parameters: Parameters, models: np.ndarray) -> tuple[Any, Parameters]:
        """Return the objective of some models at other parameters, and its gradient."""
        vectors, weights, _, linear, log_widths = parameters.arrays()
        xp, rows = namespace(vectors), self.rows
        used = self.used and self.used.take(models)
        widths = self.widths(log_widths, take(self.gamma, models), used)
        values, gram = self.kernel.values(vectors, widths, rows), self.kernel.gram(vectors, widths)
        factor, inverse = factors(gram)
        coef = inverse.mT @ weights
        scores = self._scores(values, coef, parameters, rows)
        loss, slope = self.form.loss.total(scores, rows, take(self.cost, models))
        by_weights = inverse @ (values @ slope.mT)
        by_gram = by_gram_of(factor, inverse, coef, by_weights)
        # The product of a column and a row, by BLAS ten times slower.
        by_values = coef * slope if rows.n_outputs == 1 else coef @ slope
        by_vectors, by_widths = self.kernel.derivatives(
            vectors, widths, rows, values, gram, by_values, by_gram
        )
        by_linear = linear
        if self.form.linear:
            root = float(np.sqrt(self.form.linear))
            by_linear = linear + root * sums_over_rows(slope, rows.X).mT
            if used is not None:
                by_linear = by_linear * used.linear[:, None]
        prior, by_log_widths = self._prior(log_widths, used)
        if self.form.widths:
            by_log_widths = by_log_widths + xp.where(xp.abs(log_widths) < REACH, by_widths, 0.0)
        value = loss + 0.5 * (squared_norms(weights) + squared_norms(linear)) + prior
        return value, Parameters(
            by_vectors,
            by_weights + weights,
            xp.sum(slope, axis=2),
            by_linear,
            cast(by_log_widths, rows.dtype),
        )

    def objective(self) -> np.ndarray:
        """Objective of every model as it is."""
        loss, _ = self.form.loss.total(self.scores(self.rows), self.rows, self.cost)
        parameters = self.parameters
        norms = squared_norms(parameters.weights) + squared_norms(parameters.linear)
        return to_numpy(loss + 0.5 * norms + self._prior(parameters.log_widths, self.used)[0])

    def _prior(self, log_widths: Any, used: Used | None) -> tuple[Any, Any]:
        """Penalty of the log widths: their mean has a deviation of one, each from it ``spread``."""
        if log_widths.shape[1] == 0:
            return 0.0, log_widths
        xp = namespace(log_widths)
        if used is not None and used.pressure is not None:
            shares = xp.exp(xp.clip(log_widths - used.log_widths, -REACH, REACH))
            shares *= used.pressure * used.kernel
            return cast(xp.sum(shares, axis=1), double(shares)), shares
        mean = xp.sum(log_widths, axis=1, keepdims=True) / log_widths.shape[1]
        scaled = (log_widths - mean) / self.form.spread**2
        value = 0.5 * xp.sum(scaled * (log_widths - mean), axis=1) + 0.5 * mean[:, 0] ** 2
        return cast(value, double(value)), scaled + mean / log_widths.shape[1]

    def coef(self) -> Any:
        """Coefficients beta of every model (m x outputs)."""
        return self.inverse().mT @ self.parameters.weights

    def inverse(self) -> Any:
        """Inverse of the factor of every Gram matrix."""
        return factors(self.kernel.gram(self.parameters.vectors, self.current_widths))[1]

    def linear_columns(self, rows: Rows) -> Any:
        """Features of rows in units of the linear part (models x d x rows)."""
        X = rows.dense(slice(None))
        X = X if self.used is None else X * self.used.linear
        columns = cast(float(np.sqrt(self.form.linear)) * X.T, rows.dtype)
        return namespace(columns).broadcast_to(columns, (len(self), *columns.shape))

    def scores(self, rows: Rows) -> Any:
        """Decision values of rows, shape (models, outputs, rows)."""
        values = self.kernel.values(self.parameters.vectors, self.current_widths, rows)
        return self._scores(values, self.coef(), self.parameters, rows)

    def decision_values(self, rows: Rows) -> Any:
        """Return the scores of rows; one for each class where the outputs are pairs of them."""
        scores = self.scores(rows)
        if not self.form.pairs:
            return scores
        return worst_scores(scores.mT, classes_of_pairs(scores.shape[1])).mT

    def _scores(self, values: Any, coef: Any, parameters: Parameters, rows: Rows) -> Any:
        scores = coef.mT @ values
        scores += parameters.intercept[:, :, None]
        if self.form.linear:
            root = float(np.sqrt(self.form.linear))
            scores += root * products_with_rows(parameters.linear.mT, rows.X)
        return scores


def squared_norms(arrays: Any) -> Any:
    """Sum of the squares of each of a stack of matrices."""
    return namespace(arrays).sum(arrays * arrays, axis=(1, 2), dtype=double(arrays))
