"""Decisions: classes by sign, by the largest and by votes, and probabilities."""

import numpy as np
import pytest
from scipy.special import expit, ndtr
from sklearn.datasets import load_iris
from sklearn.svm import SVC, NuSVC

from zeronorm import KernelExpansion
from zeronorm.decisions import Classes, DecisionRule, check_finite
from zeronorm.kernels import Kernel
from zeronorm.libsvm import expansion_of, rule_of
from zeronorm.links import probabilities
from zeronorm.pairs import vote_scores


def test_two_classes_by_sign():
    values = np.array([-1.0, 0.0, 1.0])
    assert DecisionRule(2).codes(values).tolist() == [0, 0, 1]
    assert DecisionRule(2, zero_counts=True).codes(values[:, None]).tolist() == [0, 1, 1]


def test_several_classes_by_the_largest_output():
    values = np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 0.0]])
    assert DecisionRule(3).codes(values).tolist() == [1, 0]


def test_votes_with_and_without_the_breaking_of_ties():
    # One vote each; the third class has the largest summed confidence.
    tie = np.array([[0.1, -2.0, 0.2]])
    assert vote_scores(tie, 3).argmax() == 2
    assert DecisionRule(3, is_pairs=True).codes(tie).tolist() == [0]
    assert DecisionRule(3, is_pairs=True, breaks_ties=True).codes(tie).tolist() == [2]


def test_a_pair_at_zero_votes_as_in_libsvm():
    zero = np.zeros((1, 3))
    assert DecisionRule(3, is_pairs=True).codes(zero).tolist() == [2]
    assert vote_scores(zero, 3).tolist() == [[2.0, 1.0, 0.0]]


@pytest.mark.parametrize("break_ties", [False, True])
@pytest.mark.parametrize("machine", [SVC, NuSVC])
def test_the_rule_of_libsvm(machine, break_ties):
    """On a coarse grid, with as many ties as there are."""
    X, y = load_iris(return_X_y=True)
    svc = machine(break_ties=break_ties, gamma=5.0).fit(X[:, :2], y)
    grid = np.random.default_rng(0).uniform(0, 12, size=(2000, 2))
    codes = rule_of(svc).codes(expansion_of(svc).outputs(grid))
    np.testing.assert_array_equal(codes, svc.predict(grid))
    assert rule_of(svc).breaks_ties == break_ties


@pytest.mark.parametrize(("link", "function"), [("logistic", expit), ("probit", ndtr)])
def test_links(link, function):
    values = np.array([[-40.0, 0.5, 2.0], [-900.0, -901.0, -902.0]])
    two = probabilities(values[:, 1], link)
    np.testing.assert_array_equal(
        two, np.column_stack([function(-values[:, 1]), function(values[:, 1])])
    )
    several = probabilities(values, link)
    np.testing.assert_allclose(several.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        several[0], function(values[0]) / function(values[0]).sum(), atol=1e-300
    )


def test_values_that_are_not_finite():
    check_finite(np.array([1.0]), "rbf")
    with pytest.raises(ValueError, match="not finite.*what the poly kernel can represent"):
        check_finite(np.array([1.0, np.nan]), "poly")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((["a"],), "two or more different labels"),
        ((["a", "a"],), "two or more different labels"),
        ((["a", "b"], DecisionRule(3)), "is no rule for these classes"),
        ((["a", "b"], None, "cauchy"), "link 'cauchy' is no rule"),
    ],
)
def test_classes_that_make_no_sense(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        Classes(*arguments)


def test_classes_that_do_not_go_with_the_outputs():
    f = KernelExpansion([[0.0]], [[1.0, 2.0]], [0.0, 0.0], Kernel("rbf"))
    with pytest.raises(ValueError, match="2 classes do not go with 2 outputs"):
        Classes(["a", "b"]).check(f)
