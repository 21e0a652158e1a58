"""Published points of the papers on the seven sets of Huang et al. (2010): terms and error %.

The papers differ in training size and splits: Huang et al. nine tenths of up to 1000 rows, Wu et
al. 200 to 700 rows (terms are 5 or 10 % of the SVM's vectors), Mannor et al. 150 rows (terms are a
share of these), Kim 384 rows. "diabetes" is Pima.
"""

from benchmarks import slmc_table
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

#: Pima in Mannor et al. (2005), 150 rows: SVM, one-norm and CE, with linear, poly and rbf kernel.
MANNOR_PIMA = {
    "SVM": ((51.2, 24.3), (48.8, 33.2), (67.9, 27.5)),
    "one-norm": ((4.9, 24.6), (29.5, 30.6), (12.9, 25.2)),
    "CE": ((3.9, 24.8), (11.2, 30.2), (8.5, 25.4)),
}

#: Pima in Kim (2009), linear kernel.
KIM_PIMA = {"SVC": (201.5, 23.45), "SKC": (10.5, 23.42)}


def points(name: str) -> list[tuple[str, str, float, float]]:
    """Paper, method, terms and error % of everything published on a set."""
    found = [("Huang", m, *table[name]) for m, table in {**HUANG, "LP": HUANG_LP}.items()]
    if name in slmc_table.SETS:
        place = slmc_table.SETS.index(name)
        vectors = slmc_table.PUBLISHED_VECTORS[place]
        for (method, share), errors in slmc_table.PUBLISHED.items():
            if method == "RVM":
                share = slmc_table.PUBLISHED_RVM[place] / 100
            found.append(("Wu", method, share * vectors, errors[place]))
    if name == "diabetes":
        for method, values in MANNOR_PIMA.items():
            found += [("Mannor", method, 1.5 * share, error) for share, error in values]
        found += [("Kim", method, *value) for method, value in KIM_PIMA.items()]
    return found
