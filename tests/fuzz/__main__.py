"""Thousands of calls, and every distinct failure once, with the smallest call that shows it.

    python -m tests.fuzz [--calls 10000] [--seed 0] [--only SparseSVC,SVCReducer] [--limit 60]

Exit status 1 if anything failed.
"""

import argparse
import sys

from .calls import ESTIMATORS
from .contract import SECONDS
from .hunt import hunt


def main(arguments=None):
    """Read the options and report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first batch")
    parser.add_argument("--only", default=",".join(ESTIMATORS), help="estimators")
    parser.add_argument("--limit", type=float, default=SECONDS, help="seconds of a call")
    options = parser.parse_args(arguments)
    print("To see a failure again: from tests.fuzz import *; check(Call(...))")

    def say(text, done):
        if text:
            print(text, flush=True)
        print(f"\r{done}/{options.calls} calls ", end="", file=sys.stderr, flush=True)

    found = hunt(options.only.split(","), options.calls, options.seed, options.limit, say)
    # Not quite the number asked for: a hang ends its batch, and failures are made small.
    print(f"\n\n{found}")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
