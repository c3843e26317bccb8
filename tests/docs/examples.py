"""The code of a page of the documentation, block by block, under the file each block says it is."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str) -> dict[str, str]:
    """The Python blocks of a page that begin with the name of a file of lmviz, by that name."""
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
