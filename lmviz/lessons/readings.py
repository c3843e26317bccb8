"""Functions of a situation that take more than a line: what a trace, a text and a network say."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.lessons.expression import Result
from lmviz.lessons.faults import NotKnown

if TYPE_CHECKING:
    from lmviz.inspection.trace import Trace
    from lmviz.lessons.situation import Situation

KEPT = 64
"""How many counts are remembered, as conditions are looked at again and again."""

_counts: dict[tuple[int, str], tuple[Any, dict[str, int], int]] = {}


def count(now: Situation, phrase: Result, token: Result | None = None) -> float:
    """How often a phrase occurs in the training part with a token after it, or with this one."""
    from lmviz.text.concordance import concordance

    corpus = now.corpus
    if corpus is None:
        raise NotKnown("There is no text yet.")
    key = (id(corpus), str(phrase))
    if key not in _counts or _counts[key][0] is not corpus:
        found = concordance(corpus, str(phrase), limit=0)
        while len(_counts) >= KEPT:
            _counts.pop(next(iter(_counts)))
        _counts[key] = corpus, {word.token: word.count for word in found.words}, found.total
    _, words, total = _counts[key]
    return float(total if token is None else words.get(str(token), 0))


def probability(now: Situation, token: Result, position: Result = -1.0) -> float:
    """That a token, or a label, comes after a position."""
    trace = _trace(now)
    return _number(trace, "probabilities", [*_place(trace, position), str(token)], now)


def likeliest(now: Situation, rank: Result = 1.0, position: Result = -1.0) -> str:
    """The token, or the label, of a rank, counted from 1."""
    import numpy as np

    trace = _trace(now)
    row = trace["probabilities"].array
    for index in _place(trace, position):
        row = row[_index(trace, "position", index, len(row), now)]
    order = np.argsort(-row, kind="stable")
    if isinstance(rank, str) or not 1 <= rank <= len(order):
        raise NotKnown(f"There is no rank {rank}.")
    return _names(trace, trace.predicts.axis, now)[int(order[int(rank) - 1])]


def best_lane(now: Situation, rank: Result = 1.0) -> Result:
    """The label of the lane whose validation loss came lowest, or that of another rank."""
    label, _ = _ranked_lane(now, rank)
    try:
        return float(label)
    except ValueError:
        return label


def lane_loss(now: Situation, rank: Result = 1.0) -> float:
    """The lowest validation loss of that lane, in nats."""
    return _ranked_lane(now, rank)[1]


def _ranked_lane(now: Situation, rank: Result) -> tuple[str, float]:
    measured = [(loss, label) for label, loss in now.lanes.items() if loss is not None]
    if isinstance(rank, str) or not 1 <= rank <= len(measured) or now.race != "ended":
        raise NotKnown("The race has not come to its end yet.")
    loss, label = sorted(measured)[int(rank) - 1]
    return label, loss


def most_held(now: Situation) -> str:
    """The token at which most of what the memory cell holds at the end was written."""
    from lmviz.inspection.held_words import held_words

    trace = _trace(now)
    try:
        shares = held_words(trace).shares
    except LmvizError as error:
        raise NotKnown(str(error)) from None
    return str(trace.tokens[int(shares.argmax())])


def gradient_factor(now: Situation, name: Result) -> float:
    """What a step further back multiplies the gradient by, in the compared model of this name."""
    known = {each.casefold(): factor for each, factor in _factors(now).items()}
    if str(name).casefold() not in known:
        raise NotKnown(f"“{name}” is not compared: there are {', '.join(_factors(now))}.")
    return known[str(name).casefold()]


def furthest_reaching(now: Situation) -> str:
    """The compared model of which a step back leaves most of the gradient."""
    factors = _factors(now)
    if len(factors) < 2:
        raise NotKnown("Only one model is open: compare it with another.")
    return max(factors, key=lambda name: factors[name])


def _factors(now: Situation) -> dict[str, float]:
    known = {name: factor for name, factor in now.gradient_factors.items() if math.isfinite(factor)}
    if not known:
        raise NotKnown("No gradient has gone back through time yet: look at “Back through time” of Inside.")
    return known


def log_probability(now: Situation) -> float:
    """ln of the probability of the prefix, in nats: of every token that stands after another."""
    trace = _trace(now)
    rows = trace["probabilities"].array
    if not trace.predicts.continues or len(trace) < 2:
        raise NotKnown("The text has no token that a model has predicted.")
    found = [float(rows[at - 1, trace.ids[at]]) for at in range(1, len(trace))]
    return sum(math.log(each) for each in found) if all(found) else -math.inf


def cell(now: Situation, address: Result, *index: Result, untouched: bool) -> float:
    """A cell of the trace."""
    trace = now.untouched if untouched else now.trace
    if trace is None:
        raise NotKnown("There is nothing that a model has read yet.")
    return _number(trace, str(address), index, now)


def cell_value(now: Situation) -> float:
    """The number in the cell that is pointed at or pinned."""
    if not now.cell:
        raise NotKnown("No cell is pointed at, and none is pinned.")
    return _number(_trace(now), now.cell, [float(at) for at in now.cell_index], now)


def shape(now: Situation, address: Result, axis: Result) -> float:
    """How long a tap is along an axis."""
    trace = _trace(now)
    traced = _traced(trace, str(address))
    if axis not in traced.axes:
        raise NotKnown(f"{address} has no axis {axis!r}: it has {', '.join(traced.axes)}.")
    return float(traced.shape[traced.axes.index(str(axis))])


def network_cell(now: Situation, name: Result, *index: Result, gradient: bool) -> float:
    """A cell of a value of the network, or its gradient."""
    found = now.network
    try:
        node = found[str(name)]
    except LmvizError as error:
        raise NotKnown(str(error)) from None
    array = node.gradient if gradient else node.value
    if array is None:
        raise NotKnown(f"{name} has no {'gradient' if gradient else 'value'} yet.")
    if len(index) != array.ndim or any(isinstance(at, str) for at in index):
        raise NotKnown(f"{name} has {array.ndim} axes: give an index for each.")
    try:
        return float(array[tuple(int(at) for at in index)])
    except IndexError:
        raise NotKnown(f"{name} has no such cell.") from None


def drawn(now: Situation, panel: Result, array: Result, *index: Result) -> float:
    """A number that a panel draws."""
    return float(_drawn(now, str(panel), str(array), index, left=0))


def strongest(now: Situation, panel: Result, array: Result, *row: Result) -> float:
    """Where in a row of the numbers that a panel draws the largest in size stands, counted from 0."""
    return float(abs(_drawn(now, str(panel), str(array), row, left=1)).argmax())


def _drawn(now: Situation, panel: str, array: str, index: Sequence[Result], *, left: int) -> Any:
    """What is at an index of an array, of which so many axes are left."""
    found = now.drawn(panel).get(array)
    if found is None:
        raise NotKnown(f"{panel} draws no {array!r} now.")
    if len(index) + left != found.ndim or any(isinstance(at, str) for at in index):
        raise NotKnown(f"{array!r} of {panel} has {found.ndim} axes: give {found.ndim - left} numbers.")
    try:
        numbers = found[tuple(int(at) for at in index)]
    except IndexError:
        raise NotKnown(f"{array!r} of {panel} has no such number.") from None
    if (numbers != numbers).any():
        raise NotKnown(f"{panel} has not measured all of {array!r} yet.")
    return numbers


def measured(name: str) -> Callable[[Situation], float]:
    """The newest number of this name of the training."""

    def give(now: Situation) -> float:
        if name not in now.measured:
            raise NotKnown(f"The training has measured no {name.replace('_', ' ')} yet.")
        return now.measured[name]

    return give


def named(kind: str) -> Callable[[Situation, Result], Result]:
    """A setting by its name, of one of the situation's mappings."""

    def give(now: Situation, name: Result) -> Result:
        found = getattr(now, kind).get(str(name))
        if found is None:
            raise NotKnown(f"There is no setting {name!r} of what is open.")
        return found if isinstance(found, str) else float(found)

    return give


def written(now: Situation) -> str:
    """What was written after the prefix."""
    return " ".join(branch.token for branch in now.branches.path())


def _trace(now: Situation) -> Trace:
    if now.trace is None:
        raise NotKnown("There is nothing that a model has read yet.")
    return now.trace


def _traced(trace: Trace, address: str) -> Any:
    try:
        return trace[address]
    except LmvizError as error:
        raise NotKnown(str(error)) from None


def _place(trace: Trace, position: Result) -> list[Result]:
    """The index of a position, where there is an answer for each."""
    return [] if trace.predicts.per == "text" else [position]


def _number(trace: Trace, address: str, index: Sequence[Result], now: Situation) -> float:
    traced = _traced(trace, address)
    if len(index) != len(traced.axes):
        raise NotKnown(f"{address} has the axes {', '.join(traced.axes)}: give an index for each.")
    place = [
        _index(trace, axis, at, size, now)
        for axis, at, size in zip(traced.axes, index, traced.shape, strict=True)
    ]
    return float(traced.array[tuple(place)])


def _index(trace: Trace, axis: str, at: Result, size: int, now: Situation) -> int:
    """An index as a number, from a number or from what stands there: of several, the last."""
    if isinstance(at, str):
        names = _names(trace, axis, now)
        found = [number for number, name in enumerate(names) if name.casefold() == at.casefold()]
        exact = [number for number in found if names[number] == at]
        if not found:
            raise NotKnown(f"“{at}” does not stand along the axis {axis}.")
        return (exact or found)[-1]
    if at != int(at) or not -size <= at < size:
        raise NotKnown(f"There is no place {at:g} along the axis {axis}.")
    return int(at) % size


def _names(trace: Trace, axis: str, now: Situation) -> Sequence[str]:
    names = trace.names(axis)
    return names if names or axis != "token" or now.tokenizer is None else now.tokenizer.tokens()
