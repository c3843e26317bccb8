"""What a widget overrides may fail as any function may: the fault is reported, and Qt gets a plain answer.

Left alone, PySide6 raises the exception again in whatever Python code called Qt at that moment: a picture
that cannot say how large it is would stop the slot that shows it, and, in the first turns of the event loop,
the program. So the methods that Qt calls end here: what they raise goes to the hook of `faults.py`.

A method that Python code calls as well, such as `setText`, raises as ever. Before Python 3.12 an exception
that comes from C code, such as the IndexError of a list, stays a type and a message until Python code catches
it. Where such a one leaves a method that Qt called, PySide6 6.9 to 6.11 reads its arguments, which are not
there, and the process crashes. So the exception is caught once and raised again: it is whole from then on.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from PySide6.QtCore import QObject, QRectF, QSize, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QLayout


def clear_picture() -> QImage:
    """A picture of one clear point."""
    picture = QImage(1, 1, QImage.Format.Format_ARGB32)
    picture.fill(0)
    return picture


NOTHING = {
    *("paint", "paintSection", "drawForeground", "highlightBlock"),
    *("tabInserted", "tabRemoved", "initStyleOption", "setGeometry"),
}
"""Overrides that answer nothing, beside those of events."""
ANSWERS: dict[str, Callable[[], Any]] = {
    "eventFilter": bool,
    "rowCount": int,
    "columnCount": int,
    "count": int,
    "data": lambda: None,
    "headerData": lambda: None,
    "itemAt": lambda: None,
    "takeAt": lambda: None,
    "boundingRect": QRectF,
    "loadResource": clear_picture,  # in place of nothing, Qt would open the file that a text names
}
"""What Qt is answered in the place of overrides for which it has no answer of its own."""
OF_LAYOUTS: dict[str, Callable[[], Any]] = {
    "sizeHint": QSize,
    "minimumSize": QSize,
    "hasHeightForWidth": bool,
    "heightForWidth": lambda: -1,
    "expandingDirections": lambda: Qt.Orientation(0),
}
"""The same for a layout: these are abstract there, and the process ends where they are called."""
QT_ANSWERS = {
    *("sizeHint", "minimumSizeHint", "heightForWidth", "hasHeightForWidth", "event", "helpEvent"),
    *("focusNextPrevChild", "flags", "textFromValue"),
}
"""Overrides in whose place Qt's own method answers."""


def guard_overrides() -> None:
    """Have the Python methods that Qt calls end as above: of the classes there are, and of all to come."""
    for kind in _descendants(QObject):
        _guard(kind)
    setattr(QObject, "__init_subclass__", classmethod(_guard_new))  # noqa: B010, for mypy takes it for fixed


def _guard_new(kind: Any, /, **settings: Any) -> None:
    """What Python calls with every class that derives from QObject."""
    super(QObject, kind).__init_subclass__(**settings)  # Generic, for one, has to do something, too
    _guard(kind)


def _guard(kind: type) -> None:
    """Guard what a class, or one beside Qt's among its bases, has in the place of Qt's methods."""
    if kind.__module__.startswith("PySide6"):
        return
    of_qt = next((base for base in kind.__mro__ if base.__module__.startswith("PySide6")), object)
    for base in kind.__mro__:
        if base is not kind and (issubclass(base, QObject) or base.__module__ in ("builtins", "typing")):
            continue  # guarded before, or nothing of ours
        for name, method in list(vars(base).items()):
            is_override = type(method) is FunctionType and not name.startswith("_") and hasattr(of_qt, name)
            if is_override and not hasattr(method, "guards"):
                setattr(base, name, _guarded(method, _answer_for(name, of_qt)))


def _guarded(method: Callable[..., Any], answers: Callable[..., Any] | None) -> Callable[..., Any]:
    @functools.wraps(method)
    def override(*given: Any, **named: Any) -> Any:
        try:
            return method(*given, **named)
        except Exception as fault:
            if answers is None:
                raise  # whole, since it was caught
            sys.excepthook(type(fault), fault, fault.__traceback__)
        except BaseException:
            raise
        return answers(*given, **named)

    override.guards = method  # type: ignore[attr-defined]  # as functools has it in __wrapped__
    return override


def _answer_for(name: str, of_qt: type) -> Callable[..., Any] | None:
    """What answers Qt in the place of an override that failed; None for what Python calls as well."""
    if name.endswith("Event") or name in NOTHING:
        return lambda *given, **named: None
    plain = ANSWERS | OF_LAYOUTS if issubclass(of_qt, QLayout) else ANSWERS
    if name in plain:
        return lambda *given, **named: plain[name]()
    return getattr(of_qt, name) if name in QT_ANSWERS else None


def _descendants(kind: type) -> set[type]:
    """All classes that derive from one."""
    children: set[type] = set(type.__subclasses__(kind))
    return children.union(*(_descendants(child) for child in children))
