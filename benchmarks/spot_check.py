"""Figures of the pages, drawn at random and computed anew from the JSON lines.

The code that renders them has no part in it: the pages are read as text, the records as JSON, and
what is computed is written down here once more, with the standard library alone.

    python -m benchmarks.spot_check               # ten figures, other ones each time
    python -m benchmarks.spot_check --seed 3 --count 100
    python -m benchmarks.spot_check --all
"""

import argparse
import json
import random
import re
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: A number as the pages write them.
NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Shown:
    """A cell of a page: its text, and the numbers in it as they should be."""

    page: str
    row: str
    column: str
    text: str
    values: tuple[float, ...]

    @property
    def is_right(self) -> bool:
        """Every number is the rounded value, and there are no others."""
        texts = NUMBER.findall(self.text)
        return len(texts) == len(self.values) and all(map(agrees, texts, self.values))

    def __str__(self) -> str:
        mark = "right" if self.is_right else "WRONG"
        computed = ", ".join(f"{value:.6g}" for value in self.values)
        return f"{mark}  {self.page}: {self.row}, {self.column}: {self.text!r}; computed {computed}"


def agrees(text: str, value: float) -> bool:
    """Whether a text is the value to its last digit (records have six)."""
    text = text.replace(",", "")
    unit = 10.0 ** -len(text.partition(".")[2])
    return abs(float(text) - value) <= 0.5 * unit + 2e-6 * max(1.0, abs(value))


def records(root: Path, study: str) -> list[dict]:
    lines = (root / "benchmarks" / "results" / f"{study}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[1:]]


def tables_of(path: Path) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Header and rows of every table of a page."""
    for block in re.findall(r"(?:^\|.*\|\n)+", path.read_text(), re.MULTILINE):
        lines = [[c.strip() for c in line.strip("|").split("|")] for line in block.splitlines()]
        yield lines[0], lines[2:]


def table(path: Path, first: str, *others: str) -> tuple[list[str], list[list[str]]]:
    """The one table whose header begins so and has all the others in it."""
    found = [t for t in tables_of(path) if t[0][0] == first and set(others) <= set(t[0])]
    if len(found) != 1:
        raise ValueError(f"{path.name} has {len(found)} tables with {first!r}, {others}.")
    return found[0]


def some(rows: list[dict], key: str, **wanted) -> list[float]:
    """Values of the rows that have what is wanted."""
    return [row[key] for row in rows if all(row.get(k) == v for k, v in wanted.items())]


METHODS = ("SVC", "SparseSVC")
#: Of the README, with numbers in words.
BLOCKS = ("REASON", "GAP")


def headline(root: Path) -> Iterator[Shown]:
    """README: the seven sets."""
    svc = [row for row in records(root, "ssvc_table") if row["rule"] == "best"]
    ours, times = records(root, "frontier"), records(root, "times")
    header, lines = table(root / "README.md", "", "banana", "waveform")
    for line in lines:
        for name, text in zip(header[1:], line[1:], strict=True):
            key = name.replace(" ", "_")
            if "faster" in line[0]:
                pair = [some(times, "predict_seconds", set=key, method=m)[0] for m in METHODS]
                yield Shown("README.md", line[0], name, text, (pair[0] / pair[1],))
                continue
            wanted = {"set": key, "method": "SVC"}
            if "SparseSVC" in line[0]:
                wanted = {"set": key, "method": "SparseSVC", "budget": "auto"}
            rows = ours if "SparseSVC" in line[0] else svc
            if "terms" in line[0]:
                found = (statistics.median(some(rows, "terms", **wanted)),)
            else:
                found = mean_error([100 * e for e in some(rows, "error", **wanted)])
            yield Shown("README.md", line[0], name, text, found)


def prose(root: Path) -> Iterator[Shown]:
    """README: what it says of terms, errors and times in words."""
    text = (root / "README.md").read_text()
    reason, gap = (re.findall(f"<!-- {tag} -->(.*)<!-- /{tag} -->", text)[0] for tag in BLOCKS)
    svc = [row for row in records(root, "ssvc_table") if row["rule"] == "best"]
    ours, times, exported = (records(root, name) for name in ("frontier", "times", "exported"))
    names = list(dict.fromkeys(row["set"] for row in times))
    ratios, errors, fits = [], [], []
    for name in names:
        wanted = {"set": name, "method": "SVC"}, {"set": name, "budget": "auto"}
        sides = tuple(zip((svc, ours), wanted, strict=True))
        terms = [statistics.median(some(rows, "terms", **want)) for rows, want in sides]
        ratios.append(terms[0] / terms[1])
        means = [100 * statistics.mean(some(rows, "error", **want)) for rows, want in sides]
        errors.append(means[1] - means[0])
        fits += some(times, "terms", set=name, method="SparseSVC")
    faster = [
        statistics.median(
            some(times, key, set=name, method="SVC")[0]
            / some(times, key, set=name, method="SparseSVC")[0]
            for name in names
        )
        for key in ("predict_seconds", "predict_one_seconds")
    ]
    shipped = [
        some(exported, "microseconds", data=name, method="SVC", way=way)[0]
        / some(exported, "microseconds", data=name, method="SparseSVC", way=way)[0]
        for way in ("C, double", "ONNX, float")
        for name in ("ringnorm", "waveform")
    ]
    found = (statistics.median(ratios), faster[0], 20_000, faster[1], *shipped)
    yield Shown("README.md", "why", "small", reason, found)
    worse = sum(error > 0 for error in errors)
    found = (worse, len(errors), *mean_error(errors), *fits)
    yield Shown("README.md", "benchmarks", "errors", gap, found)


def mean_error(values: list[float]) -> tuple[float, ...]:
    """The mean and, of several values, its standard error."""
    if len(values) < 2:
        return (values[0],)
    return statistics.mean(values), statistics.stdev(values) / len(values) ** 0.5


def budgets(root: Path) -> Iterator[Shown]:
    """frontier: errors at each number of terms."""
    rows = records(root, "frontier")
    header, lines = table(root / "docs/results/frontier.md", "set", "method", "2 terms")
    for name, method, *cells in lines:
        for column, text in zip(header[2:], cells, strict=True):
            if text:
                budget = int(column.split()[0])
                errors = some(rows, "error", set=name, method=method, budget=budget)
                value = 100 * statistics.mean(errors)
                yield Shown("frontier", f"{name}, {method}", column, text, (value,))


def own_choices(root: Path) -> Iterator[Shown]:
    """peers: error and terms by own choice, on three folds."""
    rows = [r for r in records(root, "peers") if r["budget"] is None and r["fold"] < 3]
    sparsest = {r["method"] for r in rows if r["rule"] == "one_se"}
    header, lines = table(root / "docs/results/peers.md", "set", "SparseSVC", "IRWLS")
    for name, *cells in lines:
        for method, text in zip(header[1:], cells, strict=True):
            if text and not name.startswith("mean"):
                rule = "one_se" if method in sparsest else "best"
                wanted = {"set": name, "method": method, "rule": rule}
                found = [statistics.mean(some(rows, key, **wanted)) for key in ("error", "terms")]
                yield Shown("peers", name, method, text, (100 * found[0], found[1]))


def equal_terms(root: Path) -> Iterator[Shown]:
    """peers: mean errors of all that can be told a number of terms, where all have it."""
    rows = records(root, "peers")
    header, lines = table(root / "docs/results/peers.md", "terms", "sets", "SparseSVC")
    for budget, sets, *cells, _ in lines:
        told = {m: text for m, text in zip(header[2:-1], cells, strict=True) if text}
        errors: dict[tuple, dict] = {}
        for row in rows:
            if row["budget"] == int(budget) and row["method"] in told:
                errors.setdefault((row["set"], row["fold"]), {})[row["method"]] = row["error"]
        of_sets: dict[str, list[dict]] = {}
        for (name, _fold), one in errors.items():
            if len(one) == len(told):
                of_sets.setdefault(name, []).append(one)
        yield Shown("peers", f"{budget} terms", "sets", sets, (len(of_sets),))
        for method, text in told.items():
            means = [statistics.mean(one[method] for one in some) for some in of_sets.values()]
            value = 100 * statistics.mean(means)
            yield Shown("peers", f"{budget} terms", method, text.partition(" (")[0], (value,))


def with_terms(root: Path, study: str, first: str, key: str) -> Iterator[Shown]:
    """Tables of a metric ± its error (terms): regression and one_class."""
    rows = records(root, study)
    header, lines = table(root / f"docs/results/{study}.md", first)
    for name, *cells in lines:
        for method, text in zip(header[1:], cells, strict=True):
            found = mean_error(some(rows, key, set=name, method=method))
            terms = statistics.mean(some(rows, "terms", set=name, method=method))
            yield Shown(study, name, method, text, (*found, terms))


def large(root: Path) -> Iterator[Shown]:
    rows = records(root, "scale")
    header, lines = table(root / "docs/results/scale.md", "set", "peak MiB")
    for line in lines:
        wanted = {"set": line[0], "method": line[1]}
        factors = {"rows": 1, "terms": 1, "error %": 100}
        for column, factor in factors.items():
            value = factor * some(rows, column.split()[0], **wanted)[0]
            text = line[header.index(column)]
            yield Shown("scale", f"{line[0]}, {line[1]}", column, text, (value,))


def boosting(root: Path) -> Iterator[Shown]:
    """evidence: what boosting gains and costs, set by set."""
    rows = [row for row in records(root, "evidence") if row["budget"] is None]
    header, lines = table(root / "docs/results/evidence.md", "set", "boosting gains, points")
    for name, *cells in lines:
        ours, theirs = (
            {
                key: statistics.mean(some(rows, key, set=name, method=method))
                for key in ("error", "bytes", "microseconds", "seconds")
            }
            for method in ("SparseSVC", "boosting")
        )
        values = [100 * theirs["error"], 100 * ours["error"]]
        values += [100 * (ours["error"] - theirs["error"]), theirs["bytes"] / ours["bytes"]]
        values += [theirs["microseconds"] / ours["microseconds"]]
        values += [ours["seconds"] / theirs["seconds"]]
        for column, text, value in zip(header[1:], cells, values, strict=True):
            yield Shown("evidence", name, column, text, (value,))


def claims(root: Path) -> Iterator[Shown]:
    """RESULTS.md: the numbers of some of its claims."""
    found = tables_of(root / "benchmarks/RESULTS.md")
    lines = {line[0]: line for header, some in found if header[0] == "claim" for line in some}
    svc = [row for row in records(root, "ssvc_table") if row["rule"] == "best"]
    ours = [row for row in records(root, "frontier") if row["budget"] == "auto"]
    gaps, ratios = [], []
    for name in dict.fromkeys(row["set"] for row in ours):
        pair = [{"rows": svc, "method": "SVC"}, {"rows": ours, "method": "SparseSVC"}]
        errors = [statistics.mean(some(**p, key="error", set=name)) for p in pair]
        terms = [statistics.median(some(**p, key="terms", set=name)) for p in pair]
        gaps.append(100 * (errors[1] - errors[0]))
        ratios.append(terms[0] / terms[1])
    line = lines["fewer terms than a tuned `SVC`, at about its error"]
    worse = (sum(gap > 0 for gap in gaps), len(gaps), *mean_error(gaps), max(gaps))
    yield Shown("RESULTS.md", line[0], "rival", line[1], worse)
    yield Shown("RESULTS.md", line[0], "ours", line[2], (statistics.median(ratios), min(ratios)))
    yield from svc_claim(root, lines["the same on more sets"])
    yield from regression_claim(root, lines["`SparseSVR` in the place of a tuned `SVR`"])


def svc_claim(root: Path, line: list[str]) -> Iterator[Shown]:
    """evidence, without the sets with a rare class, which its page names: the tuned SVC."""
    rare = {one[0] for one in table(root / "docs/results/evidence.md", "balanced error %, AUC")[1]}
    rows = [r for r in records(root, "evidence") if r["budget"] is None and r["set"] not in rare]
    errors, shares, beyond = [], [], 0
    for name in {r["set"] for r in rows if r["method"] == "SVC"}:
        keys = ("error", "size", "test_rows")
        ours, svc = (
            {key: statistics.mean(some(rows, key, set=name, method=method)) for key in keys}
            for method in ("SparseSVC", "SVC")
        )
        errors.append((ours["error"], svc["error"]))
        shares.append(ours["size"] / svc["size"])
        noise = (svc["error"] * (1 - svc["error"]) / svc["test_rows"]) ** 0.5
        beyond += ours["error"] - svc["error"] > noise
    yield Shown("RESULTS.md", line[0], "rival", line[1], (beyond, len(errors)))
    means = [100 * statistics.mean(side) for side in zip(*errors, strict=True)]
    means += mean_error([100 * (ours - svc) for ours, svc in errors])
    yield Shown("RESULTS.md", line[0], "ours", line[2], (*means, 100 * statistics.mean(shares)))


def regression_claim(root: Path, line: list[str]) -> Iterator[Shown]:
    rows = records(root, "regression")
    names = list(dict.fromkeys(row["set"] for row in rows))
    errors, terms = (
        [
            statistics.mean(some(rows, key, set=name, method="SparseSVR"))
            / statistics.mean(some(rows, key, set=name, method="SVR"))
            for name in names
        ]
        for key in ("error", "terms")
    )
    worse: tuple[float, ...] = (sum(one > 1 for one in errors), len(names))
    if max(errors) > 1:
        worse += (100 * (max(errors) - 1),)
    yield Shown("RESULTS.md", line[0], "rival", line[1], worse)
    means = (statistics.mean(errors), 100 * statistics.mean(terms))
    yield Shown("RESULTS.md", line[0], "ours", line[2], means)


SOURCES: dict[str, Callable[[Path], Iterator[Shown]]] = {
    "headline": headline,
    "prose": prose,
    "claims": claims,
    "frontier": budgets,
    "peers": own_choices,
    "peers at equal numbers": equal_terms,
    "regression": lambda root: with_terms(root, "regression", "RMSE (terms)", "error"),
    "one_class": lambda root: with_terms(root, "one_class", "area (terms)", "area"),
    "scale": large,
    "evidence": boosting,
}


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spot_check", description=__doc__)
    parser.add_argument("--seed", type=int, help="of the draw")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--all", action="store_true", help="every figure that it knows")
    options = parser.parse_args(arguments)
    known = {name: list(source(root)) for name, source in SOURCES.items()}
    count = sum(map(len, known.values()))
    if options.all:
        drawn = [one for figures in known.values() for one in figures]
    else:  # a page first, so that the largest table does not have most of the draw
        draw = random.Random(options.seed)
        drawn = [draw.choice(known[draw.choice(list(known))]) for _ in range(options.count)]
    wrong = [one for one in drawn if not one.is_right]
    print(*(wrong if options.all else drawn), sep="\n")
    print(f"{len(drawn) - len(wrong)} of {len(drawn)} are right, drawn from {count}.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
