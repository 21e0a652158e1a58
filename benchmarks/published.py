"""Published points of the papers on a set: paper, method, terms and error %.

The papers differ in training size and splits: Huang et al. nine tenths of up to 1000 rows, Wu et
al. 200 to 1300 rows (terms are 5 or 10 % of the SVM's vectors), Mannor et al. 150 rows (terms are a
share of these), Kim half of the rows. "diabetes" is Pima.
"""

from benchmarks import kim_table, mannor_tables, slmc_table
from benchmarks.data import MANNOR_TRAIN
from benchmarks.ssvc_table import PUBLISHED as HUANG

#: LP-SVC of Huang et al., which ``ssvc_table`` does not run.
HUANG_LP = {
    "banana": (114.5, 9.4),
    "thyroid": (7.1, 5.7),
    "diabetes": (21.4, 22.5),
    "breast_cancer": (79.2, 25.2),
    "german": (33.8, 23.5),
    "ringnorm": (30.4, 1.7),
    "waveform": (19.9, 9.5),
}


def points(name: str) -> list[tuple[str, str, float, float]]:
    """Everything published on a set."""
    return [*huang(name), *wu(name), *mannor(name), *kim(name)]


def huang(name: str):
    for method, table in {**HUANG, "LP": HUANG_LP}.items():
        if name in table:
            yield "Huang et al.", method, *table[name]


def wu(name: str):
    if name not in slmc_table.SETS:
        return
    place = slmc_table.SETS.index(name)
    for (method, share), errors in slmc_table.PUBLISHED.items():
        terms = slmc_table.PUBLISHED_TERMS.get(method)
        terms = terms[place] if terms else share * slmc_table.PUBLISHED_VECTORS[place]
        yield "Wu et al.", method, terms, errors[place]


def mannor(name: str):
    name = "pima" if name == "diabetes" else name
    for kernel, table in mannor_tables.PUBLISHED.items():
        for method, (error, share) in zip(
            mannor_tables.PUBLISHED_METHODS, table.get(name, ()), strict=False
        ):
            yield "Mannor et al.", f"{method}, {kernel}", share * MANNOR_TRAIN / 100, error


def kim(name: str):
    table = kim_table.PUBLISHED.get({"diabetes": "pima", "iris_pair": "iris"}.get(name, name), {})
    for method, (error, terms) in table.items():
        yield "Kim", method, terms, error
