"""Calls of every estimator with unhappy input, and the contract that all of them must keep.

``from tests.fuzz import *`` is all that a reproducing line ``check(Call(...))`` needs.
"""

import numpy as np
from numpy import array, inf, nan
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, NuSVC

from .calls import Call, Table, calls
from .contract import Breach, check

__all__ = [
    "SVC", "Breach", "Call", "LogisticRegression", "NuSVC", "Table", "array", "calls", "check",
    "inf", "nan", "np",
]  # fmt: skip
