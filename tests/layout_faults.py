"""What is wrong with how a window is laid out, found without knowing what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPixmap, QPolygonF, QRegion
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenuBar,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QStyleOptionFrame,
    QTabBar,
    QWidget,
)

from lmviz.app.widgets.base.canvas import Canvas

OF_QT = (QAbstractSpinBox, QComboBox, QHeaderView, QMenuBar, QTabBar)
"""What lays out its own parts."""
LAID_OVER = ("PlotNames", "_Veil", "UnrolledHandover", "Messages")
"""What lies over others on purpose: names with leaders, what pales a card, lines between pictures."""
EDGE, OVER = 0.5, 2  # pixels: beyond the edge of a widget, and over another text
IN_FIELD = 4  # pixels that Qt keeps free in a field beside its text
BESIDE, ABOVE = 1.0, 0.22  # of a text's area: pixels left and right, and the share that has no small letter


def faults_of(root: QWidget) -> list[str]:
    """Widgets below their least size or out of their parent, or over one another; sentences without room for
    all their lines, and numbers in fields without room for all digits; what can be scrolled and does not say
    so; painted texts that are cut or over one another."""
    seen = [widget for widget in root.findChildren(QWidget) if _is_seen(widget)]
    found = [fault for widget in seen for fault in (*_too_small(widget), *_beyond(widget))]
    found += [fault for parent in (root, *seen) for fault in _over_one_another(parent)]
    found += [fault for label in seen if isinstance(label, QLabel) for fault in _lines_without_room(label)]
    found += [fault for field in root.findChildren(QLineEdit) for fault in _cut_number(field)]
    areas = [widget for widget in seen if isinstance(widget, QAbstractScrollArea)]
    found += [fault for area in areas for fault in _hidden(area)]
    return found + [f"{_name(canvas)}: {fault}" for canvas in _canvases(seen) for fault in _painted(canvas)]


def _canvases(seen: list[QWidget]) -> list[Canvas]:
    return [widget for widget in seen if isinstance(widget, Canvas)]


def _is_seen(widget: QWidget) -> bool:
    is_of_qt = widget.objectName().startswith("qt_")
    if is_of_qt or not widget.isVisible() or widget.isWindow() or widget.visibleRegion().isEmpty():
        return False
    return not isinstance(widget, QHeaderView | QMenuBar) and not isinstance(widget.parentWidget(), OF_QT)


def _too_small(widget: QWidget) -> Iterator[str]:
    least = _least(widget)
    if widget.width() < least.width() - 1 or widget.height() < least.height() - 1:
        yield f"{_name(widget)} is {widget.size().toTuple()}, needs {least.toTuple()}"


def _least(widget: QWidget) -> QSize:
    """As Qt has it: what was set counts more than what the widget asks for."""
    shown = widget.currentWidget() if isinstance(widget, QStackedWidget) else None  # others need no room now
    hint = (shown or widget).minimumSizeHint()
    policy, ignored = widget.sizePolicy(), QSizePolicy.Policy.Ignored
    wide = 0 if policy.horizontalPolicy() == ignored else max(0, hint.width())
    high = 0 if policy.verticalPolicy() == ignored else max(0, hint.height())
    least = QSize(widget.minimumWidth() or wide, widget.minimumHeight() or high)
    return least.boundedTo(widget.maximumSize())


def _beyond(widget: QWidget) -> Iterator[str]:
    """What reaches out of its parent on a side to which nobody can scroll."""
    parent, place = widget.parentWidget(), widget.geometry()
    area, never = parent.parentWidget(), Qt.ScrollBarPolicy.ScrollBarAlwaysOff
    in_area = isinstance(area, QAbstractScrollArea)
    scrolls_sideways = in_area and area.horizontalScrollBarPolicy() != never
    scrolls_up = in_area and area.verticalScrollBarPolicy() != never
    is_wide = not scrolls_sideways and (place.left() < -1 or place.right() > parent.width())
    is_high = not scrolls_up and (place.top() < -1 or place.bottom() > parent.height())
    if is_wide or is_high:
        yield f"{_name(widget)} is cut: {place.getRect()} in {parent.size().toTuple()}"


def _over_one_another(parent: QWidget) -> Iterator[str]:
    if isinstance(parent, (QStackedWidget, QAbstractScrollArea)):
        return
    children = [child for child in parent.children() if isinstance(child, QWidget) and _is_seen(child)]
    for one, other in combinations(children, 2):
        common = one.geometry().intersected(other.geometry())
        if min(common.width(), common.height()) > 1 and not {_kind(one), _kind(other)} & set(LAID_OVER):
            yield f"{_name(one)} and {_name(other)} lie over one another"


def _lines_without_room(label: QLabel) -> Iterator[str]:
    if label.wordWrap() and label.text() and label.heightForWidth(label.width()) > label.height() + 1:
        yield f"{_name(label)} has no room for all of {label.text()!r}"


def _cut_number(field: QLineEdit) -> Iterator[str]:
    """A sentence can be walked through; half a number is another number."""
    if not field.isVisible() or field.visibleRegion().isEmpty() or not any(map(str.isdigit, field.text())):
        return
    option = QStyleOptionFrame()
    field.initStyleOption(option)
    room = (
        field.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, field).width() - IN_FIELD
    )
    wide = field.fontMetrics().horizontalAdvance(field.text())
    if " " not in field.text() and wide > room + 1:
        yield f"{_name(field)} has {room} for {field.text()!r}, which needs {wide}"


def _hidden(area: QAbstractScrollArea) -> Iterator[str]:
    """What can be scrolled shows that it can."""
    for bar in (area.verticalScrollBar(), area.horizontalScrollBar()):
        if bar.maximum() > bar.minimum() and not bar.isVisible():
            yield f"{_name(area)} hides {bar.maximum() - bar.minimum()} without a sign"


def _painted(canvas: Canvas) -> Iterator[str]:
    texts: list[tuple[str, QPolygonF, bool]] = []
    picture = QPixmap(canvas.size())
    with noted_texts(texts):
        canvas.render(picture, QPoint(), QRegion(), QWidget.RenderFlag.DrawWindowBackground)
    within = QRectF(canvas.rect()).adjusted(-EDGE, -EDGE, EDGE, EDGE)
    for text, area, is_cut in texts:
        if is_cut or not within.contains(area.boundingRect()):
            yield f"{text!r} is cut"
    for (text, area, _), (other, place, _) in combinations(texts, 2):
        if area.boundingRect().intersects(place.boundingRect()) and (text, area) != (other, place):
            common = area.intersected(place).boundingRect()
            if min(common.width(), common.height()) > OVER:
                yield f"{text!r} and {other!r} are written over one another"


@contextmanager
def noted_texts(texts: list[tuple[str, QPolygonF, bool]]) -> Iterator[None]:
    """Write down each text that is painted, where, and whether a part of it has no room."""
    paint = QPainter.drawText

    def noted(painter: QPainter, *given: object) -> object:
        text = next(each for each in given if isinstance(each, str))
        measure, place = QFontMetricsF(painter.font()), given[0]
        flags = getattr(given[1], "value", given[1]) if isinstance(place, QRect | QRectF) else 0
        area, is_cut = None, False
        if isinstance(place, QRect | QRectF) and isinstance(flags, int):
            area = measure.boundingRect(QRectF(place), flags, text)
            may_be_larger = flags & (Qt.TextFlag.TextDontClip.value | Qt.TextFlag.TextWordWrap.value)
            is_cut = not may_be_larger and area.width() > place.width() + 1
        elif isinstance(place, QPoint | QPointF):
            wide, high = measure.horizontalAdvance(text), measure.height()
            area = QRectF(place.x(), place.y() - measure.ascent(), wide, high)
        if area is not None and text.strip():
            high = area.height() * ABOVE
            inked = area.adjusted(BESIDE, high, -BESIDE, -high)
            texts.append((text, painter.combinedTransform().map(QPolygonF(inked)), is_cut))
        return paint(painter, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(QPainter, "drawText", noted)
        yield


def _kind(widget: QWidget) -> str:
    return type(widget).__name__


def _name(widget: QWidget) -> str:
    """Its kind and name, and the panel in which it stands."""
    above: QWidget | None = widget
    while above is not None and not above.objectName().endswith(("_view", "_bar", "transport")):
        above = above.parentWidget()
    place = above.objectName() if above is not None and above is not widget else ""
    return " ".join(part for part in (_kind(widget), widget.objectName(), f"in {place}") if part)
