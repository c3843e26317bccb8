"""What several rules of the house read in the sources of lmviz: each file is parsed once for all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Source(NamedTuple):
    """Of a file, all texts that it writes down, and all imports, wherever in it they stand."""

    texts: tuple[str, ...]
    imports: tuple[ast.Import | ast.ImportFrom, ...]


@cache
def read_source(path: Path) -> Source:
    texts: list[str] = []
    imports: list[ast.Import | ast.ImportFrom] = []
    for node in nodes_of(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                texts.append(node.value)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imports.append(node)
    return Source(tuple(texts), tuple(imports))


def nodes_of(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes, in any order: twice as fast as `ast.walk`, over a million of them."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                left += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                left.append(value)
