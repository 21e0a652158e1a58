"""The reweighting loop on problems with a known answer."""

import numpy as np
import pytest

from zeronorm.solvers.reweighting.loop import Penalty, Round, reweight


class Diagonal:
    """min sum_j penalty(a_j) + 1/2 C (a_j - t_j)^2: separable, so every step is a closed form."""

    def __init__(self, target, C):
        self.target, self.C = np.asarray(target, dtype=float), C
        self.column_sizes = np.ones(len(target))

    @property
    def n_columns(self):
        return len(self.target)

    def solve(self, scale, tolerance, *, steering=False):
        coef = self.target * self.C / (self.C + 1 / scale)
        loss = 0.5 * self.C * np.sum((coef - self.target) ** 2)
        return Round(coef, 0.0, loss, 0.0)

    def keep(self, columns):
        # What a dropped term cost stays in the loss; this toy forgets it, and so must the test.
        self.target, self.column_sizes = self.target[columns], self.column_sizes[columns]


def test_fixed_points_solve_the_scalar_equation():
    target, C = np.array([3.0, -2.0, 5.0]), 10.0
    found = reweight(Diagonal(target, C), Penalty(0.0, 2), tolerance=1e-10, max_rounds=500)
    a = found.coef
    # Stationarity of log|a| + C/2 (a - t)^2.
    np.testing.assert_allclose(1 / a + C * (a - target), 0, atol=1e-6)


def test_small_targets_vanish_and_large_stay():
    # log|a| + C/2 (a - t)^2 has a stationary point besides zero only if t^2 > 4 / C.
    target, C = np.array([0.05, 0.5, 0.7, -2.0]), 10.0
    found = reweight(Diagonal(target, C), Penalty(0.0, 2), max_rounds=500)
    assert found.terms.tolist() == [2, 3]
    assert found.history["terms"][-1] == 2
    assert found.is_converged(1e-4)


@pytest.mark.parametrize(("p", "power"), [(2.0, 2), (1.0, 1)])
def test_no_reweighting_needed(p, power):
    found = reweight(Diagonal([1.0, 2.0], 3.0), Penalty(p, power))
    assert found.rounds == 1 and found.change == 0.0


def test_all_terms_may_vanish():
    found = reweight(Diagonal([1e-3, 1e-3], 1.0), Penalty(0.0, 2))
    assert len(found.terms) == 0 and found.is_converged(1e-4)


def test_running_out_of_rounds_shows():
    found = reweight(Diagonal([3.0, 1.3], 10.0), Penalty(0.0, 2), max_rounds=2)
    assert found.rounds == 2 and not found.is_converged(1e-4)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_weights_are_the_slope_of_the_penalty(p, power):
    penalty = Penalty(p, power, floor=np.full(3, 0.1))
    coef = np.array([0.3, 1.2, 4.0])
    step = 1e-6
    for j in range(3):
        up, down = coef.copy(), coef.copy()
        # A step in u = |a|^power.
        up[j] = (coef[j] ** power + step) ** (1 / power)
        down[j] = (coef[j] ** power - step) ** (1 / power)
        slope = (penalty.value(up) - penalty.value(down)) / (2 * step)
        assert slope == pytest.approx(1 / (power * penalty.scale(coef)[j]), rel=1e-6)


def test_a_rough_solution_that_would_rise_is_solved_again():
    class Rough(Diagonal):
        """Misses the minimum by as much as the tolerance allows."""

        asked = []

        def solve(self, scale, tolerance, *, steering=False):
            self.asked.append(tolerance)
            found = super().solve(scale, tolerance)
            found.coef *= 1 + 30 * tolerance
            found.loss = 0.5 * self.C * np.sum((found.coef - self.target) ** 2)
            found.gap = tolerance
            return found

    problem = Rough([3.0, -2.0, 5.0], 10.0)
    found = reweight(problem, Penalty(0.0, 2), tolerance=1e-6, max_rounds=30)
    objective = np.array(found.history["objective"])
    assert (np.diff(objective) <= 1e-8 * np.abs(objective[:-1])).all()
    assert len(problem.asked) > found.rounds


@pytest.mark.parametrize("gap", [np.inf, np.nan])
def test_a_solver_that_breaks_down_ends_the_loop(gap):
    class Broken(Diagonal):
        """Answers the first round, then overflows."""

        rounds = 0

        def solve(self, scale, tolerance, *, steering=False):
            self.rounds += 1
            found = super().solve(scale, tolerance)
            if self.rounds > 1:
                found.loss, found.gap = np.inf, gap
            return found

    problem = Broken([3.0, -2.0], 10.0)
    found = reweight(problem, Penalty(0.0, 2))
    assert found.is_stuck and not found.is_converged(1e-4)
    assert found.rounds == 1 and problem.rounds <= 3
    assert np.isfinite(found.coef).all()
