"""What a joined state owes to each direction: terms of an explanation from the left and from the right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lmviz.inspection.trace import Trace
from lmviz.models.address import POOLED, Address
from lmviz.models.arithmetic.arithmetic import Arithmetic
from lmviz.models.arithmetic.terms import Factor, Terms

SIDES = ("left", "right")


def by_direction(found: Arithmetic, trace: Trace) -> Arithmetic:
    """The same explanation, in which terms that read both directions stand in a group for each.

    Only a plain sum can be grouped otherwise; every other explanation stays as it is.
    """
    if found.rule != "sum":
        return found
    return replace(found, terms=tuple(part for group in found.terms for part in _parts(group, trace)))


def _parts(group: Terms, trace: Trace) -> Iterator[Terms]:
    width = next((width for factor in group.factors if (width := _forward(factor.source, trace))), 0)
    if not width:
        yield group
        return
    [units] = [factor.indices[:, -1] for factor in group.factors if _forward(factor.source, trace)][:1]
    for side, chosen in zip(SIDES, (units < width, units >= width), strict=True):
        if np.any(chosen):
            yield Terms(f"from the {side}", tuple(_some(factor, chosen) for factor in group.factors), side)


def _some(factor: Factor, chosen: np.ndarray) -> Factor:
    return replace(factor, indices=factor.indices[chosen], values=factor.values[chosen])


def _forward(source: str, trace: Trace) -> int:
    """How many units of a joined state are from the left; 0 for every other source."""
    for stage in trace.stages:
        joins = [at.direction for at in map(Address.parse, stage.operands) if at.name == "hidden"]
        if Address.parse(stage.results[0]).name == "joined" and joins == ["forward", "backward"]:
            width = trace[stage.operands[0]].shape[-1]
            whole = trace[stage.results[0]].shape[-1]
            if source == stage.results[0] or (
                source == POOLED and source in trace and trace[source].shape[-1] == whole
            ):
                return width
    return 0
