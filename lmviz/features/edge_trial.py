"""An edge of a graph tried: what the receiver has without the sender, in runs of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass, Edit
from lmviz.circuits.read_contrast import read_contrast
from lmviz.features.state_parts import StateParts, check_placed
from lmviz.looks.shown import Shown

if TYPE_CHECKING:
    from lmviz.features.graph import FeatureGraph, FeatureNode
    from lmviz.models.model import Model


@dataclass(frozen=True, repr=False)
class EdgeTrial(Shown):
    """What a receiver loses without the sender: `said` by the edge, and measured.

    `direct` is measured with all other features and errors between the two as they are, so that only what is
    held (attention, normalisations, gates) is let go; `free` with nothing held. In the units of the
    receiver's score, or of the measure.
    """

    sender: str
    receiver: str
    said: float
    direct: float
    free: float


def try_edge(model: Model, graph: FeatureGraph, sender: int, receiver: int | None = None) -> EdgeTrial:
    """An edge between nodes by their numbers, or to the measure; LmvizError for a graph out of a file."""
    if graph.contrast is None:
        raise LmvizError("This graph comes from a file and knows no texts: make one with feature_graph.")
    row, sender = graph.row(receiver), graph.check(sender)
    receiver, node = None if receiver is None else row, graph.nodes[sender]
    question = read_contrast(model, graph.contrast, graph.interventions)
    read = CachedPass(question.model, question.clean, question.span)
    check_placed(graph.dictionaries, read)
    parts = {one.target: StateParts.of(one, read) for one in graph.dictionaries}
    tap = "" if receiver is None else parts[graph.nodes[receiver].tap].dictionary.tap
    order = {one.address: place for place, one in enumerate(read.taps)}
    if tap and order[node.tap] > order[tap]:
        raise LmvizError(f"{graph.nodes[receiver or 0]} comes before {node}: choose an edge of the graph.")
    without = _without(read, parts, node)
    last = order[tap] if tap else len(order)
    own = "" if receiver is None else graph.nodes[receiver].tap
    held = {
        target: _as_it_is(read, target)
        for target in parts
        if target not in (node.tap, own) and order[node.tap] < order[target] < last
    }
    if tap in parts and tap not in (node.tap, own):
        held[tap] = _as_it_is(read, tap)

    def after(edits: dict[str, Edit], alone: bool) -> float:
        if receiver is None:
            return float(read.measured_with(edits, question.scalar, alone=alone)[0])
        states = read.values_with(edits, [tap], alone=alone)[tap]
        return _score(parts, graph.nodes[receiver], states)

    before = read.measure(question.scalar)
    if receiver is not None:
        before = _score(parts, graph.nodes[receiver], read.values[tap])
    to = question.scalar.name if receiver is None else str(graph.nodes[receiver])
    return EdgeTrial(
        str(node),
        to,
        float(graph.weights[row, sender]),
        before - after({node.tap: without, **held}, True),
        before - after({node.tap: without}, False),
    )


def _without(read: CachedPass, parts: dict[str, StateParts], node: FeatureNode) -> Edit:
    """The states that a node is part of without it."""
    states = read.values[node.tap]
    if node.kind == "word":
        taken = states[0, node.position].detach().cpu().double()
    elif node.kind == "error":
        taken = torch.tensor(parts[node.tap].error[node.position])
    else:
        part = parts[node.tap]
        activation = part.activations[node.position, node.feature]
        taken = torch.tensor(activation * part.decoder[node.feature])
    values = states.clone()
    values[0, node.position] = (values[0, node.position].cpu().double() - taken).to(values)
    return Edit(torch.ones(states.shape, dtype=torch.bool, device=states.device), values)


def _as_it_is(read: CachedPass, address: str) -> Edit:
    states = read.values[address]
    return Edit(torch.ones(states.shape, dtype=torch.bool, device=states.device), states)


def _score(parts: dict[str, StateParts], node: FeatureNode, states: torch.Tensor) -> float:
    """What a feature reads off states (1, position, channel), on or not."""
    part = parts[node.tap]
    read = states[0, node.position].detach().cpu().double().numpy()
    return float(part.encoder[node.feature] @ read) + float(part.dictionary.encoder_bias[node.feature])
