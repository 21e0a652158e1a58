"""Published points of the papers on the seven sets of Huang et al. (2010): terms and error %.

The papers differ in training size and splits: Huang et al. nine tenths of up to 1000 rows, Wu et
al. 200 to 700 rows (terms are 5 or 10 % of the SVM's vectors), Mannor et al. 150 rows (terms are a
share of these), Kim 384 rows. "diabetes" is Pima.
"""

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

#: SVM vectors and error, then errors at 5 % and at 10 % of the vectors, of Wu et al. (2005).
WU_SVM = {
    "banana": (86.7, 11.8),
    "breast_cancer": (112.8, 28.6),
    "waveform": (158.9, 9.9),
    "german": (408.2, 22.5),
    "image": (172.1, 2.8),
}
WU_ERRORS = {
    "RS": {"banana": (39.4, 21.9), "breast_cancer": (28.8, 27.9), "waveform": (9.9, 10.0),
           "german": (22.9, 22.9), "image": (37.6, 18.3)},
    "MRS": {"banana": (27.6, 17.5), "breast_cancer": (28.8, 29.0), "waveform": (10.0, 9.9),
            "german": (22.5, 22.6), "image": (19.4, 6.9)},
    "RSVM": {"banana": (29.9, 17.5), "breast_cancer": (29.5, 31.0), "waveform": (15.1, 11.6),
             "german": (23.6, 24.5), "image": (23.6, 14.2)},
    "MRSVM": {"banana": (28.1, 16.9), "breast_cancer": (29.4, 30.3), "waveform": (14.7, 11.8),
              "german": (23.9, 23.7), "image": (20.7, 12.7)},
    "SLMC": {"banana": (16.5, 11.0), "breast_cancer": (27.9, 27.9), "waveform": (9.9, 9.9),
             "german": (22.3, 22.9), "image": (5.2, 3.6)},
}  # fmt: skip
#: RVM of Wu et al.: terms as % of the SVM's vectors, and error.
WU_RVM = {
    "banana": (13.2, 10.8),
    "breast_cancer": (5.6, 29.9),
    "waveform": (9.2, 10.9),
    "german": (3.1, 22.2),
    "image": (20.1, 3.9),
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
    if name in WU_SVM:
        vectors, error = WU_SVM[name]
        found.append(("Wu", "SVM", vectors, error))
        for method, table in WU_ERRORS.items():
            for share, one in zip((0.05, 0.10), table[name], strict=True):
                found.append(("Wu", method, share * vectors, one))
        share, error = WU_RVM[name]
        found.append(("Wu", "RVM", share / 100 * vectors, error))
    if name == "diabetes":
        for method, values in MANNOR_PIMA.items():
            found += [("Mannor", method, 1.5 * share, error) for share, error in values]
        found += [("Kim", method, *value) for method, value in KIM_PIMA.items()]
    return found
