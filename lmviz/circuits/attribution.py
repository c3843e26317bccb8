"""Attribution: what each component of a model adds to a measure, so that the parts sum to it.

The stream of a Transformer is a sum: of the embeddings, of what every head and every feed-forward network
wrote, and of biases. Logits are linear in it but for the last normalisation, whose scale is held at what it
is (Elhage et al. 2021; Wang et al. 2023 call it direct logit attribution). So each part has a share of the
measure, and the shares add up to it. They say what a part writes itself, not what others make of it. The top
layer of a recurrent network is taken apart in the same way into its units and, through the gates, into words;
with its gates held, so are the layers below it, down to the words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.contrast import Contrast
from lmviz.circuits.linear_walk import Leaf, LinearWalk, recurrent_layers
from lmviz.circuits.order_shares import ORDER, order_shares
from lmviz.circuits.patching import tokens_along
from lmviz.circuits.places import axis_of
from lmviz.circuits.read_contrast import ReadContrast, check_is_number, read_contrast
from lmviz.circuits.result import Numbers
from lmviz.circuits.together import read_together, texts_together
from lmviz.inspection.held_words import held_words
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.tracing import trace
from lmviz.models.address import Address
from lmviz.models.finite import parameters_without_numbers, why_not_finite
from lmviz.models.interruption import look_up, part_of_work
from lmviz.models.model import Model
from lmviz.models.operations import Mix, PositionLookup, Sinusoids, SourceMean, TokenLookup
from lmviz.models.tap import Weight

HEADS, CROSS, FEEDFORWARD, BIAS = "head", "cross head", "feed-forward", "bias"
ROUNDING, ENTROPY, SURGERY = "rounding", "entropy", "surgery"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Attribution(Numbers):
    """The share of each component, (component,); `.total` is their sum, and `value` the measure.

    `parts["head"].array` is (layer, head), `parts["feed-forward"]` (layer), `parts["bias"]` (parameter), and
    so with "embedding", "position", "unit", "order": `kinds` has them all. "rounding" is what the model's own
    rounding leaves between their sum and the measure. `held` are the normalisations whose scale is held, and
    the states of recurrent layers whose gates are. `depth` is how many of these can be gone through. `words`
    says of a head, or of a gated layer, what comes of each word.
    """

    value: float
    measure: str
    kinds: Mapping[str, Numbers]
    held: tuple[str, ...]
    words: Mapping[str, Numbers]
    depth: int = 0

    def __getitem__(self, kind: str) -> Numbers:
        if not isinstance(kind, str) or kind not in self.kinds:
            raise LmvizError(f"There are no parts called {kind!r}: there are {', '.join(self.kinds)}.")
        return self.kinds[kind]

    def __contains__(self, kind: object) -> bool:
        return kind in self.kinds

    @property
    def total(self) -> float:
        """The sum of all components, added up without rounding on the way."""
        return math.fsum(self.array)

    def strongest(self, count: int = 10) -> list[tuple[str, float]]:
        """The components with the largest shares, either sign, by name."""
        order = np.argsort(-np.abs(self.array), kind="stable")[: whole_number("count", count)]
        return [(self.names["component"][at], float(self.array[at])) for at in order]


def attribute(
    model: Model, contrast: Contrast, *, through: int = 0, interventions: Sequence[Intervention] = ()
) -> Attribution:
    """What each component adds to the measure on the text itself; the changed text is not needed.

    So many recurrent layers are gone `through`, from the top: with 0 the parts are the units of the top
    layer, with 1 those of the layer below, and with all of them the words. LmvizError where there are fewer
    layers, for a probability of a model that learns by gradients, which is no sum of parts, and as
    `lmviz.circuits.read_contrast.read_contrast` raises it.
    """
    (found,) = attribute_each(model, [contrast], through=through, interventions=interventions)
    return found


def attribute_each(
    model: Model,
    contrasts: Sequence[Contrast],
    *,
    through: int = 0,
    interventions: Sequence[Intervention] = (),
) -> list[Attribution]:
    """The same of several contrasts, in their order: texts are read in batches, as `texts_together` has them.

    All are checked before the first is taken apart. LmvizError as of `attribute`.
    """
    whole_number("through", through)
    questions = [read_contrast(model, one, interventions) for one in contrasts]
    for question in questions:
        depth = len(recurrent_layers(question.model.taps()))
        if through > depth:
            raise LmvizError(
                f"{question.model.name or 'This model'} has {depth} recurrent layers to go through, and not "
                f"{through}: choose a number from 0 to {depth}."
            )
    asked = [(question.clean, question.span) for question in questions]
    first = CachedPass(questions[0].model, *asked[0])
    batches = texts_together(questions[0].model, asked, first, cells=1) if len(asked) > 1 else ([0],)
    found: dict[int, Attribution] = {}
    weights: dict[Weight, np.ndarray] = {}
    for numbers in batches:
        read = read_together(first.model, [asked[number] for number in numbers]) if len(asked) > 1 else first
        for place, number in enumerate(numbers):
            with part_of_work(len(found), len(questions)):
                look_up(0.0)
                found[number] = _shares(questions[number], read.alone(place), through, weights)
        del read  # before the next ones are read
    return [found[number] for number in range(len(questions))]


def _shares(
    question: ReadContrast, read: CachedPass, through: int, weights: dict[Weight, np.ndarray]
) -> Attribution:
    """What each component adds to the measure in one text that has been read."""
    if question.model.family == "ngram":
        kinds = {ORDER: order_shares(question, read)}
        return _summed(kinds, read.measure(question.scalar), question, (), {})
    return of_walk(LinearWalk(question, read, through, weights=weights))


def of_walk(walk: LinearWalk, stopped: Mapping[str, Numbers] | None = None) -> Attribution:
    """The shares of all leaves, by kind; `stopped` are those of the taps at which it stops."""
    kinds: dict[str, Numbers] = dict(stopped or {})
    words: dict[str, Numbers] = {}
    by_layer: dict[str, dict[str, np.ndarray]] = {}
    units: dict[str, dict[str, np.ndarray]] = {}
    for address, leaf in walk.leaves.items():
        if address in walk.stops:
            continue
        at, operation = Address.parse(address), leaf.tap.operation
        if any(item.concerns(address) for item in walk.read.interventions) and not isinstance(operation, Mix):
            _add_named(kinds, SURGERY, "tap", address, float(leaf.shares.sum()))
        elif isinstance(operation, Mix):
            by_layer.setdefault(CROSS if at.block == "cross" else HEADS, {})[address] = leaf.shares.sum(
                axis=(1, 2)
            )
            for head in range(len(leaf.shares)):
                words[f"{at.place}/heads/{head}"] = _of_head(walk, leaf, operation, head)
        elif isinstance(operation, TokenLookup):
            by_word = _along(walk, leaf.shares.sum(axis=-1), leaf.tap.axes[0])
            if walk.is_through:
                kinds["source word" if leaf.tap.axes[0] == "source" else "word"] = by_word
            else:
                _set(kinds, "embedding", by_word.total)
                words[address] = by_word
        elif isinstance(operation, PositionLookup | Sinusoids):
            _set(kinds, "position", float(leaf.shares.sum()))
        elif at.block == "feedforward":
            by_layer.setdefault(FEEDFORWARD, {})[address] = leaf.shares.sum()
        elif isinstance(operation, SourceMean):
            kinds["context"] = _of_source(walk, leaf, operation)
        else:
            by_unit = leaf.shares.reshape(-1, leaf.shares.shape[-1]).sum(axis=0)
            name = f"unit {at.direction}".strip() if at.name != "start" else "first state"
            name = f"source {name}" if leaf.tap.axes[0] == "source" else name
            units.setdefault(name, {})[address] = by_unit
            words |= _of_words(walk, leaf)
    for kind, by_address in units.items():
        kinds[kind] = _by_layer(by_address, "unit", always=False)
    for kind, by_address in by_layer.items():
        kinds[kind] = _by_layer(by_address, "head")
    if walk.biases:
        kinds[BIAS] = Numbers(
            array=np.array(list(walk.biases.values())),
            axes=("parameter",),
            names={"parameter": tuple(walk.biases)},
        )
    if walk.constant:
        _set(kinds, ENTROPY, walk.constant)
    measure = walk.read.measure(walk.question.scalar)
    return _summed(kinds, measure, walk.question, tuple(walk.held), words, walk.depth)


def _of_head(walk: LinearWalk, leaf: Leaf, operation: Mix, head: int) -> Numbers:
    """A head's share by the words that it read."""
    weights, values = (
        walk.value(operation.weights)[head],
        walk.value(operation.values)[head // operation.shared],
    )
    by_key = ((leaf.slopes[head] @ values.T) * weights).sum(axis=0)
    return _along(walk, by_key, walk.taps[operation.weights].axes[-1])


def _of_source(walk: LinearWalk, leaf: Leaf, operation: SourceMean) -> Numbers:
    by_source = ((leaf.slopes @ walk.value(operation.states).T) * walk.value(operation.weights)).sum(axis=0)
    return _along(walk, by_source, "source")


def _of_words(walk: LinearWalk, leaf: Leaf) -> dict[str, Numbers]:
    """A gated layer's share by the words whose traces are in its states; none of a layer without gates.

    An LSTM's state is output × tanh(cell): the ratio of tanh(cell) to the cell is held, so that what a
    word has left in the cell has a share.
    """
    place = Address.parse(leaf.tap.address).place
    if leaf.slopes.ndim == 1:
        return {}
    gated = f"{place}/cell" in walk.taps or f"{place}/update" in walk.taps
    if not gated or any(item.enabled for item in walk.read.interventions):
        return {}
    beside: dict[str, Any] = {name: given.ids for name, given in walk.question.clean.beside.items()}
    traced = trace(walk.model, walk.read.ids, **beside)
    axis = leaf.tap.axes[0]
    found = np.zeros(len(leaf.slopes) + 1)
    for position in np.flatnonzero(leaf.slopes.any(axis=1)):
        held = held_words(traced, place, int(position))
        slopes = leaf.slopes[position]
        if f"{place}/cell" in walk.taps:
            cell = walk.value(f"{place}/cell")[position]
            ratio = np.where(cell != 0, np.tanh(cell) / np.where(cell != 0, cell, 1.0), 1.0)
            slopes = slopes * walk.value(f"{place}/output")[position] * ratio
        found[: len(held.parts)] += held.parts @ slopes
        found[-1] += held.rest @ slopes
    tokens = _along(walk, found[:-1], axis)
    return {
        place: Numbers(
            array=found,
            axes=(axis,),
            names={axis: (*tokens.labels(axis), "before the first")},
        )
    }


def _along(walk: LinearWalk, numbers: np.ndarray, axis: str) -> Numbers:
    tokens = tokens_along(ReadContrast(walk.model, walk.question.clean, None, walk.question.scalar, 0), axis)
    return Numbers(array=numbers, axes=(axis,), names={axis: tokens[: len(numbers)]})


def _summed(
    kinds: dict[str, Numbers],
    value: float,
    question: ReadContrast,
    held: tuple[str, ...],
    words: Mapping[str, Numbers],
    depth: int = 0,
) -> Attribution:
    """All kinds in a row, and what rounding leaves; LmvizError where one of these is no number."""
    measure, model = question.scalar.name, question.model
    check_is_number(model, measure, value)
    shares = [float(share) for found in kinds.values() for share in found.array.ravel()]
    if not np.isfinite(shares).all():
        if parameters_without_numbers(model):
            raise LmvizError(why_not_finite(model, "the shares of its parts"))
        raise LmvizError(
            f"Some values inside {model.name or 'this model'} are infinite here, so they add no share to "
            f"{measure}: undo what makes them so, or ask about another text."
        )
    _set(kinds, ROUNDING, math.fsum([value, *(-share for share in shares)]))
    names = tuple(name for kind, found in kinds.items() for name in _names(kind, found))
    return Attribution(
        array=np.array([*shares, kinds[ROUNDING].total]),
        axes=("component",),
        names={"component": names},
        value=value,
        measure=measure,
        kinds=kinds,
        held=held,
        words=words,
        depth=depth,
    )


def _names(kind: str, found: Numbers) -> list[str]:
    """What each component of a kind is called: "head 0·3", counted from 0 as in Python."""
    if not found.axes:
        return [kind]
    labels = [found.labels(axis) for axis in found.axes]
    return [
        f"{kind} " + "·".join(labels[axis][at] for axis, at in enumerate(index))
        for index in np.ndindex(found.array.shape)
    ]


def _by_layer(found: Mapping[str, np.ndarray], within: str, *, always: bool = True) -> Numbers:
    """The shares of layers, by the address of each; of one alone without that axis unless it is `always`."""
    addresses = sorted(found, key=lambda one: Address.parse(one).layer or 0)
    if len(addresses) == 1 and not always:
        return Numbers(array=found[addresses[0]], axes=(within,))
    rows, (axis, labels) = np.stack([found[address] for address in addresses]), axis_of(addresses)
    return Numbers(array=rows, axes=(axis, within)[: rows.ndim], names={axis: labels} if labels else {})


def _set(kinds: dict[str, Numbers], kind: str, number: float) -> None:
    before = kinds[kind].total if kind in kinds else 0.0
    kinds[kind] = Numbers(array=np.array(before + number), axes=())


def _add_named(kinds: dict[str, Numbers], kind: str, axis: str, name: str, number: float) -> None:
    known = kinds.get(kind)
    numbers = [*known.array.tolist(), number] if known else [number]
    labels = (*known.labels(axis), name) if known else (name,)
    kinds[kind] = Numbers(array=np.array(numbers), axes=(axis,), names={axis: labels})
