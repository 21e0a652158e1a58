"""Look for failures: many calls in another process, each distinct failure made small.

One that hangs or crashes ends no more than its batch.
"""

import multiprocessing
import re
import traceback
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings

from . import contract
from .calls import Call, calls

#: Calls made by one process with one seed.
BATCH = 250

#: Seconds that a process may take before its first call.
STARTING = 300


def kind_of(error):
    """What two failures have in common that have one cause: the error and the place of it."""
    if isinstance(error, contract.Hang):
        return str(error).partition(": Call(")[0]  # wherever it was when the time was up
    cause = error.__cause__ or error
    frames = traceback.extract_tb(cause.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(contract.PACKAGE)]
    place = ours[-1].filename.removeprefix(contract.PACKAGE) if ours else ""
    place += f":{ours[-1].lineno} {ours[-1].line}" if ours else ""
    message = re.sub(r"[-+]?\d[\d.e+-]*", "#", str(error))
    return f"{type(cause).__name__} at {place}: {message[:200]}"


def smallest(call, kind, failure):
    """Simplify the call as long as it fails in the same way."""
    for simpler in call.simpler():
        error = failure(simpler)
        if error is not None and kind_of(error) == kind:
            return smallest(simpler, kind, failure)
    return call


def work(names, count, start, limit, pipe):
    """Make calls; tell the pipe of each before it is made, and what came of it."""
    known = set()

    def failure(call):
        """Error of this call, if it has one."""
        pipe.send(("call", call))
        try:
            outcome = "refused" if contract.check(call, limit) is None else "model"
        except Exception as error:
            return error
        pipe.send((outcome, call))

    @seed(start)
    @settings(
        max_examples=count, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(calls(names))
    def each(call):
        error = failure(call)
        if error is not None:
            kind = kind_of(error)
            if kind not in known and not isinstance(error, contract.Hang):
                call = smallest(call, kind, failure)
            known.add(kind)
            pipe.send((kind, call))

    each()
    pipe.send(("end", None))


def batch(names, count, start, limit):
    """Yield an outcome and a call, as a worker tells them; its own end is an outcome too."""
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    worker = context.Process(target=work, args=(names, count, start, limit, there))
    worker.start()
    there.close()
    latest = None
    try:
        # A solver in C does not hear the alarm; twice the limit is long enough to know.
        while here.poll(STARTING if latest is None else 2 * limit):
            outcome, call = here.recv()
            if outcome == "end":
                return
            latest = call
            if outcome != "call":
                yield outcome, call
        end = "hangs outside Python"
    except EOFError:
        end = "ends the process"
    finally:
        worker.kill()
        worker.join()
    if latest is None:
        raise RuntimeError("the worker has not made a single call")
    yield f"{latest.estimator} {end}", latest


@dataclass
class Found:
    """What came of the calls: how many models and refusals, and the calls of each failure."""

    models: int = 0
    refusals: int = 0
    failures: dict[str, list[Call]] = field(default_factory=dict)

    def add(self, outcome, call):
        """Count an outcome; return whether it is a failure not seen before."""
        if outcome in ("model", "refused"):
            self.models += outcome == "model"
            self.refusals += outcome == "refused"
            return False
        self.failures.setdefault(outcome, []).append(call)
        return len(self.failures[outcome]) == 1

    def __str__(self):
        lines = [f"{self.models} models, {self.refusals} refusals"]
        for kind, found in sorted(self.failures.items(), key=lambda item: -len(item[1])):
            lines.append(f"{len(found)} × {describe(kind, found[0])}")
        return "\n".join(lines)


def describe(kind, call):
    """Name a failure, with the line that reproduces it."""
    return f"{kind}\n    check({call!r})"


def hunt(names, count, start, limit, say=lambda text, done: None):
    """Make this many calls; ``say`` what is new when it is found, and how many are done."""
    found = Found()
    for number, first in enumerate(range(0, count, BATCH)):
        size = min(BATCH, count - first)
        for outcome, call in batch(names, size, start + number, limit):
            if found.add(outcome, call):
                say(describe(outcome, call), first)
        say("", first + size)
    return found
