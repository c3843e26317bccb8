"""Imports that do less: what PySide6, numpy, pyqtgraph and torch load and the window never uses.

What a library loads is known of the version in constraints.txt: of another one nothing is left out.
"""

from __future__ import annotations

import builtins
import importlib
import operator
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

TESTED = {"numpy": "2.4.6", "pyqtgraph": "0.14.0", "shiboken6": "6.10.3", "torch": "2.13.0"}
"""The versions of constraints.txt, which all this was tried with. PySide6 has that of shiboken6."""


def import_lean() -> None:
    """Import PySide6, and prepare for numpy and torch, without what the window never uses."""
    others = {library for library in TESTED if not is_tested(library)}
    for part in [part for part in LEFT_OUT if LIBRARIES.get(part, part.partition(".")[0]) in others]:
        del LEFT_OUT[part]
    if not any(isinstance(finder, LeavingOut) for finder in sys.meta_path):
        sys.meta_path.insert(0, LeavingOut())
    if "shiboken6" not in others:
        _import_as_ever()


def is_tested(library: str) -> bool:
    """Whether a library is there in the version of `TESTED`, by the name of the folder beside it.

    A build has a "+" behind its version. Python's own module for that takes ten milliseconds to import.
    """
    found = PathFinder.find_spec(library)
    if found is None or found.origin is None:
        return False
    try:
        beside = os.listdir(os.path.dirname(os.path.dirname(found.origin)))
    except OSError:
        return False
    begins = f"{library}-{TESTED[library]}"
    return any(name.lower().startswith((f"{begins}.dist", f"{begins}+")) for name in beside)


def _import_as_ever() -> None:
    """Import PySide6, and keep it from having a hand in every import after it.

    It puts a function of its own in the place of Python's, for whoever switches a feature on, and looks for
    its own name in the source of each module that is imported: lmviz switches none. The sources take longer
    than the imports, and the function is called with every statement of import, also those within functions.
    """
    importlib.import_module("PySide6")
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):  # a private name: where it is another, all is only slower
        feature._mod_uses_pyside = lambda module: False
    importlib.import_module("PySide6.QtCore")  # which puts it there
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)


class LeftOut(ModuleType):
    """The little that is asked of a part of a library.

    Whoever wants more has it whole, and the other parts of that library too.
    """

    def __getattr__(self, name: str) -> Any:
        is_made = sys.modules.get(self.__name__) is self  # Python asks for more while it makes one
        is_path = name == "__path__" and self.__name__ == "torch._dynamo"  # by which modules in it are found
        if name.startswith("__") and not (is_path and is_made):
            raise AttributeError(name)
        library = self.__name__.partition(".")[0]
        for part in [part for part in LEFT_OUT if part.partition(".")[0] == library]:
            del LEFT_OUT[part]
            if isinstance(sys.modules.get(part), LeftOut):
                del sys.modules[part]
        whole = importlib.import_module(self.__name__)
        vars(self).update(vars(whole))  # for whoever holds this one
        return getattr(whole, name)


class CompilerOff(LeftOut):
    """What torch's optimizers need of its compiler: they import it, and sympy with it, only to turn it off.

    It takes 75 MB.
    """

    @staticmethod
    def disable(function: Any, *arguments: object, **settings: object) -> Any:
        return function

    @staticmethod
    def graph_break() -> None:
        pass


class PlainShapes(LeftOut):
    """What `torch.autograd.grad` needs of symbolic shapes, and sympy with them, to compare two shapes.

    Lengths are numbers wherever nothing is compiled.
    """

    expect_true = staticmethod(bool)
    sym_eq = staticmethod(operator.eq)


class PlainTypes(LeftOut):
    """What numpy needs of its types for type checkers: one name, to annotate with."""

    NDArray = list


class QtWhenAsked(LeftOut):
    """A module of Qt's for pyqtgraph, which copies all of its names: PySide6 would make every class for that.

    What is there it does not copy. While it looks, everything is there; after that what is asked for is Qt's.
    """

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and not hasattr(sys.modules["pyqtgraph.Qt"], "isQObjectAlive"):
            return None
        found = getattr(importlib.import_module(f"PySide6.{self.__name__.rpartition('.')[2]}"), name)
        setattr(self, name, found)
        return found


LEFT_OUT: dict[str, type[LeftOut]] = {
    "torch._dynamo": CompilerOff,
    "torch.fx.experimental.symbolic_shapes": PlainShapes,
    "numpy._typing": PlainTypes,
    "numpy._core._add_newdocs": LeftOut,  # the docstrings of what is written in C
    "numpy._core._add_newdocs_scalars": LeftOut,
    "shibokensupport.signature.lib.pyi_generator": LeftOut,  # writes PySide6's stubs; argparse and logging
    "pyqtgraph.Qt.QtCore": QtWhenAsked,
    "pyqtgraph.Qt.QtGui": QtWhenAsked,
    "pyqtgraph.Qt.QtWidgets": QtWhenAsked,
}
"""What is imported on the way to the window, or by torch, with what does in its place."""

LIBRARIES = {"shibokensupport.signature.lib.pyi_generator": "shiboken6"}
"""To which library a part belongs whose name does not begin with it."""


class LeavingOut:
    """Finds those parts before Python does. No entry of sys.modules would do: PySide6 clears away its own."""

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in LEFT_OUT else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return LEFT_OUT[spec.name](spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass
