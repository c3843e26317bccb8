"""Lines of an SVG that stay as wide as they are, however their curve is stretched.

Qt writes a curve in the units of its axes, below a matrix, with `vector-effect="non-scaling-stroke"`. Some
programs that read SVG do not know this property, Typst among them: they draw a line as wide as the axes are
stretched. Here such curves are written in pixels.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TAG = re.compile(r'<g\b[^>]*>|</g>|<(polyline|path|rect)\b[^>]*vector-effect="non-scaling-stroke"[^>]*/>')
_MATRIX = re.compile(r'transform="matrix\(([^)]*)\)"')
_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_POINT = re.compile(rf"({_NUMBER}),({_NUMBER})")
_PLACES = re.compile(r'\b(points|d)="([^"]*)"')
_SIDE = re.compile(rf'\b(x|y|width|height)="({_NUMBER})"\s*')

Mapped = Callable[[float, float], str]


def in_pixels(svg: str) -> str:
    """An SVG as Qt writes it, with such curves outside of the matrix above them."""
    pieces: list[str] = []
    groups: list[str] = []  # those that are open, each by its tag
    is_outside, end = False, 0

    def put(between: str) -> None:
        nonlocal is_outside
        if is_outside and between.strip():
            pieces.append(f"</g>{groups[-1]}")
            is_outside = False
        pieces.append(between)

    for found in _TAG.finditer(svg):
        put(svg[end : found.start()])
        end, tag = found.end(), found[0]
        if tag.startswith("<g"):
            put(tag)
            groups.append(tag)
        elif tag == "</g>":
            is_outside = False  # the group in which the curves are ends in place of theirs
            pieces.append(tag)
            groups.pop()
        elif (mapped := _stretching(groups[-1]) if groups else None) is None:
            put(tag)
        else:
            if not is_outside:
                pieces.append("</g>" + _MATRIX.sub("", groups[-1]))
                is_outside = True
            pieces.append(_drawn(tag, found[1], mapped))
    return "".join([*pieces, svg[end:]])


def _stretching(group: str) -> Mapped | None:
    """What a group's matrix makes of a place; None where it stretches nothing."""
    matrix = _MATRIX.search(group)
    if matrix is None:
        return None
    a, b, c, d, e, f = (float(number) for number in matrix[1].split(","))
    if (a, b, c, d) == (1, 0, 0, 1):
        return None
    return lambda x, y: f"{a * x + c * y + e:.6g},{b * x + d * y + f:.6g}"


def _drawn(tag: str, kind: str, mapped: Mapped) -> str:
    """A curve with its places mapped."""
    if kind == "rect":
        sides = {name: float(number) for name, number in _SIDE.findall(tag)}
        left, top = sides.get("x", 0.0), sides.get("y", 0.0)
        right, bottom = left + sides.get("width", 0.0), top + sides.get("height", 0.0)
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        path = "L".join(mapped(x, y) for x, y in corners)
        return _SIDE.sub("", tag).replace("<rect", f'<path d="M{path}Z"', 1)

    def place(point: re.Match[str]) -> str:
        return mapped(float(point[1]), float(point[2]))

    return _PLACES.sub(lambda places: f'{places[1]}="{_POINT.sub(place, places[2])}"', tag)
