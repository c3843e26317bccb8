"""Rows whose widgets come and go with what is compared or read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtWidgets import QBoxLayout, QLayout, QWidget

W = TypeVar("W", bound=QWidget)


def fill(row: QBoxLayout, shown: list[W], count: int, make: Callable[[int], W]) -> None:
    """Have `count` widgets, which are `shown`, stand first in a row; `make` makes the one at a place."""
    while len(shown) > count:
        _remove(row, shown.pop())
    while len(shown) < count:
        shown.append(make(len(shown)))
        row.insertWidget(len(shown) - 1, shown[-1], 1)


def empty(layout: QLayout) -> None:
    """Take away all that stands in a layout."""
    while (item := layout.itemAt(0)) is not None and (widget := item.widget()) is not None:
        _remove(layout, widget)


def _remove(layout: QLayout, widget: QWidget) -> None:
    layout.removeWidget(widget)
    widget.hide()
    widget.deleteLater()
