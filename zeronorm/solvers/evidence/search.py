"""Sparse Bayesian learning: the search for the prior variances of largest marginal likelihood.

Tipping & Faul (2003) with the Laplace approximation of Tipping (2001); ``model.py`` has the model,
L (1) and its gradient (2). L has many local maxima, and which one is reached
depends on the way. The search starts from some dozens of functions that span the others, thins
them out by moves among themselves, and then has two kinds of rounds:

    moves   for fixed B, where the gain of any change of a single variance is known ((18) of
            Tipping & Faul): the best ones in turn, each a new best variance (20) of one function,
            which may add it or delete it (21), alone or after another function was taken out;
    a step  of all variances in the model together, Newton's on log v.

Either is taken only if L rises: else fewer moves, or a shorter step. Taking one function out and
another in by one move is what Tipping & Faul do not have: it leads on where neither helps alone.
All functions are looked at once per round of moves, by one product of the (terms × rows) matrix
of the model with that of all candidates; the moves are then found among the foremost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.evidence.likelihoods import Gaussian, Likelihood
from zeronorm.solvers.evidence.model import Basis, Posterior
from zeronorm.solvers.evidence.moves import MOVES, Move, Neighbourhood, gain_of

# Where a comment below compares, it is on 27 problems of 120 to 150 rows (those of tests/golden at
# three widths of the kernel): L, summed over them, and time.

#: Functions of the first model, which has a prior variance of one for each: several times as many
#: as most models keep, and few enough for a first round that costs no more than the others.
FIRST_TERMS = 50

#: Moves that take a function's place and are tried alone, and fail, before only changes of single
#: variances are tried: without a limit L is 2.6 larger, in two problems, for nearly twice the time.
#: And failures of either kind before the search gives up; ten would have done in all of them.
EXCHANGES, FAILURES = 4, 100

#: Largest eigenvalue that a prior variance may bring about, whose rounding leaves four digits of
#: the others; its inverse is the least variance.
LARGEST_EIGENVALUE = 1e12

#: More functions than this at the largest variance, and the limit of all is so much wider. So it is
#: with steep polynomials, whose parts cancel each other: of degree 7 they then need 20 terms for
#: the 33 within the limit (cancer), 23 for 39 (rare), with a larger L. Nowhere else it matters.
CROWD, WIDENING = 10, 100.0

#: Longest step of a log variance, a factor of twenty, beyond which the quadratic model means
#: nothing; and the least curvature it may rest on, as L is flat where a variance hardly matters.
LONGEST_STEP, LEAST_CURVATURE = 3.0, 5e-3

#: Shares of a step, or of a single move, that are tried; what is then added to the curvature, which
#: turns the step to the gradient. Without the latter two more problems end above the tolerance.
LENGTHS, DAMPINGS = (1.0, 0.3, 0.1, 0.03, 0.01), (0.5, 3.0, 20.0)

#: Functions that are tried to be lost in the end, those of least use by the model for fixed B,
#: which overrates them: without the trial, solutions remain that are better with one term less.
LOSSES = 4

#: Steps that follow a round of moves; they stop at this share of what the round gained. Without
#: steps the moves take twice the time, and L is 5 smaller.
STEPS, STEP_SHARE = 2, 0.1

#: The last steps go on to this share of the tolerance, if they get there in so many steps: L hardly
#: changes by it, but weights and variances become those of the maximum.
LAST_SHARE, LAST_STEPS = 0.01, 10


@dataclass
class SparseBayes:
    """Functions in the model (the index of the constant is the last), and a record of rounds.

    ``gain`` is that in L which the best change left undone promises; ``history`` has "terms" (the
    constant is none) and "objective" (L) of each round.
    """

    indices: np.ndarray
    weights: np.ndarray
    variance: np.ndarray
    gain: float
    is_converged: bool
    history: dict[str, list[float]]
    posterior: Posterior


def maximise_evidence(
    basis: Basis,
    likelihood: Likelihood,
    tolerance: float = 1e-3,
    max_rounds: int = 500,
) -> SparseBayes:
    """Search for the prior variances of largest marginal likelihood.

    Parameters
    ----------
    basis : Basis
        All functions that may enter the model.
    likelihood : Likelihood
        What the rows say.
    tolerance : float
        Stop when no change promises to raise L by more than this.
    max_rounds : int
        Most rounds.
    """
    search = _Search(basis, likelihood, tolerance, max_rounds)
    search.thin_out()
    while search.is_going and search.move():
        if search.is_crowded:
            search = _Search(basis, likelihood, tolerance, max_rounds, widening=WIDENING)
            search.thin_out()
    return search.result()


class _NewtonStep:
    """Newton's step of log v by the Hessian made definite, and shorter ones.

    A variance that is the largest allowed and would grow stays. ``learned`` is added to the
    Hessian for fixed B; ``gain`` is that in L which the longest step promises. Noise that is
    learned is the last variable.
    """

    def __init__(self, at: Posterior, learned: np.ndarray | float, largest: np.ndarray) -> None:
        stays = (at.variance >= largest) & (at.gradient > 0)
        hessian, gradient = at.hessian() + learned, at.gradient
        if isinstance(at.likelihood, Gaussian) and at.likelihood.is_learned:
            first, mixed, second = at.noise_derivatives()
            inner, hessian = hessian, np.empty((len(mixed) + 1, len(mixed) + 1))
            hessian[:-1, :-1], hessian[-1, -1] = inner, -second
            hessian[-1, :-1] = hessian[:-1, -1] = -mixed
            gradient = np.append(gradient, first)
            stays = np.append(stays, at.likelihood.is_least and first < 0)
        if stays.any():
            gradient = np.where(stays, 0.0, gradient)
            hessian[stays], hessian[:, stays] = 0.0, 0.0
        values, self.vectors = np.linalg.eigh(hessian)
        self.curvature = np.maximum(np.abs(values), LEAST_CURVATURE)
        self.along = gradient @ self.vectors
        self.gain = 0.5 * float(gradient @ self.damped(0.0))

    def damped(self, damping: float) -> np.ndarray:
        """Return the step with this much added to the curvature."""
        step = self.vectors @ (self.along / (self.curvature + damping))
        return np.clip(step, -LONGEST_STEP, LONGEST_STEP)

    def all(self) -> Iterator[np.ndarray]:
        """Yield steps, the longest one first."""
        longest = self.damped(0.0)
        yield from (length * longest for length in LENGTHS)
        # The last ones lead along the gradient.
        yield from map(self.damped, DAMPINGS)


class _Search:
    """The present model, and the rounds that change it."""

    def __init__(
        self,
        basis: Basis,
        likelihood: Likelihood,
        tolerance: float,
        max_rounds: int,
        widening: float = 1.0,
    ) -> None:
        self.basis, self.widening = basis, widening
        self.tolerance, self.max_rounds = tolerance, max_rounds
        self.gain = np.inf
        self.history: dict[str, list[float]] = {"terms": [], "objective": []}
        self._set_likelihood(likelihood)
        indices = basis.spanning(likelihood.unit_curvature * likelihood.cost, FIRST_TERMS)
        variance = np.minimum(1.0, self.largest[indices])
        self._accept(Posterior(likelihood, indices, basis.columns(indices), variance))

    @property
    def is_going(self) -> bool:
        """Whether another round is allowed."""
        return len(self.history["terms"]) < self.max_rounds

    @property
    def is_crowded(self) -> bool:
        """Whether many functions do together what the limit keeps one of them from doing.

        So it is where kernels are so flat that they have to cancel each other.
        """
        at_limit = self.at.variance >= 0.99 * self.largest[self.at.indices]
        return self.widening == 1.0 and int(at_limit.sum()) > CROWD

    def _set_likelihood(self, likelihood: Likelihood) -> None:
        """Take a likelihood, and set the largest variances of all functions by it."""
        squares = likelihood.unit_curvature * self.basis.own_squares
        largest = LARGEST_EIGENVALUE / np.maximum(squares, 1.0)
        # Only rounding limits the constant, which may have to make up for means of all others.
        limit = self.widening * likelihood.largest_variance
        largest[:-1] = np.minimum(limit, largest[:-1])
        self.likelihood, self.largest = likelihood, largest

    def _accept(self, new: Posterior) -> None:
        new.differentiate()
        self.at = new
        self.history["terms"].append(int((new.indices < self.basis.constant).sum()))
        self.history["objective"].append(new.evidence)

    def _try(
        self,
        indices: np.ndarray,
        columns: np.ndarray,
        variance: np.ndarray,
        start: np.ndarray,
        slack: float = 0.0,
    ) -> bool:
        """Take another model if its evidence is larger."""
        kept = variance > 0
        if not kept.all():
            indices, columns = indices[kept], columns[:, kept]
            variance, start = variance[kept], start[kept]
        new = Posterior(self.likelihood, indices, columns, variance, start)
        # Also false if it is not a number.
        is_better = bool(new.evidence > self.at.evidence - slack)
        if is_better:
            self._accept(new)
        return is_better

    def thin_out(self) -> None:
        """Set the variances of the first model one by one, and drop what is superfluous."""
        around = Neighbourhood(self.basis, self.at, self.largest, foremost=0)
        most = 2 * len(around.indices)
        moves = around.moves(self.tolerance, most=most, worth=0.0, exchange=False)
        count = len(moves)
        while count and self.is_going and not self._try_move(around, moves[count - 1]):
            count //= 2

    def _contributions(self) -> np.ndarray:
        """Return what each function adds to L beside all others, for fixed B."""
        at = self.at
        return gain_of(1.0, at.undetermined, at.quality)

    def _take(self, change: np.ndarray) -> bool:
        """Change the logarithms of all variances by so much, if that raises the evidence."""
        at, before, factors = self.at, self.likelihood, np.exp(change)
        if isinstance(before, Gaussian) and before.is_learned:
            self._set_likelihood(before.with_noise(before.noise * factors[-1]))
            factors = factors[:-1]
        variance = np.maximum(at.variance * factors, 1.0 / LARGEST_EIGENVALUE)
        variance = np.minimum(variance, self.largest[at.indices])
        is_taken = self._try(at.indices, at.columns, variance, at.weights)
        if not is_taken and self.likelihood is not before:
            self._set_likelihood(before)
        return is_taken

    def _settle(self, target: float, most: int) -> float:
        """Newton steps until the next one promises less than ``target``; returns its gain.

        What the motion of B adds to the Hessian is learned on the way, from the change of the
        gradient (the symmetric formula of rank one).
        """
        gain, learned = 0.0, np.zeros((len(self.at.indices), len(self.at.indices)))
        for _ in range(most):
            step = _NewtonStep(self.at, learned, self.largest[self.at.indices])
            gain, before = step.gain, self.at
            if gain <= target or not self.is_going or not any(map(self._take, step.all())):
                break
            if isinstance(self.likelihood, Gaussian):
                continue  # B does not move
            taken = np.log(self.at.variance / before.variance)
            rest = before.gradient - self.at.gradient - (self.at.hessian() + learned) @ taken
            along = float(rest @ taken)
            if abs(along) > 1e-6 * np.sqrt(float(rest @ rest) * float(taken @ taken)):
                learned = learned + np.outer(rest, rest / along)
        return gain

    def move(self) -> bool:
        """One round of moves with the steps that follow; False if nothing is left to gain."""
        before = self.at.evidence
        around = Neighbourhood(self.basis, self.at, self.largest)
        left = self._take_moves(around)
        gained = self.at.evidence - before
        if gained > self.tolerance:
            self._settle(max(STEP_SHARE * gained, self.tolerance), STEPS)
            return True
        before = self.at.evidence
        self._drop_idle()
        self._settle(self.tolerance, self.max_rounds)
        self.gain = max(left, self._settle(LAST_SHARE * self.tolerance, LAST_STEPS))
        return self.at.evidence - before > self.tolerance

    def _drop_idle(self) -> None:
        """Drop functions of falling variance that L gains next to nothing by losing.

        Then try to lose those of least use, one by one: for fixed B they may seem to be of some.
        """
        at = self.at
        slack = 1e-12 * abs(at.evidence)  # equal up to rounding will do
        # What a function adds is exact where B is the same for all scores.
        is_exact = isinstance(self.likelihood, Gaussian)
        limit = slack if is_exact else self.tolerance
        idle = (self._contributions() <= limit) & (at.gradient < 0)
        if idle.any() and self.is_going:
            variance = np.where(idle, 0.0, at.variance)
            self._try(at.indices, at.columns, variance, at.weights, slack)
        if is_exact:
            return
        at = self.at
        for place in np.argsort(self._contributions(), kind="stable")[:LOSSES]:
            variance = np.where(np.arange(len(at.variance)) == place, 0.0, at.variance)
            if not self.is_going or self._try(at.indices, at.columns, variance, at.weights):
                break

    def _take_moves(self, around: Neighbourhood) -> float:
        """Take as many of the best moves as raise the evidence; returns what is left to gain."""
        banned: set[tuple[int, int]] = set()
        for failures in range(FAILURES):
            most, exchange = 1 if failures else MOVES, failures < EXCHANGES
            moves = around.moves(self.tolerance, most=most, exchange=exchange, banned=banned)
            if not moves or not self.is_going:
                break
            count = len(moves)
            while count > 1:
                if self._try_move(around, moves[count - 1]):
                    return 0.0
                count //= 2
            # Taking a function out has no smaller version; a new variance may be approached.
            for length in LENGTHS if moves[0].pair[0] < 0 else LENGTHS[:1]:
                if self._try_move(around, moves[0], length):
                    return 0.0
            banned.add(moves[0].pair)
        return 0.0 if not moves else moves[0].gain

    def _try_move(self, around: Neighbourhood, move: Move, length: float = 1.0) -> bool:
        variance, weights = move.variance, move.weights
        if length < 1.0:
            variance = around.variance + length * (variance - around.variance)
            weights = around.weights + length * (weights - around.weights)
        return self._try(around.indices, around.columns, variance, weights)

    def result(self) -> SparseBayes:
        """Give the present model back."""
        at = self.at
        if self.gain == np.inf:
            # Out of rounds: what would the next one have promised?
            moves = Neighbourhood(self.basis, at, self.largest).moves(self.tolerance)
            step = _NewtonStep(at, 0.0, self.largest[at.indices])
            self.gain = max([step.gain] + [move.gain for move in moves])
        # What rounding hides of L may be gained too, for all that is known.
        rounding = np.finfo(float).eps * abs(at.evidence)
        gain = max(self.gain, rounding) if rounding > self.tolerance else self.gain
        unit, is_converged = self.basis.unit[at.indices], gain <= self.tolerance
        solution = at.indices, at.weights / unit, at.variance / unit**2
        return SparseBayes(*solution, gain, is_converged, self.history, at)
