"""Rows whose widgets come and go with what is compared or read.

The items of a layout are Qt's. PySide6 keeps the wrapper of one that Qt has deleted, and takes for it what
comes to lie at its address. So that there are no wrappers, a layout is asked where a widget stands and never
for the item at a place, and the layout of a widget takes in no other that has been filled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

W = TypeVar("W", bound=QWidget)


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
