"""The blocks of the guide that hold figures: of docs/scaling.md from cluster.json, of a few others
from the records of studies."""

import json
import math
from pathlib import Path

import numpy as np

from benchmarks import record
from benchmarks.cluster_model import FAN_IN, Work, predict
from benchmarks.cluster_predictions import HOP, PROBLEMS, READING, machine, row_seconds, table
from benchmarks.text import duration, markdown

DOCS = record.ROOT / "docs"
CLUSTER = json.loads((record.ROOT / "benchmarks" / "cluster.json").read_text())
#: The scheduler's seconds for a block: those of more than one worker.
TASK = CLUSTER["scheduler"]["2"]
SMALL, LARGE = PROBLEMS.values()
BLOCK = Work(1.0, *SMALL).block_rows


def spaced(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def power(number: float) -> str:
    """A round number of rows, as people write it."""
    exponent = math.floor(math.log10(number))
    digits = str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    factor = round(number / 10**exponent)
    return f"10{digits}" if factor == 1 else f"{factor}·10{digits}"


def said(kind: str, case: str) -> float:
    """Nanoseconds a row of a case by the constants."""
    work = Work(1.0, *map(int, case.split(", ")))
    return 1e9 * row_seconds(CLUSTER["rows"][kind]["constants"], work)


def costs() -> str:
    kinds = CLUSTER["rows"]
    constants = [[kind, *(f"{c:.3g}" for c in one["constants"])] for kind, one in kinds.items()]
    cases = list(kinds["processor"]["measured"])
    lines, gaps = [], {}
    for kind, one in kinds.items():
        measured, by = one["measured"], {case: said(kind, case) for case in cases}
        gaps[kind] = max(abs(by[case] / measured[case] - 1) for case in cases)
        lines.append([f"{kind}, measured", *(spaced(measured[case]) for case in cases)])
        lines.append(["by the constants", *(spaced(by[case]) for case in cases)])
    workers = ", ".join(
        f"{1e3 * seconds:.1f} ms with {count} worker process{'es' * (count != '1')}"
        for count, seconds in CLUSTER["scheduler"].items()
    )
    number = kinds["H200"]["constants"][1]
    return "\n\n".join(
        [
            "Measured on "
            + "; ".join(f"{one['machine']} ({kind})" for kind, one in kinds.items())
            + f"; commit {CLUSTER['commit']}.",
            markdown(["ns", *(f"a{i}" for i in range(8))], constants),
            "They say what was measured within "
            + " and ".join(f"{100 * gap:.0f} % ({kind})" for kind, gap in gaps.items())
            + " in these cases (ns a row):",
            markdown(["features, terms, outputs", *cases], lines),
            f"On the device nearly all of that is the way there: {number:.0f} ns a number are "
            f"{8 / number:.0f} GB/s, from memory that is not pinned. The scheduler and the client "
            f"take {1e3 * TASK:.1f} ms a block ({workers}; all of it on the same two cores as the "
            "workers).",
        ]
    )


def delays() -> str:
    lines = []
    for one in CLUSTER["delays"]:
        blocks, workers, seconds = one["blocks"], one["workers"], one["block_seconds"]
        predicted = math.ceil(blocks / workers) * seconds
        lines.append([str(workers), str(blocks), f"{seconds:g}", f"{predicted:.3g}",
                      f"{one['seconds']:.3g}"])  # fmt: skip
    return markdown(["workers", "blocks", "seconds a block", "predicted", "measured"], lines)


def fits() -> str:
    lines = []
    for one in CLUSTER["fits"]:
        predicted = one["rows"] * said("processor", "20, 32, 1") * 1e-9
        lines.append(
            [
                power(one["rows"]),
                str(one["workers"]),
                ", ".join(f"{value:g}" for value in one["fit"]) + " s",
                ", ".join(f"{value:g}" for value in one["passes"]) + " s",
                f"{one['sums_clock']:g} s, {one['sums_processor']:g} s",
                f"{one['making']:g} s",
                f"{predicted:.2g} s",
                f"{one['sums']:g} s",
                f"{one['gigabytes']:g} GB",
                f"{100 * one['error']:.2f} %",
            ]
        )
    alone, both = (
        next(o for o in CLUSTER["fits"] if o["rows"] == 1e7 and o["workers"] == workers)
        for workers in (1, 2)
    )
    gain = np.mean(alone["passes"]) / np.mean(both["passes"])
    header = ["rows", "workers", "fit", "all four passes: clock",
              "a pass of sums: clock, processor", "of which rows are made and checked",
              "sums: predicted", "measured", "memory", "error"]  # fmt: skip
    return (
        f"{markdown(header, lines)}\n\nTwo workers take {gain:.2f} times less than one for all "
        f"passes over the rows, {alone['sums_clock'] / both['sums_clock']:.1f} times less for one "
        f"of sums ({power(alone['rows'])} rows, two runs each, taking turns)."
    )


def predictions() -> str:
    kinds = {"Workers of one thread": "processor", "Workers with an H200 each": "H200"}
    return "\n\n".join(
        f"{label}:\n\n{table(machine(CLUSTER['rows'][kind]['constants'], TASK))}"
        for label, kind in kinds.items()
    )


def bottlenecks() -> str:
    """What the tables of predictions show, in words."""
    constants = {kind: one["constants"] for kind, one in CLUSTER["rows"].items()}
    rows, workers, few = 1e10, 1_000, 4_000_000
    small, large = Work(rows, *SMALL), Work(rows, *LARGE)
    bytes_a_row = 8 * small.features
    slow = machine(constants["processor"], TASK)
    products = {kind: duration(row_seconds(one, large)) for kind, one in constants.items()}
    link = 1.25e8  # 1 Gbit/s
    travelled = large.sums_bytes / link
    adding = math.ceil(large.blocks / workers) * travelled
    depth = math.ceil(math.log(large.blocks, FAN_IN))
    root = depth * (HOP + FAN_IN * travelled)
    return "\n".join(
        [
            f"- **Reading** is the bottleneck of small models: {bytes_a_row} bytes a row take "
            f"{duration(bytes_a_row / READING)} at {READING / 1e6:.0f} MB/s, its sums "
            f"{duration(row_seconds(constants['processor'], small))}. Rows that are persisted in "
            f"the memory of the workers ({bytes_a_row * rows / 1e12:.2g} TB for {power(rows)} × "
            f"{small.features}) are read once; single precision halves what is read.",
            f"- **The products** of Newton's method, m² for each output, are that of large models "
            f"with several classes on processors: "
            f"{products['processor']} a row with {large.terms} terms and {large.outputs} outputs. "
            f'With `device="cuda"` every worker brings its blocks to its GPU, where they take '
            f"{products['H200']}, and reading is the bottleneck again.",
            f"- **The scheduler** is that of many workers: {1e3 * TASK:.1f} ms a block, so "
            f"{spaced(small.blocks)} blocks take {predict(small, slow, workers).scheduling:.0f} s "
            f"a pass whatever the workers. Larger blocks are the remedy: {spaced(rows / few)} "
            f"blocks of {spaced(few)} rows ({few * bytes_a_row / 1e6:.0f} MB each) take "
            f"{rows / few * TASK:.0f} s.",
            f"- **The links** are never: the sums of {large.terms} terms and {large.outputs} "
            f"outputs are {large.sums_bytes / 1e6:.0f} MB a block; at 1 Gbit/s a pass over "
            f"{power(rows)} rows on {spaced(workers)} workers spends {adding:.1f} s on them, and "
            f"{root:.1f} s on the way to the root.",
        ]
    )


def streamed() -> str:
    one, short = CLUSTER["files"]["stream"], CLUSTER["files"]["short"]
    return (
        f"`zeronorm fit big.csv --target y --terms {one['terms']}` on {spaced(one['rows'])} rows × "
        f"{one['columns']} numbers ({one['file_gigabytes']} GB of text), of which the process may "
        f"hold {one['limit_gigabytes']} GB of data (`prlimit --data=900000000`): it says that the "
        f"file is read piece by piece and that the numbers are on disk, and ends after "
        f"{one['seconds']} s of one core with {100 * one['error']:.1f} % error. "
        f"{power(short['rows'])} rows of {short['columns']} columns ({short['file_megabytes']} MB) "
        f"took {short['seconds']} s of the processor and {short['fit_gigabytes']} GB, files that "
        f"the system can take back included, and `zeronorm predict` "
        f"{short['predict_gigabytes']} GB."
    )


def mapped() -> str:
    one = CLUSTER["files"]["mapped"]
    return (
        f"`SparseSVC` on an `np.memmap` of {power(one['rows'])} × {one['columns']} float32 "
        f"({one['file_gigabytes']} GB): {one['megabytes']} MB of our own at the peak (anonymous "
        f"memory of the process above that before `fit`; {one['terms']} terms and C given, one "
        f"width), {one['seconds']} s on {one['machine']}. Labels are another "
        f"{one['label_megabytes']} MB."
    )


def wide() -> str:
    """A selection among very many features."""
    head, rows = record.read("selection_time")
    one = next(r for r in rows if (r["data"], r["method"]) == ("wide", "l2-AROM"))
    return f"100 rows × 100 000 features took {duration(one['seconds'])} ({made_on(head, one)})"


def made_on(head: dict, row: dict) -> str:
    processor = head["runs"][row["commit"]]["machine"]["processor"]
    return f"one core, {processor.replace('(R)', '')}"


def integers() -> str:
    """By how much 16-bit integers are faster than single precision without a floating unit."""
    rows = [r for r in record.read("embedded")[1] if r["chip"] == "Cortex-M0" and r["fits"]]
    found = record.cells(rows, "data", "method")
    ratios = []
    for some in found.values():
        count = {row["precision"]: row["instructions"] for row in some}
        if len(count) == 2:
            ratios.append(count["float"] / count["int16"])
    return (
        f"{min(ratios):.0f} to {max(ratios):.0f} times fewer instructions on a Cortex-M0, which "
        f"has no floating point"
    )


def blocks() -> dict[Path, dict[str, str]]:
    """The blocks of each page, made anew."""
    return {
        DOCS / "scaling.md": {
            "COSTS": costs(),
            "DELAYS": delays(),
            "FITS": fits(),
            "PREDICTIONS": predictions(),
            "BOTTLENECKS": bottlenecks(),
            "STREAMED": streamed(),
            "MAPPED": mapped(),
        },
        DOCS / "guide" / "features.md": {"WIDE": wide()},
    }
