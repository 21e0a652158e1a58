"""What errors and warnings say: every choice there is, and values as Python writes them."""

import inspect
import re
import warnings

import numpy as np
import pytest

from tests.data import moons
from tests.fuzz.estimators import all_estimators
from zeronorm import SparseLargeMarginClassifier, SparseSVC, SparseSVR, ZeroNormSVC
from zeronorm.checks import shown

#: What a parameter that takes such a thing calls it.
WORDS = {
    "float": "number",
    "int": "integer",
    "sequence": "sequence",
    "bool": "True",
    "splitter": "splitter",
    "callable": "function",
    "dict": "dict",
}


def documented(estimator):
    """Name and type of every parameter, as its docstring has them."""
    text = inspect.getdoc(estimator)
    part = text[text.index("Parameters\n") : text.index("Attributes\n")]
    for names, kind in re.findall(r"^([\w, ]+) : (.+(?:\n .+)?)$", part, re.MULTILINE):
        kind = kind.split("\n")[0]
        for name in names.split(", "):
            if name in inspect.signature(estimator).parameters:
                yield name, re.sub(r",? (default=.*|optional)", "", kind)


def choices(kind):
    """Words that a message on a parameter of this type must have."""
    quoted = set(re.findall(r"[\"'](\w+)[\"']", kind))
    words = {word for name, word in WORDS.items() if re.search(rf"\b{name}\b", kind)}
    return quoted | words


CASES = [
    (estimator, name, kind)
    for estimator in all_estimators()
    for name, kind in documented(estimator)
    if re.search(r"[\"']", kind)
]


def refused(estimator, **parameters):
    """What a fit says of a parameter that is none."""
    X, y = moons(40)
    with pytest.raises((ValueError, TypeError)) as error, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator(**parameters).fit(X, y)
    return str(error.value)


@pytest.mark.parametrize(
    ("estimator", "name", "kind"), CASES, ids=[f"{e.__name__}-{n}" for e, n, _ in CASES]
)
def test_every_choice_is_said(estimator, name, kind):
    message = refused(estimator, **{name: "no such thing"})
    assert "'no such thing'" in message
    assert not {word for word in choices(kind) if word not in message}, message


def test_there_are_cases():
    names = {(estimator.__name__, name) for estimator, name, _ in CASES}
    assert {("SparseSVC", "C"), ("SparseSVC", "gamma"), ("IRWLSClassifier", "lam")} <= names
    assert len(CASES) > 60


@pytest.mark.parametrize("estimator", all_estimators(), ids=lambda estimator: estimator.__name__)
def test_no_message_has_types_of_numpy(estimator):
    """Numbers that no parameter takes, from an array as they come from a search."""
    for name in inspect.signature(estimator).parameters:
        if name in ("random_state", "n_jobs", "estimator", "kernel"):
            continue
        try:
            message = refused(estimator, **{name: np.float64(-7.5)})
        except pytest.fail.Exception:
            continue  # it may be any number
        assert "np." not in message and "numpy." not in message.replace("numpy.inf", ""), message


@pytest.mark.parametrize("label", [1.0, np.float64(1.0), np.str_("one"), np.int8(1), True])
def test_labels_are_values(label):
    X, y = moons(30)
    labels = np.array([label] * len(y), dtype=object if isinstance(label, str) else None)
    with pytest.raises(ValueError, match="one class only") as error:
        ZeroNormSVC().fit(X, labels)
    assert "np." not in str(error.value)


def test_a_guess_is_a_value():
    X, y = moons(60)
    with pytest.warns(UserWarning, match=r"Always guessing [12]\.0 is wrong"):
        ZeroNormSVC(C=1e-3).fit(X, y + 1.0)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(1.0), "1.0"),
        (np.str_("a"), "'a'"),
        ([np.int64(1), (np.float32(0.5),)], "[1, (0.5,)]"),
        ({"a": np.True_}, "{'a': True}"),
        (None, "None"),
        ("cv", "'cv'"),
    ],
)
def test_shown(value, text):
    assert shown(value) == text


@pytest.mark.parametrize("value", ["grid", None, [], [1.0, "cv"], [1.0, -1.0], -1.0, np.nan])
def test_costs_and_widths_of_a_choice(value):
    X, y = moons(30)
    for estimator, name in ((SparseSVC, "C"), (SparseSVC, "gamma"), (SparseSVR, "epsilon")):
        with pytest.raises(ValueError, match=f"{name} .*'cv'.*sequence"):
            estimator(**{name: value}).fit(X, y)


def test_labels_of_bytes_get_the_words_of_scikit_learn():
    X, y = moons(20)
    # Before 1.7 it warns, which is an error here.
    refusals = TypeError, FutureWarning
    with pytest.raises(refusals, match="^Support for labels represented as bytes"):
        ZeroNormSVC().fit(X, np.array([b"a", b"b"])[y])
    with pytest.raises(TypeError, match="cannot be put in an order"):
        ZeroNormSVC().fit(X, np.where(y == 1, np.array("a", dtype=object), 0))


@pytest.mark.parametrize(
    "model",
    [
        SparseSVC(10, C=1.0, gamma=1.0),
        SparseSVR(10, C=1.0, gamma=1.0, epsilon=0.1),
        SparseLargeMarginClassifier(10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_more_terms_than_rows_that_count(model):
    """Rows without weight are as good as absent."""
    X, y = moons(40)
    weight = np.zeros(40)
    weight[np.r_[np.flatnonzero(y)[:3], np.flatnonzero(y == 0)[:3]]] = 1.0
    for given in ((X, y, weight), (X[weight > 0], y[weight > 0])):
        with pytest.raises(ValueError, match="n_terms=10 is more than the 6 training rows"):
            model.fit(*given)
