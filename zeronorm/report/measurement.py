"""What predictions beside known answers tell: error, confusions, curves, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from zeronorm.checks import shown
from zeronorm.report.wording import plain
from zeronorm.tables.columns import to_matrix
from zeronorm.tables.model import TableModel
from zeronorm.tables.table import Table

#: Points of a curve, bins of a calibration.
POINTS, BINS = 120, 10


@dataclass(frozen=True)
class Answers:
    """What a model says of rows.

    ``scores`` are decision values, one column for each class or a single one for two classes; None
    where there are none. ``probabilities`` have a column for each class.
    """

    predicted: np.ndarray
    scores: np.ndarray | None = None
    probabilities: np.ndarray | None = None


def answers_of(model: Any, X: Any) -> Answers:
    """Ask a fitted model."""
    if isinstance(model, TableModel):
        matrix = to_matrix(X, model.encoder.columns) if isinstance(X, Table) else X
        model, X = model.model, model.encoder.transform(matrix)
    if not hasattr(model, "predict"):
        raise ValueError(
            f"{type(model).__name__} predicts nothing that y could be compared with: take y=None."
        )
    scores, chances = (
        np.asarray(getattr(model, name)(X)) if hasattr(model, name) else None
        for name in ("decision_function", "predict_proba")
    )
    return Answers(np.asarray(model.predict(X)), scores, chances)


def joined(parts: Sequence[Answers], order: np.ndarray) -> Answers:
    """Join what models of folds said of their rows, back in the order of all rows.

    Parameters
    ----------
    parts : sequence of Answers
        One for each fold.
    order : array of shape (n_rows,)
        The row of each answer, fold after fold.

    Returns
    -------
    Answers
        Probabilities only if every fold has them.
    """
    back = np.argsort(order)

    def column(name: str) -> Any:
        found = [getattr(part, name) for part in parts]
        return None if any(one is None for one in found) else np.concatenate(found)[back]

    return Answers(column("predicted"), column("scores"), column("probabilities"))


def classification_facts(answers: Answers, y: Any, labels: list[Any]) -> dict[str, Any]:
    """Return the facts on a classifier.

    Parameters
    ----------
    answers : Answers
        What it said.
    y : array-like
        The known classes.
    labels : list
        All classes, in the order of the scores.
    """
    known = np.asarray(y)
    _check_lengths(answers, known)
    code = {label: i for i, label in enumerate(labels)}
    strange = sorted({str(label) for label in known.tolist() if label not in code})
    if strange:
        raise ValueError(f"The model does not know the class {shown(strange[0])} of y.")
    codes = np.array([code[label] for label in known.tolist()])
    predicted = np.array([code[label] for label in answers.predicted.tolist()])
    table = confusion_matrix(codes, predicted, labels=range(len(labels)))
    error = float(np.mean(codes != predicted))
    counts = table.sum(axis=1)
    with np.errstate(invalid="ignore"):
        recall, precision = table.diagonal() / counts, table.diagonal() / table.sum(axis=0)
    return {
        "n_rows": len(known),
        "error": error,
        "standard_error": float(np.sqrt(error * (1.0 - error) / len(known))),
        "guessing": float(1.0 - counts.max() / len(known)),
        "commonest": str(labels[int(counts.argmax())]),
        "balanced_error": float(1.0 - np.nanmean(recall)),
        "confusion": table.tolist(),
        "classes": [
            {"label": str(label), "rows": int(n), "recall": _or_none(r), "precision": _or_none(p)}
            for label, n, r, p in zip(labels, counts, recall, precision, strict=True)
        ],
        "curves": _curves(answers.scores, codes, labels),
        "calibration": _calibration(answers.probabilities, codes, labels),
    }


def regression_facts(answers: Answers, y: Any) -> dict[str, Any]:
    """Return the facts on predictions that are numbers."""
    known = np.asarray(y, dtype=np.float64)
    _check_lengths(answers, known)
    residuals = answers.predicted - known
    squares = residuals**2
    spread = float(((known - known.mean(axis=0)) ** 2).mean())
    shown = np.linspace(0, len(known) - 1, min(len(known), 300)).round().astype(int)
    pairs = np.column_stack(
        [known.reshape(len(known), -1)[:, 0], answers.predicted.reshape(len(known), -1)[:, 0]]
    )
    return {
        "n_rows": len(known),
        "rmse": float(np.sqrt(squares.mean())),
        "mean_absolute_error": float(np.abs(residuals).mean()),
        "guessing": float(np.sqrt(spread)),
        "r2": float(1.0 - squares.mean() / spread) if spread else 0.0,
        "pairs": [plain(pair) for pair in pairs[np.unique(shown)]],
    }


def _check_lengths(answers: Answers, known: np.ndarray) -> None:
    if answers.predicted.shape != known.shape:
        raise ValueError(
            f"There are {len(answers.predicted)} rows in X and answers of shape {known.shape} in y."
        )


def _or_none(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _curves(
    scores: np.ndarray | None, codes: np.ndarray, labels: list[Any]
) -> list[dict[str, Any]]:
    """Return ROC and precision-recall of each class against the rest; with two, of the second."""
    if scores is None:
        return []
    columns = scores.reshape(len(codes), -1)
    column_of = {1: 0} if len(labels) == 2 else {code: code for code in range(len(labels))}
    found = []
    for code, column in column_of.items():
        is_class = codes == code
        if is_class.all() or not is_class.any():
            continue
        false, true, _ = roc_curve(is_class, columns[:, column])
        precision, recall, _ = precision_recall_curve(is_class, columns[:, column])
        found.append(
            {
                "label": str(labels[code]),
                "share": float(is_class.mean()),
                "auc": float(roc_auc_score(is_class, columns[:, column])),
                "average_precision": float(average_precision_score(is_class, columns[:, column])),
                "roc": _thinned(false, true),
                "precision_recall": _thinned(recall, precision),
            }
        )
    return found


def _thinned(x: np.ndarray, y: np.ndarray) -> list[list[float]]:
    taken = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).round().astype(int))
    return [
        [round(float(a), 4), round(float(b), 4)] for a, b in zip(x[taken], y[taken], strict=True)
    ]


def _calibration(
    probabilities: np.ndarray | None, codes: np.ndarray, labels: list[Any]
) -> dict[str, Any] | None:
    """Return bins of equal size: mean probability, share that came true, rows.

    With two classes the probability is that of the second; beyond, that of the predicted class,
    which comes true where the prediction is right.
    """
    if probabilities is None:
        return None
    if probabilities.shape[1] == 2:
        chance, is_true = probabilities[:, 1], codes == 1
    else:
        chance, is_true = probabilities.max(axis=1), codes == probabilities.argmax(axis=1)
    order = np.argsort(chance, kind="stable")
    bins = [part for part in np.array_split(order, min(BINS, len(order))) if len(part)]
    right = probabilities[np.arange(len(codes)), codes]
    return {
        "of": str(labels[1]) if len(labels) == 2 else "the predicted class",
        "bins": [[float(chance[b].mean()), float(is_true[b].mean()), len(b)] for b in bins],
        "brier": float(np.mean((chance - is_true) ** 2)),
        "log_loss": float(-np.log(np.maximum(right, 1e-15)).mean()),
    }
