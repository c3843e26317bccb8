"""No two modules of lmviz import each other, whichever way round one goes.

An import under `TYPE_CHECKING` or inside a function counts like any other: it hides a circle from the
interpreter and not from a reader.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp  # comes with import-linter
import pytest

ROOT = Path(__file__).parent.parent
Graph = Mapping[str, Set[str]]


def module_graph(package: str) -> Graph:
    """Which modules of a package each of its modules imports, wherever in it the import stands."""
    found = grimp.build_graph(package, cache_dir=None)
    return {name: found.find_modules_directly_imported_by(name) for name in found.modules}


def circle(graph: Graph) -> list[str]:
    """Modules of which each imports the one before, and the first the last; none where there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1][1:])
    return []


def test_no_module_imports_one_that_imports_it():
    graph = module_graph("lmviz")
    files = [path for path in (ROOT / "lmviz").rglob("*.py") if path.name != "__init__.py"]
    assert len(graph) >= len(files)
    assert circle(graph) == []


def test_circles_are_found_wherever_an_import_hides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = "only_for_circles"
    files = {
        "__init__.py": "",
        "a.py": f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {package}.b import x\n",
        "b.py": f"def f():\n    import {package}.sub.c\n",
        "sub/__init__.py": "",
        "sub/c.py": "from .. import a\n",
        "d.py": f"from {package} import a, b\n",
    }
    for name, text in files.items():
        path = tmp_path / package / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        found = circle(module_graph(package))
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]
    assert sorted(found) == [f"{package}.a", f"{package}.b", f"{package}.sub.c"]
