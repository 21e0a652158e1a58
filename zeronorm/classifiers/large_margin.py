"""Sparse large margin classifiers: a given number of terms, whose vectors are free points.

Wu, Schölkopf & Bakir (2005), SLMC. Among all expansions of m terms, wherever their vectors lie,

    min   ½ ‖w‖² + C Σ hinge(y_i f(x_i)),    w = Σ_j β_j φ(z_j),   j = 1 … m        (5)-(8)

``learned/prototypes.py`` descends on W(Z), the optimum for fixed vectors. The function has many
local minima. The default start grows the set vector by vector, each of the largest predicted gain,
and moves all of them now and then; class-wise k-means centres end at about the same objective. With
many rows the vectors are learned on samples that grow, each starting from the last, and only the
coefficients of the final vectors are solved on all rows. Hundreds of vectors are moved by
mini-batches of all rows (``learned/learner.py``). That solution has a duality gap; the place
of the vectors has none, the problem not being convex.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_array, check_random_state

from zeronorm.base.classifier import KernelClassifier
from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import Learned, TrainingRows
from zeronorm.checks import check_integer, check_terms, shown
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel
from zeronorm.learned.learner import (
    LearnerSizes,
    VectorLearner,
    check_learnable,
    class_centres,
    learn_vectors,
)
from zeronorm.learned.prototypes import Prototypes


@with_parameters
class SparseLargeMarginClassifier(KernelClassifier):
    """Support vector classifier with a given number of terms, whose vectors are learned.

    The expansion vectors are not rows of the training data but points that are moved until the
    margin is as large as it gets with so few of them.

    Parameters
    ----------
    n_terms : int, default=10
        Number of kernel terms, at most: vectors that would add nothing are left out.
    C : float, default=1.0
        Cost of a margin error, as in :class:`~sklearn.svm.SVC`.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        Kernel function; it must be positive semidefinite and have a derivative.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient of "rbf" and "poly", as in :class:`~sklearn.svm.SVC`.
    coef0 : float, default=0.0
        Constant of "poly".
    learn_gamma : bool or "metric", default=False
        Whether the width is learned together with the vectors, from ``gamma`` on. "metric" learns
        one width for each feature, of the rbf kernel only. The logarithms of the widths have a
        Gaussian prior of standard deviation one around their mean: half the sum of the squared
        deviations is added to what the descent lowers, but not to ``objective_``. The prior is on
        the features as they are given, so these should be of about the same scale.
    init : {"greedy", "kmeans"}, array of shape (n_vectors, n_features), fitted classifier or \
KernelExpansion, default="greedy"
        Where the vectors start: one after the other, by the largest predicted gain; at the centres
        of each class; or at given points, whose number then has to be ``n_terms``.
    n_init : int, default=1
        Number of starts with different draws; the one with the lowest objective is kept.
    class_weight : dict or "balanced", optional
        Factor of C for each class.
    tol : float, default=1e-4
        Relative duality gap of the coefficients.
    max_iter : int, default=50
        Most steps with all the vectors; a quarter of it on each larger sample of many rows. 100
        vectors or more on more than 4 000 rows take 24 times as many, each with a batch of rows.
    random_state : int, RandomState instance or None, default=None
        Draws candidates for the vectors, and the samples of more than 2 000 rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The learned vectors.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients, with plain signs: positive favours the class of the output.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    metric_ : ndarray of shape (n_features,)
        With ``learn_gamma="metric"`` only: the learned widths; the kernel is
        exp(-Σ_i metric_i (x_i - v_i)²) of the features as they are given.
    objective_ : float
        ½‖w‖² + C Σ hinge, summed over the outputs.
    n_iter_ : int
        Steps with all the vectors.
    history_ : dict of ndarray
        For every stage: "terms", "rows", "fall" (by which share of the objective each of the last
        steps still lowered it, zero where they have converged) and "objective" (with the hinge
        rounded off, which is less; the costs of a sample are rescaled to all).
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    SparseSVC : Chooses the number of terms, C and gamma too.
    SVCReducer : Makes a fitted SVC smaller.

    References
    ----------
    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from zeronorm import SparseLargeMarginClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseLargeMarginClassifier(n_terms=4, C=10, random_state=0).fit(X, y)
    >>> model.n_terms_, model.score(X, y)
    (4, 0.965)
    """

    n_terms: int = field(default=10, kw_only=False)
    C: float = 1.0
    learn_gamma: bool | str = False
    init: Any = "greedy"
    n_init: int = 1
    max_iter: int = 50

    #: Numbers of rows and vectors that call for other ways to learn.
    _sizes: ClassVar[LearnerSizes] = LearnerSizes()

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_terms", self.n_terms, least=1)
        check_integer("n_init", self.n_init, least=1)
        check_learnable(self.kernel)
        if self.learn_gamma and self.kernel == "linear":
            raise ValueError("The linear kernel has no gamma to learn.")
        self._check_learn_gamma()
        if isinstance(self.init, str) and self.init not in ("greedy", "kmeans"):
            raise ValueError(
                "init must be 'greedy', 'kmeans', an array of vectors, a fitted classifier or a "
                f"KernelExpansion; got {shown(self.init)}."
            )

    def _check_learn_gamma(self) -> None:
        if isinstance(self.learn_gamma, str) and self.learn_gamma != "metric":
            raise ValueError(
                f"learn_gamma must be True, False or 'metric'; got {shown(self.learn_gamma)}."
            )
        if self.learn_gamma == "metric" and self.kernel != "rbf":
            raise ValueError(
                f"learn_gamma='metric' is for kernel='rbf' only; kernel is {shown(self.kernel)}."
            )

    def _make_kernel(self, X: Any, sample_weight: np.ndarray | None) -> Kernel:
        kernel = super()._make_kernel(X, sample_weight)
        is_metric = isinstance(self.learn_gamma, str)
        return kernel.with_metric(np.ones(X.shape[1])) if is_metric else kernel

    def _training_rows(self, X: Any, y: np.ndarray, sample_weight: Any) -> TrainingRows:
        training = super()._training_rows(X, y, sample_weight)
        check_terms(self.n_terms, len(training.rows))
        return training

    def _learn(self, training: TrainingRows) -> Learned:
        return learn_vectors(
            training,
            self.n_terms,
            check_random_state(self.random_state),
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            learn_gamma=self.learn_gamma,
            start=None if isinstance(self.init, str) and self.init == "greedy" else self._start,
            sizes=self._sizes,
        )

    def _start(self, learner: VectorLearner) -> Prototypes:
        if isinstance(self.init, str):
            return learner.at(class_centres(learner, self.n_terms))
        return learner.at(self._given_vectors(learner.training.data.shape[1]))

    def _given_vectors(self, n_features: int) -> np.ndarray:
        if isinstance(self.init, KernelExpansion) or hasattr(self.init, "predict"):
            vectors = KernelExpansion.from_estimator(self.init).vectors
        else:
            vectors = check_array(self.init, dtype=np.float64, input_name="init")
        if vectors.shape != (self.n_terms, n_features):
            raise ValueError(
                f"init holds vectors of shape {vectors.shape}; n_terms={self.n_terms} and "
                f"{n_features} features ask for {(self.n_terms, n_features)}."
            )
        return vectors
