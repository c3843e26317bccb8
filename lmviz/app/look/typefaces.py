"""The two typefaces: one for text, with tabular figures, and one for tokens and numbers in columns."""

from __future__ import annotations

import sys
from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

TEXT_FAMILIES = (
    "Inter",
    "SF Pro Text",
    "Segoe UI Variable Text",
    "Segoe UI",
    "Helvetica Neue",
    "Ubuntu",
    "Cantarell",
    "Noto Sans",
    "Liberation Sans",
    "Nimbus Sans",
    "DejaVu Sans",
)
TOKEN_FAMILIES = (
    "JetBrains Mono",
    "SF Mono",
    "Menlo",
    "Cascadia Mono",
    "Consolas",
    "Ubuntu Mono",
    "Noto Sans Mono",
    "DejaVu Sans Mono",
    "Liberation Mono",
)

TYPE_SIZES = (100, 125, 150, 175, 200)
"""What sizes type can have, in per cent of the usual one."""
USUAL_HEIGHTS = {"win32": 12.0, "darwin": 13.0}
USUAL_HEIGHT = 44 / 3
"""How high the type of a system usually is, in pixels: 9 points, 13 of Apple's, and elsewhere up to 11."""


def type_size_of_system() -> int:
    """The size of TYPE_SIZES that comes nearest to the type of the system, as a person has set it there."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    point = QGuiApplication.primaryScreen().logicalDotsPerInchY() / 72
    high = font.pixelSize() if font.pixelSize() > 0 else font.pointSizeF() * point
    wanted = 100 * high / USUAL_HEIGHTS.get(sys.platform, USUAL_HEIGHT)
    return min(TYPE_SIZES, key=lambda size: abs(size - wanted))


@lru_cache(maxsize=256)
def font_of(families: tuple[str, ...], pixels: float, weight: QFont.Weight) -> QFont:
    """The first installed of some families, `pixels` high."""
    font = QFont(_installed(families))
    font.setPixelSize(max(6, round(pixels)))
    font.setWeight(weight)
    font.setFeature(QFont.Tag("tnum"), 1)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if families is TOKEN_FAMILIES:
        font.setStyleHint(QFont.StyleHint.Monospace)
    return font


@lru_cache
def _installed(families: tuple[str, ...]) -> list[str]:
    """Those of the families that this machine has, and its own choice last."""
    system = QFontDatabase.SystemFont
    fallback = system.FixedFont if families is TOKEN_FAMILIES else system.GeneralFont
    return [*filter(_all_installed().__contains__, families), QFontDatabase.systemFont(fallback).family()]


@lru_cache
def _all_installed() -> frozenset[str]:
    # Quicker than to ask for one after the other. A foundry may stand behind a name: "Nimbus Sans [urw]".
    return frozenset(name.partition(" [")[0] for name in QFontDatabase.families())
