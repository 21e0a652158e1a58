"""What the linear programs need of HiGHS: models, rows, columns, and a run that ends well.

HiGHS by itself knows no end and hears no Ctrl-C. Here it stops after a number of iterations that
depends on the size of the model alone, with the point it has reached; and a model that is large
enough to be waited for runs in a thread of its own, so that the main thread, the only one that
gets signals, can tell it to stop.
"""

from __future__ import annotations

import threading
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:  # else imported where it is used: most machines solve no linear program
    import highspy

#: The tolerances that HiGHS has by itself; how good the solution is, its certificate tells.
LOOSE = {"primal_feasibility_tolerance": 1e-7, "dual_feasibility_tolerance": 1e-7}

#: With what a cold start is tried, one after the other: as it is, by the primal simplex method,
#: with HiGHS's own scaling, with looser tolerances, and by the interior point method, which ends
#: at a vertex too.
REMEDIES: tuple[dict[str, Any], ...] = (
    {},
    {"simplex_strategy": 4},
    {"simplex_scale_strategy": 2},
    LOOSE,
    LOOSE | {"simplex_scale_strategy": 2},
    LOOSE | {"solver": "ipm"},
)

#: Most simplex iterations: this many for each row and column, and some for the smallest models.
#: What is solved at all takes a few for each.
ITERATIONS_EACH = 20
ITERATIONS_LEAST = 2_000

#: Most iterations of the interior point method, which takes some tens whatever the model.
INTERIOR_ITERATIONS = 500

#: Models with more nonzeros than this run in a thread. Smaller ones use up their iterations in a
#: second or two, and are solved by the hundred: a thread and its callbacks would double the time.
LARGE_MODEL = 200_000

#: Seconds between two looks of the main thread; Python for Windows hears no Ctrl-C while it waits.
HEARTBEAT = 0.2


class LinearProgramError(ValueError):
    """HiGHS did not find the optimum of a problem that has one: the data are badly scaled."""


def new_model() -> highspy.Highs:
    """Return a silent, single-threaded HiGHS model with tight tolerances."""
    import highspy

    model = highspy.Highs()
    tight = {name: 1e-9 for name in LOOSE}
    _set_options(model, {"output_flag": False, "threads": 1, "solver": "simplex"} | tight)
    return model


def _set_options(model: highspy.Highs, options: dict[str, Any]) -> None:
    for name, value in options.items():
        model.setOptionValue(name, value)


def run(model: highspy.Highs, *, large: int = LARGE_MODEL) -> bool:
    """Solve from the current basis, then cold if that fails, then give up with a clear error.

    With more than ``large`` nonzeros it runs in a thread, where Ctrl-C ends it.

    Returns
    -------
    bool
        Whether the solution is optimal. If not, the iterations were used up, and the solution is
        the point they led to: the caller's certificate tells how good that is.
    """
    _run_within_limits(model, large)
    for remedy in REMEDIES:
        if _has_ended(model):
            break
        before = {name: model.getOptionValue(name)[1] for name in remedy}
        model.clearSolver()
        _set_options(model, remedy)
        _run_within_limits(model, large)
        _set_options(model, before)
    status = model.getModelStatus()
    if status == type(status).kOptimal:
        return True
    if not _has_ended(model):
        raise LinearProgramError(
            f"HiGHS ended with status {model.modelStatusToString(status)!r}, also from a cold "
            "start. Kernel values and C span too wide a range: standardise the features, or take "
            "a more moderate C."
        )
    solution = model.getSolution()
    if not (solution.value_valid and solution.dual_valid):
        raise LinearProgramError(
            f"HiGHS found no solution of the linear program within {iteration_limit(model)} "
            "iterations: take a smaller C or fewer candidates, or standardise the features."
        )
    return False


def _has_ended(model: highspy.Highs) -> bool:
    """Whether another start would not help: the optimum is found or the iterations are used up."""
    status = model.getModelStatus()
    return status in (type(status).kOptimal, type(status).kIterationLimit)


def iteration_limit(model: highspy.Highs) -> int:
    """Most simplex iterations of a model, by its size: the same on every machine."""
    return ITERATIONS_LEAST + ITERATIONS_EACH * (model.getNumRow() + model.getNumCol())


def _run_within_limits(model: highspy.Highs, large: int) -> None:
    model.setOptionValue("simplex_iteration_limit", iteration_limit(model))
    model.setOptionValue("ipm_iteration_limit", INTERIOR_ITERATIONS)
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and model.getNumNz() > large:
        _run_interruptibly(model)
    else:
        model.run()


def _run_interruptibly(model: highspy.Highs) -> None:
    """Run in a thread; a KeyboardInterrupt of this one ends it at its next iteration.

    (A callback in the main thread would raise the KeyboardInterrupt inside of HiGHS.)
    """
    is_unwanted = threading.Event()

    def look(event: Any) -> None:
        if is_unwanted.is_set():
            event.interrupt()

    ended: Future[Any] = Future()

    def work() -> None:
        try:
            ended.set_result(model.run())
        except BaseException as error:
            ended.set_exception(error)

    callbacks = model.cbSimplexInterrupt, model.cbIpmInterrupt
    for callback in callbacks:
        callback.subscribe(look)
    # Not Thread.join: after an interrupt it takes the thread for ended (CPython before 3.13).
    threading.Thread(target=work, name="HiGHS", daemon=True).start()
    try:
        while not ended.done():
            wait([ended], HEARTBEAT)
    except KeyboardInterrupt:
        is_unwanted.set()
        wait([ended])
        raise
    finally:
        if ended.done():  # not after a second Ctrl-C, with HiGHS still on its way out
            for callback in callbacks:
                callback.unsubscribe(look)
    ended.result()


def add_columns(model: highspy.Highs, costs: np.ndarray, lower: Any, upper: Any) -> None:
    """Add variables that no constraint holds yet; a bound is one number, or one for each."""
    count, nothing = len(costs), np.empty(0, dtype=np.int32)
    bounds = np.full(count, lower), np.full(count, upper)
    _check(model.addCols(count, costs, *bounds, 0, nothing, nothing, np.empty(0)), "variables")


def add_rows(
    model: highspy.Highs, rows: np.ndarray, indices: np.ndarray, lower: Any, upper: Any
) -> None:
    """Add constraints ``lower <= rows @ variables[indices] <= upper``."""
    _add_entries(model, np.arange(0, rows.size, rows.shape[1]), indices, rows, lower, upper)


def add_sparse_rows(model: highspy.Highs, rows: sparse.csr_array, lower: Any, upper: Any) -> None:
    """Add constraints ``lower <= rows @ variables <= upper``."""
    _add_entries(model, rows.indptr[:-1], rows.indices, rows.data, lower, upper)


def _add_entries(
    model: highspy.Highs,
    starts: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    lower: Any,
    upper: Any,
) -> None:
    status = model.addRows(
        len(starts),
        np.full(len(starts), lower),
        np.full(len(starts), upper),
        values.size,
        starts.astype(np.int32),
        np.ascontiguousarray(indices, dtype=np.int32).ravel(),
        np.ascontiguousarray(values, dtype=np.float64).ravel(),
    )
    _check(status, "constraints")


def _check(status: highspy.HighsStatus, what: str) -> None:
    if status == type(status).kError:
        raise LinearProgramError(
            f"HiGHS refuses the {what} of the linear program: kernel values and costs span too "
            "wide a range. Standardise the features, or take a more moderate C."
        )
