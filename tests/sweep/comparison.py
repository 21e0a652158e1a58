"""One classifier and SVC on one problem, and what follows from the pair of figures."""

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import recall_score
from sklearn.svm import SVC

import zeronorm as z
from zeronorm.exceptions import FeatureScaleWarning

from .problems import Problem, make_problem

#: What all are compared with: no choice to make, and known to everybody.
REFERENCE = SVC(C=10.0)

#: Settings that nobody tuned. A new classifier goes here, or below with the reason.
CLASSIFIERS: dict[str, Any] = {
    "SparseSVC": z.SparseSVC(random_state=0),
    "SparseLargeMarginClassifier": z.SparseLargeMarginClassifier(8, C=10.0, random_state=0),
    "ReducedSVC": z.ReducedSVC(20, C=10.0, random_state=0),
    "ZeroNormSVC": z.ZeroNormSVC(C=3.0, random_state=0),
    "ZeroNormSVC-B": z.ZeroNormSVC("B", C=3.0, random_state=0),
    "OneNormSVC": z.OneNormSVC(C=10.0, random_state=0),
    "LinearProgrammingSVC": z.LinearProgrammingSVC(C=3.0, random_state=0),
    "SparsityControlledSVC": z.SparsityControlledSVC(C=10.0, random_state=0),
    "IRWLSClassifier": z.IRWLSClassifier("gcv", gamma="gcv", random_state=0),
    "RelevanceVectorClassifier": z.RelevanceVectorClassifier(random_state=0),
    "SparseProbitClassifier": z.SparseProbitClassifier(random_state=0),
    "SVCReducer": z.SVCReducer(SVC(C=10.0), n_terms=10, random_state=0),
    "SparseKernelFisher": z.SparseKernelFisher(20, random_state=0),
}
LEFT_OUT = {
    "AROMClassifier": "linear, or a polynomial: SVC with the rbf kernel is no measure for it",
    "CrossEntropySVC": "a random search: minutes where the others take seconds",
}


class WithoutATenth(SVC):
    """The reference, learned from nine of ten rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Leave out rows at random, but the first one of each class."""
        kept = np.random.RandomState(0).uniform(size=len(y)) < 0.9
        kept[np.unique(y, return_index=True)[1]] = True
        weight = None if sample_weight is None else np.asarray(sample_weight)[kept]
        return super().fit(X[kept], y[kept], weight)


#: How often the reference is behind itself: what chance alone does to a classifier as good.
YARDSTICK = {"SVC without a tenth": WithoutATenth(C=10.0)}

#: As good as the reference, and clearly better than guessing: then a guard has no reason to warn.
AS_GOOD, CLEARLY_BETTER = 0.02, 0.2


@dataclass(frozen=True)
class Trial:
    """A classifier on a problem: balanced accuracies on fresh rows, and what it said.

    ``found`` is NaN where it refused, or ended with an error that was not meant for the user.
    """

    classifier: str
    problem: str
    seed: int
    guessing: float
    reference: float
    found: float
    said: tuple[str, ...] = ()
    has_guard: bool = False
    refusal: str = ""
    accident: str = ""

    @property
    def difference(self) -> float:
        """Balanced accuracy less that of the reference; NaN without a model."""
        return self.found - self.reference

    def verdict(self, gap: float) -> str:
        """Return one of "accident", "refused", "silent", "warned", "needless", "fine"."""
        if self.accident:
            return "accident"
        if self.refusal:
            return "refused"
        if self.difference < -gap:
            return "warned" if self.said else "silent"
        is_good = self.difference >= -AS_GOOD and self.found > self.guessing + CLEARLY_BETTER
        return "needless" if self.has_guard and is_good else "fine"


def compare(problem: str, seed: int, classifiers: dict[str, Any]) -> list[Trial]:
    """Fit the reference and each classifier on the problem of this name and seed."""
    data = make_problem(problem, seed)
    guessing = 1.0 / len(np.unique(data.y_fresh))
    reference = balanced_accuracy(fitted(REFERENCE, data), data)
    return [
        Trial(name, problem, seed, guessing, reference, **attempt(model, data))
        for name, model in classifiers.items()
    ]


def attempt(model: Any, data: Problem) -> dict[str, Any]:
    """What comes of one classifier: its accuracy and warnings, or why there is none."""
    model = with_room(model, data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = balanced_accuracy(fitted(model, data), data)
        except Exception as error:
            # A sentence for the user is a plain ValueError; anything else happened by accident.
            kind = "refusal" if type(error) is ValueError else "accident"
            return {"found": np.nan, kind: f"{type(error).__name__}: {error}"[:200]}
    said = [w for w in caught if issubclass(w.category, UserWarning)]
    # A hint at the data says nothing of the model.
    said = [w for w in said if not issubclass(w.category, FeatureScaleWarning)]
    return {
        "found": found,
        "said": tuple(str(w.message) for w in said),
        "has_guard": any(is_guard(w) for w in said),
    }


def is_guard(warning: Any) -> bool:
    """Whether the warning says that the model is bad; not of a solver or the features alone."""
    if issubclass(warning.category, z.exceptions.FeatureScaleWarning):
        return False
    is_certificate = issubclass(warning.category, ConvergenceWarning)
    return not is_certificate or re.search("guess", str(warning.message)) is not None


def fitted(model: Any, data: Problem) -> Any:
    """Return a fitted copy."""
    weights = {} if data.sample_weight is None else {"sample_weight": data.sample_weight}
    return clone(model).fit(data.X, data.y, **weights)


def balanced_accuracy(model: Any, data: Problem) -> float:
    """Mean over the classes of the share of their fresh rows that is recognised."""
    classes = np.unique(data.y_fresh)
    predicted = model.predict(data.X_fresh)
    found = recall_score(data.y_fresh, predicted, labels=classes, average="macro", zero_division=0)
    return float(found)


def with_room(model: Any, data: Problem) -> Any:
    """Raise a given number of terms to two a class, where the rows allow it."""
    terms = model.get_params().get("n_terms")
    if not isinstance(terms, int):
        return model
    least = 2 * len(np.unique(data.y))
    return clone(model).set_params(n_terms=max(2, min(max(terms, least), len(data.y) // 2)))
