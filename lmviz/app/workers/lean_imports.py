"""Imports that do less: what PySide6 and torch do as they are imported, and the window never uses."""

from __future__ import annotations

import importlib
import operator
import sys
from types import ModuleType
from typing import Any

COMPILER, SHAPES = "torch._dynamo", "torch.fx.experimental.symbolic_shapes"


def import_lean() -> None:
    """Import PySide6, and prepare for torch, without what the window never uses."""
    _read_no_sources()
    for part in (CompilerOff(COMPILER), PlainShapes(SHAPES)):
        sys.modules.setdefault(part.__name__, part)


def _read_no_sources() -> None:
    """Keep PySide6 from reading the source of every module that is imported after it.

    It looks there for its own name, to know which modules may have switched a feature on; lmviz switches
    none, and the reading takes longer than the imports.
    """
    importlib.import_module("PySide6")
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):  # a private name: where it is another, all is only slower
        feature._mod_uses_pyside = lambda module: False


class LeftOut(ModuleType):
    """The little that is asked of a part of torch. Whoever wants more has it whole, and the others too."""

    def __getattr__(self, name: str) -> Any:
        is_path = name == "__path__" and self.__name__ == COMPILER  # by which modules in it are found
        if name.startswith("__") and not is_path:
            raise AttributeError(name)
        for left_out in (COMPILER, SHAPES):
            if isinstance(sys.modules.get(left_out), LeftOut):
                del sys.modules[left_out]
        return getattr(importlib.import_module(self.__name__), name)


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
