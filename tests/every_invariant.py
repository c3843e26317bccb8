"""What holds for every family, checked for one of them: for a family or an operation that is only tried."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from family_cases import trained

INVARIANTS = sorted((Path(__file__).parent / "models" / "invariants").glob("test_*.py"))
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
