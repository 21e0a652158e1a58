"""Links learned from held-out values, beside a general optimiser and a known truth."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax

from zeronorm.decisions import Classes
from zeronorm.learned.calibration import calibrate
from zeronorm.links import Calibration


def two_classes(n=400, slope=2.5, seed=0):
    random = np.random.RandomState(seed)
    values = random.normal(size=n)
    return values[:, None], (random.uniform(size=n) < expit(slope * values)).astype(int)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_two_classes_are_a_sigmoid_of_largest_likelihood(seed, scale):
    values, codes = two_classes(seed=seed)
    weight = np.random.RandomState(seed).uniform(0.5, 2.0, len(codes))
    ours = calibrate(scale * values, codes, weight)
    size = np.bincount(codes, weights=weight)
    own = ((size + 1) / (size + 2))[codes]  # Platt's targets

    def loss(slope):
        right = expit(slope * np.where(codes == 1, 1, -1) * values[:, 0])
        return -weight @ (own * np.log(right) + (1 - own) * np.log1p(-right))

    found = minimize(loss, 1.0, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x
    assert scale * ours.slope == pytest.approx(found[0], rel=1e-5)
    np.testing.assert_allclose(
        ours(scale * values)[:, 1], expit(found[0] * values[:, 0]), atol=1e-5
    )


def test_many_rows_find_the_truth():
    values, codes = two_classes(100_000)
    assert calibrate(values, codes, np.ones(len(codes))).slope == pytest.approx(2.5, abs=0.05)


def test_several_classes_find_the_truth():
    random = np.random.RandomState(0)
    values = 2.0 * random.normal(size=(20_000, 3))
    truth = softmax(1.5 * values, axis=1)
    codes = (random.uniform(size=len(values))[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    found = calibrate(values, codes, np.ones(len(codes)))
    assert found.slope == pytest.approx(1.5, abs=0.05)
    np.testing.assert_allclose(found(values), softmax(found.slope * values, axis=1))


def test_separated_values_stay_finite_and_wrong_ones_do_not_turn_the_order_round():
    values, codes = np.r_[-np.ones(30), np.ones(30)][:, None], np.repeat([0, 1], 30)
    found = calibrate(values, codes, np.ones(60))
    # Platt's targets: one row more of each kind.
    np.testing.assert_allclose(found(values[[0, -1]])[:, 1], [1 / 32, 31 / 32], atol=1e-4)
    wrong = calibrate(-values, codes, np.ones(60))
    assert 0 < wrong.slope < 0.01
    assert np.isfinite(calibrate(0.0 * values, codes, np.ones(60)).slope)


def test_weights_are_multiplicities():
    values, codes = two_classes(60)
    weight = np.random.RandomState(1).randint(0, 4, 60)
    once = calibrate(values, codes, weight.astype(float))
    again = calibrate(values.repeat(weight, axis=0), codes.repeat(weight), np.ones(weight.sum()))
    assert once.slope == pytest.approx(again.slope, rel=0.02)  # the unit of the search differs


@pytest.mark.parametrize(
    "link", [{}, {"slope": "1"}, {"slope": -1.0}, {"slope": 1.0, "more": 1}, 3, [1.0]], ids=str
)
def test_a_damaged_link(link):
    flags = {"is_pairs": False, "breaks_ties": False, "zero_counts": False}
    with pytest.raises(ValueError, match="link"):
        Classes.from_fields([0, 1], "int64", link, **flags)


def test_a_link_in_a_file():
    link = Calibration(2.0)
    fields = Classes(["a", "b", "c"], link=link).to_dict()
    again = Classes.from_fields(**{key: fields[key] for key in fields if key != "kind"})
    assert again.link == link and "predict_proba" in again.answers
