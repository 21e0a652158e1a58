"""All studies, in the order of RESULTS.md."""

from benchmarks import ssvc_table

STUDIES = {module.STUDY.name: module.STUDY for module in (ssvc_table,)}
