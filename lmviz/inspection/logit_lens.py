"""The logit lens: what a model would predict if it stopped after each layer (nostalgebraist 2020).

The state after each layer is passed through the final normalisation and the output layer as if it were the
last, under the interventions on these two. The same is done with the layers of a recurrent network. An n-gram
model has a distribution at every order, which is shown as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.indices import from_start
from lmviz.inspection.recording import TapRecorder
from lmviz.inspection.stream import ANSWERS, stream_places
from lmviz.inspection.trace import Trace
from lmviz.looks.shown import Shown
from lmviz.models.address import Address
from lmviz.models.arithmetic import Arithmetic
from lmviz.models.explicit import ForwardPass
from lmviz.models.growth import WHOLE
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.reading import evaluation, on_device
from lmviz.models.tap import Operation, Reader, Scope, Tap

Carried = Callable[[str, torch.Tensor], torch.Tensor]
"""Says what a state (..., channel) of a place becomes by the end of the stream; a fitted lens does."""


@dataclass(frozen=True, eq=False, repr=False)
class LogitLens(Shown):
    """The likeliest tokens at each place and position.

    `places` are tap addresses in the order of computation, `positions` those that were asked for.
    `ids` and `probabilities` are (place, position, candidate), likeliest first; `of_final` (place,
    position) is the probability of what the model predicts in the end, and `entropy` (place, position)
    that of the whole distribution, in bits; `ranks` (place, position) says at which place, from 1, the
    distribution has what the model predicts in the end. `names` are the
    tokens or labels by id, and `tokens` those of the whole text.
    """

    places: tuple[str, ...]
    positions: tuple[int, ...]
    ids: np.ndarray
    probabilities: np.ndarray
    of_final: np.ndarray
    entropy: np.ndarray
    ranks: np.ndarray
    names: Sequence[str] = field(default=(), kw_only=True)
    tokens: tuple[str, ...] = field(default=(), kw_only=True)

    def name_of(self, id: int) -> str:
        """What a token or a label is called; its id where names are not known."""
        return self.names[id] if id < len(self.names) else str(id)

    @property
    def settled(self) -> np.ndarray:
        """(position,) the index of the place from which on the likeliest answer stays the final one."""
        is_final = self.ids[:, :, 0] == self.ids[-1, :, 0]
        return len(self.places) - np.logical_and.accumulate(is_final[::-1]).sum(axis=0)

    @property
    def by_layer(self) -> LogitLens:
        """The same with one place for each layer, its last, and one for what comes before all layers."""
        kept = _after_layers(self.places)
        rows = [self.places.index(place) for place in kept]
        fields = (self.ids, self.probabilities, self.of_final, self.entropy, self.ranks)
        kept_rows = (field[rows] for field in fields)
        return replace(LogitLens(kept, self.positions, *kept_rows), names=self.names, tokens=self.tokens)


@dataclass(frozen=True, eq=False)
class Given(Operation):
    """An operation whose value is known already."""

    value: torch.Tensor

    growth = WHOLE
    operands = ()

    def compute(self, scope: Scope) -> torch.Tensor:
        """(batch, *axes)."""
        return self.value

    def explain(self, reader: Reader, address: str, index: tuple[int, ...]) -> Arithmetic:
        """A value that was handed in has no arithmetic here."""
        raise LmvizError(f"{address} was given, not computed: explain it where it was traced.")


def logit_lens(
    model: Model,
    trace: Trace,
    count: int = 5,
    positions: Sequence[int] | None = None,
    *,
    after_layers: bool = False,
    carried: Carried | None = None,
) -> LogitLens:
    """The `count` likeliest tokens, or labels, at each place along the stream, at all positions or some.

    With `after_layers` there is one place for each layer, its last, and one for what comes before all layers.
    A state is read as it is, or as what is `carried` to the end; the last place is never carried. Negative
    positions count from the end. The last place gives the model's own distribution. LmvizError when the
    places were not recorded, when there is no such position, or when the trace was made by another model
    than this, or at another snapshot.
    """
    check_made_by(trace, model)
    if model.predicts.per == "text":
        raise LmvizError(
            "This model gives one answer for the whole text, so there is none at a position: look at the "
            "probabilities of shorter texts instead."
        )
    places = lens_places(model, after_layers=after_layers)
    wanted = range(len(trace)) if positions is None else positions
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise LmvizError(f"{positions!r} is not a list of positions: give several, such as [0, -1].")
    chosen = np.array([from_start("position", at, len(trace)) for at in wanted], dtype=np.int64)
    if not len(chosen):
        raise LmvizError(f"No position is chosen: choose some of the {len(trace)} positions.")
    count = min(whole_number("count", count, least=1), model.outputs)
    final = torch.from_numpy(trace["logits"].rows(chosen.tolist()).argmax(axis=-1))[:, None]  # (position, 1)
    ids, probabilities, of_final, entropy, ranks = [], [], [], [], []
    for shares in lens_distributions(model, trace, places, chosen, carried):  # (position, token) each
        largest = shares.topk(count, dim=-1)
        ids.append(largest.indices)
        probabilities.append(largest.values)
        of_final.append(shares.gather(-1, final.to(shares.device))[:, 0])
        ranks.append((shares > of_final[-1][:, None]).sum(dim=-1) + 1)
        entropy.append(torch.special.entr(shares).sum(dim=-1) / np.log(2))
    stacked = (torch.stack(rows).cpu().numpy() for rows in (ids, probabilities, of_final, entropy, ranks))
    found = LogitLens(places, tuple(map(int, chosen)), *stacked)
    return replace(found, names=trace.names(model.predicts.axis), tokens=trace.tokens)


def lens_places(model: Model, *, after_layers: bool = False) -> tuple[str, ...]:
    """The places along the stream, all or the last of each layer; LmvizError where there is none."""
    places = stream_places((tap.address for tap in model.taps()), model.stages())
    if not places and model.predicts.per == "text":
        raise LmvizError(
            f"{model.name or 'This model'} gives one answer for a whole text, so no state after a layer "
            "leads to an answer of its own: name taps where that is possible, or open a model that "
            "answers at each word."
        )
    if not places:
        raise LmvizError(
            f"The {model.family} model names no state that its logits are made of: let the stage of its "
            "logits say what it reads."
        )
    return _after_layers(places) if after_layers else places


def _after_layers(places: Sequence[str]) -> tuple[str, ...]:
    """The last place of each layer, and what belongs to none."""
    layers = {place: Address.parse(place).layer for place in places}
    last = {place if layer is None else layer: place for place, layer in layers.items()}
    return tuple(last.values())


def lens_distributions(
    model: Model,
    trace: Trace,
    places: Sequence[str],
    positions: np.ndarray,
    carried: Carried | None = None,
) -> Iterator[torch.Tensor]:
    """The distribution (position, token) that each place leads to; the last of the places is the stream's."""
    taps, last = model.taps(), places[-1]
    ending, read = ending_after(taps, last)
    changes = [
        change for change in trace.interventions if any(change.concerns(tap.address) for tap in ending)
    ]
    # What looks back over other positions, as a window of embeddings does, needs them all; so does surgery.
    rows = positions if read <= {last} and not changes else np.arange(len(trace))
    parameters = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    lengths = {name: len(read.ids) for name, read in trace.sequences.items()}
    for place in places:
        if trace[place].axes[-1] in ANSWERS and not changes:
            yield torch.from_numpy(trace[place].array[positions])
            continue
        given = []
        for tap in taps:
            if tap.address in read:
                source = place if tap.address == last else tap.address
                value = _values(model, trace, source, rows)
                if carried is not None and tap.address == last and source != last:
                    value = carried(source, value)
                given.append(Tap(tap.address, tap.axes, Given(value)))
        with evaluation(model):
            beside = {name: on_device(model, read.ids) for name, read in trace.further.items()}
            scope = ForwardPass(on_device(model, trace.ids[rows]), parameters, **beside)
            listener = _Ending([*given, *ending], changes, lengths)
            logits = scope.run([*given, *ending], listener)["logits"][0]
            yield (logits if rows is positions else logits[positions]).softmax(dim=-1)


def ending_after(taps: Sequence[Tap], last: str) -> tuple[Sequence[Tap], set[str]]:
    """The taps from the end of the stream to the logits, and the addresses that they read from before."""
    addresses = [tap.address for tap in taps]
    ending = taps[addresses.index(last) + 1 : addresses.index("logits") + 1]
    read = {operand.address for tap in ending for operand in tap.operation.operands}
    return ending, (read & set(addresses)) - {tap.address for tap in ending}


class _Ending(TapRecorder):
    """Carries interventions out in what is computed; what is given bears the marks of its own already."""

    def __call__(self, tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        if isinstance(tap.operation, Given):
            self.values[tap.address] = value
            return value
        return super().__call__(tap, value, position)


def _values(model: Model, trace: Trace, address: str, positions: np.ndarray) -> torch.Tensor:
    """A traced tap's values at some positions as a batch of one, where and as the model computes."""
    rows = torch.from_numpy(trace[address].array[positions])[None]
    parameter = next(model.parameters(), None)
    return rows if parameter is None else rows.to(widened(parameter[:0]))
