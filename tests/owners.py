"""Who keeps what alive in Python, compared with Qt's tree of widgets, and what it keeps of what is gone.

PySide6 writes down an owner of its own for each object of Qt's: the parent, layout or group that it is given
to, but also what `nextInFocusChain`, `setBuddy` and their like are called on. Where the owner is not above
the object in Qt's tree, Python's collector may delete widgets that Qt still uses.
"""

from __future__ import annotations

import ctypes

import PySide6
from PySide6.QtWidgets import QApplication, QLayout, QLayoutItem, QWidget
from shiboken6 import Shiboken

from lmviz.app.widgets.base.flow import FlowLayout

PRIVATE = 32  # bytes from the start of a wrapper to the pointer to its data
FAMILY = 16  # from there to the pointer to its owner and what it owns


def owner_of(thing: object) -> object | None:
    """What PySide6 takes for the owner of a wrapper, which it tells nobody: read where 6.10 keeps it."""
    family = _pointer(_pointer(id(thing) + PRIVATE) + FAMILY)
    owner = _pointer(family) if family else 0
    return ctypes.cast(owner, ctypes.py_object).value if owner else None


def _pointer(address: int) -> int:
    return ctypes.c_size_t.from_address(address).value


def can_be_told() -> bool:
    """Whether this PySide6 keeps owners where they are looked for."""
    if PySide6.__version_info__[:2] != (6, 10):
        return False  # what lies there may be no address
    above = QWidget()
    below = QWidget(above)
    return owner_of(below) is above and owner_of(above) is None


def wrong_owners() -> list[str]:
    """The widgets whose owner in Python is not above them for Qt, nor a layout or group of one that is."""
    assert QApplication.instance() is not None
    found = []
    widgets = [thing for thing in Shiboken.getAllValidWrappers() if isinstance(thing, QWidget)]
    for widget, owner in [(widget, owner_of(widget)) for widget in widgets]:  # asking below makes owners
        if owner is None or not Shiboken.isValid(owner):
            continue
        above, each = [], widget
        while (each := each.parentWidget()) is not None:
            above.append(each)
        keeper = owner
        while keeper is not None and not isinstance(keeper, QWidget):
            keeper = keeper.parent()
        if keeper not in above:
            found.append(f"{_in_words(widget)} belongs to {_in_words(owner)} in Python")
    return sorted(found)


def items_known() -> list[str]:
    """The layouts that own the wrapper of an item, for each: Qt deletes the item without a word to PySide6.

    The items of a `FlowLayout` are its own, and it gives them up before Qt deletes them. What is known to be
    gone has no owner any more. Nothing is asked of the items, which may be gone without being known to be.
    """
    wrappers = Shiboken.getAllValidWrappers()
    items = [item for item in wrappers if isinstance(item, QLayoutItem) and not isinstance(item, QLayout)]
    layouts = [owner for owner in map(owner_of, items) if isinstance(owner, QLayout)]
    known = [layout for layout in layouts if not isinstance(layout, FlowLayout)]
    return sorted(f"{type(layout).__name__} of {_in_words(layout.parentWidget())}" for layout in known)


def _in_words(thing: object) -> str:
    return f"{type(thing).__name__} {getattr(thing, 'objectName', str)()}".strip()
