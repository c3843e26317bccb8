"""The object names of the controls of the window: a list that docs/write_controls.py writes."""

from __future__ import annotations

import difflib
import re
from functools import cache

from lmviz.base.faults import LineFault
from lmviz.text.resources import resource_path

LIST = ("lessons", "controls.txt")
OF_MODULES = "check_"
"""How the name of a button begins that checks one module: what follows depends on the network."""


@cache
def control_names() -> frozenset[str]:
    """All of them; those that are counted with a 0 in place of each number."""
    return frozenset(resource_path(*LIST).read_text("utf-8").split())


def check_control(name: str) -> None:
    """LineFault where no control of the window has this object name."""
    if re.sub(r"\d+", "0", name) in control_names() or name.startswith(OF_MODULES):
        return
    near = difflib.get_close_matches(name, control_names(), n=1)
    hint = f"did you mean {near[0]}?" if near else "docs/control-names.md lists them."
    raise LineFault(f"there is no control {name!r}: {hint}")
