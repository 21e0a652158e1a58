"""Compare every classifier with SVC(C=10) on hundreds of small problems.

    python -m tests.sweep [--seeds 0:6] [--only SparseSVC,ZeroNormSVC] [--problems moons,rare-2]
                          [--jobs 2] [--gap 0.15]

Each case in which a classifier is far behind without a warning is listed with the options that
show it again; then follows a table. Exit status 1 if there is such a case, or an accident. The last
line of the table is a yardstick: the same SVC, learned without a tenth of the rows.
"""

import argparse
import sys
from collections import Counter

import numpy as np
from joblib import Parallel, delayed

from .comparison import CLASSIFIERS, YARDSTICK, Trial, compare
from .problems import PROBLEMS

#: Verdicts that nobody should see.
FAULTS = ("silent", "accident")


def sweep(problems, seeds, classifiers, jobs=1, progress=None):
    """Trials of all classifiers on all problems with all seeds."""
    cases = [(problem, seed) for seed in seeds for problem in problems]
    parts = Parallel(n_jobs=jobs, return_as="generator")(
        delayed(compare)(problem, seed, classifiers) for problem, seed in cases
    )
    trials: list[Trial] = []
    for done, part in enumerate(parts, start=1):
        trials += part
        if progress is not None:
            progress(f"\r{done}/{len(cases)} problems")
    return trials


def faults(trials, gap):
    """Trials that are silently behind, or ended in an accident; the worst first."""
    bad = [trial for trial in trials if trial.verdict(gap) in FAULTS]
    return sorted(bad, key=lambda trial: np.nan_to_num(trial.difference, nan=-9.0))


def describe(trial, gap):
    """One line about a trial, with the options that show it again."""
    what = trial.accident or trial.refusal or f"{trial.found:.2f}, SVC {trial.reference:.2f}"
    options = f"--only {trial.classifier} --problems {trial.problem}"
    again = f"{options} --seeds {trial.seed}:{trial.seed + 1}"
    words = {"silent": "silently behind", "needless": "warned needlessly"}
    verdict = trial.verdict(gap)
    said = f" ({trial.said[0]})" if verdict == "needless" else ""
    return f"{words.get(verdict, verdict)}: {what}{said}   {again}"


def table(trials, gap):
    """One line for every classifier."""
    lines = [
        f"{'':28s} problems  silent  warned  refused  needless  accidents  mean difference  worst"
    ]
    for name in dict.fromkeys(trial.classifier for trial in trials):
        mine = [trial for trial in trials if trial.classifier == name]
        count = Counter(trial.verdict(gap) for trial in mine)
        difference = [t.difference for t in mine if not np.isnan(t.difference)] or [np.nan]
        lines.append(
            f"{name:28s} {len(mine):8d}  {count['silent']:6d}  {count['warned']:6d}  "
            f"{count['refused']:7d}  {count['needless']:8d}  {count['accident']:9d}  "
            f"{np.mean(difference):+15.3f}  {min(difference):+5.2f}"
        )
    return "\n".join(lines)


def chosen(names, known, parser):
    """Names from a comma-separated list, all by default."""
    if not names:
        return list(known)
    unknown = set(names.split(",")) - set(known)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return names.split(",")


def main(arguments=None):
    """Read the options, run, report."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.sweep", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--seeds", default="0:6", help="first:last, the last not included")
    parser.add_argument("--only", default="", help=f"classifiers: {', '.join(CLASSIFIERS)}")
    parser.add_argument("--problems", default="", help=f"problems: {', '.join(PROBLEMS)}")
    parser.add_argument("--jobs", type=int, default=2, help="workers, as in joblib")
    parser.add_argument("--gap", type=float, default=0.15, help="what counts as far behind")
    options = parser.parse_args(arguments)
    first, last = map(int, options.seeds.split(":"))
    names = chosen(options.only, CLASSIFIERS, parser)
    trials = sweep(
        chosen(options.problems, PROBLEMS, parser),
        range(first, last),
        {name: CLASSIFIERS[name] for name in names} | YARDSTICK,
        options.jobs,
        lambda text: print(text, end="", file=sys.stderr, flush=True),
    )
    print(file=sys.stderr)
    ours = [trial for trial in trials if trial.classifier not in YARDSTICK]
    bad = faults(ours, options.gap)
    rest = [t for t in ours if t.verdict(options.gap) in ("refused", "needless")]
    for trial in bad + rest:
        print(describe(trial, options.gap))
    print(table(trials, options.gap))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
