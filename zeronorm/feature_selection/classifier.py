"""The zero-norm classifier: linear, or a sparse polynomial.

Weston et al. (2003). Linear, in two stages (section 4.1): features are selected by AROM, then the
classifier is trained on them as they are, unscaled. Polynomial (section 3.4): the features are
those of the kernel k(x, x') = Σ_{t=1..d} (x·x')^t, one for each ordered product of up to d inputs.
Products of the same inputs are equal features and have equal weights in all rounds, so each is
held once, with its multiplicity t!/∏p_i!, which makes the rounds those in the kernel's own space.
The polynomial is the last round's (the paper's "kernel version" does not go back to unscaled data).
Zero-norm on the slacks (section 3.2, q = 0): ``slack_norm=0``.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.base.checked import CheckedLinear
from zeronorm.base.documented import Documented
from zeronorm.base.fitting import fitting
from zeronorm.base.guard import guessing_message
from zeronorm.base.labels import check_labels, check_sample_weight, class_codes, signed_targets
from zeronorm.base.parameters import with_parameters
from zeronorm.base.sampling import splits_among
from zeronorm.base.training_set import check_cost
from zeronorm.checks import check_integer, check_word
from zeronorm.decisions import Classes
from zeronorm.decisions import check_finite as check_values
from zeronorm.exceptions import PoorFitWarning, warn
from zeronorm.expansion import KernelExpansion
from zeronorm.feature_selection.arom import AROMSelector
from zeronorm.feature_selection.base import check_finite, gap_warning
from zeronorm.feature_selection.tasks import ClassTask
from zeronorm.polynomial import SparsePolynomial, multiplicities, products
from zeronorm.solvers.elimination.arom import fit_once
from zeronorm.solvers.elimination.columns import Columns, Selection


@with_parameters
class AROMClassifier(ClassifierMixin, Documented, BaseEstimator):
    """Linear or polynomial classifier with as few features as the data allow.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many features, or products of features, the classifier may use: as in
        :class:`AROMSelector`. 1.0 keeps all of them, which leaves an SVM.
    norm : {"l2", "l1", "auto"}, default="l2"
        Norm of the weights in each round: an SVM, or a linear program. "auto" is as in
        :class:`AROMSelector`.
    kernel : {"linear", "poly"}, default="linear"
        "poly" chooses among all products of up to ``degree`` features.
    degree : int, default=2
        Largest degree of "poly".
    C : float, default=1.0
        Cost of a slack.
    slack_norm : {"auto", 0, 1, 2}, default="auto"
        What C multiplies: half the squared slacks (2), the slacks (1), or about their number (0:
        as few training errors as can be found). "auto" is 2 for "l2" and 1 for "l1".
    multi_class : {"ovr", "joint"}, default="ovr"
        Several classes share their features: each against the rest, or all at once, as in
        :class:`AROMSelector`.
    tol : float, default=1e-4
        Stop when the scales change by less than this, relatively.
    max_iter : int, default=100
        Most rounds.
    cv : int, cross-validation generator or iterable, default=5
        Folds of "auto".
    n_jobs : int, optional
        Processes of "auto".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    polynomial_ : SparsePolynomial
        The decision function.
    coef_ : ndarray of shape (n_outputs, n_terms)
        Coefficients of the features that are used, or of their products.
    intercept_ : ndarray of shape (n_outputs,)
        Constants.
    powers_ : ndarray of shape (n_terms, n_features)
        Exponent of every feature in every term; only with ``kernel="poly"``.
    support_ : ndarray of shape (n_terms,)
        Indices of the features that are used; only with ``kernel="linear"``.
    n_terms_ : int
        Number of terms.
    n_iter_ : int
        Rounds of the selection.
    history_ : dict of ndarray
        "features", "objective" and "gap" (relative duality gap) of every round.
    cv_results_ : dict of ndarray
        With "auto": accuracy for each number of terms.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    See Also
    --------
    AROMSelector : The selection alone, for another classifier.

    References
    ----------
    Jason Weston, André Elisseeff, Bernhard Schölkopf, Mike Tipping: Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research 3 (2003).

    Examples
    --------
    >>> import numpy as np
    >>> from zeronorm import AROMClassifier
    >>> X = np.random.RandomState(0).normal(size=(100, 10))
    >>> y = X[:, 0] * X[:, 1] + X[:, 2] > 0
    >>> classifier = AROMClassifier(kernel="poly", degree=2, C=100.0).fit(X, y)
    >>> print(classifier.explain(digits=2))
    True: 25·x1·x2 + 24·x3 + 0.25
    """

    n_features_to_select: Any = field(default=None, kw_only=False)
    norm: str = field(default="l2", kw_only=False)
    kernel: str = "linear"
    degree: int = 2
    C: float = 1.0
    slack_norm: Any = "auto"
    multi_class: str = "ovr"
    tol: float = 1e-4
    max_iter: int = 100
    cv: Any = 5
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _selector(self) -> AROMSelector:
        """Return a selector with the parameters that it shares with this classifier."""
        names = AROMSelector().get_params().keys() & self.get_params().keys()
        shared = {name: getattr(self, name) for name in names}
        if self.kernel == "poly" and self.norm == "auto":
            shared["norm"] = "l2"  # a polynomial has no linear program
        return AROMSelector(**shared, task="classification")

    def _check_parameters(self) -> None:
        self._selector()._check_parameters()
        check_word("kernel", self.kernel, "linear", "poly")
        check_integer("degree", self.degree, least=1)
        if self.kernel == "poly" and self.norm == "l1":
            raise ValueError("kernel='poly' needs norm='l2': linear programs know no kernels.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AROMClassifier:
        """Select features, and fit the classifier on them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows. Standardise them first, unless their units mean something.
        y : array-like of shape (n_samples,)
            Class labels, two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each row; it multiplies C.

        Returns
        -------
        self
        """
        with fitting(self, X):
            self._check_parameters()
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
            check_labels(y)
            weight, selector = None, self._selector()
            if sample_weight is not None:
                weight = check_sample_weight(sample_weight, X.shape[0])
                rows = np.flatnonzero(weight)
                X, y, weight = X[rows], y[rows], weight[rows]
                check_cost(self.C * weight)
                if np.iterable(self.cv) and not hasattr(self.cv, "split"):
                    selector.cv = splits_among(self.cv, rows)
            self._fit(X, y, weight, selector)
            fitted = CheckedLinear(self, X, y, weight)
            doubt = guessing_message(type(self).__name__, fitted, self.classes_)
        if doubt is not None:
            warn(doubt, PoorFitWarning)
        return self

    def _fit(
        self, X: Any, y: np.ndarray, weight: np.ndarray | None, selector: AROMSelector
    ) -> None:
        self.classes_, codes = class_codes(y)
        values, powers = self._terms(X)
        for name in ("cv_results_", "support_", "powers_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        targets = signed_targets(codes, len(self.classes_))
        task, n_terms = ClassTask(self.classes_, codes, weight), values.shape[1]
        wanted = selector._wanted(values, task)
        # The same norm for the choice of terms and for the machine on them.
        selector.norm = selector._norm(len(codes), n_terms, wanted)
        if hasattr(selector, "cv_results_"):
            self.cv_results_ = selector.cv_results_
        multiplicity = np.ones(n_terms) if powers is None else multiplicities(powers)
        selection = Selection(np.arange(n_terms), n_terms, np.ones(n_terms))
        if wanted != n_terms:
            selection = selector._select(values, targets, wanted, multiplicity, weight)
        chosen = np.sort(selection.order[: selection.count])
        scaling = np.ones(len(chosen)) if powers is None else selection.scaling[chosen]
        with np.errstate(all="ignore"):
            columns = Columns(values[:, chosen], multiplicity[chosen], weight)
            coef, intercept, gap = fit_scaled(selector, columns, targets, scaling)
        check_finite(np.concatenate([coef.ravel(), intercept]))
        if powers is None:
            self.support_ = chosen
            factors = [[(int(feature), 1)] for feature in chosen]
        else:
            self.powers_ = powers[chosen]
            factors = [[(int(j), int(row[j])) for j in np.flatnonzero(row)] for row in self.powers_]
        self.polynomial_ = SparsePolynomial(factors, coef, intercept)
        self.coef_, self.intercept_, self.n_terms_ = coef.T, intercept, len(chosen)
        self.n_iter_, self.history_ = selection.n_iter, selection.history.arrays()
        warning = selection.warning or gap_warning(gap)
        if warning is not None:
            warn(f"AROMClassifier {warning}", ConvergenceWarning)

    def _terms(self, X: Any) -> tuple[Any, np.ndarray | None]:
        """Features to choose from, and their exponents where they are products."""
        if self.kernel == "linear":
            return X, None
        with np.errstate(all="ignore"):
            values, powers = products(X, self.degree)
        check_finite(values.data if sparse.issparse(values) else values)
        return values, powers

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the decision function.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for ``classes_[1]`` with two classes; one score per class beyond.
        """
        check_is_fitted(self, "polynomial_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        outputs = self.polynomial_.outputs(X)
        check_values(outputs, self.polynomial_.kernel_name)
        return self.polynomial_.scores(outputs)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        values = self.decision_function(X)
        return Classes(self.classes_).predict(values)

    def _model_parts(self) -> tuple[KernelExpansion | SparsePolynomial, Classes]:
        """Return what was learned, and how it decides."""
        function: KernelExpansion | SparsePolynomial = self.polynomial_
        if hasattr(self, "support_"):
            function = self.polynomial_.linear_expansion(self.n_features_in_)
        return function, Classes(self.classes_)

    def explain(self, digits: int = 3) -> str:
        """Write the decision function as a formula, the largest terms first.

        Parameters
        ----------
        digits : int, default=3
            Digits of the coefficients.

        Returns
        -------
        str
            One line for each output: the class that it favours, and its polynomial in the
            features, by their names or as x1, x2, ...
        """
        check_is_fitted(self, "polynomial_")
        check_integer("digits", digits, least=1)
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{j + 1}" for j in range(self.n_features_in_)]
        labels = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        lines = self.polynomial_.formulas(names, digits)
        return "\n".join(f"{label}: {line}" for label, line in zip(labels, lines, strict=True))


def fit_scaled(
    selector: AROMSelector, columns: Columns, targets: np.ndarray, scaling: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Coefficients and intercepts of the machine on scaled columns, and its duality gap."""
    coef, offset = np.zeros((columns.n_columns, targets.shape[1])), columns.offset
    # A term of an exact number of them may have vanished in the rounds: it gets no weight.
    used = (scaling > 0) & (columns.deviations > 0)
    if not used.any():
        # Nothing varies: the commonest class, or no class against the rest.
        totals = targets.sum(axis=0) if columns.weight is None else columns.weight @ targets
        return coef, np.sign(totals), 0.0
    columns.keep(used)
    problem = selector._problem(columns, targets, selector.norm)
    found = fit_once(problem, scaling[used], count_slacks=selector.slack_norm == 0)
    coef[used] = found.coef * columns.multiplicity[:, None]
    return coef, found.intercept - offset @ coef, found.gap
