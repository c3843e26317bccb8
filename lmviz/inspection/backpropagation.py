"""Takes gradients: a forward pass whose every value is kept, and one sweep back through it.

The derivatives are torch's own, by reverse-mode automatic differentiation over the explicit path, so that
they belong to exactly the numbers that a trace shows, interventions included. Through the squares of a long
text the steps of attention go back as they state it themselves (`Operation.sent_back`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import GIGABYTE, machine_memory
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.deferred_array import SQUARE, deferred, deferred_taps, heads_of
from lmviz.inspection.deferred_gradient import DeferredGradient, DifferentiableByRows
from lmviz.inspection.freezing import freeze, storages
from lmviz.inspection.gradient import Gradient
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.origin import Origin
from lmviz.inspection.recording import PreparedReading, TapRecorder, prepared, read_by_changed, traced
from lmviz.inspection.scalar import AnyOf, Scalar, addresses_in, in_range, read_scalar
from lmviz.inspection.traced_array import TracedArray, scores_behind
from lmviz.models.explicit import ForwardPass, in_order
from lmviz.models.finite import parameters_without_numbers, why_not_finite
from lmviz.models.given_source import GivenSource
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.reading import on_device
from lmviz.models.sequences import SOURCE
from lmviz.models.tap import Tap, Weight


class GradientRecorder(TapRecorder):
    """A recorder that hands on, for each value, a tensor of its own whose gradient can be asked for.

    Inside a recurrence there is one for each position: what is stacked of them later is another tensor.
    """

    def __init__(
        self, taps: Sequence[Tap], interventions: Sequence[Intervention], positions: Mapping[str, int]
    ) -> None:
        super().__init__(taps, interventions, positions)
        self.leaves: dict[str, dict[int | None, torch.Tensor]] = {}

    def handed_on(self, tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
        if not value.is_floating_point():
            return value
        leaf = value.view_as(value) if value.requires_grad else value.detach().clone().requires_grad_()
        self.leaves.setdefault(tap.address, {})[position] = leaf
        return leaf


def gradient(
    model: Model,
    text_or_ids: str | Sequence[int] | np.ndarray,
    of: AnyOf = "loss",
    *,
    interventions: Sequence[Intervention] = (),
    scales: Mapping[str, float] | None = None,
    **further: str | Sequence[int] | np.ndarray,
) -> Gradient:
    """The derivative of one number with respect to every tap and every parameter.

    "loss" is the sum of the losses of all tokens for which the text itself is the target, in nats. Where an
    intervention puts a number in the place of a value, nothing passes back through it. `scales` are
    factors for parameters, by their names: the model computes as if it had those, and the trace belongs to
    no snapshot. `further` are the sequences that the model reads beside the text. LmvizError where
    the model has no parameters, as one that counts; where there is no such number; where its gradient is
    none, as of the loss of an impossible token; where memory is too small; or as `trace` raises it.
    """
    if isinstance(model, GivenSource):
        further = {SOURCE: model.source, **further}
        model = model.unchanged
    model, interventions = unchanged(model, interventions)
    check_differentiable(model)
    reading = prepared(model, text_or_ids, interventions, further)
    with differentiating():
        swept = DifferentiablePass(model, reading, scales=scales, kept=addresses_in(of))
        scalar = in_range(
            read_scalar(of, model, reading.ids, swept.values), swept.values, reading.interventions
        )
        number = scalar.numbers(swept.values, partial(_unchanged_values, model, reading, scalar.reads))[0]
        check_number(model, scalar, number)
        of_taps, of_parameters = swept.back(number)
    borrowed = storages((*model.parameters(), *model.buffers()))
    arrays: dict[str, TracedArray] = {}
    found: dict[str, TracedArray] = {}
    for tap in swept.taps:
        if tap.address in swept.unkept:
            arrays[tap.address] = deferred(tap, arrays, reading.ids, swept.heads, swept.parameters)
            continue
        arrays[tap.address] = TracedArray(freeze(swept.values[tap.address], borrowed), tap.axes, tap.scale)
        if tap.address in of_taps:
            found[tap.address] = TracedArray(freeze(of_taps[tap.address], set()), tap.axes, "signed")
    alone = _alone(of_taps, (*swept.values.values(), *of_parameters.values()))
    for address, one in found.items():
        found[address] = replace(one, array=_without_unseen(arrays, address, one.array, address in alone))
    later = {
        tap.address: DeferredGradient(tap, swept.taps, swept.unkept, reading.ids, arrays, found)
        for tap in swept.taps
        if tap.address in swept.unkept
    }
    gradients = {
        tap.address: (found | later)[tap.address] for tap in swept.taps if tap.address in found | later
    }
    return Gradient(
        trace=traced(model, reading, arrays, swept.recorder.carried_out(), Origin(model)),
        scalar=scalar,
        value=float(number.detach()),
        arrays=gradients,
        parameters={name: freeze(value[None], set()) for name, value in of_parameters.items()},
    )


def _unchanged_values(
    model: Model, reading: PreparedReading, addresses: Collection[str]
) -> dict[str, torch.Tensor]:
    """The values (1, *axes) of some taps without interventions."""
    with torch.no_grad():
        scope = ForwardPass(on_device(model, reading.prefix.ids), model.tensors(), **reading.others(model))
        return scope.run(model.taps(), lambda tap, value, position: value, keep=addresses)


class DifferentiablePass:
    """A forward pass over a reading, by whose values and parameters one can differentiate.

    `values` are those of the taps, (row, *axes), in a batch of `rows` alike, without the squares of attention
    that are `unkept` because there are too many; those at the addresses `kept` are not among these. To be
    made, and asked, while `differentiating`.
    """

    def __init__(
        self,
        model: Model,
        reading: PreparedReading,
        *,
        rows: int = 1,
        scales: Mapping[str, float] | None = None,
        kept: Collection[str] = (),
    ) -> None:
        self.taps = model.taps()
        self.heads = heads_of(self.taps, model.configuration)
        large = deferred_taps(self.taps, len(reading.ids), rows * self.heads)
        self.unkept = large - read_by_changed(self.taps, reading.interventions) - set(kept)
        run = [tap for tap in self.taps if tap.address not in self.unkept]
        check_room(model, run, len(reading.ids), rows)
        self.recorder = GradientRecorder(self.taps, reading.interventions, reading.lengths)
        self.parameters = leaves_of(model, scales)
        everything = {**dict(model.named_buffers()), **self.parameters}
        tokens = on_device(model, reading.ids).repeat(rows, 1)
        others = {name: ids.repeat(rows, 1) for name, ids in reading.others(model).items()}
        self._forward = DifferentiableByRows(tokens, everything, self.taps, self.unkept, **others)
        self.values = self._forward.run(run, self.recorder)

    def back(self, number: torch.Tensor) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        """The gradients of a number: of taps (row, *axes) by address, and of parameters by name."""
        leaves = [leaf for steps in self.recorder.leaves.values() for leaf in steps.values()]
        stretches, lookups = self._forward.stretches, self._forward.lookups
        rows = [*stretches.values(), *(found for _, _, found in lookups)]
        found = iter(_found(number, [*leaves, *self.parameters.values(), *rows]))
        filled = (_or_zeros(next(found), leaf) for leaf in leaves)
        taps = {
            address: _joined({place: next(filled) for place in steps})
            for address, steps in self.recorder.leaves.items()
        }
        parameters = {name: next(found) for name in self.parameters}
        for name, parts in _by_parameter(zip(stretches, found, strict=False)).items():
            parameters[name] = _with_stretches(self.parameters[name], parameters[name], parts)
        for (name, chosen, _), part in zip(lookups, found, strict=True):
            whole = _or_zeros(parameters[name], self.parameters[name])
            if part is not None:
                whole = whole if _is_alone(whole, (*taps.values(), *parameters.values())) else whole.clone()
                whole.index_add_(0, chosen.flatten(), part.flatten(0, -2))
            parameters[name] = whole
        return taps, {name: _or_zeros(value, self.parameters[name]) for name, value in parameters.items()}

    def back_to(self, number: torch.Tensor, address: str) -> torch.Tensor:
        """The gradient of one tap, (row, *axes)."""
        return self.back_to_some(number, [address])[address]

    def back_to_some(self, number: torch.Tensor, addresses: Collection[str]) -> dict[str, torch.Tensor]:
        """The gradients of some taps, (row, *axes) by address, in one sweep; none of the parameters."""
        steps = {address: self.recorder.leaves[address] for address in addresses}
        filled = iter(_filled(number, [leaf for leaves in steps.values() for leaf in leaves.values()]))
        return {
            address: _joined({place: next(filled) for place in leaves}) for address, leaves in steps.items()
        }


def unchanged(model: Model, interventions: Sequence[Intervention]) -> tuple[Model, tuple[Intervention, ...]]:
    """A model without interventions of its own, and all that are to be in force."""
    while isinstance(model, ChangedModel):
        interventions = (*model.interventions, *interventions)
        model = model.unchanged
    return model, tuple(interventions)


def check_room(model: Model, taps: Sequence[Tap], positions: int, rows: int = 1) -> None:
    """LmvizError where the squares among some taps, and their gradients, would take half of the memory.

    A system that has promised more memory than it has kills the whole program without an exception.
    """
    squares = sum(tap.axes[-2:] == SQUARE for tap in taps)
    needed = 2 * 4 * rows * squares * heads_of(taps, model.configuration) * positions**2
    memory = machine_memory()
    if memory is not None and needed > memory / 2:
        fitting = int(positions * (memory / 2 / needed) ** 0.5)
        raise LmvizError(
            f"The gradient of {positions:,} tokens would take about {needed / GIGABYTE:,.0f} GB of memory "
            f"and the machine has {memory / GIGABYTE:,.0f} GB: shorten the text to {fitting:,} tokens."
        )


@contextmanager
def differentiating() -> Iterator[None]:
    """Derivatives are recorded here, whatever the thread does otherwise."""
    with torch.inference_mode(False), torch.enable_grad():
        yield


def leaves_of(model: Model, scales: Mapping[str, float] | None = None) -> dict[str, torch.Tensor]:
    """The model's parameters by name, on the same memory, as tensors whose gradient can be asked for.

    `scales` are factors for some of them, which are copied then. What is stored in half precision is copied
    in single precision where there is room: its gradient is not rounded then, and comes in half of the time.
    """
    leaves, memory = {}, machine_memory()
    widens = memory is not None and 8 * model.parameter_count() <= memory / 4  # the copy and its gradient
    for name, parameter in model.named_parameters():
        value = parameter.clone() if parameter.is_inference() else parameter.detach()
        value = widened(value) if widens else value
        scale = (scales or {}).get(name, 1.0)
        leaves[name] = (value if scale == 1 else value * scale).requires_grad_()
    return leaves


def check_differentiable(model: Model) -> None:
    """LmvizError for a model that is not made of parameters."""
    if next(model.parameters(), None) is None:
        raise LmvizError(
            f"{model.name or 'This model'} ({model.family}) counts and has no parameters, so nothing in it "
            "has a gradient: open a model that learns by gradients."
        )


def check_number(model: Model, scalar: Scalar, number: torch.Tensor) -> None:
    """LmvizError where a number has no gradient because it is infinite or none."""
    if not torch.isfinite(number):
        if parameters_without_numbers(model):
            raise LmvizError(why_not_finite(model, "its predictions"))
        raise LmvizError(
            f"{scalar.said} is {float(number.detach())} here, so it has no gradient: choose another number, "
            "or undo what makes it so."
        )


def _without_unseen(
    arrays: Mapping[str, TracedArray], address: str, gradient: np.ndarray, is_alone: bool
) -> np.ndarray:
    """NaN in the place of what comes back to cells that a mask keeps out of the computation.

    A gradient that lies alone is written to, another one is copied.
    """
    scores = scores_behind(arrays, address)
    if scores is None:
        return gradient
    found = gradient if is_alone else gradient.copy()
    for first, hidden in _unseen(scores, arrays[address]):
        np.copyto(found[:, first : first + hidden.shape[1]], np.nan, where=hidden)
    return found


def _unseen(scores: TracedArray, values: TracedArray) -> Iterator[tuple[int, np.ndarray]]:
    """Which cells a mask keeps out, bool (head, query, key), in stretches, each with its first query."""
    if values.scale != "share":
        for first, rows in scores.blocks():
            yield first, np.isneginf(rows)
        return
    without = values.array == 0  # a weight that an intervention has put behind the mask enters
    if scores.hides_later and not np.tril(without).any():
        yield 0, without  # those behind the mask, and no scores need be made to see it
        return
    for first, rows in scores.blocks():
        yield first, np.isneginf(rows) & without[:, first : first + rows.shape[1]]


def _filled(number: torch.Tensor, leaves: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The gradients of a number, with zeros for what it does not depend on."""
    return [_or_zeros(value, leaf) for leaf, value in zip(leaves, _found(number, leaves), strict=True)]


def _found(number: torch.Tensor, leaves: Sequence[torch.Tensor]) -> Sequence[torch.Tensor | None]:
    """The gradients of a number, None for what it does not depend on."""
    if not number.requires_grad:
        return [None] * len(leaves)
    found: Sequence[torch.Tensor | None] = torch.autograd.grad(number, leaves, allow_unused=True)
    return found


def _alone(of_taps: Mapping[str, torch.Tensor], others: Iterable[torch.Tensor]) -> set[str]:
    """The addresses of the gradients that may be written to: nothing else lies where they do."""
    places = {address: value.untyped_storage().data_ptr() for address, value in of_taps.items()}
    taken = Counter((*places.values(), *(value.untyped_storage().data_ptr() for value in others)))
    return {
        address for address, at in places.items() if taken[at] == 1 and 0 not in of_taps[address].stride()
    }


def _is_alone(tensor: torch.Tensor, others: Iterable[torch.Tensor | None]) -> bool:
    """Whether it may be written to: its cells lie apart, and none of the others lies where it does."""
    place = tensor.untyped_storage().data_ptr()
    there = [each for each in others if each is not None and each.untyped_storage().data_ptr() == place]
    # Two leaves can have the same tensor for their gradient: one of these is `tensor` itself, or none.
    return 0 not in tensor.stride() and len(there) <= 1


def _or_zeros(value: torch.Tensor | None, leaf: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(leaf) if value is None else value


Stretches = list[tuple[tuple[int, int], torch.Tensor]]
"""Gradients of rows of a parameter, each with the first and the one after the last."""


def _by_parameter(found: Iterable[tuple[Weight, torch.Tensor | None]]) -> dict[str, Stretches]:
    """What is known of each parameter's rows, in their order."""
    parts: dict[str, Stretches] = {}
    for operand, part in found:
        if operand.rows is not None and part is not None:
            parts.setdefault(operand.name, []).append((operand.rows, part))
    return {name: sorted(some, key=lambda each: each[0]) for name, some in parts.items()}


def _with_stretches(parameter: torch.Tensor, whole: torch.Tensor | None, parts: Stretches) -> torch.Tensor:
    """The gradient of a parameter that was read whole, or not, and in stretches."""
    firsts, ends = [rows[0] for rows, _ in parts], [rows[1] for rows, _ in parts]
    if whole is None and [0, *ends] == [*firsts, len(parameter)]:
        return torch.cat([part for _, part in parts])
    whole = torch.zeros_like(parameter) if whole is None else whole.clone()
    for rows, part in parts:
        whole[slice(*rows)] += part
    return whole


def _joined(steps: Mapping[int | None, torch.Tensor]) -> torch.Tensor:
    """The only value, or those of a recurrence by position, (batch, position, *axes)."""
    if None in steps:
        return steps[None]
    return in_order({place: step for place, step in steps.items() if place is not None})
