"""Pairs of classes as outputs: loss and gradient, the problem of each pair, scores, saving."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

import zeronorm
from zeronorm import KernelExpansion, SparseSVC
from zeronorm.base.labels import signed_targets
from zeronorm.base.training_set import TrainingRows, pair_targets
from zeronorm.decisions import Classes, DecisionRule
from zeronorm.exceptions import PoorFitWarning
from zeronorm.kernels import Kernel
from zeronorm.learned.descent import ScaledVariables, descend, grow
from zeronorm.learned.features import gain_of_terms, zero_widths
from zeronorm.learned.folds import Folds, Part
from zeronorm.learned.growth import doublings
from zeronorm.learned.joint import Form, JointModels, Parameters
from zeronorm.learned.kernel_sets import Rows
from zeronorm.learned.path import Path
from zeronorm.learned.settings import Setting, may_be_pairs
from zeronorm.links import Calibration
from zeronorm.model import Model
from zeronorm.pairs import classes_of_pairs, pair_places, pairs_of, worst_scores

GIVEN = {"C": 1.0, "gamma": 0.1, "metric": False, "linear": False}


def blobs(n_rows=200, n_classes=5, seed=0, **options):
    return make_blobs(n_rows, centers=n_classes, n_features=4, random_state=seed, **options)


def pair_rows(n=30, n_classes=4, *, pairs=True, seed=0):
    random = np.random.RandomState(seed)
    signs = pair_targets(random.randint(0, n_classes, n), n_classes).T.astype(float)
    return Rows(random.randn(n, 3), signs, np.abs(signs), pairs=pairs)


def models_of(rows, size=4, seed=1):
    random = np.random.RandomState(seed)
    form = Form(Kernel("rbf", 1.0), widths=3, pairs=True)
    models = JointModels(rows, form, np.abs(random.randn(2, len(rows))), np.array([0.3, 0.5]))
    vectors, weights = random.randn(2, size, 3), random.randn(2, size, rows.n_outputs)
    intercept, log_widths = random.randn(2, rows.n_outputs), 0.3 * random.randn(2, 3)
    models.parameters = Parameters(vectors, weights, intercept, np.zeros((2, 0, 6)), log_widths)
    return models


def test_targets_of_pairs_are_the_problems_of_the_rule():
    codes = np.random.RandomState(0).randint(0, 4, 25)
    targets = pair_targets(codes, 4)
    for column, (rows, labels) in zip(
        targets.T, DecisionRule(4, is_pairs=True).problems(codes), strict=True
    ):
        assert_array_equal(np.flatnonzero(column), rows)
        assert_array_equal(column[rows], labels)


def test_gradient_by_finite_differences():
    models, both, step = models_of(pair_rows()), np.arange(2), 1e-6
    scaling = ScaledVariables(models)
    point = scaling.start()
    _, gradient = scaling.function(point, both)
    differences = [
        (scaling.function(point + e, both)[0] - scaling.function(point - e, both)[0]) / (2 * step)
        for e in step * np.eye(point.shape[1])
    ]
    expected = np.stack(differences, axis=1)
    assert_allclose(gradient, expected, atol=2e-6 * np.abs(gradient).max())


def test_only_what_counts_is_looked_at_and_the_loss_is_the_same():
    short, full = (models_of(pair_rows(pairs=pairs)) for pairs in (True, False))
    assert short.rows.counted.targets.size == np.count_nonzero(full.rows.factors)
    assert full.rows.counted is None
    both = np.arange(2)
    value, gradient = short.function(short.parameters, both)
    expected_value, expected = full.function(full.parameters, both)
    assert_allclose(value, expected_value)
    for found, one in zip(gradient.arrays(), expected.arrays(), strict=True):
        assert_allclose(found, one, atol=1e-12)


def test_coefficients_of_each_pair_are_those_of_a_machine_of_its_own():
    """The squared hinge of two classes in the span of the vectors: LinearSVC without a bias."""
    X, y = blobs(120, 4, cluster_std=2.0)
    options = {**GIVEN, "gamma": 0.01}
    model = SparseSVC(6, multi_class="ovo", random_state=0, tol=1e-8, **options).fit(X, y)
    kernel = model.expansion_.kernel
    gram, values = (
        kernel.matrix(one, model.support_vectors_) for one in (model.support_vectors_, X)
    )
    features = values @ np.linalg.inv(np.linalg.cholesky(gram)).T

    def objective(weights, rows, labels, intercept):
        slack = np.maximum(0.0, 1.0 - labels * (features[rows] @ weights + intercept))
        return 0.5 * weights @ weights + 0.5 * np.sum(slack**2)

    total = 0.0
    for rows, labels in DecisionRule(4, is_pairs=True).problems(y):
        # A column so large that its weight, the intercept, costs nothing; C is half of ours there.
        own = np.column_stack([features[rows], np.full(len(rows), 1e3)])
        rival = LinearSVC(C=0.5, fit_intercept=False, dual=False, tol=1e-10, max_iter=10_000)
        weights = rival.fit(own, labels).coef_[0]
        total += objective(weights[:-1], rows, labels, 1e3 * weights[-1])
    assert model.objective_ == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_the_score_of_a_class_is_its_worst_pair(n_classes):
    values = np.random.RandomState(0).randn(20, n_classes * (n_classes - 1) // 2)
    scores = worst_scores(values, n_classes)
    for row, found in zip(values, scores, strict=True):
        duel = {}
        for value, (a, b) in zip(row, pairs_of(n_classes), strict=True):
            duel[a, b], duel[b, a] = value, -value
        expected = [min(duel[k, other] for other in range(n_classes) if other != k)
                    for k in range(n_classes)]  # fmt: skip
        assert_array_equal(found, expected)
        winners = [k for k in range(n_classes) if expected[k] > 0]
        assert len(winners) <= 1 and (not winners or found.argmax() == winners[0])
    assert classes_of_pairs(values.shape[1]) == n_classes
    assert pair_places(n_classes).shape == (n_classes, n_classes - 1)


def warped_curves(n_rows, n_classes=10, seed=0):
    """Curves of so many shapes, each row at another pace, turned and scaled a little."""
    random, times = np.random.RandomState(seed), np.linspace(0.0, 1.0, 20)
    shapes, y = random.randn(n_classes, 2, 4), np.arange(n_rows) % n_classes
    rows = []
    for code in y:
        pace = times ** np.exp(0.35 * random.randn())
        waves = [np.sin((h + 1) * np.pi * pace) / (h + 1) for h in range(4)]
        curve = (shapes[code] + 0.15 * random.randn(2, 4)) @ waves
        angle, size = 0.25 * random.randn(), np.exp(0.2 * random.randn())
        turn = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        rows.append(size * (turn @ curve).ravel())
    return np.array(rows), y


def test_pairs_tell_many_classes_apart_by_fewer_terms():
    X, y = warped_curves(1_500)
    train, test = slice(0, 300), slice(300, None)
    error = {}
    for kind in ("ovr", "ovo"):
        model = SparseSVC(6, C=100.0, metric=True, multi_class=kind, random_state=0)
        error[kind] = 1.0 - model.fit(X[train], y[train]).score(X[test], y[test])
    assert error["ovo"] < 0.8 * error["ovr"]


def test_auto_says_what_it_has_taken():
    X, y = blobs(200, 8, seed=1, cluster_std=3.0)
    model = SparseSVC(random_state=0).fit(X, y)
    assert model.multi_class_ in ("ovr", "ovo")
    is_pairs = model.multi_class_ == "ovo"
    assert model.dual_coef_.shape[0] == (28 if is_pairs else 8)
    assert (model.expansion_.vote_classes == 8) == is_pairs
    assert model.decision_function(X).shape == (200, 8)
    found = dict(zip(model.path_["terms"], model.path_["multi_class"], strict=True))
    assert found[model.expansion_.n_products] == model.multi_class_


@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_classes_are_one_pair_and_three_have_as_many_as_classes(n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    model = SparseSVC(3, C=[1, 10], random_state=0).fit(X, y)
    assert model.multi_class_ == "ovr" and "multi_class" not in model.path_
    asked = SparseSVC(3, C=[1, 10], multi_class="ovo", random_state=0).fit(X, y)
    assert asked.intercept_.shape == (1 if n_classes == 2 else 3,)
    assert asked.score(X, y) > 0.9


def test_probabilities_are_calibrated_and_agree_with_the_prediction(tmp_path):
    X, y = blobs(400, 6, cluster_std=3.0)
    model = SparseSVC(6, C=[1, 10], multi_class="ovo", random_state=0).fit(X[:200], y[:200])
    proba = model.predict_proba(X[200:])
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X[200:]))
    assert log_loss(y[200:], proba) < 0.7 * log_loss(y[200:], np.full_like(proba, 1 / 6))
    zeronorm.save(model, tmp_path / "model.json")
    loaded = zeronorm.load(tmp_path / "model.json")
    for method in ("predict", "decision_function", "predict_proba"):
        assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))


def test_a_file_of_votes_has_no_new_field():
    """Releases before pairs were learned can read it."""
    rule = DecisionRule(3, is_pairs=True, breaks_ties=True)
    assert "pair_scores" not in Classes(["a", "b", "c"], rule).to_dict()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"pair_scores": "best"}, "pair_scores must be 'votes' or 'worst'"),
        ({"pair_scores": 3}, "pair_scores must be 'votes' or 'worst'"),
    ],
)
def test_damaged_descriptions(change, sentence):
    X, y = blobs(60, 4)
    model = SparseSVC(4, multi_class="ovo", random_state=0, **GIVEN).fit(X, y)
    data = Model.from_estimator(model).to_dict()
    for part in ("decision", "function"):
        with pytest.raises(ValueError, match=sentence):
            Model.from_dict({**data, part: {**data[part], **change}})


def test_rule_and_function_must_agree():
    X, y = blobs(60, 4)
    model = SparseSVC(4, multi_class="ovo", random_state=0, **GIVEN).fit(X, y)
    with pytest.raises(ValueError, match="do not go with"):
        Model(model.expansion_, Classes(np.arange(4), DecisionRule(4, is_pairs=True)))
    with pytest.raises(ValueError, match="is no rule"):
        Classes(np.arange(4), DecisionRule(4, is_pairs=True), link=Calibration(1.0))
    for how in ("votes", "worst"):  # named links are of outputs, one for each class
        with pytest.raises(ValueError, match="is no rule"):
            Classes(np.arange(4), DecisionRule(4, is_pairs=True, pair_scores=how), link="logistic")
    with pytest.raises(ValueError, match="say of how many"):
        parts = np.zeros((1, 2)), np.ones((1, 3)), np.zeros(3), Kernel("rbf", 1.0)
        KernelExpansion(*parts, pair_scores="worst")


def test_a_rule_that_was_pickled_before_it_had_all_fields_can_be_saved():
    rule = DecisionRule(3, is_pairs=True)
    expected = Classes(["a", "b", "c"], rule).to_dict()
    del rule.__dict__["pair_scores"]
    assert Classes(["a", "b", "c"], rule).to_dict() == expected


def path_of(n_classes, sizes, losses, *, most):
    """A path on which a setting of pairs has had these losses at these sizes."""
    random = np.random.RandomState(0)
    rows = pair_rows(40, n_classes, pairs=False)
    codes = np.arange(40) % n_classes
    part = Part(rows, codes, np.ones(40), np.ones((2, 40), dtype=bool))
    path = Path(Folds(part, None, np.ones(40), np.ones((2, 40), dtype=bool), 0), None, None)
    path.most = most
    setting = Setting(1.0, Kernel("rbf", 1.0), 1, pairs=True)
    path.states, parameters = {setting: None}, Parameters.nothing(2, rows, setting.form)
    for size, loss in zip(sizes, losses, strict=True):
        noise = 1e-3 * random.rand(2)
        path.results.add(setting, size, loss + noise, loss + noise, [], parameters)
    return path, setting


@pytest.mark.parametrize("n_terms", [17, 33, 40, 100])
def test_pairs_are_tried_at_the_size_that_is_asked_for(n_terms):
    path, setting = path_of(4, [], [], most=n_terms)
    path.results.add(replace(setting, linear=True, pairs=False), 4, *np.ones((2, 2)), [], None)
    for size in doublings(n_terms):
        last = path._sizes([setting], (size,))
    assert last[-1] == n_terms


@pytest.mark.parametrize(("most", "goes_on"), [(7, False), (20, True)])
def test_growth_does_not_go_on_because_it_may_not(most, goes_on):
    """The best has five terms, and seven are worse: as many as there may be, or too few to say."""
    path, _ = path_of(4, [4, 5, 7], [0.7, 0.5, 0.8], most=most)
    assert path.goes_on(2, 0.0) == goes_on


@pytest.mark.parametrize(("n_rows", "tried"), [(4_000, True), (4_001, False)])
def test_of_many_rows_pairs_are_not_tried(n_rows, tried):
    codes = np.arange(n_rows) % 4
    targets, cost = signed_targets(codes, 4), np.ones(n_rows)
    rows, data, kernel = np.arange(n_rows), np.zeros((n_rows, 1)), Kernel("rbf", 1.0)
    training = TrainingRows(rows, data, codes, targets, cost, kernel)
    assert may_be_pairs(training) == tried


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"multi_class": "pairs"}, "multi_class must be"),
        ({"multi_class": "ovo", "linear": True}, "no linear part"),
    ],
)
def test_bad_parameters(arguments, sentence):
    X, y = blobs(60, 4)
    with pytest.raises(ValueError, match=sentence):
        SparseSVC(**arguments).fit(X, y)


def test_many_classes_with_few_rows_each():
    X, y = blobs(150, 26, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PoorFitWarning)
        model = SparseSVC(8, C=[10, 100], multi_class="ovo", random_state=0, cv=2).fit(X, y)
    assert model.dual_coef_.shape == (325, model.n_terms_)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("kind", ["sparse", "rows", "inside", "wide", "weights"])
def test_other_ways_to_learn_them(kind):
    X, y = blobs(100, 4, cluster_std=2.0)
    options, weight, given = {}, None, X
    if kind == "sparse":
        given = sparse.csr_matrix(X)
    elif kind in ("rows", "inside"):
        options = {"vectors": kind}
    elif kind == "wide":
        given = X = np.hstack([X, 0.01 * np.random.RandomState(0).randn(100, 200)])
    else:
        weight = np.where(y == 0, 2.0, 1.0)
    model = SparseSVC(4, C=[1, 10], multi_class="ovo", random_state=0, cv=3, **options)
    model.fit(given, y, sample_weight=weight)
    assert model.expansion_.vote_classes == 4
    assert model.score(given, y) > 0.8


def test_many_rows_by_batches():
    X, y = blobs(4_200, 4, cluster_std=3.0)
    model = SparseSVC(8, C=1.0, multi_class="ovo", random_state=0, max_iter=10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert model.multi_class_ == "ovo" and model.score(X, y) > 0.8


def test_widths_stay_where_the_terms_lower_a_large_objective_by_little():
    """With a small C and many classes the terms are a hundredth of the objective, and all of it."""
    random = np.random.RandomState(0)
    X, y = random.randn(200, 4), random.randint(0, 6, 200)
    X[np.arange(200), y % 4] += 1.0 + (y > 3)
    signs = pair_targets(y, 6).T.astype(float)
    rows = Rows(X, signs, np.abs(signs), pairs=True)
    form = Form(Kernel("rbf", 1.0), widths=4, pairs=True)
    models = JointModels(rows, form, np.full((1, 200), 0.01), np.array([0.25]))
    grow(models, X[None, :60], 6)
    descend(models, max_steps=40, tolerance=1e-6)
    before = models.objective()[0]
    assert gain_of_terms(models) < 0.1 * before
    fewer = zero_widths(models, X.std(axis=0))
    assert fewer.objective()[0] <= before + 0.11 * gain_of_terms(models)


def test_the_order_of_pairs_is_that_of_svc():
    assert pairs_of(4) == list(itertools.combinations(range(4), 2))
