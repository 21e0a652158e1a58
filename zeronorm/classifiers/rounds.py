"""The result of the reweighting loop as a fit."""

from __future__ import annotations

import numpy as np

from zeronorm.solvers.reweighting import Reweighted
from zeronorm.training import Fit


def fit_of_rounds(
    result: Reweighted, tolerance: float, name: str, *, kind: str, if_stuck: str
) -> Fit:
    """Put the rounds into a fit; a warning if they have not settled.

    ``kind`` names the gap of the weighted problems, ``if_stuck`` is what to say or do where
    rounding ended the loop.
    """
    warning = None
    if not result.is_converged(tolerance):
        is_stuck = result.is_stuck or result.open_gap > tolerance
        warning = (
            f"{name} stopped after {result.rounds} rounds with a relative change of "
            f"{result.change:.1e} and a {kind} of {result.gap:.1e} (tol={tolerance:g}). "
            + (if_stuck if is_stuck else "Raise max_iter or tol.")
        )
    history = {key: np.array(values) for key, values in result.history.items()}
    return Fit(
        result.terms,
        result.coef,
        result.intercept,
        float(history["objective"][-1]),
        result.rounds,
        history,
        warning,
    )
