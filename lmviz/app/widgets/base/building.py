"""What panels are put together with: rows, columns and stacks without margins, widgets with their names.

The items of a layout are Qt's. PySide6 keeps the wrapper of one that Qt has deleted, and takes for it what
comes to lie at its address. So that there are no wrappers, a layout is asked where a widget stands and never
for the item at a place, and the layout of a widget takes in no other that has been filled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, Protocol, TypeVar, runtime_checkable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QScreen, QWindow
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLayout,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import createdByPython

from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.base.steady import ComboBox

Stretch = Literal["stretch"]
STRETCH: Stretch = "stretch"
"""Among the items of a row or column: room that takes what is left over."""
Item = (
    QWidget | QLayout | Stretch | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
)
"""A widget or layout, alone, with its share of the room or also its side; a gap in pixels; or `STRETCH`."""
Margins = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels."""
NONE: Margins = (0, 0, 0, 0)
W = TypeVar("W", bound=QWidget)


def row(
    *items: Item, on: QWidget | None = None, gap: int | None = None, margins: Margins = NONE
) -> QHBoxLayout:
    """Items from left to right: the layout of the widget `on`, or of none as yet."""
    return _filled(QHBoxLayout(), items, on, gap, margins)


def column(
    *items: Item, on: QWidget | None = None, gap: int | None = None, margins: Margins = NONE
) -> QVBoxLayout:
    """Items from top to bottom: the layout of the widget `on`, or of none as yet."""
    return _filled(QVBoxLayout(), items, on, gap, margins)


def sheet(layout: QLayout) -> QWidget:
    """A widget that holds a layout and nothing else."""
    widget = QWidget()
    widget.setLayout(layout)
    return widget


def fill(row: QBoxLayout, shown: list[W], count: int, make: Callable[[int], W]) -> None:
    """Have `count` widgets, which are `shown`, stand first in a row; `make` makes the one at a place."""
    while len(shown) > count:
        _remove(row, shown.pop())
    while len(shown) < count:
        shown.append(make(len(shown)))
        row.insertWidget(len(shown) - 1, shown[-1], 1)


def stand_first(row: QBoxLayout, widgets: Sequence[QWidget]) -> None:
    """Have these widgets stand first in a row, in this order; those that do are not touched."""
    for place, widget in enumerate(widgets):
        if row.indexOf(widget) != place:
            row.insertWidget(place, widget)


def empty(layout: QLayout) -> None:
    """Take away all widgets that stand in the layout of a widget."""
    within = layout.parentWidget()
    for widget in within.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if layout.indexOf(widget) >= 0:
            _remove(layout, widget)


def _remove(layout: QLayout, widget: QWidget) -> None:
    layout.removeWidget(widget)
    widget.hide()
    widget.deleteLater()


class Pages(QStackedWidget):
    """Pages of which one is shown. Another gets no keys in the place of the one that had them.

    Qt would give them to its first field, which they would change without having been asked for.
    """

    def setCurrentIndex(self, index: int) -> None:
        if index != self.currentIndex():
            leave_keys(self.currentWidget())
        super().setCurrentIndex(index)

    def setCurrentWidget(self, page: QWidget) -> None:
        self.setCurrentIndex(self.indexOf(page))


@runtime_checkable
class KeyHolder(Protocol):
    """A window that remembers where Tab goes on from."""

    def take_keys_from(self, left: QWidget) -> None:
        """Have the keys, in the place of what is hidden or can no longer be used."""


def leave_keys(page: QWidget | None) -> None:
    """Give the keys to the window, if something within a page has them."""
    held = None if page is None else page.window().focusWidget()
    if page is None or held is None or not page.isAncestorOf(held):
        return
    window = page.window()
    if isinstance(window, KeyHolder):
        window.take_keys_from(held)
    else:
        window.setFocus()


def next_by_tab(left: QWidget, forward: bool) -> QWidget | None:
    """What Tab, or Shift+Tab, leads to from something that may have gone: itself, if it is there again."""
    found = left
    while not takes_tab(found):
        following = beside_by_tab(found, forward)
        if following is None or following is left:
            return None
        found = following
    return found


def beside_by_tab(widget: QWidget, forward: bool) -> QWidget | None:
    """What stands right after a widget in the order of Tab, or right before it, seen or not."""
    found = widget.nextInFocusChain() if forward else widget.previousInFocusChain()
    return _with_its_parent(found)


def reach_by_tab(before: QWidget, part: QWidget) -> None:
    """Have Tab lead from a widget to the controls of a part made later, which Qt puts behind all others.

    The widget need not take the keys itself: it may be what the part stands in, or beside.
    """
    added = (one for one in (part, *part.findChildren(QWidget)) if one is not before)
    own = part.window()  # and not the list of a picker, say, which is another
    controls = [one for one in added if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.window() is own]
    for control in controls:
        # Qt puts nothing behind what takes no keys, nor past some that take none, yet may later
        with _taking_tab(before), _taking_tab(beside_by_tab(before, forward=True)):
            QWidget.setTabOrder(before, control)
        before = control


@contextmanager
def _taking_tab(widget: QWidget | None) -> Iterator[None]:
    """Have Tab stop at a widget meanwhile."""
    if widget is None:
        yield
        return
    policy = widget.focusPolicy()
    widget.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    yield
    widget.setFocusPolicy(policy)


def takes_tab(widget: QWidget) -> bool:
    """Whether Tab stops at it."""
    takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isVisible() and widget.isEnabled()
    return takes and _with_its_parent(widget.focusProxy()) is None


def _with_its_parent(found: QWidget | None) -> QWidget | None:
    """A widget that was found from another one, which PySide6 now takes for its parent.

    What has a wrong parent is deleted with it, or by Python's collector once such parents form a circle. All
    above it are told as well: what Qt made for itself, such as the stack of a tab widget, is known to nothing
    in Python, and would give its children up when it is forgotten.
    """
    inner = found
    while inner is not None:
        parent = inner.parentWidget()
        if parent is not None:
            inner.setParent(parent)  # nothing to Qt, which knows it
        elif createdByPython(inner):
            QStackedWidget().removeWidget(inner)  # it never was there, but has no parent for PySide6 now
        inner = parent
    return found


def give_menu(button: QPushButton | QToolButton) -> QMenu:
    """A menu that a button opens from now on; whoever fills it keeps it, and need not ask the button."""
    menu = QMenu(button)
    button.setMenu(menu)
    return menu


def screen_of(widget: QWidget) -> QScreen:
    """The screen on which the middle of a widget is, or else the first one."""
    middle = widget.mapToGlobal(widget.rect().center())
    return QGuiApplication.screenAt(middle) or QGuiApplication.primaryScreen()


def handle_of(window: QWidget) -> QWindow | None:
    """The system's window of a window, to which all that is done in it comes first; None until shown."""
    if not window.testAttribute(Qt.WidgetAttribute.WA_WState_Created):
        return None
    shown = window.winId()
    return next((each for each in QGuiApplication.topLevelWindows() if each.winId() == shown), None)


def name_with(label: QLabel, control: QWidget) -> None:
    """Have a label say what a control is: to a reader of the screen, and to the keys."""
    label.setBuddy(control)
    _with_its_parent(control)


def stack(*pages: QWidget) -> Pages:
    """Pages of which one is shown; at first the first."""
    stacked = Pages()
    for page in pages:
        stacked.addWidget(page)
    return stacked


def named(widget: W, name: str = "", description: str = "", *, role: str = "") -> W:
    """A widget with the name that lessons and tests find it by, what assistive tools say, and its looks.

    `role` is one of the style sheet's.
    """
    if name:
        widget.setObjectName(name)
    if description:
        widget.setAccessibleName(description)
    if role:
        widget.setProperty("role", role)
    return widget


def picker(
    name: str, description: str, choices: Iterable[str] = (), *, least: int = 0, role: str = ""
) -> QComboBox:
    """A choice of one among several; with `least` it may be as narrow as so many letters."""
    made = named(ComboBox(), name, description, role=role)
    made.addItems(list(choices))
    if least:
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        made.setMinimumContentsLength(least)
    return made


def explain_choices(box: QComboBox, tips: Iterable[str]) -> None:
    """Give each word that can be chosen a tip of its own, seen where the list is open."""
    for place, tip in enumerate(tips):
        box.setItemData(place, paragraph(tip), Qt.ItemDataRole.ToolTipRole)


L = TypeVar("L", bound=QBoxLayout)


def _filled(layout: L, items: Iterable[Item], on: QWidget | None, gap: int | None, margins: Margins) -> L:
    layout.setContentsMargins(*margins)
    if gap is not None:
        layout.setSpacing(gap)
    for item in items:
        match item:
            case "stretch":
                layout.addStretch(1)
            case int():
                layout.addSpacing(item)
            case QLayout():
                layout.addLayout(item)
            case QWidget():
                layout.addWidget(item)
            case (QLayout() as inner, share):
                layout.addLayout(inner, share)
            case (QWidget() as widget, share):
                layout.addWidget(widget, share)
            case (QWidget() as widget, share, side):
                layout.addWidget(widget, share, side)
    if on is not None:
        on.setLayout(layout)  # not before it is filled
    return layout
