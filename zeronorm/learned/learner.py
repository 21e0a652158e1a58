"""How learned vectors come about on training rows: samples, starts, growth, the final solution."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from zeronorm.base.sampling import stratified_rows
from zeronorm.base.training_set import (
    Learned,
    TrainingRows,
    gap_warning,
    learned_expansion,
    own_class_factors,
)
from zeronorm.kernels import Kernel
from zeronorm.learned.prototypes import (
    GROWING_STEPS,
    GROWING_TOLERANCE,
    Descent,
    LargeMargin,
    Prototypes,
)

#: The vectors are learned on samples of so many rows, one after the other, as far as there are.
SAMPLES = (2_000, 8_000, 32_000)

#: Rows among which the next vectors are looked for, at least, and for each vector to come.
CANDIDATES, CANDIDATES_EACH = 64, 4


class VectorLearner:
    """Learns vectors on training rows: on a first sample, then on larger ones.

    Parameters
    ----------
    training : TrainingRows
        The rows.
    random : RandomState
        Draws samples and candidates.
    learn_gamma : bool
        Whether the width is learned too.
    """

    def __init__(
        self, training: TrainingRows, random: np.random.RandomState, *, learn_gamma: bool = False
    ) -> None:
        self.training, self.random, self.learn_gamma = training, random, learn_gamma
        self.samples = nested_samples(training.codes, random)
        self.descent = Descent(0, 0.0)  # the last one
        self.history: dict[str, list[float]] = {"terms": [], "rows": [], "objective": []}

    def on_rows(self, indices: np.ndarray, kernel: Kernel, vectors: Any, coef: Any) -> Prototypes:
        """Put vectors on some of the rows, which stand for all."""
        targets, data = self.training.targets[indices], self.training.data
        cost = self.training.scaled_cost(indices)[:, None] * own_class_factors(targets)
        some = data if len(indices) == data.shape[0] else data[indices]
        return Prototypes(some, LargeMargin(targets, cost), kernel, vectors, coef)

    def single(self) -> Prototypes:
        """One vector: the mean of a class, whichever is best."""
        rows, cost = self.samples[0], self.training.cost[self.samples[0]]
        data, codes = self.training.data[rows], self.training.codes[rows]
        shares = np.where(codes == np.arange(codes.max() + 1)[:, None], cost, 0.0)
        means = np.asarray((shares / shares.sum(axis=1, keepdims=True)) @ data)
        rivals = [self.on_rows(rows, self.training.kernel, mean[None], None) for mean in means]
        return min(rivals, key=lambda one: one.value)

    def greedy(self, size: int) -> Prototypes:
        """Start from a class mean, and add vectors where they promise most."""
        current = self.single()
        self.grow(current, size)
        return current

    def at(self, vectors: np.ndarray, kernel: Kernel | None = None) -> Prototypes:
        """Start from given vectors."""
        return self.on_rows(self.samples[0], kernel or self.training.kernel, vectors, None)

    def grow(self, current: Prototypes, size: int) -> None:
        """Add vectors until there are ``size``, or none adds anything; move all after doublings."""
        while len(current.vectors) < size:
            wanted = min(2 * len(current.vectors), size) - len(current.vectors)
            added = current.grow(self._candidates(wanted), wanted)
            self.descend(current, GROWING_STEPS, GROWING_TOLERANCE)
            if added < wanted:
                return

    def _candidates(self, count: int) -> np.ndarray:
        rows = self.samples[0]
        wanted = max(CANDIDATES, CANDIDATES_EACH * count)
        if len(rows) > wanted:
            rows = rows[stratified_rows(self.training.codes[rows], wanted, self.random)]
        return self.training.dense(rows)

    def descend(self, current: Prototypes, steps: int, tolerance: float) -> Descent:
        """Move the vectors, and keep a record."""
        done = current.descend(max_steps=steps, tolerance=tolerance, learn_gamma=self.learn_gamma)
        self.history["terms"].append(len(current.vectors))
        self.history["rows"].append(current.X.shape[0])
        self.history["objective"].append(current.value)
        return done

    def best_of(self, starts: Iterable[Prototypes], steps: int, tolerance: float) -> Prototypes:
        """Let the vectors of each start converge on the first sample, and keep the best."""
        best: Prototypes | None = None
        for current in starts:
            self.descent = self.descend(current, steps, tolerance)
            if best is None or current.value < best.value:
                best, descent = current, self.descent
        assert best is not None
        self.descent = descent
        return best

    def enlarge(self, current: Prototypes, steps: int, tolerance: float) -> Prototypes:
        """Let the vectors converge on the larger samples, each in turn."""
        for rows in self.samples[1:]:
            current = self.on_rows(rows, current.kernel, current.vectors, current.coef)
            self.descent = self.descend(current, steps, tolerance)
        return current

    def finish(self, current: Prototypes, tolerance: float) -> Learned:
        """Solve the coefficients on all rows, as they are, to a duality gap."""
        all_rows = np.arange(len(self.training.codes))
        task = LargeMargin(self.training.targets, self.training.output_cost)
        if current.X.shape[0] < len(all_rows):
            current = Prototypes(
                self.training.data, task, current.kernel, current.vectors, current.coef
            )
        current.accept(task.certified(current.features, tolerance))
        used = current.coef.any(axis=1)
        expansion = learned_expansion(
            current.vectors[used],
            current.coef[used],
            current.intercept,
            current.kernel,
            current.value,
        )
        warning = gap_warning("The learned model", current.solution.gap, tolerance)
        history = {key: np.array(values) for key, values in self.history.items()}
        steps = self.descent.steps
        return Learned(expansion, None, current.value, steps, history, warning)


def nested_samples(codes: np.ndarray, random: np.random.RandomState) -> list[np.ndarray]:
    """Draw samples of the rows, each part of the next; the last is all rows if they are few."""
    indices = np.arange(len(codes))
    samples = [indices]
    for size in reversed(SAMPLES):
        if size < len(samples[0]):
            larger = samples[0]
            _, present = np.unique(codes[larger], return_inverse=True)
            samples.insert(0, larger[stratified_rows(present, size, random)])
    return samples if len(codes) <= SAMPLES[-1] else samples[:-1]
