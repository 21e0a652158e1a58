"""Our kernel classifiers and their peers, at equal numbers of kernel terms."""

from collections.abc import Iterator

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import rivals
from benchmarks.data import HUANG_SETS, NEW_SETS, OTHER_PAPERS, load
from benchmarks.ssvc_table import COSTS, GAMMAS, LOSS_COSTS, METHODS, SEED, outer_split
from benchmarks.study import Study
from benchmarks.tuning import choices, in_units, judged, pipeline_of, tuned
from zeronorm import (
    CrossEntropySVC,
    LinearProgrammingSVC,
    OneNormSVC,
    ReducedSVC,
    SparseLargeMarginClassifier,
    SparseSVC,
    SVCReducer,
)

FOLDS, INNER_FOLDS = 10, 3
#: So that all methods can be tuned on all sets within hours, on two cores.
ROWS = 400
BUDGETS = (1, 2, 4, 8, 16, 32)
#: Training rows beyond which a fit of sklearn-rvm takes minutes.
SKLEARN_RVM_ROWS = 250
SETS = (*HUANG_SETS, *OTHER_PAPERS, *NEW_SETS)
NYSTROEM_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
#: Classifiers that choose their number of terms, with their grids of up to 27 settings.
TUNED = {
    **{method: METHODS[method] for method in ("SVC", "A", "B")},
    "OneNorm": (OneNormSVC(random_state=SEED), {"C": COSTS, "gamma": GAMMAS}),
    "LP": (LinearProgrammingSVC(random_state=SEED), {"C": COSTS, "gamma": GAMMAS}),
    "CE": (CrossEntropySVC(signs="free", random_state=SEED), {"gamma": GAMMAS[:4]}),
    **{method: METHODS[method] for method in ("IRWLS", "SC", "RVM", "SPC")},
    "NuSVC": (rivals.Nu(), {"share": (0.1, 0.3, 0.5, 0.7, 0.9), "gamma": GAMMAS}),
    "LinearSVC": (rivals.Linear(), {"C": (0.001, 0.01, 0.1, 1.0, 10.0)}),
    "fastrvm": (rivals.FastRVM(), {"gamma": GAMMAS}),
}
#: What is changed while parameters are chosen: a search for terms that takes less time.
LIGHT = {"CE": {"model__sample_size": 50, "model__polish": False, "model__candidates": 100}}
#: Which have so many terms as are asked for, and the C and gamma of the tuned SVC.
REDUCED = ("SLMC", "RS", "MRS", "RSVM", "MRSVM")
FAMILIES = ("SparseSVC", *TUNED, "Nystroem", "reduced", "sklearn-rvm", "dlib")
#: Rules under which a search is reported: the sparsest within one standard error, for peers with
#: nothing to make sparse the most accurate.
PEERS = ("SVC", "NuSVC", "LinearSVC", "fastrvm", "sklearn-rvm", "Nystroem", "dlib")


def one_fold(name: str, family: str, fold: int) -> list[dict]:
    X, y = load(name, SEED)
    train, test = outer_split(X[:ROWS], y[:ROWS], fold, FOLDS)
    if family in TUNED:
        return own_terms(family, train, test)
    makers = {
        "SparseSVC": learned_vectors,
        "Nystroem": spans,
        "reduced": reduced,
        "sklearn-rvm": expectation_maximisation,
        "dlib": dlib_reduced,
    }
    return list(makers[family](train, test))


def inner_folds() -> StratifiedKFold:
    return StratifiedKFold(INNER_FOLDS, shuffle=True, random_state=SEED)


def searched(method: str, train, rules: tuple[str, ...]) -> tuple[Pipeline, dict]:
    """The pipeline of a method and its parameters by each rule."""
    estimator, grid = TUNED[method]
    pipeline = pipeline_of(StandardScaler(), estimator)
    grid = in_units(grid, train[0].shape[1])
    return pipeline, choices(pipeline, grid, train, inner_folds(), rules)


def own_terms(method: str, train, test) -> list[dict]:
    """A method that finds its number of terms."""
    estimator, grid = TUNED[method]
    pipeline = pipeline_of(StandardScaler(), estimator)
    rules = ("best",) if method in PEERS else ("one_se", "best") if grid else ("one_se",)
    light = clone(pipeline).set_params(**LIGHT.get(method, {}))
    grid = in_units(grid, train[0].shape[1])
    rows = tuned(light, grid, train, test, inner_folds(), rules, final=pipeline)
    return [{"method": method, "budget": None, **row} for row in rows]


def learned_vectors(train, test) -> Iterator[dict]:
    """SparseSVC by its own choice, and with a given number of terms."""
    for budget in (None, *BUDGETS):
        model = pipeline_of(StandardScaler(), SparseSVC(budget or "auto", random_state=SEED))
        row = judged(model, train, test)
        parameters = {"C": model[-1].C_, "gamma": model[-1].gamma_}
        yield {"method": "SparseSVC", "budget": budget, "rule": "one_se", **row,
               "parameters": parameters}  # fmt: skip


def spans(train, test) -> Iterator[dict]:
    """Nystroem + LinearSVC with each number of components."""
    grid = in_units({"C": NYSTROEM_COSTS, "gamma": GAMMAS}, train[0].shape[1])
    for budget in BUDGETS:
        pipeline = pipeline_of(StandardScaler(), rivals.NystroemSVC(budget))
        (row,) = tuned(pipeline, grid, train, test, inner_folds(), ("best",))
        yield {"method": "Nystroem", "budget": budget, **row}


def reduced(train, test) -> Iterator[dict]:
    """Small machines that are told C and gamma, those of the tuned SVC."""
    pipeline, chosen = searched("SVC", train, ("best",))
    dense = clone(pipeline).set_params(**chosen["best"]).fit(*train)
    scale, svc = dense[0], dense[-1]
    train, test = (scale.transform(train[0]), train[1]), (scale.transform(test[0]), test[1])
    parameters = {"C": svc.C, "gamma": svc.gamma}
    for method in REDUCED:
        for budget in BUDGETS:
            if budget > len(svc.support_):
                continue
            row = judged(small_model(method, svc, budget, parameters), train, test)
            yield {"method": method, "budget": budget, "rule": "best", **row,
                   "parameters": parameters}  # fmt: skip


def small_model(method: str, svc, budget: int, parameters: dict):
    if method in ("RS", "MRS"):
        kind = "reduced_set" if method == "RS" else "modified"
        return SVCReducer(FrozenEstimator(svc), n_terms=budget, method=kind, random_state=SEED)
    if method == "SLMC":
        return SparseLargeMarginClassifier(budget, random_state=SEED, **parameters)
    return ReducedSVC(budget, modified=method == "MRSVM", random_state=SEED, **parameters)


def expectation_maximisation(train, test) -> Iterator[dict]:
    """sklearn-rvm with the gamma that fastrvm's search chose: a search would take an hour."""
    if len(train[1]) > SKLEARN_RVM_ROWS:
        return
    _, chosen = searched("fastrvm", train, ("best",))
    gamma = chosen["best"]["model__gamma"]
    model = pipeline_of(StandardScaler(), rivals.SklearnRVM(gamma))
    row = judged(model, train, test)
    yield {"method": "sklearn-rvm", "budget": None, "rule": "best", **row,
           "parameters": {"gamma": gamma}}  # fmt: skip
def dlib_reduced(train, test) -> Iterator[dict]:
    """dlib's SVM with its own search, then cut to each number of vectors."""
    scale = StandardScaler().fit(train[0])
    train, test = (scale.transform(train[0]), train[1]), (scale.transform(test[0]), test[1])
    full = rivals.DlibSVM()
    yield {"method": "dlib", "budget": None, "rule": "best", **judged(full, train, test)}
    for budget in BUDGETS:
        if budget <= full.n_terms_:
            row = judged(rivals.DlibSVM(budget, full=full), train, test)
            yield {"method": "dlib", "budget": budget, "rule": "best", **row}


def makes_sense(name: str, family: str, fold: int) -> bool:
    """dlib's search takes up to half a minute: on one paper's sets."""
    return family != "dlib" or name in HUANG_SETS


def tables(rows): return ""
STUDY = Study(
    "peers",
    title="Our kernel classifiers and their peers",
    about="",
    factors={"set": SETS, "family": FAMILIES, "fold": range(FOLDS)},
    quick={"set": ("thyroid", "haberman"), "fold": range(1)},
    protocol=one_fold,
    where=makes_sense,
    tables=tables,
    seed=SEED,
)
