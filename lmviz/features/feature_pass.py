"""Passes over rows of texts for a dictionary: the states at its tap, and the losses with states changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
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
"""What becomes of states (row, position, channel); inside a recurrence, of those of one position (row,
channel), which is given."""


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Some rows as they were read: `states` (row, position, channel) and the `losses` of the next tokens.

    `losses` (row, position) float32 in nats stand at the position from which a token is predicted; they are
    0 at the last position of a row and behind it. `ids` and `counts` (row, position) are the tokens, and
    which positions count: not the padding, and not the first.
    """

    ids: np.ndarray
    counts: np.ndarray
    states: torch.Tensor
    losses: torch.Tensor


class FeaturePass:
    """Reads rows of ids with one model, and looks at one tap.

    LmvizError for a model that reads a source, that predicts no next tokens, or that has no such states.
    """

    def __init__(self, model: Model, address: str) -> None:
        if len(model.inputs) > 1 or not model.predicts.continues:
            raise LmvizError(
                f"{model.name or 'This model'} does not continue one text: open a language model to look at "
                "its features."
            )
        taps = {tap.address: tap for tap in model.taps()}
        if address not in taps:
            raise LmvizError(
                f"{model.name or 'This model'} has no tap {address!r}, at which these features were found: "
                "open the model that they belong to."
            )
        tap = taps[address]
        if len(tap.axes) != 2 or tap.axes[0] != "position":
            raise LmvizError(
                f"{address} holds no states of a text, one at each position: choose another tap."
            )
        self.model, self.address, self.tap = model, address, tap
        self._whole = needed_taps(model.taps(), [taps["logits"]], ())
        if tap not in self._whole:
            self._whole = needed_taps(model.taps(), [taps["logits"], tap], ())
        self._after = self._taps_after()

    def _taps_after(self) -> list[Tap]:
        """What follows from the states at the tap alone; empty where that cannot be computed apart."""
        known = {tap.address: tap for tap in self._whole}
        found: set[str] = set()
        waiting = ["logits"]
        while waiting:
            address = waiting.pop()
            if address not in found and address != self.address:
                found.add(address)
                waiting += [operand.address for operand in known[address].operation.operands]
        after = [tap for tap in self._whole if tap.address in found]
        return [] if self.tap.scan or any(tap.scan for tap in after) else after

    @property
    def goes_on(self) -> bool:
        """Whether the losses follow from the states at the tap, with no need to read the text again."""
        return bool(self._after)

    def batches(self, rows: Sequence[np.ndarray]) -> Iterator[list[int]]:
        """The numbers of the rows that are read together."""
        lengths = [{TEXT: len(ids)} for ids in rows]
        return batches_of_texts(self.model, lengths, answers=self.model.outputs)

    def read(self, rows: Sequence[np.ndarray]) -> ReadRows:
        """States and losses of some rows, in one batch."""
        ids = side_by_side(rows)
        states, logits = self._run(ids, None)
        return ReadRows(ids, self.counted(rows), states, self._losses(logits, rows, ids))

    def counted(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """(row, position) Which positions count: all but the first, whose state is unlike all others."""
        counts = np.zeros((len(rows), max(map(len, rows))), dtype=bool)
        for row, own in enumerate(rows):
            counts[row, 1 : len(own)] = True
        return counts

    def losses_with(self, rows: Sequence[np.ndarray], change: Change) -> torch.Tensor:
        """(row, position) The losses of the next tokens where the states at the tap are changed."""
        ids = side_by_side(rows)
        return self._losses(self._run(ids, change)[1], rows, ids)

    def losses_from(self, rows: Sequence[np.ndarray], states: torch.Tensor) -> torch.Tensor:
        """The same for given states (row, position, channel), where the pass `goes_on`."""
        ids = side_by_side(rows)
        return self._losses(self.logits_from(ids, states), rows, ids)

    def logits_from(self, ids: np.ndarray, states: torch.Tensor) -> torch.Tensor:
        """(row, position, token) What follows from given states at the tap, where the pass `goes_on`."""
        with evaluation(self.model):
            forward = ForwardPass(on_device(self.model, ids), self.model.tensors())
            forward.give({self.address: states.to(forward.tokens.device)})
            values = forward.run(self._after, lambda tap, value, position: value, keep=("logits",))
            return widened(values["logits"])

    def logits_with(self, ids: np.ndarray, change: Change | None) -> torch.Tensor:
        """(row, position, token) The logits where the states at the tap are changed."""
        return self._run(ids, change)[1]

    def _run(self, ids: np.ndarray, change: Change | None) -> tuple[torch.Tensor, torch.Tensor]:
        """The states at the tap, changed, and the logits."""
        steps: dict[int, torch.Tensor] = {}

        def listen(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
            if tap.address != self.address:
                return value
            if change is not None:
                value = change(widened(value), position).to(value)
            if position is not None:
                steps[position] = value
            return value

        with evaluation(self.model):
            forward = ForwardPass(on_device(self.model, ids), self.model.tensors())
            values = forward.run(self._whole, listen, keep=("logits", self.address))
            states = in_order(steps) if steps else values[self.address]
            return widened(states), widened(values["logits"])

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


def activations_of(
    model: Model, dictionary: Dictionary, rows: Sequence[np.ndarray], feature: int
) -> list[np.ndarray]:
    """How strongly one feature is on at each token of rows of ids, (position,) each, in their order."""
    read = FeaturePass(model, dictionary.tap)
    parameter = next(model.parameters(), None)
    coding = dictionary.coding("cpu" if parameter is None else parameter.device)
    found: dict[int, np.ndarray] = {}
    for batch in read.batches(rows):
        states = read.read([rows[at] for at in batch]).states
        for row, at in enumerate(batch):
            own = coding.encoded(states[row, : len(rows[at])].float())[:, feature]
            found[at] = own.cpu().numpy()
    return [found[at] for at in range(len(rows))]
