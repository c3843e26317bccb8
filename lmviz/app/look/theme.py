"""The current theme, and the switch that changes it.

Widgets ask `current_theme()` while they paint and store no colours. `theme_switch()` changes the theme;
a widget that caches drawings connects to its `theme_changed`.
"""

from __future__ import annotations

import gc
from dataclasses import replace
from functools import lru_cache
from weakref import WeakSet

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QComboBox, QStyledItemDelegate, QWidget
from shiboken6 import isValid

from lmviz.app.look.roles import DARK, LIGHT, PROJECTOR_SCALE, Theme
from lmviz.app.look.stylesheet import stylesheet
from lmviz.app.look.typefaces import TYPE_SIZES, type_size_of_system

CHOICES = ("system", "light", "dark")
SYSTEM_SIZE = 0
"""The size of type that stands for that of the system."""

PROJECTED_ROOM = QSize(1280, 720)
"""The pixels for which projector type is PROJECTOR_SCALE times the usual one; more of them, larger type."""
GROWTH_STEP = 0.05
"""A window is styled anew for no smaller growth."""

_current = LIGHT

STYLE_ARGUMENTS = ("lmviz", "-style", "Fusion")
"""Setting the style of an application that lives makes PySide6 describe all of Qt's styles to Python."""


def make_application() -> QApplication:
    """The application, in the style that the sheet is written for.

    From now on Python's collector runs only where it is called: in a worker it would destroy Qt objects.
    """
    gc.disable()
    running = QApplication.instance()
    return running if isinstance(running, QApplication) else QApplication([*STYLE_ARGUMENTS])


def application() -> QApplication:
    """The application, which `make_application` has made before any widget."""
    running = QApplication.instance()
    assert isinstance(running, QApplication), "no widget can be made before the application"
    return running


def current_theme() -> Theme:
    """The theme in force; cheap enough to be asked in every paint event."""
    return _current


def theme_switch() -> ThemeSwitch:
    """The application's switch; it is made, and the theme applied, when first asked for."""
    global _switch
    if _switch is None or not isValid(_switch):
        _switch = ThemeSwitch(application())
    return _switch


_switch: ThemeSwitch | None = None


def give_font(widget: QWidget, font: QFont) -> None:
    """Give a widget a font of its own, for good.

    Qt's style sheets remember the first one, and give it back whenever the widget is put elsewhere.
    """
    widget.setProperty("_q_styleSheetWidgetFont", font)
    widget.setFont(font)


class ThemeSwitch(QObject):
    """Applies the theme to the application, and follows the system until a theme is chosen.

    `set_choice("system" | "light" | "dark")`, `set_type_size(percent)`, `set_projector(bool)`; signal
    `theme_changed()`, and `theme_changing()` before that, when it is known but nothing has it yet.
    """

    theme_changing = Signal()
    theme_changed = Signal()

    def __init__(self, parent: QApplication) -> None:
        super().__init__(parent)
        self.choice = "system"
        self.type_size = SYSTEM_SIZE
        self.projector = False
        self._growth = 1.0  # of the projector's type
        self._pages: WeakSet[QWidget] = WeakSet()
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)
        self._apply(self._chosen())

    def style_when_shown(self, page: QWidget) -> None:
        """Leave a page as it is styled while it is hidden: see `hidden_pages.py`."""
        self._pages.add(page)

    def set_choice(self, choice: str) -> None:
        """Light, dark, or as the system has it."""
        if choice not in CHOICES:
            raise ValueError(choice)
        self.choice = choice
        self._apply_if_new()

    def set_type_size(self, percent: int) -> None:
        """The size of type and lengths: one of TYPE_SIZES, or SYSTEM_SIZE."""
        if percent not in (SYSTEM_SIZE, *TYPE_SIZES):
            raise ValueError(percent)
        self.type_size = percent
        self._apply_if_new()

    def set_projector(self, projector: bool, room: QSize | None = None) -> None:
        """Enlarge type and lengths for the last row of a hall, in a window as large as `room`."""
        self.projector, self._growth = projector, _growth_in(room)
        self._apply_if_new()

    def fit_projector(self, room: QSize) -> None:
        """In projector mode, type grows with the window, so that it fills as much of it as of a small one."""
        if self.projector:
            self._growth = _growth_in(room)
            self._apply_if_new()

    def draw_anew(self) -> None:
        """Have everything drawn once more, in the same theme."""
        self.theme_changed.emit()

    def _follow_system(self) -> None:
        if self.choice == "system":
            self._apply_if_new()

    def _chosen(self) -> Theme:
        dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
        chosen = {"light": LIGHT, "dark": DARK}.get(self.choice, DARK if dark else LIGHT)
        scale = (self.type_size or type_size_of_system()) / 100
        scale = max(scale, PROJECTOR_SCALE * self._growth) if self.projector else scale
        return _at_scale(chosen, scale)

    def _apply_if_new(self) -> None:
        chosen = self._chosen()
        if chosen != _current:  # Qt takes half a second to style a whole window anew
            self.theme_changing.emit()
            self._apply(chosen)

    def _apply(self, theme: Theme) -> None:
        global _current
        _current = theme
        running = application()
        for window in running.topLevelWidgets():
            _keep_delegates(window)
        if self._pages:  # no module is loaded for it before the first paint
            from lmviz.app.look.hidden_pages import pass_over_hidden

            pass_over_hidden(list(self._pages))
        running.setStyleSheet("")  # one sheet in place of another takes Qt ten times as long
        running.setPalette(_palette(_current))
        running.setFont(_current.font())
        running.setStyleSheet(stylesheet(_current))
        for window in running.topLevelWidgets():
            take_over_font(window)
        self.theme_changed.emit()


def _growth_in(room: QSize | None) -> float:
    """How much larger the projector's type is in a window of this size than in the smallest; in steps."""
    if room is None:
        return 1.0
    share = min(room.width() / PROJECTED_ROOM.width(), room.height() / PROJECTED_ROOM.height())
    return max(1.0, GROWTH_STEP * int(share / GROWTH_STEP + 1e-9))


@lru_cache
def _at_scale(theme: Theme, scale: float) -> Theme:
    """The theme in larger type, the same one each time; whoever asks compares them."""
    return theme if scale == theme.scale else replace(theme, scale=scale)


def take_over_font(top: QWidget) -> None:
    """Give the application's font to all that has none set explicitly, and has another still.

    Qt does not tell windows that were never shown; and of those that were it leaves out some widgets with
    rules in the sheet, which ones depends on the order in which it takes them.
    """
    usual = application().font()
    for widget in (top, *top.findChildren(QWidget)):
        font = widget.font()
        if not font.resolveMask() and font != usual:
            widget.setFont(QFont())


def _keep_delegates(window: QWidget) -> None:
    """Give each combo box its own delegate, which draws as Qt's does.

    Where the box has Qt's, every change of style puts another in its place and does not delete the old one.
    """
    for box in window.findChildren(QComboBox):
        if box.itemDelegate().parent() is not box:
            box.setItemDelegate(QStyledItemDelegate(box))


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
