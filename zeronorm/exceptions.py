"""Warnings of the house."""

from __future__ import annotations


class PoorFitWarning(UserWarning):
    """A fitted classifier is no better than guessing, or far behind what is seen to be possible."""
