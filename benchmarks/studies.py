"""All studies, in the order of RESULTS.md."""

from benchmarks import (
    device,
    embedded,
    exported,
    fit_time,
    frontier,
    growth,
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
    search_time,
    selection_time,
    slmc_table,
    ssvc_table,
    weston_figure,
    weston_tables,
)

MODULES = (
    frontier,
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
    search_time,
    selection_time,
    prediction,
    exported,
    embedded,
    growth,
    scale,
    many_terms,
    device,
    regression,
    one_class,
)
#: Runs of the methods as they are now. Rows of other runs are marked in RESULTS.md until they are
#: run again.
CURRENT: tuple[str, ...] = (
    "1948e3b",
    "c93df8f",
    "4ce2c21",
    "ffed1f7",
    "f482f22",
    "bff445f",
    "6cae935",
    "68e3cdb",
)
STUDIES = {module.STUDY.name: module.STUDY for module in MODULES}
