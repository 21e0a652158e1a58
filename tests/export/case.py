"""A model with rows, and what Python says of these."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from zeronorm import KernelExpansion
from zeronorm.model import Model
from zeronorm.tables.model import TableModel


@dataclass
class Case:
    """A model, raw rows for it (None is missing), and what Python makes of them."""

    model: Any
    rows: list[list]
    scores: np.ndarray
    predictions: list | None = None
    probabilities: np.ndarray | None = None
    #: Distance of each row from the next decision, in units of the scores.
    margin: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def names(self) -> list[str]:
        names = getattr(self.model, "feature_names_in_", None)
        if isinstance(self.model, TableModel):
            names = [column.name for column in self.model.encoder.columns]
        return [f"x{i}" for i in range(len(self.rows[0]))] if names is None else list(names)

    @property
    def X(self) -> np.ndarray:
        """Rows of numbers, NaN where they are missing."""
        return np.array([[np.nan if v is None else v for v in row] for row in self.rows], float)

    def error(self, scores, sizes=1.0) -> float:
        """Return the largest error of these scores, relative to one, the score and the sizes."""
        scores = np.asarray(scores, dtype=float).reshape(len(self.rows), -1)
        known = self.scores.reshape(len(self.rows), -1)
        return float((np.abs(scores - known) / np.maximum(np.abs(known), sizes)).max())

    def sizes(self) -> np.ndarray:
        """Return the sum of the sizes of all that is summed up for each row, at least one."""
        steps = hasattr(self.model, "steps") and len(self.model.steps) > 1
        X = self.model[:-1].transform(self.frame) if steps else None
        if isinstance(self.model, TableModel):
            return np.full((len(self.rows), 1), np.abs(self.model.model.function.coef).sum())
        X = self.X if X is None else np.asarray(X)
        function = Model.from_estimator(self.model[-1] if steps else self.model).function
        if not isinstance(function, KernelExpansion):
            return np.ones((len(X), 1))
        kernel, vectors = function.kernel, function.vectors
        if kernel.name in ("poly", "linear"):
            X, vectors = np.abs(X), np.abs(vectors)
        values = np.abs(kernel.matrix(X, vectors)) if len(vectors) else np.zeros((len(X), 0))
        total = values @ np.abs(function.coef) + np.abs(function.intercept)
        if function.linear is not None:
            total = total + np.abs(X) @ np.abs(function.linear)
        return np.maximum(1.0, total.max(axis=1, keepdims=True))

    @property
    def frame(self):
        """The rows as Python was given them."""
        names = getattr(self.model, "feature_names_in_", None)
        return self.X if names is None else pd.DataFrame(self.rows, columns=names).infer_objects()

    def clear(self, tolerance: float) -> np.ndarray:
        """Return the rows that are farther than this from the next decision."""
        return self.margin > tolerance

    def wrong(self, predictions, tolerance: float = 1e-9) -> int:
        """Return how many of the predictions away from the boundary differ."""
        differ = [a != b for a, b in zip(predictions, self.predictions, strict=True)]
        return int(np.sum(np.array(differ) & self.clear(tolerance)))


def case_of(model, X, given=None) -> Case:
    """Ask a model of scikit-learn's kind."""
    rows = X.tolist() if isinstance(X, np.ndarray) else cells_of(X)
    given = X if given is None else given
    last = model[-1] if hasattr(model, "steps") else model
    scores = next(
        getattr(model, name)(given)
        for name in ("decision_function", "score_samples", "predict", "transform")
        if hasattr(model, name)
    )
    predictions = None if isinstance(last, KernelExpansion) else ask(model, "predict", given)
    probabilities = ask(model, "predict_proba", given)
    case = Case(model, rows, np.asarray(scores, dtype=float), predictions, probabilities)
    function = None if hasattr(model, "steps") else Model.from_estimator(model).function
    case.margin = margins(case.scores, function, given)
    return case


def cells_of(frame):
    """Return the rows of a data frame, None where a cell is missing."""
    return frame.astype(object).where(frame.notna(), None).values.tolist()


def ask(model, method, X):
    if not hasattr(model, method):
        return None
    answer = getattr(model, method)(X)
    return answer.tolist() if method == "predict" else answer


def margins(scores: np.ndarray, function=None, X=None) -> np.ndarray:
    """Distance from the next decision: of two classes, of pairs that vote, of the largest two."""
    if getattr(function, "pair_scores", "votes") == "worst":
        ranked = np.sort(scores, axis=1)
        return ranked[:, -1] - ranked[:, -2]
    if getattr(function, "vote_classes", None) is not None:
        return np.abs(function.outputs(X)).min(axis=1)
    if scores.ndim == 1:
        return np.abs(scores)
    ranked = np.sort(scores, axis=1)
    return np.minimum(ranked[:, -1] - ranked[:, -2], np.abs(scores).min(axis=1))
