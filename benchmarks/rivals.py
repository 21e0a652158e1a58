"""Peers from other libraries, with labels as they come and their kernel terms counted."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC, NuSVC

from benchmarks.data import imported

ROUNDS = 20_000  # of liblinear
TORCHKM_ROUNDS = 100_000


class Rival(ClassifierMixin, BaseEstimator):
    """Encodes the labels, and predicts with ``model_``."""

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = self.learned(X, codes)
        self.n_terms_ = self.counted()
        return self

    def predict(self, X):
        return self.classes_[np.asarray(self.model_.predict(X)).astype(int)]

    def counted(self) -> int:
        return len(self.model_.relevance_)


class FastRVM(Rival):
    """fastrvm: a relevance vector machine in C++."""

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def learned(self, X, codes):
        fastrvm = imported("fastrvm")
        self.commonest_ = np.bincount(codes).argmax()
        return fastrvm.RVC(fit_intercept=True, gamma=self.gamma).fit(X, codes)

    def predict(self, X):
        if not self.n_terms_:  # which its own predict does not survive
            return np.full(len(X), self.classes_[self.commonest_])
        return super().predict(X)


class SklearnRVM(Rival):
    """sklearn-rvm: a relevance vector machine by expectation-maximisation."""

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def learned(self, X, codes):
        return imported("sklearn_rvm").EMRVC(gamma=self.gamma).fit(X, codes)


class NystroemSVC(Rival):
    """Nystroem and LinearSVC: a component costs what a term costs."""

    def __init__(self, n_terms=8, C=1.0, gamma=1.0):
        self.n_terms = n_terms
        self.C = C
        self.gamma = gamma

    def learned(self, X, codes):
        features = Nystroem(n_components=self.n_terms, gamma=self.gamma, random_state=0)
        linear = LinearSVC(C=self.C, random_state=0, max_iter=ROUNDS)
        return make_pipeline(features, linear).fit(X, codes)

    def counted(self) -> int:
        return self.n_terms


class Linear(Rival):
    """LinearSVC: one inner product, which costs what one term costs."""

    def __init__(self, C=1.0):
        self.C = C

    def learned(self, X, codes):
        return LinearSVC(C=self.C, random_state=0, max_iter=ROUNDS).fit(X, codes)

    def counted(self) -> int:
        return 1


class Nu(Rival):
    """NuSVC, with nu as a share of the largest that the classes allow."""

    def __init__(self, share=0.5, gamma=1.0):
        self.share = share
        self.gamma = gamma

    def learned(self, X, codes):
        largest = 2.0 * np.bincount(codes).min() / len(codes)
        return NuSVC(nu=self.share * largest, gamma=self.gamma).fit(X, codes)

    def counted(self) -> int:
        return len(self.model_.support_)


class DlibSVM(Rival):
    """dlib's SVM, which searches for its parameters, cut to so many vectors by ``dlib.reduce``.

    ``full`` is a fitted one whose function is to be cut, so that the search is done once.
    """

    def __init__(self, n_terms=None, seconds=0.5, full=None):
        self.n_terms = n_terms
        self.seconds = seconds
        self.full = full

    def learned(self, X, codes):
        dlib = imported("dlib")  # which is built from source
        if self.full is None:
            function = dlib.auto_train_rbf_classifier(X, 2.0 * codes - 1.0, self.seconds, False)
        else:
            function = self.full.model_
        return function if self.n_terms is None else dlib.reduce(function, X, self.n_terms)

    def predict(self, X):
        return self.classes_[(np.asarray(self.model_.batch_predict(X)) > 0).astype(int)]

    def counted(self) -> int:
        return len(self.model_.basis_vectors)


class TorchKM(Rival):
    """TorchKM's SVM, C by its own cross-validation; with ``n_terms`` its Nyström form.

    The SVM has the best of several widths. The Nyström form takes no width: it estimates one.
    """

    def __init__(self, n_terms=None, gammas=(1.0,), costs=(1.0,)):
        self.n_terms = n_terms
        self.gammas = gammas
        self.costs = costs

    def learned(self, X, codes):
        machine = imported("torchkm").TorchKMSVC
        imported("torch").manual_seed(0)  # which its landmarks and its estimate of a width are by
        # It goes through the costs in their order, with so many iterations for all of them.
        fixed = {"Cs": sorted(self.costs), "max_iter": TORCHKM_ROUNDS}
        fixed |= {"device": "cpu", "random_state": 0}
        if self.n_terms is not None:
            landmarks = {"num_landmarks": self.n_terms, "nys_k": self.n_terms}
            model = machine(low_rank=True, **landmarks, **fixed).fit(X, codes)
            if model._low_rank_backend_.jerr:  # of which it says nothing itself
                warnings.warn("TorchKM ran out of iterations.", ConvergenceWarning, stacklevel=2)
            return model
        # Its kernel is exp(-2 sigma |x - z|^2).
        fitted = [machine(rbf_sigma=g / 2.0, **fixed).fit(X, codes) for g in self.gammas]
        return min(fitted, key=lambda model: model.cv_mis_.min())

    def counted(self) -> int:
        """Rows that a prediction compares with: of the SVM all."""
        return len(self.model_.alpha_) if self.n_terms is None else self.model_.num_landmarks_
