"""The optimizers, and their state as named tensors.

SGD with momentum: Polyak 1964; Adam: Kingma & Ba 2015; AdamW: Loshchilov & Hutter 2019. torch's fused
kernels are used if they exist: on two cores they take a third of the time of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import nn
from torch.optim import SGD, Adam, AdamW, Optimizer

from lmviz.base.errors import LmvizError
from lmviz.training.options import TrainingOptions

Groups = list[dict[str, object]]


def _betas(options: TrainingOptions) -> tuple[float, float]:
    return options.momentum, options.second_moment_decay


OPTIMIZERS: dict[str, Callable[[Groups, TrainingOptions, bool], Optimizer]] = {
    "sgd": lambda groups, options, fused: SGD(groups, options.learning_rate, fused=fused),
    "momentum": lambda groups, options, fused: SGD(
        groups, options.learning_rate, momentum=options.momentum, fused=fused
    ),
    "adam": lambda groups, options, fused: Adam(
        groups, options.learning_rate, betas=_betas(options), fused=fused
    ),
    "adamw": lambda groups, options, fused: AdamW(
        groups, options.learning_rate, betas=_betas(options), fused=fused
    ),
}


_ADAM = {"step", "exp_avg", "exp_avg_sq"}
MEMORY: dict[type[Optimizer], set[str]] = {SGD: {"momentum_buffer"}, Adam: _ADAM, AdamW: _ADAM}
"""What each kind remembers of a parameter once it has moved it, if anything."""


def remember_alike(one: str, other: str) -> bool:
    """Whether two optimizers, by their names, remember the same of a parameter."""
    kinds = [{"sgd": "nothing", "momentum": "direction"}.get(name, "moments") for name in (one, other)]
    return kinds[0] == kinds[1]


def build_optimizer(model: nn.Module, options: TrainingOptions) -> Optimizer:
    """The optimizer of a model's parameters, which must be on their device by now.

    AdamW decays matrices (and embeddings) only: a pull towards zero on biases and on the gains of
    normalisations would take away freedom without taking away complexity.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not parameters:
        raise LmvizError("The model has nothing to learn by gradients: train it with its family's learner.")
    decay = options.weight_decay if options.optimizer == "adamw" else 0.0
    groups: Groups = [
        {"params": [item for item in parameters if item.ndim >= 2], "weight_decay": decay},
        {"params": [item for item in parameters if item.ndim < 2], "weight_decay": 0.0},
    ]
    fused = parameters[0].device.type in ("cpu", "cuda")
    return OPTIMIZERS[options.optimizer]([group for group in groups if group["params"]], options, fused)


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    """Let the next update use this rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def optimizer_tensors(model: nn.Module, optimizer: Optimizer) -> dict[str, torch.Tensor]:
    """What the optimizer remembers, as `parameter/key`, contiguous and on the CPU."""
    return {
        f"{name}/{key}": value.detach().cpu().contiguous()
        for name, parameter in model.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
        if isinstance(value, torch.Tensor)
    }


def second_moments(model: nn.Module, optimizer: Optimizer) -> dict[str, torch.Tensor]:
    """The second moments of Adam by the name of the parameter, each row of a matrix its mean, on the CPU.

    Without the bias of their beginning at 0 (Kingma & Ba 2015). Of a matrix (row, …) they are (row, 1, …), so
    that they can be multiplied with it; of a vector they are all kept. None of what has not been moved.
    """
    found = {}
    for name, parameter in model.named_parameters():
        state = optimizer.state.get(parameter, {})
        if "exp_avg_sq" not in state or "step" not in state:
            continue
        squares = state["exp_avg_sq"].detach().cpu().double()
        if squares.ndim > 1:
            squares = squares.mean(dim=tuple(range(1, squares.ndim)), keepdim=True)
        decay = next(group["betas"][1] for group in optimizer.param_groups if "betas" in group)
        found[name] = (squares / (1 - decay ** float(state["step"]))).float().contiguous()
    return found


def load_optimizer_tensors(
    model: nn.Module, optimizer: Optimizer, tensors: Mapping[str, torch.Tensor]
) -> None:
    """Take over what `optimizer_tensors` gave; LmvizError when it is damaged or of another model or kind."""
    places = {parameter: name for name, parameter in model.named_parameters()}
    ordered = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, torch.Tensor]] = {}
    for place, parameter in enumerate(ordered):
        prefix = places[parameter] + "/"
        found = {key.removeprefix(prefix): tensors[key].clone() for key in tensors if key.startswith(prefix)}
        if not found:
            continue
        shapes = {key: torch.Size() if key == "step" else parameter.shape for key in MEMORY[type(optimizer)]}
        fits = {key: value.shape for key, value in found.items()} == shapes
        if not fits or not all(value.is_floating_point() for value in found.values()):
            raise LmvizError(
                "The saved state of the optimizer is damaged or belongs to another model: train again in "
                "another folder."
            )
        state[place] = found
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
