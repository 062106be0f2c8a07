"""Plots as inline SVG: lines over a number, or dots over names; each with its intervals.

They carry no style of their own and no script: classes name the parts, and a series is told apart by colour and by the
form of its mark.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from .analysis import Analysis, Plot
from .report_analysis import shown
from .report_scale import Scale, scale, tick_text
from .report_text import inert

WIDTH = 400
MOST_NAMES = 25
_LINES_HEIGHT = 290
_ROW = 24
_LONGEST = 24
_APART = 2.5
_COLOURS = 8
_MARKS = (
    "M-4,-4H4V4H-4Z",
    "M0,-5L5,4H-5Z",
    "M0,-5.5L5.5,0L0,5.5L-5.5,0Z",
    "M0,5L5,-4H-5Z",
    "M-4.5,-1.5H-1.5V-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5Z",
    "M0,-4.5A4.5,4.5 0 1 0 0,4.5A4.5,4.5 0 1 0 0,-4.5Z",
)


@dataclass(frozen=True)
class _Point:
    """A value with its interval; ``name`` on a plot over names, ``x`` on one over a number."""

    series: str
    name: str
    x: float
    y: float
    low: float
    high: float


def figure(analysis: Analysis, number: str) -> str:
    """Return a ``<figure>`` with the plot of an analysis and its legend; empty where there is nothing to draw.

    Args:
        analysis: what to draw.
        number: a name that is unique on the page, for the ids of title and description.
    """
    analysis = _upright(analysis)
    if analysis.plot is None or not (points := _points(analysis, analysis.plot)):
        return ""
    series = list(dict.fromkeys(point.series for point in points))
    over_names = any(math.isnan(point.x) for point in points)
    left_out = 0
    if over_names:
        points, left_out = _largest(points)
    drawn = _dots(points, series, analysis) if over_names else _lines(points, series, analysis)
    said = _described(analysis, points, over_names)
    caption = f"<p>The {MOST_NAMES} largest; the table has {left_out} more.</p>" if left_out else ""
    svg = (
        f'<svg viewBox="0 0 {WIDTH} {drawn[0]}" role="img" aria-labelledby="{number}-t {number}-d">'
        f'<title id="{number}-t">{inert(analysis.title)}</title><desc id="{number}-d">{inert(said)}</desc>'
        f"{drawn[1]}</svg>"
    )
    return f"<figure>{svg}<figcaption>{_legend(series)}{caption}</figcaption></figure>"


def _upright(analysis: Analysis) -> Analysis:
    """Return the analysis with the names of a plot over names under x, on whichever axis it put them."""
    plot = analysis.plot
    if plot is None or not any(isinstance(row.get(plot.y), str) for row in analysis.rows):
        return analysis
    return replace(analysis, plot=replace(plot, x=plot.y, y=plot.x))


def _points(analysis: Analysis, plot: Plot) -> list[_Point]:
    over_names = any(isinstance(row.get(plot.x), (str, bool)) for row in analysis.rows)
    points = []
    for row in analysis.rows:
        y, x = _number(row.get(plot.y)), row.get(plot.x)
        if not math.isnan(y) and (over_names or not math.isnan(_number(x))):
            low, high = (_number(row.get(key)) if key else math.nan for key in (plot.low, plot.high))
            series = str(row.get(plot.series, "")) if plot.series and plot.series != plot.x else ""
            points.append(_Point(series, shown(x), math.nan if over_names else _number(x), y, low, high))
    return points


def _number(value: Any) -> float:
    real = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if real else math.nan


def _largest(points: list[_Point]) -> tuple[list[_Point], int]:
    """Return the points of the names with the largest values, and how many names are left out."""
    size: dict[str, float] = {}
    for point in points:
        size[point.name] = max(size.get(point.name, 0.0), abs(point.y))
    if len(size) <= MOST_NAMES:
        return points, 0
    kept = sorted(size, key=lambda name: (-size[name], name))[:MOST_NAMES]
    by_size = sorted((p for p in points if p.name in kept), key=lambda p: kept.index(p.name))
    return by_size, len(size) - MOST_NAMES


def _label(analysis: Analysis, key: str) -> str:
    return dict(analysis.columns).get(key, key)


def _described(analysis: Analysis, points: Sequence[_Point], over_names: bool) -> str:
    plot = analysis.plot or Plot("", "", "")
    told = [f"{p.series + ' ' if p.series else ''}{p.name}: {p.y:.4g}" for p in points[:12]]
    more = f", and {len(points) - 12} more" if len(points) > 12 else ""
    over = "by" if over_names else "against"
    return f"{_label(analysis, plot.y)} {over} {_label(analysis, plot.x)}. {'; '.join(told)}{more}."


def _ends(points: Sequence[_Point]) -> list[float]:
    return [v for p in points for v in (p.y, p.low, p.high) if not math.isnan(v)]


def _lines(points: Sequence[_Point], series: Sequence[str], analysis: Analysis) -> tuple[int, str]:
    plot = analysis.plot or Plot("", "", "")
    along = scale([p.x for p in points], 66, WIDTH - 18)
    up = scale(_ends(points), _LINES_HEIGHT - 48, 14)
    parts = [*_bottom(along, up.first, up.last, _label(analysis, plot.x)), *_side(up, along, _label(analysis, plot.y))]
    for number, name in enumerate(series):
        own = sorted((p for p in points if p.series == name), key=lambda p: (p.x, p.y))
        shift = _shift(number, points, len(series))
        parts.append(f'<g class="{_classes(number)}"{shift}>{_series(own, along, up, number)}</g>')
    return _LINES_HEIGHT, "".join(parts)


def _shift(number: int, points: Sequence[_Point], series: int) -> str:
    """Return what sets series apart by a few pixels where they share a place, so that no interval hides another."""
    if len({p.x for p in points}) == len(points) or series > 6:
        return ""
    return f' transform="translate({(number - (series - 1) / 2) * _APART:g},0)"'


def _series(points: Sequence[_Point], along: Scale, up: Scale, number: int) -> str:
    places = [(along.at(p.x), up.at(p.y)) for p in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    drawn = f'<polyline points="{line}"/>' if len(places) > 1 else ""
    bars = "".join(_bar_up(p, along, up) for p in points if not math.isnan(p.low + p.high))
    marks = "".join(_mark(number, x, y, _told(p)) for p, (x, y) in zip(points, places))
    return drawn + bars + marks


def _bar_up(p: _Point, along: Scale, up: Scale) -> str:
    return f'<path class="bar" d="M{along.at(p.x):.1f},{up.at(p.low):.1f}V{up.at(p.high):.1f}"/>'


def _dots(points: Sequence[_Point], series: Sequence[str], analysis: Analysis) -> tuple[int, str]:
    plot = analysis.plot or Plot("", "", "")
    names = list(dict.fromkeys(p.name for p in points))
    left = 24 + max(len(_short(name)) for name in names) * 8
    bottom = 14 + _ROW * len(names)
    along = scale([*_ends(points), *([0.0] if min(_ends(points)) < 0 else [])], left, WIDTH - 20, 4)
    parts = _bottom(along, bottom, 6, _label(analysis, plot.y))
    for row, name in enumerate(names):
        parts.append(f'<text class="name" x="{left - 10}" y="{22 + _ROW * row}">{inert(_short(name))}</text>')
    for p in points:
        number = series.index(p.series)
        shift = (number - (len(series) - 1) / 2) * min(6.0, (_ROW - 8) / len(series))
        y = 18 + _ROW * names.index(p.name) + shift
        bar = "" if math.isnan(p.low + p.high) else f"M{along.at(p.low):.1f},{y:.1f}H{along.at(p.high):.1f}"
        drawn = f'<path class="bar" d="{bar}"/>' if bar else ""
        parts.append(f'<g class="{_classes(number)}">{drawn}{_mark(number, along.at(p.y), y, _told(p))}</g>')
    return bottom + 46, "".join(parts)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _told(p: _Point) -> str:
    interval = "" if math.isnan(p.low + p.high) else f" [{p.low:.4g}, {p.high:.4g}]"
    return f"{p.series + ', ' if p.series else ''}{p.name}: {p.y:.4g}{interval}"


def _mark(number: int, x: float, y: float, told: str) -> str:
    shape = _MARKS[(number + 5) % len(_MARKS)]
    return f'<path class="mark" transform="translate({x:.1f},{y:.1f})" d="{shape}"><title>{inert(told)}</title></path>'


def _bottom(along: Scale, bottom: float, top: float, label: str) -> list[str]:
    parts = [f'<path class="axis" d="M{along.first:.1f},{bottom:.1f}H{along.last:.1f}"/>']
    for tick in along.ticks:
        x, kind = along.at(tick), "zero" if tick == 0 else "grid"
        parts.append(f'<path class="{kind}" d="M{x:.1f},{bottom:.1f}V{top:.1f}"/>')
        parts.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 16:.1f}">{tick_text(tick)}</text>')
    middle = (along.first + along.last) / 2
    return [*parts, f'<text class="label" x="{middle:.1f}" y="{bottom + 36:.1f}">{inert(label)}</text>']


def _side(up: Scale, along: Scale, label: str) -> list[str]:
    parts = [f'<path class="axis" d="M{along.first:.1f},{up.first:.1f}V{up.last:.1f}"/>']
    for tick in up.ticks:
        y = up.at(tick)
        parts.append(f'<path class="grid" d="M{along.first:.1f},{y:.1f}H{along.last:.1f}"/>')
        parts.append(f'<text class="side" x="{along.first - 7:.1f}" y="{y + 4:.1f}">{tick_text(tick)}</text>')
    turned = f"translate(12,{(up.first + up.last) / 2:.1f}) rotate(-90)"
    return [*parts, f'<text class="label" transform="{turned}">{inert(label)}</text>']


def _classes(number: int) -> str:
    return f"s{number % _COLOURS}" + (" again" if number >= _COLOURS else "")


def _legend(series: Sequence[str]) -> str:
    if series == [""]:
        return ""
    items = "".join(
        f'<li><svg class="key" viewBox="-8 -8 16 16" aria-hidden="true"><g class="{_classes(number)}">'
        f'<path class="mark" d="{_MARKS[(number + 5) % len(_MARKS)]}"/></g></svg>{inert(name)}</li>'
        for number, name in enumerate(series)
    )
    return f'<ul class="legend">{items}</ul>'
