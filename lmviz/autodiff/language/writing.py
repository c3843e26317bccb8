"""A network as text again: what it was read from, with the numbers it has now."""

from __future__ import annotations

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.language.reading import lines_of
from lmviz.autodiff.node import Node, PlaceInText


def written(net: Graph) -> str:
    """The source with the numbers of inputs and parameters put in where they have changed."""
    lines = lines_of(net.source)
    literals: dict[tuple[int, int, int], list[Node]] = {}
    for node in net.nodes:
        if node.place is not None:
            literals.setdefault((node.place.line, node.place.first, node.place.last), []).append(node)
    for (line, first, last), nodes in sorted(literals.items(), reverse=True):  # from the right to the left
        text = lines[line - 1]
        numbers = as_text(_joined(nodes))
        if not _says(text[first:last], numbers):
            lines[line - 1] = text[:first] + numbers + text[last:]
    return "\n".join(lines)


def as_text(array: np.ndarray) -> str:
    """Numbers as the language writes them, each with as many digits as it needs to be the same again."""
    if not array.ndim:
        return _digits(float(array))
    rows = [" ".join(map(_digits, map(float, row))) for row in array.reshape(len(array), -1)]
    return f"[{'; '.join(rows)}]"


def _digits(value: float) -> str:
    shortest = repr(value)
    return shortest.removesuffix(".0")


def _joined(nodes: list[Node]) -> np.ndarray:
    """The numbers of one literal: of the one value it gives, or of the rows it was divided into."""
    first: PlaceInText | None = nodes[0].place
    if first is None or first.row is None:
        return nodes[-1].numbers
    return np.stack([node.numbers for node in nodes])


def _says(text: str, numbers: str) -> bool:
    """Whether a literal says these numbers already, perhaps in other words."""
    plain = text.replace("−", "-").replace(",", " ").strip("[] ;")
    other = numbers.strip("[] ;")
    try:
        return [list(map(float, row.split())) for row in plain.split(";")] == [
            list(map(float, row.split())) for row in other.split(";")
        ]
    except ValueError:
        return False
