"""What a screen reader calls a widget that Qt knows nothing of: a picture, a chart, a group of controls.

Qt takes whatever paints itself for a "client area", which readers pass over. A class says otherwise in
`spoken_as`, the name of a role of QAccessible. One factory serves all: it is asked once for each widget that
a reader comes to, or that is given a name. Qt owns what it returns, and deletes it with the widget; PySide
6.10 keeps its empty wrapper, some hundred bytes.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QObject
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QAccessibleWidget, QWidget

GROUPS = {"QWidget": "Grouping", "QScrollArea": "Pane", "QAbstractScrollArea": "Pane"}
"""Qt's own classes that hold others; it asks for these after the Python classes that derive from them."""


@lru_cache
def install_roles() -> None:
    """Have widgets say what they are, from now on."""
    QAccessible.installFactory(_interface)


def _interface(kind: str, thing: QObject) -> QAccessibleInterface | None:
    """What speaks for a widget; None leaves it to Qt."""
    role = getattr(thing, "spoken_as", "") or GROUPS.get(kind, "")
    if not role or not isinstance(thing, QWidget):
        return None
    return QAccessibleWidget(thing, QAccessible.Role[role], "")
