"""What a widget overrides may fail as any function may, without ending the process.

Before Python 3.12 an exception that comes from C code, such as the IndexError of a list, stays a type and a
message until Python code catches it. Where such a one leaves a method that Qt called, PySide6 6.9 to 6.11
reads its arguments, which are not there, and the process crashes. So these methods catch it once and raise it
again: it is whole from then on, and ends in the hook of `faults.py`.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from PySide6.QtCore import QObject

WHOLE_BY_ITSELF = (3, 12)
"""The version of Python from which on every exception is whole."""


def guard_overrides() -> None:
    """Have the Python methods that Qt calls fail whole: of the classes there are, and of all to come."""
    if sys.version_info >= WHOLE_BY_ITSELF:
        return
    for kind in _descendants(QObject):
        _guard(kind)
    setattr(QObject, "__init_subclass__", classmethod(_guard_new))  # noqa: B010, for mypy takes it for fixed


def _guard_new(kind: Any, /, **settings: Any) -> None:
    """What Python calls with every class that derives from QObject."""
    super(QObject, kind).__init_subclass__(**settings)  # Generic, for one, has to do something, too
    _guard(kind)


def _guard(kind: type) -> None:
    """Guard what a class defines in the place of a method of Qt's."""
    if kind.__module__.startswith("PySide6"):
        return
    of_qt = next((base for base in kind.__mro__ if base.__module__.startswith("PySide6")), object)
    for name, method in list(vars(kind).items()):
        if type(method) is FunctionType and not name.startswith("_") and hasattr(of_qt, name):
            setattr(kind, name, _guarded(method))


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def override(*given: Any, **named: Any) -> Any:
        try:
            return method(*given, **named)
        except BaseException:
            raise  # whole, since it was caught

    return override


def _descendants(kind: type) -> set[type]:
    """All classes that derive from one."""
    children: set[type] = set(type.__subclasses__(kind))
    return children.union(*(_descendants(child) for child in children))
