"""A network as text again: what it was read from, with the numbers it has now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lmviz.autodiff.graph import Graph
from lmviz.autodiff.language.reading import lines_of
from lmviz.autodiff.language.scanning import without_comment
from lmviz.autodiff.node import INPUT, PARAMETER, Node


def written(net: Graph) -> str:
    """The source with the numbers of inputs and parameters put in where they have changed.

    A line of a loop gives one number to all steps. Where the steps have different numbers by now, they are
    written above the loop instead.
    """
    return "\n".join(line.text for line in _lines(net))


def lines_of_values(net: Graph) -> dict[str, int]:
    """On which line of `written` each value stands."""
    return {node.name: at for at, line in enumerate(_lines(net), start=1) for node in line.nodes}


def as_text(array: np.ndarray) -> str:
    """Numbers as the language writes them, each with as many digits as it needs to be the same again."""
    if not array.ndim:
        return _digits(float(array))
    rows = [" ".join(map(_digits, map(float, row))) for row in array.reshape(len(array), -1)]
    return f"[{'; '.join(rows)}]"


def _digits(value: float) -> str:
    shortest = repr(value)
    return shortest.removesuffix(".0")


class _Line(NamedTuple):
    """A line with the values that stand on it."""

    text: str
    nodes: Sequence[Node] = ()


def _lines(net: Graph) -> list[_Line]:
    source = lines_of(net.source)
    literals: dict[tuple[int, int, int], list[Node]] = defaultdict(list)
    nodes: dict[int, list[Node]] = defaultdict(list)
    for node in net.nodes:
        nodes[node.line].append(node)
        if node.place is not None:
            literals[node.place.line, node.place.first, node.place.last].append(node)
    apart: dict[int, list[Node]] = {}  # the lines of loops whose steps have different numbers
    for (line, first, last), given in sorted(literals.items(), reverse=True):  # from the right to the left
        rows: dict[int | None, list[Node]] = defaultdict(list)  # the steps of a loop share a row
        for node in given:
            assert node.place is not None
            rows[node.place.row].append(node)
        if not all(_are_the_same(row) for row in rows.values()):
            apart[line] = given
            continue
        one = [row[0].numbers for row in rows.values()]
        numbers, text = as_text(one[0] if None in rows else np.stack(one)), source[line - 1]
        if not _says(text[first:last], numbers):
            source[line - 1] = text[:first] + numbers + text[last:]
    found: list[_Line] = []
    for line, body in _blocks(source):
        moved = [each for each in body if each in apart]
        below: list[_Line] = []
        for each in moved:
            above, last_one = _written_apart(source[each - 1], apart[each], net.output)
            found += above
            below += last_one
        is_emptied = bool(moved) and not any(
            without_comment(source[each - 1]).strip() for each in body if each not in apart
        )
        found += [
            _Line(source[each - 1], nodes[each])
            for each in (line, *body)
            if each not in apart and not (is_emptied and each == line)
        ]
        found += below
    return found


def _blocks(source: Sequence[str]) -> Iterator[tuple[int, list[int]]]:
    """The number of each line that is not indented, with those of the indented lines below it."""
    head, body = 1, []
    for number, text in enumerate(source[1:], start=2):
        if text[:1].isspace() or not without_comment(text).strip():
            body.append(number)
        else:
            yield head, body
            head, body = number, []
    yield head, body


def _written_apart(text: str, nodes: Sequence[Node], output: Node) -> tuple[list[_Line], list[_Line]]:
    """The numbers of a line of a loop without the loop: what goes above it, and what goes below it.

    Names that come with the first number and count up are written as rows. The output stays the last.
    """
    kind = text.split(maxsplit=1)[0]
    kind = f"{kind} " if kind in (INPUT, PARAMETER) else ""
    comment = text[len(without_comment(text)) :]
    name, _, step = nodes[0].name.removesuffix("]").partition("[")
    last = int(step) + len(nodes) - 1
    if output not in nodes and not nodes[0].shape and int(step) >= 0:
        numbers = as_text(np.stack([node.numbers for node in nodes]))
        return [_Line(f"{kind}{name}[{step}..{last}] = {numbers}{comment}", nodes)], []
    above: list[_Line] = [_Line(comment.strip())] if comment else []
    below: list[_Line] = []
    for at, node in enumerate(nodes, start=int(step)):
        place = below if node is output else above
        if at < 0:  # a step below 0 can be said in a loop only
            place.append(_Line("for t in 0..0:"))
            target = f"    {kind}{name}[t-{-at}]"
        else:
            target = f"{kind}{node.name}"
        place.append(_Line(f"{target} = {as_text(node.numbers)}", (node,)))
    return above, below


def _are_the_same(nodes: Sequence[Node]) -> bool:
    numbers = np.stack([node.numbers for node in nodes])
    return np.array_equal(numbers, np.broadcast_to(numbers[0], numbers.shape), equal_nan=True)


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
