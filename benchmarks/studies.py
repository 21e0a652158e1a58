"""All studies, in the order in which RESULTS.md lists them."""

from benchmarks import (
    device,
    embedded,
    evidence,
    exported,
    frontier,
    kim_table,
    mannor_synthetic,
    mannor_tables,
    many_terms,
    one_class,
    peers,
    peers_selection,
    regression,
    scale,
    selection_time,
    slmc_table,
    ssvc_table,
    times,
    weston_figure,
    weston_tables,
)
from benchmarks.record import ROOT

MODULES = (
    frontier,
    evidence,
    peers,
    peers_selection,
    ssvc_table,
    slmc_table,
    mannor_tables,
    mannor_synthetic,
    kim_table,
    weston_tables,
    weston_figure,
    times,
    selection_time,
    exported,
    embedded,
    scale,
    many_terms,
    device,
    regression,
    one_class,
)
#: Runs of the methods as they are now, a commit a line. Rows of others are marked on their pages
#: until they are run again. (No code: a new line makes no new commit of what is run.)
CURRENT = tuple((ROOT / "benchmarks" / "current.txt").read_text().split())
STUDIES = {module.STUDY.name: module.STUDY for module in MODULES}
