"""The model: a function, and what its values mean.

Whatever comes after learning takes a model and nothing else: prediction, saving, exporting. Every
estimator here is one, and so is every machine of scikit-learn that libsvm trained.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import OneClassSVM
from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from zeronorm.checks import is_integer, is_text, is_valid
from zeronorm.decisions import (
    Classes,
    Decision,
    Density,
    Number,
    OneClass,
    Values,
    check_finite,
    decision_from_dict,
    has_added_fields,
)
from zeronorm.expansion import KernelExpansion
from zeronorm.expansion_parts import FORMAT as EXPANSION_FORMAT
from zeronorm.files import check_format, write_model
from zeronorm.libsvm import CLASSIFIERS, MACHINES, expansion_of, rule_of
from zeronorm.polynomial import SparsePolynomial

FORMAT = "zeronorm-model"

#: Version of a file; that of decisions with what releases before it do not know.
VERSION, ADDED_VERSION = 1, 2

#: What scikit-learn calls an estimator whose values mean this.
ESTIMATOR_TYPES = {
    "classes": "classifier",
    "number": "regressor",
    "one-class": "outlier_detector",
    "density": "density_estimator",
    "scores": "transformer",
}


def _gives(answer: str) -> Any:
    return available_if(lambda model: answer in model.decision.answers)


class Model:
    """A fitted function together with what its values mean; what :func:`zeronorm.load` returns.

    It predicts like the estimator it was made from, and has those of the methods below that the
    estimator has: `hasattr` tells.

    Parameters
    ----------
    function : KernelExpansion or SparsePolynomial
        The function.
    decision : Classes, Number, Scores, OneClass, Density or Values, optional
        What its values mean; by default just values.
    n_features_in : int, optional
        Number of features; by default that of the vectors.
    feature_names_in : array-like of str, optional
        Their names, which a data frame must then have in this order.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels of a classifier, of the type that they had in ``fit``.
    expansion_ : KernelExpansion
        The function, if it is a kernel expansion. The coefficients of a density are the weights
        of its kernels, each of which has the integral one.
    n_terms_ : int
        Number of terms.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where they had names in ``fit``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from zeronorm.model import Model
    >>> X, y = load_iris(return_X_y=True)
    >>> svc = SVC().fit(X, y)
    >>> bool((Model.from_estimator(svc).predict(X) == svc.predict(X)).all())
    True
    """

    def __init__(
        self,
        function: KernelExpansion | SparsePolynomial,
        decision: Decision | None = None,
        *,
        n_features_in: int | None = None,
        feature_names_in: Any = None,
    ) -> None:
        self.function = function
        self.decision: Any = Values() if decision is None else decision
        self.decision.check(function)
        self.n_terms_ = function.n_terms
        if isinstance(function, KernelExpansion):
            self.expansion_ = function
        if isinstance(self.decision, Classes):
            self.classes_ = self.decision.classes
        if n_features_in is not None:
            self.n_features_in_ = int(n_features_in)
        elif not self._is_precomputed():
            self.n_features_in_ = function.n_features
        if feature_names_in is not None:
            self.feature_names_in_ = np.array(feature_names_in, dtype=object)
        self._check_features()

    def _is_precomputed(self) -> bool:
        return hasattr(self, "expansion_") and self.expansion_.kernel.is_precomputed

    def _check_features(self) -> None:
        given, needed = getattr(self, "n_features_in_", None), self.function.n_features
        may_be_more = self._is_precomputed() or not hasattr(self, "expansion_")
        if given is not None and (given < needed or (given > needed and not may_be_more)):
            raise ValueError(f"The function takes {needed} features, the model {given}.")
        names = getattr(self, "feature_names_in_", None)
        if names is not None and (names.shape != (given,) or not all(map(is_text, names))):
            raise ValueError(f"The names of the features are not {given} texts.")

    @classmethod
    def from_estimator(cls, estimator: Any) -> Model:
        """Return the model of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            A classifier, reducer or density of zeronorm, or an ``SVC``, ``NuSVC``, ``SVR``,
            ``NuSVR`` or ``OneClassSVM``, as it is or in a
            :class:`~sklearn.frozen.FrozenEstimator`. An expansion is a model that only has values,
            and a model is returned as it is.

        Returns
        -------
        Model

        Raises
        ------
        ValueError
            If it is something else, or not fitted.
        """
        if isinstance(estimator, Model):
            return estimator
        if isinstance(estimator, FrozenEstimator):
            return cls.from_estimator(estimator.estimator)
        if isinstance(estimator, KernelExpansion):
            return cls(estimator)
        if isinstance(estimator, MACHINES):
            function, decision = _parts_of_libsvm(estimator)
        elif hasattr(estimator, "_model_parts") and not isinstance(estimator, type):
            check_is_fitted(estimator)
            function, decision = estimator._model_parts()
        else:
            raise ValueError(_what_to_take(estimator))
        return cls(
            function,
            decision,
            # SVC does not look at X if its kernel is a function.
            n_features_in=getattr(estimator, "n_features_in_", None),
            feature_names_in=getattr(estimator, "feature_names_in_", None),
        )

    def __repr__(self) -> str:
        return f"Model({self.decision.kind}, {self.function})"

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what it is."""
        kind = ESTIMATOR_TYPES.get(self.decision.kind)
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(sparse=self._takes_sparse(), pairwise=self._is_precomputed()),
        )

    def _takes_sparse(self) -> bool:
        return not isinstance(self.decision, Density)

    def _checked(self, X: Any) -> Any:
        if is_valid(self, X):
            return X
        dtypes = (np.float64, np.float32)
        formats = "csr" if self._takes_sparse() else False
        return validate_data(self, X, accept_sparse=formats, dtype=dtypes, reset=False)

    def _outputs(self, X: Any) -> np.ndarray:
        outputs = self.function.outputs(self._checked(X))
        check_finite(outputs, self.function.kernel_name)
        return outputs

    @_gives("predict")
    def predict(self, X: Any) -> np.ndarray:
        """Predict: the class of every row, its number, or -1 for outliers and 1 for others.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        return self.decision.predict(self._outputs(X))

    @_gives("decision_function")
    def decision_function(self, X: Any) -> np.ndarray:
        """Evaluate the decision function, of the same shape as the estimator's.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Decision values.
        """
        return self.function.scores(self._outputs(X))

    @_gives("transform")
    def transform(self, X: Any) -> np.ndarray:
        """Return the scores of rows, one for each component.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to project.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Scores.
        """
        return self._outputs(X)

    @_gives("predict_proba")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Estimate the probability of every class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to judge; kernel values with all training rows for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class, in the order of ``classes_``.
        """
        return self.decision.predict_proba(self._outputs(X))

    @_gives("predict_log_proba")
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Estimate the logarithm of the probability of every class, see :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):  # a probability of zero is minus infinity
            return np.log(self.predict_proba(X))

    @_gives("score_samples")
    def score_samples(self, X: Any) -> np.ndarray:
        """Compute the score of every row: the log-density, or the one-class score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Where to evaluate.

        Returns
        -------
        ndarray of shape (n_samples,)
            Scores; smaller is more unusual.
        """
        return self.decision.score_samples(self.function, self._checked(X))

    def to_dict(self) -> dict[str, Any]:
        """Describe the model as plain data (numbers, strings, lists)."""
        names, decision = getattr(self, "feature_names_in_", None), self.decision.to_dict()
        return {
            "format": FORMAT,
            "version": ADDED_VERSION if has_added_fields(decision) else VERSION,
            "n_features_in": getattr(self, "n_features_in_", None),
            "feature_names_in": None if names is None else names.tolist(),
            "decision": decision,
            "function": self.function.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Model:
        """Rebuild a model from :meth:`to_dict`; a clear ``ValueError`` if it is damaged."""
        needed = ("n_features_in", "feature_names_in", "decision", "function")
        data = check_format(data, "model", FORMAT, (VERSION, ADDED_VERSION), needed)
        n_features, names, function = (data[key] for key in (*needed[:2], needed[3]))
        if n_features is not None and not (is_integer(n_features) and n_features > 0):
            raise ValueError("The model is damaged: n_features_in is not a positive number.")
        if names is not None and not isinstance(names, list):
            raise ValueError("The model is damaged: feature_names_in is not a list.")
        is_expansion = isinstance(function, dict) and function.get("format") == EXPANSION_FORMAT
        read = KernelExpansion.from_dict if is_expansion else SparsePolynomial.from_dict
        decision = decision_from_dict(data["decision"])
        return cls(read(function), decision, n_features_in=n_features, feature_names_in=names)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as readable JSON with a checksum, all of it or nothing."""
        write_model(path, self.to_dict())


def _parts_of_libsvm(machine: Any) -> tuple[KernelExpansion, Decision]:
    expansion = expansion_of(machine)
    if isinstance(machine, CLASSIFIERS):
        return expansion, Classes(machine.classes_, rule_of(machine))
    if isinstance(machine, OneClassSVM):
        return expansion, OneClass(float(machine.offset_[0]))
    return expansion, Number()


def _what_to_take(estimator: Any) -> str:
    """Return a sentence that says what could be taken instead."""
    if isinstance(estimator, Pipeline):
        return (
            "A pipeline is no kernel machine; its last step may be. Save that, pipeline[-1], and "
            "what comes before it another way; what was saved takes pipeline[:-1].transform(X)."
        )
    if isinstance(estimator, BaseSearchCV):
        return f"Take the best_estimator_ of the {type(estimator).__name__}."
    return (
        f"{type(estimator).__name__} is no fitted kernel machine: take a fitted estimator of "
        "zeronorm, or an SVC, NuSVC, SVR, NuSVR or OneClassSVM."
    )
