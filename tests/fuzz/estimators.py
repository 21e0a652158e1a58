"""Every estimator of the package, found and not listed."""

import inspect
import pkgutil
from importlib import import_module

from sklearn.base import BaseEstimator

import zeronorm

#: What a file of a selector holds, steps of the command line, and what estimators share: not meant
#: to be fitted.
INTERNAL = {
    "zeronorm.feature_selection.selected",
    "zeronorm.learned.machine",
    "zeronorm.learned.scoring",
    "zeronorm.tables.contenders",
    "zeronorm.tables.encoding",
}

#: Its estimators take Dask collections and need an extra; tests/dask has their tests.
ON_DASK = "zeronorm.dask"


def all_estimators():
    """Every estimator class defined in the package, also one that __init__.py forgets."""
    found = set()
    for module in pkgutil.walk_packages(zeronorm.__path__, "zeronorm."):
        if module.name.startswith(ON_DASK):
            continue
        for _, item in inspect.getmembers(import_module(module.name), inspect.isclass):
            if item.__name__.startswith("_"):
                continue
            own = item.__module__.startswith("zeronorm.") and item.__module__ not in INTERNAL
            if own and issubclass(item, BaseEstimator) and not inspect.isabstract(item):
                found.add(item)
    return sorted(found, key=lambda item: item.__name__)
