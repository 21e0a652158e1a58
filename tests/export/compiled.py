"""Headers of many models in one program: compiled once, run on all rows, read back."""

import re
import subprocess
from pathlib import Path

import numpy as np

from zeronorm.export import to_c
from zeronorm.export.c_form import c_text

FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic")

#: What follows each header; NAME is what its names begin with. Rows come as numbers, texts as
#: numbers of a list; what goes out is scores, the prediction and, if there are any, probabilities.
JOB = """
static void NAME_run(FILE *in, FILE *out)
{
    double row[NAME_INPUTS], answer;
    real x[NAME_INPUTS], values[NAME_SCORES + 64];
    int i, n, count = 0;
    if (fread(row, sizeof(double), 1, in) == 1) {
        count = (int)row[0];
    }
    for (n = 0; n < count; n++) {
        if (fread(row, sizeof(double), NAME_INPUTS, in) != NAME_INPUTS) {
            return;
        }
        for (i = 0; i < NAME_INPUTS; i++) {
            x[i] = (real)row[i];
        }
TEXTS        NAME_decision(x, values);
        for (i = 0; i < NAME_SCORES; i++) {
            answer = (double)values[i];
            fwrite(&answer, sizeof(double), 1, out);
        }
PREDICTION        fwrite(&answer, sizeof(double), 1, out);
PROBABILITIES    }
}
"""

PROBABILITIES = """\
        NAME_probabilities(x, values);
        for (i = 0; i < NAME_CLASSES; i++) {
            answer = (double)values[i];
            fwrite(&answer, sizeof(double), 1, out);
        }
"""


class Program:
    """Cases by their names; ``options`` go to `to_c`, those of a case in ``own`` too."""

    def __init__(self, cases: dict, own: dict | None = None, **options):
        self.cases = cases
        self.names = {name: f"m{i}" for i, name in enumerate(cases)}
        own = own or {}
        self.headers = {
            name: to_c(case.model, name=self.names[name], **options, **own.get(name, {}))
            for name, case in cases.items()
        }

    def source(self) -> str:
        parts = ["#include <stdio.h>\n#include <stdlib.h>\n"]
        for name in self.cases:
            parts.append(f'#include "{self.names[name]}.h"')
            parts.append(self._job(name))
        calls = "".join(f"    {short}_run(in, out);\n" for short in self.names.values())
        parts.append(
            "int main(int count, char **names)\n{\n    FILE *in, *out;\n"
            "    if (count != 3) {\n        return 2;\n    }\n"
            '    in = fopen(names[1], "rb");\n    out = fopen(names[2], "wb");\n'
            "    if (in == 0 || out == 0) {\n        return 3;\n    }\n"
            f"{calls}    fclose(in);\n    return fclose(out);\n}}\n"
        )
        return "\n".join(parts)

    def _job(self, name: str) -> str:
        header, short = self.headers[name], self.names[name]
        prediction = "        answer = 0;\n"
        for word in ("class", "predict"):
            if f"{short}_{word}(" in header:
                prediction = f"        answer = (double){short}_{word}(x);\n"
        if (
            f"void {short}_predict(" in header
        ):  # several targets, of which the last one is looked at
            prediction = f"        {short}_predict(x, values);\n"
            prediction += "        answer = (double)values[NAME_OUTPUTS - 1];\n"
        texts, lists = "", ""
        for column, spelled in self._texts(name).items():
            lists += f"static const char *const NAME_texts_{column}[] = {{"
            lists += ", ".join(map(c_text, spelled)) + "};\n"
            texts += (
                f"        x[{column}] = NAME_level({column}, row[{column}] < 0 ? 0 : "
                f"NAME_texts_{column}[(int)row[{column}]]);\n"
            )
        has = f"{short}_probabilities(" in header
        job = lists + JOB.replace("TEXTS", texts).replace("PREDICTION", prediction)
        job = job.replace("PROBABILITIES    }", (PROBABILITIES if has else "") + "    }")
        real = re.search(rf"{short}_decision\(const (\w+) \*x", header)[1]
        sizes = re.sub(r"NAME_(?=[A-Z])", f"{short.upper()}_", job)
        return re.sub(r"\breal\b", real, sizes.replace("NAME", short))

    def _texts(self, name: str) -> dict[int, list[str]]:
        rows = self.cases[name].rows
        columns = {i for row in rows for i, cell in enumerate(row) if isinstance(cell, str)}
        return {
            i: sorted({row[i] for row in rows if isinstance(row[i], str)}) for i in sorted(columns)
        }

    def input(self) -> np.ndarray:
        parts = []
        for name, case in self.cases.items():
            texts = self._texts(name)
            cells = [
                [_as_number(cell, texts.get(i)) for i, cell in enumerate(row)] for row in case.rows
            ]
            parts += [np.array([float(len(cells))]), np.array(cells, dtype=float).ravel()]
        return np.concatenate(parts)

    def compile(self, folder: Path, compiler: str, *flags: str) -> Path:
        for name, text in self.headers.items():
            (folder / f"{self.names[name]}.h").write_text(text, encoding="utf-8")
        (folder / "all.c").write_text(self.source())
        program = folder / "all"
        command = [compiler, *FLAGS, *flags, "-o", program, folder / "all.c", "-lm"]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert found.returncode == 0, found.stderr[:4000]
        return program

    def run(self, program: Path, folder: Path) -> dict[str, tuple]:
        """Return scores, predictions and probabilities of every case."""
        self.input().tofile(folder / "in")
        command = [program, folder / "in", folder / "out"]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert found.returncode == 0, found.stderr[:4000]
        return self.split(np.fromfile(folder / "out"))

    def split(self, numbers: np.ndarray) -> dict[str, tuple]:
        answers, start = {}, 0
        for name, case in self.cases.items():
            n_scores = case.scores.reshape(len(case.rows), -1).shape[1]
            has = f"{self.names[name]}_probabilities(" in self.headers[name]
            width = n_scores + 1 + (case.probabilities.shape[1] if has else 0)
            block = numbers[start : start + len(case.rows) * width].reshape(-1, width)
            start += block.size
            answers[name] = block[:, :n_scores], block[:, n_scores], block[:, n_scores + 1 :]
        assert start == len(numbers)
        return answers


def _as_number(cell, texts) -> float:
    if texts is not None:
        return -1.0 if cell is None else float(texts.index(cell))
    return np.nan if cell is None else float(cell)
