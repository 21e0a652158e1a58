"""Warnings of the house."""

from __future__ import annotations


class PoorFitWarning(UserWarning):
    """A fitted classifier is no better than guessing, or far behind what is seen to be possible."""


class LongFitWarning(UserWarning):
    """A fit has begun that will take more than a minute."""
