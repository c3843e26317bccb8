"""The circuit: the parts that an answer hangs on, kept alone, and the paths between them.

A part is a head or a feed-forward network at one position, or a unit of a recurrent network. Each is tried
alone: how much of the difference is lost when it is as in the changed text (Wang et al. 2023). The strongest
are kept as they are, all others set to what they are in the changed text or to their mean, and what is left
of the difference says whether these parts are enough. That they are enough does not say that the model uses
no others, and which parts are the strongest depends on the two texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np
import torch

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass, Edit
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.growing import AT_A_TIME
from lmviz.circuits.patching import Patches, patching
from lmviz.circuits.places import carried
from lmviz.circuits.read_contrast import ReadContrast, read_contrast
from lmviz.circuits.result import Numbers
from lmviz.circuits.together import AT_ONCE
from lmviz.inspection.intervention import Intervention
from lmviz.models.address import Address
from lmviz.models.interruption import look_up, part_of_work
from lmviz.models.model import Model
from lmviz.models.sequences import ALONG

PARTS = ("head", "cross head", "feed-forward")
REST = ("changed", "mean")
SIZES = 24
"""For about so many numbers of parts it is measured how much they keep."""


@dataclass(frozen=True)
class CircuitPart:
    """A head or a feed-forward network at a position, a unit of a state, or a word as it enters.

    `kind` is one of the kinds of `lmviz.circuits.places.carried`, `address` the tap that it writes, `index`
    its place there along `axes`, counted from 0.
    """

    kind: str
    address: str
    axes: tuple[str, ...]
    index: tuple[int, ...]

    @property
    def layer(self) -> int | None:
        """Its layer, counted from 0; None of a word."""
        return Address.parse(self.address).layer

    @property
    def position(self) -> int | None:
        """Its position in its sequence; None of a unit at all positions."""
        along = [at for axis, at in zip(self.axes, self.index, strict=True) if axis in ALONG]
        return along[0] if along else None

    @property
    def head(self) -> int | None:
        """Its head of attention, counted from 0; None of what is no head."""
        return self.index[self.axes.index("head")] if "head" in self.axes else None

    @property
    def number(self) -> int | None:
        """Which head or unit it is; None where there is one."""
        others = [at for axis, at in zip(self.axes, self.index, strict=True) if axis not in ALONG]
        return others[0] if others else None

    def __str__(self) -> str:
        """As in Python, counted from 0: "head 0·3 @ 5"."""
        place = [str(number) for number in (self.layer, self.number) if number is not None]
        at = "" if self.position is None else f" @ {self.position}"
        return f"{self.kind} {'·'.join(place)}".rstrip() + at


@dataclass(frozen=True)
class Edge:
    """The path from what a part writes straight into another, or into the answer where `receiver` is None.

    `share` is how much of the difference is lost when the receiver alone sees what the sender writes in the
    changed text, all else being as it is (path patching; Wang et al. 2023; Goldowsky-Dill et al. 2023).
    """

    sender: CircuitPart
    receiver: CircuitPart | None
    share: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Circuit(Numbers):
    """The parts of a circuit, strongest first, with the share that is lost without each alone, (part,).

    `kept` is the share of the difference that they keep alone, and `curve` that of so many of the strongest,
    (parts). `of` is how many parts there are that differ at all. `edges` are paths among parts and words,
    strongest first.
    """

    parts: tuple[CircuitPart, ...]
    kept: float
    curve: Numbers
    of: int
    edges: tuple[Edge, ...]
    clean: float
    changed: float
    measure: str
    rest: str


def circuit(
    model: Model,
    contrast: Contrast,
    keep: int = 20,
    *,
    rest: str = "changed",
    edges: bool = True,
    interventions: Sequence[Intervention] = (),
) -> Circuit:
    """The `keep` strongest parts, what they keep alone, and the paths among them.

    With `rest` "changed" all others are as in the changed text, and with "mean" they have their mean over
    both texts; the words stay as they are. Paths are measured for heads and feed-forward networks.
    LmvizError as `lmviz.circuits.patching.patch` raises it, and for a model that counts.
    """
    *_, last = circuits(model, contrast, keep, rest=rest, edges=edges, interventions=interventions)
    return last


def circuits(
    model: Model,
    contrast: Contrast,
    keep: int = 20,
    *,
    rest: str = "changed",
    edges: bool = True,
    interventions: Sequence[Intervention] = (),
) -> Iterator[Circuit]:
    """The circuit as it grows: the strongest of the parts tried so far, then what they keep, then the paths.

    What they keep is NaN, and its curve empty, before all parts have been tried; `of` counts those that were.
    The last one is that of `circuit`, which has the errors too.
    """
    if rest not in REST:
        raise LmvizError(
            f"All other parts are as in the 'changed' text or at their 'mean', and not {rest!r}."
        )
    keep = whole_number("keep", keep, least=1)
    question = read_contrast(model, contrast, interventions)
    kinds = _kinds(question.model)
    clean, changed = question.passes()

    def found(
        scored: Sequence[tuple[float, CircuitPart]],
        sizes: Sequence[int] = (),
        kept: np.ndarray | None = None,
        paths: tuple[Edge, ...] = (),
    ) -> Circuit:
        parts = tuple(part for _, part in scored[:keep])
        shares = np.zeros(0) if kept is None else kept
        return Circuit(
            array=np.array([share for share, _ in scored[:keep]]),
            axes=("part",),
            names={"part": tuple(map(str, parts))},
            parts=parts,
            kept=float("nan") if kept is None else float(kept[sizes.index(len(parts))]),
            curve=Numbers(array=shares, axes=("parts",), names={"parts": tuple(map(str, sizes))}),
            of=len(scored),
            edges=paths,
            clean=clean.measure(question.scalar),
            changed=changed.measure(question.scalar),
            measure=question.scalar.name,
            rest=rest,
        )

    scored: list[tuple[float, CircuitPart]] = []
    for number, (kind, axes) in enumerate(kinds.items()):
        before = scored
        tried = _scored(model, contrast, kind, axes, interventions)
        while True:
            with part_of_work(number, len(kinds) + 1):
                some = next(tried, None)
            if some is None:
                break
            scored = sorted([*before, *some], key=lambda pair: -abs(pair[0]))
            if scored:
                yield found(scored)
    if not scored:
        raise LmvizError(
            f"No part ({', '.join(kinds)}) makes a difference to {question.scalar.name} between these texts: "
            "ask about something else, or about other texts."
        )
    ordered = [part for _, part in scored]
    sizes = sorted(
        {min(keep, len(ordered)), *np.geomspace(1, len(ordered), SIZES).astype(int).tolist()} - {0}
    )
    kept = _kept(question, clean, changed, ordered, sizes, rest)
    if edges and "head" in kinds:
        growing = _edges(question, clean, changed, tuple(ordered[:keep]))
        while True:
            with part_of_work(len(kinds), len(kinds) + 1):
                paths = next(growing, None)
            if paths is None:
                return
            yield found(scored, sizes, kept, paths)
    yield found(scored, sizes, kept)


def _kinds(model: Model) -> dict[str, tuple[str, ...]]:
    """Which parts a model is taken to have, and along which axes there are several."""
    known = carried(model)
    found: dict[str, tuple[str, ...]] = {}
    axes = {tap.address: tap.axes for tap in model.taps()}
    for kind, addresses in known.items():
        plain = kind.removeprefix("source ")
        if plain in PARTS:
            found[kind] = tuple(axis for axis in axes[addresses[0]] if axis not in ("channel", "unit"))
    if not found:
        found = {kind: ("unit",) for kind in known if kind.removeprefix("source ") == "hidden"}
    if not found:
        raise LmvizError(
            f"{model.name or 'This model'} ({model.family}) counts and has no parts to keep alone: "
            "ask lmviz.attribute what each order adds."
        )
    return found


def _scored(
    model: Model, contrast: Contrast, kind: str, axes: tuple[str, ...], interventions: Sequence[Intervention]
) -> Iterator[list[tuple[float, CircuitPart]]]:
    """The parts of a kind that differ in the two texts, as far as tried, and the share lost without each."""
    plain = read_contrast(model, contrast, interventions).model
    addresses = carried(plain)[kind]

    def parts(grid: Patches) -> list[tuple[float, CircuitPart]]:
        return [
            (float(share), CircuitPart(kind, addresses[cell[0]], axes, tuple(map(int, cell[1:]))))
            for cell, share in np.ndenumerate(grid.array)
            if share and not np.isnan(share)
        ]

    told = monotonic()
    for grid in patching(model, contrast, addresses, each=axes, into="clean", interventions=interventions):
        if monotonic() - told >= AT_A_TIME:
            yield parts(grid)
            told = monotonic()
    yield parts(grid)


def _kept(
    question: ReadContrast,
    clean: CachedPass,
    changed: CachedPass,
    parts: Sequence[CircuitPart],
    sizes: Sequence[int],
    rest: str,
) -> np.ndarray:
    """The share of the difference that so many of the first parts keep alone, (size,)."""
    counts = [0, *sizes] if rest == "mean" else list(sizes)
    edits = {}
    for address in {part.address for part in parts}:
        shape = clean.values[address].shape[1:]
        where = torch.ones((len(counts), *shape), dtype=torch.bool)
        for number, part in enumerate(parts):
            if part.address == address:
                for row, count in enumerate(counts):
                    if number < count:
                        where[(row, *_cells(clean, part))] = False
        given = changed.values[address]
        if rest == "mean":
            given = (clean.values[address] + given) / 2
            along = [at for at, axis in enumerate(clean.axes[address], start=1) if axis in ALONG]
            given = given.mean(dim=along, keepdim=True).expand(1, *shape) if along else given
        edits[address] = Edit(where.to(given.device), given)
    rows = max(1, AT_ONCE // len(clean))
    measured = np.concatenate(
        [
            clean.measured_with(
                {
                    address: Edit(edit.where[first : first + rows], edit.values)
                    for address, edit in edits.items()
                },
                question.scalar,
            ).numpy()
            for first in range(0, len(counts), rows)
        ]
    )
    whole = clean.measure(question.scalar)
    nothing = measured[0] if rest == "mean" else changed.measure(question.scalar)
    shares: np.ndarray = (measured - nothing) / (whole - nothing)
    return shares[1:] if rest == "mean" else shares


def _edges(
    question: ReadContrast, clean: CachedPass, changed: CachedPass, parts: Sequence[CircuitPart]
) -> Iterator[tuple[Edge, ...]]:
    """The paths from parts and changed words straight into later parts and into the answer, as they grow."""
    frozen = [
        address
        for kind, addresses in carried(question.model).items()
        if kind.removeprefix("source ") in PARTS
        for address in addresses
    ]
    order = {tap.address: place for place, tap in enumerate(clean.taps)}
    senders = [*_words(question.model, clean, changed), *parts]
    start, end = clean.measure(question.scalar), changed.measure(question.scalar)
    found: list[Edge] = []
    receivers = sorted({part.address for part in parts}, key=order.__getitem__)
    for number, address in enumerate(receivers):
        look_up(number / (len(receivers) + 1))
        before = [
            part for part in senders if order[part.address] < order[address] and part.address != address
        ]
        if not before:
            continue
        seen = _seen(clean, changed, before, frozen, address)
        for receiver in (part for part in parts if part.address == address):
            cells = _cells(clean, receiver)
            new = seen[(slice(None), *cells)]
            old = clean.values[address][(slice(None), *cells)]
            moved = [row for row in range(len(before)) if not torch.equal(new[row], old[0])]
            if not moved:
                continue
            where = torch.zeros(clean.values[address].shape, dtype=torch.bool, device=new.device)
            where[(slice(None), *cells)] = True
            edit = Edit(where.expand(len(moved), *where.shape[1:]), seen[moved])
            measured = clean.measured_with({address: edit}, question.scalar).numpy()
            for row, number_there in zip(moved, measured, strict=True):
                found.append(Edge(before[row], receiver, float((start - number_there) / (start - end))))
        yield _strongest(found)
    edits = _only(clean, changed, senders, frozen)
    direct = clean.measured_with(edits, question.scalar, alone=True).numpy()
    found += [
        Edge(sender, None, float((start - there) / (start - end)))
        for sender, there in zip(senders, direct, strict=True)
    ]
    yield _strongest(found)


def _strongest(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Those that matter at all, the strongest first."""
    return tuple(sorted((edge for edge in edges if edge.share), key=lambda edge: -abs(edge.share)))


def _seen(
    clean: CachedPass,
    changed: CachedPass,
    senders: Sequence[CircuitPart],
    frozen: Sequence[str],
    address: str,
) -> torch.Tensor:
    """What a tap becomes, (sender, *axes), where it sees what one sender writes in the changed text."""
    edits = _only(clean, changed, senders, [other for other in frozen if other != address])
    return clean.values_with(edits, [address], alone=True)[address]


def _only(
    clean: CachedPass, changed: CachedPass, senders: Sequence[CircuitPart], frozen: Sequence[str]
) -> dict[str, Edit]:
    """All parts as they are, but for one sender in each row, which writes as in the changed text."""
    edits = {}
    for address in {*frozen, *(part.address for part in senders)}:
        values = clean.values[address].repeat(len(senders), *([1] * (clean.values[address].ndim - 1)))
        for row, part in enumerate(senders):
            if part.address == address:
                cells = _cells(clean, part)
                values[(row, *cells)] = changed.values[address][(0, *cells)]
        edits[address] = Edit(torch.ones(values.shape, dtype=torch.bool, device=values.device), values)
    return edits


def _words(model: Model, clean: CachedPass, changed: CachedPass) -> list[CircuitPart]:
    """The words that differ, as they enter the stream."""
    found = []
    for kind, addresses in carried(model).items():
        if kind.removeprefix("source ") == "stream":
            address, axes = addresses[0], clean.axes[addresses[0]][:1]
            differing = (clean.values[address] != changed.values[address])[0].any(dim=-1)
            found += [CircuitPart("word", address, axes, (int(place),)) for place in differing.nonzero()]
    return found


def _cells(read: CachedPass, part: CircuitPart) -> tuple[int | slice, ...]:
    """The place of a part in its tap (*axes)."""
    index = dict(zip(part.axes, part.index, strict=True))
    return tuple(index.get(axis, slice(None)) for axis in read.axes[part.address])
