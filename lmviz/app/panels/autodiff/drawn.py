"""A network as the values, or a recurrent one as the units, that its picture draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lmviz.app.widgets.diagrams.network_values import DrawnValue
from lmviz.app.widgets.diagrams.unit_boxes import DrawnArrow, DrawnUnit
from lmviz.autodiff import Network, Node
from lmviz.autodiff.folding import Unit, Units, units_of
from lmviz.autodiff.layout import LEFT, MODULE, ValuePlace, arrange
from lmviz.autodiff.names import label, latex


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


@lru_cache(maxsize=2)  # a step of the tape changes nothing of it
def folding(net: Network) -> Units | None:
    """The units of a network; None where it is not made of such."""
    return units_of(net)


def drawn_units(
    net: Network, found: Units
) -> tuple[list[DrawnUnit], list[DrawnArrow], dict[str, DrawnValue]]:
    """The units, the arrows, and the weights by name."""
    units = [
        DrawnUnit(
            _drawn_as_unit(net, net[unit.name], unit),
            unit.base,
            short_label(unit.base),
            unit.step,
            unit.function,
            unit.is_given,
        )
        for unit in found.units
    ]
    arrows = [DrawnArrow(arrow.source, arrow.target, arrow.weight) for arrow in found.arrows]
    names = dict.fromkeys(arrow.weight for arrow in found.arrows if arrow.weight)
    return units, arrows, {name: _drawn_as_unit(net, net[name]) for name in names}


def _drawn_as_unit(net: Network, node: Node, unit: Unit | None = None) -> DrawnValue:
    return DrawnValue(
        name=node.name,
        label=short_label(node.name),
        word="" if node.module is None else node.module.word,
        shape=node.shape,
        values=node.value,
        gradient=node.gradient,
        held=None if node.held is None else ~np.isnan(node.held),
        place=ValuePlace(0, 0, LEFT) if unit is None else ValuePlace(unit.row, unit.step, MODULE),
        popped=node.module is not None and net.tape.is_reached(node),
    )
