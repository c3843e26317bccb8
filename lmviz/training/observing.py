"""Looks on while a model is updated. Whether anybody looks changes nothing of what is learned."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch.nn.utils import get_total_norm

from lmviz.models.model import IGNORED, Model
from lmviz.models.reading import evaluation
from lmviz.training.batches import Batch
from lmviz.training.layers import layer_of
from lmviz.training.observation import ObservedBatch, ObservedNumber, ObservedUpdate

CHANGES = 8
"""How many of the numbers that moved farthest are written down."""


class Onlooker:
    """Is told each part of an update when it is done. This base takes no notice."""

    observed: ObservedUpdate | None = None

    def drew(self, batch: Batch, carried: Any) -> None:
        """The batch was drawn; `carried` is the state that it is read with."""

    def computed(self) -> None:
        """The loss was computed."""

    def differentiated(self, loss: float) -> None:
        """The gradients of the loss were computed."""

    def clipped(self, norm: float) -> None:
        """The gradients, of that norm before, are those that the optimizer gets."""

    def updated(self) -> None:
        """The parameters have moved."""


class UpdateObserver(Onlooker):
    """Writes one update down; `observed` is the whole once it is over.

    It reads copies and draws nothing from torch's random numbers.
    """

    def __init__(
        self, model: Model, step: int, rate: float, *, optimizer: str, clip: float, smoothing: float = 0.0
    ) -> None:
        self._model, self._smoothing = model, smoothing
        self._step, self._rate, self._optimizer, self._clip = step, rate, optimizer, clip
        self._learned = {name: item for name, item in model.named_parameters() if item.requires_grad}
        self._seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def drew(self, batch: Batch, carried: Any) -> None:
        self._lap("batch")
        self._batch = observe_batch(self._model, batch, carried)
        self._before = {name: item.detach().clone() for name, item in self._learned.items()}
        self._rest()

    def computed(self) -> None:
        self._lap("forward")
        self._rest()

    def differentiated(self, loss: float) -> None:
        self._lap("backward")
        self._loss = loss
        self._layer_norms = gradient_norms(self._learned.items())
        self._rest()

    def clipped(self, norm: float) -> None:
        self._lap("clip")
        self._norm = norm
        self._gradients = {
            name: item.grad.detach().clone() for name, item in self._learned.items() if item.grad is not None
        }
        self._clipped_norm = float(get_total_norm(self._gradients.values()))
        self._rest()

    def updated(self) -> None:
        self._lap("update")
        self.observed = ObservedUpdate(
            step=self._step,
            learning_rate=self._rate,
            optimizer=self._optimizer,
            batch=self._batch,
            loss=self._loss,
            layer_norms=self._layer_norms,
            norm=self._norm,
            clip=self._clip,
            clipped_norm=self._clipped_norm,
            changes=self._largest_changes(),
            seconds=self._seconds,
            smoothing=self._smoothing,
            outputs=self._model.outputs,
        )

    def _lap(self, part: str) -> None:
        """A part is over."""
        self._seconds[part] = time.perf_counter() - self._since

    def _rest(self) -> None:
        """What was spent on looking counts for no part."""
        self._since = time.perf_counter()

    def _largest_changes(self) -> tuple[ObservedNumber, ...]:
        found = []
        for name, parameter in self._learned.items():
            before, after = self._before[name], parameter.detach()
            moved = (after - before).abs().flatten()
            size, places = moved.topk(min(CHANGES, moved.numel()))
            gradient = self._gradients.get(name)
            for distance, place in zip(size.tolist(), places.tolist(), strict=True):
                index = tuple(int(at) for at in np.unravel_index(place, tuple(before.shape)))
                slope = 0.0 if gradient is None else float(gradient[index])
                found.append(
                    (distance, ObservedNumber(name, index, float(before[index]), slope, float(after[index])))
                )
        found.sort(key=lambda pair: -pair[0])
        return tuple(change for _, change in found[:CHANGES])


def gradient_norms(parameters: Iterable[tuple[str, torch.nn.Parameter]]) -> dict[str, float]:
    """The norm of the gradient of each layer, by the layer's name."""
    layers: dict[str, list[torch.Tensor]] = {}
    for name, parameter in parameters:
        if parameter.grad is not None:
            layers.setdefault(layer_of(name), []).append(parameter.grad)
    return {layer: float(get_total_norm(gradients)) for layer, gradients in layers.items()}


@torch.no_grad()
def observe_batch(model: Model, batch: Batch, carried: Any) -> ObservedBatch:
    """A batch with the loss of each of its targets, by the model as it is."""
    with evaluation(model) as reader:
        if carried is None:
            losses = _losses_by_row(reader, batch)
        else:
            device = next(model.parameters()).device
            logits, _ = reader.advance(torch.from_numpy(batch.tokens).to(device), carried)
            losses = _losses(logits, batch.targets)
    lengths = np.full(len(batch.tokens), batch.tokens.shape[1]) if batch.lengths is None else batch.lengths
    losses = np.where(batch.targets == IGNORED, np.nan, losses)
    return ObservedBatch(
        batch.tokens.copy(), batch.targets.copy(), lengths.copy(), losses, dict(batch.beside)
    )


def _losses_by_row(reader: Model, batch: Batch) -> np.ndarray:
    """The loss of each target (row, position); one row at a time, so that few logits are in memory."""
    device = next(reader.parameters()).device
    losses = np.zeros(batch.targets.shape)
    for row, tokens in enumerate(batch.tokens):
        length = len(tokens) if batch.lengths is None else int(batch.lengths[row])
        beside = {
            name: torch.from_numpy(array[row : row + 1, : batch.beside[f"{name}_lengths"][row]]).to(device)
            for name, array in batch.beside.items()
            if array.ndim == 2
        }
        logits = reader(torch.from_numpy(tokens[None, :length]).to(device), **beside)
        targets = batch.targets[row : row + 1, :length]
        losses[row : row + 1, : targets.shape[1]] = _losses(logits, targets)
    return losses


def _losses(logits: torch.Tensor, targets: np.ndarray) -> np.ndarray:
    """Nats of targets (row, position) from their logits; 0 where they are IGNORED."""
    rows = logits.reshape(-1, logits.shape[-1])
    aims = torch.from_numpy(np.ascontiguousarray(targets)).to(rows.device).flatten()
    found = functional.cross_entropy(rows, aims, ignore_index=IGNORED, reduction="none")
    return found.cpu().double().numpy().reshape(targets.shape)
