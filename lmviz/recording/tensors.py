"""The tensors of a module by name, as it computes with them: a weight holds what peft has added to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from lmviz.base.errors import LmvizError


@dataclass(frozen=True)
class NamedTensor:
    """A tensor of a module: its shape and kind, and what gives its numbers as they are now.

    Two of the same `place` are one. Where several processes hold a share each, all of them have to ask for
    the numbers.
    """

    shape: tuple[int, ...]
    kind: torch.dtype
    numbers: Callable[[], torch.Tensor]
    place: int


def tensors_of(module: nn.Module) -> dict[str, NamedTensor]:
    """All tensors of a module that have axes, by the names that they would have without peft.

    LmvizError where peft has changed a layer otherwise than by a sum.
    """
    state = module.state_dict(keep_vars=True)
    found = {
        name: NamedTensor(tuple(tensor.shape), tensor.dtype, partial(whole, tensor), _place_of(tensor))
        for name, tensor in state.items()
        if isinstance(tensor, torch.Tensor) and tensor.dim() > 0
    }
    for name, layer in module.named_modules():
        before = f"{name}." if name else ""
        if hasattr(layer, "base_layer") and hasattr(layer, "lora_A"):
            _take_in(found, before, layer)
        elif hasattr(layer, "original_module") and hasattr(layer, "modules_to_save"):
            _take_over(found, before, layer)
    return found


def whole(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor with the shares of all processes; every process has to ask for it."""
    gather = getattr(tensor, "full_tensor", None)
    return tensor.detach() if gather is None else gather().detach()


def _place_of(tensor: torch.Tensor) -> int:
    return getattr(tensor, "_local_tensor", tensor).data_ptr()


def _take_in(found: dict[str, NamedTensor], before: str, layer: Any) -> None:
    """The weight of a layer with what LoRA adds to it, in place of both."""
    adapters = [] if layer.merged else [each for each in layer.active_adapters if each in layer.scaling]
    if any(getattr(layer, "use_dora", {}).get(each) for each in adapters):
        raise LmvizError(f"{before[:-1]} is changed by DoRA, which is no sum of two weights.")
    inner = f"{before}base_layer."
    own = {name: each for name, each in found.items() if name.startswith(before)}
    for name in own:
        del found[name]
    for name, each in own.items():
        if name.startswith(inner):
            found[before + name.removeprefix(inner)] = each
    base = found[f"{before}weight"]

    def added() -> torch.Tensor:
        total = base.numbers()
        for adapter in adapters:
            total = total + whole(layer.get_delta_weight(adapter)).to(total.device)
        return total

    place = base.place if not adapters else -id(layer)  # what shared it before shares it no longer
    found[f"{before}weight"] = NamedTensor(base.shape, base.kind, added, place)


def _take_over(found: dict[str, NamedTensor], before: str, wrapper: Any) -> None:
    """A module that peft has copied to train it, in place of the one that it was copied from."""
    active = getattr(wrapper, "active_adapters", None) or [wrapper.active_adapter]
    adapter = next((each for each in active if each in wrapper.modules_to_save), None)
    kept = f"{before}original_module." if adapter is None else f"{before}modules_to_save.{adapter}."
    own = {name: each for name, each in found.items() if name.startswith(before)}
    for name in own:
        del found[name]
    for name, each in own.items():
        if name.startswith(kept):
            found[before + name.removeprefix(kept)] = each
