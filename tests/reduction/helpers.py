"""What the tests of SVCReducer share."""

import numpy as np
from sklearn.frozen import FrozenEstimator

from zeronorm import SVCReducer

METHODS = ("reduced_set", "modified", "cross_entropy", "exact")
LEARNED = ("reduced_set", "modified")


def reduced(model, *data, **options):
    return SVCReducer(FrozenEstimator(model), **{"random_state": 0, **options}).fit(*data)


def kept(small, model, X):
    return np.mean(small.predict(X) == model.predict(X))
