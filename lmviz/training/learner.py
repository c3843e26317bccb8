"""One update: loss, gradient, clipping and the optimizer's step; none if a value is not finite."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch.nn.utils import clip_grads_with_norm_, get_total_norm

from lmviz.base.errors import LmvizError
from lmviz.models.model import IGNORED, Model
from lmviz.models.reading import evaluation
from lmviz.text.examples import Examples
from lmviz.training.batches import Batch
from lmviz.training.batching import batches_of
from lmviz.training.carried_state import check_alike, flatten, unflatten
from lmviz.training.devices import computing, seed_chance
from lmviz.training.distributed import Team
from lmviz.training.layers import update_ratios
from lmviz.training.observation import Observed
from lmviz.training.observing import Onlooker, UpdateObserver
from lmviz.training.optimizers import (
    build_optimizer,
    load_optimizer_tensors,
    optimizer_tensors,
    second_moments,
    set_learning_rate,
)
from lmviz.training.options import TrainingOptions
from lmviz.training.plain_numbers import is_step

WEIGHTS, OPTIMIZER, CARRIED = "model/", "optimizer/", "carried/"
"""How the names of tensors begin in the state of a training: what they belong to."""


class NotFinite(LmvizError):
    """The loss or gradient is not finite; the sentence says which, and what to try."""

    def __init__(self, what: str, step: int, rate: float) -> None:
        super().__init__(
            f"The {what} was not a finite number at step {step}, so that update was not made and the last "
            f"good state is kept: resume with a lower learning rate (it was {rate:.3g}), or clip gradients."
        )


@dataclass(frozen=True)
class Update:
    """What one update was like; see Progress.

    `loss` and `gradient_norm` are None where no target of the batch counts.
    """

    loss: float | None
    gradient_norm: float | None
    update_ratios: Mapping[str, float]
    tokens: int
    observed: Observed | None = None


class Learner(Protocol):
    """What a training drives: a model, and the way to improve it by one step.

    `step` is the number of updates made.
    """

    step: int

    @property
    def model(self) -> Model:
        """What has been learned so far."""

    def update(self, rate: float, measure: bool = False, observe: bool = False) -> Update:
        """Make one update, or raise NotFinite and make none."""

    def check_finite(self) -> None:
        """Raise NotFinite when what has been learned is beyond use."""

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Everything needed to continue exactly: tensors on the CPU, and plain values for JSON."""

    def load_state(self, tensors: Mapping[str, torch.Tensor], values: Mapping[str, Any]) -> None:
        """Continue from what `state` gave; LmvizError when it does not fit."""

    def moments(self) -> dict[str, torch.Tensor]:
        """Second moments of Adam by parameter, see `second_moments`; empty where there are none."""


class GradientLearner:
    """A model with what it takes to improve it: batches, optimizer, and the state carried along.

    `step` is the number of updates made. Everything that chance decides depends on the seed, the step
    and the rank alone.
    """

    def __init__(
        self,
        model: Model,
        training: np.ndarray | Examples,
        options: TrainingOptions,
        *,
        ignored_target: int | None,
        device: torch.device,
        team: Team,
        left_out: np.ndarray | None = None,
    ) -> None:
        self.model = model
        self.step = 0
        self.device = device
        self._computing = computing(device, options)
        self._options = options
        self._parts = 1 if model.recurrent else options.batch_parts
        self._team = team
        self._batches = batches_of(
            model, training, options, ignored_target=ignored_target, team=team, left_out=left_out
        )
        model.to(device)
        team.share_weights(model)
        self._parameters = [item for item in model.parameters() if item.requires_grad]
        self._optimizer = build_optimizer(model, options)
        self._carried: Any = None

    @property
    def length(self) -> int:
        """The largest number of positions of a row."""
        return self._batches.length

    def update(self, rate: float, measure: bool = False, observe: bool = False) -> Update:
        """Make one update at a learning rate; with `measure`, say how far it moved each layer.

        With `observe` it is written down part by part; the update is the same to the last bit. Raises
        NotFinite, and makes no update, when loss or gradient are not finite.
        """
        onlooker = self._observer(rate) if observe else Onlooker()
        batch = self._batches.batch(self.step)
        onlooker.drew(batch, None if batch.begins else self._carried)
        loss, carried = self._differentiate(batch, onlooker)
        moved = [item for item in self._parameters if item.grad is not None]
        norm = get_total_norm([item.grad for item in moved if item.grad is not None]).to(loss.device)
        loss_value, norm_value = torch.stack((loss, norm)).tolist()  # the one wait for the device
        if not (math.isfinite(loss_value) and math.isfinite(norm_value)):
            self._optimizer.zero_grad()
            what = "gradient" if math.isfinite(loss_value) else "loss"
            raise NotFinite(what, self.step + 1, rate)
        onlooker.differentiated(loss_value)
        if 0 < self._options.clip < norm_value:
            clip_grads_with_norm_(moved, self._options.clip, norm)
        onlooker.clipped(norm_value)
        before = [item.detach().clone() for item in self._parameters] if measure else []
        set_learning_rate(self._optimizer, rate)
        self._optimizer.step()
        onlooker.updated()
        self._optimizer.zero_grad()
        self._carried = carried
        self.step += 1
        ratios = update_ratios(self.model, before) if measure else {}
        read = batch.tokens.size if batch.lengths is None else int(batch.lengths.sum())
        tokens = read * self._team.size
        if not moved:
            return Update(None, None, {}, tokens)
        return Update(loss_value, norm_value, ratios, tokens, onlooker.observed)

    def _observer(self, rate: float) -> UpdateObserver:
        options = self._options
        return UpdateObserver(
            self.model,
            self.step + 1,
            rate,
            optimizer=options.optimizer,
            clip=options.clip,
            smoothing=options.label_smoothing,
        )

    def _differentiate(self, batch: Batch, onlooker: Onlooker) -> tuple[torch.Tensor, Any]:
        """The mean loss over the whole team's batch, its gradients left in the parameters; and the state."""
        tokens = torch.from_numpy(batch.tokens).to(self.device, non_blocking=True)  # (batch, position)
        targets = torch.from_numpy(batch.targets).to(self.device, non_blocking=True)
        if not self.model.training:
            self.model.train()
        seed_chance(self.device, (self._options.seed << 32) + self.step * self._team.size + self._team.rank)
        if self._parts > 1 and len(tokens) > 1:
            return self._differentiate_in_parts(batch, tokens, targets, onlooker), None
        given: list[Any] = [tokens, targets, None if batch.begins else self._carried]
        if batch.lengths is not None:
            given.append(torch.from_numpy(batch.lengths).to(self.device, non_blocking=True))
        beside: dict[str, Any] = {
            name: torch.from_numpy(array).to(self.device, non_blocking=True)
            for name, array in batch.beside.items()
        }
        if self._options.label_smoothing:
            beside["smoothing"] = self._options.label_smoothing
        with self._computing:
            loss, carried = self.model.loss(*given, **beside)
        onlooker.computed()
        if batch.share:
            loss.backward()
        else:
            # Where nothing counts the mean loss is 0 / 0, and its gradient too.
            loss = torch.zeros_like(loss)
        return self._team.average(self._parameters, loss.detach(), batch.share), carried

    def _differentiate_in_parts(
        self, batch: Batch, tokens: torch.Tensor, targets: torch.Tensor, onlooker: Onlooker
    ) -> torch.Tensor:
        """The same by parts of the batch, whose gradients add up to that of the whole."""
        total, counted = torch.zeros((), device=self.device), int((targets != IGNORED).sum())
        places = torch.arange(len(tokens)).tensor_split(min(self._parts, len(tokens)))
        smoothing = self._options.label_smoothing
        for rows in places:
            share = int((targets[rows] != IGNORED).sum()) / max(1, counted)
            if not share:
                continue
            beside: dict[str, Any] = {
                name: torch.from_numpy(array[rows.numpy()]).to(self.device)
                for name, array in batch.beside.items()
            }
            if smoothing:
                beside["smoothing"] = smoothing
            lengths = [] if batch.lengths is None else [torch.from_numpy(batch.lengths[rows.numpy()])]
            with self._computing:
                loss, _ = self.model.loss(
                    tokens[rows], targets[rows], None, *(each.to(self.device) for each in lengths), **beside
                )
            (loss * share).backward()
            total += loss.detach() * share
        onlooker.computed()
        return self._team.average(self._parameters, total, batch.share)

    def check_finite(self) -> None:
        """Raise NotFinite when a weight is not a finite number."""
        largest = get_total_norm([item.detach() for item in self._parameters], norm_type=math.inf)
        if not math.isfinite(largest.item()):
            raise NotFinite("size of a weight", self.step, self._optimizer.param_groups[0]["lr"])

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Everything needed to continue exactly: tensors on the CPU, and plain values for JSON.

        In a team, every process must ask for it at the same step.
        """
        carried, layout = flatten(self._carried)
        tensors = {f"{WEIGHTS}{name}": tensor for name, tensor in self.model.state().items()}
        for name, tensor in optimizer_tensors(self.model, self._optimizer).items():
            tensors[f"{OPTIMIZER}{name}"] = tensor
        for place, tensor in enumerate(carried):
            for rank, part in enumerate(self._team.gather(tensor)):
                tensors[f"{CARRIED}{rank}/{place}"] = part.cpu().contiguous()
        return tensors, {"step": self.step, "processes": self._team.size, "carried": layout}

    def moments(self) -> dict[str, torch.Tensor]:
        """Second moments of Adam by parameter, see `second_moments`; empty where there are none."""
        return second_moments(self.model, self._optimizer)

    def load_state(self, tensors: Mapping[str, torch.Tensor], values: Mapping[str, Any]) -> None:
        """Continue from what `state` gave; LmvizError when it does not fit."""
        if values.get("processes") != self._team.size:
            raise LmvizError(
                f"This training ran in {values.get('processes')} processes and cannot be resumed by "
                f"{self._team.size}: start torchrun with as many as before."
            )
        step = values.get("step")
        if not is_step(step):
            raise LmvizError("The saved state of the training has no step: train again in another folder.")
        try:
            self.model.load_state(under(WEIGHTS, tensors))
        except (RuntimeError, KeyError, ValueError, TypeError):
            raise LmvizError("The saved state belongs to another model: train again.") from None
        load_optimizer_tensors(self.model, self._optimizer, under(OPTIMIZER, tensors))
        own = under(f"{CARRIED}{self._team.rank}/", tensors)
        # Copied, since a tensor of a file need not be aligned, and is then added up in another order.
        ordered = [own[name].clone().to(self.device) for name in map(str, range(len(own))) if name in own]
        self._carried = self._fitting(unflatten(ordered, values.get("carried")))
        self.step = step

    def _fitting(self, carried: Any) -> Any:
        """The state, if it is none or like the one that the model carries; LmvizError otherwise."""
        if carried is not None:
            tokens = torch.zeros(self._options.batch, 1, dtype=torch.int64, device=self.device)
            with evaluation(self.model) as reader:
                usual = reader.loss(tokens, tokens)[1]
            check_alike(carried, usual)
        return carried


def under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors whose names begin so, by the rest of their names."""
    return {name.removeprefix(prefix): item for name, item in tensors.items() if name.startswith(prefix)}
