"""A reduction under way: the given model, the data, what is asked for, what was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zeronorm.decisions import DecisionRule
from zeronorm.expansion import KernelExpansion
from zeronorm.reduction.rows import Rows, output_values
from zeronorm.solvers.solution import History

#: Why a model with a linear part is refused by two of the methods.
TRAINS_AGAIN = "Only method='reduced_set' and method='exact' train no coefficients again"


@dataclass
class Limits:
    """What is asked of the result, and of the way to it."""

    n_terms: int | None
    max_error: float | None
    tol: float
    max_iter: int
    random_state: Any

    def is_met(self, found: Reduced) -> bool:
        """Whether little enough changes."""
        return self.max_error is None or found.changed <= self.max_error

    def excess(self, terms: int) -> bool:
        """Whether these are too many terms."""
        return self.n_terms is not None and terms > self.n_terms


@dataclass
class Reduced:
    """A smaller model, its rule if it has one, how far it is from the model, and a record."""

    expansion: KernelExpansion
    rule: DecisionRule | None
    changed: float = 0.0
    n_iter: int = 1
    warning: str | None = None


@dataclass
class Reduction:
    """A reduction under way: the model, the data if there are any, and what has been tried."""

    given: Any
    rows: Rows | None
    history: History = field(default_factory=History)

    def __post_init__(self) -> None:
        given = self.given
        self.compared_on = given.expansion.vectors if self.rows is None else self.rows.X
        self.weight = None if self.rows is None else self.rows.weight
        self._before: np.ndarray | None = None

    def as_it_is(self) -> Reduced:
        """Return the model itself."""
        others = {"residual": 0.0, "cost": self.history.get("cost", [0.0])[0]}
        self.history.record(
            terms=self.given.expansion.n_terms,
            changed=0.0,
            **{key: value for key, value in others.items() if key in self.history},
        )
        return Reduced(self.given.expansion, self.given.rule)

    def compared(self, expansion: KernelExpansion, rule: DecisionRule | None = None) -> Reduced:
        """Compare a smaller model with the given one, on the data or else on its own vectors."""
        given, rule = self.given, rule or self.given.rule
        if self.compared_on.shape[0] == 0:  # a constant has no vectors to be compared on
            return Reduced(expansion, rule)
        if self._before is None:
            values = output_values(given.expansion, self.compared_on, given.device)
            self._before = given.answers(values, given.rule)
        values = output_values(expansion, self.compared_on, given.device)
        after = given.answers(values, rule)
        return Reduced(expansion, rule, given.change(self._before, after, self.weight))


def warned(reduction: Reduction, found: Reduced, limits: Limits) -> Reduced:
    """Add a warning if what was asked for is not there."""
    if not limits.is_met(found):
        said = reduction.given.changed_text(found.changed)
        found.warning = (
            f"With {found.expansion.n_terms} terms {said}, more than "
            f"max_error={limits.max_error} allows. Raise n_terms or max_error."
        )
    return found
