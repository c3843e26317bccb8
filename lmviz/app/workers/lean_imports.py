"""Imports that the first paint does without: what libraries load on the way and the window never uses."""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import Loader  # which brings importlib.resources

UNUSED = frozenset(
    {
        "bz2",  # zipfile and shutil unpack with it, as with the next
        "lzma",
        "ipaddress",  # urllib.parse looks at it for addresses with brackets
        "numpy._core._add_newdocs",  # the docstrings of what is written in C
        "numpy._core._add_newdocs_scalars",
        "numpy._typing",  # names for type checkers, among them hundreds of `Literal`
        "pickle",  # numpy writes arrays of objects with it
        "platform",  # numpy asks it what it runs on when it is asked for its own version
        "shutil",  # zipfile copies with it
        "shibokensupport.signature.lib.pyi_generator",  # writes stubs of PySide6
        "torch._dynamo",  # the compiler of torch, which optimizers turn off: sympy with it, and 130 MB
    }
)
"""Modules that are imported whole, by `import name` or `from package import name`, and rarely looked into."""


STAND_INS = {
    "numpy._typing": {"NDArray": ("numpy._core.multiarray", "ndarray")},
    "torch._dynamo": {"disable": (__name__, "as_it_is"), "graph_break": (__name__, "as_it_is")},
}
"""Names of late modules that are wanted at once, and what does as well: numpy annotates tuples, and nothing
is compiled, so that there is nothing to turn off or to break."""


def as_it_is(function: Any = None, *arguments: object, **settings: object) -> Any:
    """The function itself."""
    return function


LOADING = threading.RLock()


class LateModule(ModuleType):
    """A module whose code runs when something is first looked up in it."""

    _loader: Loader

    def __getattr__(self, name: str) -> Any:
        stand_in = STAND_INS.get(self.__name__, {}).get(name)
        if stand_in is not None and "_loader" in self.__dict__:
            module, found = stand_in
            return getattr(importlib.import_module(module), found)
        run_late(self)
        if name in self.__dict__:
            return self.__dict__[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def run_late(module: LateModule) -> None:
    """Run the code of a module, if it has not run."""
    with LOADING:  # another thread may be at it
        loader = module.__dict__.pop("_loader", None)
        if loader is not None:
            loader.exec_module(module)


class LateLoader:
    """Makes a late module of what another loader would load at once."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return LateModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["_loader"] = self._loader


class LateFinder:
    """Finds the modules of a set, to be loaded late; all others are left to the finders after it."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        parent = sys.modules.get(fullname.rpartition(".")[0])
        if isinstance(parent, LateModule):
            run_late(parent)  # a package runs before what is in it
        if fullname not in self._names:
            return None
        found = PathFinder.find_spec(fullname, path, target)
        if found is not None and found.loader is not None:
            found.loader = cast("Loader", LateLoader(found.loader))
        return found


def leave_out_unused() -> None:
    """From now on import what is rarely used when it is used; call it before anything else is imported."""
    if not any(isinstance(finder, LateFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, LateFinder(UNUSED))


def import_lean() -> None:
    """Import PySide6, and prepare for numpy, without what the window never uses."""
    leave_out_unused()
    _read_no_sources()


def _read_no_sources() -> None:
    """Keep PySide6 from reading the source of every module that is imported after it.

    It looks there for its own name, to know which modules may have switched a feature on; lmviz switches
    none, and the reading takes longer than the imports.
    """
    importlib.import_module("PySide6")
    feature: Any = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):  # a private name: where it is another, all is only slower
        feature._mod_uses_pyside = lambda module: False
