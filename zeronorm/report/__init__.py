"""Pictures and reports of fitted models."""

from __future__ import annotations

import importlib
from typing import Any

#: Where the public names are; they are imported when first used, for ``import zeronorm`` to be
#: quick.
_MODULES = {
    "ContributionsDisplay": "contributions_display",
    "SparsityPathDisplay": "displays",
    "TermsDisplay": "terms_display",
    "describe": "description",
    "explain": "explanation",
    "make_report": "facts",
    "write_html": "facts",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
