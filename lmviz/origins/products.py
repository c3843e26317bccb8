"""The gradient of one question times that of every target of a text, without a gradient for each.

The product g_target · d is the derivative of the target's loss along the direction d. So the weights are
moved by ±ε d and the text is read twice: half the difference over ε gives the product with all of its
targets. In float64 with steps of a millionth of the weights' norm, it agrees with autograd to about 1e-6;
one-sided differences in float32 were off by up to a fifth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch

from lmviz.base.errors import LmvizError
from lmviz.models.float64 import WITHOUT
from lmviz.models.interruption import look_up
from lmviz.models.model import IGNORED, Model
from lmviz.models.reading import evaluation
from lmviz.training.pieces import Pieces

STEP = 1e-6
"""The length of the move, as a share of the norm of all weights."""

POSITIONS, LOGITS, WORK = 2**11, 2**21, 2**30
"""How many positions, how many logits, and how many positions times parameters are computed at once: little
enough to look up in between."""

FEWEST = 64
"""So many positions are computed at once however large the model is."""

SCALE_FLOOR = 1e-8


@dataclass(frozen=True, eq=False)
class AskedToken:
    """One question to a model: tokens (1, position), and targets all but one of which are IGNORED.

    `beside` is what it reads beside its text.
    """

    tokens: np.ndarray
    targets: np.ndarray
    beside: Mapping[str, np.ndarray]

    def log_probability(self, model: Model) -> torch.Tensor:
        """The natural log-probability of the one target."""
        tokens, targets = _there(model, self.tokens), _there(model, self.targets)
        beside = {name: _there(model, array) for name, array in self.beside.items()}
        return -_losses(model, tokens, targets, None, **beside).sum()

    def gradient(self, model: Model) -> dict[str, torch.Tensor]:
        """The gradient of the loss −log p with respect to each parameter, 0 where it has no part in it."""
        names, parameters = zip(*model.named_parameters(), strict=True)
        needed = [parameter.requires_grad for parameter in parameters]
        try:
            for parameter in parameters:
                parameter.requires_grad_(True)
            with torch.enable_grad():
                found = torch.autograd.grad(-self.log_probability(model), parameters, allow_unused=True)
        finally:
            for parameter, was in zip(parameters, needed, strict=True):
                parameter.requires_grad_(was)
        return {
            name: torch.zeros_like(parameter) if gradient is None else gradient
            for name, parameter, gradient in zip(names, parameters, found, strict=True)
        }


def log_probability(model: Model, asked: AskedToken) -> float:
    """The natural log-probability of what is asked, also of a model that counts or is being trained."""
    with evaluation(model) as reader:
        if next(reader.parameters(), None) is not None:
            return float(asked.log_probability(reader))
        tokens, targets = torch.from_numpy(asked.tokens), torch.from_numpy(asked.targets)
        return float(reader.log_probabilities(tokens, targets).sum())


def in_double(model: Model) -> Model:
    """A copy of the model in float64 for reading, on the processor where its device has no such numbers."""
    twin = deepcopy(model).eval()
    parameter = next(twin.parameters(), None)
    if parameter is not None and parameter.device.type in WITHOUT:
        twin = twin.cpu()
    return twin.cpu().double()


class Moved:
    """A model moved along a direction, to either side.

    `moments` are second moments of Adam by the name of the parameter, which can be multiplied with it: the
    direction is divided by their square roots, as an update of Adam is. LmvizError where nothing moves.
    """

    def __init__(
        self, model: Model, asked: AskedToken, moments: Mapping[str, torch.Tensor] | None = None
    ) -> None:
        look_up()
        own = in_double(model)
        self.log_probability = float(asked.log_probability(own).detach())
        direction = asked.gradient(own)
        if moments is not None:
            direction = {
                name: gradient / (moments[name].to(gradient).clamp_min(0).sqrt() + SCALE_FLOOR)
                if name in moments
                else gradient
                for name, gradient in direction.items()
            }
        length = _norm(direction.values())
        if not np.isfinite(length):
            raise LmvizError("The gradient of this word is not a finite number: ask at an earlier snapshot.")
        self.is_flat = length == 0.0
        self._size = 0.0 if self.is_flat else STEP * max(1e-3, _norm(own.parameters())) / length
        self._models = own, deepcopy(own)
        look_up()
        for twin, sign in zip(self._models, (1, -1), strict=True):
            with torch.no_grad():
                for name, parameter in twin.named_parameters():
                    parameter.add_(direction[name], alpha=sign * self._size)
            for module in twin.modules():  # all its own, and a pass of a large model takes long
                module.register_forward_pre_hook(_look_up)

    def products(
        self, pieces: Pieces, chosen: np.ndarray, done: Callable[[int], object] = lambda count: None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For some pieces at a time, the places of their targets, their products, and their losses in nats.

        `done` hears how many tokens have been read.
        """
        for some in _batches(pieces, chosen, _at_once(self._models[0])):
            look_up()
            places, above, below = self._read(pieces, some)
            difference = (above - below) / (2 * self._size) if not self.is_flat else np.zeros_like(above)
            done(int(pieces.lengths[some].sum()))
            yield places, difference, (above + below) / 2

    def _read(self, pieces: Pieces, some: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        above, below = (_read(model, pieces, some) for model in self._models)
        return above[0], above[1], below[1]


def losses_of(model: Model, pieces: Pieces, chosen: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For some pieces at a time, the places of their targets, and their losses in nats."""
    with evaluation(model) as reader:
        for some in _batches(pieces, chosen, _at_once(model)):
            look_up()
            yield _read(reader, pieces, some)


def _look_up(module: torch.nn.Module, given: object) -> None:
    look_up()


def _at_once(model: Model) -> int:
    """How many positions a model computes at once."""
    most = min(POSITIONS, LOGITS // max(1, model.outputs))
    return max(1, min(most, max(FEWEST, WORK // max(1, model.parameter_count()))))


def _read(model: Model, pieces: Pieces, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of the targets of some pieces, and their losses in nats, flat both."""
    tokens, targets, lengths = pieces.side_by_side(some)
    spans = pieces.target_spans[some]
    counted = np.arange(targets.shape[1]) < (spans[:, 1] - spans[:, 0])[:, None]
    places = (spans[:, :1] + np.arange(targets.shape[1]))[counted]
    with torch.inference_mode():
        padded = None if (lengths == tokens.shape[1]).all() else _there(model, lengths)
        further = {name: _there(model, array) for name, array in pieces.beside(some).items()}
        losses = _losses(model, _there(model, tokens), _there(model, targets), padded, **further)
    return places, losses.cpu().numpy().reshape(targets.shape)[counted]


def _batches(pieces: Pieces, chosen: np.ndarray, at_once: int) -> Iterator[np.ndarray]:
    """Pieces of similar length, of at most so many positions together, unless one alone has more."""
    order = chosen[np.argsort(pieces.lengths[chosen], kind="stable")]
    lengths = pieces.lengths[order]
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order) and int(lengths[last]) * (last + 1 - first) <= at_once:
            last += 1
        yield order[first:last]
        first = last


def _losses(
    model: Model,
    tokens: torch.Tensor,
    targets: torch.Tensor,
    lengths: torch.Tensor | None,
    **beside: torch.Tensor,
) -> torch.Tensor:
    """The loss of each target in nats, flat, 0 where it is IGNORED."""
    logits = model(tokens, **beside) if lengths is None else model(tokens, lengths, **beside)
    rows = logits.reshape(-1, logits.shape[-1])
    return torch.nn.functional.cross_entropy(rows, targets.flatten(), ignore_index=IGNORED, reduction="none")


def _there(model: Model, array: np.ndarray) -> torch.Tensor:
    parameter = next(model.parameters())
    return torch.from_numpy(np.ascontiguousarray(array)).to(parameter.device)


def _norm(tensors: object) -> float:
    return float(sum(tensor.detach().pow(2).sum() for tensor in tensors) ** 0.5)  # type: ignore[attr-defined]
