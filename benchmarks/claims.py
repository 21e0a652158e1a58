"""The first tables of RESULTS.md: what is claimed, and where a rival is better."""

import numpy as np

from benchmarks import evidence_tables, peers, peers_selection, readme, record, times
from benchmarks.cross_validation import values
from benchmarks.duels import Duel, duels
from benchmarks.statistics import Figure
from benchmarks.text import markdown, short, with_error

#: From RESULTS.md.
PAGES = "../docs/results"
HEADER = ["claim", "where a rival is better", "where we are", "study"]


def smaller() -> list[str]:
    """Terms and errors of the seven sets beside the tuned SVC."""
    gaps = readme.gaps()
    ratios = [
        np.median(values(svc, "terms")) / np.median(values(ours, "terms"))
        for svc, ours in readme.ours_and_svc().values()
    ]
    worst = max(gaps, key=lambda name: gaps[name])
    better = sum(gap > 0 for gap in gaps.values())
    return [
        "fewer terms than a tuned `SVC`, at about its error",
        f"`SVC` has the lower error on {better} of {len(gaps)} sets, by "
        f"{with_error(list(gaps.values()))} points in the mean of all, most on {worst} "
        f"({gaps[worst]:.1f})",
        f"{np.median(ratios):.0f} times fewer in the median, at least {min(ratios):.1f}",
        "frontier",
    ]


def faster() -> list[str]:
    ratios = readme.speed_ups()
    least = min(ratios, key=lambda name: ratios[name])
    return [
        "predictions are faster than those of `SVC`",
        f"nowhere; it gains least on {least}, {ratios[least]:.0f} times",
        f"{np.median(list(ratios.values())):.0f} times in the median of {len(ratios)} sets, for "
        f"{times.PREDICTED_ROWS:,} rows at once; one row "
        f"{short(readme.median_speed_up('predict_one_seconds'))} times",
        "times",
    ]


def untuned() -> list[str]:
    found = record.cells(readme.rows_of("times"), "method")
    searches = {row["set"]: row["seconds"] for row in found["SVC grid search"]}
    ratios = {row["set"]: searches[row["set"]] / row["seconds"] for row in found["SparseSVC"]}
    slower = [name for name, ratio in ratios.items() if ratio < 1]
    return [
        "nothing to tune: `fit` chooses everything",
        f"a grid search of `SVC` (25 pairs, 5 folds) is faster on {len(slower)} of {len(ratios)} "
        f"sets, up to {1 / min(ratios.values()):.1f} times",
        f"up to {max(ratios.values()):.1f} times faster than it",
        "times",
    ]


def boosting() -> list[list[str]]:
    """Trees win on many tables."""
    found = evidence_tables.by_model(evidence_tables.plain_rows(readme.rows_of("evidence")))
    lines = []
    names = {
        "boosting": "trees win on many tables (here: up to 1 000 training rows, 4 settings)",
        "logistic": "where a linear function is enough",
    }
    for method, claim in names.items():
        one = evidence_tables.Comparison.of(found, (method, None))
        gains = [gap for gap in one.gaps.values() if gap > 0]
        ours, theirs = one.errors()
        lines.append(
            [
                claim,
                f"{method} is more accurate on {len(gains)} of {len(one.gaps)} sets, by "
                f"{100 * sum(gains) / max(1, len(gains)):.1f} points there; beyond one standard "
                f"error on {len(one.beyond)}",
                f"mean error {ours:.1f} % to its {theirs:.1f} %; it has "
                f"{short(one.ratio('bytes'))} times our bytes, {short(one.ratio('microseconds'))} "
                f"times our time of a row and {short(one.ratio('seconds'))} times that of the fit "
                f"(medians)",
                "evidence",
            ]
        )
    return lines


def tuned_svc() -> list[str]:
    """Both by their own choice, on the sets of ``evidence`` without a rare class."""
    found = evidence_tables.by_model(evidence_tables.plain_rows(readme.rows_of("evidence")))
    one = evidence_tables.Comparison.of(found, ("SVC", None))
    ours, theirs = one.errors()
    return [
        "the same on more sets",
        f"`SVC` is more accurate beyond one standard error on {len(one.beyond)} of "
        f"{len(one.gaps)} sets",
        f"mean error {ours:.1f} % to its {theirs:.1f} % "
        f"({with_error([100.0 * gap for gap in one.gaps.values()], '+')} points), with "
        f"{100 * one.share_of_vectors():.1f} % of its vectors",
        "evidence",
    ]


def networks() -> list[str]:
    found = evidence_tables.by_model(evidence_tables.plain_rows(readme.rows_of("evidence")))
    budgets = [budget for method, budget in found if method == "MLP"]
    sides = [
        evidence_tables.Comparison.of(found, ("MLP", budget), ("SparseSVC", budget))
        for budget in budgets
    ]
    behind, count = sum(len(s.beyond) for s in sides), sum(len(s.gaps) for s in sides)
    errors = (
        f"{budget}: {one.errors()[0]:.1f} to {one.errors()[1]:.1f}"
        for budget, one in zip(budgets, sides, strict=True)
    )
    return [
        "beside an MLP with as many hidden units",
        f"it is more accurate beyond one standard error in {behind} of {count} comparisons",
        f"mean error % at each size, ours to its: {', '.join(errors)}",
        "evidence",
    ]


def kernels() -> list[list[str]]:
    """Peers at equal numbers of terms, or of features."""
    rows = readme.rows_of("peers")
    kernel = duels(rows, peers.OURS, peers.PEERS, peers.BUDGETS)
    features = duels(
        readme.rows_of("peers_selection"), peers_selection.OURS, peers_selection.PEERS,
        peers_selection.SIZES,
    )  # fmt: skip
    return [
        duel_line("beside kernel peers at equal numbers of terms", kernel, "peers"),
        equal_terms(rows),
        duel_line(
            "selectors beside peers at equal numbers of features", features, "peers_selection"
        ),
    ]


def equal_terms(rows: list[dict]) -> list[str]:
    """Mean errors of all that are told a number of terms."""
    lower, best = [], []
    for budget in peers.BUDGETS:
        errors = peers.errors_at(rows, budget)
        ours = errors.pop(peers.OURS)
        gaps = {method: np.subtract(ours, theirs) for method, theirs in errors.items()}
        lower += [
            f"{method} with {budget} terms, by {with_error(gap)} points"
            for method, gap in gaps.items()
            if gap.mean() > 0
        ]
        method = max(gaps, key=lambda method: gaps[method].mean())
        best.append(f"{budget}: {np.mean(ours):.1f} ({with_error(gaps[method], '+')}, {method})")
    return [
        "beside Nystroem and five machines of ours that are told C, gamma (the tuned SVC's) and a "
        "number of terms",
        f"lower mean error: {'; '.join(lower) or 'nowhere'}",
        "mean error % with each number of terms (less that of the best of the others, ± its "
        f"standard error over the sets): {', '.join(best)}",
        "peers",
    ]


def duel_line(claim: str, found: list[Duel], study: str) -> list[str]:
    beyond = [one for one in found if not one.is_within]
    worst = sum(one.difference > 0 and one.p_value < 0.05 for one in found)
    return [
        claim,
        f"a peer is ahead by more than one standard error in {len(beyond)} of {len(found)} "
        f"comparisons, significantly in {worst}",
        f"ours lower or equal in {sum(one.difference <= 0 for one in found)}",
        study,
    ]


def regression() -> list[str]:
    found = record.cells(readme.rows_of("regression"), "set", "method")
    names = list(dict.fromkeys(name for name, _ in found))

    def ratio(name: str, key: str) -> float:
        ours, theirs = (found[name, method] for method in ("SparseSVR", "SVR"))
        return float(np.mean([r[key] for r in ours]) / np.mean([r[key] for r in theirs]))

    errors, terms = ([ratio(name, key) for name in names] for key in ("error", "terms"))
    behind = f"`SVR` has the lower RMSE on {sum(one > 1 for one in errors)} of {len(names)} sets"
    if max(errors) > 1:
        behind += f", at most by {100 * (max(errors) - 1):.1f} %"
    return [
        "`SparseSVR` in the place of a tuned `SVR`",
        behind,
        f"RMSE {np.mean(errors):.3f} times its in the mean, with {100 * np.mean(terms):.1f} % of "
        "its vectors",
        "regression",
    ]


def papers(figures: list[Figure]) -> list[str]:
    behind = sum(one.standing > 1 for one in figures)
    return [
        "the papers' own figures",
        f"behind by more than one standard error: {behind} of {len(figures)}",
        f"at least as good: {sum(one.standing == 0 for one in figures)}",
        "#against-the-papers",
    ]


def of_the_readme() -> str:
    """What the README says of ``SparseSVC``."""
    return linked([smaller(), tuned_svc(), faster(), *boosting(), untuned()])


def others(figures: list[Figure]) -> str:
    """Rivals that the README does not name, and the papers."""
    return linked([networks(), *kernels(), regression(), papers(figures)])


def linked(lines: list[list[str]]) -> str:
    """A table whose last column leads to the pages of the studies."""

    def link(place: str) -> str:
        return f"[below]({place})" if place.startswith("#") else f"[{place}]({PAGES}/{place}.md)"

    return markdown(HEADER, [[*line[:-1], link(line[-1])] for line in lines])
