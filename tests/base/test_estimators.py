"""scikit-learn's own checks, over every estimator in the package."""

import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import zeronorm
from tests.fuzz.estimators import all_estimators

#: Of the estimators that choose their parameters, less to choose from.
CHEAP = {
    "SparseSVC": {"C": (1.0, 10.0), "gamma": "scale", "cv": 3, "n_init": 1},
    "CrossEntropySVC": {"sample_size": 40, "max_iter": 30},
}


def settings():
    """Each estimator with its defaults, and with what takes another road through the code."""
    for estimator in all_estimators():
        yield estimator(**CHEAP.get(estimator.__name__, {}))
        if estimator is zeronorm.ZeroNormSVC:
            yield estimator(variant="B")
            yield estimator(variant="W")
            yield estimator(p=2.0)
            yield estimator(rkhs_weight=1.0)
            yield estimator(p=float("inf"))
            yield estimator(candidates=20, random_state=0)
        if estimator is zeronorm.CrossEntropySVC:
            yield estimator(adaptive=True, sample_size=20, polish=False, candidates=30)
            yield estimator(signs="free", sample_size=20)
        if estimator is zeronorm.ReducedSVC:
            yield estimator(modified=False)
        if estimator is zeronorm.SVCReducer:
            yield estimator(method="modified", max_error=0.05)
            yield estimator(method="exact")
        if estimator in (zeronorm.AROMSelector, zeronorm.AROMClassifier):
            yield estimator(norm="l1")
            yield estimator(slack_norm=0)
            yield estimator(slack_norm=1)
            yield estimator(multi_class="joint")
            yield estimator("auto", cv=2)
        if estimator is zeronorm.AROMClassifier:
            yield estimator(kernel="poly")


#: Checks that a method cannot pass, each with the reason.
OF_SVC = "SVC: gamma='scale' does not count weights, and libsvm stops early"
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "SVCReducer": {
        "check_sample_weight_equivalence_on_dense_data": OF_SVC,
        "check_sample_weight_equivalence_on_sparse_data": OF_SVC,
    }
}


@parametrize_with_checks(
    list(settings()),
    expected_failed_checks=lambda e: EXPECTED_FAILURES.get(type(e).__name__, {}),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda e: e.__name__)
def test_every_estimator_is_public(estimator):
    assert getattr(zeronorm, estimator.__name__) is estimator


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda e: e.__name__)
def test_every_parameter_and_attribute_is_documented(estimator):
    text = estimator.__doc__
    for name in inspect.signature(estimator).parameters:
        assert f"\n    {name} : " in text, f"{name} is not documented"
    assert "Examples\n" in text and ">>>" in text
