"""Fixtures of several rooms."""

import pytest

from zeronorm.base import classifier
from zeronorm.feature_selection import classifier as linear_classifier


@pytest.fixture
def guard_on_request(request, monkeypatch):
    """Leave out the look at every fitted classifier, but in tests with the marker ``guard``.

    A test of a solver fits many models that are poor on purpose, and half of its time would be
    spent on learning them again in folds, for a warning that it does not ask for.
    """
    if request.node.get_closest_marker("guard") is None:
        for module in (classifier, linear_classifier):
            monkeypatch.setattr(module, "guessing_message", lambda *_: None)
