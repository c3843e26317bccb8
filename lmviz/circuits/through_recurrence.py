"""Back through the steps of a recurrence, with its gates held: what states and words add to a number.

A state of an LSTM or a GRU is a sum of products of gates and what they let through. Held as they are, gates
are numbers, and so is the share of its sum that a function such as tanh lets through; then all that is left
is a sum, and falls apart exactly (Arras et al. 2019 call it LRP-all). What a gate would do if it were another
has no share.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from lmviz.models.arithmetic import FUNCTIONS
from lmviz.models.operations import (
    Activation,
    Affine,
    Joined,
    Of,
    Product,
    Row,
    StateBefore,
    SumOfProducts,
)
from lmviz.models.tap import Tap, Value, Weight, inside

Back = Iterator[tuple[Value, np.ndarray]]
"""Operands, and what the number changes by per unit of each."""


def passable(taps: Mapping[str, Tap], tap: Tap) -> bool:
    """Whether what a tap of a recurrence computes is a sum once gates are held."""
    operation = tap.operation
    if isinstance(operation, SumOfProducts):
        return all(len(_carriers(taps, product)) == 1 for product in operation.products)
    if isinstance(operation, Affine):
        return all(isinstance(summand.input, Row) for summand in operation.summands)
    return isinstance(operation, Activation | Joined | StateBefore)


def _carriers(taps: Mapping[str, Tap], product: Product) -> list[Of]:
    """The factors of a product that are no gates, of which one is what the gates let through."""
    return [factor for factor in product.factors if taps[factor.value.address].scale != "share"]


class Walked(Protocol):
    """What the walk reads, and where what it comes by is added up."""

    taps: dict[str, Tap]
    biases: dict[str, float]

    def value(self, address: str) -> np.ndarray:
        """A tap's value (*axes), in float64."""

    def weight(self, operand: Weight) -> np.ndarray:
        """A parameter, or some of its rows."""


def through_recurrence(
    walk: Walked, taps: Sequence[Tap], begun: Mapping[str, np.ndarray], passed: Collection[str]
) -> dict[str, np.ndarray]:
    """The slopes at what the taps of a scan are made of, and at those of them that are not `passed`.

    `begun` has the slopes at some of the taps, (position, unit), as far as they come from behind the scan.
    """
    scanned = [tap.address for tap in taps]
    slopes = {address: np.array(begun[address]) for address in scanned if address in begun}
    positions = range(len(walk.value(scanned[0])))
    for position in positions if taps[0].reverse else reversed(positions):
        for tap in reversed(taps):
            if tap.address not in passed or tap.address not in slopes:
                continue
            here = slopes[tap.address][position]
            for operand, back in _back(walk, tap, position, here) if here.any() else ():
                array = slopes.setdefault(operand.address, np.zeros_like(walk.value(operand.address)))
                place = position + operand.shift
                if array.ndim == 1:
                    array += back
                elif inside(place, len(array)):
                    array[place] += back
    gone_through = {address for address in scanned if address in passed}
    return {address: found for address, found in slopes.items() if address not in gone_through}


def _back(walk: Walked, tap: Tap, position: int, slopes: np.ndarray) -> Back:
    """What a tap at a position is a sum of, given the slopes (unit) there."""
    operation, value = tap.operation, walk.value(tap.address)[position]
    if isinstance(operation, Affine):
        yield from _affine(walk, tap.address, operation, position, slopes, value)
    elif isinstance(operation, Activation):
        before = _at(walk, operation.value, position)
        yield operation.value, _let_through(walk, tap.address, operation.function, before, value, slopes)
    elif isinstance(operation, SumOfProducts):
        for product in operation.products:
            held, carrier = slopes * product.times, _carriers(walk.taps, product)[0]
            for factor in product.factors:
                number = _at(walk, factor.value, position)
                made = FUNCTIONS[factor.function].compute(number)
                held = held * (made if factor is not carrier else _share(made, number))
            yield carrier.value, held
    elif isinstance(operation, Joined):
        first = 0
        for address in operation.addresses:
            width = walk.value(address).shape[-1]
            yield Value(address), slopes[first : first + width]
            first += width
    elif isinstance(operation, StateBefore):
        yield (operation.state if position else Value(operation.start)), slopes


def _affine(
    walk: Walked, address: str, operation: Affine, position: int, slopes: np.ndarray, value: np.ndarray
) -> Back:
    parts = []
    for summand in operation.summands:
        assert isinstance(summand.input, Row), "a recurrence reads rows"
        gate = 1.0 if summand.gate is None else _at(walk, summand.gate, position)
        weight = walk.weight(summand.weight)
        bias = np.zeros(len(weight)) if summand.bias is None else walk.weight(summand.bias)
        parts.append((summand, gate, weight, bias, _at(walk, summand.input.value, position)))
    before = sum(gate * (weight @ read + bias) for _, gate, weight, bias, read in parts)
    slopes = _let_through(walk, address, operation.function, np.asarray(before), value, slopes)
    for summand, gate, weight, bias, _ in parts:
        if summand.bias is not None:
            name = summand.bias.name
            walk.biases[name] = walk.biases.get(name, 0.0) + float((slopes * gate) @ bias)
        yield summand.input.operands[0], (slopes * gate) @ weight


def _let_through(
    walk: Walked, address: str, function: str, before: np.ndarray, value: np.ndarray, slopes: np.ndarray
) -> np.ndarray:
    """The slopes before a function: the share of its argument that it lets through is held.

    What it gives of nothing, a half in a logistic function, is added up as a bias is.
    """
    if not function:
        return slopes
    nothing = float(FUNCTIONS[function].compute(np.zeros(1))[0])
    if nothing:
        name = f"{address} of nothing"
        walk.biases[name] = walk.biases.get(name, 0.0) + float(slopes.sum()) * nothing
    return slopes * _share(value - nothing, before)


def _share(made: np.ndarray, number: np.ndarray) -> np.ndarray:
    return np.divide(made, number, out=np.zeros_like(made), where=number != 0)


def _at(walk: Walked, operand: Value, position: int) -> np.ndarray:
    """An operand's row where a position reads it; zeros outside the text."""
    array, place = walk.value(operand.address), position + operand.shift
    if array.ndim == 1:
        return array
    return array[place] if inside(place, len(array)) else np.zeros(array.shape[1])
