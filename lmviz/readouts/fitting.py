"""Lenses fitted to a model: the average Jacobian, and least squares to the last state.

The Jacobian lens is the average derivative of the end of the stream by an earlier state (Gurnee et al. 2026;
TransformerLens defines it alike): of a source position the effects on all later positions are added up, and
source positions and passages are averaged. It is read as published, J h, or centred, J (h − mean) + mean of
the end, which is nearer to what the model says in the end in small models.

The tuned lens (Belrose et al. 2023) is a map fitted to each place. Here it is the map of least squares to the
last state, with a small ridge, and not one that descends on the divergence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.logit_lens import Carried, ending_after, lens_distributions
from lmviz.inspection.tracing import trace
from lmviz.models.interruption import look_up, uncounted_work
from lmviz.models.model import Model
from lmviz.readouts.fitted_lens import KINDS, FittedLens
from lmviz.readouts.passages import Passages
from lmviz.readouts.stream_pass import StreamPass

RIDGE = 0.03
"""Of the mean variance of a state, added to each direction, so that those hardly used are not blown up."""

CELLS_AT_ONCE = 2**22
"""Numbers that the rows of one sweep keep at most: more do not stay in the cache, and take longer."""

LATER, SAME = "later", "same"
SCOPES = (LATER, SAME)


def fit_lens(
    model: Model,
    passages: Passages,
    kind: str,
    *,
    centred: bool = True,
    scope: str = LATER,
    every: int = 10,
) -> Iterator[FittedLens]:
    """A lens fitted on more and more passages, given first after one, and then after `every` more.

    The last is fitted on all, and judged on what is held out. LmvizError where the model has no places
    that a lens could be fitted to.
    """
    if kind not in KINDS:
        raise LmvizError(
            f"There is no lens of the kind {kind!r} to be fitted: take one of {', '.join(KINDS)}."
        )
    if scope not in SCOPES:
        raise LmvizError(f"A Jacobian is taken over positions that are 'later' or the 'same', not {scope!r}.")
    stream, count = StreamPass(model), len(passages.fitted)
    fitting: _Fit = _TunedFit(stream) if kind == "tuned" else _JacobianFit(stream, centred, scope)
    for number, ids in enumerate(passages.fitted, start=1):
        with uncounted_work():
            fitting.take(ids, passages.judged(ids))
        look_up(number / (count + 1))
        if number == count or (number - 1) % every == 0:
            with uncounted_work():
                lens = judged(model, fitting.lens(), passages)
            yield lens


def judged(model: Model, lens: FittedLens, passages: Passages) -> FittedLens:
    """The lens with how far what it reads is from the end, and the logit lens beside it."""
    return replace(
        lens,
        divergence=_divergences(model, lens.places, passages, carrier(lens)),
        divergence_unfitted=_divergences(model, lens.places, passages, None),
    )


def carrier(lens: FittedLens) -> Carried:
    """The lens for tensors, as `logit_lens` takes it."""
    maps = {place: torch.from_numpy(found) for place, found in lens.maps.items()}
    means = {place: torch.from_numpy(found) for place, found in lens.means.items()}

    def carried(place: str, states: torch.Tensor) -> torch.Tensor:
        if place not in maps:
            raise LmvizError(f"This lens has no map for {place}: it has {', '.join(maps)}.")
        matrix = maps[place].to(states)
        if not lens.centred:
            return states @ matrix.T
        return (states - means[place].to(states)) @ matrix.T + means[lens.end].to(states)

    return carried


def _divergences(
    model: Model, places: Sequence[str], passages: Passages, carried: Carried | None
) -> dict[str, float]:
    """KL(end ‖ read there), in bits, a mean over all judged positions, by place."""
    needed = sorted({*places, "logits", *ending_after(model.taps(), places[-1])[1]})
    sums, count = np.zeros(len(places)), 0
    for ids in passages.held_out:
        look_up()
        chosen = np.arange(len(ids))[passages.judged(ids)]
        recorded = trace(model, ids, taps=needed)
        shares = list(lens_distributions(model, recorded, places, chosen, carried))
        final = shares[-1].cpu().double().clamp_min(1e-30)
        for row, share in enumerate(shares):
            logs = final.log2() - share.cpu().double().clamp_min(1e-30).log2()
            sums[row] += float((final * logs).sum())
        count += len(chosen)
    return dict(zip(places, (sums / max(count, 1)).tolist(), strict=True))


class _Moments:
    """Sums of the states at each place, for their means."""

    def __init__(self) -> None:
        self.sums: dict[str, torch.Tensor] = {}
        self.tokens = 0

    def add(self, states: Mapping[str, torch.Tensor], where: slice) -> None:
        for place, found in states.items():
            total = found[where].cpu().double().sum(0)
            self.sums[place] = self.sums.get(place, torch.zeros(())) + total
        self.tokens += where.stop - where.start

    def means(self) -> dict[str, np.ndarray]:
        return {place: (total / self.tokens).float().numpy() for place, total in self.sums.items()}


class _Fit(Protocol):
    def take(self, ids: np.ndarray, where: slice) -> None:
        """One more passage, of which some positions count."""

    def lens(self) -> FittedLens:
        """What follows from the passages so far."""


class _JacobianFit:
    def __init__(self, stream: StreamPass, centred: bool, scope: str) -> None:
        self.stream, self.centred, self.scope = stream, centred, scope
        self.parameters = stream.parameters()
        self.moments = _Moments()
        self.sums: dict[str, torch.Tensor] = {}
        self.squares: dict[str, torch.Tensor] = {}
        self.count = 0

    def take(self, ids: np.ndarray, where: slice) -> None:
        """One more passage, of which some positions count."""
        states = self.stream.states(ids)
        self.moments.add(states, where)
        width = states[self.stream.places[-1]].shape[-1]
        at_once = max(1, min(width, CELLS_AT_ONCE // max(1, self.stream.cells(ids))))
        rows: dict[str, list[torch.Tensor]] = {place: [] for place in self.stream.places[:-1]}
        for first in range(0, width, at_once):
            look_up()
            channels = range(first, min(first + at_once, width))
            for place, found in self._rows(ids, channels, where).items():
                rows[place].append(found)
        for place, parts in rows.items():
            matrix = torch.cat(parts)  # (channel of the end, channel)
            self.sums[place] = self.sums.get(place, torch.zeros(())) + matrix
            self.squares[place] = self.squares.get(place, torch.zeros(())) + matrix**2
        self.count += 1

    def _rows(self, ids: np.ndarray, channels: Sequence[int], where: slice) -> dict[str, torch.Tensor]:
        """Some rows of this passage's Jacobian, (channel chosen, channel) by place."""
        if self.scope == LATER:
            found = self.stream.rows_of_jacobian(ids, channels, where, self.parameters)
            return {place: gradient[:, where].cpu().double().mean(1) for place, gradient in found.items()}
        total: dict[str, torch.Tensor] = {}
        positions = range(*where.indices(len(ids)))
        for at in positions:
            found = self.stream.rows_of_jacobian(ids, channels, slice(at, at + 1), self.parameters)
            for place, gradient in found.items():
                total[place] = total.get(place, torch.zeros(())) + gradient[:, at].cpu().double() / len(
                    positions
                )
        return total

    def lens(self) -> FittedLens:
        """What is known so far."""
        places, count = self.stream.places, self.count
        maps = {place: total / count for place, total in self.sums.items()}
        errors = None
        if count > 1:
            errors = {}
            for place, mean in maps.items():
                spread = (self.squares[place] / count - mean**2).clamp_min(0) / (count - 1)
                errors[place] = float(spread.sum().sqrt() / mean.norm().clamp_min(1e-30))
        return FittedLens(
            kind="jacobian",
            places=places,
            maps={place: mean.float().numpy() for place, mean in maps.items()},
            means=self.moments.means(),
            passages=count,
            tokens=self.moments.tokens,
            errors=errors,
            centred=self.centred,
            scope=self.scope,
            model=self.stream.model.name,
            step=self.stream.model.step,
        )


class _TunedFit:
    def __init__(self, stream: StreamPass) -> None:
        self.stream = stream
        self.moments = _Moments()
        self.products: dict[str, torch.Tensor] = {}
        self.towards: dict[str, torch.Tensor] = {}
        self.count = 0

    def take(self, ids: np.ndarray, where: slice) -> None:
        """One more passage, of which some positions count."""
        states = self.stream.states(ids)
        self.moments.add(states, where)
        end = states[self.stream.places[-1]][where].cpu().double()
        for place in self.stream.places[:-1]:
            chosen = states[place][where].cpu().double()
            self.products[place] = self.products.get(place, torch.zeros(())) + chosen.T @ chosen
            self.towards[place] = self.towards.get(place, torch.zeros(())) + chosen.T @ end
        self.count += 1

    def lens(self) -> FittedLens:
        """The maps of least squares for what was read so far."""
        tokens, places = self.moments.tokens, self.stream.places
        means = {place: total / tokens for place, total in self.moments.sums.items()}
        end, maps = means[places[-1]], {}
        for place in places[:-1]:
            mean = means[place]
            inner = self.products[place] - tokens * torch.outer(mean, mean)
            outer = self.towards[place] - tokens * torch.outer(mean, end)
            ridge = RIDGE * inner.diagonal().mean().clamp_min(1e-12)
            solved = torch.linalg.solve(inner + ridge * torch.eye(len(mean), dtype=inner.dtype), outer)
            maps[place] = solved.T.float().numpy()
        return FittedLens(
            kind="tuned",
            places=places,
            maps=maps,
            means=self.moments.means(),
            passages=self.count,
            tokens=tokens,
            model=self.stream.model.name,
            step=self.stream.model.step,
        )
