"""The flagship of regression: a support vector regressor that chooses its few terms itself.

The model is that of ``SparseSVC``, an expansion whose vectors are learned, with a width for each
feature and a linear part where they help (``learned/joint.py``). In units in which the target has
a spread of one it minimises

    1/2 sum_k |f_k|^2 + C sum_ik h(max(0, |y_ik - f_k(x_i)| - eps)),     h(s) = s^2 / 2  up to 1,
                                                                                s - 1/2  beyond:

the epsilon-insensitive loss, whose corner is rounded off over one spread of the target. Like the
loss of ``SVR`` it has a tube, and a bounded slope, so that outliers have little weight; within
that distance it is the squared loss, which is best for errors that are about normal. It is smooth,
so that one descent learns everything (``learned/descent.py``), and convex in the coefficients, so
that the last ones are certified (``learned/coefficients.py``): for this loss as it is written here,
not for one that it stands for. ``loss="squared"`` is h(s) = s^2 / 2 without an end, and no tube.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from zeronorm.arrays import as_on, to_numpy
from zeronorm.base.parameters import with_parameters
from zeronorm.base.regressor import KernelRegressor
from zeronorm.base.targets import TargetUnits
from zeronorm.base.training_set import Learned
from zeronorm.checks import check_choice, check_not_negative, check_one_of, is_number, shown
from zeronorm.decisions import Number
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.choice import Choice
from zeronorm.learned.criteria import OfNumbers
from zeronorm.learned.losses import Insensitive
from zeronorm.learned.machine import LearnedMachine
from zeronorm.learned.scoring import HeldOutRegressor
from zeronorm.learned.settings import is_cv, values_of
from zeronorm.limits import Limits

#: Tubes to choose from, and the width of the rounding, in units of the spread of the target.
EPSILONS, WIDTH = (0.0, 0.1, 0.3), 1.0

#: Costs to choose from. On few rows half a decade matters.
REGRESSION_COSTS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)

#: Names of the losses.
LOSSES = ("epsilon_insensitive", "squared")


@with_parameters
class SparseSVR(LearnedMachine, KernelRegressor):
    """Support vector regressor with a handful of learned vectors, chosen by itself.

    Where :class:`~sklearn.svm.SVR` keeps hundreds of training rows, this places a few vectors of
    its own, learns how wide the kernel is, for each feature if that helps, and adds a linear part
    where that does. The number of terms, C, epsilon and all this is chosen by cross-validation
    within ``fit``; the target is standardised inside.

    Parameters
    ----------
    n_terms : "auto" or int, default="auto"
        Number of terms: chosen, or at most this many: fewer, if cross-validation has them better
        (where nothing is to choose, exactly so many). A linear part counts as one for each target,
        because it costs as much as a term. Several targets share their vectors.
    C : "cv", float or sequence of float, default="cv"
        Cost of a residual, in units of the target's spread: chosen from 0.1 to 1000 (beyond 2 000
        rows, multiplied by 2 000 / n), given, or chosen from the given values.
    epsilon : "cv", float or sequence of float, default="cv"
        Residuals up to this cost nothing, as in :class:`~sklearn.svm.SVR`, in units of the target:
        chosen from 0, 0.1 and 0.3 spreads of the target, given, or chosen from the given values.
    loss : {"epsilon_insensitive", "squared"}, default="epsilon_insensitive"
        What a residual costs beyond epsilon: its square up to one spread of the target, and its
        size beyond, so that outliers have little weight; or its square, without a tube.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        Kernel function; it must be positive semidefinite and have a derivative.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : "cv", {"scale", "auto"}, float or sequence of float, default="cv"
        Kernel coefficient of "rbf" and "poly". "cv": learned with the vectors, from "scale" on, for
        "rbf", and chosen from 0.03 to 3 times "scale" for "poly". Else it is given as in
        :class:`~sklearn.svm.SVR`, or chosen from the given values, and stays (but for ``metric``).
    coef0 : float, default=0.0
        Constant of "poly".
    metric : "auto" or bool, default="auto"
        Whether every feature has a width of its own, which is learned ("rbf" only). Widths that do
        not matter become zero, unless rows held out say that they do. "auto": chosen, if ``gamma``
        is "cv" and something is chosen at all.
    linear : "auto" or bool, default="auto"
        Whether there is a linear part. "auto": chosen, if something is chosen at all and there are
        at most 400 features or 400 rows.
    max_features : int, optional
        Most features that the model may use; there is a metric then.
    vectors : {"free", "inside", "rows"}, default="free"
        Where the learned vectors may be, as in :class:`SparseSVC`: anywhere, within the range of
        the training rows, or on training rows (``support_``).
    rule : {"loss", "one_se", "paired_se", "best"}, default="loss"
        Which size to keep. "loss": the smallest whose held-out error is within 6 % (of the root
        mean square 3 %) or a quarter of a standard error, fold by fold, of the lowest. "one_se":
        the smallest within one standard error of the lowest error; "paired_se": within one
        standard error of the fold-by-fold difference from it; "best": that with the lowest error.
        A number of ``n_terms`` is a rule of its own: the size up to it with the lowest error is
        kept, whatever is given here.
    extrapolation : float or None, default=0.1
        How far predictions may lie outside the range of the training targets, as a share of that
        range: a linear part alone would follow a row with a wrong number in one feature anywhere.
        None: as far as they go.
    scoring : str or callable, optional
        What to choose by instead of the error, as in :class:`SparseSVC`.
    cv : int, splitter or iterable of splits, default=5
        Number of folds, or how to split, as in :class:`~sklearn.model_selection.GridSearchCV`. Of
        at most 500 rows a number of folds is drawn twice. Splitters of groups have them from
        ``fit(X, y, groups=...)``.
    tol : float, default=1e-4
        Relative gap between the objective and its minimum over the coefficients.
    max_iter : int, default=200
        Most steps of the final fit with all the vectors, after three times as many of Adam from
        eight terms on; by mini-batches, six times as many, and three times of at most 64 terms
        on 20 000 rows or more.
    n_init : int, default=2
        Number of starts of the final fit; the one with the lowest objective is kept.
    random_state : int, RandomState instance or None, default=None
        Draws folds, landmarks, candidates for the vectors, and samples of many rows.
    n_jobs : int, optional
        Workers of the cross-validation, as in joblib; the result does not depend on it. On a GPU
        there is one.
    device : str, optional
        Where to compute, such as "cuda" or "cuda:0", as in :class:`SparseSVC`.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    path_ : dict of ndarray
        What cross-validation found, for every size: "terms" (a linear part included), "error" (the
        lowest share of the variance that is not explained, 1 - R²), its "standard_error", and what
        it was reached with: "C", "gamma" (to begin with), "metric", "linear". With
        ``scoring`` also the "score", by which the setting of a size was chosen, and
        "score_standard_error". Empty if nothing was to choose.
    C_, gamma_ : float
        The cost, and the width; the mean of all widths if every feature has its own.
    epsilon_ : float or ndarray of shape (n_targets,)
        Half the width of the tube, in units of the target.
    limits_ : Limits or None
        Lowest and highest prediction of every target, ``limits_.low`` and ``limits_.high``.
    residuals_ : Residuals or None
        Held-out predictions and truth, from which the intervals come; None where nothing was
        chosen.
    metric_ : ndarray of shape (n_features,)
        Width of each feature, in the units of the features as given, if there is a metric:
        k(x, z) = exp(-Σ metric_i (x_i - z_i)²).
    linear_coef_ : ndarray of shape (n_targets, n_features)
        The linear part, if there is one.
    n_features_used_ : int
        Number of features with a width or a linear coefficient that is not zero.
    expansion_ : KernelExpansion
        The learned function.
    n_terms_ : int
        Number of kernel terms; none is legal where there is a linear part.
    support_vectors_ : ndarray of shape (n_terms, n_features)
        The learned vectors.
    support_ : ndarray of shape (n_terms,)
        Indices of the training rows that the vectors are, with ``vectors="rows"``.
    dual_coef_ : ndarray of shape (n_targets, n_terms)
        Coefficients.
    intercept_ : ndarray of shape (n_targets,)
        Constants.
    objective_ : float
        ½‖w‖² + C Σ loss of the final fit, for a target of unit spread, summed over the targets.
    n_iter_ : int
        Steps with all the vectors in the final fit.
    history_ : dict of ndarray
        "terms", "rows", "C" (it may rise to the one that is asked for) and "objective" of every
        stage of the final fit, and "fall": by which share of it each of the last steps still
        lowered the objective, zero where they have converged. Where more steps would matter
        a ``ConvergenceWarning`` says so.
    n_features_in_ : int
        Number of features seen in ``fit``.

    See Also
    --------
    SparseSVC : The classifier.
    SparsityPathDisplay : Draws ``path_``.

    Notes
    -----
    The spread of the target is its standard deviation, with a twentieth of the rows at either end
    drawn in unless ``loss="squared"``, so that one outlier does not change it. Targets further than
    100 spreads from the middle then count as if they were there: they are outliers to this loss.

    For the choices folds share at most 2 500 rows, and are judged by up to 5 000 others besides.
    From 20 000 rows on there are no folds: models learn from a draw of 4 000, and 10 000 others,
    in ``cv`` sets, judge them.
    With more than 4 000 rows, models of eight terms or more are learned by mini-batches of all,
    and judged by a tenth of them that is held back; a number of folds, ``rule``, ``n_init`` and
    ``n_jobs`` do not count then, splits that are given do. The final coefficients are solved on
    all rows.

    Intervals are as wide as the residuals of held-out rows say. These are those of the models of
    the folds, which have learned from fewer rows and were chosen by the same residuals: the first
    makes intervals too wide, the second too narrow, both by little.

    References
    ----------
    Kaizhu Huang, Danian Zheng, Jun Sun, Yoshinobu Hotta, Katsuhito Fujimoto, Satoshi Naoi: Sparse
    learning for support vector classification. Pattern Recognition Letters 31 (2010); section 2.

    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Peter Huber: Robust estimation of a location parameter. Annals of Mathematical Statistics 35
    (1964).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVR
    >>> from zeronorm import SparseSVR
    >>> X = np.random.RandomState(0).uniform(-3, 3, (200, 1))
    >>> y = np.sinc(X[:, 0]) + 0.1 * np.random.RandomState(1).randn(200)
    >>> model = SparseSVR(random_state=0).fit(X, y)
    >>> model.expansion_.n_products < len(SVR().fit(X, y).support_) / 5
    True
    >>> value, interval = model.predict([[0.0]], return_interval=0.9)
    >>> bool(interval[0, 0] < 1.0 < interval[0, 1])
    True
    """

    epsilon: Any = "cv"
    loss: str = "epsilon_insensitive"
    extrapolation: float | None = 0.1

    _C_values: ClassVar[Sequence[float]] = REGRESSION_COSTS
    _on_dask: ClassVar[str | None] = "DaskSparseSVR"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_one_of("loss", self.loss, LOSSES)
        check_choice("epsilon", self.epsilon, ("cv",), may_be_zero=True)
        if self.extrapolation is not None:
            check_not_negative("extrapolation, unless it is None,", self.extrapolation)

    def _losses(self) -> Sequence[Insensitive]:
        if self.loss == "squared":
            return (Insensitive(),)
        if is_cv(self.epsilon):
            return tuple(Insensitive(epsilon, WIDTH) for epsilon in EPSILONS)
        scales = self._units.scale
        given = values_of(self.epsilon)
        return tuple(Insensitive(tuple((one / scales).tolist()), WIDTH) for one in given)

    def _criterion(self, training: Any) -> OfNumbers:
        criterion = OfNumbers(1.0, self.loss == "squared")
        squares = criterion.squares(training.targets).mean(axis=1)
        guessing = float(np.average(squares, weights=training.cost))
        return replace(criterion, guessing=guessing or 1.0)

    def _target_units(self, training: Any) -> TargetUnits:
        is_robust = self.loss != "squared"
        return TargetUnits.of(training.targets, training.cost, is_robust=is_robust)

    def _answers(self, training: Any) -> Callable[..., Any]:
        return partial(HeldOutRegressor, self._target_units(training))

    def _learn(self, training: Any) -> Learned:
        self._units = self._target_units(training)
        self.limits_ = None
        if self.extrapolation is not None:
            self.limits_ = Limits.around(training.targets, self.extrapolation)
        learned = super()._learn(self._units.rows(training))
        learned.expansion = self._units.expansion(learned.expansion)
        return learned

    def _store_choice(self, choice: Choice) -> None:
        units: TargetUnits = self.__dict__.pop("_units")
        loss: Any = choice.setting.loss
        epsilon = np.array(loss.epsilon) * units.scale
        self.epsilon_ = float(epsilon[0]) if len(units.scale) == 1 else epsilon
        self.residuals_ = None
        if choice.calibration is not None:
            self.residuals_ = choice.calibration.in_units(units.scale, units.centre)

    def predict(self, X: Any, return_interval: float | None = None) -> Any:
        """Predict the target of every row, and an interval in which it lies if asked.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to predict for.
        return_interval : float, optional
            Probability with which a target is to lie in its interval, between 0 and 1.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        interval : ndarray of shape (n_samples, 2) or (n_samples, n_targets, 2)
            Lower and upper end, if ``return_interval`` is given. Each is as far from the prediction
            as held-out rows were; rows whose predictions are alike are judged by each other, where
            that makes better intervals (``learned/residuals.py``).
        """
        values = super().predict(X)
        if self.limits_ is not None:
            values = self.limits_.clipped(values)
        if return_interval is None:
            return values
        if not is_number(return_interval) or not 0 < return_interval < 1:
            raise ValueError(
                "return_interval must be a probability between 0 and 1, such as 0.9; got "
                f"{shown(return_interval)}."
            )
        if self.residuals_ is None:
            raise ValueError(
                "This SparseSVR has chosen nothing, so that there are no held-out rows to take "
                "intervals from. Let it choose C, epsilon, gamma or n_terms."
            )
        numbers = to_numpy(values)
        interval = self.residuals_.interval(numbers.reshape(len(numbers), -1), return_interval)
        if values.ndim == 1:
            interval = interval[:, 0]
        return values, as_on(interval, values)

    def _model_parts(self) -> tuple[KernelExpansion, Number]:
        """Return what was learned, and what its values mean."""
        return self.expansion_.to_numpy(), Number(self.limits_)
