"""From a measure back through all that is a sum in a model, to the parts that it is a sum of.

Logits are linear in the stream but for the last normalisation. Its scale is held at what it is, and so are
the weights of attention and the gates of recurrent layers. By how much the measure changes per unit of a
value is handed on from operation to operation, and where one is no sum the walk ends: at a leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.circuits.cached_pass import CachedPass
from lmviz.circuits.read_contrast import ReadContrast
from lmviz.circuits.through_recurrence import passable, through_recurrence
from lmviz.inspection.scalar import Scalar
from lmviz.models.address import Address
from lmviz.models.operations import (
    Affine,
    EndStates,
    Joined,
    JoinedHeads,
    Linear,
    MeanState,
    Norm,
    Repeated,
    Row,
    SumOfProducts,
    WeightedState,
    Window,
)
from lmviz.models.tap import Operation, Tap, Weight


@dataclass(frozen=True, eq=False)
class Leaf:
    """A tap at which the walk ends: what its cells add to the measure per unit of their value, and add."""

    tap: Tap
    slopes: np.ndarray
    shares: np.ndarray


def recurrent_layers(taps: Sequence[Tap]) -> list[tuple[str, int]]:
    """The recurrent layers from the top down, as side and number; a decoder before an encoder."""
    scanned = (Address.parse(tap.address) for tap in reversed(taps) if tap.scan)
    return list(dict.fromkeys((at.side, at.layer) for at in scanned if at.layer is not None))


def measure_slopes(scalar: Scalar, read: CachedPass) -> tuple[str, np.ndarray, float]:
    """The tap that a measure is read off, by how much it changes per unit of each cell, and what is no cell.

    LmvizError for a probability of a model that learns by gradients, and for a function of one's own.
    """
    scalar.check_is_cells("which is no sum of what parts add")
    if scalar.address == "probabilities" and not scalar.is_loss:
        raise LmvizError(
            f"{scalar.name} is not a sum of what parts add: choose the logit of a word, such as "
            f"{scalar.name.replace('probability', 'logit')}, or a loss."
        )
    address, constant = "logits" if scalar.is_loss else scalar.address, 0.0
    values = read.values[address][0].detach().cpu().double().numpy()
    slopes = np.zeros(values.shape)
    if not scalar.is_loss:
        np.add.at(slopes, tuple(np.array(scalar.cells).T), 1.0)
        if scalar.against:
            np.add.at(slopes, tuple(np.array(scalar.against).T), -1.0)
    for cell in scalar.cells if scalar.is_loss else ():
        # −ln p = Σ p_w z_w + entropy − z, with the probabilities held
        row = values[cell[:-1]]
        logarithms = row - row.max() - np.log(np.exp(row - row.max()).sum())
        chances = np.exp(logarithms)
        slopes[cell[:-1]] += chances
        slopes[cell] -= 1.0
        constant -= float((chances * np.where(chances > 0, logarithms, 0.0)).sum())
    return address, slopes, constant


class LinearWalk:
    """From the measure back through everything that is linear, in float64.

    `slopes` are the derivatives of the measure by taps (*axes), with scales and weights of attention held.
    At the taps of `stops` it ends, whatever they are a sum of. Walks through one model may share its
    `weights`, which each adds to as it reads them.
    """

    def __init__(
        self,
        question: ReadContrast,
        read: CachedPass,
        through: int = 0,
        stops: Collection[str] = (),
        weights: dict[Weight, np.ndarray] | None = None,
    ) -> None:
        self.question, self.read, self.stops = question, read, frozenset(stops)
        self.model = question.model
        self.parameters = self.model.tensors()
        self.taps = {tap.address: tap for tap in read.taps}
        self.slopes: dict[str, np.ndarray] = {}
        self.leaves: dict[str, Leaf] = {}
        self.biases: dict[str, float] = {}
        self.held: list[str] = []
        self._values: dict[str, np.ndarray] = {}
        self._weights: dict[Weight, np.ndarray] = {} if weights is None else weights
        layers = recurrent_layers(read.taps)
        self.depth, self.is_through = len(layers), 0 < len(layers) == through
        passed = self._passed(layers[:through])
        address, slopes, self.constant = measure_slopes(question.scalar, read)
        self.slopes[address] = slopes
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
                self.leaves[address] = Leaf(scanned[address], slopes, slopes * self.value(address))
            else:
                self._give(address, slopes)

    def value(self, address: str) -> np.ndarray:
        """A tap's value (*axes)."""
        if address not in self._values:
            self._values[address] = self.read.values[address][0].detach().cpu().double().numpy()
        return self._values[address]

    def weight(self, operand: Weight) -> np.ndarray:
        """A parameter, or some of its rows."""
        if operand not in self._weights:
            whole = self.parameters[operand.name]
            rows = whole if operand.rows is None else whole[slice(*operand.rows)]
            self._weights[operand] = rows.detach().cpu().double().numpy()
        return self._weights[operand]

    def _give(self, address: str, slopes: np.ndarray) -> None:
        if address in self.slopes:
            self.slopes[address] = self.slopes[address] + slopes
        else:
            self.slopes[address] = slopes

    def _pass(self, tap: Tap, slopes: np.ndarray) -> None:
        """Hand the slopes at a tap on to what it is a sum of, or end there."""
        concerned = any(item.concerns(tap.address) for item in self.read.interventions)
        concerned = concerned or tap.address in self.stops
        way = None if concerned else _WAYS.get(type(tap.operation))
        if way is None or not way(self, tap.operation, slopes):
            self.leaves[tap.address] = Leaf(tap, slopes, slopes * self.value(tap.address))

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


_WAYS: Mapping[type[Operation], Callable[..., bool]] = {
    Affine: LinearWalk._affine,
    Norm: LinearWalk._norm,
    SumOfProducts: LinearWalk._sum,
    Joined: LinearWalk._joined,
    EndStates: LinearWalk._ends,
    MeanState: LinearWalk._mean,
    WeightedState: LinearWalk._weighted,
    Repeated: LinearWalk._repeated,
}
"""How slopes go on through each operation that is linear, or is once its scale or its weights are held."""
