"""A text's states become the one vector that its class is read from."""

from __future__ import annotations

import torch
from torch import nn

from lmviz.models.address import POOLED
from lmviz.models.operations import End, EndStates, MeanState, PositionScores, Softmax, WeightedState
from lmviz.models.tap import Operation, Stage, Tap, Weight

SCORES, WEIGHTS = "pooling/scores", "pooling/weights"


class Pooling(nn.Module):
    """One vector (batch, unit) from the states (batch, position, unit) of the tap `states`.

    `kind` is "last" for the last state, "mean" for the mean of all, or "attention" for a mean weighted by
    attention (Lin et al. 2017).
    Where the states are those of recurrences joined, `ends` are these; they share the units evenly.
    """

    def __init__(self, kind: str, width: int, states: str, ends: tuple[End, ...] = ()) -> None:
        super().__init__()
        self.kind = kind
        self.states = states
        self.ends = ends or (End(states),)
        self.scores = nn.Linear(width, 1, bias=False) if kind == "attention" else None

    def forward(self, states: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """`lengths` (batch,) says how many positions of each row count; all of them where it is None."""
        batch, positions, _ = states.shape
        if self.kind == "last":
            last = torch.full((batch,), positions, device=states.device) if lengths is None else lengths
            rows = torch.arange(batch, device=states.device)
            parts = zip(self.ends, states.chunk(len(self.ends), dim=-1), strict=True)
            return torch.cat(
                [part[:, 0] if end.reverse else part[rows, last - 1] for end, part in parts], dim=-1
            )
        scores = states.new_zeros(batch, positions) if self.scores is None else self.scores(states)[..., 0]
        if lengths is not None:
            scores = scores.masked_fill(is_padding(lengths, positions), -torch.inf)
        return (scores.softmax(dim=-1)[:, None] @ states)[:, 0]

    def taps(self) -> tuple[Tap, ...]:
        """How the vector is made; the last tap is the vector."""
        unit, position = ("unit",), ("position",)
        if self.kind == "attention":
            scores = PositionScores(self.states, Weight("pooling.scores.weight"))
            return (
                Tap(SCORES, position, scores),
                Tap(WEIGHTS, position, Softmax(SCORES, over_text=True), scale="share"),
                Tap(POOLED, unit, WeightedState(WEIGHTS, self.states)),
            )
        operation: Operation = EndStates(self.ends) if self.kind == "last" else MeanState(self.states)
        return (Tap(POOLED, unit, operation),)

    def stages(self) -> tuple[Stage, ...]:
        """The steps from the states to the vector."""
        if self.kind == "attention":
            score = r"s_t = \mathbf{v} \cdot \mathbf{h}_t"
            softmax = r"\alpha_t = \frac{e^{s_t}}{\sum_j e^{s_j}}"
            mixed = r"\mathbf{c} = \sum_t \alpha_t \mathbf{h}_t"
            return (
                Stage("Scores of positions", score, (SCORES,), (self.states,), "pooling"),
                Stage("Attention weights", softmax, (WEIGHTS,), (SCORES,), "pooling"),
                Stage("Weighted mean", mixed, (POOLED,), (self.states, WEIGHTS), "pooling"),
            )
        if self.kind == "mean":
            mean = r"\mathbf{c} = \frac{1}{T} \sum_t \mathbf{h}_t"
            return (Stage("Mean of the states", mean, (POOLED,), (self.states,), "pooling"),)
        parts = {False: r"\mathbf{h}_T", True: r"\mathbf{h}_1"}
        joined = ", ".join(parts[end.reverse] for end in self.ends)
        last = rf"\mathbf{{c}} = {joined if len(self.ends) == 1 else f'[{joined}]'}"
        operands = tuple(end.address for end in self.ends)
        return (Stage("Last state", last, (POOLED,), operands, "pooling", at_end=True),)


def is_padding(lengths: torch.Tensor, positions: int) -> torch.Tensor:
    """Which places of rows of those lengths (batch,) hold nothing, (batch, position) bool."""
    return torch.arange(positions, device=lengths.device) >= lengths[:, None]
