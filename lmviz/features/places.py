"""The taps that features can be found at: those with a row of channels or units for each token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.features.dictionary import Dictionary
from lmviz.features.texts import ReadText
from lmviz.inspection.recording import needed_taps
from lmviz.models.address import Address
from lmviz.models.batches_of_texts import batches_of_texts, side_by_side
from lmviz.models.explicit import ForwardPass
from lmviz.models.model import Model
from lmviz.models.other_names import hint, own_address
from lmviz.models.precision import widened
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import SOURCE
from lmviz.models.tap import Tap

ALONG_TOKENS = ("position", "source")
ROWS_OF = ("channel", "unit")


def feature_taps(model: Model) -> tuple[str, ...]:
    """The addresses of the taps of a model that features can be found at."""
    return tuple(tap.address for tap in model.taps() if _holds_states(tap))


def default_tap(model: Model) -> str:
    """Where features are looked for if nobody says where: in the state after the middle layer.

    LmvizError for a model without states.
    """
    found = feature_taps(model)
    streams = [address for address in found if Address.parse(address).name in ("residual2", "stream2")]
    states = [address for address in found if Address.parse(address).name == "hidden"]
    chosen = streams or states or list(found)
    if not chosen:
        raise LmvizError(
            f"{model.name or 'This model'} has no states of channels or units that features could be "
            "found in: open a neural network."
        )
    return chosen[len(chosen) // 2 if len(chosen) > 2 else -1]


def feedforward_taps(model: Model, tap: str) -> tuple[str, str]:
    """What the feed-forward network reads and what it writes, in the layer of one of its taps.

    LmvizError where that is no tap of a feed-forward network.
    """
    address = Address.parse(tap)
    if address.block == "feedforward":
        place = address.place
        taps = {one.address: one for one in model.taps()}
        hidden = taps.get(f"{place}/hidden")
        written = f"{place}/output"
        if hidden is not None and written in taps:
            return hidden.operation.operands[0].address, written
    raise LmvizError(
        f"A transcoder stands for a feed-forward network, and {tap} belongs to none: give its output, "
        "such as layers/1/feedforward/output."
    )


def placed(model: Model, dictionary: Dictionary, tap: str = "", written: str = "") -> Dictionary:
    """The same dictionary at taps of a model, which a person names, or another program in its own words.

    LmvizError where nobody says where it belongs, or where its states are not as wide as those there.
    """
    addresses = [one.address for one in model.taps()]
    at, to = (
        _own(asked or stored, addresses)
        for asked, stored in ((tap, dictionary.tap), (written, dictionary.written))
    )
    if not at:
        raise LmvizError(
            "The file does not say of which states these features are: give the tap, as in "
            "tap='layers/1/residual2'."
        )
    if to and at not in addresses:
        at = feedforward_taps(model, to)[0]
    found = replace(dictionary, tap=at, written=to)
    check_widths(model, found)
    return found


def _own(asked: str, addresses: Sequence[str]) -> str:
    """The address of a tap that is asked for in its own name or in that of another program."""
    other = None if asked in addresses else own_address(asked, addresses)
    return asked if other is None else other[1]


def check_widths(model: Model, dictionary: Dictionary) -> None:
    """LmvizError where a dictionary reads or writes states of another width than those of a model."""
    taps = (dictionary.tap, dictionary.target)
    widths = States.at(model, *taps).widths()
    for tap, own, wanted in zip(taps, (dictionary.width, dictionary.decoder.shape[1]), widths, strict=True):
        if own != wanted:
            raise LmvizError(
                f"These features are of states of {own:,} channels, and {model.name or 'this model'} has "
                f"{wanted:,} at {tap}: open those of this model."
            )


def _holds_states(tap: Tap) -> bool:
    return len(tap.axes) == 2 and tap.axes[0] in ALONG_TOKENS and tap.axes[1] in ROWS_OF


def state_tap(model: Model, address: str) -> Tap:
    """The tap of that address; LmvizError where there is none, or where it has no row for each token."""
    taps = model.taps()
    found = next((tap for tap in taps if tap.address == address), None)
    if found is None:
        raise LmvizError(f"No tap is called {address!r}: {hint(address, [tap.address for tap in taps])}")
    if not _holds_states(found):
        raise LmvizError(
            f"{address} has {', '.join(found.axes)}, and features are found where each token has a row of "
            f"channels or units: choose one of {', '.join(feature_taps(model)[:3]) or 'another model'}, …"
        )
    return found


@dataclass(frozen=True, eq=False)
class States:
    """Reads the states of rows of text at some taps, in padded batches.

    The first state of a text is left out: it is that of START, or of a word without any before it, and
    unlike all others. All states of a source count.
    """

    model: Model
    taps: tuple[Tap, ...]

    @classmethod
    def at(cls, model: Model, *addresses: str) -> States:
        """At taps by their addresses; LmvizError as of `state_tap`."""
        return cls(model, tuple(state_tap(model, address) for address in addresses))

    @property
    def along(self) -> str:
        """The axis that the states run along."""
        return self.taps[0].axes[0]

    def count(self, row: ReadText) -> int:
        """How many states a row gives."""
        return len(row.ids) - 1 if self.along == "position" or row.source is None else len(row.source)

    def widths(self) -> tuple[int, ...]:
        """How many channels the states have at each tap, found by reading one token."""
        source = np.array([0]) if len(self.model.inputs) > 1 else None
        found = self._batch([ReadText(np.array([0, 0]), source)])
        return tuple(states.shape[-1] for states in found)

    def batches(self, rows: Sequence[ReadText]) -> list[list[int]]:
        """Which rows are read together."""
        lengths = [row.lengths for row in rows]
        heads = int(getattr(self.model.configuration, "heads", 0) or 0)
        return list(batches_of_texts(self.model, lengths, squares=heads))

    def read(self, rows: Sequence[ReadText]) -> tuple[torch.Tensor, ...]:
        """(state, channel) at each tap, of rows that are read in one batch, one row after the other."""
        found = self._batch(rows)
        counts = [self.count(row) for row in rows]
        skipped = 1 if self.along == "position" else 0
        return tuple(
            torch.cat([states[row, skipped : skipped + count] for row, count in enumerate(counts)])
            for states in found
        )

    def _batch(self, rows: Sequence[ReadText]) -> tuple[torch.Tensor, ...]:
        """(row, position, channel) at each tap."""
        model = self.model
        needed = needed_taps(model.taps(), self.taps, ())
        addresses = [tap.address for tap in self.taps]
        tokens = on_device(model, side_by_side([row.ids for row in rows]))
        beside = {}
        sources = [row.source for row in rows if row.source is not None]
        if sources:
            beside[SOURCE] = on_device(model, side_by_side(sources))
        with evaluation(model):
            values = ForwardPass(tokens, model.tensors(), **beside).run(
                needed, lambda tap, value, position: value, keep=addresses
            )
            return tuple(widened(values[address]) for address in addresses)
