"""Moves of sparse Bayesian learning: changes of one or two prior variances for fixed B.

With e and B of the present mode kept, the likelihood is that of a linear regression with noise
variances 1/B and covariance C = B^-1 + ΦVΦ'. There the gain in L by any change of one variance is
known from S = φ'C^-1 φ and Q (Tipping & Faul 2003, (18) - (25)), and the change itself is one of
rank one to the matrix of all φ_i'C^-1 φ_j. A move gives one function its best variance, which may
add it or delete it, alone or after another function was taken out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from zeronorm.solvers.evidence.model import IN_SPAN, Basis, Posterior, quality_of

#: Most moves of a round, and the share of the best one's gain that each must have: B changes with
#: every move, and what is expected for fixed B soon does not hold any more.
MOVES, WORTH = 8, 0.05

#: Functions outside among which moves are sought, so that the table of all pairs stays small.
FOREMOST = 40

#: A function whose weight the data leave no more than this of its prior variance is changed by
#: steps only: what L is without it is a quotient by this share, of which rounding leaves little.
DETERMINED = 1e-9


def gain_of_adding(quality: np.ndarray, sparsity: np.ndarray) -> np.ndarray:
    """Gain in L by the best variance of a function outside, for fixed B; Q² - QR and S given.

    (18) of Tipping & Faul at (20): ½ (x - 1 - log x), x = Q²/S, if x > 1.
    """
    ratio = np.maximum(quality / sparsity, 1.0)
    return 0.5 * (ratio - 1.0 - np.log(ratio))


@dataclass
class Move:
    """Function j taken out (none if -1), the variance of k set: (j, k), and what comes of it.

    ``variance`` and ``weights`` are those of all functions after this move and those before it.
    """

    pair: tuple[int, int]
    gain: float
    variance: np.ndarray
    weights: np.ndarray


class Neighbourhood:
    """The functions in the model and the foremost outside, with S, Q and R for fixed B.

    ``largest`` are the largest variances of all functions, ``foremost`` how many outside to take.
    ``S`` is the matrix φ_i' C^-1 φ_j; a change of one variance changes it, Q and R by a matrix of
    rank one.
    """

    def __init__(
        self, basis: Basis, at: Posterior, largest: np.ndarray, *, foremost: int = FOREMOST
    ) -> None:
        front, Q, R, explained = _foremost(basis, at, foremost)
        columns = basis.columns(front)
        n_terms = len(at.indices)
        self.indices = np.append(at.indices, front)
        self.columns = np.hstack([at.columns, columns])
        self.largest = largest[self.indices]
        self.weights = np.append(at.weights, np.zeros(len(front)))
        self.variance = np.append(at.variance, np.zeros(len(front)))
        self.Q = np.append(at.whitened / at.root, Q)
        self.R = None if R is None else np.append(at.drag / at.root, R)
        self.S = np.empty((len(self.indices), len(self.indices)))
        self.S[:n_terms, :n_terms] = at.sparsity / at.root / at.root[:, None]
        cross = (at.inverse_factor.T @ explained) / at.root[:, None]
        self.S[:n_terms, n_terms:], self.S[n_terms:, :n_terms] = cross, cross.T
        inner = columns.T @ (columns * at.at_mode.curvature[:, None]) - explained.T @ explained
        self.S[n_terms:, n_terms:] = inner

    def moves(
        self,
        floor: float,
        *,
        most: int = 1,
        worth: float = WORTH,
        exchange: bool = True,
        banned: Iterable[tuple[int, int]] = (),
    ) -> list[Move]:
        """Best moves, one after another.

        Parameters
        ----------
        floor : float
            Least gain of a move.
        most : int
            Most moves.
        worth : float
            Share of the first move's gain that each must have.
        exchange : bool
            Whether a function may take the place of another.
        banned : pairs
            Moves that are not allowed.
        """
        S, Q, variance = self.S.copy(), self.Q.copy(), self.variance.copy()
        R = None if self.R is None else self.R.copy()
        found: list[Move] = []
        for _ in range(most if len(variance) else 0):
            gain, best, out = _gains(S, Q, R, variance, self.largest, exchange)
            for j, k in banned:
                gain[out == j, k] = 0.0
            line, k = divmod(int(gain.argmax()), len(variance))
            most_gained, j = float(gain[line, k]), int(out[line])
            if most_gained <= (max(floor, worth * found[0].gain) if found else floor):
                break
            last = k, float(best[line, k])
            for place, new in [last] if j < 0 else [(j, 0.0), last]:
                change = new - variance[place]
                row = S[place].copy()
                rate = change / (1.0 + change * row[place])
                Q -= (Q[place] * rate) * row
                if R is not None:
                    R -= (R[place] * rate) * row
                S -= row[:, None] * (rate * row)
                variance[place] = new
            found.append(Move((j, k), most_gained, variance.copy(), variance * Q))
        return found


def _foremost(
    basis: Basis, at: Posterior, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray]:
    """Look at all functions outside: indices, Q, R and explained parts of the foremost."""
    if not count:
        none, n_terms = np.empty(0), len(at.indices)
        R = None if at.drag is None else none
        return np.empty(0, dtype=np.intp), none, R, np.empty((n_terms, 0))
    weighted = at.design * at.at_mode.curvature[:, None]
    rows = [at.at_mode.score_gradient]
    if at.drag is not None:
        rows.append(at.shift - weighted @ at.drag)
    products = basis.adjoint(np.vstack([*rows, weighted.T]))
    explained = at.inverse_factor @ products[len(rows) :]
    if at.drag is None:
        raw = at.likelihood.unit_curvature * basis.own_squares
    else:
        raw = basis.squares(at.at_mode.curvature)
    S = raw - np.einsum("ij,ij->j", explained, explained)
    usable = basis.is_live & (S > IN_SPAN * raw)
    usable[at.indices] = False
    outside = np.flatnonzero(usable)
    S, explained, Q = S[outside], explained[:, outside], products[0, outside]
    R = None if at.drag is None else products[1, outside]
    gain = _gain_outside(at, S, Q, R, at.inverse_factor.T @ explained)
    front = np.argsort(-gain, kind="stable")[:count]
    front = front[gain[front] > 0]
    return outside[front], Q[front], None if R is None else R[front], explained[:, front]


def _gain_outside(
    at: Posterior, S: np.ndarray, Q: np.ndarray, R: np.ndarray | None, cross: np.ndarray
) -> np.ndarray:
    """Gain of adding each function outside, or of its taking the place of one in the model."""
    gain = gain_of_adding(quality_of(Q, R), S)
    free = at.undetermined > DETERMINED
    if not free.any():
        return gain
    cross, left = cross[free], at.undetermined[free][:, None]
    share = cross / left
    Q = Q + at.whitened[free][:, None] * share
    if R is not None and at.drag is not None:
        R = R + at.drag[free][:, None] * share
    instead = gain_of_adding(quality_of(Q, R), S + cross * share)
    instead -= gain_of(1.0, left, at.quality[free][:, None])
    return np.maximum(gain, instead.max(axis=0))


def _gains(
    S: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray | None,
    variance: np.ndarray,
    largest: np.ndarray,
    exchange: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tabulate moves: gains, new variances, and the function each line takes out (-1: none)."""
    size = S.diagonal()
    left = 1.0 - variance * size
    free = np.flatnonzero((variance > 0) & (left > DETERMINED) & exchange)
    share = S[free] * (variance[free] / left[free])[:, None]
    lost = gain_of(variance[free], left[free], quality_of(Q, R)[free])
    # S, Q and R without the function of the line; the first line has them as they are.
    size, Q = _with_lines(size, S[free] * share), _with_lines(Q, Q[free][:, None] * share)
    if R is not None:
        R = _with_lines(R, R[free][:, None] * share)
    quality = quality_of(Q, R)
    # ... and without that of the column, (23): all is then known for any variance of it.
    left = 1.0 - variance * size
    sound = (left > DETERMINED) & (size > 0)
    if not sound.all():
        left, size = np.where(sound, left, 1.0), np.where(sound, size, 1.0)
    alone, without = size / left, quality / (left * left)
    best = np.minimum(np.maximum(without / alone - 1.0, 0.0) / alone, largest)  # (20)
    grown = 1.0 + best * alone
    # (18), less what the function of the column adds as it is.
    gain = best * without / grown - variance * quality / left - np.log(grown * left)
    gain *= 0.5
    gain[1:] -= lost[:, None]
    gain[~sound] = 0.0
    gain[1 + np.arange(len(free)), free] = 0.0  # a function does not take its own place
    return gain, best, np.append(-1, free)


def _with_lines(first: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Return a line, and under it this line with each of the changes."""
    table = np.empty((len(changes) + 1, len(first)))
    table[0] = first
    np.add(first, changes, out=table[1:])
    return table


def gain_of(variance: np.ndarray | float, left: np.ndarray, quality: np.ndarray) -> np.ndarray:
    """Return what functions add to L, each beside all others; ``left`` is 1 - v S."""
    return 0.5 * (variance * quality / left + np.log(left))
