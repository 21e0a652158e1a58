"""Warnings of the house."""

from __future__ import annotations


class GuessingWarning(UserWarning):
    """A fitted classifier is no better than guessing, although better is possible."""
