"""What the average Jacobian makes of one state, by forward mode: no matrix is built.

J h for one state h is the derivative of the end of the stream along h. One pass that carries h along as a
tangent, at all positions that count, gives what all rows of the matrix together would; a row of the batch for
each place of the stream gives them for all places at once. Of a deep model that is hundreds of times less
work than the matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.autograd.forward_ad as forward_mode

from lmviz.inspection.logit_lens import Carried
from lmviz.models.explicit import ForwardPass
from lmviz.models.float64 import in_float64
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.reading import on_device
from lmviz.models.tap import Tap
from lmviz.readouts.passages import Passages
from lmviz.readouts.stream_pass import StreamPass


@dataclass(frozen=True, eq=False, repr=False)
class LensColumn:
    """What one state at each place becomes by the end of the stream, (channel,) by place.

    `errors` are the standard errors as a share of what is carried (norms), by place; NaN after one passage.
    """

    places: tuple[str, ...]
    states: Mapping[str, np.ndarray]
    errors: Mapping[str, float]
    passages: int

    def __repr__(self) -> str:
        return f"<LensColumn of {len(self.places)} places, {self.passages} passages>"

    def carrier(self) -> Carried:
        """The column for tensors, as `logit_lens` takes it, for the one position of the states."""

        def carried(place: str, states: torch.Tensor) -> torch.Tensor:
            return torch.from_numpy(self.states[place]).to(states).expand_as(states)

        return carried


def fit_column(model: Model, passages: Passages, states: Mapping[str, np.ndarray]) -> Iterator[LensColumn]:
    """What the centred average Jacobian makes of one state (channel,) at each place, passage by passage.

    LmvizError where the model has no places that a lens could be fitted to.
    """
    stream = StreamPass(model)
    parameters, count = stream.parameters(), len(passages.fitted)
    means = _means(stream, passages)
    end, before = stream.places[-1], stream.places[:-1]
    given = {place: torch.tensor(np.asarray(states[place], dtype=np.float64)) for place in before}
    moved = {place: state - means[place] for place, state in given.items()}
    sums = {place: torch.zeros_like(means[end]) for place in before}
    squares = {place: torch.zeros_like(means[end]) for place in before}
    for number, ids in enumerate(passages.fitted, start=1):
        with uncounted_work():
            found = along(stream, ids, moved, passages.judged(ids), parameters)
        look_up(number / count)
        for place in before:
            sums[place] += found[place]
            squares[place] += found[place] ** 2
        carried = {place: sums[place] / number + means[end] for place in before}
        errors = {place: _error(sums[place], squares[place], number) for place in before}
        yield LensColumn(
            places=stream.places,
            states={place: value.float().numpy() for place, value in carried.items()},
            errors=errors,
            passages=number,
        )


def along(
    stream: StreamPass,
    ids: np.ndarray,
    tangents: Mapping[str, torch.Tensor],
    judged: slice,
    parameters: Mapping[str, torch.Tensor],
) -> dict[str, torch.Tensor]:
    """By how much the end changes along a tangent (channel,) at each place, (channel,) float64 by place.

    The tangent is added at all judged positions; the changes of the end are summed over them and divided by
    their number, as the rows of the Jacobian are.
    """
    order = {place: row for row, place in enumerate(tangents)}
    chosen = set(range(*judged.indices(len(ids))))
    with torch.inference_mode(False), torch.no_grad(), forward_mode.dual_level():

        def listen(tap: Tap, value: torch.Tensor, position: int | None) -> torch.Tensor:
            row = order.get(tap.address)
            if row is None:
                return value
            value = widened(value)
            primal, tangent = forward_mode.unpack_dual(value)
            tangent = torch.zeros_like(primal) if tangent is None else tangent.clone()
            here = tangents[tap.address].to(primal)
            if position is None:
                tangent[row, judged] += here
            elif position in chosen:
                tangent[row] += here
            return forward_mode.make_dual(primal.contiguous(), tangent)

        tokens = on_device(stream.model, ids).repeat(len(order), 1)
        end = stream.places[-1]
        value = ForwardPass(tokens, parameters).run(stream.taps, listen, keep=(end,))[end]
        tangent = forward_mode.unpack_dual(widened(value)).tangent
        if tangent is None:
            tangent = torch.zeros_like(value)
        summed = in_float64(tangent[:, judged]).sum(dim=1).cpu() / max(len(chosen), 1)
    return {place: summed[row] for place, row in order.items()}


def _means(stream: StreamPass, passages: Passages) -> dict[str, torch.Tensor]:
    """(channel,) the mean state at each place, float64."""
    sums: dict[str, torch.Tensor] = {}
    tokens = 0
    for ids in passages.fitted:
        look_up()
        where = passages.judged(ids)
        for place, found in stream.states(ids).items():
            sums[place] = sums.get(place, torch.zeros(())) + in_float64(found[where]).sum(0)
        tokens += where.stop - where.start
    return {place: total / tokens for place, total in sums.items()}


def _error(total: torch.Tensor, squares: torch.Tensor, count: int) -> float:
    """The standard error of a mean vector as a share of it; NaN of one alone."""
    if count < 2:
        return float("nan")
    mean = total / count
    spread = (squares / count - mean**2).clamp_min(0) / (count - 1)
    return float(spread.sum().sqrt() / mean.norm().clamp_min(1e-30))
