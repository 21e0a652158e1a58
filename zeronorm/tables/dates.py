"""Dates and times as numbers: days since 1970, and the parts of them that come round again.

A day of the week, a time of the day and a time of the year are circles: as sine and cosine, the
last hour of a day is as near to the first one as it should be. A column of dates becomes several
columns of numbers, each one part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Orders of day, month and year; "time" is a time of the day alone. Where several read all cells,
#: the first one is taken.
ORDERS = ("ymd", "mdy", "dmy", "time")

_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC|[-+]\d{2}:?\d{2})?"
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = rf"(?P<name>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_DATES = {
    "ymd": [r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"],
    "mdy": [
        r"(?P<month>\d{1,2})(?P<mark>[-/])(?P<day>\d{1,2})(?P=mark)(?P<year>\d{4})",
        rf"{_MONTH}\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}})",
    ],
    "dmy": [
        r"(?P<day>\d{1,2})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<year>\d{4})",
        rf"(?P<day>\d{{1,2}})[-\s.]+{_MONTH}[-\s]+(?P<year>\d{{4}})",
    ],
}
_PATTERNS = {
    order: [re.compile(rf"{date}(?:[T\s]+{_TIME})?", re.IGNORECASE) for date in dates]
    for order, dates in _DATES.items()
} | {"time": [re.compile(_TIME, re.IGNORECASE)]}

_EPOCH = datetime(1970, 1, 1)
#: Days in each circle, and where it begins: 1970-01-01 was a Thursday.
CIRCLES = {"time of day": (1.0, 0.0), "weekday": (7.0, -3.0), "time of year": (365.2425, 0.0)}
PARTS = ("days", *(f"{circle}, {wave}" for circle in CIRCLES for wave in ("sin", "cos")))


@dataclass(frozen=True)
class DatePart:
    """One number of a date: the days since 1970-01-01, or the sine or cosine of a circle.

    Parameters
    ----------
    order : {"ymd", "mdy", "dmy", "time"}
        How dates are written.
    part : str
        One of :data:`PARTS`.
    """

    order: str
    part: str = "days"

    what = "dates"

    def __post_init__(self) -> None:
        if self.order not in ORDERS or self.part not in PARTS:
            raise ValueError(f"({self.order!r}, {self.part!r}) is no part of a date")

    def value(self, cell: str) -> float:
        """Return the number; NaN if the cell is no date."""
        return float(self.of_days(np.array([days_of(cell, self.order)]))[0])

    def of_days(self, days: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers of dates that are given as days since 1970-01-01."""
        if self.part == "days":
            return days
        circle, wave = self.part.split(", ")
        length, start = CIRCLES[circle]
        angle = 2.0 * np.pi * ((days - start) / length % 1.0)
        return np.sin(angle) if wave == "sin" else np.cos(angle)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        return {"date": self.order, "part": self.part}


def might_be_date(cell: str) -> bool:
    """Whether a cell has the look of a date or a time; cheap."""
    return any(character.isdigit() for character in cell) and 4 <= len(cell) <= 40


@lru_cache(maxsize=2**16)
def days_of(cell: str, order: str) -> float:
    """Return the days since 1970-01-01 that a cell says, with a fraction; NaN if it is no date."""
    for pattern in _PATTERNS[order]:
        match = pattern.fullmatch(cell)
        if match is not None:
            try:
                return _days(match.groupdict())
            except ValueError:  # the 31st of February
                return math.nan
    return math.nan


def _days(found: dict[str, str | None]) -> float:
    if found.get("name"):
        month = _MONTHS.index(str(found["name"])[:3].lower()) + 1
    else:
        month = int(found.get("month") or 1)
    moment = datetime(int(found.get("year") or 1970), month, int(found.get("day") or 1))
    if found.get("hour"):
        hour, half = int(str(found["hour"])), (found["half"] or "").lower()
        if half:
            if not 1 <= hour <= 12:
                raise ValueError(hour)
            hour = hour % 12 + 12 * (half == "pm")
        minute, second = int(str(found["minute"])), float(found["second"] or 0.0)
        if hour > 23 or minute > 59 or second >= 61.0:
            raise ValueError(hour)
        moment += timedelta(hours=hour, minutes=minute, seconds=second) - _offset(found["zone"])
    return (moment - _EPOCH) / timedelta(days=1)


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone[0] not in "+-":
        return timedelta(0)
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return (1 if zone[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes)


def parts_of(days: Iterable[float], order: str) -> list[str]:
    """Return the parts that can tell these dates apart.

    A circle is of use where the dates go round it: weekdays from two weeks on, times of the year
    from a year on, times of the day where there are several.
    """
    known = [day for day in days if not math.isnan(day)]
    span = max(known) - min(known)
    circles = []
    if len({round(day % 1.0, 9) for day in known}) > 1:
        circles.append("time of day")
    if order != "time" and span >= 14.0:
        circles.append("weekday")
    if order != "time" and span >= 365.0:
        circles.append("time of year")
    return ["days", *(f"{circle}, {wave}" for circle in circles for wave in ("sin", "cos"))]


def shown_day(days: float, order: str) -> str:
    """Return a date or a time as it is written in ISO 8601."""
    moment = _EPOCH + timedelta(days=days)
    if order == "time":
        return f"{moment:%H:%M}"
    return f"{moment:%Y-%m-%d}" if days % 1.0 == 0.0 else f"{moment:%Y-%m-%d %H:%M}"
