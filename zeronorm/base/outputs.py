"""Several outputs, one class against the rest each, solved by themselves, as one fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from zeronorm.base.training_set import ADVICE, ChosenTerms, gap_warning
from zeronorm.solvers.evidence.search import SparseBayes
from zeronorm.solvers.reweighting.loop import Reweighted, WeightedProblem, equal_scale

#: How the records of the outputs are joined; what is not named is summed.
JOIN: dict[str, Callable[..., np.ndarray]] = {"gap": np.max, "strength": np.min}

#: What to do where rounding ended a search by evidence.
IF_STUCK = (
    "Rounding allows no further: take a larger gamma or smaller weights, or standardise the "
    "features."
)


def join_outputs(
    coefs: Sequence[np.ndarray],
    intercepts: Sequence[float],
    histories: Sequence[dict[str, list[float]]],
    n_iter: int,
    warning: str | None = None,
) -> ChosenTerms:
    """Put the outputs together.

    Parameters
    ----------
    coefs : sequence of ndarray of shape (n_candidates,)
        Coefficients of each output.
    intercepts : sequence of float
        Intercepts.
    histories : sequence of dict
        The record of each output, "terms" and "objective" among them.
    n_iter : int
        Iterations of the whole.
    warning : str, optional
        What to warn of.
    """
    coef = np.column_stack(coefs)
    terms = np.flatnonzero(coef.any(axis=1))
    rounds = max(len(history["terms"]) for history in histories)
    history = {}
    for key in histories[0]:
        # An output that is done earlier stays as it is.
        lines = [np.resize(h[key] + h[key][-1:] * rounds, rounds) for h in histories]
        history[key] = JOIN.get(key, np.sum)(np.array(lines), axis=0)
    history["terms"] = history["terms"].astype(np.intp)
    history["terms"][-1] = len(terms)  # outputs may share vectors
    objective = float(history["objective"][-1])
    return ChosenTerms(
        terms, coef[terms], np.array(intercepts), objective, n_iter, history, warning
    )


def join_certified(
    parts: Sequence[Any], tolerance: float, name: str, advice: str = ADVICE
) -> ChosenTerms:
    """Put solutions with a certificate together; a warning if one has too large a gap."""
    return join_outputs(
        [part.coef for part in parts],
        [part.intercept for part in parts],
        [part.history for part in parts],
        max(1, sum(part.steps for part in parts)),
        gap_warning(name, max(part.gap for part in parts), tolerance, advice),
    )


def join_by_evidence(
    estimator: Any, found: Sequence[SparseBayes], n_candidates: int, scale: np.ndarray | None = None
) -> ChosenTerms:
    """Put models of largest evidence together; set what a relevance vector machine says of them.

    Parameters
    ----------
    estimator : RelevanceVectorClassifier or RelevanceVectorRegressor
        Gets ``prior_precision_``, ``intercept_precision_`` and ``log_marginal_likelihood_``.
    found : sequence of SparseBayes
        What was found for each output.
    n_candidates : int
        Number of candidates.
    scale : ndarray of shape (n_outputs,), optional
        Units of the targets, in which the precisions are not.
    """
    scale = np.ones(len(found)) if scale is None else scale
    weights = np.zeros((len(found), n_candidates + 1))
    precision = np.full(weights.shape, np.inf)
    for output, part in enumerate(found):
        weights[output, part.indices] = part.weights
        precision[output, part.indices] = 1.0 / (part.variance * scale[output] ** 2)
    histories = [part.history for part in found]
    rounds, warning = max(len(history["terms"]) for history in histories), None
    if not all(part.is_converged for part in found):
        is_over = rounds >= estimator.max_iter
        warning = (
            f"{type(estimator).__name__} stopped after {rounds} rounds with a change left that is "
            "predicted to raise the log marginal likelihood by "
            f"{max(part.gain for part in found):.1e} (tol={estimator.tol:g}). "
            + ("Raise max_iter or tol." if is_over else IF_STUCK)
        )
    fit = join_outputs(list(weights[:, :-1]), list(weights[:, -1]), histories, rounds, warning)
    estimator.prior_precision_ = precision[:, fit.terms]
    estimator.intercept_precision_ = precision[:, -1]
    estimator.log_marginal_likelihood_ = fit.objective
    return fit


def change_warning(
    results: Sequence[Reweighted], tolerance: float, name: str, *, kind: str, if_stuck: str
) -> str | None:
    """Return a sentence if the reweighting loop of some output has not converged.

    ``kind`` names the gap of the weighted problems, ``if_stuck`` is what to say or do where
    rounding ended the loop.
    """
    open_results = [result for result in results if not result.is_converged(tolerance)]
    if not open_results:
        return None
    worst = max(open_results, key=lambda result: max(result.change, result.gap))
    is_stuck = worst.is_stuck or worst.open_gap > tolerance
    return (
        f"{name} stopped after {worst.rounds} rounds with a relative change of "
        f"{worst.change:.1e} and a {kind} of {worst.gap:.1e} (tol={tolerance:g}). "
        + (if_stuck if is_stuck else "Raise max_iter or tol.")
    )


def join_reweighted(
    results: Sequence[Reweighted], tolerance: float, name: str, *, kind: str, if_stuck: str
) -> ChosenTerms:
    """Put the results of the reweighting loop together; a warning if one has not converged."""
    warning = change_warning(results, tolerance, name, kind=kind, if_stuck=if_stuck)
    fit = join_outputs(
        [result.all_coef for result in results],
        [result.intercept for result in results],
        [result.history for result in results],
        max(result.rounds for result in results),
        warning,
    )
    if (fit.history["strength"] == 1.0).all():
        del fit.history["strength"]  # nothing was annealed
    return fit


def share_terms(
    fit: ChosenTerms,
    problems: Sequence[WeightedProblem],
    power: int,
    tolerance: float,
    name: str,
) -> ChosenTerms:
    """Let every output use the terms that any of them has chosen: to the others they cost nothing.

    Parameters
    ----------
    fit : ChosenTerms
        The outputs, each with terms of its own; its history stays that of their choice.
    problems : sequence of WeightedProblem
        The problem of each output on the terms of all; solved once, with equal weights.
    power : {1, 2}
        Power of the coefficients in its penalty.
    tolerance : float
        Relative gap asked for.
    name : str
        Name of the classifier, for a warning.
    """
    scale = equal_scale(problems[0], power)
    rounds = [problem.solve(scale, tolerance) for problem in problems]
    coef = np.column_stack([found.coef for found in rounds])
    penalty = float((np.abs(coef) ** power / (power * scale[:, None])).sum())
    is_used = coef.any(axis=1)
    history = dict(fit.history)
    history["terms"] = history["terms"].copy()
    history["terms"][-1] = is_used.sum()
    gap = gap_warning(
        f"{name}, with the terms of all classes,", max(found.gap for found in rounds), tolerance
    )
    return replace(
        fit,
        terms=fit.terms[is_used],
        coef=coef[is_used],
        intercept=np.array([found.intercept for found in rounds]),
        objective=penalty + sum(found.loss for found in rounds),
        history=history,
        warning=fit.warning or gap,
    )
