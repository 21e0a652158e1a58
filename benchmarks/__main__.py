"""The command of the benchmarks: ``python -m benchmarks list | run | render``."""

import argparse
import os
import shutil
import sys
import time

# Before NumPy: small problems gain nothing from threads, and times are of one core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import record, render
from benchmarks.studies import STUDIES

QUICK = record.ROOT / "build" / "bench-quick"


def run(options) -> int:
    if options.quick:
        shutil.rmtree(QUICK, ignore_errors=True)
        os.environ[record.FOLDER] = str(QUICK / "results")
    start, left_out = time.perf_counter(), []
    only = dict(part.split("=", 1) for part in options.only)
    only = {factor: values.split(",") for factor, values in only.items()}
    for name in options.studies or STUDIES:
        study = STUDIES[name]
        left_out += study.run(
            quick=options.quick, only=only, jobs=options.jobs, resume=options.resume
        )
    print(f"All done in {(time.perf_counter() - start) / 60:.1f} minutes.")
    if left_out:
        print("Left out:", *left_out, sep="\n  ")
    if options.quick:
        print(f"wrote {render.write(QUICK)}")
        del os.environ[record.FOLDER]
    return written() if options.render else 0


def listed() -> int:
    """The studies, and what they take one core where records say it."""
    for name, study in STUDIES.items():
        hours = study.hours(record.read(name)[1])
        text = "" if hours is None else f"{hours:.2f} h"
        print(f"{name:18} {len(study.tasks()):6} tasks {text:>7}  {study.title}")
    return 0


def written() -> int:
    print(f"wrote {render.write()}")
    return 0


def check() -> int:
    """Whether RESULTS.md, README and docs are what the records say."""
    changed = render.out_of_date()
    for path in changed:
        print(f"{path.name} is not what the records say: python -m benchmarks render")
    return 1 if changed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the studies and the size of each")
    runner = commands.add_parser("run", help="run studies, then render")
    runner.add_argument("studies", nargs="*", metavar="STUDY", help="default: all of them")
    runner.add_argument("--quick", action="store_true", help="about a tenth, into build/")
    runner.add_argument("--jobs", type=int, default=2)
    runner.add_argument("--resume", action="store_true", help="keep rows of any commit")
    runner.add_argument(
        "--no-render", dest="render", action="store_false", help="records only, no pages"
    )
    runner.add_argument(
        "--only", nargs="*", default=[], metavar="FACTOR=VALUE,...", help="set=banana,german"
    )
    renderer = commands.add_parser(
        "render", help="RESULTS.md, its pictures, README and docs from recorded results"
    )
    renderer.add_argument("--check", action="store_true", help="only say what would change")
    options = parser.parse_args()
    if options.command == "list":
        return listed()
    if options.command == "render":
        return check() if options.check else written()
    unknown = set(options.studies) - set(STUDIES)
    if unknown:
        parser.error(f"no study {', '.join(sorted(unknown))}; there are {', '.join(STUDIES)}")
    if not all("=" in part for part in options.only):
        parser.error("--only takes a factor and its values, like set=banana,german")
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
