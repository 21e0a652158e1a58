"""RESULTS.md and its pictures, from the recorded results alone."""

from pathlib import Path

from benchmarks import record
from benchmarks.studies import STUDIES
from benchmarks.study import Study

NOTE = """# Results

Made by `python -m benchmarks render` from the JSON lines in `results/`; no figure is typed by hand.
`12.3 ± 0.4 (11.8, +1.2)` is ours with its standard error, then the published figure and by how many
standard errors ours differs from it (of the difference, where the paper has one); − is less.
"""


def section(study: Study, folder: Path) -> str:
    head, rows = record.read(study.name)
    parts = [f"## {study.title}", study.about.strip()]
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


def text(folder: Path) -> str:
    return "\n\n".join([NOTE.strip(), *(section(s, folder) for s in STUDIES.values())]) + "\n"


def write(folder: Path = record.ROOT / "benchmarks") -> Path:
    path = folder / "RESULTS.md"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text(folder))
    return path
