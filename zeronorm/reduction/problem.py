"""A reduction under way: the given model, the data, what is asked for, what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zeronorm.decisions import DecisionRule, check_finite
from zeronorm.expansion import KernelExpansion
from zeronorm.reduction.given_model import GivenModel


@dataclass
class Rows:
    """Validated data: rows, labels (where needed), weights."""

    X: Any
    y: np.ndarray | None
    weight: np.ndarray
    is_weighted: bool


@dataclass
class Limits:
    """What is asked of the result, and of the way to it."""

    n_terms: int | None
    max_error: float | None
    tol: float
    max_iter: int
    random_state: Any

    def is_met(self, found: Reduced) -> bool:
        """Whether few enough decisions change."""
        return self.max_error is None or found.changed <= self.max_error

    def excess(self, terms: int) -> bool:
        """Whether these are too many terms."""
        return self.n_terms is not None and terms > self.n_terms


@dataclass
class Reduced:
    """A smaller model, its rule, the share of decisions that it changes, and a record."""

    expansion: KernelExpansion
    rule: DecisionRule
    changed: float = 0.0
    n_iter: int = 1
    warning: str | None = None


@dataclass
class Reduction:
    """A reduction under way: the model, the data if there are any, and what has been tried."""

    given: GivenModel
    rows: Rows | None
    history: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        given = self.given
        self.judged_on = given.expansion.vectors if self.rows is None else self.rows.X
        self.weight = None if self.rows is None else self.rows.weight
        self._before: np.ndarray | None = None

    def as_it_is(self) -> Reduced:
        """Return the model itself."""
        others = {"residual": 0.0, "cost": self.history.get("cost", [0.0])[0]}
        self.record(
            terms=self.given.expansion.n_terms,
            changed=0.0,
            **{key: value for key, value in others.items() if key in self.history},
        )
        return Reduced(self.given.expansion, self.given.rule)

    def judged(self, expansion: KernelExpansion, rule: DecisionRule | None = None) -> Reduced:
        """Compare a smaller model with the given one, on the data or else on its own vectors."""
        given, rule = self.given, rule or self.given.rule
        if self.judged_on.shape[0] == 0:  # a constant has no vectors to be judged on
            return Reduced(expansion, rule)
        if self._before is None:
            self._before = given.rule.codes(output_values(given.expansion, self.judged_on))
        is_other = rule.codes(output_values(expansion, self.judged_on)) != self._before
        return Reduced(expansion, rule, float(np.average(is_other, weights=self.weight)))

    def weighted_rows(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """Rows that count, their class numbers, and their weights times those of the classes."""
        assert self.rows is not None and self.rows.y is not None
        counts = np.flatnonzero(self.rows.weight > 0)
        codes = np.searchsorted(self.given.classes, self.rows.y[counts])
        weight = self.rows.weight[counts]
        return (
            self.rows.X[counts],
            codes,
            weight * self.given.class_factors(codes, weight)[codes],
        )

    def record(self, **values: float) -> None:
        """Write a line of the history."""
        for key, value in values.items():
            self.history.setdefault(key, []).append(value)


def output_values(expansion: KernelExpansion, X: Any) -> np.ndarray:
    """Values of the outputs; ValueError if they overflow."""
    values = expansion.outputs(X)
    check_finite(values, expansion.kernel_name)
    return values
