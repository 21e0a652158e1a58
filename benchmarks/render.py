"""Write RESULTS.md from the recorded results alone: ``python -m benchmarks.render``."""

from pathlib import Path

from benchmarks import (
    fit_time,
    frontier,
    growth,
    kim_table,
    mannor_synthetic,
    mannor_tables,
    prediction,
    record,
    scale,
    search_time,
    selection_time,
    slmc_table,
    ssvc_table,
    weston_figure,
    weston_tables,
)

STUDIES = {
    "Error against the number of terms": frontier,
    "The table of Huang et al. (2010)": ssvc_table,
    "The table of Wu et al. (2005)": slmc_table,
    "The tables of Mannor et al. (2005)": mannor_tables,
    "The comparison of Kim (2009)": kim_table,
    "The synthetic problem of Mannor et al. (2005)": mannor_synthetic,
    "The tables of Weston et al. (2003)": weston_tables,
    "Figure 1 of Weston et al. (2003)": weston_figure,
    "Time of feature selection": selection_time,
    "Fit time beside SVC.fit": fit_time,
    "Time of the cross-entropy search": search_time,
    "Growth with the number of rows": growth,
    "Large sets": scale,
    "Prediction": prediction,
}


def render() -> str:
    parts = ["# Results", "Made by `python -m benchmarks.render` from `benchmarks/results/`."]
    for title, study in STUDIES.items():
        name = study.__name__.split(".")[-1]
        if not record.is_there(name):
            parts += [f"## {title}", f"Not run yet: `python -m benchmarks.{name}`."]
            continue
        head, _ = record.read(name)
        versions = ", ".join(f"{key} {value}" for key, value in head["versions"].items())
        machine = head["machine"]
        parts += [
            f"## {title}",
            study.__doc__.split("\n\n", 2)[2].strip(),
            study.render(),
            f"{machine['cores']} cores ({machine['processor']}), BLAS threads: "
            f"{machine['blas_threads']}; {versions}. `python -m benchmarks.{name}`",
        ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    path = Path(__file__).resolve().parent / "RESULTS.md"
    path.write_text(render())
    print(f"wrote {path}")
