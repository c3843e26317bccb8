"""Training by several processes, each with its share of every batch (data-parallel).

torchrun starts the processes and numbers them in the environment. Every process holds the whole model;
gradients are averaged over all counted targets, so that N processes with a batch of B make exactly the
step of one process with a batch of N × B. Only the first process writes files.
"""

from __future__ import annotations

import atexit
import importlib
import os
from collections.abc import Sequence

import torch
from torch import distributed, nn


def is_first_process() -> bool:
    """Whether this process is the one that writes: the only one, or torchrun's first."""
    return int(os.environ.get("RANK", "0")) == 0


def is_alone() -> bool:
    """Whether this process trains without others."""
    return int(os.environ.get("WORLD_SIZE", "1")) == 1


class Team:
    """The processes that train together; this base is a process alone, for whom agreement is easy."""

    rank = 0
    size = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes."""
        return self.rank == 0

    def any(self, *flags: bool) -> tuple[bool, ...]:
        """For each flag, whether any process raised it."""
        return flags

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """The sum over the processes, elementwise."""
        return values

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """The tensor of every process, in the order of ranks; all have one shape."""
        return [tensor]

    def average(self, parameters: Sequence[nn.Parameter], loss: torch.Tensor, share: float) -> torch.Tensor:
        """Average gradients and loss over the processes by their shares; the average loss."""
        return loss

    def share_weights(self, model: nn.Module) -> None:
        """Begin with the weights of the first process."""

    def wait(self) -> None:
        """Wait until every process is here."""


class ProcessTeam(Team):
    """Several processes, in a group of torch.distributed."""

    def __init__(self, device: torch.device) -> None:
        self.rank = distributed.get_rank()
        self.size = distributed.get_world_size()
        self._device = device

    def any(self, *flags: bool) -> tuple[bool, ...]:
        """See Team."""
        raised = self.sum(torch.tensor(flags, dtype=torch.float32, device=self._device))
        return tuple(bool(value) for value in raised.tolist())

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """See Team."""
        total = values.clone()
        distributed.all_reduce(total)
        return total

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """See Team."""
        parts = [torch.empty_like(tensor) for _ in range(self.size)]
        distributed.all_gather(parts, tensor.contiguous())
        return parts

    def average(self, parameters: Sequence[nn.Parameter], loss: torch.Tensor, share: float) -> torch.Tensor:
        """See Team. Everything travels in one message."""
        own = [
            torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
            for parameter in parameters
        ]
        message = torch.cat([gradient.flatten() for gradient in own] + [loss.reshape(1)])
        distributed.all_reduce(message.mul_(share))
        *gradients, average = message.split([parameter.numel() for parameter in parameters] + [1])
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient.view_as(parameter)
        return average[0]

    def share_weights(self, model: nn.Module) -> None:
        """See Team."""
        for tensor in model.state_dict().values():
            distributed.broadcast(tensor, 0)

    def wait(self) -> None:
        """See Team."""
        distributed.barrier()


def join_team(device: torch.device) -> Team:
    """The team of this process: those that torchrun started, or itself alone.

    A process joins once and stays until it ends, as a group that was left cannot be formed again.
    """
    if is_alone():
        return Team()
    if not distributed.is_initialized():
        # Optimizers import this module in any case. Were it imported later, the default values of its
        # functions would keep the group, and with it threads that abort the process while it ends.
        importlib.import_module("torch.distributed.nn.functional")
        # What is measured is added up on the processor, also where cards hold the weights.
        distributed.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
        atexit.register(distributed.destroy_process_group)
    return ProcessTeam(device)
