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
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.contrast import Contrast, ReadContrast, read_contrast
from lmviz.circuits.patching import tokens_along
from lmviz.circuits.places import axis_of
from lmviz.circuits.result import Numbers
from lmviz.circuits.through_recurrence import passable, through_recurrence
from lmviz.inspection.held_words import held_words
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.scalar import Scalar
from lmviz.inspection.tracing import trace
from lmviz.models.address import Address
from lmviz.models.model import Model
from lmviz.models.operations import (
    Affine,
    EndStates,
    Joined,
    JoinedHeads,
    Linear,
    MeanState,
    Mix,
    Norm,
    PositionLookup,
    Repeated,
    Row,
    Sinusoids,
    SourceMean,
    SumOfProducts,
    TokenLookup,
    WeightedState,
    Window,
)
from lmviz.models.tap import Operation, Tap, Weight

HEADS, CROSS, FEEDFORWARD, BIAS = "head", "cross head", "feed-forward", "bias"
ROUNDING, ENTROPY, SURGERY, ORDER = "rounding", "entropy", "surgery", "order"


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
        if kind not in self.kinds:
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
        order = np.argsort(-np.abs(self.array), kind="stable")[:count]
        return [(self.names["component"][at], float(self.array[at])) for at in order]


def attribute(
    model: Model, contrast: Contrast, *, through: int = 0, interventions: Sequence[Intervention] = ()
) -> Attribution:
    """What each component adds to the measure on the text itself; the changed text is not needed.

    So many recurrent layers are gone `through`, from the top: with 0 the parts are the units of the top
    layer, with 1 those of the layer below, and with all of them the words. LmvizError where there are fewer
    layers, for a probability of a model that learns by gradients, which is no sum of parts, and as
    `lmviz.circuits.contrast.read_contrast` raises it.
    """
    question = read_contrast(model, contrast, interventions)
    depth = len(_recurrent_layers(question.model.taps()))
    if not 0 <= through <= depth:
        raise LmvizError(
            f"{question.model.name or 'This model'} has {depth} recurrent layers to go through, and not "
            f"{through}: choose a number from 0 to {depth}."
        )
    read = CachedPass(question.model, question.clean, question.span)
    if question.model.family == "ngram":
        return _orders(question, read)
    return _Walk(question, read, through).result()


def _recurrent_layers(taps: Sequence[Tap]) -> list[tuple[str, int]]:
    """The recurrent layers from the top down, as side and number; a decoder before an encoder."""
    scanned = (Address.parse(tap.address) for tap in reversed(taps) if tap.scan)
    return list(dict.fromkeys((at.side, at.layer) for at in scanned if at.layer is not None))


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A tap at which the walk ends: what its cells add to the measure per unit of their value, and add."""

    tap: Tap
    slopes: np.ndarray
    shares: np.ndarray


class _Walk:
    """From the measure back through everything that is linear, in float64.

    `slopes` are the derivatives of the measure by taps (*axes), with scales and weights of attention held.
    """

    def __init__(self, question: ReadContrast, read: CachedPass, through: int = 0) -> None:
        self.question, self.read = question, read
        self.model = question.model
        self.parameters = self.model.tensors()
        self.taps = {tap.address: tap for tap in read.taps}
        self.slopes: dict[str, np.ndarray] = {}
        self.leaves: dict[str, _Leaf] = {}
        self.biases: dict[str, float] = {}
        self.held: list[str] = []
        self.constant = 0.0
        self._values: dict[str, np.ndarray] = {}
        self._weights: dict[Weight, np.ndarray] = {}
        layers = _recurrent_layers(read.taps)
        self.depth, self.is_through = len(layers), 0 < len(layers) == through
        passed = self._passed(layers[:through])
        self._begin(question.scalar)
        for scan, group in groupby(reversed(read.taps), key=lambda tap: tap.scan):
            taps = list(group)
            if scan and any(tap.address in passed for tap in taps):
                self._go_through(taps[::-1], passed)
                continue
            for tap in taps:
                if tap.address in self.slopes:
                    self._pass(tap, self.slopes.pop(tap.address))

    def _passed(self, layers: Sequence[tuple[str, int]]) -> set[str]:
        """The taps of some recurrent layers, and between them, that are sums once gates are held."""
        found = set()
        for tap in self.read.taps:
            at = Address.parse(tap.address)
            is_between = at.layer is None and isinstance(tap.operation, Joined)
            is_chosen = tap.scan and layers and (is_between or (at.side, at.layer) in layers)
            changed = any(item.concerns(tap.address) for item in self.read.interventions)
            if is_chosen and not changed and passable(self.taps, tap):
                found.add(tap.address)
        return found

    def _go_through(self, taps: Sequence[Tap], passed: Collection[str]) -> None:
        """Hand the slopes at the taps of a scan on to what it reads, and end at those that are not passed."""
        scanned = {tap.address: tap for tap in taps}
        begun = {address: self.slopes.pop(address) for address in scanned if address in self.slopes}
        self.held += [address for address in reversed(scanned) if address in passed and address in begun]
        for address, slopes in through_recurrence(self, taps, begun, passed).items():
            if address in scanned:
                self.leaves[address] = _Leaf(scanned[address], slopes, slopes * self.value(address))
            else:
                self._give(address, slopes)

    def value(self, address: str) -> np.ndarray:
        """A tap's value (*axes)."""
        if address not in self._values:
            self._values[address] = self.read.values[address][0].double().cpu().numpy()
        return self._values[address]

    def weight(self, operand: Weight) -> np.ndarray:
        """A parameter, or some of its rows."""
        if operand not in self._weights:
            whole = self.parameters[operand.name]
            rows = whole if operand.rows is None else whole[slice(*operand.rows)]
            self._weights[operand] = rows.double().cpu().numpy()
        return self._weights[operand]

    def _begin(self, scalar: Scalar) -> None:
        if scalar.address == "probabilities" and not scalar.is_loss:
            raise LmvizError(
                f"{scalar.name} is no sum of what parts add: choose the logit of a word, such as "
                f"{scalar.name.replace('probability', 'logit')}, or a loss."
            )
        address = "logits" if scalar.is_loss else scalar.address
        slopes = np.zeros(self.read.values[address].shape[1:])
        if not scalar.is_loss:
            np.add.at(slopes, tuple(np.array(scalar.cells).T), 1.0)
            if scalar.against:
                np.add.at(slopes, tuple(np.array(scalar.against).T), -1.0)
        logits = self.value("logits")
        for cell in scalar.cells if scalar.is_loss else ():
            # −ln p = Σ p_w z_w + entropy − z, with the probabilities held
            row = logits[cell[:-1]]
            logarithms = row - row.max() - np.log(np.exp(row - row.max()).sum())
            chances = np.exp(logarithms)
            slopes[cell[:-1]] += chances
            slopes[cell] -= 1.0
            self.constant -= float((chances * np.where(chances > 0, logarithms, 0.0)).sum())
        self.slopes[address] = slopes

    def _give(self, address: str, slopes: np.ndarray) -> None:
        if address in self.slopes:
            self.slopes[address] = self.slopes[address] + slopes
        else:
            self.slopes[address] = slopes

    def _pass(self, tap: Tap, slopes: np.ndarray) -> None:
        """Hand the slopes at a tap on to what it is a sum of, or end there."""
        concerned = any(item.concerns(tap.address) for item in self.read.interventions)
        way = None if concerned else _WAYS.get(type(tap.operation))
        if way is None or not way(self, tap.operation, slopes):
            self.leaves[tap.address] = _Leaf(tap, slopes, slopes * self.value(tap.address))

    def _affine(self, operation: Affine, slopes: np.ndarray) -> bool:
        if any(summand.gate is not None for summand in operation.summands):
            return False
        if operation.function:
            kind, _, number = operation.function.rpartition(" ")
            if kind == "soft cap":
                slopes = slopes * self._held_cap(operation, float(number))
            elif kind == "times":
                slopes = slopes * float(number)
            else:
                return False
        for summand in operation.summands:
            self._linear(summand, slopes)
        return True

    def _held_cap(self, operation: Affine, limit: float) -> np.ndarray:
        """The share that a soft cap leaves of each logit, which is held like the scale of a norm."""
        before = np.zeros(self.read.values["logits"].shape[1:])
        for summand in operation.summands:
            (read,) = summand.input.operands
            before += self.value(read.address) @ self.weight(summand.weight).T
            before += self.weight(summand.bias) if summand.bias is not None else 0.0
        self.held.append("logits")
        return np.divide(limit * np.tanh(before / limit), before, out=np.ones_like(before), where=before != 0)

    def _linear(self, summand: Linear, slopes: np.ndarray) -> None:
        if summand.bias is not None:
            by_unit = slopes.reshape(-1, slopes.shape[-1]).sum(axis=0)
            added = float(by_unit @ self.weight(summand.bias))
            self.biases[summand.bias.name] = self.biases.get(summand.bias.name, 0.0) + added
        back, read = slopes @ self.weight(summand.weight), summand.input
        if isinstance(read, JoinedHeads):
            heads = self.read.values[read.address].shape[1]
            self._give(read.address, np.moveaxis(back.reshape(len(back), heads, -1), 1, 0))
        elif isinstance(read, Window):
            count, width = len(back), back.shape[1] // read.size
            given = np.zeros((count, width))
            for slot in range(read.size):
                distance = read.size - 1 - slot
                given[: count - distance] += back[distance:, slot * width : (slot + 1) * width]
            self._give(read.address, given)
        elif isinstance(read, Row):
            alone = self.read.values[read.value.address].ndim == 2 and back.ndim == 2
            self._give(read.value.address, back.sum(axis=0) if alone else back)

    def _norm(self, operation: Norm, slopes: np.ndarray) -> bool:
        values, form = self.value(operation.address), operation.form
        if form.over:
            return False  # of queries and keys, where no part of the stream is added
        centred = form.kind == "layer"
        squares = values.var(axis=-1) if centred else (values**2).mean(axis=-1)
        gain = 1.0 if operation.gain is None else self.weight(operation.gain) + form.one_plus
        back = slopes * gain / np.sqrt(squares + form.epsilon)[..., None]
        if operation.bias is not None:
            added = float((slopes * self.weight(operation.bias)).sum())
            self.biases[operation.bias.name] = self.biases.get(operation.bias.name, 0.0) + added
        self._give(operation.address, back - back.mean(axis=-1, keepdims=True) if centred else back)
        self.held.append(operation.address)
        return True

    def _sum(self, operation: SumOfProducts, slopes: np.ndarray) -> bool:
        factors = [product.factors for product in operation.products]
        if any(len(some) > 1 or some[0].function or some[0].value.shift for some in factors):
            return False
        for product in operation.products:
            self._give(product.factors[0].value.address, slopes * product.times)
        return True

    def _joined(self, operation: Joined, slopes: np.ndarray) -> bool:
        first = 0
        for address in operation.addresses:
            width = self.read.values[address].shape[-1]
            self._give(address, slopes[..., first : first + width])
            first += width
        return True

    def _ends(self, operation: EndStates, slopes: np.ndarray) -> bool:
        first = 0
        for end in operation.ends:
            positions, width = self.read.values[end.address].shape[1:]
            given = np.zeros((positions, width))
            given[end.position(positions)] = slopes[first : first + width]
            self._give(end.address, given)
            first += width
        return True

    def _mean(self, operation: MeanState, slopes: np.ndarray) -> bool:
        positions = self.read.values[operation.address].shape[1]
        self._give(operation.address, np.tile(slopes / positions, (positions, 1)))
        return True

    def _weighted(self, operation: WeightedState, slopes: np.ndarray) -> bool:
        self._give(operation.states, self.value(operation.weights)[:, None] * slopes)
        return True

    def _repeated(self, operation: Repeated, slopes: np.ndarray) -> bool:
        self._give(operation.address, slopes.sum(axis=0))
        return True

    def result(self) -> Attribution:
        """All shares, by kind."""
        kinds: dict[str, Numbers] = {}
        words: dict[str, Numbers] = {}
        by_layer: dict[str, dict[str, np.ndarray]] = {}
        units: dict[str, dict[str, np.ndarray]] = {}
        for address, leaf in self.leaves.items():
            at, operation = Address.parse(address), leaf.tap.operation
            if any(item.concerns(address) for item in self.read.interventions) and not isinstance(
                operation, Mix
            ):
                _add_named(kinds, SURGERY, "tap", address, float(leaf.shares.sum()))
            elif isinstance(operation, Mix):
                by_layer.setdefault(CROSS if at.block == "cross" else HEADS, {})[address] = leaf.shares.sum(
                    axis=(1, 2)
                )
                for head in range(len(leaf.shares)):
                    words[f"{at.place}/heads/{head}"] = self._of_head(leaf, operation, head)
            elif isinstance(operation, TokenLookup):
                by_word = self._along(leaf.shares.sum(axis=-1), leaf.tap.axes[0])
                if self.is_through:
                    kinds["source word" if leaf.tap.axes[0] == "source" else "word"] = by_word
                else:
                    _set(kinds, "embedding", by_word.total)
                    words[address] = by_word
            elif isinstance(operation, PositionLookup | Sinusoids):
                _set(kinds, "position", float(leaf.shares.sum()))
            elif at.block == "feedforward":
                by_layer.setdefault(FEEDFORWARD, {})[address] = leaf.shares.sum()
            elif isinstance(operation, SourceMean):
                kinds["context"] = self._of_source(leaf, operation)
            else:
                by_unit = leaf.shares.reshape(-1, leaf.shares.shape[-1]).sum(axis=0)
                name = f"unit {at.direction}".strip() if at.name != "start" else "first state"
                name = f"source {name}" if leaf.tap.axes[0] == "source" else name
                units.setdefault(name, {})[address] = by_unit
                words |= self._of_words(leaf)
        for kind, by_address in units.items():
            kinds[kind] = _by_layer(by_address, "unit", always=False)
        for kind, by_address in by_layer.items():
            kinds[kind] = _by_layer(by_address, "head")
        if self.biases:
            kinds[BIAS] = Numbers(
                array=np.array(list(self.biases.values())),
                axes=("parameter",),
                names={"parameter": tuple(self.biases)},
            )
        if self.constant:
            _set(kinds, ENTROPY, self.constant)
        measure = self.read.measure(self.question.scalar)
        return _summed(kinds, measure, self.question, tuple(self.held), words, self.depth)

    def _of_head(self, leaf: _Leaf, operation: Mix, head: int) -> Numbers:
        """A head's share by the words that it read."""
        weights, values = (
            self.value(operation.weights)[head],
            self.value(operation.values)[head // operation.shared],
        )
        by_key = ((leaf.slopes[head] @ values.T) * weights).sum(axis=0)
        return self._along(by_key, self.taps[operation.weights].axes[-1])

    def _of_source(self, leaf: _Leaf, operation: SourceMean) -> Numbers:
        by_source = ((leaf.slopes @ self.value(operation.states).T) * self.value(operation.weights)).sum(
            axis=0
        )
        return self._along(by_source, "source")

    def _of_words(self, leaf: _Leaf) -> dict[str, Numbers]:
        """A gated layer's share by the words whose traces are in its states; none of a layer without gates.

        An LSTM's state is output × tanh(cell): the ratio of tanh(cell) to the cell is held, so that what a
        word has left in the cell has a share.
        """
        place = Address.parse(leaf.tap.address).place
        if leaf.slopes.ndim == 1:
            return {}
        gated = f"{place}/cell" in self.taps or f"{place}/update" in self.taps
        if not gated or any(item.enabled for item in self.read.interventions):
            return {}
        beside: dict[str, Any] = {name: given.ids for name, given in self.question.clean.beside.items()}
        traced = trace(self.model, self.read.ids, **beside)
        axis = leaf.tap.axes[0]
        found = np.zeros(len(leaf.slopes) + 1)
        for position in np.flatnonzero(leaf.slopes.any(axis=1)):
            held = held_words(traced, place, int(position))
            slopes = leaf.slopes[position]
            if f"{place}/cell" in self.taps:
                cell = self.value(f"{place}/cell")[position]
                ratio = np.where(cell != 0, np.tanh(cell) / np.where(cell != 0, cell, 1.0), 1.0)
                slopes = slopes * self.value(f"{place}/output")[position] * ratio
            found[: len(held.parts)] += held.parts @ slopes
            found[-1] += held.rest @ slopes
        tokens = self._along(found[:-1], axis)
        return {
            place: Numbers(
                array=found,
                axes=(axis,),
                names={axis: (*tokens.labels(axis), "before the first")},
            )
        }

    def _along(self, numbers: np.ndarray, axis: str) -> Numbers:
        tokens = tokens_along(
            ReadContrast(self.model, self.question.clean, None, self.question.scalar, 0), axis
        )
        return Numbers(array=numbers, axes=(axis,), names={axis: tokens[: len(numbers)]})


_WAYS: Mapping[type[Operation], Callable[..., bool]] = {
    Affine: _Walk._affine,
    Norm: _Walk._norm,
    SumOfProducts: _Walk._sum,
    Joined: _Walk._joined,
    EndStates: _Walk._ends,
    MeanState: _Walk._mean,
    WeightedState: _Walk._weighted,
    Repeated: _Walk._repeated,
}
"""How slopes go on through each operation that is linear, or is once its scale or its weights are held."""


def _orders(question: ReadContrast, read: CachedPass) -> Attribution:
    """Of an n-gram, by what each order changes the measure that the orders below it give."""
    scalar, before, found = question.scalar, 0.0, []
    orders = [
        address
        for address in read.axes
        if Address.parse(address).order and address.endswith("/probabilities")
    ]
    for address in orders:
        probabilities = read.values[address][0].double().cpu().numpy()
        now = _of_probabilities(scalar, probabilities)
        found.append(now - before)
        before = now
    if not np.isfinite(found).all():
        raise LmvizError(
            f"An order gives a word no probability, whose logarithm is infinite: choose "
            f"{scalar.name.replace('logit', 'probability')}."
        )
    names = tuple(str(Address.parse(address).order) for address in orders)
    kinds = {ORDER: Numbers(array=np.array(found), axes=(ORDER,), names={ORDER: names})}
    return _summed(kinds, read.measure(scalar), question, (), {})


def _of_probabilities(scalar: Scalar, probabilities: np.ndarray) -> float:
    """The measure where these were the model's probabilities, (position, token)."""
    with np.errstate(divide="ignore"):
        values = np.log(probabilities) if scalar.is_loss or scalar.address == "logits" else probabilities
    number = float(values[tuple(np.array(scalar.cells).T)].sum())
    if scalar.against:
        number -= float(values[tuple(np.array(scalar.against).T)].sum())
    return -number if scalar.is_loss else number


def _summed(
    kinds: dict[str, Numbers],
    value: float,
    question: ReadContrast,
    held: tuple[str, ...],
    words: Mapping[str, Numbers],
    depth: int = 0,
) -> Attribution:
    """All kinds in a row, and what rounding leaves."""
    shares = [float(share) for found in kinds.values() for share in found.array.ravel()]
    _set(kinds, ROUNDING, math.fsum([value, *(-share for share in shares)]))
    names = tuple(name for kind, found in kinds.items() for name in _names(kind, found))
    return Attribution(
        array=np.array([*shares, kinds[ROUNDING].total]),
        axes=("component",),
        names={"component": names},
        value=value,
        measure=question.scalar.name,
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
