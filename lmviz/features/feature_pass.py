"""Passes over rows of texts for a dictionary: the states at its taps, and losses with changed features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.features.coding import Coding
from lmviz.features.dictionary import Dictionary
from lmviz.inspection.recording import needed_taps
from lmviz.models.batches_of_texts import batches_of_texts, side_by_side
from lmviz.models.explicit import ForwardPass, in_order
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import TEXT
from lmviz.models.tap import Tap

Change = Callable[[torch.Tensor, int | None], torch.Tensor]
"""What is added to what features write (row, position, channel), by their activations (row, position,
feature); inside a recurrence, at one position, which is given, (row, channel) by (row, feature)."""


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Some rows as they were read: `states` (row, position, channel) and the `losses` of the next tokens.

    `target` (row, position, channel) are the states that features stand for: `states` themselves, but for a
    transcoder. `losses` (row, position) float32 in nats stand at the position from which a token is
    predicted; they are 0 at the last position of a row and behind it. `ids` and `counts` (row, position) are
    the tokens, and which positions count: not the padding, and not the first.
    """

    ids: np.ndarray
    counts: np.ndarray
    states: torch.Tensor
    target: torch.Tensor
    losses: torch.Tensor


class FeaturePass:
    """Reads rows of ids with one model, and looks at the states that a dictionary reads and stands for.

    These are one and the same but for a transcoder, whose features are changed where they write. LmvizError
    for a model that reads a source, that predicts no next tokens, or that has no such states.
    """

    def __init__(self, model: Model, dictionary: Dictionary) -> None:
        if len(model.inputs) > 1 or not model.predicts.continues:
            raise LmvizError(
                f"{model.name or 'This model'} does not continue one text: open a language model to look at "
                "its features."
            )
        taps = {tap.address: tap for tap in model.taps()}
        for address in (dictionary.tap, dictionary.target):
            if address not in taps:
                raise LmvizError(
                    f"{model.name or 'This model'} has no tap {address!r}, at which these features were "
                    "found: open the model that they belong to."
                )
            if len(taps[address].axes) != 2 or taps[address].axes[0] != "position":
                raise LmvizError(
                    f"{address} holds no states of a text, one at each position: choose another tap."
                )
        self.model, self.dictionary, self.coding = model, dictionary, coding_on(model, dictionary)
        read, target = taps[dictionary.tap], taps[dictionary.target]
        self._whole = needed_taps(model.taps(), [taps["logits"], read, target], ())
        order = [tap.address for tap in self._whole]
        if order.index(target.address) < order.index(read.address):
            raise LmvizError(
                f"{dictionary.tap} follows from {dictionary.target}, so that no feature can be read at the "
                "one and write at the other: choose other taps."
            )
        self._after = self._taps_after(target)

    def _taps_after(self, target: Tap) -> list[Tap]:
        """What follows where the states at a tap are given; empty where that cannot be computed apart."""
        known = {tap.address: tap for tap in self._whole}
        found: set[str] = set()
        waiting = ["logits"]
        while waiting:
            address = waiting.pop()
            if address not in found and address != target.address:
                found.add(address)
                waiting += [operand.address for operand in known[address].operation.operands]
        after = [tap for tap in self._whole if tap.address in found]
        return [] if target.scan or any(tap.scan for tap in after) else after

    @property
    def goes_on(self) -> bool:
        """Whether the losses follow from states that are given, with no need for the whole text again."""
        return bool(self._after)

    def batches(self, rows: Sequence[np.ndarray]) -> Iterator[list[int]]:
        """The numbers of the rows that are read together."""
        lengths = [{TEXT: len(ids)} for ids in rows]
        return batches_of_texts(self.model, lengths, answers=self.model.outputs)

    def read(self, rows: Sequence[np.ndarray]) -> ReadRows:
        """States and losses of some rows, in one batch."""
        ids = side_by_side(rows)
        states, target, logits = self._run(ids, None)
        return ReadRows(ids, self.counted(rows), states, target, self._losses(logits, rows, ids))

    def counted(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """(row, position) Which positions count: all but the first, whose state is unlike all others."""
        counts = np.zeros((len(rows), max(map(len, rows))), dtype=bool)
        for row, own in enumerate(rows):
            counts[row, 1 : len(own)] = True
        return counts

    def losses_with(self, rows: Sequence[np.ndarray], change: Change) -> torch.Tensor:
        """(row, position) The losses of the next tokens where more or less is written."""
        ids = side_by_side(rows)
        return self._losses(self.logits_with(ids, change), rows, ids)

    def losses_from(
        self, rows: Sequence[np.ndarray], states: torch.Tensor, target: torch.Tensor, change: Change
    ) -> torch.Tensor:
        """The same for states (row, position, channel) that were read before, where the pass `goes_on`."""
        ids = side_by_side(rows)
        given = target + change(self.coding.encoded(states), None)
        with evaluation(self.model):
            forward = ForwardPass(on_device(self.model, ids), self.model.tensors())
            forward.give({self.dictionary.target: given.to(forward.tokens.device)})
            values = forward.run(self._after, lambda tap, value, position: value, keep=("logits",))
            return self._losses(widened(values["logits"]), rows, ids)

    def logits_with(self, ids: np.ndarray, change: Change | None) -> torch.Tensor:
        """(row, position, token) The logits where more or less is written, or all as it is."""
        return self._run(ids, change)[2]

    def _run(self, ids: np.ndarray, change: Change | None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The states that are read, those that are written to, changed, and the logits."""
        read, written = _Heard(), _Heard()

        def listen(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
            if tap.address == self.dictionary.tap:
                read.take(value, position)
            if tap.address == self.dictionary.target:
                if change is not None:
                    states = widened(read.at(position))
                    value = (widened(value) + change(self.coding.encoded(states), position)).to(value)
                written.take(value, position)
            return value

        with evaluation(self.model):
            forward = ForwardPass(on_device(self.model, ids), self.model.tensors())
            values = forward.run(self._whole, listen, keep=("logits",))
            states = widened(read.whole)
            target = widened(written.whole) if self.dictionary.is_transcoder else states
            return states, target, widened(values["logits"])

    def _losses(self, logits: torch.Tensor, rows: Sequence[np.ndarray], ids: np.ndarray) -> torch.Tensor:
        targets = on_device(self.model, ids)[:, 1:]
        found = torch.zeros(ids.shape, dtype=torch.float32)
        own = torch.nn.functional.cross_entropy(
            logits[:, :-1].reshape(-1, logits.shape[-1]).float(), targets.reshape(-1), reduction="none"
        )
        found[:, :-1] = own.reshape(targets.shape).cpu()
        for row, read in enumerate(rows):
            found[row, len(read) - 1 :] = 0.0
        return found


class _Heard:
    """The states at a tap as they come: all at once, or inside a recurrence one position after the other."""

    def __init__(self) -> None:
        self._all: torch.Tensor | None = None
        self._steps: dict[int, torch.Tensor] = {}

    def take(self, value: torch.Tensor, position: int | None) -> None:
        if position is None:
            self._all = value
        else:
            self._steps[position] = value

    def at(self, position: int | None) -> torch.Tensor:
        """All of them, or those of one position."""
        if position is None:
            return self.whole
        return self._steps[position] if self._all is None else self._all[:, position]

    @property
    def whole(self) -> torch.Tensor:
        """(row, position, channel)"""
        return in_order(self._steps) if self._all is None else self._all


def coding_on(model: Model, dictionary: Dictionary) -> Coding:
    """A dictionary's tensors where a model computes."""
    parameter = next(model.parameters(), None)
    return dictionary.coding("cpu" if parameter is None else parameter.device)


def activations_of(
    model: Model, dictionary: Dictionary, rows: Sequence[np.ndarray], feature: int
) -> list[np.ndarray]:
    """How strongly one feature is on at each token of rows of ids, (position,) each, in their order."""
    read = FeaturePass(model, dictionary)
    found: dict[int, np.ndarray] = {}
    for batch in read.batches(rows):
        states = read.read([rows[at] for at in batch]).states
        for row, at in enumerate(batch):
            own = read.coding.encoded(states[row, : len(rows[at])].float())[:, feature]
            found[at] = own.cpu().numpy()
    return [found[at] for at in range(len(rows))]
