"""Colour maps as lookup tables, mixed where equal steps look equal.

Colours are mixed in Oklab (Björn Ottosson, 2020), so that a step of the value is a step of the eye at
both ends of a map, and no hue slips in between.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QColor

LEVELS = 256

_TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_FROM_OKLAB = np.linalg.inv(_TO_OKLAB)
_FROM_CONES = np.linalg.inv(_TO_CONES)


def _to_oklab(color: QColor) -> np.ndarray:
    """(3,) lightness and the two opponent colours."""
    encoded = np.array([color.redF(), color.greenF(), color.blueF()])
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return _TO_OKLAB @ np.cbrt(_TO_CONES @ linear)


def _from_oklab(values: np.ndarray) -> np.ndarray:
    """(level, 3) Oklab to (level, 3) uint8 red, green, blue."""
    linear = np.clip(((values @ _FROM_OKLAB.T) ** 3) @ _FROM_CONES.T, 0, 1)
    encoded = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.round(encoded * 255).astype(np.uint8)


def color_map(*stops: QColor) -> np.ndarray:
    """A lookup table through evenly spaced stops: (256, 4) uint8 red, green, blue, alpha."""
    places = np.linspace(0, 1, len(stops))
    corners = np.stack([_to_oklab(stop) for stop in stops])  # (stop, 3)
    levels = np.linspace(0, 1, LEVELS)
    mixed = np.stack([np.interp(levels, places, corners[:, axis]) for axis in range(3)], axis=1)
    table = np.full((LEVELS, 4), 255, dtype=np.uint8)
    table[:, :3] = _from_oklab(mixed)
    table.flags.writeable = False
    return table


def mix(first: QColor, second: QColor, share: float) -> QColor:
    """The colour that is `share` of the way from the first to the second."""
    values = _to_oklab(first) * (1 - share) + _to_oklab(second) * share
    return QColor(*(int(part) for part in _from_oklab(values[None])[0]))


def luminance(color: QColor) -> float:
    """Relative luminance of WCAG 2, from 0 (black) to 1 (white)."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

    red, green, blue, _ = color.getRgbF()
    return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)


def contrast(first: QColor, second: QColor) -> float:
    """The contrast ratio of WCAG 2, from 1 (none) to 21 (black on white)."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)
