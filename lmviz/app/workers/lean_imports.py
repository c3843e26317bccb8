"""Imports that do less: what PySide6 and torch do as they are imported, and the window never uses."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"


def import_lean() -> None:
    """Import PySide6, and prepare for torch, without what the window never uses."""
    _read_no_sources()
    sys.modules.setdefault(COMPILER, CompilerOff(COMPILER))


def _read_no_sources() -> None:
    """Keep PySide6 from reading the source of every module that is imported after it.

    It looks there for its own name, to know which modules may have switched a feature on; lmviz switches
    none, and the reading takes longer than the imports.
    """
    importlib.import_module("PySide6")
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):  # a private name: where it is another, all is only slower
        feature._mod_uses_pyside = lambda module: False


class CompilerOff(ModuleType):
    """What torch's optimizers need of its compiler: they import it, and sympy with it, only to turn it off.

    It takes 75 MB. Whoever wants more of it has it whole.
    """

    @staticmethod
    def disable(function: Any, *arguments: object, **settings: object) -> Any:
        return function

    @staticmethod
    def graph_break() -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # by which modules in it are found
            raise AttributeError(name)
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        return getattr(importlib.import_module(COMPILER), name)
