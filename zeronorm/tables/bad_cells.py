"""Cells of columns of numbers that are no numbers: counted, told, or refused."""

from __future__ import annotations

from dataclasses import dataclass, field

from zeronorm.tables.table import TableError


@dataclass
class _Count:
    what: str
    n_known: int = 0
    n_bad: int = 0
    line: int = 0
    cell: str = ""


@dataclass
class BadCells:
    """How many cells of each column are not what the column holds, and the first of them.

    Parameters
    ----------
    is_strict : bool
        Whether one such cell is an error.
    """

    is_strict: bool = False
    counts: dict[str, _Count] = field(default_factory=dict)

    def add(
        self, path: str, column: str, what: str, n_known: int, bad: list[tuple[int, str]]
    ) -> None:
        """Count cells of a piece of a file.

        Parameters
        ----------
        path, column : str
            Where they are.
        what : str
            What the column holds: numbers, or dates.
        n_known : int
            How many cells are not missing.
        bad : list of (line, cell)
            Those that are something else.

        Raises
        ------
        TableError
            If there is one and none is allowed, or if all cells so far are of that kind.
        """
        count = self.counts.setdefault(column, _Count(what))
        if bad and not count.n_bad:
            count.line, count.cell = bad[0]
        count.n_known += n_known
        count.n_bad += len(bad)
        place = f"line {count.line} is '{count.cell}'"
        if count.n_bad and self.is_strict:
            raise TableError(
                f"{path}: {_share(column, count)}; {place}, and --strict allows no such cell."
            )
        if count.n_bad == count.n_known > 1:
            raise TableError(
                f"{path}: none of the {count.n_known} cells of '{column}' is one of {what} as they "
                f"are read here; {place}. If numbers are written in another way, give --decimal."
            )

    def notes(self) -> list[str]:
        """Return a sentence for each column that has such cells."""
        return [
            f"{_share(column, count)}; line {count.line} is '{count.cell}': such cells count as "
            "missing (--strict refuses them)."
            for column, count in self.counts.items()
            if count.n_bad
        ]


def _share(column: str, count: _Count) -> str:
    return f"{count.n_known - count.n_bad} of {count.n_known} cells of '{column}' are {count.what}"
