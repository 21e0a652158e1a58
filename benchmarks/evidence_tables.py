"""Tables of the study ``evidence``: where a rival is better comes first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks import record
from benchmarks.data import HARD_SETS, RARE_SETS
from benchmarks.text import markdown

OURS = ("SparseSVC", None)
#: What chooses its own size, in the order of the columns.
OWN_SIZE = ("SparseSVC", "SVC", "boosting", "logistic")
GROUPS = ("hard sets", "rare class", "the 23 of `peers`")


def group_of(name: str) -> str:
    if name in HARD_SETS:
        return GROUPS[0]
    return GROUPS[1] if name in RARE_SETS else GROUPS[2]


def mean(rows: Sequence[dict], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def standard_error(rows: Sequence[dict]) -> float:
    """Of the error on the test rows of one split."""
    error, count = mean(rows, "error"), mean(rows, "test_rows")
    return float(np.sqrt(error * (1.0 - error) / count))


def plain_rows(rows: list[dict]) -> list[dict]:
    """Of the sets where the share of errors is what counts."""
    return [row for row in rows if row["set"] not in RARE_SETS]


def rare_rows(rows: list[dict]) -> list[dict]:
    return [row for row in rows if row["set"] in RARE_SETS]


def by_model(rows: list[dict]) -> dict:
    """Rows by (method, budget), then by set."""
    return {
        key: record.cells(some, "set")
        for key, some in record.cells(rows, "method", "budget").items()
    }


def label(key: tuple) -> str:
    units = {"SparseSVC": "terms", "MLP": "hidden units", "tree": "leaves"}
    method, budget = key
    return method if budget is None else f"{method}, {budget} {units[method]}"


@dataclass(frozen=True)
class Comparison:
    """Rows of ours and of a rival, by set, on the sets that both have."""

    pairs: dict[str, tuple]

    @classmethod
    def of(cls, found: dict, rival: tuple, own: tuple = OURS) -> "Comparison":
        ours, theirs = found.get(own, {}), found.get(rival, {})
        return cls({name: (ours[name], theirs[name]) for name in ours if name in theirs})

    @property
    def gaps(self) -> dict[str, float]:
        """Error of ours less the rival's."""
        return {name: mean(a, "error") - mean(b, "error") for name, (a, b) in self.pairs.items()}

    @property
    def beyond(self) -> list[str]:
        """Where ours is behind by more than the rival's standard error."""
        return [
            name for name, gap in self.gaps.items() if gap > standard_error(self.pairs[name][1])
        ]

    @property
    def ahead(self) -> list[str]:
        """Where the rival is behind by more than our standard error."""
        return [
            name for name, gap in self.gaps.items() if -gap > standard_error(self.pairs[name][0])
        ]

    def errors(self) -> tuple[float, float]:
        """Means over the sets, ours and the rival's, in %."""
        ours, theirs = (
            100.0 * float(np.mean([mean(pair[side], "error") for pair in self.pairs.values()]))
            for side in (0, 1)
        )
        return ours, theirs

    def share_of_vectors(self) -> float:
        """Our size as a share of the rival's, mean over the sets."""
        return float(np.mean([mean(a, "size") / mean(b, "size") for a, b in self.pairs.values()]))

    def ratio(self, key: str) -> float:
        """Median over the sets of the rival's by ours."""
        return float(np.median([mean(b, key) / mean(a, key) for a, b in self.pairs.values()]))


def boosting_table(found: dict) -> str:
    """Set by set, where boosting gains most first."""
    one = Comparison.of(found, ("boosting", None))
    lines = []
    for name, (a, b) in one.pairs.items():
        gain = one.gaps[name]
        ratios = (mean(b, key) / mean(a, key) for key in ("bytes", "microseconds"))
        cells = [name, *(f"{100 * mean(some, 'error'):.1f}" for some in (b, a))]
        cells += [f"{100 * gain:+.1f}", *(f"{ratio:.0f}" for ratio in ratios)]
        lines.append((gain, name, [*cells, f"{mean(a, 'seconds') / mean(b, 'seconds'):.1f}"]))
    lines.sort(key=lambda line: (-line[0], line[1]))
    header = ["set", "boosting, error %", "`SparseSVC`, error %", "boosting gains, points",
              "its bytes, times ours", "its µs a row, times ours",
              "our fit, times its"]  # fmt: skip
    return markdown(header, [line for *_, line in lines])


def svc_summary(found: dict) -> str:
    """The tuned SVC, both by their own choice."""
    one = Comparison.of(found, ("SVC", None))
    if not one.pairs:
        return ""
    ours, theirs = one.errors()
    return (
        f"The tuned `SVC` is more accurate by more than one standard error on {len(one.beyond)} of "
        f"{len(one.gaps)} sets ({', '.join(one.beyond) or 'none'}), `SparseSVC` on "
        f"{len(one.ahead)}. Mean error: {theirs:.1f} and {ours:.1f} %; `SparseSVC` has "
        f"{100 * one.share_of_vectors():.1f} % of its vectors (mean over the sets)."
    )


def boosting_summary(found: dict) -> str:
    one = Comparison.of(found, ("boosting", None))
    ours, theirs = one.errors()
    return (
        f"Boosting is more accurate by more than one standard error on {len(one.beyond)} of "
        f"{len(one.gaps)} sets ({', '.join(one.beyond) or 'none'}), `SparseSVC` on "
        f"{len(one.ahead)}. Mean error: {theirs:.1f} and {ours:.1f} %."
    )


def summary_table(found: dict, names: Sequence[str]) -> str:
    """Means of the errors and medians of the costs over some sets, of every model."""
    lines = []
    for key, sets in found.items():
        if not all(name in sets for name in names):
            continue
        errors = (
            f"{100 * np.mean([mean(sets[name], metric) for name in names]):.1f}"
            for metric in ("error", "balanced_error")
        )
        area = "-"  # of several classes there is none that all models agree on
        if not any(name in HARD_SETS for name in names):
            area = f"{np.mean([mean(sets[name], 'auc') for name in names]):.3f}"
        costs = {
            metric: float(np.median([mean(sets[name], metric) for name in names]))
            for metric in ("size", "bytes", "microseconds", "seconds")
        }
        lines.append(
            [label(key), *errors, area, f"{costs['size']:,.0f}", f"{costs['bytes']:,.0f}",
             onnx_bytes([sets[name] for name in names]), f"{costs['microseconds']:.2g}",
             f"{costs['seconds']:.2g}"]
        )  # fmt: skip
    header = ["model", "error %", "balanced error %", "AUC", "size", "bytes", "bytes, ONNX",
              "µs a row", "fit, s"]  # fmt: skip
    return markdown(header, lines)


def onnx_bytes(cells: list[list[dict]]) -> str:
    """The median over the sets, or a dash where a model could not be exported."""
    if not all("onnx_bytes" in row for cell in cells for row in cell):
        return "-"
    return f"{np.median([mean(cell, 'onnx_bytes') for cell in cells]):,.0f}"


def equal_sizes(found: dict) -> str:
    """Against an MLP and a tree of the same size: mean errors, sets within one standard error."""
    lines = []
    for method, budget in found:
        if budget is None or method == "SparseSVC":
            continue
        one = Comparison.of(found, (method, budget), ("SparseSVC", budget))
        if one.pairs:
            ours, theirs = one.errors()
            counts = [sum(gap <= 0 for gap in one.gaps.values()), len(one.gaps) - len(one.beyond)]
            lines.append(
                [label((method, budget)), str(len(one.gaps)), f"{theirs:.1f}", f"{ours:.1f}",
                 *map(str, counts)]
            )  # fmt: skip
    header = ["rival", "sets", "its error %", "`SparseSVC` of that size", "ours lower or equal",
              "or within one standard error"]  # fmt: skip
    return markdown(header, lines)


def each_set(found: dict) -> str:
    """Error % (size) of what chooses its own size."""
    keys = [(method, None) for method in OWN_SIZE if (method, None) in found]
    names = list(dict.fromkeys(name for key in keys for name in found[key]))
    lines = []
    for name in names:
        cells = (found[key].get(name) for key in keys)
        texts = (
            f"{100 * mean(c, 'error'):.1f} ({mean(c, 'size'):,.0f})" if c else "" for c in cells
        )
        lines.append([name, *texts])
    return markdown(["error % (size)", *map(label, keys)], lines)


def rare_summary(found: dict) -> str:
    one = Comparison.of(found, ("boosting", None))
    if not one.pairs:
        return ""
    lower, higher = (
        sum(sign * (mean(a, key) - mean(b, key)) > 0 for a, b in one.pairs.values())
        for key, sign in (("balanced_error", 1), ("auc", -1))
    )
    return (
        f"On the sets with a rare class, where all weigh the classes the same, boosting has the "
        f"lower balanced error on {lower} of {len(one.pairs)} and the higher AUC on {higher}."
    )


def rare_classes(found: dict) -> str:
    """Balanced error % and area under the curve on the sets with a rare class."""
    keys = [(method, None) for method in OWN_SIZE if (method, None) in found]
    lines = []
    for name in dict.fromkeys(name for key in keys for name in found[key]):
        cells = (found[key].get(name) for key in keys)
        texts = (
            f"{100 * mean(c, 'balanced_error'):.1f}, {mean(c, 'auc'):.3f}" if c else ""
            for c in cells
        )
        lines.append([name, *texts])
    return markdown(["balanced error %, AUC", *map(label, keys)], lines)


def tables(rows: list[dict]) -> str:
    found, plain, rare = by_model(rows), by_model(plain_rows(rows)), by_model(rare_rows(rows))
    splits = ", ".join(map(str, sorted({row["split"] for row in rows})))
    parts = [
        f"Recorded: {len({row['set'] for row in rows})} sets; splits: {splits}.",
        boosting_summary(plain),
        svc_summary(plain),
        rare_summary(rare),
        boosting_table(plain),
        "With a rare class, by their own choice:",
        rare_classes(rare),
        "At equal sizes, without the sets with a rare class:",
        equal_sizes(plain),
    ]
    complete = complete_sets(found)
    for group in GROUPS:
        names = [name for name in complete if group_of(name) == group]
        if names:
            title = f"{group[0].upper()}{group[1:]} ({len(names)}), models that were run on all"
            text = "error, balanced error and AUC are means over the sets, the others medians:"
            parts += [f"{title} of them; {text}"]
            parts += [summary_table(found, names)]
    parts += ["By their own choice, set by set:", each_set(plain)]
    return "\n\n".join(part for part in parts if part)


def complete_sets(found: dict) -> list[str]:
    """Sets that all have which choose their own size."""
    sides = [found.get((method, None), {}) for method in OWN_SIZE]
    return [name for name in sides[0] if all(name in sets for sets in sides)]
