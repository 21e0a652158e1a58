"""What is exported, in one plain form that every language prints.

Raw columns become features, each from one column::

    Number:  z = (clip(x, low, high) - centre) * factor      a missing x is `fill` first
    Lookup:  z = the value of the level that x is, or of a missing or an unknown one

and features become outputs, with one of these kernels k_j::

    f = Σ_j coef_j k_j(z) + linear' z + intercept

    rbf:        exp(-Σ_i widths_i (z_i - vectors_ji)²)
    poly:       (vectors_j · z + offsets_j)^degree           gamma is in the vectors
    sigmoid:    tanh(vectors_j · z + offsets_j)
    monomials:  Π_i z_i^power, for the features and powers of the term

What the outputs mean is the decision of the model (``zeronorm/decisions.py``). A language needs
to know nothing else: neither scikit-learn's steps nor its kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zeronorm.decisions import Classes
from zeronorm.limits import Limits
from zeronorm.pairs import PAIR_SCORES


@dataclass(frozen=True)
class Column:
    """A raw column: numbers, or texts.

    Texts lose their surrounding blanks first if ``is_stripped``; the spellings in ``missing`` mean
    a missing one.
    """

    name: str
    is_text: bool = False
    is_stripped: bool = False
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Number:
    """A feature that is a number: filled, clipped, and then (x - centre) * factor.

    While the steps of a pipeline are read, ``centre`` and ``scale`` say (x - centre) / scale;
    folding leaves a factor, and in most cases none.
    """

    column: int
    fill: Any = None
    low: float = -np.inf
    high: float = np.inf
    centre: float = 0.0
    scale: float = 1.0

    @property
    def factor(self) -> float:
        """What the centred value is multiplied by."""
        return 1.0 / self.scale

    @property
    def is_clipped(self) -> bool:
        """Whether there is a bound."""
        return bool(np.isfinite(self.low) or np.isfinite(self.high))

    @property
    def is_plain(self) -> bool:
        """Whether it is the column itself."""
        return self == Number(self.column)


@dataclass(frozen=True)
class Lookup:
    """A feature that has one value for each level of a column; NaN where there is none."""

    column: int
    levels: tuple[Any, ...]
    values: tuple[float, ...]
    missing: float
    unknown: float

    #: Its values are neither shifted nor scaled.
    centre, scale, factor = 0.0, 1.0, 1.0

    @property
    def told_apart(self) -> list[tuple[Any, float]]:
        """Levels and values of those that differ from an unknown level."""
        pairs = zip(self.levels, self.values, strict=True)
        return [pair for pair in pairs if not same(pair[1], self.unknown)]

    def mapped(self, function: Any) -> Lookup:
        """Apply a function to all values."""
        values = tuple(float(function(value)) for value in self.values)
        return replace(
            self,
            values=values,
            missing=float(function(self.missing)),
            unknown=float(function(self.unknown)),
        )


Feature = Number | Lookup


def first_alike(values: Sequence[Any]) -> tuple[int, int] | None:
    """Return the places of the first two values that are equal, None where all differ."""
    places: dict[Any, int] = {}
    for place, value in enumerate(values):
        if value in places:
            return places[value], place
        places[value] = place
    return None


def same(first: float, second: float) -> bool:
    """Whether two numbers are equal, or both none."""
    return first == second or (first != first and second != second)


@dataclass(frozen=True)
class Function:
    """The outputs as a function of the features, see the top of the module.

    For readers, not for languages: ``points`` are the vectors as places among the features,
    ``origin`` is where the features that the model was trained on are zero (the average row, after
    a StandardScaler), and ``unit`` is how far from there they are one.
    """

    kind: str
    vectors: np.ndarray
    coef: np.ndarray
    intercept: np.ndarray
    linear: np.ndarray | None = None
    #: Arrays that a kernel has, see the top of the module, or None.
    widths: Any = None
    offsets: Any = None
    degree: int = 1
    factors: tuple[tuple[tuple[int, int], ...], ...] = ()
    points: Any = None
    origin: Any = None
    unit: Any = None

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.coef)

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.intercept)

    @property
    def common_width(self) -> float | None:
        """The width of all features, None where they differ."""
        widths = np.unique(self.widths)
        return float(widths[0]) if len(widths) == 1 else None

    def with_features(self, order: list[int]) -> Function:
        """Return the same function of some of the features, which are put in this order."""
        index_of = {old: new for new, old in enumerate(order)}
        indices = np.array(order, dtype=np.intp)

        def taken(part: Any, axis: int = 0) -> Any:
            return None if part is None else part.take(indices, axis)

        return replace(
            self,
            vectors=taken(self.vectors, 1),
            points=taken(self.points, 1),
            linear=taken(self.linear),
            widths=taken(self.widths),
            origin=taken(self.origin),
            unit=taken(self.unit),
            factors=tuple(tuple((index_of[j], p) for j, p in term) for term in self.factors),
        )


@dataclass(frozen=True)
class Description:
    """A model as it is exported.

    ``votes`` is the number of classes whose scores, made from the outputs of their pairs, are the
    decision values; ``pair_scores`` says how pairs make such scores, see ``zeronorm/pairs.py``;
    ``source`` says what it was, for the reader of a file.
    """

    columns: tuple[Column, ...]
    features: tuple[Feature, ...]
    function: Function
    decision: Any
    votes: int | None
    pair_scores: str
    source: str

    @property
    def kind(self) -> str:
        """What the outputs mean: classes, number, scores, one-class, density or values."""
        return self.decision.kind

    @property
    def answers(self) -> tuple[str, ...]:
        """Methods of the model, but that ``predict`` of bare values, which only refuses."""
        return () if self.kind == "values" else self.decision.answers

    @property
    def is_classifier(self) -> bool:
        """Whether there are classes."""
        return isinstance(self.decision, Classes)

    @property
    def labels(self) -> list[Any]:
        """Labels of the classes, as Python values."""
        return self.decision.classes.tolist() if self.is_classifier else []

    @property
    def n_scores(self) -> int:
        """Number of decision values: outputs, or classes where pairs make their scores."""
        return self.function.n_outputs if self.votes is None else self.votes

    @property
    def pair_classes(self) -> int | None:
        """Number of classes whose pairs the outputs are, None where they are no pairs."""
        is_pairs = self.is_classifier and self.decision.rule.is_pairs and len(self.labels) > 2
        return len(self.labels) if is_pairs else self.votes

    @property
    def is_by_scores(self) -> bool:
        """Whether scores of classes, made from their pairs, decide, and not bare votes."""
        if not self.is_classifier or self.pair_classes is None:
            return False
        return self.decision.rule.breaks_ties or self.pair_scores != "votes"

    def class_scores(self, outputs: np.ndarray) -> np.ndarray:
        """Return a score for each class where the outputs are their pairs, else the outputs."""
        if self.pair_classes is None:
            return outputs
        return PAIR_SCORES[self.pair_scores](outputs, self.pair_classes)

    @property
    def link(self) -> Any:
        """What turns decision values into probabilities, None where nothing does."""
        return self.decision.link if self.is_classifier else None

    @property
    def limits(self) -> Limits | None:
        """Lowest and highest predictions of numbers, where there are any."""
        return self.decision.limits if self.kind == "number" else None

    @property
    def has_texts(self) -> bool:
        """Whether some column holds texts."""
        return any(column.is_text for column in self.columns)

    @property
    def is_plain(self) -> bool:
        """Whether every feature is the column of the same number, or one of the columns."""
        return all(isinstance(f, Number) and f.is_plain for f in self.features)

    @property
    def features_by_column(self) -> dict[int, list[int]]:
        """Indices of the features of every column that is used, in the order of the columns."""
        found: dict[int, list[int]] = {}
        for index, feature in enumerate(self.features):
            found.setdefault(feature.column, []).append(index)
        return dict(sorted(found.items()))

    def levels_of(self, column: int) -> list[Any]:
        """All levels of a column that some feature knows, in the order they are met."""
        found: dict[Any, None] = {}
        for feature in self.features:
            if isinstance(feature, Lookup) and feature.column == column:
                found.update(dict.fromkeys(feature.levels))
        return list(found)

    def check_single(self, remedy: str) -> None:
        """Refuse levels that single precision cannot tell apart; the remedy ends the message."""
        for index, column in enumerate(self.columns):
            levels = [] if column.is_text else self.levels_of(index)
            with np.errstate(over="ignore"):
                alike = first_alike(np.array(levels, dtype=np.float32).tolist())
            if alike is not None:
                first, second = (repr(levels[place]).removesuffix(".0") for place in alike)
                raise ValueError(
                    f"Levels {first} and {second} of column {column.name!r} are the same number "
                    f"in single precision; take {remedy}."
                )

    @property
    def summary(self) -> str:
        """Terms, features and outputs in a sentence."""
        function = self.function
        terms = f"{function.n_terms} {function.kind} term" + "s" * (function.n_terms != 1)
        if not function.n_terms:
            terms = "no kernel term"
        linear = "" if function.linear is None else " and a linear part"
        inputs = f"{len(self.features)} feature" + "s" * (len(self.features) != 1)
        outputs = f"{function.n_outputs} output" + "s" * (function.n_outputs != 1)
        return f"{self.source}: {terms}{linear}, {inputs}, {outputs}"
