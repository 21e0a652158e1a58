"""Error against the number of terms: SparseSVC, its rival, all methods, all published points."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks import peers, published, record, rivals, ssvc_table
from benchmarks.cross_validation import FOLDS, SEED, on_common_folds, outer_split, values
from benchmarks.data import HUANG_SETS, load
from benchmarks.methods import GAMMAS, NYSTROEM_COSTS
from benchmarks.statistics import mean_and_error
from benchmarks.study import Study
from benchmarks.text import markdown, with_error
from benchmarks.tuning import in_units, judged, pipeline_of, tuned
from zeronorm import SparseSVC

ABOUT = """
Sets, outer folds, scaling and tuned SVC are those of `ssvc_table`. SparseSVC chooses everything
inside the training part: the number of terms too ("auto"), which may be given a limit. Its rival
with as many kernel evaluations is Nystroem with LinearSVC, C and gamma of 25 pairs by 5 inner
folds; a component costs what a term costs. In brackets: how many terms it was to
need at most, in the median, when the study was planned.

One picture a set. Those of the seven sets have the methods of `ssvc_table`; those of the other sets
are of `peers`, with fewer rows. The published points (grey) are of the papers' own splits and
training sizes.
"""
BUDGETS = ("auto", 1, 2, 4, 8, 16)
NYSTROEM_BUDGETS = (2, 4, 8, 16, 32)
#: Most terms, as the median over the folds, at which SparseSVC is to match SVC.
AIMS = dict.fromkeys(HUANG_SETS, 3) | {"banana": 8, "waveform": 5}


def makes_sense(name: str, method: str, budget, fold: int) -> bool:
    return budget in (BUDGETS if method == "SparseSVC" else NYSTROEM_BUDGETS)


def one_fold(name: str, method: str, budget, fold: int) -> list[dict]:
    X, y = load(name, SEED)
    train, test = outer_split(X, y, fold)
    if method == "SparseSVC":
        model = pipeline_of(StandardScaler(), SparseSVC(budget, random_state=SEED))
        row = judged(model, train, test)
        return [{**row, "parameters": {"C": model[-1].C_, "gamma": model[-1].gamma_}}]
    pipeline = pipeline_of(StandardScaler(), rivals.NystroemSVC(budget))
    grid = in_units({"C": NYSTROEM_COSTS, "gamma": GAMMAS}, X.shape[1])
    return tuned(pipeline, grid, train, test, 5, ("best",))


def tables(rows: list[dict]) -> str:
    found = record.cells(rows, "set", "method", "budget")
    svc = svc_rows()
    lines = []
    for name in HUANG_SETS:
        own = found.get((name, "SparseSVC", "auto"))
        if own is None or name not in svc:
            continue
        both, own = on_common_folds(svc[name], own)
        errors = [values(some, "error") for some in (both, own)]
        difference = [ours - old for old, ours in zip(*errors, strict=True)]
        lines.append(
            [
                name,
                f"{np.median(values(both, 'terms')):.0f}",
                with_error(errors[0]),
                f"{np.median(values(own, 'terms')):g} ({AIMS[name]})",
                with_error(errors[1]),
                with_error(difference, "+"),
            ]
        )
    header = ["set", "SVC's terms", "error %", "SparseSVC's terms (aim)", "error %", "difference"]
    note = (
        "Terms are medians over the folds; ± is a standard error over the folds, which share "
        "training rows: that of the difference is too small for a test."
    )
    return "\n\n".join([markdown(header, lines), note, budget_table(found)])


def svc_rows() -> dict:
    """The tuned SVC of ``ssvc_table``, by set."""
    rows = ssvc_table.counting_rows()
    return record.cells((row for row in rows if row["method"] == "SVC"), "set")


def budget_table(found: dict) -> str:
    """Error % at each budget, SparseSVC and its rival."""
    budgets = sorted({*BUDGETS[1:], *NYSTROEM_BUDGETS})
    lines = []
    for name in HUANG_SETS:
        for method in ("SparseSVC", "Nystroem"):
            cells = [found.get((name, method, budget)) for budget in budgets]
            if any(cells):
                texts = (f"{np.mean(values(c, 'error')):.1f}" if c else "" for c in cells)
                lines.append([name, method, *texts])
    return markdown(["set", "method", *(f"{b} terms" for b in budgets)], lines)


@dataclass(frozen=True)
class Point:
    """One method on one set: median of the terms and mean of the errors over the folds."""

    method: str
    budget: int | str | None
    terms: float
    error: float
    spread: float


def point(method: str, budget, rows: list[dict]) -> Point:
    terms = float(np.median(values(rows, "terms")))
    return Point(method, budget, terms, *mean_and_error(values(rows, "error")))


def points_of(rows: list[dict]) -> dict[str, list[Point]]:
    """Ours, by set: of this study and ``ssvc_table``, for the other sets of ``peers``."""
    found: dict = {}
    for (name, method, budget), some in record.cells(rows, "set", "method", "budget").items():
        found.setdefault(name, []).append(point(method, budget, some))
    table = record.cells(ssvc_table.counting_rows(), "set", "method")
    for (name, method), some in table.items():
        if name in found:
            found[name].append(point(method, None, some))
    others = record.cells(record.read("peers")[1], "set", "method", "budget", "rule")
    for (name, method, budget, rule), some in others.items():
        if name in HUANG_SETS or rule == "best" and method in peers.TWO_RULES:
            continue
        budget = "auto" if method == "SparseSVC" and budget is None else budget
        found.setdefault(name, []).append(point(method, budget, some))
    return found


#: Colour and label of the curves.
CURVES = {
    "Nystroem": ("C1", "Nystroem + LinearSVC"),
    "RS": ("C4", "SVCReducer"),
    "SparseSVC": ("C0", "SparseSVC"),
}
PAPERS = {"Huang et al.": "^", "Wu et al.": "s", "Mannor et al.": "D", "Kim": "v"}
#: Which have a curve or need none beside SparseSVC.
NOT_SHOWN = ("SLMC", "MRS", "RSVM", "MRSVM", "dlib", "TorchKM")


def draw(rows: list[dict], folder: Path) -> Iterator[Path]:
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    for name, own in points_of(rows).items():
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        axes = figure.subplots()
        draw_set(axes, name, own)
        figure.legend(loc="outside right upper", fontsize=8, frameon=False)
        path = folder / f"frontier_{name}.png"
        figure.savefig(path, dpi=70, metadata={"Software": None})
        yield path


def draw_set(axes, name: str, own: list[Point]) -> None:
    for paper, marker in PAPERS.items():
        known = [point for point in published.points(name) if point[0] == paper]
        if known:
            axes.plot([p[2] for p in known], [p[3] for p in known], marker, color="0.72",
                      markersize=5, label=f"published, {paper}")  # fmt: skip
    for method, (color, label) in CURVES.items():
        curve = sorted(
            (p for p in own if p.method == method and isinstance(p.budget, int)),
            key=lambda p: p.budget,
        )
        if curve:
            axes.errorbar([p.terms for p in curve], [p.error for p in curve],
                          [p.spread for p in curve], color=color, marker="o", markersize=3,
                          capsize=2, linewidth=1.2, label=label)  # fmt: skip
    label = "the others here"
    for one in own:
        if one.method in CURVES or one.method in NOT_SHOWN or one.method == "SVC":
            continue
        axes.plot(one.terms, one.error, ".", color="C2", label=label)
        label = None
        axes.annotate(one.method, (one.terms, one.error), fontsize=7, color="C2",
                      xytext=(2, 2), textcoords="offset points")  # fmt: skip
    svc = next((p for p in own if p.method == "SVC"), None)
    if svc is not None:
        axes.plot(svc.terms, svc.error, "X", color="C3", markersize=9, label="tuned SVC")
        axes.axhline(svc.error, color="C3", linewidth=0.7, linestyle="--")
        errors = [one.error for one in own if one.method not in NOT_SHOWN]
        errors += [known[3] for known in published.points(name)]
        axes.set_ylim(max(0.0, 0.9 * min(errors) - 0.5), svc.error + max(0.6 * svc.error, 6.0))
    for one in own:
        if one.budget == "auto":
            axes.plot(one.terms, one.error, "*", color="C0", markersize=15,
                      label="SparseSVC, its own choice")  # fmt: skip
    axes.set(xscale="log", title=name.replace("_", " "), xlabel="kernel terms", ylabel="error (%)")
    axes.xaxis.set_major_formatter("{x:g}")


STUDY = Study(
    "frontier",
    title="Error against the number of terms",
    about=ABOUT,
    factors={
        "set": HUANG_SETS,
        "method": ("SparseSVC", "Nystroem"),
        "budget": tuple(dict.fromkeys([*BUDGETS, *NYSTROEM_BUDGETS])),
        "fold": range(FOLDS),
    },
    quick={"set": ("thyroid", "breast_cancer"), "fold": range(2)},
    protocol=one_fold,
    where=makes_sense,
    tables=tables,
    draw=draw,
    seed=SEED,
)
