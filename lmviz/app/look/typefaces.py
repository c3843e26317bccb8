"""The two typefaces: one for text, with tabular figures, and one for tokens and numbers in columns."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFont, QFontDatabase

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
