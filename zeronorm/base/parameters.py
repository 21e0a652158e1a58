"""Parameters of estimators, declared as fields of the class, from which its __init__ is made.

scikit-learn asks of an __init__ that it takes every parameter by name and keeps it as it is, and
nothing else; written out, that is each name four times. A field says it once: name, type, default.
Parameters that may be given without their names have ``field(default=..., kw_only=False)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, cast, dataclass_transform

Estimator = TypeVar("Estimator", bound=type)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_parameters(cls: Estimator) -> Estimator:
    """Make the __init__ of an estimator from its fields and those of its bases."""
    return cast(Estimator, dataclass(eq=False, repr=False, kw_only=True)(cls))
