"""Zero-norm feature selection: AROM, "approximation of the zero-norm minimisation".

Weston, Elisseeff, Schölkopf & Tipping (2003), sections 3 and 4.1. Wanted is the linear classifier
with the fewest features, min ||w||_0 subject to y_i (w·x_i + b) ≥ 1 (Problem 5). Its log
approximation (Problem 6) is lowered by solving an SVM on rescaled data, over and over, the scale
of each feature being multiplied by its weight: z ← z * w (Problem 7 with the 1-norm, 8 with the
2-norm). What certifies a round is the duality gap of its SVM. The numerics, and what a finite C
means, are in ``solvers/elimination/arom.py`` and ``solvers/elimination/rounds.py``. With
norm="auto" the set that the rounds have chosen is the start of a descent on the problem itself, the
best set of so many features (``solvers/elimination/exchange.py``).
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from sklearn.utils import Tags

from zeronorm.base.parameters import with_parameters
from zeronorm.base.training_set import check_cost
from zeronorm.checks import check_one_of, check_word, is_integer, shown
from zeronorm.feature_selection.base import LinearSelector, check_finite, gap_warning
from zeronorm.feature_selection.tasks import TASKS, NumberTask, task_of
from zeronorm.solvers.elimination import rounds
from zeronorm.solvers.elimination.arom import eliminate
from zeronorm.solvers.elimination.columns import Columns, Selection
from zeronorm.solvers.elimination.exchange import Exchange

#: Cost of a slack where features are exchanged, as a share of C.
EXCHANGE_COST = 0.1

#: norm="auto" takes the 1-norm for a number of features if there are so many rows for each.
FEW_ROWS = 10


@with_parameters
class AROMSelector(LinearSelector):
    """Select the features of the sparsest linear classifier, by rescaling and solving again.

    An SVM is trained, every feature is multiplied by its weight, and so on: what the classifier
    can do without vanishes within a few rounds. Works on the rows' inner products, so that a
    hundred rows with a million features take seconds. Single precision stays what it is.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        How many: a number, a share of all, the smallest number within one standard error of the
        best cross-validated error ("auto"), or as few as the method itself settles on (None).
        A number is met exactly: of features that vanish in the same round the larger are taken.
    norm : {"l2", "l1", "auto"}, default="l2"
        Norm of the weights in each round: an SVM, or a linear program. "auto" is "l1" where rows
        outnumber features, or are ten times as many as the number of features that is asked for,
        and the other parameters allow it; "l2" elsewhere. For a given number of features, and
        the defaults of ``slack_norm`` and ``multi_class``, features are then exchanged as long as
        that lowers the objective of an SVM with squared slacks, or of a ridge regression.
    C : float, default=1.0
        Cost of a slack, in each round that for an SVM on the data as they are. Large values are
        the hard margin of the paper.
    slack_norm : {"auto", 0, 1, 2}, default="auto"
        What C multiplies: half the squared slacks (2, the ridge on the kernel), the slacks (1),
        or about their number (0: as few rows on the wrong side of the margin as can be found).
        "auto" is 2 for "l2" and 1 for "l1", which cannot take squares. Numbers to predict have
        these two only.
    multi_class : {"ovr", "joint"}, default="ovr"
        Several classes share their features. "ovr" separates each class from the rest, "joint"
        has the constraints of Weston and Watkins: a row scores highest for its own class. "joint"
        goes with "l2" and with ``slack_norm`` 0 or 2.
    task : {"auto", "classification", "regression"}, default="auto"
        What features are selected for. "auto": numbers that are not all whole are to be predicted;
        else they are classes, and a table of zeros and ones has several labels for each row, which
        share their features. With "regression" whole numbers are numbers too.
    tol : float, default=1e-4
        Stop when the scales change by less than this, relatively (or when for 20 rounds no feature
        has vanished and the changes do not get smaller).
    max_iter : int, default=100
        Most rounds.
    cv : int, cross-validation generator or iterable, default=5
        Folds of "auto".
    n_jobs : int, optional
        Processes of "auto".

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, where each row has one.
    n_features_ : int
        Number of selected features.
    support_ : ndarray of shape (n_features,)
        Mask of the selected features.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 being the best: those that vanished later rank before. Features
        equal to another come after all others, constant ones last.
    scaling_ : ndarray of shape (n_features,)
        The final scale of every feature; zero where it has vanished.
    n_iter_ : int
        Rounds.
    history_ : dict of ndarray
        "features", "objective" and "gap" (relative duality gap) of every round.
    cv_results_ : dict of ndarray
        With "auto": accuracy for each number of features, or R².
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has names.

    See Also
    --------
    AROMClassifier : The classifier on the selected features.
    sklearn.feature_selection.RFE : Drops the smallest weights instead of rescaling.

    Notes
    -----
    The features of one fit are nested: the best ten are among the best twenty. With norm="auto" and
    a given number, those of two fits need not be.

    References
    ----------
    Jason Weston, André Elisseeff, Bernhard Schölkopf, Mike Tipping: Use of the zero-norm with
    linear models and kernel methods. Journal of Machine Learning Research 3 (2003).

    Examples
    --------
    >>> from zeronorm import AROMSelector
    >>> from zeronorm.datasets import make_weston_toy
    >>> X, y = make_weston_toy(100, random_state=0)
    >>> selector = AROMSelector(2).fit(X, y)
    >>> X.shape, selector.transform(X).shape
    ((100, 100), (100, 2))
    >>> [int(feature) for feature in selector.get_support(indices=True)]
    [2, 5]
    """

    norm: str = field(default="l2", kw_only=False)
    slack_norm: Any = "auto"
    multi_class: str = "ovr"
    task: str = "auto"
    tol: float = 1e-4
    max_iter: int = 100

    def _check_parameters(self) -> None:
        super()._check_parameters()
        norm, slack_norm, multi_class = self.norm, self.slack_norm, self.multi_class
        check_word("norm", norm, "l2", "l1", "auto")
        check_one_of("task", self.task, TASKS)
        check_word("multi_class", multi_class, "ovr", "joint")
        if not (isinstance(slack_norm, str) or is_integer(slack_norm)) or (
            slack_norm not in ("auto", 0, 1, 2)
        ):
            raise ValueError(f"slack_norm must be 'auto', 0, 1 or 2; got {shown(slack_norm)}.")
        if norm == "l1" and slack_norm == 2:
            raise ValueError(
                "slack_norm=2 makes the rounds quadratic, norm='l1' makes them linear programs; "
                "take slack_norm 0 or 1, or norm='l2'."
            )
        if multi_class == "joint" and (norm == "l1" or slack_norm == 1):
            raise ValueError(
                "multi_class='joint' goes with norm='l2' and slack_norm 0 or 2; for others take "
                "'ovr'."
            )

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what targets fit."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _target_options(self) -> dict[str, Any]:
        return {"multi_output": True}

    def _task(self, y: np.ndarray) -> Any:
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        task = task_of(y, self.task)
        if isinstance(task, NumberTask):
            norm = "l2" if self.norm == "auto" and self.slack_norm == 2 else self.norm
            allowed = {"l2": ("auto", 2), "l1": ("auto", 1), "auto": ("auto", 1, 2)}[norm]
            if self.slack_norm not in allowed:
                raise ValueError(
                    "Numbers are predicted with squared slacks (slack_norm=2) and norm='l2', or "
                    f"with the slacks themselves (1) and norm='l1'; got "
                    f"{shown(self.slack_norm)} and {shown(self.norm)}."
                )
        return task

    def _norm(self, n_rows: int, n_features: int, wanted: int | None) -> str:
        """Return the norm of the rounds."""
        if self.norm != "auto":
            return self.norm
        if self.slack_norm == 2 or self.multi_class != "ovr":
            return "l2"
        if isinstance(self.n_features_to_select, str):
            wanted = None  # one ranking compares all numbers, whichever is then chosen
        is_few = wanted is not None and FEW_ROWS * wanted <= n_rows
        return "l1" if n_rows > n_features or is_few else "l2"

    def _problem(self, columns: Columns, targets: np.ndarray, norm: str) -> rounds.RoundProblem:
        """Return the problem of a round."""
        kind: type[rounds.RoundProblem] = rounds.SquaredSlack
        is_linear = norm == "l1"
        if issubclass(self._task_kind, NumberTask):
            is_linear = is_linear or self.slack_norm == 1
            kind = rounds.AbsoluteResiduals if is_linear else rounds.SquaredResiduals
        elif is_linear:
            kind = rounds.LinearProgram
        elif self.slack_norm == 1:
            kind = rounds.HingeSlack
        elif self.multi_class == "joint" and targets.shape[1] > 1:
            kind = rounds.JointSquaredSlack
        return kind(columns, targets, self._cost(columns))

    def _exchanges(self, n_columns: int, wanted: int | None) -> bool:
        """Whether features are exchanged after the rounds."""
        if wanted is None or isinstance(self.n_features_to_select, str):
            return False  # one ranking compares all numbers
        is_default = self.slack_norm == "auto" and self.multi_class == "ovr"
        return self.norm == "auto" and is_default and wanted < n_columns

    def _cost(self, columns: Columns) -> np.ndarray:
        cost = np.full(columns.n_rows, float(self.C))
        if columns.weight is not None:
            cost *= columns.weight
        check_cost(cost)
        return cost

    def _exchanged(
        self, columns: Columns, targets: np.ndarray, wanted: int, ranked: Selection
    ) -> rounds.RoundSolution:
        """Exchange the features that the rounds have chosen; they stay the first of the order."""
        is_number = issubclass(self._task_kind, NumberTask)
        kind = rounds.SquaredResiduals if is_number else rounds.SquaredSlack
        exchange = Exchange(columns, targets, EXCHANGE_COST * self._cost(columns), kind)
        best = exchange.best_of([ranked.order[:wanted], exchange.first(wanted)])
        chosen = best.features[np.argsort(-best.strength[best.features], kind="stable")]
        ranked.order = np.append(chosen, ranked.order[~np.isin(ranked.order, chosen)])
        ranked.scaling[:] = 0.0
        ranked.scaling[best.features] = np.abs(best.solution.coef).sum(axis=1)
        return best.solution

    def _rank(self, columns: Columns, targets: np.ndarray, stop_at: int | None) -> Selection:
        norm, every = self._norm(columns.n_rows, columns.n_columns, stop_at), columns
        exchanges = self._exchanges(columns.n_columns, stop_at)
        if exchanges:
            columns = columns.some(np.arange(columns.n_columns))  # the rounds drop what they hold
        result = eliminate(
            self._problem(columns, targets, norm),
            stop_at=0 if stop_at is None else stop_at,
            count_slacks=self.slack_norm == 0,
            max_rounds=self.max_iter,
            tolerance=self.tol,
        )
        check_finite(result.history["objective"])
        if not result.is_settled:
            result.warning = (
                f"stopped after {result.n_iter} rounds with {result.count} features and a relative "
                f"change of {result.change:.1e} (tol={self.tol:g}). Raise max_iter or tol."
            )
        gaps = result.history["gap"]
        if exchanges and stop_at is not None:
            gaps = [*gaps, self._exchanged(every, targets, stop_at, result).gap]
        result.warning = gap_warning(max(gaps)) or result.warning
        return result
