"""The code of a page of the documentation, block by block, under the file each block says it is."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from family_cases import trained

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str) -> dict[str, str]:
    """The Python blocks of a page that begin with the name of a file, by that name."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return dict(re.findall(r"```python\n# (lmviz/\S+\.py)\n(.*?)```", text, flags=re.DOTALL))


def install(page: str, patch: pytest.MonkeyPatch) -> dict[str, str]:
    """Make the modules of a page importable; the blocks of files that are there already come back."""
    rest = {}
    for file, code in blocks(page).items():
        if (DOCS.parent / file).exists():
            rest[file] = code
            continue
        name = file.removesuffix(".py").replace("/", ".")
        module = ModuleType(name)
        module.__file__ = file
        patch.setitem(sys.modules, name, module)
        exec(compile(code, page, "exec", dont_inherit=True), module.__dict__)
    return rest


INVARIANTS = sorted((Path(__file__).parents[1] / "models" / "invariants").glob("test_*.py"))
NAMES = [
    name
    for path in INVARIANTS
    for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
]
"""The tests of what holds for every family."""


def check_invariant(name: str, family: str) -> None:
    """Run one of them for one family as it is by default."""
    test = invariants()[name]
    offered = {"family": family, "options": {}}
    wanted = inspect.signature(test).parameters
    if "model" in wanted:
        offered["model"] = trained(family, ())
    test(**{parameter: offered[parameter] for parameter in wanted})


@cache
def invariants() -> dict[str, Callable[..., None]]:
    """Those tests by name."""
    found = {}
    for path in INVARIANTS:
        spec = importlib.util.spec_from_file_location(f"invariants_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found |= {name: getattr(module, name) for name in NAMES if hasattr(module, name)}
    return found
