"""RESULTS.md, a page for each study, pictures, blocks of README and docs: from the records."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import claims, readme, record
from benchmarks.statistics import Figure
from benchmarks.studies import CURRENT, STUDIES
from benchmarks.study import Study
from benchmarks.text import figure, markdown

NOTE = """# Results

Made by `python -m benchmarks render` from the JSON lines in `results/`; no figure is typed by hand.
What the README claims comes first, each with where a rival is better; then what we know of why; the
tables of every study are on [pages of their own](#studies).
"""
#: Of every page, where it is needed to read the tables.
LEGEND = """
`12.3 ± 0.4 (11.8, +1.2)` is ours with its standard error, then the published figure and by how many
standard errors ours differs from it (of the difference, where the paper has one); − is less.
"""
FOLDER = record.ROOT / "benchmarks"
#: Why we are not best where we are not, without figures. (No code: words that a run teaches us make
#: no new commit of what was run.)
REASONS = FOLDER / "weaknesses.md"
#: Of the recorded results; other runs have their pages beside their RESULTS.md.
PAGES = record.ROOT / "docs" / "results"
#: Lines that RESULTS.md may have: somebody is to read it.
MOST_LINES = 500


def not_run_again(rows: list[dict]) -> int:
    """Rows of methods that have changed since."""
    return sum(row["commit"].split("/")[0] not in CURRENT for row in rows)


def page(study: Study, folder: Path, pages: Path) -> str:
    """All that there is of a study."""
    head, rows = record.read(study.name)
    results = os.path.relpath(folder / "RESULTS.md", pages)
    parts = [f"# {study.title}", study.about.strip()]
    if study.figures is not None:
        parts.append(LEGEND.strip())
    if old := not_run_again(rows):
        parts.append(f"**Not yet run again** since the solvers changed: {old} of {len(rows)} rows.")
    command = f"`python -m benchmarks run {study.name}`"
    if not rows:
        return "\n\n".join([*parts, f"Not run: {command}."]) + "\n"
    parts.append(study.tables(rows))
    if study.draw is not None:
        pictures = study.draw(rows, folder / "pictures")
        parts += [f"![{path.stem}]({os.path.relpath(path, pages)})" for path in pictures]
    parts.append(f"{command}, seed {head['seed']}. {circumstances(head)}")
    return "\n\n".join([*parts, f"[All results]({results})"]) + "\n"


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


def contents(folder: Path, pages: Path) -> str:
    """The studies, and how much of each is of the methods as they are."""
    lines = []
    for study in STUDIES.values():
        rows = record.read(study.name)[1]
        link = os.path.relpath(pages / f"{study.name}.md", folder)
        counts = [str(len(rows)), str(not_run_again(rows) or "")]
        lines.append([f"[{study.title}]({link})", f"`{study.name}`", *counts])
    return markdown(["study", "name", "recorded rows", "of them not run again"], lines)


def text(folder: Path, pages: Path, figures: list[Figure]) -> str:
    """RESULTS.md: what matters."""
    parts = [NOTE.strip()]
    if record.folder() == record.RECORDED:  # the claims are about the recorded results
        parts += ["## What the README claims", claims.of_the_readme()]
        parts += ["## Beside other rivals, and the papers", claims.others(figures)]
    parts += ["## Where we are not best", REASONS.read_text().strip()]
    parts += ["Behind a paper by more than one standard error:", LEGEND.strip(), behind(figures)]
    parts += ["## Against the papers", "Figures of methods of ours only."]
    parts += [against_the_papers(figures), "## Studies", contents(folder, pages)]
    whole = "\n\n".join(parts) + "\n"
    if (lines := whole.count("\n")) > MOST_LINES:
        raise ValueError(f"RESULTS.md would have {lines} lines; at most {MOST_LINES} are read.")
    return whole


def written(folder: Path, pages: Path) -> dict[Path, str]:
    """RESULTS.md and the pages by their paths; pictures are drawn into the folder."""
    texts = {folder / "RESULTS.md": text(folder, pages, paper_figures())}
    texts |= {pages / f"{one.name}.md": page(one, folder, pages) for one in STUDIES.values()}
    return texts


def write(folder: Path = FOLDER) -> Path:
    """RESULTS.md and its pages; with the recorded results, README and docs too."""
    pages = PAGES if folder == FOLDER else folder / "pages"
    texts = written(folder, pages)
    if folder == FOLDER:
        readme.draw(folder / "pictures")
        texts |= readme.renewed(paper_figures())
    for path in pages.glob("*.md"):  # of studies that are gone
        if path not in texts:
            path.unlink()
    for path, new in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(new)
    return folder / "RESULTS.md"


def out_of_date() -> list[Path]:
    """Texts that :func:`write` would change. A picture's bytes depend on matplotlib's version."""
    root = Path(os.path.commonpath([FOLDER, PAGES]))
    with TemporaryDirectory() as name:
        # Links are relative: a tree of the same shape has the same ones.
        folder, pages = (Path(name) / path.relative_to(root) for path in (FOLDER, PAGES))
        found = written(folder, pages)
        wanted = {root / path.relative_to(name): new for path, new in found.items()}
    wanted |= readme.renewed(paper_figures())
    changed = [p for p, new in wanted.items() if not p.exists() or p.read_text() != new]
    return changed + [path for path in PAGES.glob("*.md") if path not in wanted]
