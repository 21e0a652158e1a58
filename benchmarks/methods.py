"""The classifiers that several studies compare, and the grids their parameters are chosen from."""

from sklearn.frozen import FrozenEstimator
from sklearn.svm import SVC

from benchmarks.cross_validation import SEED
from zeronorm import (
    IRWLSClassifier,
    ReducedSVC,
    RelevanceVectorClassifier,
    SparseLargeMarginClassifier,
    SparseProbitClassifier,
    SparsityControlledSVC,
    SVCReducer,
    ZeroNormSVC,
)

GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0)  # times 1 / number of features, of standardised data
#: Of methods whose C counts terms: finer in the middle, where twice the cost is twice the terms.
COSTS = (0.1, 0.3, 0.6, 1.5, 5.0)
#: Those of methods whose C does not count terms.
LOSS_COSTS = (0.1, 1.0, 10.0, 100.0, 1000.0)
NYSTROEM_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
#: The classifier and its grid; gamma in units of 1 / number of features.
METHODS = {
    "SVC": (SVC(), {"C": LOSS_COSTS, "gamma": GAMMAS}),
    "A": (ZeroNormSVC("A", random_state=SEED), {"C": COSTS, "gamma": GAMMAS}),
    "B": (ZeroNormSVC("B", random_state=SEED), {"C": COSTS, "gamma": GAMMAS}),
    "RVM": (RelevanceVectorClassifier(random_state=SEED), {"gamma": GAMMAS}),
    "SPC": (SparseProbitClassifier(random_state=SEED), {"gamma": GAMMAS}),
    "SC": (
        SparsityControlledSVC(random_state=SEED),
        {"C": (1.0, 10.0, 100.0), "lam": (0.3, 3.0, 30.0), "gamma": (0.1, 0.5, 2.0)},
    ),
    "IRWLS": (IRWLSClassifier("gcv", gamma="gcv", random_state=SEED), {}),
}


def small_model(method: str, svc: SVC, terms: int, seed: int):
    """A machine with so many terms in the place of a fitted SVC, with its C and gamma."""
    parameters = {"C": svc.C, "gamma": svc.gamma, "random_state": seed}
    if method in ("RS", "MRS"):
        kind = "reduced_set" if method == "RS" else "modified"
        return SVCReducer(FrozenEstimator(svc), n_terms=terms, method=kind, random_state=seed)
    if method in ("RSVM", "MRSVM"):
        return ReducedSVC(terms, modified=method == "MRSVM", **parameters)
    return SparseLargeMarginClassifier(terms, **parameters)
