"""Links learned from held-out values, beside scikit-learn's own calibration and a known truth."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, softmax
from sklearn.calibration import _SigmoidCalibration

from zeronorm.decisions import Classes
from zeronorm.learned.calibration import calibrate
from zeronorm.links import Calibration


def two_classes(n=400, slope=2.5, offset=-0.7, seed=0):
    random = np.random.RandomState(seed)
    values = random.normal(size=n)
    return values[:, None], (random.uniform(size=n) < expit(slope * values + offset)).astype(int)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_two_classes_are_platts_sigmoid(seed, scale):
    values, codes = two_classes(seed=seed)
    weight = np.random.RandomState(seed).uniform(0.5, 2.0, len(codes))
    weight /= weight.mean()
    ours = calibrate(scale * values, codes, weight)
    platt = _SigmoidCalibration().fit(scale * values[:, 0], codes, weight)
    found, expected = ours(scale * values)[:, 1], platt.predict(scale * values[:, 0])
    np.testing.assert_allclose(found, expected, atol=2e-4)
    np.testing.assert_allclose(ours(scale * values).sum(axis=1), 1.0)


def test_many_rows_find_the_truth():
    values, codes = two_classes(100_000)
    found = calibrate(values, codes, np.ones(len(codes)))
    assert found.slope == pytest.approx(2.5, abs=0.05)
    assert found.offsets[0] == pytest.approx(-0.7, abs=0.03)


def test_several_classes_find_the_truth_and_the_least_loss():
    random, offsets = np.random.RandomState(0), np.array([0.5, 0.0, -1.0])
    values = 2.0 * random.normal(size=(20_000, 3))
    truth = softmax(1.5 * values + offsets, axis=1)
    codes = (random.uniform(size=len(values))[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    found = calibrate(values, codes, np.ones(len(codes)))
    assert found.slope == pytest.approx(1.5, abs=0.05)
    np.testing.assert_allclose(np.array(found.offsets) - found.offsets[1], offsets, atol=0.1)

    def loss(point):
        probability = softmax(point[0] * values + point[1:], axis=1)
        return -np.log(probability[np.arange(len(codes)), codes]).mean()

    other = minimize(loss, np.array([1.0, 0.0, 0.0, 0.0]))
    assert loss(np.append(found.slope, found.offsets)) <= other.fun + 1e-5


def test_separated_values_stay_finite_and_a_useless_value_is_the_share():
    values, codes = np.r_[-np.ones(10), np.ones(30)][:, None], np.r_[np.zeros(10), np.ones(30)]
    found = calibrate(values, codes.astype(int), np.ones(40))
    # Platt's targets: one row more of each kind.
    np.testing.assert_allclose(found(values[[0, -1]])[:, 1], [1 / 12, 31 / 32], atol=1e-3)
    flat = calibrate(np.zeros((40, 1)), codes.astype(int), np.ones(40))
    assert flat(np.zeros((1, 1)))[0, 1] == pytest.approx(0.75, abs=0.05)
    # Values that are wrong do not turn the order round.
    assert calibrate(-values, codes.astype(int), np.ones(40)).slope > 0


def test_weights_are_multiplicities():
    values, codes = two_classes(600)
    weight = np.random.RandomState(1).randint(1, 4, 600)
    once = calibrate(values, codes, weight.astype(float))
    again = calibrate(values.repeat(weight, axis=0), codes.repeat(weight), np.ones(weight.sum()))
    # Not quite: Platt's targets count the rows in units of the mean weight.
    np.testing.assert_allclose(once(values), again(values), atol=0.01)
    same = calibrate(values, codes, 1e-30 * weight)
    np.testing.assert_allclose(once(values), same(values), atol=1e-9)


@pytest.mark.parametrize(
    "link",
    [
        {"slope": 1.0},
        {"slope": "1", "offsets": [0.0]},
        {"slope": 1.0, "offsets": 0.0},
        {"slope": 1.0, "offsets": [None]},
        {"slope": 1.0, "offsets": [0.0, 0.0]},
        3,
    ],
    ids=str,
)
def test_a_damaged_link(link):
    with pytest.raises(ValueError):
        flags = {"is_pairs": False, "breaks_ties": False, "zero_counts": False}
        Classes.from_fields([0, 1], "int64", link, **flags)


def test_a_link_in_a_file():
    link = Calibration(2.0, (0.25, -1.0, 0.0))
    fields = Classes(["a", "b", "c"], link=link).to_dict()
    again = Classes.from_fields(**{key: fields[key] for key in fields if key != "kind"})
    assert again.link == link and "predict_proba" in again.answers
