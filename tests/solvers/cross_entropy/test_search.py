"""The cross-entropy method against brute force, and against the paper's algorithm written plainly.

Not named after its module: a file of that name in the folder above tests the classifier.
"""

import itertools
import math

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from tests.independent import subset_score
from tests.solvers.problems import contradictory, inseparable
from zeronorm.solvers.cross_entropy.scores import Scorer, Scores
from zeronorm.solvers.cross_entropy.search import descend, minimise
from zeronorm.solvers.linear_programs.hinge_subsets import HingeSubsets

#: Slow enough for small problems to be solved, whatever the seed.
PATIENT = {"sample_size": 300, "elite_share": 0.05, "smoothing": 0.4}


class Quadratic:
    """A random quadratic function of bits, with whole numbers: nothing is ever rounded."""

    def __init__(self, n_bits=14, seed=0):
        self.form = np.random.default_rng(seed).integers(-9, 10, size=(n_bits, n_bits))
        self.seen = []

    def __call__(self, vectors):
        self.seen.extend(vectors)
        return np.einsum("ij,jk,ik->i", vectors, self.form, vectors)


def all_vectors(n_bits):
    return np.array(list(itertools.product([False, True], repeat=n_bits)))


def subsets_problem(make=inseparable, n_bits=12, C=2.0):
    X, y = make()
    rows = np.random.default_rng(0).permutation(len(X))[:n_bits]
    cost = np.full(len(X), C)
    return rbf_kernel(X, X[rows], gamma=0.7), y[:, None], cost, cost[rows], y[rows, None]


def plain_algorithm(function, start, n, share, smoothing, patience, adaptive, seed):
    """Algorithm 2.1 with (4) and (5), or FACE, without any of the savings."""
    random, v, levels, best = np.random.default_rng(seed), start, [], np.inf
    n_elite = max(2, math.ceil(share * n))
    portion, most = (max(n_elite, n // 4), 4 * n) if adaptive else (n, n)
    draws = []
    while len(set(levels[-patience - 1 :])) != 1 or len(levels) <= patience:
        vectors = np.empty((0, len(v)), dtype=bool)
        while True:
            vectors = np.concatenate([vectors, random.random((portion, len(v))) < v])
            scores = function(vectors)
            level = np.sort(scores)[n_elite - 1]
            is_better = not levels or level < levels[-1] or scores.min() < best
            if is_better or len(vectors) >= most:
                break
        best = min(best, scores.min())
        v = smoothing * vectors[scores <= level].mean(axis=0) + (1 - smoothing) * v
        levels.append(level)
        draws.append(len(vectors))
    return best, levels, draws, v


# --- the search --------------------------------------------------------------------------------


@pytest.mark.parametrize("adaptive", [False, True], ids=["plain", "FACE"])
@pytest.mark.parametrize("smoothing", [0.3, 0.7, 1.0])
@pytest.mark.parametrize(("share", "patience"), [(0.03, 3), (0.2, 1), (0.1, 5)])
def test_rounds_are_those_of_the_papers_algorithm(adaptive, smoothing, share, patience):
    start = np.linspace(0.2, 0.8, 14)
    best, levels, draws, v = plain_algorithm(
        Quadratic(), start, 60, share, smoothing, patience, adaptive, seed=3
    )
    found = minimise(
        Quadratic(), start, sample_size=60, elite_share=share, smoothing=smoothing,
        patience=patience, adaptive=adaptive, random_state=3,
    )  # fmt: skip
    assert found.score == best == Quadratic()(found.vector[None, :])[0]
    assert found.history["level"] == levels and found.history["draws"] == draws
    np.testing.assert_allclose(found.probabilities, v, atol=1e-12)
    assert found.is_settled and found.rounds == len(levels)


@pytest.mark.parametrize("adaptive", [False, True], ids=["plain", "FACE"])
@pytest.mark.parametrize("seed", range(5))
def test_quadratic_functions_are_minimised(adaptive, seed):
    function = Quadratic(seed=seed)
    expected = function(all_vectors(14)).min()
    found = minimise(function, np.full(14, 0.5), adaptive=adaptive, random_state=seed, **PATIENT)
    assert found.score == expected == function(found.vector[None, :])[0]


@pytest.mark.parametrize("C", [0.5, 2.0, 20.0])
@pytest.mark.parametrize("make", [inseparable, contradictory])
def test_scores_of_sets_are_minimised(make, C):
    score = HingeSubsets(*subsets_problem(make, 9, C))
    expected = score.evaluate(all_vectors(9)).values.min()
    for adaptive in (False, True):
        # Small samples: not a walk through all 512 sets.
        found = minimise(
            score,
            np.full(9, 0.5),
            adaptive=adaptive,
            random_state=0,
            **PATIENT | {"sample_size": 60},
        )
        assert found.score == pytest.approx(expected, abs=1e-8)
        assert score.evaluate(found.vector[None, :]).values[0] == pytest.approx(found.score)


def test_scores_of_sets_are_minimised_says_linprog():
    problem = subsets_problem(n_bits=6)
    expected = min(subset_score(*problem, chosen) for chosen in all_vectors(6))
    found = minimise(HingeSubsets(*problem), np.full(6, 0.5), random_state=0)
    assert found.score == pytest.approx(expected, abs=1e-5)
    assert subset_score(*problem, found.vector) == pytest.approx(expected, abs=1e-5)


def test_infinite_scores_are_legal():
    def odd_ones_out(vectors):
        return np.where(vectors.sum(axis=1) % 2, np.inf, Quadratic(10)(vectors))

    found = minimise(odd_ones_out, np.full(10, 0.5), random_state=0)
    assert found.score == odd_ones_out(all_vectors(10)).min()


@pytest.mark.parametrize("patience", [1, 3, 6])
def test_the_level_rests_for_as_many_rounds_as_patience_says(patience):
    found = minimise(Quadratic(), np.full(14, 0.5), patience=patience, random_state=1)
    levels = found.history["level"]
    assert found.is_settled and len(set(levels[-patience - 1 :])) == 1
    for end in range(patience + 1, len(levels)):
        assert len(set(levels[end - patience - 1 : end])) > 1, "it went on after that"


def test_rounds_that_run_out_are_said():
    found = minimise(Quadratic(), np.full(14, 0.5), max_rounds=2, random_state=0)
    assert found.rounds == 2 and not found.is_settled


def test_certain_bits_stay_as_they_are():
    function, start = Quadratic(), np.full(14, 0.5)
    start[:4], start[4:7] = 1.0, 0.0
    found = minimise(function, start, random_state=0, **PATIENT)
    assert np.all([v[:4].all() and not v[4:7].any() for v in function.seen])
    every = all_vectors(14)
    allowed = every[every[:, :4].all(axis=1) & ~every[:, 4:7].any(axis=1)]
    assert found.score == function(allowed).min()
    assert (found.probabilities[:4] == 1).all() and (found.probabilities[4:7] == 0).all()


def test_the_start_is_the_first_distribution():
    function, start = Quadratic(), np.linspace(0.05, 0.95, 14)
    scorer = Scorer(function, use_cache=False)
    minimise(scorer, start, sample_size=4000, max_rounds=1, random_state=0)
    # Five standard deviations of a mean of 4000 draws.
    np.testing.assert_allclose(np.mean(function.seen, axis=0), start, atol=0.04)


def test_the_first_vectors_are_an_upper_bound():
    special = np.random.default_rng(0).random(14) < 0.5

    def needle(vectors):
        return np.where((vectors == special).all(axis=1), -1000, Quadratic()(vectors))

    # The distribution does not reach it.
    start = np.where(special, 0.0, 0.5)
    assert minimise(needle, start, random_state=0).score > -1000
    for first in (special[None, :], np.stack([~special, special])):
        found = minimise(needle, start, first=first, random_state=0)
        assert found.score == -1000 and (found.vector == special).all()
        assert found.history["best"][0] == -1000
        assert found.history["draws"][0] == 100 + len(first)


def test_the_best_score_never_rises_and_is_that_of_the_vector():
    reports = []

    def report(found):
        reports.append((found.score, int(found.vector.sum()), found.rounds))

    found = minimise(Quadratic(), np.full(14, 0.5), random_state=0, report=report)
    best = found.history["best"]
    assert best == sorted(best, reverse=True) and best[-1] == found.score
    assert all(level >= b for level, b in zip(found.history["level"], best, strict=True))
    ones = found.history["ones"]
    assert reports == list(zip(best, ones, range(1, found.rounds + 1), strict=True))


def test_face_draws_within_its_limits():
    found = minimise(Quadratic(), np.full(14, 0.5), sample_size=100, adaptive=True, random_state=0)
    draws = np.array(found.history["draws"])
    assert draws.min() == 25 and draws.max() == 400
    # The last rounds, after it has converged, drew in vain.
    assert (draws[-3:] == 400).all()


def test_the_default_sample_has_five_draws_for_each_bit_and_at_least_a_hundred():
    for n_bits, expected in ((14, 100), (20, 100), (30, 150)):
        found = minimise(Quadratic(n_bits), np.full(n_bits, 0.5), max_rounds=1, random_state=0)
        assert found.history["draws"] == [expected]


def test_the_seed_decides():
    draws = [
        minimise(Quadratic(), np.full(14, 0.5), random_state=seed).history
        for seed in (0, 0, np.random.default_rng(0), 1)
    ]
    assert draws[0] == draws[1] == draws[2] != draws[3]


# --- what is scored ----------------------------------------------------------------------------


def assert_same_search(a, b):
    np.testing.assert_array_equal(a.vector, b.vector)
    assert a.score == pytest.approx(b.score, abs=1e-9)
    assert a.history["draws"] == b.history["draws"]
    for key in ("level", "best"):
        np.testing.assert_allclose(a.history[key], b.history[key], rtol=0, atol=1e-8)
    np.testing.assert_allclose(a.probabilities, b.probabilities, atol=1e-12)


@pytest.mark.parametrize(("make", "adaptive"), [(inseparable, False), (contradictory, True)])
def test_cache_and_bounds_change_the_price_and_nothing_else(make, adaptive):
    n_scored, found = {}, {}
    for cache, bounds in itertools.product([False, True], repeat=2):
        score = HingeSubsets(*subsets_problem(make, 12))
        scorer = Scorer(score, use_cache=cache, use_bounds=bounds)
        found[cache, bounds] = minimise(
            scorer, np.full(12, 0.5), sample_size=80, adaptive=adaptive, random_state=0
        )
        n_scored[cache, bounds] = scorer.n_scored
        assert sum(found[cache, bounds].history["scored"]) == scorer.n_scored
    for other in found.values():
        assert_same_search(found[False, False], other)
    assert n_scored[False, False] == sum(found[False, False].history["draws"])
    assert n_scored[True, True] < n_scored[True, False] < n_scored[False, False]
    assert n_scored[True, True] < n_scored[False, True] < n_scored[False, False]


@pytest.mark.parametrize("adaptive", [False, True], ids=["plain", "FACE"])
def test_workers_change_nothing(adaptive):
    searches = [
        minimise(
            HingeSubsets(*subsets_problem(n_bits=14)), np.full(14, 0.5),
            adaptive=adaptive, random_state=0, n_jobs=n_jobs,
        )
        for n_jobs in (1, 2, 3)
    ]  # fmt: skip
    for other in searches[1:]:
        assert_same_search(searches[0], other)
        assert searches[0].history["scored"] == other.history["scored"]


def test_equal_vectors_are_scored_once():
    function = Quadratic(5)
    found = minimise(function, np.full(5, 0.5), random_state=0)
    assert sum(found.history["draws"]) > 300
    assert len(function.seen) == len(np.unique(function.seen, axis=0)) <= 2**5
    assert sum(found.history["scored"]) == len(function.seen)


def test_the_elite_of_a_judged_sample_is_exact():
    score = HingeSubsets(*subsets_problem(n_bits=16))
    vectors = np.random.default_rng(0).random((300, 16)) < 0.5
    exact = score.evaluate(vectors).values
    scorer = Scorer(score)
    values, _ = scorer(vectors, 10)
    is_scored = np.isfinite(values)
    assert scorer.n_scored <= is_scored.sum() < 300
    np.testing.assert_allclose(values[is_scored], exact[is_scored], rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.sort(values)[:10], np.sort(exact)[:10], rtol=0, atol=1e-9)
    # Below a ceiling that is lower still, everything that is below it.
    ceiling = np.sort(exact)[3]
    values, _ = Scorer(HingeSubsets(*subsets_problem(n_bits=16)))(vectors, 10, ceiling)
    np.testing.assert_allclose(np.sort(values)[:4], np.sort(exact)[:4], rtol=0, atol=1e-9)


def test_better_vectors_than_asked_for_are_taken():
    class Freeing:
        """Counts ones, but the first three are worth nothing and are taken out."""

        def evaluate(self, vectors):
            better = vectors.copy()
            better[:, :3] = False
            return Scores((better != (np.arange(12) % 2)).sum(axis=1).astype(float), better)

        def learn(self, cuts):
            assert cuts is None

        def bounds(self, vectors):
            return np.zeros(len(vectors))

    found = minimise(Freeing(), np.full(12, 0.5), random_state=0)
    np.testing.assert_array_equal(found.vector, (np.arange(12) % 2 == 1) & (np.arange(12) > 2))
    # The distribution follows what was returned.
    assert found.probabilities[:3].max() < 0.1


@pytest.mark.parametrize("score", [None, 3, "score", np.eye(2)], ids=repr)
def test_a_score_that_is_no_function_is_refused(score):
    with pytest.raises(ValueError, match="must be a function of a boolean matrix"):
        minimise(score, np.full(3, 0.5))


@pytest.mark.parametrize(
    "score",
    [lambda V: 1.0, lambda V: V.astype(float), lambda V: V.sum(axis=1)[1:], lambda V: V[:, :1]],
)
def test_a_score_of_the_wrong_shape_is_refused(score):
    with pytest.raises(ValueError, match="it must be one number for each row"):
        minimise(score, np.full(3, 0.5), random_state=0)


def test_a_score_that_is_not_a_number_is_refused():
    with pytest.raises(ValueError, match="not a number"):
        minimise(lambda V: np.where(V[:, 0], np.nan, 1.0), np.full(3, 0.5), random_state=0)


# --- the descent -------------------------------------------------------------------------------


def swaps(vector):
    for one, zero in itertools.product(np.flatnonzero(vector), np.flatnonzero(~vector)):
        other = vector.copy()
        other[[one, zero]] = other[[zero, one]]
        yield other


@pytest.mark.parametrize("seed", range(6))
def test_the_descent_ends_where_no_change_and_no_swap_helps(seed):
    function = Quadratic(seed=seed)
    vector = np.random.default_rng(seed).random(14) < 0.5
    start = function(vector[None, :])[0]
    found, score = descend(Scorer(function), vector, start, most=1000)
    assert score <= start and score == function(found[None, :])[0]
    flips = found ^ np.eye(14, dtype=bool)
    assert function(np.concatenate([flips, list(swaps(found))])).min() >= score


@pytest.mark.parametrize("most", [1, 5])
def test_all_single_changes_are_looked_at_however_few_swaps(most):
    for seed in range(6):
        function, vector = Quadratic(seed=seed), np.random.default_rng(seed).random(14) < 0.5
        start = function(vector[None, :])[0]
        found, score = descend(Scorer(function), vector, start, most=most)
        assert score <= start and score == function(found[None, :])[0]
        assert function(found ^ np.eye(14, dtype=bool)).min() >= score


@pytest.mark.parametrize("make", [inseparable, contradictory])
def test_the_descent_of_a_set(make):
    score = HingeSubsets(*subsets_problem(make))
    everything = np.ones(12, dtype=bool)
    start = score.evaluate(everything[None, :])
    scorer = Scorer(score)
    found, value = descend(scorer, start.vectors[0], start.values[0], most=1000)
    assert value <= start.values[0]
    neighbours = np.concatenate([found ^ np.eye(12, dtype=bool), list(swaps(found))])
    assert score.evaluate(neighbours).values.min() >= value - 1e-8
    assert score.evaluate(found[None, :]).values[0] == pytest.approx(value, abs=1e-9)
    again = descend(scorer, found, value, most=1000)
    np.testing.assert_array_equal(again[0], found)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_the_descent_takes_no_more_steps_than_allowed(steps):
    target = np.arange(10) < 5
    found, score = descend(
        Scorer(lambda V: (V != target).sum(axis=1)), ~target, 10, most=1000, max_rounds=steps
    )
    # A single change goes before a swap, which would be worth two.
    assert score == 10 - steps == (found != target).sum()
