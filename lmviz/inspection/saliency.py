"""Which words a number depends on: what its gradient says, and what erasing each word really does.

Gradient × embedding is the change to first order if an embedding were erased (Denil et al. 2014; Li et al.
2016). It is a prediction, which may be far off. `Erasing` measures what it predicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.figures import number, signed_figure
from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.names import told_apart
from lmviz.inspection.reach import input_address
from lmviz.inspection.recording import TapRecorder
from lmviz.inspection.scalar import in_range
from lmviz.inspection.trace import Trace
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Tap

ROWS = 16
"""How many words are erased at once, each in a row of the batch."""

KEPT = -1
"""In the place of a position: nothing is erased."""

GOOD, FAIR = 0.9, 0.5
"""Correlations from which on the gradient is said to agree well with erasing, and roughly."""


@dataclass(frozen=True, eq=False)
class Saliency:
    """By how much a number changes without each token of a sequence: `predicted`, `measured` (position,).

    `tokens` (position,) are those of the sequence, and `address` is the tap of their embeddings.
    """

    sequence: str
    address: str
    tokens: tuple[str, ...]
    predicted: np.ndarray
    measured: np.ndarray


class Erasing:
    """Every token that a model reads erased in turn, some at each call of `go_on`.

    Everything is computed anew, under the interventions that the gradient was taken with. Of a long text that
    takes seconds, and whoever shares a thread with others lets them have their turn between. LmvizError where
    the gradient is of another model, or of another snapshot.
    """

    def __init__(self, model: Model, found: Gradient) -> None:
        self._found = found
        self._predicted = {name: saliency(model, found, name) for name in found.trace.sequences}
        self._measured = {name: np.zeros(len(read)) for name, read in self._predicted.items()}
        self._whole: dict[str, np.ndarray] = {}
        self._left = [
            (name, first) for name, read in self._predicted.items() for first in range(0, len(read), ROWS)
        ]
        self._addresses = {name: input_address(model, name) for name in self._predicted}

    @property
    def is_done(self) -> bool:
        """Whether every token has been erased."""
        return not self._left

    def go_on(self, model: Model) -> None:
        """Erase the next tokens, one in each row of a batch."""
        check_made_by(self._found.trace, model)
        model, _ = unchanged(model, ())
        name, first = self._left.pop(0)
        address, changes = self._addresses[name], self._measured[name]
        rows = min(ROWS, len(changes))
        # Rounding depends on the shape of a batch and on the row: a word that cannot matter changes nothing.
        if name not in self._whole:
            self._whole[name] = _without(model, self._found, address, [KEPT] * rows)
        positions = list(range(first, min(first + rows, len(changes))))
        without = _without(model, self._found, address, positions + [KEPT] * (rows - len(positions)))
        changes[positions] = (without - self._whole[name])[: len(positions)]

    def result(self) -> tuple[Saliency, ...]:
        """What was predicted and what was measured, of each sequence that the model reads, the text first."""
        return tuple(
            Saliency(name, self._addresses[name], read.tokens, self._predicted[name], self._measured[name])
            for name, read in self._found.trace.sequences.items()
        )


def saliencies(model: Model, found: Gradient) -> tuple[Saliency, ...]:
    """Gradient × embedding beside erasing, of each sequence that the model reads, the text first.

    LmvizError as `Erasing` raises it.
    """
    erasing = Erasing(model, found)
    while not erasing.is_done:
        erasing.go_on(model)
    return erasing.result()


def saliency(model: Model, found: Gradient, sequence: str = TEXT) -> np.ndarray:
    """By how much the number would change without each token's embedding, to first order, (position,).

    A pixel stands for itself: without it is blank.
    """
    address = input_address(model, sequence)
    gradients, values = found[address].array, found.trace[address].array
    return 0 - (gradients.astype(np.float64) * values).reshape(len(values), -1).sum(axis=1)  # never −0


def correlation(found: Sequence[Saliency]) -> float:
    """How far what was predicted goes along with what was measured, from −1 to 1; NaN where nothing varies.

    It is Pearson's correlation over all tokens.
    """
    predicted, measured = (
        np.concatenate([getattr(item, name) for item in found]) for name in ("predicted", "measured")
    )
    if len(predicted) < 2 or not predicted.std() or not measured.std():
        return float("nan")
    return float(np.corrcoef(predicted, measured)[0, 1])


def farthest_off(found: Sequence[Saliency]) -> tuple[Saliency, int]:
    """The sequence and the place of the token of which the prediction is farthest from what was measured."""
    worst = [np.abs(item.measured - item.predicted) for item in found]
    most = max(range(len(found)), key=lambda place: float(worst[place].max()))
    return found[most], int(worst[most].argmax())


def agreement_sentence(found: Sequence[Saliency]) -> str:
    """How well the gradient predicts what erasing does, in one sentence, computed from the numbers."""
    share = correlation(found)
    if np.isnan(share):
        return "No two words differ in what the gradient predicts or in what erasing them does."
    said = number(share, 2)
    if share >= GOOD:
        return f"The gradient predicts well what erasing each word does: the correlation is {said}."
    item, place = farthest_off(found)
    start = "predicts roughly" if share >= FAIR else "does not predict"
    measured, predicted = (signed_figure(float(part[place])) for part in (item.measured, item.predicted))
    word = told_apart(token.strip() for token in item.tokens)[place]
    return (
        f"The gradient {start} what erasing each word does, with a correlation of {said}: without "
        f"“{word}” the number changes by {measured}, and not by {predicted}."
    )


def _without(model: Model, found: Gradient, address: str, positions: Sequence[int]) -> np.ndarray:
    """The number without each of some tokens, (row,); with all of them where a row has KEPT."""
    taps, trace = model.taps(), found.trace
    recorder = TapRecorder(taps, trace.interventions, _lengths(trace))
    places = torch.tensor(positions)
    rows = torch.arange(len(places))[places != KEPT]
    places = places[places != KEPT]

    def listener(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        value = recorder(tap, value, position)
        if tap.address == address:
            value = value.clone()
            value[rows, places] = 0
        return value

    with evaluation(model):
        sequences = {
            name: on_device(model, read.ids.copy()).repeat(len(positions), 1)
            for name, read in trace.sequences.items()
        }
        tokens = sequences.pop("text")
        parameters = {**dict(model.named_buffers()), **dict(model.named_parameters())}
        values = ForwardPass(tokens, parameters, **sequences).run(taps, listener)
        scalar = in_range(found.scalar, values, trace.interventions)
        return scalar.compute(values[scalar.address]).cpu().double().numpy()


def _lengths(trace: Trace) -> dict[str, int]:
    return {name: len(read.ids) for name, read in trace.sequences.items()}
