"""Small plots as SVG, with colours of the page they stand in: no plotting library is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, HEIGHT = 380, 280
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 46

#: From values to pixels of the picture.
ToPixels = Callable[[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Series:
    """Points with a colour, joined or not, with bars for their errors if there are any."""

    points: Sequence[Sequence[float]]
    colour: int = 0
    label: str = ""
    is_line: bool = True
    has_dots: bool = False
    is_dashed: bool = False
    errors: Sequence[float] | None = None


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round numbers between two others."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    size = 10.0 ** np.floor(np.log10(raw))
    step = size * next(m for m in (1, 2, 2.5, 5, 10) if m * size >= raw * (1 - 1e-9))
    first = np.ceil(low / step - 1e-9)
    last = np.floor(high / step + 1e-9)
    return [float(n * step) + 0.0 for n in np.arange(first, last + 1)]  # no -0


def chart(
    series: Sequence[Series],
    x_label: str,
    y_label: str,
    title: str,
    x_range: tuple[float, float] | None = None,
    y_range: tuple[float, float] | None = None,
) -> str:
    """Return a plot with axes; ``title`` is read aloud, not shown."""
    points = [point for one in series for point in one.points]
    low_x, high_x = x_range or _range([p[0] for p in points])
    low_y, high_y = y_range or _range([p[1] for p in points])
    to_x = (WIDTH - LEFT - RIGHT) / (high_x - low_x)
    to_y = (HEIGHT - TOP - BOTTOM) / (high_y - low_y)

    def to_pixels(x: float, y: float) -> tuple[float, float]:
        return LEFT + (x - low_x) * to_x, HEIGHT - BOTTOM - (y - low_y) * to_y

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        *_axes(to_pixels, (low_x, high_x), (low_y, high_y)),
        f'<text class="label" x="{(LEFT + WIDTH - RIGHT) / 2:g}" y="{HEIGHT - 8}" '
        f'text-anchor="middle">{escape(x_label)}</text>',
        f'<text class="label" transform="translate(13 {(TOP + HEIGHT - BOTTOM) / 2:g}) '
        f'rotate(-90)" text-anchor="middle">{escape(y_label)}</text>',
    ]
    for one in series:
        parts += _drawn(one, to_pixels)
    return "\n".join([*parts, "</svg>"])


def _range(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or 0.5
    return low - room, high + room


def _axes(
    to_pixels: ToPixels, x_range: tuple[float, float], y_range: tuple[float, float]
) -> list[str]:
    parts = []
    for tick in ticks(*x_range):
        x, y = to_pixels(tick, y_range[0])
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{y:.1f}"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{y + 15:.1f}" text-anchor="middle">{_tick(tick)}</text>'
        )
    for tick in ticks(*y_range):
        x, y = to_pixels(x_range[0], tick)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(
            f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{_tick(tick)}</text>'
        )
    return parts


def _tick(value: float) -> str:
    return f"{round(value, 12):.5g}"


def _drawn(one: Series, to_pixels: ToPixels) -> list[str]:
    pixels = [to_pixels(point[0], point[1]) for point in one.points]
    colour, parts = f"c{one.colour % 8}", []
    if one.is_line:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in pixels)
        dashed = ' stroke-dasharray="4 4"' if one.is_dashed else ""
        parts.append(f'<polyline class="line {colour}" points="{path}"{dashed}/>')
    for point, error in zip(one.points, one.errors or (), strict=False):
        (x, top), (_, bottom) = (
            to_pixels(point[0], point[1] + error),
            to_pixels(point[0], point[1] - error),
        )
        parts.append(
            f'<line class="line {colour}" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" '
            f'y2="{bottom:.1f}"/>'
        )
    if one.has_dots:
        parts += [
            f'<circle class="dot {colour}" cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>' for x, y in pixels
        ]
    return parts


def legend(series: Sequence[Series]) -> str:
    """Return what the colours mean, as HTML."""
    named = [one for one in series if one.label]
    entries = [
        f'<li><span class="key c{s.colour % 8}"></span>{escape(s.label)}</li>' for s in named
    ]
    return f'<ul class="legend">{"".join(entries)}</ul>' if named else ""
