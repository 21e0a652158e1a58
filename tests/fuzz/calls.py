"""Calls to draw: an estimator, parameters, a table, labels and weights.

A call is a few words and numbers, no arrays: its ``repr`` is the line that reproduces it.
"""

import inspect
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, NuSVC

from .estimators import all_estimators
from .tables import ILLEGAL_LABELS, ILLEGAL_TABLES, ILLEGAL_WEIGHTS, LABELS, TABLES, WEIGHTS, Table

ESTIMATORS = {estimator.__name__: estimator for estimator in all_estimators()}

#: Whether such problems converge is not the question: few rounds, little to choose from.
CHEAP = {
    "CrossEntropySVC": {"sample_size": 10, "max_iter": 3, "random_state": 0},
    "SparseSVC": {"C": (1.0, 10.0), "gamma": "scale", "cv": 2, "n_init": 1, "max_iter": 20},
    "SparseKernelFisher": {"n_terms": 3, "max_iter": 10},
    "SparseKernelPCA": {"n_terms": 3, "max_iter": 10},
    "SparseSVR": {"C": (1.0, 10.0), "gamma": "scale", "cv": 2, "n_init": 1, "max_iter": 20},
    "SparseLargeMarginClassifier": {"n_terms": 3, "max_iter": 10},
    "ReducedSVC": {"n_terms": 3},
    "RelevanceVectorClassifier": {"max_iter": 30},
    "RelevanceVectorRegressor": {"max_iter": 30},
    "ZeroNormSVR": {"max_iter": 3},
    "ZeroNormSVC": {"max_iter": 3},
}

#: Values of each parameter: what some estimator may take, and what none can use.
PARAMETERS = {
    "C": ([1e-300, 1e-12, 0.1, 10.0, 1e6, 1e12, 1e300, "cv", (0.1, 1e9), 3, np.float32(2.0)],
          [0.0, -1.0, np.nan, np.inf, None, "large", [], True, 10**400, [1.0, -1.0]]),
    "adaptive": ([True, False], ["yes", 2]),
    "alpha": ([1e-300, 1e-3, 5.0, 1e3, 1e300], [0.0, -1.0, np.nan, "5"]),
    "bandwidth": (["cv", "scott", "silverman", 1e-12, 1e-150, 1e-300, 0.5, 1e12, 1e200],
                  [0.0, -1.0, np.nan, np.inf, None, "wide"]),
    "candidates": (["auto", "all", 1, 2, 5, 10**9], [0, -1, 2.5, "some", None, np.nan, []]),
    "class_weight": (["balanced", {0: 2.0, 1: 0.5}, {0: 1e300, 1: 1e-300}, {0: 1e-12, 1: 1e12},
                      {"a": 3.0}],
                     ["heavy", {0: -1.0, 1: 1.0}, {0: np.nan, 1: 1.0}, {0: 0.0, 1: 0.0}, 3, [1, 2],
                      {0: "much"}]),
    "coef0": ([-1e12, -1.0, 0.0, 1.0, 1e12, 1e300], [np.nan, np.inf, None, "one"]),
    "criterion": (["loo", "gcv"], ["aic", None, 3]),
    "cv": ([2, 3, 5, [([0, 1, 2], [3])], [([0, 0], [0])]],
           [0, 1, -3, 2.5, "five", [], [([0, 99], [1])], [([0, 1, 2], [])], [3]]),
    "degree": ([1, 2, 3, 0, 30, 2.5, 1000], [-1, np.nan, None, "two", np.inf]),
    "delta": ([1e-300, 1e-12, 1e-4, 1.0, 1e12], [0.0, -1.0, np.nan, None]),
    "elite_share": ([1e-12, 0.03, 0.5, 1.0], [0.0, 1.5, np.nan, None]),
    "epsilon": (["cv", 0.0, 1e-300, 0.1, 1e12, (0.0, 0.5)], [-1.0, np.nan, None, "wide", []]),
    "estimator": ([SVC(C=1e-12), SVC(kernel="linear"), SVC(kernel="poly"), SVC(kernel="sigmoid"),
                   SVC(gamma=1e-12), SVC(gamma=1e12), SVC(C=1e12, max_iter=1000),
                   SVC(class_weight="balanced"), NuSVC(nu=0.1), NuSVC(),
                   SVC(kernel="precomputed")],
                  [SVC(C=-1.0), LogisticRegression(), "svc", 3]),
    "extrapolation": ([None, 0, 0.5, 1.0, 1e300], [-1.0, np.nan, np.inf, "far", []]),
    "gamma": (["scale", "auto", "cv", "gcv", 1e-300, 1e-12, 0.3, 1e12, 1e300, (0.1, 1e5)],
              [0.0, -1.0, np.nan, np.inf, None, "wide", []]),
    "init": (["greedy", "kmeans", np.zeros((2, 2)), [[1e200, 0.0]]],
             ["random", 3, [], [[np.nan, 1.0]], np.zeros(3)]),
    "kernel": (["linear", "poly", "rbf", "sigmoid", "precomputed"],
               ["gauss", None, 3, ["rbf"]]),
    "lam": ([1e-300, 1e-12, 0.1, 10.0, 1e12, 1e300, "gcv"], [0.0, -1.0, np.nan, None, "small"]),
    "learn_gamma": ([True, False, "metric"], ["yes", None]),
    "loss": (["epsilon_insensitive", "squared"], ["huber", None, 3]),
    "max_error": ([0.0, 1e-12, 0.05, 0.5, 0.999], [-0.1, 1.0, np.nan, "small"]),
    "max_iter": ([1, 2, 10], [0, -1, 2.5, np.nan, None, "many"]),
    "method": (["reduced_set", "modified", "cross_entropy", "exact"], ["magic", None, 3]),
    "modified": ([True, False], ["yes", None]),
    "multi_class": (["auto", "ovr", "ovo", "joint"], ["pairs", None, 3]),
    "n_components": ([1, 2, 5, 10**9], [0, -1, 2.5, "all", None]),
    "n_features_to_select": ([None, 1, 2, 0.5, 1.0, "auto", 1e-9],
                             [0, -1, 1.5, 999, np.nan, "all"]),
    "n_init": ([1, 2], [0, -1, 2.5, None]),
    "n_terms": ([1, 2, 5, 10**9, "auto", None], [0, -1, 2.5, np.nan, "few"]),
    "norm": (["l1", "l2", "auto"], ["l3", None, 2]),
    "n_vectors": ([None, 1, 2, 5, 10**9], [0, -1, 2.5, np.nan, "few", True]),
    "noise_variance": (["auto", 1e-300, 1e-12, 0.1, 1e12], [0.0, -1.0, np.nan, None, "small"]),
    "nu": ([1e-12, 0.05, 0.5, 1.0], [0.0, -1.0, 1.5, np.nan, None, "half"]),
    "p": ([0.0, 1.0, 2.0, np.inf, 1.5, 1e-12, 1e12], [-1.0, np.nan, None, "two"]),
    "patience": ([1, 3, 10**9], [0, -1, 2.5, None]),
    "polish": ([True, False], ["yes", None]),
    "radius": ([None, 0.0, 1e-300, 0.5, 2, 1e12, 1e300], [-1.0, np.nan, np.inf, "wide", True]),
    "random_state": ([0, 2**32 - 1], [-1, "seed", 2.5]),
    "rkhs_weight": ([0.0, 1e-300, 1e-12, 1.0, 1e12, 1e300], [-1.0, np.nan, None]),
    "linear": (["auto", True, False], ["yes", None, 1]),
    "device": ([None, "cpu"], [3, True]),
    "max_features": ([None, 1, 3, 100], [0, -1, 2.5, "all"]),
    "metric": (["auto", True, False], ["yes", None, 1]),
    "rule": (["one_se", "paired_se", "best"], ["smallest", None, 3]),
    "sample_size": (["auto", 10, 40], [0, -1, 2.5, "large", None]),
    "scoring": ([None, "accuracy", "r2"], ["accurate", 3, ["accuracy"]]),
    "signs": (["label", "free"], ["both", None, 3]),
    "slack_norm": (["auto", 0, 1, 2], [3, -1, None, "one", np.nan]),
    "smoothing": ([1e-12, 0.7, 1.0], [0.0, 1.5, np.nan, None]),
    "task": (["auto", "classification", "regression"], ["count", None, 3]),
    "tol": ([1e-300, 1e-12, 1e-4, 0.1, 1.0, 1e12], [0.0, -1.0, np.nan, np.inf, None, "small"]),
    "variant": (["A", "B", "W"], ["C", "", None, 3]),
    "vectors": (["free", "inside", "rows"], ["outside", None, True]),
    "verbose": ([0], [-1, "loud", None]),
}  # fmt: skip

#: Not drawn: joblib's, and another process would leave no frames to judge an error by.
LEFT_OUT = {"n_jobs"}


@dataclass(frozen=True)
class Call:
    """``ESTIMATORS[estimator](**parameters).fit(table, labels, weights)``, and what comes after."""

    estimator: str
    parameters: dict[str, Any]
    table: Table
    labels: str = "two"
    weights: str = "none"

    def model(self) -> Any:
        """Return the estimator, not fitted."""
        return ESTIMATORS[self.estimator](**CHEAP.get(self.estimator, {}) | self.parameters)

    def arguments(self) -> tuple[Any, Any, dict[str, Any]]:
        """Rows, labels and the other arguments of ``fit``."""
        X = self.table.make(square="precomputed" in repr(self.parameters))
        y = self.table.labels(self.labels)
        if self.weights == "none":
            return X, y, {}
        return X, y, {"sample_weight": self.table.weights(self.weights)}

    def simpler(self) -> "list[Call]":
        """Return the calls that are one step simpler, to look for the smallest that still fails."""
        fewer = [
            replace(self, parameters={k: v for k, v in self.parameters.items() if k != name})
            for name in self.parameters
        ]
        tables = [replace(self, table=table) for table in self.table.simpler()]
        plain = [
            replace(self, **{name: value})
            for name, value in (("labels", "two"), ("weights", "none"))
            if getattr(self, name) != value
        ]
        return fewer + plain + tables


def mostly(legal, illegal):
    """Draw what may be taken, and in one of a dozen draws what cannot be."""
    legal, illegal = st.sampled_from(legal), st.sampled_from(illegal)
    return st.integers(0, 11).flatmap(lambda face: illegal if face == 11 else legal)


def parameters_of(name):
    """Draw up to three parameters of the estimator of this name."""
    known = [one for one in inspect.signature(ESTIMATORS[name]).parameters if one not in LEFT_OUT]
    chosen = st.lists(st.sampled_from(known), max_size=3, unique=True)
    return chosen.flatmap(
        lambda names: st.fixed_dictionaries({one: mostly(*PARAMETERS[one]) for one in names})
    )


def tables():
    """Draw a table."""
    return st.builds(
        Table,
        kind=mostly(list(TABLES), list(ILLEGAL_TABLES)),
        rows=st.sampled_from([6, 9, 16, 30, 4, 3, 2, 1]),
        columns=st.sampled_from([2, 1, 3, 8, 40]),
        seed=st.integers(0, 5),
        form=st.sampled_from(["array", "array", "csr", "csc", "coo", "lists", "objects", "float32",
                              "fortran"]),
    )  # fmt: skip


@st.composite
def calls(draw, names=tuple(ESTIMATORS)):
    """Draw a call of one of these estimators."""
    name = draw(st.sampled_from(names))
    takes_weights = "sample_weight" in inspect.signature(ESTIMATORS[name].fit).parameters
    weights = mostly(["none", "none", *WEIGHTS], list(ILLEGAL_WEIGHTS)) if takes_weights else None
    return Call(
        name,
        draw(parameters_of(name)),
        draw(tables()),
        draw(mostly(list(LABELS), list(ILLEGAL_LABELS))),
        "none" if weights is None else draw(weights),
    )
