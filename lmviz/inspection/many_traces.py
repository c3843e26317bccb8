"""Traces of many texts, read in padded batches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.deferred_array import deferred_taps, heads_of
from lmviz.inspection.freezing import freeze, storages
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.names import POSITIONAL
from lmviz.inspection.origin import Origin
from lmviz.inspection.recording import (
    PreparedReading,
    TapRecorder,
    needed_taps,
    prepared,
    record,
    traced,
    wanted_taps,
)
from lmviz.inspection.trace import Trace
from lmviz.inspection.traced_array import TracedArray
from lmviz.models.batches_of_texts import batches_of_texts, in_batches, side_by_side
from lmviz.models.explicit import ForwardPass
from lmviz.models.given_source import GivenSource
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.models.reading import evaluation, on_device
from lmviz.models.sequences import ALONG, SOURCE, TEXT
from lmviz.models.tap import Tap

Read = str | Sequence[int] | np.ndarray
"""A text, or its ids (position,)."""


def traces(
    model: Model,
    texts: Sequence[Read],
    *,
    taps: Collection[str] | None = None,
    interventions: Sequence[Intervention] = (),
    sources: Sequence[Read] | None = None,
) -> list[Trace]:
    """One trace for each text, in their order; see `lmviz.inspection.tracing.trace`.

    `sources` are what is read beside each. All texts are checked before the first one is read. Beside the
    traces themselves, memory is taken for one batch of `lmviz.models.batches_of_texts`.
    """
    if isinstance(model, GivenSource):
        sources, model = [model.source] * len(texts), model.unchanged
    while isinstance(model, ChangedModel):
        interventions = (*model.interventions, *interventions)
        model = model.unchanged
    beside: list[Mapping[str, Read]] = (
        [{} for _ in texts] if sources is None else [{SOURCE: source} for source in sources]
    )
    readings = [
        prepared(model, text, interventions, further) for text, further in zip(texts, beside, strict=True)
    ]
    wanted = wanted_taps(model.taps(), taps)
    enabled = tuple(item for item in interventions if item.enabled)
    needed = model.taps() if taps is None else needed_taps(model.taps(), wanted, enabled)
    heads = heads_of(needed, model.configuration)
    computes = next(model.parameters(), None) is not None
    alone = {
        number
        for number, reading in enumerate(readings)
        if not computes
        or any(callable(item.value) for item in enabled)
        or deferred_taps(needed, len(reading.ids), heads)
    }
    shared = [number for number in range(len(readings)) if number not in alone]
    found: dict[int, Trace] = {}
    batches = batches_of_texts(
        model,
        [readings[number].lengths for number in shared],
        same_length=any(POSITIONAL & set(item.where) for item in enabled),
        answers=model.outputs if any(tap.address == "logits" for tap in needed) else 0,
        squares=heads,
    )
    addresses = {tap.address for tap in wanted}
    for batch in in_batches(len(texts), batches, look_up):
        numbers = [shared[place] for place in batch]
        with uncounted_work():
            some = _read_together(model, needed, addresses, [readings[number] for number in numbers], enabled)
        found |= zip(numbers, some, strict=True)
    for number in sorted(alone):
        look_up(len(found) / len(texts))
        with uncounted_work():
            found[number] = record(model, texts[number], taps, interventions, None, False, **beside[number])
    return [found[number] for number in range(len(texts))]


def _read_together(
    model: Model,
    needed: Sequence[Tap],
    wanted: Collection[str],
    readings: Sequence[PreparedReading],
    interventions: tuple[Intervention, ...],
) -> list[Trace]:
    """The traces of some texts that a model reads in one batch."""
    tokens = on_device(model, side_by_side([reading.ids for reading in readings]))
    others = {
        name: on_device(model, side_by_side([reading.beside[name].ids for reading in readings]))
        for name in model.inputs
        if name != TEXT
    }
    lengths = readings[0].lengths | {TEXT: tokens.shape[1]}
    recorder = TapRecorder(needed, interventions, lengths, wanted)
    parameters = model.tensors()
    with evaluation(model):
        ForwardPass(tokens, parameters, **others).run(needed, recorder, keep=())
    borrowed, origin = storages(parameters.values()), Origin(model)
    taps = [tap for tap in needed if tap.address in wanted]
    found = []
    for row, reading in enumerate(readings):
        arrays = {}
        for tap in taps:
            value = recorder.values[tap.address]
            value = value[row : row + 1] if value.shape[0] == len(readings) else value
            for place, axis in enumerate(tap.axes, start=1):
                if ALONG.get(axis) == TEXT:
                    value = value.narrow(place, 0, len(reading.ids))
            own = value.clone() if len(readings) > 1 else value
            arrays[tap.address] = TracedArray(freeze(own, borrowed), tap.axes, tap.scale)
        found.append(traced(model, reading, arrays, recorder.carried_out(), origin))
    return found
