"""HiGHS: a run that ends, with the optimum, with what it has, or with a sentence."""

import signal
import threading

import highspy
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tests.data import moons
from zeronorm import CrossEntropySVC, OneNormSVC, ZeroNormSVC
from zeronorm.kernels import Kernel
from zeronorm.solvers.linear_programs import highs, hinge_lp
from zeronorm.solvers.linear_programs.highs import (
    LinearProgramError,
    add_columns,
    add_rows,
    new_model,
    run,
)
from zeronorm.solvers.losses import Hinge


def fill(model, n=60, seed=0):
    """Give the model a problem that takes more than a few iterations."""
    rows = np.random.default_rng(seed).normal(size=(n, n))
    add_columns(model, -np.ones(n), np.zeros(n), np.ones(n))
    add_rows(model, rows, np.broadcast_to(np.arange(n), rows.shape), -1.0, 1.0)
    return model


def silent(model_class):
    model = model_class()
    model.setOptionValue("output_flag", False)
    return model


@pytest.fixture
def few_iterations(monkeypatch):
    monkeypatch.setattr(highs, "ITERATIONS_EACH", 0)
    monkeypatch.setattr(highs, "ITERATIONS_LEAST", 3)


def test_no_solution_is_a_sentence():
    model = new_model()
    add_columns(model, np.ones(1), np.zeros(1), np.ones(1))
    add_rows(model, np.ones((1, 1)), np.zeros((1, 1)), 5.0, highspy.kHighsInf)
    with pytest.raises(LinearProgramError, match="Infeasible"):
        run(model)


def test_a_failed_warm_start_is_solved_cold():
    class Stubborn(highspy.Highs):
        """A model that runs only after a cold start."""

        is_cold = False

        def run(self):
            return super().run() if self.is_cold else None

        def clearSolver(self):
            self.is_cold = True
            return super().clearSolver()

    model = fill(silent(Stubborn))
    assert run(model)
    assert model.is_cold


class TestLimits:
    def test_the_limit_is_that_of_the_size(self):
        small, large = fill(new_model(), 30), fill(new_model(), 60)
        assert highs.iteration_limit(large) > highs.iteration_limit(small)
        assert run(large) and run(small)

    def test_says_that_the_iterations_are_used_up(self, few_iterations):
        model = fill(new_model())
        assert not run(model)
        assert model.getInfo().simplex_iteration_count == 3

    def test_without_a_point_it_is_a_sentence(self, few_iterations):
        class Empty(highspy.Highs):
            def getSolution(self):
                return highspy.HighsSolution()

        with pytest.raises(LinearProgramError, match="no solution .* within 3 iterations"):
            run(fill(silent(Empty)))

    @pytest.mark.parametrize(
        "model",
        [ZeroNormSVC(p=np.inf), ZeroNormSVC("B"), ZeroNormSVC("W"), OneNormSVC()],
        ids=["largest", "B", "W", "one-norm"],
    )
    def test_a_classifier_warns_with_its_gap(self, few_iterations, monkeypatch, model):
        # None at all: with a few a round the rounds get there.
        monkeypatch.setattr(highs, "ITERATIONS_LEAST", 0)
        X, y = moons()
        with pytest.warns(ConvergenceWarning, match=r"gap of [\d.e+-]+"):
            model.fit(X, y)
        assert model.history_["gap"].max() > 0.1
        assert np.isfinite(model.decision_function(X)).all()

    def test_a_search_goes_on(self, few_iterations):
        X, y = moons(40)
        with pytest.warns(ConvergenceWarning):
            model = CrossEntropySVC(random_state=0, max_iter=3).fit(X, y)
        assert np.isfinite(model.decision_function(X)).all()


class TestInterrupt:
    def test_reaches_highs(self):
        """The first iteration raises the signal and waits until the main thread has it."""
        is_heard = threading.Event()

        def handle(*_):
            is_heard.set()
            raise KeyboardInterrupt

        def press(event):
            if not is_heard.is_set():
                signal.raise_signal(signal.SIGINT)
                assert is_heard.wait(60), "the main thread hears no signal while HiGHS runs"

        model = fill(new_model(), 400)
        model.cbSimplexInterrupt.subscribe(press)
        before = signal.signal(signal.SIGINT, handle)
        try:
            with pytest.raises(KeyboardInterrupt):
                run(model, large=0)
        finally:
            signal.signal(signal.SIGINT, before)
        status = highspy.HighsModelStatus
        # Before 1.11 HiGHS leaves the status of a model that was interrupted as it was.
        assert model.getModelStatus() in (status.kInterrupt, status.kNotset)

    def test_the_thread_changes_no_result(self):
        plain = fill(new_model())
        run(plain)
        threaded = fill(new_model())
        run(threaded, large=0)
        assert threaded.getSolution().col_value == plain.getSolution().col_value


@pytest.mark.parametrize("n", [200, 400])
def test_the_largest_coefficient_of_six_against_many_takes_few_iterations(n):
    """Without the shift to variables of one sign these take over 2 n iterations, each slower."""
    X = np.random.default_rng(0).normal(size=(n, 2))
    target = np.where(np.argsort(np.argsort(X[:, 0])) >= n - 6, 1.0, -1.0)
    values = Kernel("rbf", gamma=0.5).matrix(X, X)
    counts = []

    def counting(model):
        is_optimal = run(model)
        counts.append(model.getInfo().simplex_iteration_count)
        return is_optimal

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(highs, "run", counting)
        gap = hinge_lp.solve_largest_coefficient(values, Hinge(target, np.ones(n))).gap
    assert gap <= 1e-7
    assert counts[0] <= n
