"""Curves drawn as SVG: axes with their numbers, lines with their names, bands, marks and references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lmviz.base.figures import plain
from lmviz.looks.curve import PlotCurve
from lmviz.looks.parts import Curves, WordCurves
from lmviz.showing.sheet import MARGIN, SMALL, SvgSheet, fitted, length_of

HEIGHT = 200.0
LEFT = 62.0
TICKS = 5

Scaled = Callable[[np.ndarray], np.ndarray]


def draw_curves(sheet: SvgSheet, part: Curves) -> None:
    """The curves over one axis, with their names above."""
    drawn = [curve for curve in part.curves if np.isfinite(np.asarray(curve.y, float)).any()]
    if not drawn:
        return
    _names(sheet, drawn)
    xs = np.concatenate([np.asarray(curve.x, float) for curve in drawn])
    ys = np.concatenate([np.asarray(curve.y, float) for curve in drawn if not curve.guide] or [np.zeros(1)])
    ys = np.concatenate([ys, [height for _, height in part.references]])
    write_x, write_y = part.writes
    left, right, top = MARGIN + LEFT, sheet.width - MARGIN, sheet.y + 8
    along = _axis(xs, part.logarithmic[0], (left, right))
    up = _axis(ys, part.logarithmic[1], (top + HEIGHT, top))
    for value in _ticks(ys, part.logarithmic[1]):
        y = float(up(np.array([value]))[0])
        sheet.line(np.array([[left, y], [right, y]]), "line")
        sheet.text(left - 6, y + 4, (write_y or plain)(value), ink="muted_text", size=SMALL, anchor="end")
    for value in _ticks(xs, part.logarithmic[0]):
        x = float(along(np.array([value]))[0])
        said = (write_x or _whole)(value)
        sheet.text(x, top + HEIGHT + 16, said, ink="muted_text", size=SMALL, anchor="middle")
    for x_mark, name in part.marks:
        x = float(along(np.array([x_mark]))[0])
        sheet.line(np.array([[x, top], [x, top + HEIGHT]]), "muted_text", dashed=True)
        sheet.text(x + 4, top + 10, fitted(name, 120, SMALL), ink="muted_text", size=SMALL)
    for name, height in part.references:
        y = float(up(np.array([height]))[0])
        sheet.line(np.array([[left, y], [right, y]]), "muted_text", dashed=True)
        sheet.text(right, y - 4, fitted(name, 160, SMALL), ink="muted_text", size=SMALL, anchor="end")
    for curve in drawn:
        _curve(sheet, curve, along, up)
    said = f"{part.x_name}" + (f" · {part.y_name}" if part.y_name else "")
    sheet.text(right, top + HEIGHT + 32, said, ink="muted_text", size=SMALL, anchor="end")
    sheet.y = top + HEIGHT + 44


def draw_word_curves(sheet: SvgSheet, part: WordCurves) -> None:
    """Curves over the words of a text, whose places are counted from 0."""
    places = np.arange(len(part.words), dtype=float)
    curves = [
        PlotCurve(curve.name, places, curve.values, role=curve.ink, dashed=curve.turn > 0)
        for curve in part.curves
        if curve.shown
    ]

    def word(place: float) -> str:
        at = round(place)
        return f"{at} {part.words[at]}" if 0 <= at < len(part.words) else ""

    draw_curves(sheet, replace(_PLOT, curves=curves, writes=(word, None)))


_PLOT = Curves(x_name="word", y_name="bits")


def _curve(sheet: SvgSheet, curve: PlotCurve, along: Scaled, up: Scaled) -> None:
    xs, ys = along(np.asarray(curve.x, float)), up(np.asarray(curve.y, float))
    if curve.band is not None:
        edges = [up(np.asarray(edge, float)) for edge in curve.band]
        there = np.isfinite(edges[0]) & np.isfinite(edges[1])
        area = np.concatenate(
            [np.column_stack([xs, edges[0]])[there], np.column_stack([xs, edges[1]])[there][::-1]]
        )
        if len(area):
            sheet.line(area, curve.role, filled=True)
    points = np.column_stack([xs, ys])
    whole = np.isfinite(points).all(axis=1)
    for piece in np.split(np.arange(len(points)), np.flatnonzero(~whole)):
        kept = piece[whole[piece]]
        if len(kept) > 1 and curve.width:
            sheet.line(_thinned(points[kept]), curve.role, width=curve.width, dashed=curve.dashed)
        if curve.dots or len(kept) == 1:
            for x, y in points[kept]:
                sheet.dot(x, y, curve.role)


def _thinned(points: np.ndarray, most: int = 600) -> np.ndarray:
    """Of very many points, so many that nothing of what is seen is lost."""
    if len(points) <= most:
        return points
    kept = np.unique(np.linspace(0, len(points) - 1, most).round().astype(int))
    return points[kept]


def _names(sheet: SvgSheet, curves: Sequence[PlotCurve]) -> None:
    x = float(MARGIN + LEFT)
    sheet.y += 12
    for curve in curves:
        if not curve.name:
            continue
        ends = np.array([[x, sheet.y - 4], [x + 18, sheet.y - 4]])
        sheet.line(ends, curve.role, width=max(curve.width, 1.5), dashed=curve.dashed)
        name = fitted(curve.name, 200, SMALL)
        sheet.text(x + 24, sheet.y, name, ink="muted_text", size=SMALL)
        x += 40 + length_of(name, SMALL)


def _axis(values: np.ndarray, is_logarithmic: bool, ends: tuple[float, float]) -> Scaled:
    """Where numbers stand between two ends; NaN where an axis has no place for them."""
    low, high = _bounds(values, is_logarithmic)

    def place(at: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = (_of(at, is_logarithmic) - low) / (high - low)
        return np.asarray(ends[0] + np.where(np.isfinite(shares), shares, np.nan) * (ends[1] - ends[0]))

    return place


def _bounds(values: np.ndarray, is_logarithmic: bool) -> tuple[float, float]:
    found = _of(values, is_logarithmic)
    found = found[np.isfinite(found)]
    low, high = (float(found.min()), float(found.max())) if len(found) else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _of(values: np.ndarray, is_logarithmic: bool) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.log10(values) if is_logarithmic else np.asarray(values, float))


def _ticks(values: np.ndarray, is_logarithmic: bool) -> list[float]:
    """Round numbers along an axis."""
    low, high = _bounds(values, is_logarithmic)
    rough = (high - low) / TICKS
    size = 10.0 ** np.floor(np.log10(rough))
    step = next((factor * size for factor in (1, 2, 5) if factor * size >= rough), 10 * size)
    if is_logarithmic:
        step = max(1.0, round(step))
    found = np.arange(np.ceil(low / step), np.floor(high / step) + 0.5) * step
    return [float(10.0**tick if is_logarithmic else tick) for tick in found]


def _whole(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else plain(value)
