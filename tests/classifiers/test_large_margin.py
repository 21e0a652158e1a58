"""SparseLargeMarginClassifier: learned vectors beside the SVM, and every way in."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from tests.data import contradictory, iris, moons, noisy
from zeronorm import ReducedSVC, SparseLargeMarginClassifier, ZeroNormSVC
from zeronorm.learned.learner import LearnerSizes

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def learner(n_terms=4, **options):
    return SparseLargeMarginClassifier(n_terms, **{"random_state": 0, **options})


def with_sizes(model, **sizes):
    """Let fewer rows or vectors be many."""
    model._sizes = LearnerSizes(**sizes)
    return model


def objective(model, X, y, cost, targets=None):
    """The definition: half the squared norm, plus the costs of the margin errors."""
    expansion = model.expansion_
    gram = expansion.kernel.matrix(expansion.vectors, expansion.vectors)
    penalty = 0.5 * np.sum(expansion.coef * (gram @ expansion.coef))
    if targets is None:
        targets = np.where(y == model.classes_[1], 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - targets * model.decision_function(X))
    return penalty + np.sum((cost if np.ndim(cost) == slack.ndim else cost[:, None]) * slack)


@pytest.mark.parametrize("make", [moons, noisy])
@pytest.mark.parametrize("C", [0.5, 10.0])
@pytest.mark.parametrize(
    "kernel", [{"gamma": 0.5}, {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5}], ids=str
)
def test_with_all_training_points_it_is_the_svm(make, C, kernel):
    X, y = make(60)
    model = learner(60, C=C, init=X, tol=1e-9, **kernel)
    with warnings.catch_warnings():
        # So many vectors span more than the data need: there is rounding in the gap.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    svc = SVC(C=C, tol=1e-9, **kernel).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), svc.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("make", [moons, noisy, contradictory])
def test_the_objective_is_what_it_says_and_lies_between_its_bounds(make):
    X, y = make(90)
    model = learner(5, C=3.0, gamma=0.5).fit(X, y)
    assert model.n_terms_ <= 5 and not hasattr(model, "support_")
    assert model.objective_ == pytest.approx(objective(model, X, y, np.full(90, 3.0)), rel=1e-6)
    # Not below the SVM, which has all vectors; not above random rows, from wherever drawn.
    svm = learner(90, C=3.0, gamma=0.5, init=X, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        least = svm.fit(X, y).objective_
    assert model.objective_ >= least * (1 - 1e-3)
    for seed in range(5):
        drawn = ReducedSVC(5, C=3.0, gamma=0.5, random_state=seed).fit(X, y)
        assert model.objective_ < drawn.objective_


def test_more_terms_lower_the_objective():
    X, y = moons(120)
    values = [learner(m, C=10.0, gamma=1.0).fit(X, y).objective_ for m in (1, 2, 4, 8, 16)]
    assert (np.diff(values) < 0).all()


def test_several_starts_keep_the_best():
    X, y = moons(120)
    one = learner(6, C=10.0, gamma=2.0, init="kmeans").fit(X, y)
    several = learner(6, C=10.0, gamma=2.0, init="kmeans", n_init=4).fit(X, y)
    assert several.objective_ <= one.objective_ * (1 + 1e-3)


def test_several_classes_share_the_vectors():
    X, y = iris()
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = learner(6, C=5.0).fit(X, names)
    assert model.n_terms_ <= 6 and model.dual_coef_.shape == (3, model.n_terms_)
    assert model.decision_function(X).shape == (150, 3)
    assert model.score(X, names) > 0.96
    targets = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    # A row counts more often in the output of its own class.
    cost = 5.0 * np.where(targets > 0, np.sqrt(2.0), 1.0)
    expected = objective(model, X, names, cost, targets)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


def test_weights_are_costs():
    X, y = noisy(80)
    weight = np.random.default_rng(0).integers(1, 4, size=80).astype(float)
    model = learner(4, C=0.5, gamma=0.2).fit(X, y, sample_weight=weight)
    assert model.objective_ == pytest.approx(objective(model, X, y, 0.5 * weight), rel=1e-6)
    double = learner(4, C=1.0, gamma=0.2).fit(X, y, sample_weight=np.full(80, 2.0))
    same = learner(4, C=2.0, gamma=0.2).fit(X, y)
    np.testing.assert_allclose(double.decision_function(X), same.decision_function(X), atol=1e-6)
    heavy = learner(4, gamma=0.2, class_weight={1: 50.0}).fit(X, y)
    light = learner(4, gamma=0.2, class_weight={0: 50.0}).fit(X, y)
    assert heavy.predict(X).mean() > light.predict(X).mean() + 0.2


def test_sparse_input_is_dense_input():
    X, y = noisy(80)
    X[np.abs(X) < 0.5] = 0.0
    dense = learner(4, gamma=0.2).fit(X, y)
    thin = learner(4, gamma=0.2).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        dense.decision_function(X), thin.decision_function(sparse.csr_matrix(X)), atol=1e-3
    )


def test_a_learned_width_lowers_the_objective():
    X, y = moons(120)
    fixed = learner(4, C=10.0, gamma=0.1).fit(X, y)
    learned = learner(4, C=10.0, gamma=0.1, learn_gamma=True).fit(X, y)
    assert fixed.expansion_.kernel.gamma == 0.1
    assert learned.expansion_.kernel.gamma > 0.15
    assert learned.objective_ < 0.9 * fixed.objective_
    assert learned.objective_ == pytest.approx(
        objective(learned, X, y, np.full(120, 10.0)), rel=1e-6
    )


def test_given_starts():
    X, y = moons(100)
    near = ZeroNormSVC(C=5.0, gamma=1.0).fit(X, y)
    size = near.n_terms_
    expansion = near.expansion_
    models = [
        learner(size, C=5.0, gamma=1.0, init=init).fit(X, y)
        for init in (near, expansion, expansion.vectors, expansion.vectors.tolist())
    ]
    for model in models:
        np.testing.assert_array_equal(model.support_vectors_, models[0].support_vectors_)
    # The start is taken: fewer margin errors, or a larger margin, than its vectors as they are.
    still = ReducedSVC(100, C=5.0, gamma=1.0)
    assert models[0].objective_ < objective(near, X, y, np.full(100, 5.0))
    assert still.fit(X, y).objective_ < models[0].objective_
    for wrong in (expansion.vectors[:-1], expansion.vectors[:, :1], near):
        with pytest.raises(ValueError, match="init holds vectors of shape"):
            learner(size + 1, init=wrong).fit(X, y)


def test_many_rows_are_learned_on_samples_that_grow():
    X, y = moons(400)
    model = with_sizes(learner(4, C=10.0, gamma=1.0), samples=(40, 100)).fit(X, y)
    assert sorted(set(model.history_["rows"])) == [40, 100]
    assert (np.diff(model.history_["rows"]) >= 0).all()
    # The coefficients are those of all rows.
    assert model.objective_ == pytest.approx(objective(model, X, y, np.full(400, 10.0)), rel=1e-4)
    all_rows = learner(4, C=10.0, gamma=1.0).fit(X, y)
    assert all_rows.objective_ < model.objective_ * 1.001
    assert set(all_rows.history_["rows"]) == {400}
    assert model.objective_ < 1.5 * all_rows.objective_


@pytest.mark.parametrize("learn_gamma", [False, True, "metric"])
@pytest.mark.parametrize("init", ["greedy", "kmeans"])
def test_many_vectors_are_moved_by_batches(learn_gamma, init):
    X, y = moons(400)
    given = {"C": 10.0, "gamma": 4.0, "learn_gamma": learn_gamma, "init": init, "max_iter": 20}
    few_at_once = learner(12, **given).fit(X, y)
    few_are_many = {"many_terms": 12, "some_rows": 200}
    models = (with_sizes(learner(12, **given), **few_are_many) for _ in range(2))
    model, again = (one.fit(X, y) for one in models)
    np.testing.assert_array_equal(model.support_vectors_, again.support_vectors_)
    assert model.history_["rows"].tolist() == [400]
    assert model.n_iter_ == 24 * 20
    assert (model.expansion_.kernel.gamma == 4.0) == (learn_gamma is False)
    assert hasattr(model, "metric_") == (learn_gamma == "metric")
    # The coefficients are the best for the hinge as it is, and the vectors as good as L-BFGS's.
    assert model.objective_ == pytest.approx(objective(model, X, y, np.full(400, 10.0)), rel=1e-4)
    assert model.objective_ < 1.05 * few_at_once.objective_


def test_the_same_state_gives_the_same_model():
    X, y = moons(150)
    first, second, other = (learner(5, random_state=seed).fit(X, y) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.support_vectors_, second.support_vectors_)
    assert not np.array_equal(first.support_vectors_, other.support_vectors_)


def test_probabilities_by_calibration():
    X, y = moons(200)
    model = CalibratedClassifierCV(learner(5, C=10.0), cv=3).fit(X, y)
    sure = model.predict_proba(X)
    assert sure.shape == (200, 2)
    assert -np.log(sure[np.arange(200), y]).mean() < 0.3
    X, y = iris()
    model = CalibratedClassifierCV(learner(6, C=10.0), cv=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.9


def test_too_few_steps_are_said():
    X, y = moons(120)
    with pytest.warns(ConvergenceWarning, match="After 1 steps the vectors still moved"):
        learner(8, C=100.0, gamma=5.0, max_iter=1, tol=1e-6).fit(X, y)


UNHAPPY = {
    "none": ({"n_terms": 0}, "n_terms must be an integer of at least 1; got 0"),
    "negative": ({"n_terms": -3}, "n_terms must be an integer of at least 1"),
    "no integer": ({"n_terms": 2.5}, "n_terms must be an integer"),
    "truth": ({"n_terms": True}, "n_terms must be an integer"),
    "more than rows": ({"n_terms": 41}, "n_terms=41 is more than the 40 training rows"),
    "precomputed": ({"kernel": "precomputed"}, "Learned vectors need a kernel with a derivative"),
    "callable": ({"kernel": lambda X, V: X @ V.T}, "Learned vectors need a kernel"),
    "sigmoid": ({"kernel": "sigmoid"}, "Learned vectors need a kernel"),
    "linear width": ({"kernel": "linear", "learn_gamma": True}, "has no gamma to learn"),
    "linear metric": ({"kernel": "linear", "learn_gamma": "metric"}, "has no gamma to learn"),
    "poly metric": ({"kernel": "poly", "learn_gamma": "metric"}, "is for kernel='rbf' only"),
    "width": ({"learn_gamma": "yes"}, "learn_gamma must be True, False or 'metric'; got 'yes'"),
    "init": ({"init": "random"}, "init must be 'greedy', 'kmeans'"),
    "starts": ({"n_init": 0}, "n_init must be an integer of at least 1"),
    "steps": ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
    "C": ({"C": 0.0}, "C must be a finite positive number"),
    "tol": ({"tol": -1.0}, "tol must be a finite positive number"),
    "not positive": ({"kernel": "poly", "coef0": -5.0}, "positive semidefinite"),
}


@pytest.mark.parametrize(("options", "sentence"), UNHAPPY.values(), ids=UNHAPPY)
def test_unhappy_input_gets_a_sentence(options, sentence):
    X, y = moons(40)
    model = SparseLargeMarginClassifier(**options)
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, y)
    assert not hasattr(model, "n_features_in_")
