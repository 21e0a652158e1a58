"""Which settings grow, in which order, to which sizes, and which drop out on the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from zeronorm.learned.path import STAYING, Path
from zeronorm.learned.settings import Setting

#: Pairs of classes are tried with what the best so many settings have.
LIKE = 3


def grow_while_it_helps(path: Path, settings: list[Setting], lowest: float, update: Any) -> bool:
    """Let models grow while more terms help; whether they still did at the largest size.

    (They count as if they did where all sizes are in the first stage.)

    Where a linear part may be or not, models have it first, and of several losses the first one;
    those that do well are tried without, with the other losses, and as pairs of classes. From then
    on the best of each kind stays. ``lowest`` is the error of the reference.
    """
    # The first stage with a size that is too large is the last one.
    sizes = [stage[-1] for stage in path.stages]
    count = next((i + 1 for i, size in enumerate(sizes) if size >= path.most), len(sizes))
    stages = path.stages[:count]
    if path.folds.shared.rows.n_outputs > path.most:
        settings = [one for one in settings if not one.linear] or settings
    losses = list(dict.fromkeys(one.loss for one in settings))
    pairs = [one for one in settings if one.pairs]
    settings = [one for one in settings if not one.pairs] or pairs
    first = [
        one
        for one in settings
        if one.loss == losses[0] and (one.linear or replace(one, linear=True) not in settings)
    ]
    update(0.1, f"{len(first)} settings, up to {stages[0][-1]} terms")
    path.advance(stages[0], first)
    path.keep(STAYING[0])
    changes: list[dict[str, Any]] = [{"linear": False}, *({"loss": loss} for loss in losses[1:])]
    for change in changes:
        variants = [replace(one, **change) for one in path.states]
        variants = [one for one in variants if one in settings and one not in path.states]
        if variants:
            update(0.2, f"{len(variants)} settings more")
            path.advance(stages[0], variants)
            path.keep(STAYING[0])
    if pairs and pairs is not settings:
        pairs = like_the_best(path, pairs)
        update(0.25, f"{len(pairs)} settings of pairs of classes")
        path.advance(stages[0], pairs)
        path.keep(STAYING[0], each_kind=True)
    count = 0
    for i in range(1, len(stages)):
        if not path.goes_on(count, lowest):
            return False
        count = len(path.results.sizes)
        error = path.results.mean.min()
        update(0.3 + 0.5 * i / len(stages), f"{stages[i][-1]} terms, error {error:.4f}")
        path.advance(stages[i])
        path.keep(STAYING[min(i, len(STAYING) - 1)], each_kind=bool(pairs))
    return path.goes_on(count, lowest)


def grow_on(path: Path, most: int, update: Any) -> None:
    """Let the models that are left grow on, from the largest size there was to this one."""
    if most <= path.most:
        return
    further = [stage for stage in path.stages if stage[-1] >= path.most]
    path.most = most
    for stage in further:
        update(0.75, f"{min(stage[-1], most)} terms")
        path.advance(stage)
        path.keep(STAYING[-1])
        if stage[-1] >= most:
            return


def like_the_best(path: Path, pairs: list[Setting]) -> list[Setting]:
    """Return those of the settings of pairs that have cost and widths of the best settings so far.

    Each has the next larger cost besides: pairs of classes are told apart with fewer errors.
    """
    ranked = path.ranked()[:LIKE]
    costs = sorted({one.C for one in pairs})
    found = []
    for one in ranked:
        place = costs.index(one.C)
        for C in costs[place : place + 2]:
            found.append(replace(one, C=C, linear=False, pairs=True))
    return [one for one in pairs if one in found]


def grow_to_size(path: Path, settings: list[Setting], size: int, easy: float, update: Any) -> None:
    """Let models grow to a given size, of which inner products of a linear part are a part.

    They grow at the costs up to ``easy``, or the smallest. Each time their number of terms doubles,
    half of the settings drop out. On the way models with a linear part, which has all its inner
    products at once, are ahead of those without: the best of both go on to the end, where they
    have all larger costs, one after the other.
    """
    n_outputs = path.folds.shared.rows.n_outputs
    costs = sorted({setting.C for setting in settings})
    first = [one for one in settings if one.C <= max(easy, costs[0])]
    routes = {False: doublings(size), True: [0, *doublings(size - n_outputs)]}
    routes = {linear: routes[linear] for linear in {setting.linear for setting in settings}}
    path.states.update(dict.fromkeys(first))
    n_stages = max(map(len, routes.values()))
    for stage in range(n_stages):
        update(0.6 * stage / n_stages, f"{len(path.states)} settings")
        for linear, route in routes.items():
            step = stage - n_stages + len(route)  # all arrive together
            alike = [setting for setting in path.states if setting.linear == linear]
            if step >= 0 and alike:
                path.advance((route[step],), alike)
        path.keep(max(STAYING[-1], len(first) >> (stage + 1)), each_kind=True)
    for C in costs:
        if C > max(easy, costs[0]):
            update(0.7, f"C={C:g}")
            path.raise_cost(C)


def doublings(size: int) -> list[int]:
    """Return 1, 2, 4, ... and the size itself; nothing below one."""
    sizes: list[int] = []
    while size > 0 and (not sizes or sizes[-1] < size):
        sizes.append(min(size, 2 * sizes[-1] if sizes else 1))
    return sizes
