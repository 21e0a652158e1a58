"""Ours against a peer, set by set, at equal numbers of terms or features."""

from dataclasses import dataclass

from benchmarks import record
from benchmarks.cross_validation import FOLDS, on_common_folds, values
from benchmarks.statistics import corrected_error, corrected_t_test, difference, mean_and_error
from benchmarks.text import markdown, with_error

#: Test rows / training rows.
TEST_SHARE = 1.0 / (FOLDS - 1)
#: Rows of a set and inner folds: so that all methods can be tuned on all sets within hours, on two
#: cores.
ROWS, INNER_FOLDS = 400, 3


@dataclass(frozen=True)
class Duel:
    """Errors in % of ours and of a peer with at least as many terms, fold by fold."""

    name: str
    peer: str
    budget: int | None
    terms: float
    ours: list[float]
    theirs: list[float]

    @property
    def difference(self) -> float:
        return difference(mean_and_error(self.ours)[0], mean_and_error(self.theirs)[0])

    @property
    def is_within(self) -> bool:
        """Not above by more than one standard error of the peer's mean."""
        return not self.difference > mean_and_error(self.theirs)[1]

    @property
    def differences(self) -> list[float]:
        return [a - b for a, b in zip(self.ours, self.theirs, strict=True)]

    @property
    def is_within_paired(self) -> bool:
        """Not above by more than one (corrected) standard error of the difference."""
        return not self.difference > corrected_error(self.differences, TEST_SHARE)

    @property
    def p_value(self) -> float:
        return corrected_t_test(self.differences, TEST_SHARE)


def duels(rows: list[dict], method_of_ours: str, peers, budgets) -> list[Duel]:
    """Ours with as many terms as the peer, or with fewer where the peer chose its number."""
    found = record.cells(rows, "set", "method", "budget")
    result = []
    for (name, method, budget), some in found.items():
        if method not in peers:
            continue
        terms = mean_and_error([row["terms"] for row in some])[0]
        allowed = max(b for b in budgets if b <= max(terms, 1.0))
        own = found.get((name, method_of_ours, budget or allowed))
        if own:
            ours, theirs = (values(side, "error") for side in on_common_folds(own, some))
            result.append(Duel(name, method, budget, terms, ours, theirs))
    return result


def duel_table(all_duels: list[Duel], ours: str, peers, unit: str) -> str:
    if not all_duels:
        return f"No peer beside {ours} yet."
    groups: dict = {}
    for one in all_duels:
        groups.setdefault((one.peer, one.budget), []).append(one)
    lines = []
    for (peer, budget), some in sorted(
        groups.items(), key=lambda item: (peers.index(item[0][0]), item[0][1] or 0)
    ):
        terms = sum(one.terms for one in some) / len(some)
        lines.append(
            [
                peer,
                str(budget) if budget else f"its own ({terms:.0f})",
                str(len(some)),
                str(sum(one.difference <= 0 for one in some)),
                str(sum(one.is_within for one in some)),
                str(sum(one.is_within_paired for one in some)),
                str(sum(one.difference > 0 and one.p_value < 0.05 for one in some)),
                str(sum(one.difference < 0 and one.p_value < 0.05 for one in some)),
                f"{sum(one.difference for one in some) / len(some):+.1f}",
            ]
        )
    header = ["peer", unit, "sets", f"{ours} lower or equal", "within one standard error"]
    header += [
        "of the difference",
        "significantly higher",
        "significantly lower",
        "mean difference, points",
    ]
    title = f"{ours} against each peer at equal numbers of {unit}:"
    return f"{title}\n\n{markdown(header, lines)}\n\n{shares(all_duels, unit)}"


def shares(all_duels: list[Duel], unit: str) -> str:
    """How often ours is not behind."""
    good = good_sets(all_duels)
    share = f"{sum(good.values())} of {len(good)} sets ({sum(good.values()) / len(good):.0%})"
    within, paired = (
        f"{sum(getattr(one, test) for one in all_duels) / len(all_duels):.0%}"
        for test in ("is_within", "is_within_paired")
    )
    return (
        f"Lower, equal or within one standard error against **every** peer at **every** number of "
        f"{unit}: {share}; of all {len(all_duels)} comparisons: {within}, and {paired} by the "
        "standard error of the difference."
    )


def good_sets(all_duels: list[Duel]) -> dict[str, bool]:
    """Sets on which no peer is ahead by more than one standard error."""
    names = dict.fromkeys(one.name for one in all_duels)
    return {n: all(one.is_within for one in all_duels if one.name == n) for n in names}


def losses(all_duels: list[Duel], ours: str, unit: str) -> str:
    """Every comparison beyond one standard error."""
    lines = [
        [one.name, one.peer, f"{one.terms:.0f}", with_error(one.ours), with_error(one.theirs),
         f"{one.p_value:.2f}"]
        for one in all_duels
        if not one.is_within
    ]  # fmt: skip
    header = ["set", "peer", f"its {unit}", f"{ours}, error %", "peer, error %", "p value"]
    return f"Beyond one standard error:\n\n{markdown(header, lines)}"
