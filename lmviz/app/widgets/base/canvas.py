"""The base of every widget that paints itself: theme, lengths and type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, wraps
from typing import Any, ClassVar, TypeVar, cast

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QHelpEvent, QPainter
from PySide6.QtWidgets import QToolTip, QWidget

from lmviz.app.look.roles import TEXT_SIZE, Theme
from lmviz.app.look.theme import application, current_theme, theme_switch
from lmviz.app.widgets.base.focus_ring import draw_ring, reached_by_key
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter, cut, measure_of

Widget = TypeVar("Widget", bound="Canvas")
Kept = TypeVar("Kept")


def once(measure: Callable[[Widget], Kept]) -> Callable[[Widget], Kept]:
    """A method that measures what is drawn, and does so once for each picture: the answer is kept until the
    canvas shows something else (`update`), has another size or another theme. Give back what nobody changes.

    So the pointer may ask where something is as often as it moves.
    """

    @wraps(measure)
    def kept(canvas: Widget) -> Kept:
        measured = canvas._answers_once()
        if measure not in measured:
            measured[measure] = measure(canvas)
        return cast("Kept", measured[measure])

    return kept


class Canvas(Painted, QWidget):
    """A widget that paints itself in the theme's colours and scale: subclasses say how in `paint`.

    Subclasses override `adopt_theme` when they hold something that depends on the theme.
    """

    spoken_as: ClassVar[str] = "Graphic"
    """What a screen reader calls it: the name of a role of QAccessible (`spoken_role.py`)."""

    usual: ClassVar[tuple[float, float] | None] = None
    least: ClassVar[tuple[float, float | None] | None] = None
    """The width and height that a layout gives it and that it needs, in pixels at scale 1, where they do not
    depend on what it shows. A least height of None is the usual one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._reached_by_key = False
        self._cut: list[tuple[QRectF, str]] = []
        self._has_cut = False
        self._once_answers: dict[Callable[..., Any], Any] = {}
        self._once_for: tuple[Theme, int, int] | None = None
        theme_switch().theme_changed.connect(self.adopt_theme)

    @property
    def theme(self) -> Theme:
        """The theme in force."""
        return current_theme()

    def length(self, pixels: float) -> float:
        """A length at the theme's scale, in logical pixels."""
        return pixels * self.theme.scale

    def usual_length(self, pixels: float) -> float:
        """A length of hints of sizes, which do not grow with what is drawn."""
        return self.length(pixels)

    def sizeHint(self) -> QSize:
        return super().sizeHint() if self.usual is None else self._sized(*self.usual)

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint() if self.least is None else self._sized(*self.least)

    def _sized(self, width: float, height: float | None) -> QSize:
        high = self.sizeHint().height() if height is None else round(self.usual_length(height))
        return QSize(round(self.usual_length(width)), high)

    def update(self, *area: Any) -> None:
        """Draw again, for something else is shown."""
        self._once_answers = {}
        super().update(*area)

    def draw_again(self) -> None:
        """Draw again, for something is marked otherwise that stays where it is."""
        super().update()

    def _answers_once(self) -> dict[Callable[..., Any], Any]:
        """What was measured for the picture that there is now, by the methods that did."""
        theme, width, height = self.theme, self.width(), self.height()
        for_this = self._once_for
        if for_this is None or for_this[0] is not theme or for_this[1:] != (width, height):
            self._once_answers, self._once_for = {}, (theme, width, height)
        return self._once_answers

    def adopt_theme(self) -> None:
        """Draw and measure again, in the new theme."""
        self.updateGeometry()
        self.update()

    def begin(self) -> Painter:
        """A painter with smooth edges, in the theme's ordinary font and text colour."""
        self._cut = []
        painter = Painter(self, self.theme)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.setFont(self.theme.font())
        painter.setPen(self.theme.text)
        return painter

    def shown_in(self, area: QRectF, text: str, measure: QFontMetricsF) -> str:
        """What of a text is painted in an area; where not all of it fits, the pointer brings the whole."""
        shown = cut(text, area.width(), measure)
        if shown != text:
            self.hide_part(area, text)
        return shown

    def hide_part(self, area: QRectF, text: str) -> None:
        """Of this text only a part is painted in the area: the pointer brings the whole."""
        if not self._has_cut:
            self._has_cut = True
            self.installEventFilter(_whole_texts())
        self._cut.append((QRectF(area), text))

    def room_beside(self, labels: Sequence[str], least: float, size: float) -> float:
        """The room left of a plot, in which its numbers stand with all their digits; at least so much."""
        widest = max((metrics(size).horizontalAdvance(label) for label in labels), default=0.0)
        return max(self.length(least), widest + self.length(8))

    def whole_at(self, place: QPointF) -> str:
        """The text of which only a part is painted at a place; empty where nothing is cut."""
        return next((text for area, text in self._cut if area.contains(place)), "")

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._reached_by_key = reached_by_key(event)
        super().focusInEvent(event)

    def draw_focus(self, painter: Painter, area: QRectF | None = None) -> None:
        """The ring of the keyboard's focus, around an area or the whole widget."""
        if self.hasFocus() and self._reached_by_key:
            draw_ring(painter, QRectF(self.rect()) if area is None else area)


class _WholeTexts(QObject):
    """Shows the whole of a text where the pointer rests on a part of it.

    A filter, and only for widgets that have cut a text: a method `event` of every canvas would have Python
    called for each event of each widget, a tenth of the time in which a window opens.
    """

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not (isinstance(event, QHelpEvent) and isinstance(watched, Canvas)):
            return False
        if event.type() != QEvent.Type.ToolTip:
            return False
        whole = watched.whole_at(QPointF(event.pos()))
        if whole:
            QToolTip.showText(event.globalPos(), paragraph(whole), watched)
        return bool(whole)


@cache
def _whole_texts() -> _WholeTexts:
    """The one that all canvases share."""
    return _WholeTexts(application())


def metrics(
    size: float = TEXT_SIZE, *, token: bool = False, bold: bool = False, theme: Theme | None = None
) -> QFontMetricsF:
    """Measures of the font of a theme, by default of that in force, or of its font for tokens."""
    return measure_of(theme or current_theme(), size, token, bold)


def fitted(
    text: str, room: float, sizes: Sequence[float], *, bold: bool = False, theme: Theme | None = None
) -> tuple[str, float]:
    """A text and the first of some sizes in which it fits; in the last it ends in dots if need be."""
    measures = {size: metrics(size, bold=bold, theme=theme) for size in sizes}
    fitting = (size for size, measure in measures.items() if measure.horizontalAdvance(text) <= room)
    size = next(fitting, sizes[-1])
    return cut(text, room + 0.5, measures[size]), size
