"""When a descent that was stopped before it converged is worth a warning.

Learned vectors move on by a little for a long time, most of all with a large C where every row is
right already: the objective falls by a share of next to nothing. That alone is a note in the
history. The objective over the sum of the costs is about the mean loss of a row, which has a unit:
a row on the boundary has a hinge of one, a target at one standard deviation a squared loss of a
half. The model is warned of if as many more steps as a stage of the descent has, each as good as
the last ones, would lower that mean loss by more than a hundredth.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Steps that are looked ahead, and by how much they must lower the mean loss of a row.
AHEAD, WORTHWHILE = 50, 0.01


@dataclass
class Descent:
    """How a descent went: steps, mean relative progress of the last few, whether it was cut short.

    ``mean_loss`` is the objective over the sum of the costs; None where there is no such thing.
    """

    steps: int
    progress: float
    is_cut: bool = False
    mean_loss: float | None = None

    def warning(self, tolerance: float) -> str | None:
        """Return a sentence if it was cut short while there was something to gain."""
        if not self.is_cut or self.progress <= tolerance:
            return None
        words = ""
        if self.mean_loss is not None:
            gain = AHEAD * self.progress * self.mean_loss
            if gain <= WORTHWHILE:
                return None
            words = f"; {AHEAD} more like these would lower the mean loss of a row by {gain:.2g}"
        return (
            f"After {self.steps} steps the vectors still moved: the objective fell by "
            f"{self.progress:.1e} a step, relatively (more than {tolerance:g}){words}. Raise "
            "max_iter, or take a smaller C."
        )
