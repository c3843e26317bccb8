"""A network of Autodiff on a page: its lines, and a slider through the steps of its tape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmviz.autodiff import Network, read, shipped_network
from lmviz.base.figures import cell_figure
from lmviz.looks.columns import Column
from lmviz.looks.live_parts import Frames
from lmviz.looks.look import Look
from lmviz.looks.parts import Table
from lmviz.pages.page import PageSection

UNKNOWN = "–"


def network_sections(name: str, done: str = "") -> list[PageSection]:
    """The sections of a network that comes with lmviz: every value and gradient after each push and pop.

    `done` says how far it has come at first, as in a lesson: "forward", "backward", or nothing computed yet.
    """
    shipped = shipped_network(name)
    network = read(shipped.text)
    frames = dict(_frames(network))
    count = len(network.tape.modules)
    first = {"forward": count, "backward": 2 * count}.get(done, 0)
    steps = Frames(title="tape", names=tuple(frames), parts=tuple(frames.values()), chosen=first)
    about = (("network", shipped.title), ("modules", str(count)))
    return [
        PageSection(Look((steps,), title=shipped.title, aside="values forward, gradients backward"), about)
    ]


def _frames(network: Network) -> Iterator[tuple[str, Table]]:
    """What is done in each step, and the table after it."""
    tape, count = network.tape, len(network.tape.modules)
    tape.rewind()
    yield "nothing is computed yet", _table(network)
    for number in range(1, count + 1):
        yield f"{number}. push {tape.push().name}", _table(network)
    for number in range(count + 1, 2 * count + 1):
        yield f"{number}. pop {tape.pop().name}", _table(network)


def _table(network: Network) -> Table:
    """A row for each value: the line that makes it, and its numbers as far as they are known."""
    lines, nodes = network.text.splitlines(), list(network)
    return Table(
        columns=(
            Column("line", [lines[network.lines[node.name] - 1] for node in nodes], tokens=True),
            Column("value", [_numbers(node.value) for node in nodes], tokens=True),
            Column("gradient", [_numbers(node.gradient) for node in nodes], tokens=True),
        )
    )


def _numbers(array: np.ndarray | None) -> str:
    """The numbers as the language writes them: rows behind semicolons."""
    if array is None:
        return UNKNOWN
    if array.ndim == 0:
        return cell_figure(float(array))
    rows = array if array.ndim == 2 else array.reshape(-1, 1)
    return f"[{'; '.join(' '.join(cell_figure(float(cell)) for cell in row) for row in rows)}]"
