"""What predictions are judged by: of classes, and of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
    root_mean_squared_error,
)

from zeronorm.report.measurement import Answers
from zeronorm.report.wording import percent, short


@dataclass(frozen=True)
class Metric:
    """A number for predictions of rows whose answers are known.

    Parameters
    ----------
    label : str
        What the table calls it.
    value : callable
        Takes answers and what is true; None where the answers have no part that it needs.
    is_loss : bool
        Whether less is better.
    is_share : bool
        Whether it is shown in per cent.
    takes_scores : bool
        Whether it needs more than the predictions.
    """

    label: str
    value: Callable[[Answers, NDArray[Any]], float | None]
    is_loss: bool = True
    is_share: bool = False
    takes_scores: bool = False

    def shown(self, mean: float, spread: float) -> str:
        """Return the mean over the folds and its standard error as a text."""
        if np.isnan(mean):
            return "–"
        if self.is_share:
            return f"{percent(mean)} ± {100 * spread:.1f}"
        if self.label in ("AUC", "log loss", "R²"):
            return f"{mean:.3f} ± {spread:.3f}"
        return f"{short(mean)} ± {spread:.2g}"

    def score(self, model: Any, X: Any, y: NDArray[Any]) -> float:
        """Return what it says of a fitted model; larger is better."""
        scores = model.decision_function(X) if self.takes_scores else None
        value = self.value(Answers(model.predict(X), scores, None), y)
        assert value is not None
        return -value if self.is_loss else value


def _error(answers: Answers, y: NDArray[Any]) -> float:
    return float(np.mean(answers.predicted != y))


def _auc(answers: Answers, y: NDArray[Any]) -> float | None:
    """Area under the ROC curve; with several classes the mean of each against the rest."""
    scores = answers.scores
    if scores is None:
        return None
    classes = np.unique(y)
    if scores.ndim == 1:
        return float(roc_auc_score(y, scores)) if len(classes) == 2 else None
    areas = [roc_auc_score(y == k, scores[:, k]) for k in classes if 0 < np.sum(y == k) < len(y)]
    return float(np.mean(areas)) if areas else None


def _log_loss(answers: Answers, y: NDArray[Any]) -> float | None:
    chances = answers.probabilities
    return None if chances is None else float(log_loss(y, chances, labels=range(chances.shape[1])))


OF_CLASSES = {
    "error": Metric("error", _error, is_share=True),
    "accuracy": Metric("accuracy", lambda a, y: 1.0 - _error(a, y), is_loss=False, is_share=True),
    "balanced": Metric(
        "balanced accuracy",
        lambda a, y: float(balanced_accuracy_score(y, a.predicted)),
        is_loss=False,
        is_share=True,
    ),
    "auc": Metric("AUC", _auc, is_loss=False, takes_scores=True),
    "log_loss": Metric("log loss", _log_loss, takes_scores=True),
}
OF_NUMBERS = {
    "rmse": Metric("RMSE", lambda a, y: float(root_mean_squared_error(y, a.predicted))),
    "r2": Metric("R²", lambda a, y: float(r2_score(y, a.predicted)), is_loss=False),
    "mae": Metric("mean absolute error", lambda a, y: float(mean_absolute_error(y, a.predicted))),
}
OF_TASK = {"classification": OF_CLASSES, "regression": OF_NUMBERS}
#: What is always shown.
USUAL = {"classification": ("error",), "regression": ("rmse", "r2")}
