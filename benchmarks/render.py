"""RESULTS.md, its pictures, blocks of README and docs, from the recorded results alone."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import readme, record
from benchmarks.statistics import Figure
from benchmarks.studies import CURRENT, STUDIES
from benchmarks.study import Study
from benchmarks.text import figure, markdown
from benchmarks.weaknesses import REASONS

NOTE = """# Results

Made by `python -m benchmarks render` from the JSON lines in `results/`; no figure is typed by hand.
`12.3 ± 0.4 (11.8, +1.2)` is ours with its standard error, then the published figure and by how many
standard errors ours differs from it (of the difference, where the paper has one); − is less.
"""
FOLDER = record.ROOT / "benchmarks"


def section(study: Study, folder: Path) -> str:
    head, rows = record.read(study.name)
    parts = [f"## {study.title}", study.about.strip()]
    old = [row for row in rows if row["commit"].split("/")[0] not in CURRENT]
    if old:
        parts.append(
            f"**Not yet run again** since the solvers changed: {len(old)} of {len(rows)} rows."
        )
    command = f"`python -m benchmarks run {study.name}`"
    if not rows:
        return "\n\n".join([*parts, f"Not run: {command}."])
    parts.append(study.tables(rows))
    if study.draw is not None:
        pictures = study.draw(rows, folder / "pictures")
        parts += [f"![{path.stem}]({path.relative_to(folder)})" for path in pictures]
    parts.append(f"{command}, seed {head['seed']}. {circumstances(head)}")
    return "\n\n".join(parts)


def circumstances(head: dict) -> str:
    """Commits, machines and versions of the rows."""
    groups: dict = {}
    for commit, run in head["runs"].items():
        versions = ", ".join(f"{name} {value}" for name, value in run["versions"].items())
        machine = run["machine"]
        key = (
            f"{machine['cores']} cores ({machine['processor']}), BLAS threads: "
            f"{machine['blas_threads']}; {versions}"
        )
        groups.setdefault(key, []).append(commit)
    return " ".join(f"Commits {', '.join(commits)}: {key}." for key, commits in groups.items())


def paper_figures() -> list[Figure]:
    """Published figures beside those of methods of ours, of all papers."""
    return [
        one
        for study in STUDIES.values()
        if study.figures is not None
        for one in study.figures(record.read(study.name)[1])
        if one.is_ours and one.is_counted and one.published is not None
    ]


def against_the_papers(figures: list[Figure]) -> str:
    """How many figures are reached, table by table."""
    lines = []
    for table in dict.fromkeys(one.table for one in figures):
        here = [one for one in figures if one.table == table]
        steps = np.array([one.standing for one in here])
        lines.append([table, str(len(here)), *(str(np.sum(steps == step)) for step in range(4))])
    header = ["table", "figures", "at least as good", "within one standard error"]
    header += ["one to two", "more than two behind"]
    return markdown(header, lines)


def behind(figures: list[Figure]) -> str:
    """Figures of ours that are worse than published by more than one standard error."""
    lines = [[one.table, one.row, one.column, figure(one)] for one in figures if one.standing > 1]
    return markdown(["table", "row", "column", "ours (published, standard errors)"], lines)


def text(folder: Path) -> str:
    figures = paper_figures()
    parts = [NOTE.strip(), "## Against the papers", "Figures of methods of ours only."]
    parts += [against_the_papers(figures), "## Where we are not best", REASONS.strip()]
    parts += ["Behind a paper by more than one standard error:", behind(figures)]
    parts += [section(study, folder) for study in STUDIES.values()]
    return "\n\n".join(parts) + "\n"


def write(folder: Path = FOLDER) -> Path:
    """RESULTS.md; with the recorded results, README and docs too."""
    path = folder / "RESULTS.md"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text(folder))
    if folder == FOLDER:
        readme.draw(folder / "pictures")
        for page, new in readme.renewed(paper_figures()).items():
            page.write_text(new)
    return path


def out_of_date() -> list[Path]:
    """Texts that :func:`write` would change. A picture's bytes depend on matplotlib's version."""
    with TemporaryDirectory() as folder:
        wanted = {FOLDER / "RESULTS.md": text(Path(folder))}
    wanted |= readme.renewed(paper_figures())
    return [path for path, new in wanted.items() if path.read_text() != new]
