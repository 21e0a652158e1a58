"""Write the CSV files of `make demo`: numbers, a column of text, gaps, and classes to learn.

Usage: python examples/make_demo_csv.py FOLDER
"""

import csv
import sys
from pathlib import Path

import numpy as np

COLUMNS = ["width", "height", "weight", "colour"]
CLASSES = ["reject", "accept"]


def make_rows(n_rows: int, seed: int) -> tuple[list[list[str]], list[str]]:
    """Two interleaved arcs in width and height; red parts are shifted; weight says nothing."""
    rng = np.random.default_rng(seed)
    accepted = rng.integers(0, 2, n_rows)
    angle = rng.uniform(0, np.pi, n_rows)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    shape = np.where(accepted[:, None] == 1, np.array([1.0, 0.5]) - arc, arc)
    colour = rng.choice(["red", "green", "blue"], n_rows, p=[0.3, 0.3, 0.4])
    shape = 20 + 5 * (shape + 0.25 * rng.standard_normal((n_rows, 2)))
    shape[colour == "red", 1] += 2.0
    weight = rng.normal(100, 15, n_rows)
    cells = [
        [f"{w:.2f}", f"{h:.2f}", f"{m:.1f}", str(c)]
        for (w, h), m, c in zip(shape, weight, colour, strict=True)
    ]
    for row, column in zip(*np.nonzero(rng.random((n_rows, 4)) < 0.03), strict=True):
        cells[row][column] = ""
    return cells, [CLASSES[a] for a in accepted]


def write(path: Path, header: list[str], rows: list[list[str]]) -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    cells, outcome = make_rows(500, seed=0)
    labelled = [[*row, label] for row, label in zip(cells, outcome, strict=True)]
    write(folder / "train.csv", [*COLUMNS, "outcome"], labelled)
    new, _ = make_rows(8, seed=1)
    write(folder / "new.csv", COLUMNS, new)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
