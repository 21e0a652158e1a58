"""Unhappy input to every estimator: a sentence or a usable model; and the instrument itself.

``make fuzz`` makes ten thousand such calls and lists every distinct failure.
"""

import inspect
import os
import signal
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVC

from tests import fuzz
from tests.fuzz import Breach, Call, Table, calls, check
from tests.fuzz.calls import ESTIMATORS, LEFT_OUT, PARAMETERS
from tests.fuzz.contract import SECONDS, Hang, is_meant, refusal
from tests.fuzz.hunt import batch, hunt, kind_of, smallest
from tests.fuzz.tables import ILLEGAL_TABLES, TABLES

# Deterministic, and no shrinking: a call is a few words, and a failing one may be slow.
FEW = settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_a_sentence_or_a_usable_model():
    found = hunt(list(ESTIMATORS), 200, 0, SECONDS)
    if found.failures:
        pytest.fail(str(found))
    # Were nearly all calls refused, the test would say nothing of models.
    assert found.models > 50 and found.refusals > 25


#: Calls that once failed or did not end, and whether they are refused.
FAR = Table("very far away", 9, 2, seed=4, form="float32")
KNOWN = [
    (Call("AROMClassifier", {"C": 1e-12}, Table("integers", 6, 40), weights="tiny"), True),
    (Call("AROMClassifier", {"cv": 2.5}, Table("normal", 2, 1), weights="one tiny"), False),
    (Call("ZeroNormSVC", {}, Table("normal", 4, 1), labels="three", weights="tiny"), False),
    (Call("SVRReducer", {"estimator": SVC(kernel="linear")}, FAR, "one row each", "small"), True),
]


@pytest.mark.parametrize(("call", "is_refused"), KNOWN, ids=lambda value: type(value).__name__)
def test_what_once_failed(call, is_refused):
    assert (check(call) is None) == is_refused


# --- the calls ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_has_values_to_draw(name):
    known = set(inspect.signature(ESTIMATORS[name]).parameters) - LEFT_OUT
    assert known <= PARAMETERS.keys()


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_of_finite_numbers(kind):
    X = Table(kind, rows=5, columns=3).make()
    assert X.shape == (5, 3) and np.isfinite(X).all()


@pytest.mark.parametrize("kind", ILLEGAL_TABLES)
@pytest.mark.parametrize("name", ["ZeroNormSVC", "SparseKernelDensity", "AROMSelector"])
def test_what_is_no_table_of_finite_numbers_is_refused(name, kind):
    assert check(Call(name, {}, Table(kind))) is None


@FEW
@given(calls())
def test_a_call_is_reproduced_by_what_it_prints(call):
    again = eval(repr(call), dict(vars(fuzz)))
    assert repr(again) == repr(call)
    for one, other in zip(again.arguments(), call.arguments(), strict=True):
        if sparse.issparse(one):
            one, other = one.toarray(), other.toarray()
        np.testing.assert_equal(one, other)


# --- the contract ------------------------------------------------------------------------------


class Careless(ClassifierMixin, BaseEstimator):
    """A classifier that breaks the contract in the way it is told."""

    def __init__(self, fault="none"):
        self.fault = fault

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.coef_ = np.array([np.nan if self.fault == "attribute" else 1.0])
        if self.fault == "index":
            np.zeros(2)[len(y) + 7]
        if self.fault == "message":
            raise ValueError("a message from outside the package")
        if self.fault == "warning":
            np.log(np.zeros(1))
        if self.fault == "hang":
            time.sleep(30)
        return self

    def decision_function(self, X):
        return np.full(len(X), np.nan if self.fault == "values" else 1.0)

    def predict(self, X):
        return np.full(len(X), 99) if self.fault == "classes" else self.classes_[[0] * len(X)]


FAULTS = {
    "attribute": (Breach, "coef_ is not finite"),
    "index": (IndexError, "out of bounds"),
    "message": (Breach, "an accident"),
    "warning": (RuntimeWarning, "divide by zero"),
    "values": (Breach, "decision values are not finite"),
    "classes": (Breach, "predictions are not classes"),
    "hang": (Hang, "Careless is still running after 0.2 seconds: Call"),
}


@pytest.fixture
def careless(monkeypatch):
    monkeypatch.setitem(ESTIMATORS, "Careless", Careless)
    return lambda fault: Call("Careless", {"fault": fault}, Table("normal", rows=16))


@pytest.mark.parametrize("fault", FAULTS)
def test_the_contract_sees(careless, fault):
    expected, message = FAULTS[fault]
    with pytest.raises(expected, match=message):
        check(careless(fault), 0.2 if fault == "hang" else 60)


def test_the_contract_is_content_with_a_good_model(careless):
    assert isinstance(check(careless("none")), Careless)


def test_errors_that_are_meant_for_the_user():
    def error_of(action):
        with pytest.raises((ValueError, TypeError)) as caught:
            action()
        return caught.value

    model, (X, y) = ESTIMATORS["OneNormSVC"], (np.eye(4), [0, 1, 0, 1])
    assert is_meant(error_of(lambda: model(C=-1.0).fit(X, y)))
    assert is_meant(error_of(lambda: model().fit(np.full((4, 1), np.nan), y)))
    assert is_meant(error_of(lambda: model(class_weight="heavy").fit(X, y)))
    assert not is_meant(error_of(lambda: np.ones(3) @ np.ones(4)))
    assert not is_meant(error_of(lambda: "a" + 1))
    assert refusal(lambda: model(C=-1.0).fit(X, y), X) is None
    assert refusal(lambda: model().fit(X, y), X).n_terms_ >= 0


# --- the hunt ----------------------------------------------------------------------------------


def test_a_failure_is_made_small():
    def failure(call):
        if call.table.rows > 5 and "C" in call.parameters:
            return ValueError(f"{call.table.rows} rows are too many")
        return None

    call = Call("OneNormSVC", {"C": 2.0, "tol": 0.1}, Table("huge", 30, 8, 3, "csr"), "words")
    small = smallest(call, kind_of(failure(call)), failure)
    assert small == Call("OneNormSVC", {"C": 2.0}, Table("normal", 6, 1, 3), "two")


def test_failures_of_one_cause_count_once(careless):
    def error_of(fault, rows):
        try:
            check(Call("Careless", {"fault": fault}, Table("normal", rows)))
        except Exception as error:
            return error

    assert kind_of(error_of("index", 4)) == kind_of(error_of("index", 9))
    assert kind_of(error_of("index", 4)) != kind_of(error_of("values", 4))


def test_the_hunt_goes_on_after_a_crash(monkeypatch):
    calls_made = [Call("OneNormSVC", {"C": C}, Table()) for C in (1.0, 2.0)]

    def crashing(names, count, start, limit):
        yield "model", calls_made[0]
        yield f"OneNormSVC ends the process, {count} calls", calls_made[1]

    monkeypatch.setattr("tests.fuzz.hunt.batch", crashing)
    said = []
    found = hunt(["OneNormSVC"], 600, 7, 60, lambda text, done: said.append((bool(text), done)))
    assert found.models == 3 and found.refusals == 0
    assert {kind: len(calls) for kind, calls in found.failures.items()} == {
        "OneNormSVC ends the process, 250 calls": 2,
        "OneNormSVC ends the process, 100 calls": 1,
    }
    # Each kind once, with its call, and how many are done after each batch.
    assert said == [(True, 0), (False, 250), (False, 500), (True, 500), (False, 600)]
    assert f"check({calls_made[1]!r})" in str(found)


def test_a_worker_that_hangs_or_dies_is_reported(monkeypatch):
    call = Call("OneNormSVC", {}, Table())
    for target, message in ((sleeping, "hangs outside Python"), (dying, "ends the process")):
        monkeypatch.setattr("tests.fuzz.hunt.work", target)
        assert list(batch([], 1, 0, 0.2)) == [(f"OneNormSVC {message}", call)]


def sleeping(names, count, start, limit, pipe):
    pipe.send(("call", Call("OneNormSVC", {}, Table())))
    signal.pause()


def dying(names, count, start, limit, pipe):
    pipe.send(("call", Call("OneNormSVC", {}, Table())))
    os.abort()
