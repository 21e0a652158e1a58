"""Limits of predicted numbers: in a decision, and in files."""

import numpy as np
import pytest

from tests.test_model import expansion
from zeronorm.decisions import Number, decision_from_dict
from zeronorm.limits import Limits
from zeronorm.model import Model

PAIR = Limits((-1.0, 0.0), (2.0, 0.5))


def test_values_are_cut_off_target_by_target():
    values = np.array([[-3.0, 0.2], [1.0, -7.0], [9.0, 9.0]])
    expected = [[-1.0, 0.2], [1.0, 0.0], [2.0, 0.5]]
    np.testing.assert_array_equal(Number(PAIR).predict(values), expected)
    one = Number(Limits((-1.0,), (2.0,)))
    np.testing.assert_array_equal(one.predict(values[:, :1]), [-1.0, 1.0, 2.0])
    single = values.astype(np.float32)
    assert Number(PAIR).predict(single).dtype == np.float32


def test_around_targets():
    targets = np.array([[0.0, 5.0], [10.0, 5.0], [4.0, 5.0]])
    assert Limits.around(targets, 0.5) == Limits((-5.0, 5.0), (15.0, 5.0))
    huge = Limits.around(np.array([[-1e308], [1e308]]), 1.0)
    assert np.isfinite([huge.low, huge.high]).all() and huge.low[0] <= -1e308


def test_files_with_and_without():
    for decision in (Number(), Number(PAIR)):
        model = Model(expansion(2), decision)
        data = model.to_dict()
        assert data["version"] == (2 if decision.limits else 1)
        again = Model.from_dict(data)
        assert again.decision == decision and again.to_dict() == data


def test_limits_must_fit_the_outputs():
    with pytest.raises(ValueError, match="Limits of 2 targets do not go with 1 outputs"):
        Model(expansion(), Number(PAIR))


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (None, "not two lists"),
        ([[1.0], []], "not two lists"),
        ([[1.0], [2.0, 3.0]], "two of a target"),
        ([["low"], [2.0]], "two of a target"),
        ([[3.0], [2.0]], "above the other"),
    ],
)
def test_damaged_limits(limits, sentence):
    with pytest.raises(ValueError, match=sentence):
        decision_from_dict({"kind": "number", "limits": limits})
    with pytest.raises(ValueError, match="its keys are not kind, limits"):
        decision_from_dict({"kind": "number", "limits": [[1.0], [2.0]], "more": 1})
