"""Error against the number of terms on the seven sets of Huang et al. (2010).

    python -m benchmarks.frontier [--quick] [--jobs 2] [--sets ...] [--resume] [--render]

The outer folds, the scaling and the tuned SVC are those of ``ssvc_table``. SparseSVC chooses
everything inside the training part: the number of terms too ("auto", by one standard error), or
for a given number of terms C and gamma. Its rival with as many kernel evaluations is Nystroem with
LinearSVC, C and gamma of 25 pairs by 5 inner folds; a component costs what a term costs. The
picture also has the other methods of ``ssvc_table`` and every published point.
"""

import argparse
import os
import warnings
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks import published, record
from benchmarks.data import SSVC_SETS, load_ssvc_set
from benchmarks.ssvc_table import FOLDS, GAMMAS, SEED
from zeronorm import SparseSVC

TASK = ("set", "method", "budget", "fold")
BUDGETS = (1, 2, 4, 8, 16)
NYSTROEM_BUDGETS = (2, 4, 8, 16, 32)
NYSTROEM_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)
#: Most terms, as the median over the folds, at which SparseSVC is to match SVC.
AIMS = dict.fromkeys(SSVC_SETS, 3) | {"banana": 8, "waveform": 5}
PICTURE = Path(__file__).resolve().parent / "pictures" / "frontier.png"


def model_of(method: str, budget, n_features: int):
    if method == "SparseSVC":
        return make_pipeline(StandardScaler(), SparseSVC(budget, random_state=SEED))
    pipeline = make_pipeline(
        StandardScaler(),
        Nystroem(n_components=budget, random_state=SEED),
        LinearSVC(random_state=SEED, max_iter=20_000),
    )
    grid = {
        "nystroem__gamma": [gamma / n_features for gamma in GAMMAS],
        "linearsvc__C": NYSTROEM_COSTS,
    }
    return GridSearchCV(pipeline, grid, cv=5)


def one_fold(name: str, method: str, budget, fold: int) -> list[dict]:
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = load_ssvc_set(name, SEED)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    train, test = list(folds.split(X, y))[fold]
    model = model_of(method, budget, X.shape[1]).fit(X[train], y[train])
    row = {
        "set": name,
        "method": method,
        "budget": budget,
        "fold": fold,
        "error": float(np.mean(model.predict(X[test]) != y[test])),
        "terms": model[-1].n_terms_ if method == "SparseSVC" else budget,
    }
    if method == "SparseSVC":
        row |= {"C": model[-1].C_, "gamma": model[-1].gamma_}
    print(row, flush=True)
    return [row]


def svc_errors() -> dict:
    """Errors of the tuned SVC by set and fold, and its number of vectors."""
    _, rows = record.read("ssvc_table")
    found: dict = {}
    for row in rows:
        if (row["method"], row["rule"]) == ("SVC", "best"):
            found.setdefault(row["set"], {})[row["fold"]] = (row["error"], row["terms"])
    return found


def cells_of(rows: list[dict]) -> dict:
    cells: dict = {}
    for row in rows:
        cells.setdefault((row["set"], row["method"], row["budget"]), []).append(row)
    return cells


def render() -> str:
    head, rows = record.read("frontier")
    cells, svc = cells_of(rows), svc_errors()
    lines = []
    for name in SSVC_SETS:
        own = cells.get((name, "SparseSVC", "auto"))
        if own is None:
            continue
        error, spread = record.mean_and_error([100 * row["error"] for row in own])
        reference = [100 * svc[name][row["fold"]][0] for row in own]
        svc_error, svc_spread = record.mean_and_error(reference)
        difference = record.mean_and_error(
            [100 * row["error"] - old for row, old in zip(own, reference, strict=True)]
        )
        terms = [row["terms"] for row in own]
        lines.append(
            [
                name,
                f"{np.mean([svc[name][row['fold']][1] for row in own]):.0f}",
                f"{svc_error:.1f} ± {svc_spread:.1f}",
                f"{np.median(terms):g} ({AIMS[name]})",
                f"{error:.1f} ± {spread:.1f}",
                f"{difference[0]:+.1f} ± {difference[1]:.1f}",
            ]
        )
    header = ["set", "SVC's terms", "error %", "SparseSVC's terms (aim)", "error %", "difference"]
    parts = [f"Commits {record.commits(rows, head)}.", record.markdown(header, lines)]
    parts.append("Terms are medians over the folds; ± is a standard error over the folds.")
    parts.append(budget_table(cells))
    if PICTURE.exists():
        parts.append(f"![error against terms](pictures/{PICTURE.name})")
    return "\n\n".join(parts)


def budget_table(cells: dict) -> str:
    """Error % at each budget, SparseSVC and its rival."""
    budgets = sorted(set(BUDGETS) | set(NYSTROEM_BUDGETS))
    lines = []
    for name in SSVC_SETS:
        for method in ("SparseSVC", "Nystroem"):
            texts = []
            for budget in budgets:
                own = cells.get((name, method, budget))
                texts.append(
                    "" if own is None else f"{100 * np.mean([r['error'] for r in own]):.1f}"
                )
            if any(texts):
                lines.append([name, method, *texts])
    return record.markdown(["set", "method", *(f"{b} terms" for b in budgets)], lines)


def draw() -> None:
    """One picture a set: our curves, the rival's, the other methods, the published points."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    _, rows = record.read("frontier")
    cells, svc = cells_of(rows), svc_errors()
    _, table = record.read("ssvc_table")
    figure, axes = plt.subplots(2, 4, figsize=(17, 8), layout="constrained")
    papers = {"Huang": "^", "Wu": "s", "Mannor": "D", "Kim": "v"}
    for ax, name in zip(axes.flat, SSVC_SETS, strict=False):
        for paper, marker in papers.items():
            known = [point for point in published.points(name) if point[0] == paper]
            if known:
                ax.plot(
                    [p[2] for p in known], [p[3] for p in known],
                    marker, color="0.7", markersize=5, label=f"published, {paper} et al.",
                )  # fmt: skip
        for method in ("A", "B", "RVM", "SPC", "SC", "IRWLS"):
            own = [
                r for r in table if (r["set"], r["method"], r["rule"]) == (name, method, "one_se")
            ]
            if own:
                at = np.mean([r["terms"] for r in own]), 100 * np.mean([r["error"] for r in own])
                ax.plot(*at, ".", color="C2", label="other methods here")
                ax.annotate(method, at, fontsize=7, color="C2", xytext=(2, 2),
                            textcoords="offset points")  # fmt: skip
        for method, color in (("Nystroem", "C1"), ("SparseSVC", "C0")):
            own = {b: c for (s, m, b), c in cells.items() if (s, m) == (name, method)}
            sizes = sorted(b for b in own if b != "auto")
            means = [record.mean_and_error([100 * r["error"] for r in own[b]]) for b in sizes]
            label = "SparseSVC" if method == "SparseSVC" else "Nystroem + LinearSVC"
            if sizes:
                ax.errorbar(sizes, *zip(*means, strict=True), color=color, marker="o",
                            markersize=3, capsize=2, label=label)  # fmt: skip
            if "auto" in own:
                at = (
                    np.median([r["terms"] for r in own["auto"]]),
                    100 * np.mean([r["error"] for r in own["auto"]]),
                )
                ax.plot(*at, "*", color=color, markersize=15, label="SparseSVC, its own choice")
        errors = np.array([value for value in svc[name].values()])
        ax.plot(errors[:, 1].mean(), 100 * errors[:, 0].mean(), "X", color="C3", markersize=9,
                label="tuned SVC")  # fmt: skip
        ax.axhline(100 * errors[:, 0].mean(), color="C3", linewidth=0.7, linestyle="--")
        low = 100 * errors[:, 0].mean()
        ax.set(xscale="log", title=name, xlabel="kernel terms", ylabel="error (%)")
        ax.set_ylim(max(0.0, low - max(0.2 * low, 1.0)), low + max(0.45 * low, 4.0))
    handles: dict = {}
    for ax in axes.flat:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    axes.flat[-1].axis("off")
    axes.flat[-1].legend(handles.values(), handles.keys(), loc="center", fontsize=11)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=80)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one fold of two sets")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="*", choices=list(SSVC_SETS), default=list(SSVC_SETS))
    parser.add_argument("--only-auto", action="store_true", help="no budgets, no rival")
    parser.add_argument("--resume", action="store_true", help="keep rows of any commit")
    parser.add_argument("--render", action="store_true", help="only print the recorded table")
    options = parser.parse_args()
    if not options.render:
        sets = ["thyroid", "breast_cancer"] if options.quick else options.sets
        folds = range(1 if options.quick else FOLDS)
        wanted = [("SparseSVC", "auto")]
        if not options.only_auto:
            wanted += [("SparseSVC", budget) for budget in BUDGETS]
            wanted += [("Nystroem", budget) for budget in NYSTROEM_BUDGETS]
        tasks = [(name, *one, fold) for one in wanted for name in sets for fold in folds]
        record.run_tasks(
            "frontier", TASK, tasks, one_fold, SEED, jobs=options.jobs, resume=options.resume
        )
    draw()
    print(render())


if __name__ == "__main__":
    main()
