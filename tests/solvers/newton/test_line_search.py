"""The line search against scipy's root finder, on slopes that never fall."""

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.optimize import brentq

from zeronorm.solvers.newton.descent import has_fallen, slope_root


class Counted:
    """A slope that remembers where it was asked."""

    def __init__(self, slope):
        self.slope, self.lengths = slope, []

    def __call__(self, length):
        self.lengths.append(length)
        return self.slope(length)


def search(slope, descent):
    """Search along the function whose slope this is; its rise is the integral."""
    bare = slope.slope if isinstance(slope, Counted) else slope

    def rise(length):
        lengths = np.linspace(0.0, length, 20001)
        return trapezoid([bare(one) for one in lengths], lengths)

    return slope_root(slope, descent, rise)


def hinges(corners, rises, start):
    """Slope of a sum of smooth hinges along a step: from ``start``, steeper at every corner."""
    return lambda length: start + rises @ np.maximum(length - corners, 0.0)


@pytest.mark.parametrize("root", [1e-4, 0.01, 0.3, 1.0, 3.0, 50.0, 1e4], ids=str)
@pytest.mark.parametrize("descent", [-1e-8, -1.0, -1e6], ids=str)
def test_a_straight_slope(root, descent):
    slope = Counted(lambda length: descent * (1.0 - length / root))
    length = search(slope, descent)
    assert length == pytest.approx(root, rel=0.1 + 1e-9)
    assert slope.lengths[0] == 1.0 and len(slope.lengths) < 60


def test_the_full_step_of_a_parabola_is_taken_at_once():
    slope = Counted(lambda length: -2.0 + 2.0 * length)
    assert search(slope, -2.0) == 1.0
    assert slope.lengths == [1.0]


@pytest.mark.parametrize("steepness", [1.0, 1e3, 1e6], ids=str)
@pytest.mark.parametrize("seed", range(20))
def test_corners(seed, steepness):
    rng = np.random.default_rng(seed)
    corners = 10.0 ** rng.uniform(-3, 3, size=rng.integers(1, 12))
    rises = steepness ** rng.uniform(0, 1, size=len(corners))
    slope = Counted(hinges(corners, rises, start=-1.0))
    length = search(slope, -1.0)
    # Near the root in slope, and so in length.
    assert abs(slope(length)) <= 0.1
    exact = brentq(slope.slope, 0.0, corners.min() + 2.0 / rises.min() + 1e4)
    reach = 0.1 / np.min(
        [rise for corner, rise in zip(corners, rises, strict=True) if corner < exact]
    )
    assert abs(length - exact) <= reach * (1 + 1e-9)
    assert steepness > 1e3 or len(slope.lengths) < 50


def test_it_never_overshoots_what_the_objective_can_bear():
    """The objective falls along the step, whatever the corners."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        corners, rises = rng.uniform(0, 3, size=6), 10.0 ** rng.uniform(-1, 4, size=6)
        length = search(hinges(corners, rises, start=-1.0), -1.0)
        change = -length + 0.5 * rises @ np.maximum(length - corners, 0.0) ** 2
        assert change < 0


def test_a_slope_that_jumps_ends_at_the_jump():
    """No point has a small slope; what comes back is close to the corner of the objective."""
    length = search(lambda length: -1.0 if length < 0.37 else 5.0, -1.0)
    assert length == pytest.approx(0.37, rel=1e-6)


@pytest.mark.parametrize(
    "slope",
    [
        lambda length: min(-1.0 + 2e3 * length, 0.11),
        lambda length: -1.0 + 1e4 * max(length - 0.9, 0.0),
    ],
    ids=["plateau after the root", "plateau before the root"],
)
def test_a_long_plateau_is_no_reason_to_creep(slope):
    """One end stays where it is: plain regula falsi would need more than all its trials."""
    counted = Counted(slope)
    assert abs(slope(search(counted, -1.0))) <= 0.1
    assert len(counted.lengths) < 50


def test_a_small_slope_far_above_the_start_is_refused():
    """Rare classes: the step of an intercept without curvature is 1e14 times too long."""
    corner = 1e-14
    slope = lambda length: -1.0 if length < corner else min(-1.0 + 1e15 * (length - corner), 0.08)  # noqa: E731
    found = slope_root(slope, -1.0, lambda length: 0.08 * length if length > 2e-14 else -length)
    assert 0 < found <= 2e-14


def test_where_no_point_is_lower_the_length_is_zero():
    assert slope_root(lambda length: 1.0, -1e-20, lambda length: length) == 0.0


@pytest.mark.parametrize(("value", "fallen"), [(1.0, True), (0.5, True), (1.0 + 1e-9, False)])
def test_a_risen_value_is_noticed(value, fallen):
    assert has_fallen(value, 1.0) is fallen
    assert has_fallen(value - 2.0, -1.0) is fallen
    assert not has_fallen(float("nan"), 1.0)
