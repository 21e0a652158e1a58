"""The flagship: a support vector classifier that chooses its few terms itself.

The model is that of Wu, Schölkopf & Bakir (2005), an expansion whose vectors are learned
(``learned/``). How many terms it has, C and gamma are chosen by cross-validation inside the
training data (``learned/path.py``): the smallest model within one standard error of the best.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from zeronorm.base.classifier import KernelClassifier
from zeronorm.base.parameters import with_parameters
from zeronorm.base.progress import progress_bar
from zeronorm.base.training_set import Learned, TrainingRows, check_cost
from zeronorm.checks import check_integer, check_positive, check_terms, is_integer
from zeronorm.decisions import Classes
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel, resolve_gamma
from zeronorm.learned.folds import LEARNING_ROWS, make_folds
from zeronorm.learned.learner import check_learnable, learn_vectors
from zeronorm.learned.path import (
    SIZES,
    Choice,
    Setting,
    far_behind,
    guessing_error,
    judge_settings,
    judge_sizes,
    promising,
)
from zeronorm.model_selection import check_rule

#: Costs to try, and widths as multiples of gamma="scale".
C_VALUES = (0.1, 1.0, 10.0, 100.0, 1000.0)
GAMMA_FACTORS = (0.03, 0.1, 0.3, 1.0, 3.0)


@with_parameters
class SparseSVC(KernelClassifier):
    """Support vector classifier with a handful of learned vectors, chosen by itself.

    Where :class:`~sklearn.svm.SVC` keeps hundreds of training rows, this places a few vectors of
    its own. The number of terms, C and gamma are chosen by cross-validation within ``fit``; the
    smallest model within one standard error of the best is kept.

    Parameters
    ----------
    n_terms : "auto" or int, default="auto"
        Number of kernel terms: chosen, up to 64, or at most this many.
    C : "cv", float or sequence of float, default="cv"
        Cost of a margin error, as in :class:`~sklearn.svm.SVC`: chosen from 0.1 to 1000 (beyond
        2 000 rows, multiplied by 2 000 / n), given, or chosen from the given values.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        Kernel function; it must be positive semidefinite and have a derivative.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : "cv", {"scale", "auto"}, float or sequence of float, default="cv"
        Kernel coefficient of "rbf" and "poly": chosen from 0.03 to 3 times "scale", given as in
        :class:`~sklearn.svm.SVC`, or chosen from the given values.
    coef0 : float, default=0.0
        Constant of "poly".
    rule : {"one_se", "paired_se", "best"}, default="one_se"
        Which size to keep: the smallest within one standard error of the lowest error; the
        smallest within one standard error of the fold-by-fold difference from it; or the one
        with the lowest error.
    cv : int, splitter or iterable of splits, default=5
        Number of folds, or how to split, as in :class:`~sklearn.model_selection.GridSearchCV`.
    class_weight : dict or "balanced", optional
        Factor of C for each class.
    tol : float, default=1e-4
        Relative duality gap of the coefficients.
    max_iter : int, default=200
        Most steps of the final fit with all the vectors; a quarter of it on each larger sample of
        many rows.
    n_init : int, default=2
        Number of starts of the final fit; the one with the lowest objective is kept.
    random_state : int, RandomState instance or None, default=None
        Draws folds, landmarks, candidates for the vectors, and samples of many rows.
    n_jobs : int, optional
        Workers of the cross-validation, as in joblib; the result does not depend on it.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    path_ : dict of ndarray
        What cross-validation found, for every size: "terms", "error" (the lowest of the settings
        tried), its "standard_error", and its "C" and "gamma". Empty if nothing was to choose.
    C_, gamma_ : float
        The cost and the width that were chosen.
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
    calibration_ : callable or None
        What ``predict_proba`` makes of decision values, with its ``slope``; None where nothing was
        chosen.
    objective_ : float
        ½‖w‖² + C Σ hinge of the final fit, summed over the outputs.
    n_iter_ : int
        Steps with all the vectors in the final fit.
    history_ : dict of ndarray
        "terms", "rows" and "objective" of every stage of the final fit.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    SparsityPathDisplay : Draws ``path_``.
    SparseLargeMarginClassifier : The same model with everything given.
    SVCReducer : Makes a fitted SVC smaller.

    Notes
    -----
    For the choices each fold learns from at most 2 000 rows and judges by at most 2 000 others; the
    final fit learns the vectors on up to 32 000 rows and their coefficients on all. Features
    should be on one scale (for example by ``StandardScaler``), as for any such kernel.
    Probabilities come from the decision values of the held-out rows of that cross-validation. Where
    ``n_terms``, C and gamma are all given there are none: then
    :class:`~sklearn.calibration.CalibratedClassifierCV` makes them.

    References
    ----------
    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Leo Breiman, Jerome Friedman, Richard Olshen, Charles Stone: Classification and Regression
    Trees (1984); the one-standard-error rule.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from zeronorm import SparseSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseSVC(random_state=0).fit(X, y)
    >>> model.n_terms_, len(SVC().fit(X, y).support_)
    (3, 54)
    """

    n_terms: Any = field(default="auto", kw_only=False)
    C: Any = "cv"
    gamma: Any = "cv"
    rule: str = "one_se"
    cv: Any = 5
    max_iter: int = 200
    n_init: int = 2
    n_jobs: int | None = None
    verbose: int = 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not self._chooses_terms():
            if not is_integer(self.n_terms):
                raise ValueError(f"n_terms must be 'auto' or an integer; got {self.n_terms!r}.")
            check_integer("n_terms", self.n_terms, least=1)
        for C in self._costs():
            check_positive("C", C)
        check_learnable(self.kernel)
        check_rule(self.rule)
        if is_integer(self.cv):
            check_integer("cv", self.cv, least=2)
        elif isinstance(self.cv, str) or not (
            hasattr(self.cv, "split") or isinstance(self.cv, Iterable)
        ):
            raise ValueError(
                f"cv must be an integer, a splitter or a list of splits; got {self.cv!r}."
            )
        check_integer("max_iter", self.max_iter, least=1)
        check_integer("n_init", self.n_init, least=1)
        check_integer("verbose", self.verbose, least=0)

    def _unit_cost(self) -> float:
        return 1.0  # the settings multiply it

    def _chooses_terms(self) -> bool:
        return isinstance(self.n_terms, str) and self.n_terms == "auto"

    def _costs(self, n_rows: int = 1) -> list[Any]:
        """Return the costs to try; for many rows such that these weigh as much as a few."""
        if not is_cv(self.C):
            return values_of("C", self.C)
        return [C * min(1.0, LEARNING_ROWS / n_rows) for C in C_VALUES]

    def _make_kernel(self, X: Any, sample_weight: np.ndarray | None) -> Kernel:
        """Return the kernel with gamma="scale", of which the widths are multiples."""
        return Kernel.from_params(
            self.kernel,
            gamma="scale",
            degree=self.degree,
            coef0=self.coef0,
            X=X,
            sample_weight=sample_weight,
        )

    def _kernels(self, training: TrainingRows) -> list[Kernel]:
        kernel = training.kernel
        if kernel.name == "linear":
            return [kernel]
        if is_cv(self.gamma):
            gammas = [factor * kernel.gamma for factor in GAMMA_FACTORS]
        elif isinstance(self.gamma, str) and self.gamma == "scale":
            gammas = [kernel.gamma]
        else:
            gammas = [resolve_gamma(one, training.data) for one in values_of("gamma", self.gamma)]
        return [kernel.with_gamma(gamma) for gamma in gammas]

    def _training_rows(
        self, X: Any, y: np.ndarray, sample_weight: Any
    ) -> tuple[TrainingRows, np.ndarray]:
        found = super()._training_rows(X, y, sample_weight)
        if not self._chooses_terms():
            check_terms(self.n_terms, X.shape[0])
        return found

    def _learn(self, training: TrainingRows) -> Learned:
        random = check_random_state(self.random_state)
        with progress_bar("SparseSVC", enabled=self.verbose > 0) as update:
            choice = self._choose(training, random, update)
            update(0.8, f"fitting {choice.size} terms")
            self.C_, self.gamma_ = choice.setting.C, choice.setting.kernel.gamma
            self.calibration_ = choice.calibration
            learned = learn_vectors(
                choice.setting.of(training),
                choice.size,
                random,
                n_init=self.n_init,
                max_iter=self.max_iter,
                tol=self.tol,
            )
            learned.doubt = choice.doubt
            return learned

    def _with_choices(self, learned: Learned) -> SparseSVC:
        again = copy.copy(self)
        again.n_terms = max(1, learned.expansion.n_terms)
        again.C, again.gamma, again.n_init, again.verbose = self.C_, self.gamma_, 1, 0
        return again

    def _model_parts(self) -> tuple[KernelExpansion, Classes]:
        return self.expansion_, Classes(self.classes_, link=self.calibration_)

    def _has_probabilities(self) -> bool:
        if hasattr(self, "expansion_") and self.calibration_ is None:
            raise AttributeError(
                "This SparseSVC has chosen nothing, so that there are no held-out rows to learn "
                "probabilities from. Let it choose C, gamma or n_terms, or put it into "
                "CalibratedClassifierCV."
            )
        return True

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Estimate the probability of every class.

        A sigmoid of the decision values with two classes, the softmax of all of them beyond, with
        a slope learned from rows that the model had not seen. The most probable class is what
        ``predict`` says.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        values = self.decision_function(X)
        assert self.calibration_ is not None  # or there is no such method
        return self.calibration_(values)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Estimate the logarithm of the probability of every class, as ``predict_proba`` does."""
        return np.log(self.predict_proba(X))

    def _choose(self, training: TrainingRows, random: np.random.RandomState, update: Any) -> Choice:
        """Choose C, gamma and the number of terms by cross-validation."""
        costs, kernels = self._costs(len(training.codes)), self._kernels(training)
        check_cost(max(costs) * training.cost)
        self.path_: dict[str, np.ndarray] = {}
        if len(costs) * len(kernels) == 1 and not self._chooses_terms():
            return Choice(Setting(costs[0], kernels[0]), self.n_terms)
        folds = make_folds(training, self.cv, random)
        update(0.0, "choosing C and gamma")
        stand_in = judge_settings(folds, costs, kernels, self.n_jobs)
        settings = promising(stand_in)
        portions = self._portions(min(len(fold.learn.codes) for fold in folds))

        def report(done: float, text: str) -> None:
            update(0.2 + 0.6 * done / (len(settings) * sum(map(len, portions))), text)

        aim, guessing = float(stand_in.mean.min()), guessing_error(training)
        judged = judge_sizes(folds, settings, portions, aim, guessing, self.n_jobs, report)
        self.path_ = judged.best_of_each_size()
        kept = judged.chosen(self.rule)
        doubt = far_behind(judged, kept, stand_in) if self._chooses_terms() else None
        link = judged.calibration(kept, folds)
        return Choice(judged.settings[kept], judged.sizes[kept], doubt, link)

    def _portions(self, n_rows: int) -> list[tuple[int, ...]]:
        if not self._chooses_terms():
            return [(self.n_terms,)]
        fitting = [tuple(size for size in portion if size <= n_rows) for portion in SIZES]
        return [portion for portion in fitting if portion]


def is_cv(value: Any) -> bool:
    """Whether the parameter asks for a choice by cross-validation."""
    return isinstance(value, str) and value == "cv"


def values_of(name: str, value: Any) -> list[Any]:
    """One value, or the values of a sequence, which must not be empty."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        values = list(value)
        if not values:
            raise ValueError(f"{name} is an empty sequence; give at least one value.")
        for one in values:
            check_positive(f"Every {name}", one)
        return sorted(values)
    return [value]
