"""Fashion-MNIST at given numbers of terms: learned vectors, given vectors, and a neural network."""

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

from benchmarks.data import npz_path
from benchmarks.scale import load
from benchmarks.study import Study
from benchmarks.text import markdown
from zeronorm import SparseSVC
from zeronorm.base.labels import signed_targets
from zeronorm.base.sampling import stratified_rows
from zeronorm.base.training_set import own_class_factors
from zeronorm.kernels import Kernel
from zeronorm.learned.coefficients import certify
from zeronorm.learned.joint import Form, JointModels, Parameters
from zeronorm.learned.kernel_sets import Rows

ABOUT = """
60 000 training rows, 784 features, 10 classes; the 10 000 test rows are looked at once. SparseSVC
chooses everything but the number of terms. Nyström: the vectors are rows, or centres by k-means,
and the coefficients are solved by the solver of SparseSVC (squared hinge, on all rows, to a
relative gap of 1e-4); C and gamma are the best of twelve pairs on 5 000 training rows that are held
back, with coefficients of 10 000 others. MLP: scikit-learn's, one hidden layer with as many units
as there are terms, rectified linear, Adam with early stopping on a tenth of the rows; alpha is the
best of three on the same rows held back. How long SparseSVC takes is in "Large sets"; with more
terms than these it is in "On a GPU".
"""
SEED = 0
TERMS = (30, 100)
COSTS, GAMMAS, ALPHAS = (0.3, 3.0, 30.0, 300.0), (0.3, 1.0, 3.0), (1e-5, 1e-3, 1e-1)
CHOOSING_ROWS, HELD_ROWS, TOLERANCE = 10_000, 5_000, 1e-4


class GivenVectors:
    """Vectors that stay where they are, coefficients solved; scores of every class."""

    def __init__(self, vectors: np.ndarray, C: float, gamma: float) -> None:
        self.vectors, self.C, self.gamma = vectors, C, gamma

    def fit(self, X: np.ndarray, y: np.ndarray) -> "GivenVectors":
        targets = signed_targets(y, y.max() + 1)
        rows = Rows(X, targets.T, own_class_factors(targets).T)
        form = Form(Kernel("rbf", 1.0))
        start = Parameters.nothing(1, rows, form)
        start.vectors = self.vectors[None]
        start.weights = np.zeros((1, len(self.vectors), rows.n_outputs))
        cost = np.full((1, len(X)), self.C)
        self.models = JointModels(rows, form, cost, np.array([self.gamma]), start)
        certify(self.models, TOLERANCE)
        return self

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        nothing = np.zeros((self.models.parameters.intercept.shape[1], len(X)))
        scores = self.models.scores(Rows(X, nothing, nothing))
        return float(np.mean(scores[0].argmax(axis=0) == y))


def vectors_of(method: str, X: np.ndarray, y: np.ndarray, terms: int) -> np.ndarray:
    if method == "Nyström, rows":
        return X[stratified_rows(y, terms, np.random.RandomState(SEED))]
    found = MiniBatchKMeans(terms, batch_size=4_096, n_init=1, random_state=SEED).fit(X)
    return found.cluster_centers_


def given_vectors(method: str, X: np.ndarray, y: np.ndarray, terms: int) -> GivenVectors:
    vectors = vectors_of(method, X, y, terms)
    scale = 1.0 / (X.shape[1] * X.var())
    A, B, a, b = held_back(X, y)
    # C is the cost of a row among all of them.
    share = len(X) / len(A)
    pairs = [(C, scale * gamma) for C in COSTS for gamma in GAMMAS]
    scores = [GivenVectors(vectors, C * share, gamma).fit(A, a).score(B, b) for C, gamma in pairs]
    return GivenVectors(vectors, *pairs[int(np.argmax(scores))]).fit(X, y)


def held_back(X: np.ndarray, y: np.ndarray):
    """Rows to learn from while choosing, and rows to judge by."""
    sizes = {"train_size": CHOOSING_ROWS, "test_size": HELD_ROWS}
    return train_test_split(X, y, stratify=y, random_state=SEED, **sizes)


def network(X: np.ndarray, y: np.ndarray, terms: int) -> MLPClassifier:
    A, B, a, b = held_back(X, y)
    nets = [
        MLPClassifier((terms,), alpha=alpha, early_stopping=True, random_state=SEED)
        for alpha in ALPHAS
    ]
    best = max(nets, key=lambda net: net.fit(A, a).score(B, b))
    return MLPClassifier(**best.get_params()).fit(X, y)


def one_fit(method: str, terms: int) -> list[dict]:
    npz_path("fashion_mnist")
    X, y, X_test, y_test = load("fashion_mnist")
    if method == "SparseSVC":
        model = SparseSVC(terms, random_state=SEED).fit(X, y)
    elif method == "MLP":
        model = network(X, y, terms)
    else:
        model = given_vectors(method, X, y, terms)
    return [{"error": 1.0 - float(model.score(X_test, y_test))}]


def tables(rows: list[dict]) -> str:
    found = {(row["method"], row["terms"]): row for row in rows}
    lines = []
    for method in METHODS:
        cells = [found.get((method, terms)) for terms in TERMS]
        lines.append([method, *("" if row is None else shown(row) for row in cells)])
    return markdown(["error %", *(f"{terms} terms" for terms in TERMS)], lines)


def shown(row: dict) -> str:
    return f"{100 * row['error']:.2f}"


METHODS = ("SparseSVC", "Nyström, rows", "Nyström, k-means", "MLP")
STUDY = Study(
    "many_terms",
    title="Many terms",
    about=ABOUT,
    factors={"method": METHODS, "terms": TERMS},
    quick={"method": METHODS[1:2], "terms": (30,)},
    protocol=one_fit,
    tables=tables,
    seed=SEED,
)
