"""Which words a number depends on: what its gradient says, and what erasing each word really does.

Gradient × embedding is the change to first order if an embedding were erased (Denil et al. 2014; Li et al.
2016). It is a prediction, which may be far off. `erased` measures what it predicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.backpropagation import unchanged
from lmviz.inspection.gradient import Gradient
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


def saliencies(model: Model, found: Gradient) -> tuple[Saliency, ...]:
    """Gradient × embedding beside erasing, of each sequence that the model reads, the text first.

    LmvizError as `erased` raises it.
    """
    return tuple(
        Saliency(
            name,
            input_address(model, name),
            read.tokens,
            saliency(model, found, name),
            erased(model, found, name),
        )
        for name, read in found.trace.sequences.items()
    )


def saliency(model: Model, found: Gradient, sequence: str = TEXT) -> np.ndarray:
    """By how much the number would change without each token's embedding, to first order, (position,).

    A pixel stands for itself: without it is blank.
    """
    address = input_address(model, sequence)
    gradients, values = found[address].array, found.trace[address].array
    return 0 - (gradients.astype(np.float64) * values).reshape(len(values), -1).sum(axis=1)  # never −0


def erased(model: Model, found: Gradient, sequence: str = TEXT) -> np.ndarray:
    """By how much the number changes where each token's embedding is set to zero in turn, (position,).

    Everything is computed anew, under the interventions that the gradient was taken with. LmvizError where
    the gradient is of another model, or of another snapshot.
    """
    check_made_by(found.trace, model)
    model, _ = unchanged(model, ())
    address, count = input_address(model, sequence), len(found.trace.sequences[sequence])
    rows = min(ROWS, count)
    # Rounding depends on the shape of a batch and on the row: a word that cannot matter changes nothing.
    whole = _without(model, found, address, [KEPT] * rows)
    changes = np.zeros(count)
    for first in range(0, count, rows):
        positions = list(range(first, min(first + rows, count)))
        without = _without(model, found, address, positions + [KEPT] * (rows - len(positions)))
        changes[positions] = (without - whole)[: len(positions)]
    return changes


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
    said = f"{share:.2f}".replace("-", "−")
    if share >= GOOD:
        return f"The gradient predicts well what erasing each word does: the correlation is {said}."
    item, place = farthest_off(found)
    start = "predicts roughly" if share >= FAIR else "does not predict"
    return (
        f"The gradient {start} what erasing each word does, with a correlation of {said}: without "
        f"“{item.tokens[place].strip()}” the number changes by {_signed(item.measured[place])}, and not by "
        f"{_signed(item.predicted[place])}."
    )


def _signed(change: float) -> str:
    return f"{change:+.2g}".replace("-", "−")


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
        return scalar.compute(values[scalar.address]).double().cpu().numpy()


def _lengths(trace: Trace) -> dict[str, int]:
    return {name: len(read.ids) for name, read in trace.sequences.items()}
