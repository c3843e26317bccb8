"""A recurrent network as the units that its picture draws."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.autodiff.drawn import short_label
from lmviz.app.widgets.diagrams.network_values import DrawnValue
from lmviz.app.widgets.diagrams.unit_boxes import DrawnArrow, DrawnUnit
from lmviz.autodiff.folding import units_of
from lmviz.autodiff.layout import LEFT, MODULE, ValuePlace

if TYPE_CHECKING:
    from lmviz.autodiff import Network, Node
    from lmviz.autodiff.folding import Unit, Units


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
            _drawn(net, net[unit.name], unit),
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
    return units, arrows, {name: _drawn(net, net[name]) for name in names}


def _drawn(net: Network, node: Node, unit: Unit | None = None) -> DrawnValue:
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
