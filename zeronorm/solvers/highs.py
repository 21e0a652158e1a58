"""What the linear programs need of HiGHS: models, rows, columns, and a run that ends well."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

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


class LinearProgramError(ValueError):
    """HiGHS did not find the optimum of a problem that has one: the data are badly scaled."""


def new_model(tolerance: float = 1e-9) -> highspy.Highs:
    """Return a silent, single-threaded HiGHS model with tight tolerances."""
    model = highspy.Highs()
    options = {
        "output_flag": False,
        "threads": 1,
        "solver": "simplex",
        "primal_feasibility_tolerance": tolerance,
        "dual_feasibility_tolerance": tolerance,
    }
    _set_options(model, options)
    return model


def _set_options(model: highspy.Highs, options: dict[str, Any]) -> None:
    for name, value in options.items():
        model.setOptionValue(name, value)


def run(model: highspy.Highs) -> None:
    """Solve from the current basis, then cold if that fails, then give up with a clear error."""
    model.run()
    for remedy in REMEDIES:
        if model.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            return
        before = {name: model.getOptionValue(name)[1] for name in remedy}
        model.clearSolver()
        _set_options(model, remedy)
        model.run()
        _set_options(model, before)
    status = model.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise LinearProgramError(
            f"HiGHS ended with status {model.modelStatusToString(status)!r}, also from a cold "
            "start. Kernel values and C span too wide a range: standardise the features, or take "
            "a more moderate C."
        )


def add_columns(
    model: highspy.Highs, costs: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> None:
    """Add variables that no constraint holds yet."""
    nothing = np.empty(0, dtype=np.int32)
    status = model.addCols(len(costs), costs, lower, upper, 0, nothing, nothing, np.empty(0))
    _check(status, "variables")


def add_rows(
    model: highspy.Highs, rows: np.ndarray, indices: np.ndarray, lower: float, upper: float
) -> None:
    """Add constraints ``lower <= rows @ variables[indices] <= upper``."""
    count, width = rows.shape
    status = model.addRows(
        count,
        np.full(count, lower),
        np.full(count, upper),
        rows.size,
        np.arange(0, count * width, width, dtype=np.int32),
        np.ascontiguousarray(indices, dtype=np.int32).ravel(),
        np.ascontiguousarray(rows).ravel(),
    )
    _check(status, "constraints")


def _check(status: highspy.HighsStatus, what: str) -> None:
    if status == highspy.HighsStatus.kError:
        raise LinearProgramError(
            f"HiGHS refuses the {what} of the linear program: kernel values and costs span too "
            "wide a range. Standardise the features, or take a more moderate C."
        )
