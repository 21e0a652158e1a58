"""From small costs to large ones.

At a large cost one or two vectors do best as a nearly linear function, of a kernel that is far too
wide; a width once learned like that keeps all later vectors from the places where they are needed,
and the descent ends in a poor minimum. At a small cost it does not. So models of a given size are
grown at small costs, and the best then have larger ones: by steps up to the one that is asked for
(``final.py``), or all that are to be compared (``choice.py``).
"""

from __future__ import annotations

import numpy as np

from zeronorm.learned.settings import MANY_ROWS

#: Vectors are added at this cost at most (of MANY_ROWS; of more rows each weighs less), which then
#: rises by this factor at most, but for costs that would take more steps than this.
EASY_COST, RISE, MOST_RISES = 1.0, 10.0, 4


def easy_cost(n_rows: int) -> float:
    """Return the largest cost that vectors are added at."""
    return EASY_COST * min(1.0, MANY_ROWS / n_rows)


def cost_shares(C: float, n_rows: int) -> list[float]:
    """Return the shares of a cost to learn at, one after the other; the last one is 1."""
    share = min(1.0, easy_cost(n_rows) / C)
    n_rises = min(MOST_RISES, int(np.ceil(-np.log(share) / np.log(RISE))))
    return [*np.geomspace(share, 1.0, n_rises + 1)[:-1].tolist(), 1.0]
