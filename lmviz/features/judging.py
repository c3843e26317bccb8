"""Judges a dictionary on held-out text: what of the states is kept, and of what the model says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from lmviz.features.dictionary import Dictionary
from lmviz.features.places import States, check_widths
from lmviz.features.texts import ReadText
from lmviz.features.worth import Worth
from lmviz.inspection.recording import needed_taps
from lmviz.models.batches_of_texts import batches_of_texts, side_by_side
from lmviz.models.explicit import ForwardPass
from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import SOURCE
from lmviz.models.tap import Listener, Tap

Put = Callable[[torch.Tensor], torch.Tensor]
"""What is put in the place of states (..., channel)."""


def judged(model: Model, dictionary: Dictionary, rows: Sequence[ReadText]) -> Dictionary:
    """The same dictionary with its worth on held-out rows, and how often each feature is on there.

    LmvizError where it does not fit the model.
    """
    states = States.at(model, *_taps_of(dictionary))
    check_widths(model, dictionary)
    coding = dictionary.coding(_device(model))
    on = torch.zeros(dictionary.size, dtype=torch.int64, device=_device(model))
    left, count = 0.0, 0
    moments = _Moments()
    with torch.inference_mode():
        for batch in states.batches(rows):
            look_up()
            with uncounted_work():
                found = states.read([rows[number] for number in batch])
            read, target = found[0], found[-1]
            activations = coding.encoded(read)
            on += (activations > 0).sum(0)
            left += float(in_float64(target - coding.reconstructed(read, activations)).square().sum())
            moments.add(target)
            count += len(read)
    rates = (in_float64(on) / max(count, 1)).float().cpu().numpy()
    mean = moments.mean
    losses: dict[str, float | None] = {}
    if model.predicts.continues:
        losses = {
            "loss": mean_loss(model, rows),
            "loss_reconstructed": mean_loss(model, rows, dictionary, coding.reconstructed),
            "loss_mean": mean_loss(model, rows, dictionary, lambda state: mean.to(state.dtype)),
            "loss_zeros": mean_loss(
                model, rows, dictionary, lambda state: torch.zeros_like(mean).to(state.dtype)
            ),
        }
    worth = Worth(
        tokens=count,
        variance_explained=1 - left / max(moments.variance, 1e-30),
        active=float(rates.sum()),
        silent=int((rates == 0).sum()),
        **losses,
    )
    return replace(dictionary, worth=worth, rates=rates)


def mean_loss(
    model: Model, rows: Sequence[ReadText], dictionary: Dictionary | None = None, put: Put | None = None
) -> float:
    """Nats a predicted token over rows, with something put in the place of the states of a dictionary.

    The first state of a text stays. In a recurrence what is put is what the next position goes on from.
    """
    taps = model.taps()
    listener: Listener = _unchanged
    if dictionary is not None and put is not None:
        listener = _Putting(dictionary, put, taps)
    asked = ("logits", *_taps_of(dictionary))
    needed = needed_taps(taps, [tap for tap in taps if tap.address in asked], ())
    total, count = 0.0, 0
    heads = int(getattr(model.configuration, "heads", 0) or 0)
    lengths = [row.lengths for row in rows]
    for batch in list(batches_of_texts(model, lengths, answers=model.outputs, squares=heads)):
        look_up()
        some = [rows[number] for number in batch]
        tokens = on_device(model, side_by_side([row.ids for row in some]))
        sources = [row.source for row in some if row.source is not None]
        beside = {SOURCE: on_device(model, side_by_side(sources))} if sources else {}
        with evaluation(model), uncounted_work():
            values = ForwardPass(tokens, model.tensors(), **beside).run(needed, listener, keep=("logits",))
            logs = torch.log_softmax(widened(values["logits"])[:, :-1], dim=-1)
            chosen = in_float64(logs.gather(2, tokens[:, 1:, None])[..., 0])
            ends = torch.tensor([len(row.ids) - 1 for row in some], device=chosen.device)
            judged = torch.arange(chosen.shape[1], device=chosen.device)[None] < ends[:, None]
            total -= float(chosen[judged].sum())
            count += int(judged.sum())
    return total / max(count, 1)


def _unchanged(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
    return value


class _Putting:
    """A listener that puts something in the place of the states that a dictionary reconstructs."""

    def __init__(self, dictionary: Dictionary, put: Put, taps: Sequence[Tap]) -> None:
        self._read, self._written, self._put = dictionary.tap, dictionary.target, put
        self._axes = {tap.address: tap.axes for tap in taps}
        self._states: dict[int | None, torch.Tensor] = {}

    def __call__(self, tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        if tap.address == self._read:
            self._states = {position: value}
        if tap.address != self._written:
            return value
        states = self._states[position]
        given = self._put(widened(states)).to(value.dtype).expand_as(value)
        if self._axes[tap.address][0] != "position":
            return given
        if position is not None:
            return value if position == 0 else given
        return torch.cat([value[:, :1], given[:, 1:]], dim=1)


class _Moments:
    """Sums for the mean and the variance of states, in double precision."""

    def __init__(self) -> None:
        self._sum: torch.Tensor | None = None
        self._squares, self._count = 0.0, 0

    def add(self, states: torch.Tensor) -> None:
        states = in_float64(states)
        total = states.sum(0)
        self._sum = total if self._sum is None else self._sum + total
        self._squares += float(states.square().sum())
        self._count += len(states)

    @property
    def mean(self) -> torch.Tensor:
        assert self._sum is not None, "states were added"
        return self._sum / self._count

    @property
    def variance(self) -> float:
        """The sum of squares around the mean."""
        return self._squares - self._count * float(self.mean.square().sum())


def _taps_of(dictionary: Dictionary | None) -> tuple[str, ...]:
    if dictionary is None:
        return ()
    return (dictionary.tap, dictionary.target) if dictionary.is_transcoder else (dictionary.tap,)


def _device(model: Model) -> torch.device:
    parameter = next(model.parameters(), None)
    return torch.device("cpu") if parameter is None else parameter.device
