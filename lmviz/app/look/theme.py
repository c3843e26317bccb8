"""The one table of colours and type, in light and in dark, and the switch between them.

Widgets ask `current_theme()` while they paint and keep no colours of their own. `theme_switch()` is
what changes the theme; its `theme_changed` says so to whoever holds a cache.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from lmviz.app.look.color_maps import color_map, contrast, mix
from lmviz.app.look.stylesheet import stylesheet

TEXT_SIZE = 13
PROJECTOR_SCALE = 1.35
CHOICES = ("system", "light", "dark")

INK, PAPER = QColor("#1D1D1B"), QColor("#FFFFFF")

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


@dataclass(frozen=True, eq=False)
class Theme:
    """The named roles. Everything drawn takes its colour from here, and its lengths times `scale`."""

    name: str
    background: QColor
    surface: QColor
    line: QColor
    text: QColor
    muted_text: QColor
    accent: QColor
    accent_wash: QColor
    query: QColor
    key: QColor
    value: QColor
    training: QColor
    validation: QColor
    signed_negative: QColor
    signed_zero: QColor
    signed_positive: QColor
    share_none: QColor
    share_all: QColor
    warning: QColor
    note_wash: QColor
    scale: float = 1.0

    @cached_property
    def signed_map(self) -> np.ndarray:
        """(256, 4) uint8: negative to positive, with zero in the middle."""
        return color_map(self.signed_negative, self.signed_zero, self.signed_positive)

    @cached_property
    def share_map(self) -> np.ndarray:
        """(256, 4) uint8: shares between none and all."""
        return color_map(self.share_none, self.share_all)

    @cached_property
    def count_map(self) -> np.ndarray:
        """(256, 4) uint8: counts from zero, in the colour of ink."""
        return color_map(self.share_none, mix(self.surface, self.text, 0.8))

    @cached_property
    def chip(self) -> QColor:
        """What a token lies on."""
        return mix(self.surface, self.line, 0.6)

    @cached_property
    def hover(self) -> QColor:
        """The background of what the pointer is over."""
        return mix(self.surface, self.line, 0.4)

    @cached_property
    def strong_line(self) -> QColor:
        """A line that has to be seen, such as the edge of what can be pressed."""
        return mix(self.line, self.muted_text, 0.25)

    @cached_property
    def accent_hover(self) -> QColor:
        """The accent under the pointer."""
        return mix(self.accent, self.text, 0.15)

    @cached_property
    def faint_text(self) -> QColor:
        """Text that is not related to what one looks at."""
        return mix(self.surface, self.muted_text, 0.5)

    @cached_property
    def tints(self) -> tuple[QColor, ...]:
        """Quiet backgrounds that tell neighbouring tokens apart."""
        roles = (self.accent, self.key, self.value, self.query)
        return tuple(mix(self.surface, role, 0.13) for role in roles)

    @cached_property
    def series(self) -> tuple[QColor, ...]:
        """One colour for each of several models or curves; more than these start again."""
        return (self.accent, self.validation, self.value, self.query, self.muted_text, self.signed_positive)

    def map_of(self, scale: str) -> np.ndarray:
        """The lookup table for a tap's scale (see `lmviz.models.tap.SCALES`)."""
        return {"share": self.share_map, "count": self.count_map}.get(scale, self.signed_map)

    def on(self, color: QColor) -> QColor:
        """The text colour to be read on a colour: the better of black ink and white."""
        return PAPER if contrast(PAPER, color) >= contrast(INK, color) else INK

    def font(self, size: float = TEXT_SIZE, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """A proportional font with tabular figures; `size` in logical pixels before scaling."""
        return _font(TEXT_FAMILIES, size * self.scale, weight)

    def token_font(self, size: float = TEXT_SIZE, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """A monospaced font, for tokens and numbers in columns."""
        return _font(TOKEN_FAMILIES, size * self.scale, weight)


@lru_cache(maxsize=256)
def _font(families: tuple[str, ...], pixels: float, weight: QFont.Weight) -> QFont:
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


LIGHT = Theme(
    name="light",
    background=QColor("#F6F6F3"),
    surface=QColor("#FFFFFF"),
    line=QColor("#E3E3DE"),
    text=QColor("#1D1D1B"),
    muted_text=QColor("#6E6E68"),
    accent=QColor("#4B46D6"),
    accent_wash=QColor("#E9E8FB"),
    query=QColor("#2563EB"),
    key=QColor("#D9480F"),
    value=QColor("#2B8A3E"),
    training=QColor("#4B46D6"),
    validation=QColor("#E8590C"),
    signed_negative=QColor("#2166AC"),
    signed_zero=QColor("#F7F7F7"),
    signed_positive=QColor("#B2182B"),
    share_none=QColor("#FFFFFF"),
    share_all=QColor("#3B2FA8"),
    warning=QColor("#C92A2A"),
    note_wash=QColor("#FFF0D6"),
)

DARK = Theme(
    name="dark",
    background=QColor("#141418"),
    surface=QColor("#1C1C22"),
    line=QColor("#2D2D36"),
    text=QColor("#EDEDF0"),
    muted_text=QColor("#9B9BA6"),
    accent=QColor("#8F89FF"),
    accent_wash=QColor("#2A2950"),
    query=QColor("#6EA8FF"),
    key=QColor("#FF8A4C"),
    value=QColor("#5DC777"),
    training=QColor("#8F89FF"),
    validation=QColor("#FF9D57"),
    signed_negative=QColor("#2166AC"),
    signed_zero=QColor("#1C1C22"),
    signed_positive=QColor("#B2182B"),
    share_none=QColor("#1C1C22"),
    share_all=QColor("#A79BFF"),
    warning=QColor("#FF8787"),
    note_wash=QColor("#3A2F14"),
)

_current = LIGHT

STYLE_ARGUMENTS = ("lmviz", "-style", "Fusion")
"""Setting the style of an application that lives makes PySide6 describe all of Qt's styles to Python."""


def make_application() -> QApplication:
    """The application, in the style that the sheet is written for."""
    return QApplication.instance() or QApplication([*STYLE_ARGUMENTS])


def current_theme() -> Theme:
    """The theme in force; cheap enough to be asked in every paint event."""
    return _current


def theme_switch() -> ThemeSwitch:
    """The application's switch; it is made, and the theme applied, when first asked for."""
    global _switch
    if _switch is None or not isValid(_switch):
        _switch = ThemeSwitch(QApplication.instance())
    return _switch


_switch: ThemeSwitch | None = None


class ThemeSwitch(QObject):
    """Applies the theme to the application, and follows the system until told otherwise.

    `set_choice("system" | "light" | "dark")`, `set_projector(bool)`; signal `theme_changed()`.
    """

    theme_changed = Signal()

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self.choice = "system"
        self.projector = False
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)
        self._apply()

    def set_choice(self, choice: str) -> None:
        """Light, dark, or as the system has it."""
        if choice not in CHOICES:
            raise ValueError(choice)
        self.choice = choice
        self._apply()

    def set_projector(self, projector: bool) -> None:
        """Enlarge type and lengths for the last row of a lecture hall."""
        self.projector = projector
        self._apply()

    def _follow_system(self) -> None:
        if self.choice == "system":
            self._apply()

    def _apply(self) -> None:
        global _current
        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        chosen = {"light": LIGHT, "dark": DARK}.get(self.choice, DARK if dark else LIGHT)
        _current = replace(chosen, scale=PROJECTOR_SCALE) if self.projector else chosen
        application = QApplication.instance()
        application.setStyleSheet("")  # one sheet in place of another takes Qt ten times as long
        application.setPalette(_palette(_current))
        application.setFont(_current.font())
        application.setStyleSheet(stylesheet(_current))
        for window in application.topLevelWidgets():
            if window.windowHandle() is None:
                _take_over_font(window)
        self.theme_changed.emit()


def _take_over_font(window: QWidget) -> None:
    """Give the application's font to a window that has not been shown: Qt tells only those that have been."""
    for widget in (window, *window.findChildren(QWidget)):
        if not widget.font().resolveMask():  # it has asked for nothing of its own
            widget.setFont(QFont())


def _palette(theme: Theme) -> QPalette:
    role = QPalette.ColorRole
    colors = {
        role.Window: theme.background,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.background,
        role.Text: theme.text,
        role.PlaceholderText: theme.muted_text,
        role.Button: theme.surface,
        role.ButtonText: theme.text,
        role.BrightText: theme.warning,
        role.ToolTipBase: theme.surface,
        role.ToolTipText: theme.text,
        role.Highlight: theme.accent_wash,
        role.HighlightedText: theme.text,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.Accent: theme.accent,
        role.Light: theme.surface,
        role.Midlight: theme.line,
        role.Mid: theme.line,
        role.Dark: theme.muted_text,
        role.Shadow: theme.line,
    }
    palette = QPalette()
    for name, color in colors.items():
        palette.setColor(name, color)
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, theme.faint_text)
    return palette
