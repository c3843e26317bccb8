"""Parts of one model put into another: which of them carry the change of a measure.

It is patching across models: not a state is carried over, but the weights that make it. A part alone says
what it brings to a model that is otherwise as it was; parts one after another, from below or from above, say
how the change builds up. With all of them the model is the other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.contrast import Contrast, Read
from lmviz.circuits.read_contrast import one_against_other, read_contrast
from lmviz.circuits.result import Numbers
from lmviz.differences.pair import ModelPair
from lmviz.inspection.recording import PreparedReading, prepared
from lmviz.inspection.scalar import Of, Scalar
from lmviz.models.address import Address
from lmviz.models.blocks import without_blocks
from lmviz.models.interruption import look_up
from lmviz.models.model import Model
from lmviz.models.operations import SplitHeads
from lmviz.models.read_weights import weights_of
from lmviz.models.tap import Tap

EACH = ("part", "layer", "head", "matrix")
"""By what a model is taken apart: attention, feed-forward networks and what is around them; layers; heads;
single matrices."""

Slices = tuple[tuple[int, int], ...]
"""Rows or columns of a matrix, (from, to)."""


@dataclass(frozen=True)
class ModelPart:
    """A part of a model: parameters by name, whole, or some `rows` or `columns` of them."""

    name: str
    layer: int | None
    whole: tuple[str, ...] = ()
    rows: Mapping[str, Slices] = field(default_factory=dict)
    columns: Mapping[str, Slices] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Transplant(Numbers):
    """The share of the change of a measure that each part carries, (part,); NaN where not yet measured.

    0 leaves the first model's number and 1 gives the second's; it may be less or more. `array` has each part
    alone, `from_below` (part,) all parts up to and with this one, in the order of the computation, and
    `from_above` this one and all behind it; None where parts have no order, as heads. `measured` has the
    measure itself for each part alone, `before` and `after` what it is in the two models. `parts` are the
    parts; `layers` (part,) their layers from 0, None of what is in none. Parts that are the same in both
    models change nothing and are not computed.
    """

    parts: tuple[str, ...]
    layers: tuple[int | None, ...]
    measured: np.ndarray
    before: float
    after: float
    measure: str
    said: str
    from_below: np.ndarray | None
    from_above: np.ndarray | None
    each: str
    models: tuple[str, str]

    @property
    def most(self) -> int:
        """The part that carries most alone."""
        return int(np.nanargmax(self.array))


def parts_of_model(model: Model, each: str = "part") -> tuple[ModelPart, ...]:
    """What a model is taken apart into: together these are all of its parameters, none of them twice.

    With "part", attention and feed-forward network of each layer with the normalisations that they read, the
    words, and the output; a recurrent network's gates. With "head" heads, those that share keys and values
    together, and the rest of each layer. LmvizError for another word.
    """
    if not isinstance(each, str) or each not in EACH:
        raise LmvizError(f"A model is taken apart by {', '.join(EACH)}, and not by {each!r}.")
    tensors = model.tensors()
    first_read: dict[str, Tap] = {}
    for tap in model.taps():
        for weight in weights_of(tap.operation):
            first_read.setdefault(weight.name, tap)
    found: dict[str, ModelPart] = {}
    for name in tensors:
        read_by = first_read.get(name)
        if each == "matrix":
            found |= {part.name: part for part in _rows_of(model, name, tensors[name])}
            continue
        place, layer = ("output", None) if read_by is None else _place(read_by, each)
        known = found.get(place, ModelPart(place, layer))
        found[place] = replace(known, whole=(*known.whole, name))
    if each == "head":
        found = _with_heads(model, found)
    order = {tap.address: number for number, tap in enumerate(model.taps())}
    return tuple(sorted(found.values(), key=lambda part: _first(part, first_read, order)))


def transplant(pair: ModelPair, contrast: Contrast | Read, each: str = "part") -> Transplant:
    """The share of the change of a measure that each part of the second model carries into the first.

    See `transplanting`, which gives the same while it grows.
    """
    *_, last = transplanting(pair, contrast, each)
    return last


def transplanting(pair: ModelPair, contrast: Contrast | Read, each: str = "part") -> Iterator[Transplant]:
    """The same after each part; the last one has all.

    `contrast` is a text with a measure, such as "probability:night@4" or "loss"; a text alone, or one without
    a measure, is asked about the word after it that rose most against the one that fell most. Its changed
    text plays no part. LmvizError where the two differ in tokens or shape, or where the measure is the same
    in both.
    """
    pair.check_alike()
    asked = contrast if isinstance(contrast, Contrast) else Contrast(contrast)
    parts = parts_of_model(pair.before, each)
    readings, scalar = _question(pair, asked)
    passes = [
        CachedPass(model, read) for model, read in zip((pair.before, pair.after), readings, strict=True)
    ]
    start, end = (read.measure(scalar) for read in passes)
    if not np.isfinite([start, end]).all() or start == end:
        raise LmvizError(
            f"{scalar.name} is {start:.4g} in the first model and {end:.4g} in the second, so there is no "
            "change to carry over: choose another number or another text."
        )
    before, after = pair.before.tensors(), pair.after.tensors()
    changed = [part for part in parts if _differs(part, before, after)]
    is_ordered = each != "head"
    alone = np.full(len(parts), np.nan)
    sides = [np.full(len(parts), np.nan) for _ in range(2)] if is_ordered else [None, None]
    for number, part in enumerate(parts):
        if part not in changed:
            alone[number] = start

    def found() -> Transplant:
        return Transplant(
            array=(alone - start) / (end - start),
            axes=("part",),
            names={"part": tuple(part.name for part in parts)},
            parts=tuple(part.name for part in parts),
            layers=tuple(part.layer for part in parts),
            measured=alone.copy(),
            before=start,
            after=end,
            measure=scalar.name,
            said=scalar.said,
            from_below=None if sides[0] is None else (sides[0] - start) / (end - start),
            from_above=None if sides[1] is None else (sides[1] - start) / (end - start),
            each=each,
            models=pair.names,
        )

    work = len(changed) * (3 if is_ordered else 1)
    done = 0
    for number, part in enumerate(parts):
        if part in changed:
            look_up(done / work)
            alone[number] = passes[0].measured_under(_exchanged([part], before, after), scalar)
            done += 1
            yield found()
    if sides[0] is not None and sides[1] is not None:
        for number, part in enumerate(parts):
            look_up(done / work)
            if part in changed or not number:  # upper parts of the first on lower parts of the second
                above = [one for one in parts[number + 1 :] if one in changed]
                sides[0][number] = passes[1].measured_under(_exchanged(above, after, before), scalar)
                done += 1
            else:
                sides[0][number] = sides[0][number - 1]
        for number in reversed(range(len(parts))):
            look_up(min(1.0, done / work))
            if parts[number] in changed or number == len(parts) - 1:
                here = [one for one in parts[number:] if one in changed]
                sides[1][number] = passes[0].measured_under(_exchanged(here, before, after), scalar)
                done += 1
            else:
                sides[1][number] = sides[1][number + 1]
    yield found()


def _question(pair: ModelPair, asked: Contrast) -> tuple[list[PreparedReading], Scalar]:
    """The text as both read it, and the number; the one that is proposed where none is given."""
    if not asked.measure:
        ids = _read(pair.before, asked)
        asked = replace(asked, measure=proposed_measure(pair, ids))
    question = read_contrast(pair.before, replace(asked, changed=None))
    other = prepared(pair.after, question.clean.ids, (), {})
    return [question.clean, other], question.scalar


def _read(model: Model, asked: Contrast) -> np.ndarray:
    text = asked.text if isinstance(asked.text, str) else np.array(asked.text)
    return prepared(model, text, (), {}).ids


def proposed_measure(pair: ModelPair, ids: np.ndarray) -> Of:
    """The word after the last token whose probability rose most, against the one that fell most.

    Their names may be read as others together; then it is the probability of the first.
    """
    before, after = (
        CachedPass(model, prepared(model, ids, (), {})).values["probabilities"][0, -1].cpu().double().numpy()
        for model in (pair.before, pair.after)
    )
    change = after - before
    rose, fell = int(change.argmax()), int(change.argmin())
    return one_against_other(pair.before, rose, fell) or ("probabilities", (len(ids) - 1, rose))


def _place(tap: Tap, each: str) -> tuple[str, int | None]:
    """To which part the parameters of a tap belong, by name, and its layer."""
    at = Address.parse(tap.address)
    if at.layer is None:
        return (
            "words" if "embedding" in tap.address else tap.address if at.name == "hidden" else "output"
        ), None
    if each == "layer":
        return f"layer {at.layer + 1}", at.layer
    number = at.layer + 1
    if at.block == "attention" or at.name == "norm1":
        return f"attention {number}", at.layer
    if at.block == "feedforward" or at.name == "norm2":
        return f"feed-forward {number}", at.layer
    return f"layer {number}", at.layer


def _rows_of(model: Model, name: str, tensor: torch.Tensor) -> Iterator[ModelPart]:
    """A parameter by the rows that single taps read of it, or whole."""
    taps = [
        (weight.rows, tap)
        for tap in model.taps()
        for weight in weights_of(tap.operation)
        if weight.name == name
    ]
    split = {rows: tap for rows, tap in taps if rows is not None}
    if sum(end - first for first, end in split) != tensor.shape[0] if split and tensor.ndim else True:
        layer = Address.parse(taps[0][1].address).layer if taps else None
        yield ModelPart(name, layer, whole=(name,))
        return
    for rows, tap in split.items():
        yield ModelPart(f"{name}: {tap.address}", Address.parse(tap.address).layer, rows={name: (rows,)})


def _with_heads(model: Model, found: dict[str, ModelPart]) -> dict[str, ModelPart]:
    """The same with the heads of each layer taken out of its attention; LmvizError where there are none."""
    taps = {tap.address: tap for tap in model.taps()}
    layers = [Address.parse(address).layer for address in taps if address.endswith("attention/query")]
    if not layers:
        raise LmvizError("This model has no heads of attention: take it apart by part, layer or matrix.")
    result = dict(found)
    for layer in layers:
        place = f"attention {(layer or 0) + 1}"
        query, key, value, output = (
            taps.get(f"layers/{layer}/attention/{name}") for name in ("query", "key", "value", "output")
        )
        operations = [tap.operation for tap in (query, key, value) if tap is not None]
        if output is None or len(operations) < 3:
            continue
        split = [one for one in operations if isinstance(one, SplitHeads)]
        if len(split) < 3:
            continue
        groups = split[1].heads
        taken: set[str] = set()
        for group in range(groups):
            rows: dict[str, Slices] = {}
            for operation in split:
                for weight in weights_of(operation):
                    tensor = model.tensors()[weight.name]
                    first, end = weight.rows or (0, tensor.shape[0])
                    size = (end - first) // groups
                    part = (first + group * size, first + (group + 1) * size)
                    rows[weight.name] = (*rows.get(weight.name, ()), part)
            matrix = weights_of(output.operation)[0]
            size = model.tensors()[matrix.name].shape[1] // groups
            columns = {matrix.name: ((group * size, (group + 1) * size),)}
            each = split[0].heads // groups
            here = f"{group + 1}" if each == 1 else f"{group * each + 1}–{(group + 1) * each}"
            name = f"head {(layer or 0) + 1}·{here}"
            result[name] = ModelPart(name, layer, rows=rows, columns=columns)
            taken |= {*rows, *columns}
        rest = tuple(one for one in found[place].whole if one not in taken)
        del result[place]
        if rest:
            result[f"{place}, the rest"] = ModelPart(f"{place}, the rest", layer, whole=rest)
    return result


def _first(part: ModelPart, first_read: Mapping[str, Tap], order: Mapping[str, int]) -> int:
    """Where in the computation a part is first read."""
    names = (*part.whole, *part.rows, *part.columns)
    return min((order[first_read[name].address] for name in names if name in first_read), default=len(order))


def _differs(part: ModelPart, before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor]) -> bool:
    """Whether a part is not the same in both."""

    def unequal(one: torch.Tensor, other: torch.Tensor) -> bool:
        return not torch.equal(one, other.to(one.device))

    for name in part.whole:
        if unequal(_numbers(before[name]), _numbers(after[name])):
            return True
    for name, slices in part.rows.items():
        if any(
            unequal(_numbers(before[name])[slice(*at)], _numbers(after[name])[slice(*at)]) for at in slices
        ):
            return True
    return any(
        unequal(_numbers(before[name])[:, slice(*at)], _numbers(after[name])[:, slice(*at)])
        for name, slices in part.columns.items()
        for at in slices
    )


def _exchanged(
    parts: Sequence[ModelPart], before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """The parameters of one model, by name, in which some parts are those of the other."""
    found: dict[str, torch.Tensor] = {}
    with torch.inference_mode():
        for part in parts:
            for name in part.whole:
                found[name] = after[name].detach()
            for name, slices in part.rows.items():
                found[name] = found[name] if name in found else _numbers(before[name]).clone()
                for at in slices:
                    found[name][slice(*at)] = _numbers(after[name])[slice(*at)].to(found[name])
            for name, slices in part.columns.items():
                found[name] = found[name] if name in found else _numbers(before[name]).clone()
                for at in slices:
                    found[name][:, slice(*at)] = _numbers(after[name])[:, slice(*at)].to(found[name])
    return found


def _numbers(tensor: torch.Tensor) -> torch.Tensor:
    """A parameter as numbers; in single precision where it is in blocks or in half precision."""
    plain = without_blocks(tensor.detach())
    return plain.float() if plain.is_floating_point() and plain.dtype.itemsize < 4 else plain
