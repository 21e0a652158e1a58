"""The contract: a sentence for the user, or a model that is finite and can be used.

No warning of NumPy may escape, no call may hang, and a fit that fails leaves the estimator as it
was.
"""

import signal
import traceback
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.base import is_outlier_detector, is_regressor
from sklearn.utils import check_array

import zeronorm

#: A call that takes longer hangs; the slowest of the honest ones takes a few seconds.
SECONDS = 60

PACKAGE = str(Path(zeronorm.__file__).parent)

#: Functions whose errors about the user's input are scikit-learn's own sentences.
VALIDATION = (
    "validate_data(", "check_array(", "check_classification_targets(", "compute_class_weight(",
    "check_cv(", "check_random_state(", "clone(estimator).fit(",
)  # fmt: skip


#: Attributes that may be infinite, as documented: a term without part has all precision.
MAY_BE_INFINITE = {"prior_precision_", "intercept_precision_"}


class Breach(AssertionError):
    """A call that does not keep the contract."""


class Hang(Breach):
    """A call that takes too long."""


def check(call, seconds=SECONDS):
    """Fit, look at the model and use it; return it, or None after an error meant for the user."""
    with limit(call, seconds):
        X, y, options = call.arguments()
        model = call.model()
        before = vars(model).copy()
        if refusal(lambda: model.fit(X, y, **options), X) is None:
            if vars(model).keys() != before.keys():
                raise Breach(f"{call.estimator}: a fit that failed has left attributes behind")
            return None
        check_attributes(model)
        uses = check_classes, check_numbers, check_probabilities, check_selection, check_density
        for use in uses:
            use(model, X)
        return model


@contextmanager
def limit(call, seconds):
    """Interrupt a call that hangs, and name it."""

    def interrupt(*_):
        raise Hang(f"{call.estimator} is still running after {seconds:g} seconds: {call!r}")

    former = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


# --- errors ------------------------------------------------------------------------------------


def refusal(action, X=None):
    """Run ``action``; return its result, or None after an error that was meant for the user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for accident in (DeprecationWarning, FutureWarning):
            warnings.simplefilter("error", accident)
        if X is None or is_clean(X):
            warnings.simplefilter("error", RuntimeWarning)
        try:
            return action()
        except (ValueError, TypeError) as error:
            if not is_meant(error):
                raise Breach(f"an accident, not a message: {error!r}") from error
            return None


def is_clean(X):
    """Whether scikit-learn's own validation can sum X without a RuntimeWarning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            check_array(X, accept_sparse=True)
        except (ValueError, TypeError):
            return False
    return not caught


def is_meant(error):
    """Whether scikit-learn's validation or a ``raise`` of ours made the error, with a sentence."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    if not ours:
        return False
    if frames[-1] is ours[-1]:
        return frames[-1].line.startswith("raise ") and len(str(error)) > 20
    return any(name in ours[-1].line for name in VALIDATION)


# --- models ------------------------------------------------------------------------------------


def check_attributes(model):
    """Every fitted number is finite, but for the record, where a gap may be infinite."""
    for name, value in vars(model).items():
        if name.startswith("_") or not name.endswith("_") or name == "classes_":
            continue
        parts = value if isinstance(value, dict) else {name: value}
        for part, numbers in parts.items():
            numbers = numbers.data if sparse.issparse(numbers) else numbers
            if not is_numeric(numbers):
                continue
            may_be_infinite = isinstance(value, dict) or name in MAY_BE_INFINITE
            bad = np.isnan(numbers) if may_be_infinite else ~np.isfinite(numbers)
            require(not np.any(bad), model, f"{part} of {name} is not finite")


def is_numeric(value):
    """Whether the value is a number or an array of numbers."""
    return isinstance(value, (int, float, np.number, np.ndarray)) and (
        np.asarray(value).dtype.kind in "fiu"
    )


def check_classes(model, X):
    """Decision values are finite and the predictions are classes, or the rows are refused."""
    if not hasattr(model, "decision_function"):
        return
    classes = [-1, 1] if is_outlier_detector(model) else model.classes_
    values = refusal(lambda: model.decision_function(X), X)
    if values is None:
        return
    require(np.isfinite(values).all(), model, "decision values are not finite")
    predicted = refusal(lambda: model.predict(X), X)
    require(predicted is not None, model, "predict refuses what decision_function takes")
    require(len(predicted) == len(values), model, "as many predictions as rows")
    require(np.isin(predicted, classes).all(), model, "predictions are not classes")


def check_numbers(model, X):
    """Predictions of a regressor are finite, one for each row, or the rows are refused."""
    if not is_regressor(model):
        return
    values = refusal(lambda: model.predict(X), X)
    if values is not None:
        require(np.isfinite(values).all(), model, "predictions are not finite")
        require(len(values) == check_array(X, accept_sparse=True).shape[0], model, "one for a row")


def check_probabilities(model, X):
    """Probabilities are such."""
    if not hasattr(model, "predict_proba"):
        return
    found = refusal(lambda: model.predict_proba(X), X)
    if found is not None:
        require(((found >= 0) & (found <= 1)).all(), model, "probabilities outside 0 and 1")
        require(np.allclose(found.sum(axis=1), 1.0), model, "probabilities do not sum to one")


def check_selection(model, X):
    """A selector takes some of the columns, and hands over these."""
    if not hasattr(model, "get_support"):
        return
    support = model.get_support()
    require(0 < support.sum() == model.n_features_, model, "not the number of features it says")
    small = refusal(lambda: model.transform(X), X)
    require(small is not None, model, "transform refuses what fit took")
    require(small.shape[1] == support.sum(), model, "not the columns it says")


def check_density(model, X):
    """Log-densities are numbers, perhaps minus infinity far away, and rows can be drawn."""
    if not hasattr(model, "sample"):
        return
    values = refusal(lambda: model.score_samples(X), X)
    require(values is not None, model, "score_samples refuses what fit took")
    require(not np.isnan(values).any() and (values < np.inf).all(), model, "log-densities")
    drawn = refusal(lambda: model.sample(3, random_state=0), X)
    require(drawn is not None and np.isfinite(drawn).all(), model, "drawn rows are not finite")


def require(holds, model, sentence):
    """Raise a breach unless it holds."""
    if not holds:
        raise Breach(f"{type(model).__name__}: {sentence}")
