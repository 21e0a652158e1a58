"""Measured numbers in the prose of pages: those that nobody checks.

What stands between ``<!-- NAME -->`` and ``<!-- /NAME -->`` is made from records
(``benchmarks/readme.py`` and ``guide.py``), and what code prints is compared by the tests of
snippets and examples. Any other number with a unit of measurement, in digits or in words, with a
fraction or as a power of ten, is found here, unless it is one of :data:`NOT_MEASURED`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

DIGITS = r"\d[\d.,\u202f\u00a0]*(?: \d{3})*|(?:\d+·)?10[⁰¹²³⁴⁵⁶⁷⁸⁹]+"
WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|sixteen|twenty|thirty"
    "|forty|fifty|sixty|eighty|ninety|hundred|thousand|million|half(?: an?)?|quarter(?: of an?)?"
)
UNITS = (
    "per cent|percent|points?|times|fold|(?:nano|micro|milli)?seconds?|minutes?|hours?|bytes"
    "|kilobytes|megabytes|gigabytes|terms?|(?:support )?vectors?|kernels|instructions"
)
#: Words for numbers go with words for units, digits also with signs for them.
FIGURE = re.compile(
    rf"(?<![\w.])(?:{DIGITS})[ \n-]?(?:%|(?:[nµm]?s|min|h|[kMGT]?B)(?!\w)|(?:{UNITS})(?!\w))"
    rf"|(?<!\w)(?:{WORDS})[ \n-](?:{UNITS})(?!\w)"
    r"|(?<![\w.\-−])\d+\.\d+(?!\w|\.\d)"
    r"|(?<![\w.])\d+(?:\.\d+)?e-\d+(?!\w)"
)
#: Made from records, shown as code, or the place that a link leads to.
CHECKED = [
    re.compile(r"<!-- ([A-Z_]+) -->.*?<!-- /\1 -->", re.DOTALL),
    re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL),
    re.compile(r"(?:^    .*\n)+", re.MULTILINE),
    re.compile(r"`[^`\n]*`"),
    re.compile(r"\]\([^)]*\)"),
    re.compile(r"default=\S+"),
]
#: Words of the text whose numbers are none that were measured, by what they are.
NOT_MEASURED = {
    "parameters, limits and rules of the code": [
        "models of eight terms or more",
        "at most eight terms",
        "one kernel term for ten support vectors",
        "one term for ten of its vectors",
        "keeps it to eight terms",
        "With 100 vectors or more",
        "0.3 to 10 is the usual range",
        "between a quarter and four times as many",
        "within 6 % of the lowest (3 % of the root mean square)",
        "until that is one per cent",
        "more than 0.8 times that of the median",
        "more than 100 times as much as others",
        "ten times as many as the features that are asked for",
        "a loose duality gap (10 % and falling)",
        "expected to take 16 times the size",
        "8 bytes a cell",
        "below 20 s each",
        "more than 0.15 behind in balanced accuracy",
        "says how wide 90 % of new values spread",
        "mean loss of a training row by more than 0.01",
    ],
    "formulas and definitions": [
        "K − 1 times as many rows",
        "counts as one term for each output",
        "kernel expansion with one term for each output",
        "equal vectors joined into one term",
        "2π d / 365.2425",
    ],
    "data, and what is assumed of machines": [
        "5 % of the labels wrong",
        "32 terms with a metric and C given",
        "10 s for the sample, rows read at 200 MB/s a worker",
        "(-0.7, 0.3) and (0.3, 0.3) for class -1, at (-0.3, 0.7) and (0.4, 0.7) for class +1",
        "with variance 0.03 in every direction; the best possible error is 8.8 %",
        "the best possible error lies between 7.9 % and 15.9 %",
        "With probability 0.7 the first three",
        '"95%", "90%", "80%", "0%"',
    ],
    "how the studies were made": [
        "with at most 4, 8, 16, 32 terms",
        "after half a second of asking",
        "by 5-fold cross-validation",
        "by 10-fold cross-validation",
        "by five-fold cross-validation",
        "8-fold cross-validation, drawn 5 times",
        "by a 5-fold search",
        "λ = 0.1 ... 0.9",
        "SLMC has 10 terms",
        "in single precision, 0.4 GB",
        "to a relative gap of 1e-4",
        "nu is 0.1",
        "RSVM with 5 % on german and with 10 % on waveform",
        "with 16 to 32 terms",
    ],
    "published": [
        "is 8 to 16 %, depending on V; the published 24 %",
        "(Bayes error 24.0 %)",
        "is the paper's (3.9)",
        "FSV 139 s, l2-AROM 2.39 s, RFE 1.22 s",
        "on sinc 3 % of its vectors would be one term",
        "Tipping (2001) has nine terms",
        "without a largest error of 0.007",
        "The paper's strength is C = 0.5",
    ],
    "checked by tests of the exporters, devices and reports": [
        "is Python's to 1e-12",
        "to about 1e-5 of the size of what is summed up",
        "(relative error below 2e-7, in double precision 3e-16)",
        "agree to 1e-9 everywhere",
        "The page is below 1 MB",
    ],
    "versions": ["Python 3.11 or newer", "scikit-learn 1.6 or newer", "those of version 0.1"],
    "a manner of speaking; `python -m benchmarks list` has the hours of the records": [
        "all together take some four hours of one core, or two of two",
    ],
}


def figures(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, number and surroundings of all that looks measured and is not checked."""
    for pattern in CHECKED:
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for phrase in (one for some in NOT_MEASURED.values() for one in some):
        pattern = re.compile(r"\s+".join(map(re.escape, phrase.split())))
        text = pattern.sub(lambda match: re.sub(r"[^\n]", "_", match[0]), text)
    for match in FIGURE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        around = text[max(0, match.start() - 40) : match.end() + 40].replace("\n", " ")
        yield line, match[0], around.strip()
