"""A reduction under way: the given model, the data, what is asked for, what was found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zeronorm.arrays import on_device
from zeronorm.base.validation import is_moved
from zeronorm.decisions import DecisionRule, check_finite
from zeronorm.device_expansion import DeviceExpansion
from zeronorm.expansion import KernelExpansion
from zeronorm.solvers.linear_programs.hinge_subsets import HingeSubsets
from zeronorm.solvers.solution import History

#: Why a model with a linear part is refused by two of the methods.
TRAINS_AGAIN = "Only method='reduced_set' and method='exact' train no coefficients again"


@dataclass
class GivenRows:
    """Validated data: rows, labels (None where none are needed), weights."""

    X: Any
    y: Any
    weight: np.ndarray
    is_weighted: bool

    @property
    def counting(self) -> np.ndarray:
        """Indices of the rows that count."""
        return np.flatnonzero(self.weight > 0)


def output_values(expansion: KernelExpansion, X: Any, device: str | None = None) -> np.ndarray:
    """Values of the outputs, computed on a device if one is given; ValueError if they overflow."""
    if device is not None and is_moved(X, device):
        values = DeviceExpansion(expansion, on_device(device)).moved_outputs(X)
    else:
        values = expansion.outputs(X)
    check_finite(values, expansion.kernel_name)
    return values


@dataclass
class Request:
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
    rows: GivenRows | None
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


def warned(reduction: Reduction, found: Reduced, request: Request) -> Reduced:
    """Add a warning if what was asked for is not there."""
    if not request.is_met(found):
        said = reduction.given.changed_text(found.changed)
        found.warning = (
            f"With {found.expansion.n_terms} terms {said}, more than "
            f"max_error={request.max_error} allows. Raise n_terms or max_error."
        )
    return found


@dataclass(frozen=True)
class SubsetProblem:
    """What a set of the model's own vectors is judged by, in the search among them.

    Always hinges (``solvers/linear_programs/hinge_subsets.py``), in units in which margins are
    about one: those of classes against the rest, of both sides of the tube around a number, or of
    the inside and the outside of a one-class machine.

    ``rows`` are the indices of the rows that count; each has ``copies`` hinges, all first ones
    before the second ones. ``cost`` is for C = 1. The model's values are ``scale`` times those that
    are searched for, plus ``centre``; where ``reference`` has the model's values, their size tells
    the scale.
    """

    rows: np.ndarray
    targets: np.ndarray
    cost: np.ndarray
    margins: np.ndarray | None = None
    copies: int = 1
    scale: np.ndarray | float = 1.0
    centre: np.ndarray | float = 0.0
    reference: np.ndarray | None = None

    def take(self, some: np.ndarray) -> SubsetProblem:
        """Return the problem of some of the rows, with costs rescaled to all."""
        hinges = np.concatenate([some + copy * len(self.rows) for copy in range(self.copies)])
        cost = self.cost[hinges] * (self.cost.sum() / self.cost[hinges].sum())
        margins = None if self.margins is None else self.margins[hinges]
        return replace(
            self, rows=self.rows[some], targets=self.targets[hinges], cost=cost, margins=margins
        )

    def design(self, values: np.ndarray) -> np.ndarray:
        """Return the kernel values of the rows as their hinges want them."""
        return np.tile(values, (self.copies, 1))

    def subsets(self, values: np.ndarray, C: float, caps: np.ndarray) -> HingeSubsets:
        """Return the score of sets of vectors with these kernel values at the rows."""
        cost, margins = C * self.cost, self.margins
        return HingeSubsets(self.design(values), self.targets, cost, caps, margins=margins)

    def in_own_units(self, expansion: KernelExpansion, X: Any) -> KernelExpansion:
        """Return a function that was found in the units of the model; X are the rows."""
        scale = self.scale
        if self.reference is not None:
            values = expansion.outputs(X)[:, 0]
            square, product = float(values @ values), float(values @ self.reference)
            scale = product / square if square > 0 and product > 0 else 1.0
        coef, intercept = scale * expansion.coef, scale * expansion.intercept + self.centre
        return expansion.with_terms(expansion.vectors, coef, intercept)
