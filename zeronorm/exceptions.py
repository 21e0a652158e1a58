"""Warnings of the house, and how they are given."""

from __future__ import annotations

import os
import sys
import warnings

#: Where the modules of the house are.
_HOUSE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class PoorFitWarning(UserWarning):
    """A fitted classifier is no better than guessing, or far behind what is seen to be possible."""


class LongFitWarning(UserWarning):
    """A fit has begun that will take more than a minute."""


class FeatureScaleWarning(UserWarning):
    """The features are on scales so different that some hardly count."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the line that called the house, however deep inside it this is."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HOUSE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
