"""What all kernel classifiers share: validation, labels, weights, candidates, prediction."""

from __future__ import annotations

import itertools
import warnings
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.checks import check_integer, check_positive, is_integer
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel
from zeronorm.sampling import stratified_rows
from zeronorm.training import Fit, TrainingProblem, TrainingRows

#: ``candidates="auto"`` takes all rows up to this many, and this many landmarks beyond.
AUTO_CANDIDATES = 300

#: ``candidates="all"`` is refused beyond this many rows: an n × n matrix of 3 GB.
ALL_CANDIDATES = 20_000


class SparseKernelClassifier(ClassifierMixin, BaseEstimator, metaclass=ABCMeta):
    """Base of the classifiers whose terms are training rows.

    A subclass has the parameters of :class:`~sklearn.svm.SVC` that it uses, plus ``candidates``,
    and implements ``_solve``. Labels may be of any type; several classes are learned together,
    one against the rest, on one shared set of vectors.
    """

    C: float
    kernel: Any
    degree: float
    gamma: Any
    coef0: float
    class_weight: Any
    candidates: Any
    tol: float
    random_state: Any

    _kinds_of_candidates = "'auto', 'all' or an integer"

    @abstractmethod
    def _solve(self, problem: TrainingProblem) -> Fit:
        """Learn the expansion; parameters of the method itself are checked in here."""

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what input fits."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows; the square kernel matrix if ``kernel="precomputed"``.
        y : array-like of shape (n_samples,)
            Class labels, two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weight of each row; it multiplies C.

        Returns
        -------
        self
        """
        before = self.__dict__.copy()
        try:
            self._check_parameters()
            X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
            # What overflows is found by the checks of the result, which say it in a sentence.
            with np.errstate(all="ignore"):
                problem, classes = self._problem(X, y, sample_weight)
                fit = self._solve(problem)
            self._store(problem, fit, classes)
        except BaseException:
            # Also an interrupt leaves the estimator as it was.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        if fit.warning is not None:
            warnings.warn(fit.warning, ConvergenceWarning, stacklevel=2)
        return self

    def _check_parameters(self) -> None:
        check_positive("C", self._unit_cost())
        check_positive("tol", self.tol)
        self._check_candidates()

    def _check_candidates(self) -> None:
        auto_or_all = isinstance(self.candidates, str) and self.candidates in ("auto", "all")
        if not auto_or_all and not is_integer(self.candidates):
            raise ValueError(
                f"candidates must be {self._kinds_of_candidates}; got {self.candidates!r}."
            )
        if is_integer(self.candidates):
            check_integer("candidates", self.candidates, least=1)

    def _problem(
        self, X: Any, y: np.ndarray, sample_weight: Any
    ) -> tuple[TrainingProblem, np.ndarray]:
        """Everything a solver needs, and the classes."""
        check_classification_targets(y)
        if self._is_precomputed() and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be square; X has shape {X.shape}. "
                "fit takes the kernel values of the training rows with themselves."
            )
        weight = check_sample_weight(sample_weight, X.shape[0])
        # A row without weight is as good as absent: it is no candidate either.
        rows = np.flatnonzero(weight > 0)
        given, labels = weight[rows], y[rows]
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"The training data hold one class only, {classes[0]!r}; at least two are needed."
            )
        weight = given * class_weights(self.class_weight, classes, codes, given)[codes]
        cost = self._unit_cost() * weight
        if not (np.isfinite(cost).all() and cost.min() > 0):
            raise ValueError(
                "C times the weights must be positive and finite for every row that counts."
            )
        data = X[rows] if len(rows) < X.shape[0] else X
        kernel = self._make_kernel(data, None if sample_weight is None else given)
        targets = signed_targets(codes, len(classes))
        training = TrainingRows(rows, data, codes, targets, cost, kernel)
        return self._with_candidates(training), classes

    def _unit_cost(self) -> float:
        """Cost of a row of weight one: C, or one where the method has no C."""
        return self.C

    def _is_precomputed(self) -> bool:
        """Whether X holds kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _make_kernel(self, X: Any, sample_weight: np.ndarray | None) -> Kernel:
        return Kernel.from_params(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            X=X,
            sample_weight=sample_weight,
        )

    def _with_candidates(self, training: TrainingRows) -> TrainingProblem:
        places = self._choose_candidates(training)
        vectors = training.vectors(places)
        values = training.kernel.matrix(training.data, vectors)
        return TrainingProblem(training, places, vectors, values)

    def _choose_candidates(self, training: TrainingRows) -> np.ndarray:
        """Places of the rows that may become terms: the distinct ones, or landmarks among them."""
        codes = training.codes
        n_rows = len(codes)
        if self.candidates == "all" and n_rows > ALL_CANDIDATES:
            raise ValueError(
                f"candidates='all' with {n_rows} rows asks for a kernel matrix of "
                f"{8e-9 * n_rows**2:.0f} GB; take candidates='auto' or a number of landmarks."
            )
        limit = {"auto": AUTO_CANDIDATES, "all": n_rows}.get(self.candidates, self.candidates)
        random = check_random_state(self.random_state)
        rows = np.arange(n_rows)
        if n_rows > limit:
            # More than needed: where rows are repeated, enough distinct ones should remain.
            rows = stratified_rows(codes, min(n_rows, 4 * limit), random)
        rows = rows[self._distinct(training, rows)]
        if len(rows) > limit:
            _, present = np.unique(codes[rows], return_inverse=True)
            rows = rows[stratified_rows(present, limit, random)]
        return rows

    def _signed_by_label(self) -> bool:
        """Whether a term has its row's label as sign: rows are then equal if their labels are."""
        return False

    def _distinct(self, training: TrainingRows, places: np.ndarray) -> np.ndarray:
        """Which of the places hold the first of several equal rows."""
        return np.unique(self._equal_rows(training, places))

    def _equal_rows(self, training: TrainingRows, places: np.ndarray) -> np.ndarray:
        """For each place, which of the places holds the first row that is equal to it."""
        if training.kernel.name == "precomputed":
            return np.arange(len(places))
        labels = training.codes[places] if self._signed_by_label() else None
        return first_equal(training.data[places], labels)

    def _caps(self, training: TrainingRows, places: np.ndarray) -> np.ndarray:
        """Cost of the rows that each candidate stands for.

        Those equal to it; where only some rows are candidates, they share the others of their
        class in proportion.
        """
        equal = self._equal_rows(training, np.arange(len(training.codes)))
        caps = np.bincount(equal, weights=training.cost)[equal[places]]
        return training.standing_for_all(places, caps)

    def _store(self, problem: TrainingProblem, fit: Fit, classes: np.ndarray) -> None:
        """Set the fitted attributes."""
        if not all(np.isfinite(part).all() for part in (fit.coef, fit.intercept, fit.objective)):
            raise ValueError(
                "The solution is not finite: the data are too badly scaled for this kernel and C. "
                "Standardise the features, or take a smaller C."
            )
        vectors = problem.vectors[fit.terms]
        self.expansion_ = KernelExpansion(vectors, fit.coef, fit.intercept, problem.kernel)
        self.classes_ = classes
        if problem.places is not None:
            self.support_ = problem.training.rows[problem.places[fit.terms]]
        else:
            self.__dict__.pop("support_", None)  # of an earlier fit
        self.support_vectors_ = self.expansion_.vectors
        self.dual_coef_ = self.expansion_.coef.T
        self.intercept_ = self.expansion_.intercept
        self.n_terms_ = self.expansion_.n_terms
        self.n_iter_ = fit.n_iter
        self.objective_ = fit.objective
        self.history_ = fit.history

    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the decision function.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for ``classes_[1]`` with two classes; one score per class beyond.
        """
        check_is_fitted(self, "expansion_")
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        values = self.expansion_.decision_function(X)
        if not np.isfinite(values).all():
            raise ValueError(
                "Some decision values are not finite: these rows lie far outside what the "
                f"{self.expansion_.kernel.name} kernel can represent. Scale them like the "
                "training data."
            )
        return values

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels.
        """
        values = self.decision_function(X)
        if values.ndim == 1:
            return self.classes_[(values > 0).astype(np.intp)]
        return self.classes_[values.argmax(axis=1)]


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return the weights as an array, ones by default."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; it needs one number for each of the "
            f"{n_rows} rows, shape ({n_rows},)."
        )
    if weight.min() < 0:
        raise ValueError("sample_weight must not be negative.")
    if weight.max() == 0:
        raise ValueError("All sample weights are zero; at least one row must count.")
    return weight


def class_weights(
    class_weight: Any, classes: np.ndarray, codes: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Weight of each class; "balanced" counts rows by their weights."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(codes, weights=weight)
        return weight.sum() / (len(classes) * total)
    return compute_class_weight(class_weight, classes=classes, y=classes[codes])


def signed_targets(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Labels as -1/+1: one column for two classes, one against the rest beyond."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def first_equal(X: Any, codes: np.ndarray | None = None) -> np.ndarray:
    """For each row, the index of the first row equal to it (and of the same class, if given)."""
    first: dict[tuple[bytes, int], int] = {}
    labels = itertools.repeat(0) if codes is None else codes.tolist()
    found = zip(_row_bytes(X), labels, strict=False)
    return np.array([first.setdefault(key, i) for i, key in enumerate(found)], dtype=np.intp)


def _row_bytes(X: Any) -> Iterator[bytes]:
    """Yield what tells one row from another."""
    if sparse.issparse(X):
        X = X.copy()
        X.sum_duplicates()
        X.eliminate_zeros()
        for start, stop in itertools.pairwise(X.indptr):
            yield X.indices[start:stop].tobytes() + b"|" + X.data[start:stop].tobytes()
    else:
        # Adding zero turns -0.0 into 0.0, so that equal numbers have equal bytes.
        for row in X + 0.0:
            yield row.tobytes()
