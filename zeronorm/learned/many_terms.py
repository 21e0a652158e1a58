"""Hundreds of vectors of a large margin classifier, moved by mini-batches.

``prototypes.py`` solves for the coefficients wherever the vectors go. That takes rows times squared
vectors at every move: right for tens of vectors, hopeless for hundreds. Here vectors, widths and
coefficients descend together, a batch of rows at a time (``stochastic.py``), on the same objective,

    1/2 |w|^2 + sum_i c_i h(y_i f(x_i)),

with the same rounded hinge h. What is kept of it are the vectors and widths: the coefficients are
then solved on all rows with the hinge as it is, as those of few vectors are (``learner.py``).
"""

from __future__ import annotations

import numpy as np

from zeronorm.arrays import as_on
from zeronorm.base.sampling import StratifiedDraw
from zeronorm.base.training_set import TrainingRows
from zeronorm.expansion import KernelExpansion
from zeronorm.learned.choice import precision
from zeronorm.learned.descent import add_vectors, grown
from zeronorm.learned.joint import Parameters
from zeronorm.learned.losses import RoundedHinge
from zeronorm.learned.settings import Setting
from zeronorm.learned.stochastic import LARGE_BATCH, BatchProblem, Cycle, descend_by_batches
from zeronorm.learned.units import Units, batch_source

#: From so many vectors on they are moved by batches.
MANY_TERMS = 100

#: Steps of the cycle for each that L-BFGS may take.
STEPS_EACH = 24

#: Rows on which vectors are chosen, coefficients begin, and the end is judged.
SOME_ROWS = 4_000


def moved_by_batches(
    training: TrainingRows,
    n_terms: int,
    random: np.random.RandomState,
    *,
    max_iter: int,
    learn_gamma: bool | str,
    vectors: np.ndarray | None = None,
) -> tuple[KernelExpansion, float]:
    """Return vectors that have been moved by batches of the rows, with rough coefficients.

    The other number is the objective on some rows, whose costs stand for all.

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
    vectors : ndarray of shape (n_terms, n_features), optional
        Where to begin; without, a few rows are chosen by what they promise, others at random.
    """
    n_widths = training.data.shape[1] if isinstance(learn_gamma, str) else int(learn_gamma)
    loss = RoundedHinge()
    setting = Setting(1.0 / loss.width, training.kernel, n_widths, loss=loss)
    units = Units.of(training)
    source = batch_source(training, units, precision(training, [setting]))
    cost, gammas = as_on(training.cost, source.like), np.array([units.gamma(training.kernel)])
    problem = BatchProblem(source, cost, setting.form, np.array([setting.C]), gammas)
    draw = StratifiedDraw(training.codes, random)
    some = draw(min(SOME_ROWS, len(source)))
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


def takes_batches(training: TrainingRows, n_terms: int) -> bool:
    """Whether so many vectors are moved by batches: many, and of many rows."""
    return n_terms >= MANY_TERMS and len(training.codes) > SOME_ROWS
