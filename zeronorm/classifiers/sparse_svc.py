"""The flagship: a support vector classifier that chooses its few terms itself.

The model is that of Wu, Schölkopf & Bakir (2005), an expansion whose vectors are learned, with a
width for each feature and a linear part where they help, and the squared hinge, one for each class
or pair of classes (``learned/joint.py``). How many terms it has, C and all else is chosen by
cross-validation inside the training data (``learned/path.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from zeronorm.arrays import namespace, to_numpy
from zeronorm.base.classifier import KernelClassifier
from zeronorm.base.parameters import with_parameters
from zeronorm.checks import check_word
from zeronorm.decisions import Classes, DecisionRule
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.choice import Choice
from zeronorm.learned.criteria import CLASSES, Criterion
from zeronorm.learned.losses import SQUARED_HINGE, RowLoss
from zeronorm.learned.machine import LearnedMachine
from zeronorm.learned.scoring import HeldOutClassifier
from zeronorm.learned.settings import Setting


@with_parameters
class SparseSVC(LearnedMachine, KernelClassifier):
    """Support vector classifier with a handful of learned vectors, chosen by itself.

    Where :class:`~sklearn.svm.SVC` keeps hundreds of training rows, this places a few vectors of
    its own, learns how wide the kernel is, for each feature if that helps, and adds a linear part
    where that does. The number of terms, C and all this is chosen by cross-validation within
    ``fit``.

    Parameters
    ----------
    n_terms : "auto" or int, default="auto"
        Number of terms: chosen, or at most this many: fewer, if cross-validation has them better
        (where nothing is to choose, exactly so many). A linear part counts as one for each output,
        because it costs as much as a term.
    C : "cv", float or sequence of float, default="cv"
        Cost of a margin error, as in :class:`~sklearn.svm.LinearSVC`: chosen from 0.01 to 1000
        (beyond 2 000 rows, multiplied by 2 000 / n), given, or chosen from the given values.
    kernel : {"linear", "poly", "rbf"}, default="rbf"
        Kernel function; it must be positive semidefinite and have a derivative.
    degree : float, default=3
        Degree of the polynomial kernel.
    gamma : "cv", {"scale", "auto"}, float or sequence of float, default="cv"
        Kernel coefficient of "rbf" and "poly". "cv": learned with the vectors, from "scale" on, for
        "rbf", and chosen from 0.03 to 3 times "scale" for "poly". Else it is given as in
        :class:`~sklearn.svm.SVC`, or chosen from the given values, and stays (but for ``metric``).
    coef0 : float, default=0.0
        Constant of "poly".
    metric : "auto" or bool, default="auto"
        Whether every feature has a width of its own, which is learned ("rbf" only). Widths that do
        not matter become zero, unless rows held out say that they do. "auto": chosen, if ``gamma``
        is "cv" and something is chosen at all.
    linear : "auto" or bool, default="auto"
        Whether there is a linear part. "auto": chosen, if something is chosen at all and there are
        at most 400 features or 400 rows: its solution takes a square matrix of the fewer. Where
        rows are fewer than features there is not both it and a metric, unless both are asked for.
    multi_class : {"auto", "ovr", "ovo"}, default="auto"
        What the outputs of more than two classes are: each class against the rest ("ovr"), or each
        against each other ("ovo"), as :class:`~sklearn.svm.SVC` learns them. All share the vectors,
        so that pairs cost no terms; they tell many classes apart by fewer, and have no linear part.
        "auto": chosen, if something is chosen at all, ``linear`` is not True, there are four
        classes or more, at most 4 000 rows, and rows times pairs are at most 65 536; else "ovr".
    max_features : int, optional
        Most features that the model may use; there is a metric then.
    vectors : {"free", "inside", "rows"}, default="free"
        Where the learned vectors may be. "free": anywhere, also where no row could be. "inside":
        every feature of a vector stays within the range of the training rows. "rows": the vectors
        end on training rows (``support_``), each on another one, and all else is learned again;
        models are chosen by what they are worth there. See Notes for what it costs in error.
    rule : {"loss", "one_se", "paired_se", "best"}, default="loss"
        Which size to keep. "loss": the smallest whose loss on held-out rows, the cross-entropy in
        bits and twice the error, is within half a standard error of the lowest, fold by
        fold. "one_se": the smallest within one standard error of the lowest error; "paired_se":
        within one standard error of the fold-by-fold difference from it; "best": that with the
        lowest error. A number of ``n_terms`` is a rule of its own: the size up to it with the
        lowest loss is kept, whatever is given here.
    scoring : str or callable, optional
        What to choose by instead of this loss: a scorer of scikit-learn, by name or as
        :func:`~sklearn.metrics.make_scorer` makes it. ``rule`` then goes by the score ("loss":
        within half a standard error of the best), and so does ``score``. Probabilities that
        it asks for are calibrated on the rows that are scored.
    cv : int, splitter or iterable of splits, default=5
        Number of folds, or how to split, as in :class:`~sklearn.model_selection.GridSearchCV`. Of
        at most 500 rows a number of folds is drawn twice. Splitters of groups have them from
        ``fit(X, y, groups=...)``.
    class_weight : dict or "balanced", optional
        Factor of C for each class.
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
        Where to compute, such as "cuda" or "cuda:0": what is needed of NumPy arrays is moved there,
        and results come back. It takes PyTorch (``pip install 'zeronorm[gpu]'``). "cpu" is what
        NumPy has anyway. By default everything is where X is: under
        ``sklearn.config_context(array_api_dispatch=True)`` a tensor is learned from, and predicted
        for, on its own device, and fitted arrays live there.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    path_ : dict of ndarray
        What cross-validation found, for every size: "terms" (a linear part included), "error" (the
        lowest of the settings tried), its "standard_error", and what it was reached with: "C",
        "gamma" (to begin with), "metric", "linear", and "multi_class" where pairs of classes were
        tried. With ``scoring`` also the "score", by which the setting of a size was chosen, and
        "score_standard_error". Empty if nothing was to choose.
    C_, gamma_ : float
        The cost, and the width; the mean of all widths if every feature has its own.
    metric_ : ndarray of shape (n_features,)
        Width of each feature, in the units of the features as given, if there is a metric:
        k(x, z) = exp(-Σ metric_i (x_i - z_i)²).
    linear_coef_ : ndarray of shape (n_outputs, n_features)
        The linear part, if there is one.
    multi_class_ : str
        "ovr" or "ovo": what the outputs of more than two classes are. With "ovo" the outputs are
        the pairs of classes in the order of :class:`~sklearn.svm.SVC`, and the score of a class is
        its worst value among its pairs; the largest score wins, no votes are counted.
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
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients, with plain signs: positive favours the class of the output, of a pair the
        first.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    calibration_ : callable or None
        What ``predict_proba`` makes of decision values; None where nothing was chosen.
    objective_ : float
        ½‖w‖² + ½ C Σ hinge² of the final fit, summed over the outputs.
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
    SparsityPathDisplay : Draws ``path_``.
    SparseLargeMarginClassifier : The model of the paper, with the hinge and everything given.
    SVCReducer : Makes a fitted SVC smaller.

    Notes
    -----
    A model whose size is chosen has at most one kernel term for ten support vectors of an SVC with
    the C and the width that serve it best (and for ten rows to learn from), but two more than
    outputs are allowed in any case, and eight where a class has less than a twentieth of the rows.
    Of at most 500 rows of two or three classes, models with an "rbf" kernel that still gain by
    their last terms, or may have four at most, are compared with an SVC on the same folds, unless
    there is a ``scoring``; where they are behind it, by a point of error at least, they may have
    twice as many, and twice as many again where that does not do.
    For the choices folds share at most 2 500 rows, and are judged by up to 5 000 others besides.
    From 20 000 rows on there are no folds: models learn from a draw of 4 000, and 10 000 others,
    in ``cv`` sets, judge them.
    With more than 4 000 rows, models of eight terms or more are learned by mini-batches of all,
    and judged by a tenth of them that is held back; a number of folds, ``rule``, ``n_init`` and
    ``n_jobs`` do not count then, splits that are given do. The final coefficients are solved on
    all rows.
    Vectors inside the range of the rows cost hardly any error, vectors that are rows most where
    boundaries are wiggly (docs/decisions.md has what was measured). By mini-batches models are
    compared with free vectors, and the one that is kept goes to rows.
    Features should be on one scale (for example by ``StandardScaler``), as for any such kernel.
    Probabilities come from the rows that the choice was judged by; where nothing is chosen,
    :class:`~sklearn.calibration.CalibratedClassifierCV` makes them.

    References
    ----------
    Mingrui Wu, Bernhard Schölkopf, Gökhan Bakir: Building sparse large margin classifiers.
    Proceedings of the 22nd International Conference on Machine Learning (2005).

    Jason Weston, André Elisseeff, Bernhard Schölkopf, Mike Tipping: Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research 3 (2003); the widths.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.svm import SVC
    >>> from zeronorm import SparseSVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = SparseSVC(random_state=0).fit(X, y)
    >>> model.expansion_.n_products < len(SVC().fit(X, y).support_) / 5
    True
    """

    multi_class: str = "auto"

    _on_dask: ClassVar[str | None] = "DaskSparseSVC"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_word("multi_class", self.multi_class, "auto", "ovr", "ovo")
        if self.multi_class == "ovo" and self.linear is True:
            raise ValueError(
                "Pairs of classes have no linear part: take linear=False or 'auto' with "
                "multi_class='ovo', or multi_class='ovr'."
            )

    def _multi_class(self) -> str:
        return self.multi_class if self.linear is not True else "ovr"

    def _choose_outputs(self, setting: Setting) -> None:
        self.multi_class = "ovo" if setting.pairs else "ovr"

    def _losses(self) -> Sequence[RowLoss]:
        return (SQUARED_HINGE,)

    def _criterion(self, training: Any) -> Criterion:
        return CLASSES

    def _answers(self, training: Any) -> Callable[..., Any]:
        return partial(HeldOutClassifier, training.classes)

    def _store_choice(self, choice: Choice) -> None:
        self.calibration_ = choice.calibration
        self.multi_class_ = "ovo" if choice.setting.pairs else "ovr"

    def _model_parts(self) -> tuple[KernelExpansion, Classes]:
        expansion, classes = self.expansion_.to_numpy(), to_numpy(self.classes_)
        rule = DecisionRule(
            len(classes),
            is_pairs=expansion.vote_classes is not None,
            pair_scores=expansion.pair_scores,
        )
        return expansion, Classes(classes, rule, link=self.calibration_)

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
        values = self._decision_values(X, "predict_proba")
        return self.calibration_(values)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Estimate the logarithm of the probability of every class, as ``predict_proba`` does."""
        values = self._decision_values(X, "predict_log_proba")
        return namespace(values).log(self.calibration_(values))
