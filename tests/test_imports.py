"""No two modules of lmviz import each other, whichever way round one goes.

An import under `TYPE_CHECKING` or inside a function counts like any other: it hides a circle from the
interpreter and not from a reader.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from sources import read_source

ROOT = Path(__file__).parent.parent
Graph = Mapping[str, Set[str]]


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def module_graph(root: Path, package: str) -> Graph:
    """Which modules of a package each of its modules imports, wherever in it the import stands."""
    paths = {module_name(path, root): path for path in (root / package).rglob("*.py")}
    return {name: set(imported(path, name, paths)) - {name} for name, path in paths.items()}


def imported(path: Path, name: str, known: Mapping[str, Path]) -> Iterator[str]:
    for node in read_source(path).imports:
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        else:
            found = from_import(node, name if path.name == "__init__.py" else name.rpartition(".")[0], known)
        yield from (module for module in found if module in known)


def from_import(node: ast.ImportFrom, package: str, known: Mapping[str, Path]) -> list[str]:
    """The modules that a `from` means: a submodule where there is one, and else the module itself."""
    above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
    module = ".".join([*above, *([node.module] if node.module else [])])
    inside = [f"{module}.{alias.name}" for alias in node.names]
    return [one if one in known else module for one in inside]


def circle(graph: Graph) -> list[str]:
    """Modules of which each imports the one before, and the first the last; none where there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1][1:])
    return []


def test_no_module_imports_one_that_imports_it():
    assert circle(module_graph(ROOT, "lmviz")) == []


def test_circles_are_found_wherever_an_import_hides(tmp_path):
    files = {
        "__init__.py": "",
        "a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.b import x\n",
        "b.py": "def f():\n    import p.sub.c\n",
        "sub/__init__.py": "",
        "sub/c.py": "from .. import a\n",
        "d.py": "from p import a, b\n",
    }
    for name, text in files.items():
        path = tmp_path / "p" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    assert sorted(circle(module_graph(tmp_path, "p"))) == ["p.a", "p.b", "p.sub.c"]
