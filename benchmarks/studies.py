"""All studies, in the order in which RESULTS.md lists them."""

from benchmarks import (
    device,
    embedded,
    evidence,
    exported,
    fit_time,
    frontier,
    kim_table,
    mannor_synthetic,
    mannor_tables,
    many_terms,
    one_class,
    peers,
    peers_selection,
    prediction,
    regression,
    scale,
    selection_time,
    slmc_table,
    ssvc_table,
    weston_figure,
    weston_tables,
)

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
    fit_time,
    selection_time,
    prediction,
    exported,
    embedded,
    evidence,
    scale,
    many_terms,
    device,
    regression,
    one_class,
)
#: Runs of the methods as they are now. Rows of other runs are marked on their pages until they are
#: run again.
CURRENT: tuple[str, ...] = (
    "1948e3b",
    "c93df8f",
    "bff445f",
    "50fbd06",
    "edb2c49",
    "eae1f87",
    "c6b3dbc",
    "472a536",
    "2888adb",
)
STUDIES = {module.STUDY.name: module.STUDY for module in MODULES}
