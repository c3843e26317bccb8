"""The module of somebody's training: found below its wrappers, with what it says of itself."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import nn

from lmviz.base.errors import LmvizError

SAYS = ("config", "cfg", "params", "args", "model_args")
"""What programs call the values that a module was built from."""


def described_module(module: nn.Module) -> tuple[nn.Module, Mapping[str, Any]]:
    """The outermost module that says what it was built from, and these values; itself and none otherwise.

    Wrappers such as DistributedDataParallel, torch.compile or a LightningModule have no such values, or none
    that name a model.
    """
    for inner in _outermost_first(module):
        for name in SAYS:
            values = plain_values(getattr(inner, name, None))
            if values.keys() & {"model_type", "n_head", "n_heads", "act_fn"}:
                return inner, values
    return module, {}


def plain_values(said: Any) -> dict[str, Any]:
    """Plain values by name, from whatever a program keeps them in; none of what is none."""
    if isinstance(said, Mapping):
        return dict(said)
    if callable(getattr(said, "to_dict", None)):
        found = said.to_dict()
        return found if isinstance(found, dict) else {}
    if dataclasses.is_dataclass(said) and not isinstance(said, type):
        return {field.name: getattr(said, field.name) for field in dataclasses.fields(said)}
    return dict(vars(said)) if hasattr(said, "__dict__") and not isinstance(said, type | nn.Module) else {}


def _outermost_first(module: nn.Module) -> Iterator[nn.Module]:
    level = [module]
    while level:
        yield from level
        level = [child for each in level for child in each.children()]


def names_when_saved(module: nn.Module, names: Iterable[str]) -> dict[str, str]:
    """The names that transformers saves tensors under, by their names in `module`, which are given.

    Those that are called alike are left out; nothing where there is no module of transformers.
    """
    revert = getattr(sys.modules.get("transformers.core_model_loading"), "revert_weight_conversion", None)
    theirs = ((name, each) for name, each in module.named_modules() if _is_of_transformers(each))
    before, inner = next(theirs, ("", None))
    if revert is None or inner is None:
        return {}
    start = f"{before}." if before else ""
    own = [name.removeprefix(start) for name in names if name.startswith(start)]
    try:
        numbered = {name: torch.tensor([number]) for number, name in enumerate(own)}
        saved = {name: value.tolist() for name, value in revert(inner, numbered).items()}
    except Exception:  # it is no function for others, and changes with its versions
        return {}
    return {
        f"{start}{own[found[0]]}": f"{start}{name}"
        for name, found in saved.items()
        if len(found) == 1 and own[found[0]] != name
    }


def _is_of_transformers(module: nn.Module) -> bool:
    return type(module).__module__.startswith("transformers.")


def check_gatherable(module: nn.Module) -> None:
    """Raise LmvizError where the weights lie in one flat piece for each process, as FSDP first had them."""
    for each in module.modules():
        if type(each).__name__ == "FullyShardedDataParallel":
            raise LmvizError(
                "The module is wrapped by FullyShardedDataParallel, whose weights have no names: wrap it by "
                "fully_shard of torch.distributed.fsdp, or record without it."
            )


def is_sharded(module: nn.Module) -> bool:
    """Whether several processes hold a share each of its tensors, as with fully_shard."""
    return any(hasattr(tensor, "full_tensor") for tensor in module.state_dict().values())


def logits_of(answer: Any) -> torch.Tensor | None:
    """The logits (batch, position, token) in what a module answers with; None where there are none."""
    if isinstance(answer, torch.Tensor):
        return answer if answer.dim() == 3 else None
    named = answer.get("logits") if isinstance(answer, Mapping) else getattr(answer, "logits", None)
    if isinstance(named, torch.Tensor):
        return logits_of(named)
    several = answer if isinstance(answer, tuple | list) else ()
    return next((found for each in several if (found := logits_of(each)) is not None), None)


@contextlib.contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """The module without dropout until the block ends; each of its parts trains afterwards as before.

    What is compiled is not compiled again for it.
    """
    training = [each for each in module.modules() if each.training]
    module.eval()
    try:
        with torch.compiler.set_stance("force_eager"):
            yield
    finally:
        for each in training:
            each.training = True
