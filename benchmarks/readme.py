"""The blocks of README and docs that hold figures, from the recorded results."""

import re
from pathlib import Path

import numpy as np

from benchmarks import (
    embedded,
    evidence_tables,
    frontier,
    guide,
    peers,
    peers_selection,
    record,
    selection_time,
    times,
)
from benchmarks.cross_validation import values
from benchmarks.data import HUANG_SETS
from benchmarks.duels import Duel, duels
from benchmarks.text import duration, markdown, short, with_error

README = record.ROOT / "README.md"
SUMMARY = record.ROOT / "docs" / "benchmarks.md"
SHIPPING = record.ROOT / "docs" / "guide" / "ship.md"
PICTURE = "headline.png"
#: Papers in the order of the table, by the beginning of their tables' names.
PAPERS = {
    "Weston et al.": "Weston et al. (2003), feature selection",
    "Mannor et al.": "Mannor et al. (2005), cross-entropy",
    "Wu et al.": "Wu et al. (2005), learned vectors",
    "Kim": "Kim (2009), IRWLS",
    "Huang et al., terms": "Huang et al. (2010), zero norm: terms",
    "Huang et al., error %": "Huang et al. (2010), zero norm: error",
    "Huang et al., fit time": "Huang et al. (2010), zero norm: fit time",
}


def rows_of(study: str) -> list[dict]:
    return record.read(study)[1]


def ours_and_svc() -> dict:
    """By set: rows of the tuned SVC, and of SparseSVC by its own choice."""
    svc = frontier.svc_rows()
    ours = record.cells(rows_of("frontier"), "set", "method", "budget")
    return {name: (svc[name], ours[name, "SparseSVC", "auto"]) for name in HUANG_SETS}


def gaps() -> dict[str, float]:
    """Points of error of ours less those of the tuned SVC, by set."""
    return {
        name: float(np.mean(values(ours, "error")) - np.mean(values(svc, "error")))
        for name, (svc, ours) in ours_and_svc().items()
    }


def speed_ups(key: str = "predict_seconds") -> dict[str, float]:
    """Times faster to predict, by set."""
    return times.speed_ups(rows_of("times"), key)


def median_speed_up(key: str = "predict_seconds") -> float:
    return float(np.median(list(speed_ups(key).values())))


def exported_speed_ups() -> str:
    """How many times faster than the tuned SVC an exported model is, on each set, by language."""
    found = {
        (row["data"], row["method"], row["way"]): row.get("microseconds")
        for row in rows_of("exported")
    }
    sets = dict.fromkeys(name for name, _, _ in found)

    def listed(way: str) -> str:
        pairs = [(found[name, "SVC", way], found[name, "SparseSVC", way]) for name in sets]
        return " and ".join(short(svc / ours) for svc, ours in pairs)

    return f"on two sets {listed('C, double')} times as C, {listed('ONNX, float')} as ONNX"


def reason() -> str:
    """The first reason to use the package: by how much models are smaller, and faster."""
    ratios = [
        np.median(values(svc, "terms")) / np.median(values(ours, "terms"))
        for svc, ours in ours_and_svc().values()
    ]
    return (
        f"On seven sets of the literature a median of {np.median(ratios):.0f} times fewer kernel "
        f"terms than a tuned `SVC`. `predict` is {median_speed_up():.0f} times faster for "
        f"{times.PREDICTED_ROWS:,} rows at once, {short(median_speed_up('predict_one_seconds'))} "
        f"times for one row; exported models are faster too, {exported_speed_ups()}."
    )


def gap() -> str:
    """What is lost on the seven sets, and of which fits the times are."""
    lost = list(gaps().values())
    terms = {row["set"]: row["terms"] for row in rows_of("times") if row["method"] == "SparseSVC"}
    return (
        f"`SVC` has the lower error on {sum(gap > 0 for gap in lost)} of {len(lost)}, by "
        f"{with_error(lost)} points in the mean. Times are of one fit a set, with "
        f"{', '.join(str(terms[name]) for name in HUANG_SETS)} terms."
    )


def headline() -> str:
    both, faster = ours_and_svc(), speed_ups()
    lines = []
    for what, key in (("kernel terms", "terms"), ("error %", "error")):
        for place, method in enumerate(("SVC", "SparseSVC")):
            line = [f"`{method}`, {what}"]
            for pair in both.values():
                numbers = values(pair[place], key)
                line.append(f"{np.median(numbers):g}" if key == "terms" else with_error(numbers))
            lines.append(line)
    lines.append(["prediction, times faster", *(f"{faster[name]:.0f}" for name in both)])
    return markdown(["", *(name.replace("_", " ") for name in both)], lines)


def draw(folder: Path) -> Path:
    """An arrow for each set, from the SVC to SparseSVC."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 4.2), layout="constrained")
    axes = figure.subplots()
    labels = []
    for name, (svc, ours) in ours_and_svc().items():
        (x0, y0), (x1, y1) = (
            (np.median(values(side, "terms")), np.mean(values(side, "error")))
            for side in (svc, ours)
        )
        arrow = {"arrowstyle": "->", "color": "0.7", "shrinkA": 6, "shrinkB": 7}
        axes.annotate("", (x1, y1), (x0, y0), arrowprops=arrow)
        axes.plot(x0, y0, "o", color="C3", markersize=8)
        axes.plot(x1, y1, "*", color="C0", markersize=14)
        labels.append((y0, x0, name.replace("_", " ")))
    above = np.inf
    for y0, x0, label in sorted(labels, reverse=True):
        above = min(y0, above - 1.4)  # no label lies on another one
        axes.annotate(label, (x0, above), xytext=(9, -3), fontsize=10, textcoords="offset points")
    axes.plot([], [], "o", color="C3", label="tuned SVC")
    axes.plot([], [], "*", color="C0", markersize=12, label="SparseSVC")
    axes.set(xscale="log", xlim=(0.7, 2500), ylim=(0, 32), xlabel="kernel terms",
             ylabel="error (%)")  # fmt: skip
    axes.xaxis.set_major_formatter("{x:g}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center", frameon=False, fontsize=11)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PICTURE
    figure.savefig(path, dpi=90, metadata={"Software": None})
    return path


def duel_lines(found: list[Duel], order) -> list[list[str]]:
    lines = []
    for peer in order:
        some = [one for one in found if one.peer == peer]
        if some:
            lower, within, worse = (
                sum(test(one) for one in some)
                for test in (
                    lambda one: one.difference <= 0,
                    lambda one: one.is_within,
                    lambda one: one.difference > 0 and one.p_value < 0.05,
                )
            )
            lines.append([peer, str(len(some)), str(lower), str(within), str(worse)])
    return lines


def peers_block() -> str:
    kernel = duels(rows_of("peers"), peers.OURS, peers.PEERS, peers.BUDGETS)
    features = duels(
        rows_of("peers_selection"), peers_selection.OURS, peers_selection.PEERS,
        peers_selection.SIZES,
    )  # fmt: skip
    header = ["peer", "comparisons", "ours lower or equal", "or within one standard error",
              "significantly higher"]  # fmt: skip
    sets = len({one.name for one in kernel}), len({one.name for one in features})
    return (
        f"**Against the peers** (`peers`, `peers_selection`). `SparseSVC` on {sets[0]} sets with "
        f"at most as many kernel terms as the peer (Nystroem and dlib: 1, 2, 4, 8, 16, 32; TorchKM "
        f"from 8):\n\n"
        f"{markdown(header, duel_lines(kernel, peers.PEERS))}\n\n"
        f"`AROMSelector` on {sets[1]} sets with as many features (2, 5, 10, 20) and the same "
        f"linear SVM behind it:\n\n"
        f"{markdown(header, duel_lines(features, peers_selection.PEERS))}"
    )


def rivals_block() -> str:
    """Boosting and networks: where they are better first."""
    rows = rows_of("evidence")
    plain = evidence_tables.by_model(evidence_tables.plain_rows(rows))
    rare = evidence_tables.by_model(evidence_tables.rare_rows(rows))
    one = evidence_tables.Comparison.of(plain, ("boosting", None))
    return (
        f"**Against other kinds of model** (`evidence`: up to 1 000 training rows; boosting of 4 "
        f"settings, the others of more). "
        f"{evidence_tables.boosting_summary(plain)} Its pickle has {one.ratio('bytes'):.0f} times "
        f"the bytes of our JSON file and a row takes {one.ratio('microseconds'):.0f} times as long "
        f"(medians). {evidence_tables.rare_summary(rare)} At equal sizes:\n\n"
        f"{evidence_tables.equal_sizes(plain)}"
    )


def papers_block(figures: list) -> str:
    lines = []
    for start, label in PAPERS.items():
        steps = [one.standing for one in figures if one.table.startswith(start)]
        counts = [sum(step == wanted for step in steps) for wanted in (0, 1)]
        lines.append([label, str(len(steps)), *map(str, counts), str(len(steps) - sum(counts))])
    header = ["figures of the paper", "compared", "ours at least as good",
              "within one standard error", "behind"]  # fmt: skip
    return (
        "**Against the papers**, figure by figure; methods of ours only:\n\n"
        f"{markdown(header, lines)}"
    )


def time_block() -> str:
    found = record.cells(rows_of("times"), "method")

    def median(method: str) -> float:
        return float(np.median([row["ratio"] for row in found[method]]))

    names = {
        "A": "`ZeroNormSVC` A",
        "B": "B",
        "SPC": "`SparseProbitClassifier`",
        "IRWLS": "`IRWLSClassifier`",
        "RVM": "`RelevanceVectorClassifier`",
        "SC": "`SparsityControlledSVC`",
        "SLMC": "`SparseLargeMarginClassifier`, ten terms,",
    }
    parts = []
    for method, name in names.items():
        known = times.PUBLISHED.get(method)
        old = f" (published {np.median(list(known.values())):.0f})" if known else ""
        parts.append(f"{name} {median(method):.1f}{old}")
    lines = [
        f"- One fit beside `SVC.fit` on the seven sets, median ratio (`times`): {', '.join(parts)}."
    ]
    searches = {row["set"]: row["seconds"] for row in found["SVC grid search"]}
    ratios = {r["set"]: searches[r["set"]] / r["seconds"] for r in found["SparseSVC"]}
    lines.append(
        "- `SparseSVC` with all its choices beside a 5-fold `GridSearchCV` of `SVC` over 25 pairs, "
        "times faster: "
        + ", ".join(f"{name.replace('_', ' ')} {ratio:.1f}" for name, ratio in ratios.items())
        + "."
    )
    lines += [scale_line(), selection_line()]
    return "**Time**, on two cores, most of it on one:\n\n" + "\n".join(lines)


def scale_line() -> str:
    parts = []
    for name, some in record.cells(rows_of("scale"), "set").items():
        ours, svc = some
        parts.append(
            f"{name.replace('_', ' ')}, {ours['rows']:,} rows: {ours['fit_seconds']:.0f} s, "
            f"{ours['terms']} terms, {100 * ours['error']:.1f} % (`SVC` on {svc['rows']:,} rows in "
            f"that time: {svc['terms']:,} terms, {100 * svc['error']:.1f} %)"
        )
    return f"- Large sets (`scale`), `SparseSVC` on all rows: {'; '.join(parts)}."


def selection_line() -> str:
    rows = [r for r in rows_of("selection_time") if r["data"] in selection_time.LYMPHOMA]
    medians = {
        method: float(np.median([row["seconds"] for row in some]))
        for method, some in record.cells(rows, "method").items()
    }
    wide = next(
        r for r in rows_of("selection_time") if (r["data"], r["method"]) == ("wide", "l2-AROM")
    )
    return (
        f"- Feature selection (`selection_time`), 4026 genes to 20: `AROMSelector` "
        f"{duration(medians['l2-AROM'])}, `RFE(step=0.5)` {duration(medians['RFE, step=0.5'])}, "
        f"`RFE(step=1)` {duration(medians['RFE, step=1'])}. 100 rows × 100 000 features: "
        f"{duration(wide['seconds'])}."
    )


def benchmarks(figures: list) -> str:
    return "\n\n".join([rivals_block(), peers_block(), papers_block(figures), time_block()])


def sizes_block() -> str:
    """Exported models on chips, and in time."""
    times = {
        (row["method"], row["way"]): row["microseconds"]
        for row in rows_of("exported")
        if row["data"] == "ringnorm" and "microseconds" in row
    }

    def listed(method: str) -> str:
        found = [(way.replace(",", ""), value) for (m, way), value in times.items() if m == method]
        return ", ".join(f"{way} {value:.2g}" for way, value in found)

    return (
        f"{embedded.short_table(rows_of('embedded'))}\n\n"
        f"Microseconds a row on one core of a computer (`exported`, ringnorm): `SparseSVC` in "
        f"{listed('SparseSVC')}; the tuned `SVC` in {listed('SVC')}."
    )


def blocks(figures: list) -> dict[Path, dict[str, str]]:
    """The blocks of each page, made anew."""
    return {
        README: {"REASON": reason(), "GAP": gap(), "HEADLINE": headline()},
        SUMMARY: {"BENCHMARKS": benchmarks(figures)},
        SHIPPING: {"SIZES": sizes_block(), "INTEGERS": guide.integers()},
        **guide.blocks(),
    }


def renewed(figures: list) -> dict[Path, str]:
    """The pages with their blocks made anew."""
    return {
        path: with_blocks(path.read_text(), some, path.name)
        for path, some in blocks(figures).items()
    }


def with_blocks(text: str, blocks: dict[str, str], where: str) -> str:
    for tag, block in blocks.items():
        pattern = rf"(<!-- {tag} -->\n?).*?(\n?<!-- /{tag} -->)"
        text, count = re.subn(pattern, lambda m, b=block: m[1] + b + m[2], text, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"{where} should have one block {tag}, it has {count}.")
    return text
