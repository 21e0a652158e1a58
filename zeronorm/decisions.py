"""Decisions: what the values of a function mean.

A class by sign, by the largest or by vote, and its probability by a link; a number; scores of
components; an outlier; a density. The one place where this is decided: estimators, models and the
command line ask here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import all_finite, as_on, cast, is_numpy, namespace, take, to_numpy
from zeronorm.checks import check_positive, is_number, shown
from zeronorm.files import LABEL_TYPES, is_label, labels_of
from zeronorm.limits import Limits
from zeronorm.links import LINKS, Calibration, probabilities
from zeronorm.pairs import check_pair_scores, pairs_of, vote_scores, votes, worst_scores


@dataclass(frozen=True)
class DecisionRule:
    """How the outputs of a function become classes.

    ``is_pairs``: the outputs are pairs of classes, one against one; else the largest output wins.
    ``pair_scores`` says which class wins: by "votes" that with most of them, the first of several;
    by "worst" that whose worst value among its pairs is largest. ``breaks_ties``: the summed
    confidences decide between classes with as many votes. ``zero_counts``: with two classes an
    output of zero is the second class, as in libsvm.
    """

    n_classes: int
    is_pairs: bool = False
    breaks_ties: bool = False
    zero_counts: bool = False
    pair_scores: str = "votes"

    @property
    def n_outputs(self) -> int:
        """Number of outputs that it decides by."""
        if self.n_classes == 2:
            return 1
        return len(pairs_of(self.n_classes)) if self.is_pairs else self.n_classes

    def problems(self, codes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows (by number) and labels -1/+1 that each output is trained on, of class numbers."""
        if self.n_classes > 2 and self.is_pairs:
            found = []
            for first, second in pairs_of(self.n_classes):
                rows = np.flatnonzero((codes == first) | (codes == second))
                found.append((rows, np.where(codes[rows] == first, 1.0, -1.0)))
            return found
        positive = [1] if self.n_classes == 2 else range(self.n_classes)
        all_rows = np.arange(len(codes))
        return [(all_rows, np.where(codes == code, 1.0, -1.0)) for code in positive]

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Class numbers of rows with these outputs, shape (rows,) or (rows, outputs)."""
        if self.n_classes == 2:
            values = values[:, 0] if values.ndim == 2 else values
            is_second = values >= 0 if self.zero_counts else values > 0
            return cast(is_second, np.int64)
        if not self.is_pairs:
            return namespace(values).argmax(values, axis=1)
        if self.pair_scores == "worst":
            return namespace(values).argmax(worst_scores(values, self.n_classes), axis=1)
        values = to_numpy(values)
        if self.breaks_ties:
            return vote_scores(values, self.n_classes).argmax(axis=1)
        # In libsvm a pair with a value of zero votes for the second class, in the scores of
        # scikit-learn for the first.
        return votes(values > 0, self.n_classes).argmax(axis=1)


def check_finite(values: np.ndarray, kernel: str) -> None:
    """Raise ValueError if decision values overflow."""
    if not all_finite(values):
        raise ValueError(
            "Some decision values are not finite: these rows lie far outside what the "
            f"{kernel} kernel can represent. Scale them like the training data."
        )


class Decision:
    """What the values of a function mean; ``answers`` are the methods that a model then has."""

    kind: str
    answers: tuple[str, ...]

    def check(self, function: Any) -> None:
        """Raise ValueError unless the function has outputs to decide by."""
        if function.n_outputs != 1:
            raise ValueError(
                f"A {self.kind} decision does not go with {function.n_outputs} outputs."
            )

    def to_dict(self) -> dict[str, Any]:
        """Describe the decision as plain data."""
        return {"kind": self.kind, **vars(self)}


class Values(Decision):
    """Nothing is known of the values, as in the file of an expansion."""

    kind, answers = "values", ("predict", "decision_function")

    def check(self, function: Any) -> None:
        """Take any function."""

    def predict(self, outputs: np.ndarray) -> np.ndarray:
        """Say why there are no predictions."""
        raise ValueError(
            "This is a kernel expansion alone, without classes or anything else to predict: take "
            "decision_function, or save the estimator itself with zeronorm.save."
        )


class Classes(Decision):
    """A class by a rule, and its probability where there is a link.

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        The labels.
    rule : DecisionRule, optional
        By default the sign for two classes, the largest output beyond.
    link : {"logistic", "probit"} or Calibration, optional
        What turns decision values into probabilities.
    """

    kind = "classes"

    def __init__(
        self,
        classes: Any,
        rule: DecisionRule | None = None,
        link: str | Calibration | None = None,
    ) -> None:
        self.classes = np.asarray(classes)
        self.rule = DecisionRule(len(self.classes)) if rule is None else rule
        self.link = link
        if len(self.classes) < 2 or len(set(self.classes.tolist())) < len(self.classes):
            raise ValueError("The classes are not two or more different labels.")
        is_known = isinstance(link, Calibration) or link in (None, *LINKS)
        if self.rule.is_pairs and self.rule.n_classes > 2 and link is not None:
            # A link is of scores, and votes are none; the named ones are of outputs.
            is_known = isinstance(link, Calibration) and self.rule.pair_scores == "worst"
        if self.rule.n_classes != len(self.classes) or not is_known:
            raise ValueError(f"{self.rule} with link {shown(link)} is no rule for these classes.")

    @property
    def answers(self) -> tuple[str, ...]:  # type: ignore[override]
        """Methods of the model."""
        always = ("predict", "decision_function")
        return always if self.link is None else (*always, "predict_proba", "predict_log_proba")

    def check(self, function: Any) -> None:
        """Raise ValueError unless the outputs are those of the classes or their pairs."""
        votes, n_classes = getattr(function, "vote_classes", None), len(self.classes)
        rule = (self.rule.pair_scores, n_classes if self.rule.is_pairs else 0)
        is_other_vote = votes is not None and (function.pair_scores, votes) != rule
        if function.n_outputs != self.rule.n_outputs or is_other_vote:
            raise ValueError(f"{n_classes} classes do not go with {function.n_outputs} outputs.")

    def predict(self, outputs: np.ndarray) -> np.ndarray:
        """Return the classes of rows with these outputs."""
        codes = self.rule.codes(outputs)
        if is_numpy(codes) or self.classes.dtype.kind in "OSU":  # other libraries have no texts
            return self.classes[to_numpy(codes)]
        return take(as_on(self.classes, codes), codes)

    def predict_proba(self, outputs: np.ndarray) -> np.ndarray:
        """Return the probability of every class."""
        assert self.link is not None
        if self.rule.is_pairs and self.rule.n_classes > 2:
            outputs = worst_scores(outputs, self.rule.n_classes)
        return probabilities(outputs, self.link)

    def to_dict(self) -> dict[str, Any]:
        """Describe the decision as plain data; ValueError if JSON does not have such labels."""
        labels, dtype = self.classes.tolist(), self.classes.dtype
        name = "str" if dtype.kind == "U" else dtype.name
        strange = [label for label in labels if not is_label(label)]
        if name not in LABEL_TYPES or strange:
            raise ValueError(
                f"Class labels such as {shown([*strange, *labels][0])} ({dtype}) cannot be saved: "
                "JSON has texts, integers, finite numbers and truth values."
            )
        rule = asdict(self.rule)  # also of one that was pickled before it had all fields
        del rule["n_classes"]
        if rule["pair_scores"] == "votes":
            del rule["pair_scores"]  # which releases before it do not know
        link: Any = self.link
        if isinstance(link, Calibration):
            link = {"slope": link.slope}
        return {"kind": self.kind, "labels": labels, "dtype": name, **rule, "link": link}

    @classmethod
    def from_fields(cls, labels: Any, dtype: Any, link: Any, **flags: Any) -> Classes:
        """Rebuild the decision from what :meth:`to_dict` wrote; ValueError if it is damaged."""
        if not isinstance(labels, list) or not all(map(is_label, labels)):
            raise ValueError("The decision is damaged: labels is not a list of labels.")
        by = flags.pop("pair_scores", "votes")
        check_pair_scores(by)
        if not all(isinstance(flag, bool) for flag in flags.values()):
            raise ValueError("The decision is damaged: its rule is not true or false.")
        if isinstance(link, dict):
            link = Calibration.from_dict(link)
        if not isinstance(link, (str, Calibration, type(None))):
            raise ValueError("The decision is damaged: its link is none that is known.")
        rule = DecisionRule(len(labels), pair_scores=by, **flags)
        return cls(labels_of(labels, dtype), rule, link)


@dataclass(frozen=True)
class Number(Decision):
    """The value itself, of regression; one for each target, within limits where there are any."""

    limits: Limits | None = None

    kind, answers = "number", ("predict",)

    def check(self, function: Any) -> None:
        """Raise ValueError unless there are limits for each output, or none."""
        if self.limits is not None and len(self.limits.low) != function.n_outputs:
            raise ValueError(
                f"Limits of {len(self.limits.low)} targets do not go with {function.n_outputs} "
                "outputs."
            )

    def predict(self, outputs: np.ndarray) -> np.ndarray:
        """Return the numbers."""
        outputs = outputs if self.limits is None else self.limits.clipped(outputs)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def to_dict(self) -> dict[str, Any]:
        """Describe the decision as plain data."""
        if self.limits is None:
            return {"kind": self.kind}
        return {"kind": self.kind, "limits": [list(self.limits.low), list(self.limits.high)]}


class Scores(Decision):
    """Coordinates of a row, one for each component."""

    kind, answers = "scores", ("transform",)

    def check(self, function: Any) -> None:
        """Take any function: each output is a component."""


@dataclass(frozen=True)
class OneClass(Decision):
    """Positive values are like the training rows (1), others are outliers (-1).

    The intercept of the function is minus the offset; the score is the value without it.
    """

    offset: float

    kind, answers = "one-class", ("predict", "decision_function", "score_samples")

    def predict(self, outputs: np.ndarray) -> np.ndarray:
        """Return 1 or -1."""
        return np.where(outputs[:, 0] > 0, 1, -1)

    def score_samples(self, function: Any, X: Any) -> np.ndarray:
        """Return the values without the offset."""
        outputs = function.outputs(X)
        check_finite(outputs, function.kernel_name)
        return outputs[:, 0] + self.offset


@dataclass(frozen=True)
class Density(Decision):
    """The logarithm of a mixture of Gaussian kernels, whose weights are the coefficients."""

    bandwidth: float

    kind, answers = "density", ("score_samples",)

    def check(self, function: Any) -> None:
        """Raise ValueError unless the function is a mixture."""
        super().check(function)
        if function.kernel_name != "rbf" or not (function.coef > 0).all():
            raise ValueError("A density needs an rbf kernel and positive weights.")
        if function.linear is not None or function.kernel.metric is not None:
            raise ValueError("A density has one bandwidth: no metric, and no linear part.")

    def score_samples(self, function: Any, X: Any) -> np.ndarray:
        """Return the log-density."""
        # Here, and not above: an expansion, which asks for votes, knows no solver.
        from zeronorm.solvers.mixture.kernel_mixture import log_density

        return log_density(X, function.vectors, function.coef[:, 0], self.bandwidth)


#: For each kind, what its description holds.
FIELDS = {
    "values": (),
    "classes": ("labels", "dtype", "is_pairs", "breaks_ties", "zero_counts", "link"),
    "number": (),
    "scores": (),
    "one-class": ("offset",),
    "density": ("bandwidth",),
}
#: For some kinds, what it may hold besides.
ADDED_FIELDS = {"classes": ("pair_scores",), "number": ("limits",)}


def has_added_fields(data: dict[str, Any]) -> bool:
    """Whether the description of a decision holds what the first releases do not know."""
    return any(key in data for key in ADDED_FIELDS.get(data["kind"], ()))


def decision_from_dict(data: Any) -> Decision:
    """Rebuild a decision from its description; a clear ``ValueError`` if it is damaged."""
    kind = data.get("kind") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in FIELDS:
        raise ValueError(f"The decision is damaged: its kind is none of {', '.join(FIELDS)}.")
    added = [key for key in ADDED_FIELDS.get(kind, ()) if key in data]
    known = ("kind", *FIELDS[kind], *added)
    if data.keys() != set(known):
        fields = ", ".join(known)
        raise ValueError(f"The decision is damaged: its keys are not {fields}.")
    found = {key: value for key, value in data.items() if key != "kind"}
    if kind == "classes":
        return Classes.from_fields(**found)
    if kind == "one-class":
        if not is_number(found["offset"]):
            raise ValueError("The decision is damaged: offset is not a number.")
        return OneClass(float(found["offset"]))
    if kind == "density":
        check_positive("bandwidth", found["bandwidth"])
        return Density(float(found["bandwidth"]))
    if kind == "number":
        return Number(Limits.from_fields(found["limits"])) if found else Number()
    return Scores() if kind == "scores" else Values()
