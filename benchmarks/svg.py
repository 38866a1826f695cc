"""Plots as SVG text: bars in groups, and lines. No library, and the same bytes each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 56, 56
COLOURS = ("#3b6ea5", "#d1793b", "#4f9d69", "#a0527a", "#7a7a7a")


def bars(
    title: str, unit: str, groups: Sequence[str], series: Mapping[str, Sequence[float]]
) -> str:
    """Bars side by side. Shape: each series has a number for every group."""
    top = _ceiling([value for values in series.values() for value in values])
    parts = [*_frame(title, unit, top), *_legend(list(series))]
    band = (WIDTH - LEFT - RIGHT) / len(groups)
    thick = 0.8 * band / len(series)
    for i, group in enumerate(groups):
        middle = LEFT + band * (i + 0.5)
        parts.append(_text(middle, HEIGHT - BOTTOM + 20, group, "middle"))
        for j, values in enumerate(series.values()):
            x, y = middle - 0.4 * band + j * thick, _y(max(0.0, values[i]), top)
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{thick - 2:.1f}" '
                f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{COLOURS[j]}"/>'
            )
            parts.append(_text(x + thick / 2 - 1, y - 4, f"{values[i]:.1f}", "middle", 10))
    return _whole(parts)


def lines(
    title: str, unit: str, ticks: Sequence[str], series: Mapping[str, Sequence[float]]
) -> str:
    """Lines over the same places. Shape: each series has a number for every tick."""
    top = _ceiling([value for values in series.values() for value in values])
    parts = [*_frame(title, unit, top), *_legend(list(series))]
    step = (WIDTH - LEFT - RIGHT) / len(ticks)
    places = [LEFT + step * (i + 0.5) for i in range(len(ticks))]
    parts += [
        _text(x, HEIGHT - BOTTOM + 20, tick, "middle")
        for x, tick in zip(places, ticks, strict=True)
    ]
    for j, values in enumerate(series.values()):
        points = [(x, _y(value, top)) for x, value in zip(places, values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{COLOURS[j]}" stroke-width="2"/>'
        )
        for (x, y), value in zip(points, values, strict=True):
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{COLOURS[j]}"/>')
            parts.append(_text(x, y - 8, f"{value:.1f}", "middle", 10))
    return _whole(parts)


def _frame(title: str, unit: str, top: float) -> list[str]:
    parts = [_text(LEFT, 20, title, "start", 14), _text(8, TOP - 12, unit, "start", 11)]
    for k in range(5):
        value = top * k / 4
        y = _y(value, top)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                     'stroke="#d8d8d8"/>')  # fmt: skip
        parts.append(_text(LEFT - 8, y + 4, f"{value:g}", "end", 11))
    return parts


def _legend(names: Sequence[str]) -> list[str]:
    parts: list[str] = []
    x = float(LEFT)
    for name, colour in zip(names, COLOURS, strict=False):
        parts.append(f'<rect x="{x:.1f}" y="30" width="10" height="10" fill="{colour}"/>')
        parts.append(_text(x + 14, 39, name, "start", 11))
        x += 30 + 6.6 * len(name)
    return parts


def _y(value: float, top: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top


def _ceiling(values: Sequence[float]) -> float:
    """A round number that is not below the largest, and divides by four nicely."""
    largest = max(values)
    step = next(s for s in (1, 2, 4, 8, 12, 16, 20, 24, 40, 60, 80, 100, 200) if s >= largest)
    return float(step)


def _text(x: float, y: float, words: str, anchor: str, size: int = 12) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def _whole(parts: Sequence[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" fill="#222">'
    )
    paper = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    return "\n".join([head, paper, *parts, "</svg>"]) + "\n"
