"""Where learned vectors may be: anywhere, within the range of the data, or on rows.

Inside: each feature of a vector stays between the least and the largest of the training rows. The
descent is one in that box: steps of L-BFGS and of Adam are cut off at its sides
(``solvers/lbfgs.py``, ``stochastic.py``).

On rows: vectors that were learned anywhere go to training rows, each to another one, such that the
sum of the squared distances (of the learned metric, or in the space of the kernel) is least. Only
the m nearest rows of each of the m vectors can be part of that, which makes the assignment problem
small. All else then descends again while the vectors stay, in a box of which both sides are one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from zeronorm.arrays import as_on, is_numpy, to_numpy
from zeronorm.blocks import row_blocks
from zeronorm.learned.coefficients import solve_coefficients
from zeronorm.learned.descent import descend
from zeronorm.learned.joint import JointModels

#: What the parameter ``vectors`` may be.
VECTORS = ("free", "inside", "rows")

#: Steps of the coefficients of models that are compared, and the relative progress to stop at.
STEPS, TOLERANCE = 25, 1e-5


def feature_ranges(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest value of each feature."""
    low = np.full(data.shape[1], np.inf)
    high = -low
    for block in row_blocks(data.shape[0]):
        rows = data[block] if is_numpy(data) else to_numpy(data[block, :])
        least, most = rows.min(axis=0), rows.max(axis=0)
        if sparse.issparse(rows):
            least, most = least.toarray().ravel(), most.toarray().ravel()
        low, high = np.minimum(low, least), np.maximum(high, most)
    return low, high


def nearest_rows(models: JointModels, source: Any) -> np.ndarray:
    """Return the indices of the rows that the vectors of one model go to, each to another one.

    ``source`` are rows, or where blocks of them can be taken from.
    """
    count = models.size
    indices, distances = np.zeros((count, 0), dtype=int), np.zeros((count, 0))
    for block in row_blocks(len(source)):
        arguments = models.parameters.vectors, models.current_widths, source.take(block)
        found = to_numpy(models.kernel.squared_distances(*arguments))[0]
        rows = np.broadcast_to(np.arange(block.start, block.stop), found.shape)
        indices, distances = np.hstack([indices, rows]), np.hstack([distances, found])
        kept = np.argsort(distances, axis=1, kind="stable")[:, :count]
        indices, distances = (np.take_along_axis(one, kept, 1) for one in (indices, distances))
    candidates, where = np.unique(indices, return_inverse=True)
    # Of equal rows one is enough: another term there would add nothing.
    rows = to_numpy(source.take(candidates).dense(slice(None)))
    first, same = np.unique(rows, axis=0, return_index=True, return_inverse=True)[1:]
    far = np.full((count, len(first)), np.inf)
    np.minimum.at(far, (np.arange(count)[:, None], same.ravel()[where]), distances)
    # A vector may go to any of them, if need be: for a price that no other solution has.
    price = 10.0 * count * (1.0 + np.abs(distances).max())
    vectors, chosen = linear_sum_assignment(np.where(np.isinf(far), price, far))
    return candidates[first[chosen[np.argsort(vectors)]]]


def with_vectors_on_rows(models: JointModels, learn: np.ndarray) -> JointModels:
    """Return models whose vectors are rows that each has learned from, coefficients solved.

    Parameters
    ----------
    models : JointModels
        The models; they stay as they are.
    learn : ndarray of shape (n_folds, n)
        Rows that each fold learns from; models are those of one setting after the other.
    """
    if models.size == 0:
        return models
    vectors = []
    for i in range(len(models)):
        rows = np.flatnonzero(learn[i % len(learn)])
        own, some = models.take(np.array([i])), models.rows.take(rows)
        # Repeated where different ones are fewer than vectors: the models have one size.
        nearest = np.resize(nearest_rows(own, some), models.size)
        vectors.append(to_numpy(some.dense(nearest)))
    placed = as_on(np.stack(vectors), models.rows.like, models.rows.dtype)
    result = models.at(replace(models.parameters, vectors=placed), models.used)
    solve_coefficients(result, max_steps=STEPS, tolerance=TOLERANCE)
    return result


def move_to_rows(
    models: JointModels, source: Any, *, max_steps: int, tolerance: float
) -> np.ndarray:
    """Put the vectors of one model on rows, let all else descend, and return the rows' indices.

    Parameters
    ----------
    models : JointModels
        The model, on rows to learn from.
    source : Rows or TrainingSource
        Rows to go to.
    max_steps : int
        Most steps of the descent.
    tolerance : float
        Relative progress to stop at.
    """
    rows = nearest_rows(models, source)
    vectors = source.take(rows).dense(slice(None))[None, :, :]
    weights = models.parameters.weights[:, : len(rows), :]
    models.parameters = replace(models.parameters, vectors=vectors, weights=weights)
    models.rows = replace(models.rows, box=(vectors, vectors))
    descend(models, max_steps=max_steps, tolerance=tolerance)
    return rows
