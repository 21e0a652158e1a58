"""All studies, in the order of RESULTS.md."""

from benchmarks import peers, ssvc_table

STUDIES = {module.STUDY.name: module.STUDY for module in (peers, ssvc_table)}
