"""Explains any cell of a gradient: the sum over all that reads it of their gradient × local derivative."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.inspection.agreement import check_made_by
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.indices import cell
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.local_derivatives import computed_terms
from lmviz.inspection.names import title_of
from lmviz.inspection.surgery import amount_at
from lmviz.inspection.traced_array import scores_behind
from lmviz.models.address import Address, gradient_of
from lmviz.models.arithmetic import Arithmetic, Factor, Terms, constant
from lmviz.models.model import Model
from lmviz.models.operations.factors import constants, value_cells
from lmviz.models.tap import Tap


class TracedGradient(TraceReader):
    """A trace with the gradient of each of its taps, which has the address "gradient/ADDRESS"."""

    def __init__(self, model: Model, gradient: Gradient) -> None:
        super().__init__(model, gradient.trace)
        self._gradient = gradient

    def array(self, address: str) -> np.ndarray:
        """The value or the gradient of a tap, without a batch axis."""
        is_gradient = Address.parse(address).is_gradient
        return self._gradient.array(address) if is_gradient else super().array(address)

    def is_changed(self, address: str) -> bool:
        """Whether an intervention concerns a tap."""
        return any(item.concerns(address) for item in self._gradient.trace.interventions)


def explain_gradient(model: Model, gradient: Gradient, address: str, index: Sequence[int]) -> Arithmetic:
    """Why a cell of a gradient has its value: every cell that reads it, its gradient × local derivative.

    `address` is that of a tap, or the name of a parameter, with or without "gradient/" in front; the
    operands are `gradient/…`, taps and parameters, so that one may ask for each of them in turn, as far as
    the chosen number. LmvizError when there is no such cell, or when the gradient was taken of another
    model than this, or at another snapshot.
    """
    check_made_by(gradient.trace, model)
    if not isinstance(address, str):
        raise LmvizError(f"{address!r} is not an address: give that of a tap, or the name of a parameter.")
    source = Address.parse(address).value
    array = gradient.array(source)
    if source in gradient.parameters:
        axes: tuple[str, ...] = tuple(f"axis {place}" for place in range(array.ndim))
    else:
        axes = gradient[source].axes
    index = cell(axes, index, array.shape)
    reader = TracedGradient(model, gradient)
    operation = f"gradient × local derivative, of all that reads it, for {gradient.scalar.said}"
    if source in gradient and gradient.trace.unseen(source)[index]:
        masked = Terms("masked: it does not enter the computation", (constant(np.nan),))
        return Arithmetic(gradient_of(source), index, float(array[index]), operation, "sum", (masked,))
    groups = [*_of_the_scalar(gradient, source, index)]
    for tap in model.taps():
        if tap.address in gradient:
            groups += _passed_back(reader, gradient, tap, source, index)
    entering = (_entering(gradient, group) for group in groups)
    read = tuple(group for group in entering if _counts(group))
    if not read:
        read = (Terms(f"nothing that {gradient.scalar.said} depends on reads it", (constant(0.0),)),)
    return Arithmetic(gradient_of(source), index, float(array[index]), operation, "sum", read)


def _of_the_scalar(gradient: Gradient, source: str, index: tuple[int, ...]) -> Iterator[Terms]:
    """What the chosen number itself rises by."""
    scalar = gradient.scalar
    if source in scalar.reads:
        scalar.check_is_cells("whose slope is not known by parts")
    if scalar.is_loss and source == scalar.address == "logits":
        yield from _of_a_softmax(gradient, index)
        return
    if source == scalar.address and index in scalar.against:
        yield Terms(f"{scalar.said}, from which it is taken", (constant(-1.0),))
    if source != scalar.address or index not in scalar.cells:
        return
    if not scalar.is_loss:
        yield Terms(f"{scalar.said} itself", (constant(1.0),))
        return
    probability = gradient.trace[source].array[index].astype(np.float64)
    inverse = Factor(source, np.array([index]), np.array([probability]), "reciprocal")
    yield Terms("the slope of −ln p", (constant(-1.0), inverse))


def _of_a_softmax(gradient: Gradient, index: tuple[int, ...]) -> Iterator[Terms]:
    """What a loss that is read off the logits rises by: p of the token, less 1 for the one that came."""
    if index[:-1] not in {place[:-1] for place in gradient.scalar.cells}:
        return
    probability = gradient.trace["probabilities"].array[index].astype(np.float64)
    yield Terms("its own p", (Factor("probabilities", np.array([index]), np.array([probability])),))
    if index in gradient.scalar.cells:
        yield Terms("the token that came", (constant(-1.0),))


def _passed_back(
    reader: TracedGradient, gradient: Gradient, tap: Tap, source: str, index: tuple[int, ...]
) -> Iterator[Terms]:
    """What a tap passes back to a cell, through its operation and around it."""
    operands = {operand.address for operand in tap.operation.operands}
    if source not in gradient.parameters and source not in operands:
        return
    stated = tap.operation.passed_back(reader, tap.address, source, index)
    groups = computed_terms(reader, gradient.trace, tap, source, index) if stated is None else stated
    changes = [item for item in gradient.trace.interventions if item.concerns(tap.address)]
    title = title_of(tap.address)
    for group in groups:
        named = Terms(f"{title}: {group.label}" if group.label else title, group.factors)
        yield _through(gradient, tap, changes, named) if changes else named
    yield from _around(reader, gradient, tap, changes, source, index)


def _through(gradient: Gradient, tap: Tap, changes: Sequence[Intervention], group: Terms) -> Terms:
    """The same where interventions stand between what was computed and what went on."""
    traced = gradient.trace[tap.address]
    factors = [
        _kept(changes, traced.axes, traced.array.shape, tuple(map(int, place)))
        for place in group.factors[0].indices
    ]
    return Terms(group.label, (*group.factors, constants(np.array(factors, dtype=np.float64))))


def _kept(
    changes: Sequence[Intervention], axes: tuple[str, ...], shape: tuple[int, ...], place: tuple[int, ...]
) -> float:
    """What the value that went on rises by with the one before the changes."""
    kept = 1.0
    for change in changes:
        amount = amount_at(change, axes, shape, place)
        if amount is not None and change.kind != "add":
            kept *= amount if change.kind == "scale" else 0.0
    return kept


def _around(
    reader: TracedGradient,
    gradient: Gradient,
    tap: Tap,
    changes: Sequence[Intervention],
    source: str,
    index: tuple[int, ...],
) -> Iterator[Terms]:
    """What reaches the main operand directly, where an operation was bypassed."""
    if not tap.operation.operands or tap.operation.operands[0].address != source:
        return
    traced = gradient.trace[tap.address]
    place = (index[0] - tap.operation.operands[0].shift, *index[1:])
    if not all(0 <= at < size for at, size in zip(place, traced.array.shape, strict=False)):
        return
    for number, change in enumerate(changes):
        if change.kind != "bypass" or amount_at(change, traced.axes, traced.array.shape, place) is None:
            continue
        after = _kept(changes[number + 1 :], traced.axes, traced.array.shape, place)
        passed = value_cells(reader, gradient_of(tap.address), np.array([place]))
        yield Terms(f"{title_of(tap.address)}: passed through", (passed, constant(after)))


def _entering(gradient: Gradient, group: Terms) -> Terms:
    """The terms whose gradient is that of a cell which enters the computation."""
    first = group.factors[0]
    source = Address.parse(first.source).value
    if source == first.source or scores_behind(gradient.trace.arrays, source) is None:
        return group
    entering = ~gradient.trace.unseen(source)[tuple(first.indices.T)]
    factors = (
        Factor(each.source, each.indices[entering], each.values[entering], each.function)
        for each in group.factors
    )
    return Terms(group.label, tuple(factors), group.side)


def _counts(group: Terms) -> bool:
    """Whether anything reaches the cell this way."""
    if not len(group):
        return False
    first = group.factors[0]
    if not np.isfinite(group.products).all():
        raise LmvizError("A gradient on the way is infinite or not a number: choose another number.")
    return first.source == "constant" or bool(first.values.any())
