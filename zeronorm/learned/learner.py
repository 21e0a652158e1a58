"""Learning vectors on training rows: samples, starts, growth, the final solution.

``prototypes.py`` solves for the coefficients wherever the vectors go. That takes rows times squared
vectors at every move: fine for tens of vectors, too slow for hundreds. Hundreds, with their widths
and coefficients, descend together instead, a batch of rows at a time (``stochastic.py``), on the
same objective,

    1/2 |w|^2 + sum_i c_i h(y_i f(x_i)),

with the same rounded hinge h. In both cases what is kept are the vectors and widths: the
coefficients are then solved on all rows with the hinge as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zeronorm.arrays import as_on
from zeronorm.base.sampling import StratifiedDraw, renumbered, stratified_rows
from zeronorm.base.training_set import Learned, TrainingRows, gap_warning, learned_expansion
from zeronorm.checks import shown
from zeronorm.expansion import KernelExpansion
from zeronorm.kernels import Kernel
from zeronorm.learned.choice import precision
from zeronorm.learned.convergence import Descent
from zeronorm.learned.coordinates import Units, batch_source
from zeronorm.learned.descent import add_vectors, grown
from zeronorm.learned.joint import Parameters
from zeronorm.learned.losses import RoundedHinge
from zeronorm.learned.prototypes import GROWING_STEPS, GROWING_TOLERANCE, Prototypes
from zeronorm.learned.settings import Setting
from zeronorm.learned.stochastic import LARGE_BATCH, BatchProblem, Cycle, descend_by_batches
from zeronorm.learned.tasks import LargeMargin
from zeronorm.solvers.solution import History

#: The descent stops when a step lowers the objective by less than this share of tol, relatively.
CONVERGED = 0.1

#: Rows among which the next vectors are looked for, at least, and for each vector to come.
CANDIDATES, CANDIDATES_EACH = 64, 4

#: Steps of the cycle for each that L-BFGS may take.
STEPS_EACH = 24


@dataclass(frozen=True)
class LearnerSizes:
    """How many rows vectors are learned on, and by how many at once."""

    #: Samples of so many rows, one after the other, as far as there are.
    samples: tuple[int, ...] = (2_000, 8_000, 32_000)

    #: From so many vectors on they are moved by batches, where there are more rows than some.
    many_terms: int = 100

    #: Rows on which these are chosen, coefficients begin, and the results of starts are compared.
    some_rows: int = 4_000


class VectorLearner:
    """Learns vectors on training rows: on a first sample, then on larger ones.

    Parameters
    ----------
    training : TrainingRows
        The rows.
    random : RandomState
        Draws samples and candidates.
    learn_gamma : bool or "metric"
        Whether the width is learned too, or one width for each feature.
    sizes : LearnerSizes
        Numbers of rows.
    """

    def __init__(
        self,
        training: TrainingRows,
        random: np.random.RandomState,
        *,
        learn_gamma: bool | str = False,
        sizes: LearnerSizes = LearnerSizes(),
    ) -> None:
        self.training, self.random, self.learn_gamma = training, random, learn_gamma
        self.sizes, self.samples = sizes, nested_samples(training.codes, random, sizes.samples)
        self.descent = Descent(0, 0.0)  # the last one
        self.history = History()

    def on_rows(self, indices: np.ndarray, kernel: Kernel, vectors: Any, coef: Any) -> Prototypes:
        """Put vectors on some of the rows, with costs rescaled to all rows."""
        rows = self.training.sample(indices)
        return Prototypes(rows.data, LargeMargin(rows.hinges), kernel, vectors, coef)

    def single(self) -> Prototypes:
        """One vector: the mean of a class, whichever is best."""
        rows, cost = self.samples[0], self.training.cost[self.samples[0]]
        data, codes = self.training.data[rows], self.training.codes[rows]
        shares = np.where(codes == np.arange(codes.max() + 1)[:, None], cost, 0.0)
        means = np.asarray((shares / shares.sum(axis=1, keepdims=True)) @ data)
        found = [self.on_rows(rows, self.training.kernel, mean[None], None) for mean in means]
        return min(found, key=lambda one: one.value)

    def greedy(self, size: int) -> Prototypes:
        """Start from a class mean, and add the vectors of the largest predicted gain."""
        current = self.single()
        self.grow(current, size)
        return current

    def at(self, vectors: np.ndarray) -> Prototypes:
        """Start from given vectors."""
        return self.on_rows(self.samples[0], self.training.kernel, vectors, None)

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
        fall = done.progress if done.is_cut else 0.0
        terms, rows = len(current.vectors), current.X.shape[0]
        self.history.record(terms=terms, rows=rows, objective=current.value, fall=fall)
        return done

    def best_of(self, starts: Iterable[Prototypes], steps: int, tolerance: float) -> Prototypes:
        """Let the vectors of each start converge on the first sample, and keep the best."""
        found = ((start, self.descend(start, steps, tolerance)) for start in starts)
        best, self.descent = min(found, key=lambda one: one[0].penalised)
        return best

    def enlarge(self, current: Prototypes, steps: int, tolerance: float) -> Prototypes:
        """Let the vectors converge on the larger samples, each in turn."""
        for rows in self.samples[1:]:
            current = self.on_rows(rows, current.kernel, current.vectors, current.coef)
            self.descent = self.descend(current, steps, tolerance)
        return current

    def by_batches(
        self, n_terms: int, starts: Iterable[np.ndarray | None], steps: int
    ) -> Prototypes:
        """Move many vectors by batches, from each start, and keep the best."""
        shared = self.training, n_terms, self.random, steps, self.learn_gamma, self.sizes.some_rows
        found = [moved_by_batches(*shared, vectors) for vectors in starts]
        best, objective = min(found, key=lambda one: one[1])
        self.descent = Descent(STEPS_EACH * steps, 0.0)
        n_rows = len(self.training.codes)
        self.history.record(terms=n_terms, rows=n_rows, objective=objective, fall=0.0)
        return self.on_rows(self.samples[0], best.kernel, best.vectors, best.coef)

    def finish(self, current: Prototypes, tolerance: float) -> Learned:
        """Solve the coefficients on all rows, as they are, to a duality gap."""
        task, features = LargeMargin(self.training.hinges), current.features
        if current.X.shape[0] < len(self.training.codes):
            del current.values, current.features  # of the sample; there may be many rows now
            features = current.features_of(self.training.data)
        current.accept(task.certified(features, tolerance))
        used = current.coef.any(axis=1)
        parts = current.intercept, current.kernel, current.value
        expansion = learned_expansion(current.vectors[used], current.coef[used], *parts)
        warning = gap_warning("The learned model", current.solution.gap, tolerance)
        record = self.descent.steps, self.history.arrays()
        return Learned(expansion, None, current.value, *record, warning)


def nested_samples(
    codes: np.ndarray, random: np.random.RandomState, sizes: Sequence[int] = LearnerSizes.samples
) -> list[np.ndarray]:
    """Draw samples of the rows, each part of the next; the last is all rows if they are few."""
    samples = [np.arange(len(codes))]
    for size in reversed(sizes):
        if size < len(samples[0]):
            larger = samples[0]
            drawn = stratified_rows(renumbered(codes[larger]), size, random)
            samples.insert(0, larger[drawn])
    return samples if len(codes) <= sizes[-1] else samples[:-1]


def learn_vectors(
    training: TrainingRows,
    n_terms: int,
    random: np.random.RandomState,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    learn_gamma: bool | str = False,
    start: Callable[[VectorLearner], Prototypes] | None = None,
    sizes: LearnerSizes = LearnerSizes(),
) -> Learned:
    """Learn vectors from several starts, greedy ones by default, and keep the best."""
    training = training.compact()
    learner = VectorLearner(training, random, learn_gamma=learn_gamma, sizes=sizes)
    if n_terms >= sizes.many_terms and len(training.codes) > sizes.some_rows:
        given = (None if start is None else start(learner).vectors for _ in range(n_init))
        return learner.finish(learner.by_batches(n_terms, given, max_iter), tol)
    starts = (learner.greedy(n_terms) if start is None else start(learner) for _ in range(n_init))
    current = learner.best_of(starts, max_iter, CONVERGED * tol)
    # They have converged once: what more rows change takes fewer steps.
    current = learner.enlarge(current, max(1, max_iter // 4), CONVERGED * tol)
    learned = learner.finish(current, tol)
    learned.warning = learned.warning or learner.descent.warning(tol)
    return learned


def class_centres(learner: VectorLearner, count: int) -> np.ndarray:
    """Centres of every class by k-means, shared out by its rows; at least one of each."""
    training, rows = learner.training, learner.samples[0]
    data, codes, cost = training.data[rows], training.codes[rows], training.cost[rows]
    sizes = np.bincount(codes)
    shares = np.maximum(1, np.floor(count * sizes / len(codes)).astype(int))
    while shares.sum() < count:
        shares[np.argmax(sizes / shares)] += 1
    centres = []
    for code, share in enumerate(shares):
        of_class = np.flatnonzero(codes == code)
        from sklearn.cluster import KMeans  # which takes a tenth of a second to import

        kmeans = KMeans(
            min(share, len(of_class)), n_init=1, random_state=learner.random.randint(2**31 - 1)
        )
        kmeans.fit(data[of_class], sample_weight=cost[of_class])
        centres.append(kmeans.cluster_centers_)
    found = np.vstack(centres)
    # Fewer vectors than classes: those of the largest classes.
    return found[np.argsort(-sizes, kind="stable")[:count]] if count < len(sizes) else found


def check_learnable(kernel: Any) -> None:
    """Raise ValueError unless the vectors of this kernel can be learned."""
    if not isinstance(kernel, str) or kernel not in ("linear", "poly", "rbf"):
        raise ValueError(
            "Learned vectors need a kernel with a derivative that is positive semidefinite: "
            f"'rbf', 'poly' or 'linear'; got {shown(kernel)}. With other kernels the terms must be "
            "training rows, as in ZeroNormSVC."
        )


def moved_by_batches(
    training: TrainingRows,
    n_terms: int,
    random: np.random.RandomState,
    max_iter: int,
    learn_gamma: bool | str,
    some_rows: int,
    vectors: np.ndarray | None,
) -> tuple[KernelExpansion, float]:
    """Return vectors that have been moved by batches of the rows, with rough coefficients.

    The other number is the objective on some rows, with costs rescaled to all rows.

    Parameters
    ----------
    training : TrainingRows
        The rows, with their costs.
    n_terms : int
        Number of vectors.
    random : RandomState
        Draws first vectors and batches.
    max_iter : int
        Most steps of L-BFGS, which has fewer than a cycle.
    learn_gamma : bool or "metric"
        Whether the width is learned too, or one width for each feature.
    some_rows : int
        Rows on which vectors are chosen, and the objective is taken.
    vectors : ndarray of shape (n_terms, n_features), optional
        Where to begin; without, a few rows are chosen by their predicted gain, others at random.
    """
    n_widths = training.data.shape[1] if isinstance(learn_gamma, str) else int(learn_gamma)
    loss = RoundedHinge()
    setting = Setting(1.0 / loss.width, training.kernel, n_widths, loss=loss)
    units = Units.of(training)
    source = batch_source(training, units, precision(training, [setting]))
    cost, gammas = as_on(training.cost, source.like), np.array([units.gamma(training.kernel)])
    problem = BatchProblem(source, cost, setting.form, np.array([setting.C]), gammas)
    draw = StratifiedDraw(training.codes, random)
    some = draw(min(some_rows, len(source)))
    start = None
    if vectors is not None:
        models = problem.on_rows(some, Parameters.nothing(1, source.take(some), problem.form))
        add_vectors(models, as_on((vectors - units.centre) * units.factor, source.like)[None])
        start = models.parameters
    parameters = grown(problem, start, some, draw, n_terms, random).parameters
    cycle = Cycle(STEPS_EACH * max_iter, LARGE_BATCH)
    parameters = descend_by_batches(problem, parameters, cycle, random)
    models = problem.on_rows(some, parameters)
    objective = float(models.objective()[0])
    return units.expansion(models, 0, objective), objective
