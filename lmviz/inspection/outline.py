"""The outline of a model: its taps as lines and blocks along the stream that its logits are made of.

A picture of the whole model draws a row for each line, a box for each block, and a mark for each place of the
stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from lmviz.base.counting import numbered
from lmviz.inspection.names import title_of, word_of
from lmviz.inspection.stream import ANSWERS, stream_places
from lmviz.inspection.trace import Trace
from lmviz.models.address import SIDES, Address
from lmviz.models.tap import Stage

LEFT_OUT = frozenset(
    {"norm", "projected", "norm1", "norm2", "residual1", "residual2", "stream1", "stream2"}
    | {"query_normed", "key_normed", "query_rotated", "key_rotated"}
    | {"products", "scaled", "bias", "scores", "feedforward/hidden"}
    | {"cross/norm", "cross/residual"}
)
"""Steps between one value that is drawn and the next, which a miniature could hardly tell from either."""

NAMES = {
    "attention/query": "queries",
    "attention/key": "keys",
    "attention/value": "values",
    "attention/mixed": "sum of v",
    "attention/output": "adds",
    "attention/normed": "adds",
    "cross/query": "queries",
    "cross/key": "source keys",
    "cross/value": "source values",
    "cross/weights": "to source",
    "cross/mixed": "sum of v",
    "cross/output": "adds",
    "feedforward/activation": "feed-forward",
    "feedforward/output": "adds",
    "feedforward/normed": "adds",
}
OF_RECURRENCES = {"last": "last state", "start": "first state", "previous": "state before"}
ARROWS = {"forward": "→ ", "backward": "← "}
"""Which way a layer that reads in both directions goes."""

SUMMARY = (
    ("attention/weights", "attention/output", "attention/normed"),
    ("cross/weights", "cross/output"),
    ("feedforward/activation", "feedforward/output", "feedforward/normed"),
)
"""What a folded layer with attention shows, row by row; of what it gives the last, which is added."""


@dataclass(frozen=True)
class OutlineLine:
    """Taps side by side in one row.

    `earlier` is how many positions before the shown one they are read; negative for later ones.
    """

    name: str
    addresses: tuple[str, ...]
    earlier: int = 0


@dataclass(frozen=True)
class StreamPlace:
    """A place of the stream, which has a mark in place of a line."""

    address: str


@dataclass(frozen=True)
class OutlineBlock:
    """A layer: its parts, and in `summary` the rows that are left when it is folded."""

    place: str
    title: str
    parts: tuple[OutlineLine | StreamPlace, ...]
    summary: tuple[tuple[OutlineLine, ...], ...]


Part = OutlineLine | StreamPlace | OutlineBlock


def outline(trace: Trace) -> tuple[Part, ...]:
    """The parts of the model that made a trace, in the order of computation.

    A layer's last tap stands behind its block where it is a place of the stream. Left out are token ids, what
    is as wide as the vocabulary, and steps between two values that are drawn. Of a model that translates the
    encoder comes first.
    """
    places = stream_places(trace.arrays, trace.stages)
    read_later = _read_later(trace.stages)
    parts: list[Part] = []
    by_layer = groupby(_drawn(trace, places), key=lambda each: Address.parse(each).place_of_layer)
    groups = [(layer, list(group)) for layer, group in by_layer]
    for layer, addresses in groups:
        is_elsewhere = any(layer == other and len(others) > len(addresses) for other, others in groups)
        if not layer or is_elsewhere:  # what is read ahead of the layer itself, or handed on when all is read
            parts += _outside(addresses, places, tuple(trace.arrays))
            continue
        behind = addresses.pop() if addresses[-1] in places else ""
        lines: list[OutlineLine | StreamPlace] = [
            _handed_on(address) for address in (*addresses, behind) if address in read_later
        ]
        lines += [_part(trace, address, places) for address in addresses]
        parts.append(OutlineBlock(layer, title_of(layer), tuple(lines), _summary(lines)))
        parts += [StreamPlace(behind)] if behind else []
    return tuple(parts)


def lines_of(part: Part) -> tuple[OutlineLine, ...]:
    """The lines of a part; those of a block without the places of the stream that lie in it."""
    if isinstance(part, OutlineBlock):
        return tuple(line for line in part.parts if isinstance(line, OutlineLine))
    return (part,) if isinstance(part, OutlineLine) else ()


def _drawn(trace: Trace, places: Sequence[str]) -> list[str]:
    """The taps that have a row, in order."""
    return [
        address
        for address, traced in trace.arrays.items()
        if (len(traced.axes) > 1 or traced.axes == ("unit",))
        if traced.axes[-1] not in ANSWERS and traced.scale != "token"
        if address in places or not {_last(address), _last_two(address)} & LEFT_OUT
    ]


def _outside(addresses: Sequence[str], places: Sequence[str], known: Sequence[str]) -> list[Part]:
    """What belongs to no layer: taps of one place in one row, and none for a lone one that is the stream."""
    parts: list[Part] = []
    for _, group in groupby(addresses, key=_place_of):
        joined = list(group)
        lines = [address for address in joined if address not in places]
        becomes_stream = len(lines) == 1 < len(joined)
        if lines and not becomes_stream:
            terms = [line for line in lines if len(lines) == 1 or _last(line) != "sum"]
            names = " + ".join(word_of(_last(line)) for line in terms)
            parts.append(OutlineLine(names if len(terms) > 1 else _name_alone(lines[0], known), tuple(terms)))
        parts += [StreamPlace(address) for address in joined if address in places]
    return parts


def _place_of(address: str) -> str:
    """What the taps of one row have in common; an address alone where it stands by itself."""
    place = Address.parse(address).place
    return place if place not in ("", *SIDES) else address


def _name_alone(address: str, known: Sequence[str]) -> str:
    """The name of a tap that has a row to itself, with its layer where several of the kind are known."""
    own = OF_RECURRENCES.get(_last(address))
    if own is None:
        return title_of(address)
    is_one_of_several = sum(_last(other) == _last(address) for other in known) > 1
    layer = Address.parse(address).layer
    return own if layer is None or not is_one_of_several else f"{own} {numbered(layer)}"


def _part(trace: Trace, address: str, places: Sequence[str]) -> OutlineLine | StreamPlace:
    if address in places:
        return StreamPlace(address)
    title = next((stage.title for stage in trace.stages if address in stage.results), _last(address))
    at = Address.parse(address)
    has_attention = at.block in ("attention", "cross", "feedforward")
    own = OF_RECURRENCES.get(at.name) or title.removesuffix(" state")
    name = NAMES.get(_last_two(address), at.name) if has_attention else own
    if name == "adds" and not _is_added(trace.stages, address):
        name = "gives"
    return OutlineLine(ARROWS.get(at.direction, "") + name[:1].lower() + name[1:], (address,))


def _summary(lines: Sequence[OutlineLine | StreamPlace]) -> tuple[tuple[OutlineLine, ...], ...]:
    """The rows of a folded layer: for one without attention all of its own lines side by side."""
    own = [line for line in lines if isinstance(line, OutlineLine) and not line.earlier]
    by_name = {_last_two(line.addresses[0]): line for line in own}
    found = [[by_name[name] for name in names if name in by_name] for names in SUMMARY]
    rows = [(*row[:1], *row[1:][-1:]) for row in found]
    return tuple(row for row in rows if row) or (tuple(own),)


def _is_added(stages: Sequence[Stage], address: str) -> bool:
    """Whether what a sublayer gives is added to something, and does not take the stream's place."""
    return any(address in stage.operands and len(stage.operands) > 1 for stage in stages)


def _read_later(stages: Sequence[Stage]) -> frozenset[str]:
    """What a stage of the next position reads, and does not only pass on."""
    readers = (stage for stage in stages if stage.shifts and _last(stage.results[0]) != "previous")
    return frozenset(
        address
        for stage in readers
        for address, shift in zip(stage.operands, stage.shifts, strict=False)
        if shift == -1
    )


def _handed_on(address: str) -> OutlineLine:
    """What a recurrence reads of the position before; one that goes from right to left, of the one after."""
    name = word_of(_last(address))
    if Address.parse(address).direction == "backward":
        return OutlineLine(f"{name} after", (address,), earlier=-1)
    return OutlineLine(f"{name} before", (address,), earlier=1)


def _last(address: str) -> str:
    return Address.parse(address).name


def _last_two(address: str) -> str:
    at = Address.parse(address)
    return f"{at.block}/{at.name}"
