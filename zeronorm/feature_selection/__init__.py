"""Feature selection: a handful of inputs where a linear model keeps thousands."""

from zeronorm.feature_selection.arom import AROMSelector
from zeronorm.feature_selection.classifier import AROMClassifier
from zeronorm.feature_selection.correlation import CorrelationSelector
from zeronorm.feature_selection.fsv import FSVSelector
from zeronorm.feature_selection.r2w2 import R2W2Selector
from zeronorm.feature_selection.stability import StabilityDisplay, selection_frequencies

__all__ = [
    "AROMClassifier",
    "AROMSelector",
    "CorrelationSelector",
    "FSVSelector",
    "R2W2Selector",
    "StabilityDisplay",
    "selection_frequencies",
]
