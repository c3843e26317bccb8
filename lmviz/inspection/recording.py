"""Records every tap's value while a model computes, and applies interventions."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from lmviz.base.arguments import words
from lmviz.base.errors import LmvizError
from lmviz.inspection.continuing import continued
from lmviz.inspection.deferred_array import deferred, deferred_taps, heads_of
from lmviz.inspection.freezing import freeze, storages
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.later_rows import later_rows, later_taps
from lmviz.inspection.origin import Origin
from lmviz.inspection.rows_of_squares import PassByRows
from lmviz.inspection.surgery import changed, changed_tokens, check_positions, joined
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.explicit import ForwardPass, in_order
from lmviz.models.model import Model
from lmviz.models.other_names import hint, taps_matching
from lmviz.models.prefix import Prefix, check_inputs, read_prefix
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import ALONG, TEXT
from lmviz.models.tap import Tap, Value, inside


class TapRecorder:
    """A listener that carries interventions out and keeps values, changed or not, by address.

    With `keep` it keeps these alone, and what a bypassed tap passes on.
    """

    def __init__(
        self,
        taps: Sequence[Tap],
        interventions: Sequence[Intervention],
        positions: Mapping[str, int],
        keep: Collection[str] | None = None,
    ) -> None:
        self._keep = keep
        self.values: dict[str, torch.Tensor] = {}
        self._steps: dict[str, dict[int, torch.Tensor]] = {}
        self._axes = {tap.address: tap.axes for tap in taps}
        self._positions = positions
        self._interventions = tuple(interventions)
        self._changes = {tap.address: _concerning(interventions, tap.address) for tap in taps}
        self._stated: dict[tuple[int, str], list[Intervention]] = {}

    def __call__(self, tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        for number in self._changes[tap.address]:
            intervention = self._interventions[number]
            operand = self._operand(tap, value, position) if intervention.kind == "bypass" else None
            step = None if position is None else (position, self._length(tap.axes[0]))
            note = partial(self._note, number, tap.address)
            value = changed(intervention, tap.axes, value, operand=operand, step=step, note=note)
        value = self.handed_on(tap, value, position)
        if self._keep is not None and tap.address not in self._keep:
            return value
        if position is None:
            self.values[tap.address] = value
        else:
            self._steps.setdefault(tap.address, {})[position] = value
            if len(self._steps[tap.address]) == self._length(tap.axes[0]):
                self.values[tap.address] = in_order(self._steps.pop(tap.address))
        return value

    def handed_on(self, tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        """The value with which to go on; another recorder may put a tensor of its own in its place."""
        return value

    def carried_out(self) -> tuple[Intervention, ...]:
        """The interventions; where a value was a function, the numbers that it gave at each tap."""
        found: list[Intervention] = []
        for number, intervention in enumerate(self._interventions):
            if not callable(intervention.value):
                found.append(intervention)
                continue
            for address in self._changes:
                if (number, address) in self._stated:
                    found.append(dataclasses.replace(self._joined(number, address), address=address))
        return tuple(found)

    def _joined(self, number: int, address: str) -> Intervention:
        """What an intervention stated at a tap, in a scan for one position after the other, as one."""
        stated = self._stated[number, address]
        if len(stated) == 1:
            return stated[0]
        axis = self._axes[address][0]
        return joined(stated, axis, self._length(axis))

    def _length(self, axis: str) -> int:
        """How many positions the sequence has that an axis runs along."""
        return self._positions[ALONG[axis]]

    def _note(self, number: int, address: str, stated: Intervention) -> None:
        self._stated.setdefault((number, address), []).append(stated)

    def _operand(self, tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor | None:
        """What the tap's main operand is where the value stands; None where the two differ in shape."""
        if not tap.operation.operands:
            return None
        found = self._read(tap.operation.operands[0], tap.axes[0], value, position)
        return found if found.shape == value.shape else None

    def _read(self, operand: Value, along: str, value: torch.Tensor, position: int | None) -> torch.Tensor:
        if position is None or self._axes[operand.address][:1] != (along,):
            return self.values[operand.address]
        position += operand.shift
        if not inside(position, self._length(along)):
            return torch.zeros_like(value)
        if operand.address in self._steps:
            return self._steps[operand.address][position]
        return self.values[operand.address][:, position]


def record(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    patterns: Collection[str] | None,
    interventions: Sequence[Intervention],
    earlier: Trace | None = None,
    answers_later: bool = False,
    **further: str | Sequence[int] | np.ndarray,
) -> Trace:
    """What `lmviz.inspection.tracing.trace` promises; `further` are what the model reads beside the text."""
    reading = prepared(model, text_or_ids, interventions, further)
    taps = model.taps()
    wanted = wanted_taps(taps, patterns)
    later: frozenset[str] = frozenset()
    if answers_later and model.tensors():  # one that counts reads tables, which it replaces
        later = later_taps(taps, len(reading.ids), model.outputs)
    arrays, origin, enabled = None, None, reading.interventions
    if earlier is not None and not enabled and not reading.prefix.dropped:
        arrays, origin = continued(model, taps, earlier, reading.ids, reading.beside, later), earlier.origin
    if arrays is None:
        needed = taps if patterns is None else needed_taps(taps, wanted, enabled)
        arrays, enabled = _listened(model, needed, reading, later, {tap.address for tap in wanted})
    kept = {tap.address: arrays[tap.address] for tap in wanted}
    return traced(model, reading, kept, enabled, origin or Origin(model))


@dataclass(frozen=True, eq=False)
class PreparedReading:
    """What a model is about to read.

    `prefix` is the text, `ids` (position,) its tokens as interventions leave them, and `beside` has the
    other sequences by name. `interventions` are those in force.
    """

    prefix: Prefix
    ids: np.ndarray
    beside: Mapping[str, Prefix]
    interventions: tuple[Intervention, ...]

    @property
    def lengths(self) -> dict[str, int]:
        """How many positions each sequence has."""
        return {TEXT: len(self.ids)} | {name: len(read) for name, read in self.beside.items()}

    def others(self, model: Model) -> dict[str, torch.Tensor]:
        """The sequences beside the text, (1, position) each, where the model computes."""
        return {name: on_device(model, read.ids) for name, read in self.beside.items()}


def prepared(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    interventions: Sequence[Intervention],
    further: Mapping[str, str | Sequence[int] | np.ndarray],
) -> PreparedReading:
    """What is to be read, and interventions, checked against a model; LmvizError where they do not fit it."""
    check_inputs(model, further)
    beside = {name: read_prefix(model, given, name) for name, given in further.items()}
    prefix = read_prefix(model, text_or_ids).last(model.context)
    enabled = tuple(intervention for intervention in interventions if intervention.enabled)
    check_addresses(model.taps(), enabled)
    check_positions(enabled, {name: len(read) for name, read in (beside | {TEXT: prefix}).items()})
    ids = changed_tokens(prefix.ids, enabled, model.vocabulary_size)
    return PreparedReading(prefix, ids, beside, enabled)


def traced(
    model: Model,
    reading: PreparedReading,
    arrays: Mapping[str, TracedArray],
    interventions: tuple[Intervention, ...],
    origin: Origin,
) -> Trace:
    """The trace that recorded arrays make, with the interventions as they were carried out."""
    prefix = reading.prefix
    return Trace(
        tokens=_tokens(model, prefix.tokens, prefix.ids, reading.ids),
        ids=reading.ids,
        text=prefix.text,
        offsets=prefix.offsets,
        family=model.family,
        stages=model.stages(),
        arrays=arrays,
        interventions=interventions,
        dropped=prefix.dropped,
        further=reading.beside,
        name=model.name,
        step=model.step,
        predicts=model.predicts,
        vocabulary=() if model.tokenizer is None else model.tokenizer.tokens(),
        origin=origin,
    )


def _listened(
    model: Model,
    taps: Sequence[Tap],
    reading: PreparedReading,
    later: frozenset[str],
    wanted: Collection[str],
) -> tuple[dict[str, TracedArray], tuple[Intervention, ...]]:
    """The values of the wanted taps by address, and the interventions as they were carried out.

    `taps` are those that must be computed.
    """
    heads = heads_of(taps, model.configuration)
    changed = read_by_changed(taps, reading.interventions)
    asked = [tap for tap in taps if tap.address in wanted]
    recorded = {tap.address for tap in asked} - deferred_taps(asked, len(reading.ids), heads)
    lazy = deferred_taps(taps, len(reading.ids), heads) - recorded - changed
    later = later - changed
    made = _made_of(taps, wanted, lazy | later)
    recorder = TapRecorder(taps, reading.interventions, reading.lengths, made | changed)
    tokens, others = on_device(model, reading.ids), reading.others(model)
    parameters = model.tensors()
    with evaluation(model):
        if lazy or later:
            by_rows = PassByRows(tokens, parameters, taps, lazy, **others)
            by_rows.run([tap for tap in taps if tap.address not in lazy | later], recorder, keep=())
        else:
            ForwardPass(tokens, parameters, **others).run(taps, recorder, keep=())
    borrowed = storages(parameters.values())
    arrays: dict[str, TracedArray] = {}
    for tap in taps:
        if tap.address not in made:
            continue
        if tap.address in lazy:
            arrays[tap.address] = deferred(tap, arrays, reading.ids, heads, parameters)
        elif tap.address in later:
            arrays[tap.address] = later_rows(tap, reading.ids, model.outputs, arrays, parameters)
        else:
            value = freeze(recorder.values.pop(tap.address), borrowed)
            arrays[tap.address] = TracedArray(value, tap.axes, tap.scale)
    return arrays, recorder.carried_out()


def needed_taps(
    taps: Sequence[Tap], wanted: Sequence[Tap], interventions: Sequence[Intervention]
) -> list[Tap]:
    """The taps, in order, that the wanted ones are computed from, and those that interventions concern."""
    known = {tap.address: tap for tap in taps}
    found: set[str] = set()
    waiting = [*wanted, *(tap for tap in taps if _concerning(interventions, tap.address))]
    while waiting:
        tap = waiting.pop()
        if tap.address not in found:
            found.add(tap.address)
            waiting += [known[operand.address] for operand in tap.operation.operands]
    return [tap for tap in taps if tap.address in found]


def _made_of(taps: Sequence[Tap], wanted: Collection[str], unrecorded: Collection[str]) -> set[str]:
    """The addresses that must be known: the wanted ones, and what those are made of that are made later."""
    found = set(wanted)
    for tap in reversed(taps):
        if tap.address in found and tap.address in unrecorded:
            found |= {operand.address for operand in tap.operation.operands}
    return found


def read_by_changed(taps: Sequence[Tap], interventions: Sequence[Intervention]) -> set[str]:
    """The addresses that interventions change, and those that are read there.

    These are recorded whatever they take. A bypassed tap passes one of them on, and what comes back to them
    does not follow from the gradient of the changed value.
    """
    changed = [tap for tap in taps if _concerning(interventions, tap.address)]
    read = {operand.address for tap in changed for operand in tap.operation.operands}
    return {tap.address for tap in changed} | read


def _concerning(interventions: Sequence[Intervention], address: str) -> tuple[int, ...]:
    """The places of those that concern an address."""
    return tuple(number for number, item in enumerate(interventions) if item.concerns(address))


def wanted_taps(taps: Sequence[Tap], patterns: Collection[str] | None) -> list[Tap]:
    """The taps that patterns mean, all of them without any; LmvizError for a pattern that means none."""
    if patterns is None:
        return list(taps)
    patterns = words("pattern of addresses", patterns, "layers/*/hidden")
    return taps_matching(taps, patterns)


def check_addresses(taps: Sequence[Tap], interventions: Sequence[Intervention]) -> None:
    """LmvizError where an intervention concerns no tap."""
    for intervention in interventions:
        if intervention.concerns_tokens or not intervention.enabled:
            continue
        if not any(intervention.concerns(tap.address) for tap in taps):
            asked = intervention.address
            raise LmvizError(f"No tap is called {asked!r}: {hint(asked, _addresses(taps))}")


def _addresses(taps: Sequence[Tap]) -> list[str]:
    return [tap.address for tap in taps]


def _tokens(model: Model, tokens: tuple[str, ...], before: np.ndarray, after: np.ndarray) -> tuple[str, ...]:
    """The tokens as displayed, with the new names of those that interventions replaced."""
    if model.tokenizer is None:
        return tuple(map(str, after))
    if after is before:
        return tokens
    pairs = zip(tokens, before, after, strict=True)
    return tuple(token if old == new else model.tokenizer.token(int(new)) for token, old, new in pairs)
