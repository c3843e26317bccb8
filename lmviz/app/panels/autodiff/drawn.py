"""A network as the values that its picture draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.widgets.diagrams.network_values import DrawnValue
from lmviz.autodiff.layout import arrange
from lmviz.autodiff.names import label, latex

if TYPE_CHECKING:
    from lmviz.autodiff import Network, Node
    from lmviz.autodiff.layout import ValuePlace


@dataclass(frozen=True)
class _Frame:
    """What stays of a value while its numbers change."""

    spot: ValuePlace
    label: str
    word: str
    inputs: tuple[str, ...]
    equations: tuple[str, ...]


def drawn_values(net: Network) -> tuple[list[DrawnValue], bool]:
    """All values in the order of the text, and whether the steps of a loop stand side by side."""
    frames, unrolled = _frames(net)
    return [_drawn(net, node, frames[node.name]) for node in net], unrolled


@lru_cache(maxsize=2)  # a step of the tape changes nothing of it
def _frames(net: Network) -> tuple[dict[str, _Frame], bool]:
    layout = arrange(net)
    frames = {
        node.name: _Frame(
            spot=layout.spots[node.name],
            label=short_label(node.name),
            word="" if node.module is None else node.module.word.replace("_", " "),
            inputs=tuple(input.name for input in node.inputs),
            equations=_equations(node),
        )
        for node in net
    }
    return frames, layout.unrolled


def _drawn(net: Network, node: Node, frame: _Frame) -> DrawnValue:
    return DrawnValue(
        name=node.name,
        label=frame.label,
        word=frame.word,
        shape=node.shape,
        values=node.value,
        gradient=node.gradient,
        held=None if node.held is None else ~np.isnan(node.held),
        place=frame.spot,
        inputs=frame.inputs,
        equations=frame.equations,
        popped=net.tape.is_reached(node),
    )


def short_label(name: str) -> str:
    """What a value is called in the picture; calls within calls have no name of their own."""
    return "" if "·" in name and name[0].isalpha() else label(name.partition("·")[0])


def _equations(node: Node) -> tuple[str, ...]:
    """What is handed back, for inputs that are worth a gradient: not for targets and constants."""
    if node.module is None:
        return ()
    names = [latex(input.name) for input in node.inputs]
    found = node.module.equations(latex(node.name), names)
    return tuple(
        f"g_{{{name}}} = {equation}"
        for name, equation, input in zip(names, found, node.inputs, strict=True)
        if input.kind != "input" or input.shape != node.inputs[-1].shape or len(node.inputs) == 1
    )
