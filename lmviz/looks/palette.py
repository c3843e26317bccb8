"""The table of colours, as named roles for light and dark, and what is mixed from them.

The window and everything that is drawn without one take their colours from here. Colours are mixed as sRGB
encodes them: steps look nearly equal, and a tint keeps the hue of its role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lmviz.looks.ink import Ink

LEVELS = 256
INK, PAPER = "#1D1D1B", "#FFFFFF"

TINTS = (0.0, 0.35, 0.65)
"""How far each colour of the series is mixed with that of text."""
SEEN = 3.0
"""The contrast that a line has to have with what it is drawn on (WCAG 2.1)."""

LIGHT_ROLES: Mapping[str, str] = {
    "background": "#F6F6F3",
    "surface": "#FFFFFF",
    "line": "#E3E3DE",
    "text": "#1D1D1B",
    "muted_text": "#6E6E68",
    "accent": "#4B46D6",
    "accent_wash": "#E9E8FB",
    "query": "#0061F0",
    "key": "#D93C00",
    "value": "#01856F",
    "training": "#4B46D6",
    "validation": "#E8590C",
    "signed_negative": "#2166AC",
    "signed_zero": "#F7F7F7",
    "signed_positive": "#B2182B",
    "share_none": "#FFFFFF",
    "share_all": "#3B2FA8",
    "warning": "#CC1119",
    "note_wash": "#FFF0D6",
    "series_orange": "#E65103",
    "series_green": "#529F7B",
    "series_blue": "#6A94B9",
    "series_grey": "#5F606B",
    "series_red": "#A91024",
}

DARK_ROLES: Mapping[str, str] = {
    "background": "#141418",
    "surface": "#1C1C22",
    "line": "#2D2D36",
    "text": "#EDEDF0",
    "muted_text": "#9B9BA6",
    "accent": "#8F89FF",
    "accent_wash": "#2A2950",
    "query": "#70AAFF",
    "key": "#FF8A4E",
    "value": "#61EBCD",
    "training": "#8F89FF",
    "validation": "#FF9D57",
    "signed_negative": "#2166AC",
    "signed_zero": "#1C1C22",
    "signed_positive": "#B2182B",
    "share_none": "#1C1C22",
    "share_all": "#A79BFF",
    "warning": "#FF7B75",
    "note_wash": "#3A2F14",
    "series_orange": "#FF903A",
    "series_green": "#6BEFBB",
    "series_blue": "#AFDCFF",
    "series_grey": "#929299",
    "series_red": "#C92B3A",
}


@dataclass(frozen=True)
class Palette:
    """The colours of one theme as "#RRGGBB": roles by their names, and what is mixed from them."""

    roles: Mapping[str, str]

    def __getitem__(self, role: str) -> str:
        """The colour of a role, or of what is mixed from some: KeyError where there is none."""
        return self._mixed[role] if role in self._mixed else self.roles[role]

    def ink(self, ink: Ink) -> str:
        """The colour of an ink: a role by its name, one of the series by its number, or "#RRGGBB"."""
        if isinstance(ink, int):
            return self.series[ink % len(self.series)]
        return ink if ink.startswith("#") else self[ink]

    @cached_property
    def series(self) -> tuple[str, ...]:
        """Those of several models or curves: six, a tint of each, and another."""
        roles = ("accent", "series_orange", "series_green", "series_blue", "series_grey", "series_red")
        plain = tuple(self._legible(self.roles[role]) for role in roles)
        return tuple(mix(color, self.roles["text"], share) for share in TINTS for color in plain)

    def map_of(self, scale: str) -> np.ndarray:
        """(256, 3) uint8: the colours of the numbers of a scale, from the least to the largest."""
        if scale == "share":
            return color_map(self["share_none"], self["share_all"])
        if scale == "count":
            return color_map(self["share_none"], mix(self["surface"], self["text"], 0.8))
        return color_map(self["signed_negative"], self["signed_zero"], self["signed_positive"])

    @cached_property
    def _mixed(self) -> Mapping[str, str]:
        surface, line, text, muted = (self.roles[name] for name in ("surface", "line", "text", "muted_text"))
        return {
            "chip": mix(surface, line, 0.6),
            "right": self.roles["value"],
            "right_wash": mix(surface, self.roles["value"], 0.14),
            "hover": mix(surface, line, 0.4),
            "strong_line": mix(line, muted, 0.25),
            "accent_hover": mix(self.roles["accent"], text, 0.15),
            "faint_text": mix(surface, muted, 0.5),
            "rose": self._legible(self.roles["signed_positive"]),
            "fell": self._legible(self.roles["signed_negative"]),
        }

    def _legible(self, color: str) -> str:
        """The colour, or so much nearer to that of text that a thin line of it is seen."""
        steps = (mix(color, self.roles["text"], share / 10) for share in range(10))
        return next(step for step in steps if contrast(step, self.roles["surface"]) >= SEEN)


def parts_of(color: str) -> tuple[int, int, int]:
    """Red, green and blue of "#RRGGBB", each from 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def written(parts: tuple[int, int, int] | np.ndarray) -> str:
    """Red, green and blue as "#RRGGBB"."""
    return "#{:02X}{:02X}{:02X}".format(*map(int, parts))


def mix(first: str, second: str, share: float) -> str:
    """The colour that is `share` of the way from the first to the second."""
    pairs = zip(parts_of(first), parts_of(second), strict=True)
    red, green, blue = (round(start + (end - start) * share) for start, end in pairs)
    return written((red, green, blue))


def color_map(*stops: str) -> np.ndarray:
    """A lookup table through evenly spaced stops: (256, 3) uint8 red, green, blue."""
    corners = np.array([parts_of(stop) for stop in stops])
    places, levels = np.linspace(0, 1, len(stops)), np.linspace(0, 1, LEVELS)
    mixed = np.stack([np.interp(levels, places, corners[:, part]) for part in range(3)], axis=1)
    return np.asarray(np.round(mixed).astype(np.uint8))


def luminance(color: str) -> float:
    """Relative luminance of WCAG 2, from 0 (black) to 1 (white)."""

    def linear(part: float) -> float:
        return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(part / 255) for part in parts_of(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """The contrast ratio of WCAG 2, from 1 (none) to 21 (black on white)."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def on(color: str) -> str:
    """The text colour to be read on a colour: the better of black ink and white."""
    return PAPER if contrast(PAPER, color) >= contrast(INK, color) else INK


LIGHT, DARK = Palette(LIGHT_ROLES), Palette(DARK_ROLES)
