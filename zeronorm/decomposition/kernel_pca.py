"""Kernel principal components with few learned vectors.

Kernel PCA (Schölkopf, Smola & Müller 1998) projects a row onto the principal axes of the training
rows in feature space: score k of a row x is

    t_k(x) = Σ_i a_ik k(x_i, x) + c_k,        a_k = u_k / sqrt(λ_k),  K̃ u_k = λ_k u_k,

a kernel expansion with all n rows as vectors, where K̃ is the centred kernel matrix and
c_k = -Σ_i a_ik mean_l k(x_i, x_l). K̃ is reconstructed as T T', and of all matrices of this rank
that is the nearest. Here the scores are functions of m vectors that are learned, all components
with the same ones, such that they are near to those of kernel PCA on the training rows,

    min over Z, β, b   Σ_ik (t_k(x_i) - Σ_j β_jk k(z_j, x_i) - b_k)²  + a small ridge:

the regression of ``SparseSVR`` with squared loss, a given kernel and the scores as targets
(``learned/final.py``), whose last coefficients are certified. The error of a score is one of the
reconstruction, |K̃ - T T'|. The way back from scores to rows is ``inverse.py``.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from zeronorm.base.fitting import fitting
from zeronorm.base.machine import KernelMachine, warn_of
from zeronorm.base.parameters import with_parameters
from zeronorm.base.targets import NumericRows
from zeronorm.base.training_set import Learned, check_cost, learned_expansion
from zeronorm.base.validation import validated_rows
from zeronorm.checks import check_integer, check_terms, is_auto
from zeronorm.decisions import Scores
from zeronorm.decomposition.inverse import ScoresToRows
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.final import fit_numbers
from zeronorm.learned.learner import check_learnable

#: Terms of "auto": one for so many of the rows whose kernel matrix is decomposed, and at most.
ROWS_PER_TERM, MOST_TERMS = 10, 200

#: Cost of a squared error of scores whose largest deviation is one: the ridge is small beside it.
COST = 1e3

#: Eigenvalues below this share of the largest are rounding.
ROUNDING = 1e-10


@with_parameters
class SparseKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMachine):
    """Kernel principal components whose scores cost a few kernel values, not one for each row.

    Parameters
    ----------
    n_components : int, default=2
        Number of components; fewer if the kernel matrix has no more.
    n_terms : "auto" or int, default="auto"
        Number of kernel terms that all components share: a tenth of the rows whose kernel matrix is
        decomposed, at most 200; or this many. With as many as these rows it is kernel PCA itself.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        Kernel function; it must be positive semidefinite and have a derivative.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf" and "poly". (That of :class:`~sklearn.decomposition.KernelPCA`
        is "auto" by default.)
    coef0 : float, default=0.0
        Constant of "poly".
    tol : float, default=1e-4
        Relative gap of the objective to its minimum over the coefficients.
    max_iter : int, default=200
        Most steps in which all the vectors move.
    random_state : int, RandomState instance or None, default=None
        Draws the rows whose kernel matrix is decomposed, where there are more than 2 000, and
        candidates for the vectors.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the centred kernel matrix, falling.
    expansion_ : KernelExpansion
        The scores.
    n_terms_ : int
        Number of kernel terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The learned vectors.
    dual_coef_ : ndarray of shape (n_components, n_terms)
        Coefficients.
    intercept_ : ndarray of shape (n_components,)
        Constants.
    error_ : float
        Mean squared error of the scores beside those of kernel PCA, as a share of their variance,
        on the rows whose kernel matrix was decomposed.
    objective_ : float
        Of the regression.
    n_iter_ : int
        Steps in which all the vectors moved.
    history_ : dict of ndarray
        "terms", "rows", "C", "objective" and "fall" of every stage, as in ``SparseSVC``.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    SparseSVR : The regression with everything chosen.

    Notes
    -----
    Components have the sign with which their score that is largest in size is positive.

    The inverse transform is a ridge regression of the rows on their scores, as in ``KernelPCA``,
    but with as many terms as there are here, a linear part, and width and ridge by generalised
    cross-validation. On new rows of six sets it is nearer to them than that of ``KernelPCA`` with
    its own ridge. :func:`zeronorm.save` keeps the transform alone.

    References
    ----------
    Bernhard Schölkopf, Alexander Smola, Klaus-Robert Müller: Nonlinear component analysis as a
    kernel eigenvalue problem. Neural Computation 10 (1998).

    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import SparseKernelPCA
    >>> X, _ = make_moons(200, noise=0.1, random_state=0)
    >>> pca = SparseKernelPCA(2, 12, gamma=1.0, random_state=0).fit(X)
    >>> pca.transform(X).shape, pca.n_terms_
    ((200, 2), 12)
    >>> pca.error_ < 0.01
    True
    >>> bool(np.mean((pca.inverse_transform(pca.transform(X)) - X) ** 2) < 0.1 * X.var())
    True
    """

    n_components: int = field(default=2, kw_only=False)
    n_terms: Any = field(default="auto", kw_only=False)
    max_iter: int = 200

    #: Rows whose kernel matrix is decomposed, at most.
    _most_rows: ClassVar[int] = 2_000

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_learnable(self.kernel)
        check_integer("n_components", self.n_components, least=1)
        check_integer("n_terms", self.n_terms, least=1, words=("auto",))

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : ignored
            Here for scikit-learn's sake.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            X = validated_rows(self, X)
            if X.shape[0] < 2:
                raise ValueError("At least two rows are needed; got n_samples = 1.")
            with np.errstate(all="ignore"):
                rows, weight, data, kernel = self._rows_that_count(X, None)
                check_cost(weight)
                if not is_auto(self.n_terms):
                    check_terms(self.n_terms, len(rows))
                random = check_random_state(self.random_state)
                some = np.sort(random.permutation(len(rows))[: self._most_rows])
                data = data[some]
                codes, targets = np.zeros(len(some), dtype=np.intp), np.zeros((len(some), 1))
                training = NumericRows(some, data, codes, targets, weight[some], kernel)
                learned = self._learn(training)
                self._store_learned(learned)
                self._inverse = self._learn_inverse(data)
        warn_of(learned, learned.doubt)
        return self

    def _learn(self, training: Any) -> Learned:
        training = training.compact()
        values, vectors, means = _components(training, self.n_components)
        self.eigenvalues_ = values
        coef = vectors / np.sqrt(values)
        scores = vectors * np.sqrt(values)
        count = self.n_terms
        if is_auto(self.n_terms):
            count = min(MOST_TERMS, max(len(values) + 1, len(scores) // ROWS_PER_TERM))
        if count >= len(scores):
            data = training.dense(np.arange(len(scores)))
            whole = learned_expansion(data, coef, -means @ coef, training.kernel, 0.0)
            self.error_ = 0.0
            n_rows, history = np.array([len(scores)]), {"objective": np.zeros(1)}
            return Learned(whole, None, 0.0, 0, {"terms": n_rows, "rows": n_rows, **history})
        unit = float(np.std(scores, axis=0).max())
        options = self.random_state, self.max_iter, self.tol
        learned = fit_numbers(training, scores / unit, COST, count, *options)
        found = learned.expansion
        learned.expansion = KernelExpansion(
            found.vectors, unit * found.coef, unit * found.intercept, found.kernel
        )
        residual = scores - learned.expansion.outputs(training.data)
        self.error_ = float(np.sum(residual**2) / np.sum(scores**2))
        return learned

    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to project.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Scores.
        """
        values = self._decision_values(X, "transform")
        return values.reshape(len(values), -1)

    def _learn_inverse(self, data: Any) -> ScoresToRows | None:
        """Learn the way back; sparse rows have none."""
        if sparse.issparse(data):
            return None
        scores, centres = (self.expansion_.outputs(rows) for rows in (data, self.support_vectors_))
        return ScoresToRows(scores, data, centres)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the rows that scores stand for, as near as a regression on the training rows can.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self, "expansion_")
        if self._inverse is None:
            raise ValueError(
                "There is no inverse transform of sparse rows, which would be dense: fit dense "
                "ones, X.toarray()."
            )
        scores = check_array(X, dtype=np.float64)
        if scores.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {scores.shape[1]} columns; there are {self._n_features_out} components."
            )
        return self._inverse.rows(scores)

    @property
    def _n_features_out(self) -> int:
        return self.expansion_.n_outputs

    def _model_parts(self) -> tuple[KernelExpansion, Scores]:
        """Return what was learned; its values are scores."""
        return self.expansion_.to_numpy(), Scores()


def _components(training: Any, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Largest eigenvalues of the centred kernel matrix, eigenvectors, and means of its columns."""
    gram = training.kernel.matrix(training.data, training.data)
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    if not np.isfinite(centred).all():
        raise ValueError(
            "Kernel values are not finite: the data are too badly scaled for this kernel. "
            "Standardise the features."
        )
    values, vectors = np.linalg.eigh(centred)
    order = np.argsort(values)[::-1][:count]
    order = order[values[order] > ROUNDING * max(values[-1], np.finfo(float).tiny)]
    if len(order) == 0:
        raise ValueError("All rows are equal for this kernel: there are no components.")
    values, vectors = values[order], vectors[:, order]
    largest = np.abs(vectors).argmax(axis=0)
    return values, vectors * np.sign(vectors[largest, np.arange(len(order))]), means
