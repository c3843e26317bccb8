"""Colour maps as lookup tables, and whether one colour can be read on another.

Colours are mixed as sRGB encodes them: steps look nearly equal, and a tint keeps the hue of its role.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PySide6.QtGui import QColor

LEVELS = 256


def color_map(*stops: QColor) -> np.ndarray:
    """A lookup table through evenly spaced stops: (256, 4) uint8 red, green, blue, alpha."""
    corners = np.array([_parts(stop) for stop in stops])  # (stop, 4)
    places, levels = np.linspace(0, 1, len(stops)), np.linspace(0, 1, LEVELS)
    mixed = np.stack([np.interp(levels, places, corners[:, part]) for part in range(4)], axis=1)
    table = np.round(mixed).astype(np.uint8)
    table.flags.writeable = False
    return table


def mix(first: QColor, second: QColor, share: float) -> QColor:
    """The colour that is `share` of the way from the first to the second."""
    pairs = zip(_parts(first), _parts(second), strict=True)
    return QColor(*(round(start + (end - start) * share) for start, end in pairs))


def luminance(color: QColor) -> float:
    """Relative luminance of WCAG 2, from 0 (black) to 1 (white)."""
    return _luminance(color.rgb())


@lru_cache(maxsize=4096)
def _luminance(rgb: int) -> float:
    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    color = QColor.fromRgb(rgb)
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF())


def contrast(first: QColor, second: QColor) -> float:
    """The contrast ratio of WCAG 2, from 1 (none) to 21 (black on white)."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _parts(color: QColor) -> tuple[int, int, int, int]:
    """Red, green, blue and alpha, each from 0 to 255."""
    return color.red(), color.green(), color.blue(), color.alpha()
