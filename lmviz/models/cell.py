"""What sets the recurrent families apart: how one cell is fused, made step by step, and explained."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from lmviz.models.address import Address
from lmviz.models.operations import Joined
from lmviz.models.prediction import NEXT_TOKEN, Prediction
from lmviz.models.recurrent_configuration import RecurrentConfiguration
from lmviz.models.strand import Strand, turned
from lmviz.models.tap import Stage, Tap

# On a graphics card the weights of one direction are copied together at each call: they cannot lie together
# and also be parameters of PyTorch's module, of which each layer and direction is read alone.
warnings.filterwarnings("ignore", "RNN module weights are not part of single contiguous chunk")

State = tuple[torch.Tensor, ...]
"""What a recurrence hands on from one position to the next, (batch, unit) each; the hidden state first."""

Between = Callable[[torch.Tensor], torch.Tensor]
"""What stands between layers: dropout."""


class Cell(ABC):
    """The recurrence of a family. `states` are the taps that it hands on; weights are in PyTorch's order."""

    family: ClassVar[str]
    states: ClassVar[tuple[str, ...]] = ("hidden",)

    def __init__(self, configuration: RecurrentConfiguration, predicts: Prediction = NEXT_TOKEN) -> None:
        self.configuration, self.predicts = configuration, predicts

    @abstractmethod
    def build(self, **sizes: Any) -> nn.RNNBase:
        """PyTorch's module, which holds the parameters."""

    @abstractmethod
    def run(
        self, inputs: torch.Tensor, weights: list[torch.Tensor], start: State, *, training: bool
    ) -> tuple[torch.Tensor, State]:
        """Hidden states (batch, position, unit) of one recurrence from left to right, and the last state."""

    def read(
        self, module: nn.RNNBase, inputs: torch.Tensor, state: Any, between: Between
    ) -> tuple[torch.Tensor, Any]:
        """Hidden states (batch, position, unit) of all layers from left to right, and the last states.

        These are as PyTorch's module has them, which has its own dropout between layers.
        """
        return module(inputs, state)

    @abstractmethod
    def step(self, inputs: torch.Tensor, weights: list[torch.Tensor], state: State) -> State:
        """The state after one more position, from inputs (batch, feature)."""

    @abstractmethod
    def taps(self, strand: Strand) -> tuple[Tap, ...]:
        """The taps of one recurrence, the last one its hidden state."""

    @abstractmethod
    def stages(self, strand: Strand) -> tuple[Stage, ...]:
        """The stages of one recurrence at one position."""

    def start(self, inputs: torch.Tensor) -> State:
        """The state before a text begins: zeros."""
        zeros = inputs.new_zeros(len(inputs), self.configuration.width)
        return tuple(zeros for _ in self.states)


def weights_of(module: nn.RNNBase, suffix: str) -> list[torch.Tensor]:
    """The parameters of one recurrence of PyTorch's module, in the order of its functions."""
    names = (f"{part}{suffix}" for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    return [getattr(module, name) for name in names]


def run_layers(
    cell: Cell,
    module: nn.RNNBase,
    layers: Sequence[Sequence[Strand]],
    inputs: torch.Tensor,
    lengths: torch.Tensor | None,
    between: Between,
) -> list[torch.Tensor]:
    """The states (batch, position, unit) of each layer, each row read from where its text begins and ends.

    A row is turned round and read from left to right, which took 0.6 of the time of PyTorch's packed
    sequences, and no more than reading the padding too. `between` stands between layers.
    """
    found: list[torch.Tensor] = []
    for strands in layers:
        if found:
            inputs = between(inputs)
        states = []
        for strand in strands:
            weights = weights_of(module, strand.suffix)
            read = turned(inputs, lengths) if strand.reverse else inputs
            made, _ = cell.run(read, weights, cell.start(inputs), training=module.training)
            states.append(turned(made, lengths) if strand.reverse else made)
        inputs = torch.cat(states, dim=-1)
        found.append(inputs)
    return found


def layer_taps(cell: Cell, strands: Sequence[Strand]) -> tuple[Tap, ...]:
    """The taps of a layer: those of its recurrence, or of both directions and what joins them."""
    taps = tuple(tap for strand in strands for tap in cell.taps(strand))
    if len(strands) == 1:
        return taps
    joined = Joined(tuple(strand.at("hidden").address for strand in strands))
    return (*taps, Tap(_joined(strands), (strands[0].axis, "unit"), joined))


def layer_stages(cell: Cell, strands: Sequence[Strand]) -> tuple[Stage, ...]:
    """The stages of a layer at one position."""
    stages = tuple(stage for strand in strands for stage in cell.stages(strand))
    if len(strands) == 1:
        return stages
    equation = r"\mathbf{h}_t = [\overrightarrow{\mathbf{h}}_t, \overleftarrow{\mathbf{h}}_t]"
    states = tuple(strand.at("hidden").address for strand in strands)
    place = Address.parse(strands[0].place).place
    return (*stages, Stage("Both directions", equation, (_joined(strands),), states, place, by_position=True))


def _joined(strands: Sequence[Strand]) -> str:
    return Address.parse(strands[0].place).beside("joined")
