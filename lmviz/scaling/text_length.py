"""What a longer text costs a model, measured: milliseconds of a forward pass, and what a training keeps."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lmviz.models.transformer_configuration import TransformerConfiguration

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.models.model_configuration import ModelConfiguration

LENGTHS = (8, 16, 32, 64, 128, 256, 512, 1024)
ROUNDS = 5
"""How often each pass is made; the fastest counts, as the one that was disturbed least."""


@dataclass(frozen=True)
class MeasuredLength:
    """One model on a text of so many tokens.

    `milliseconds` are those of a forward pass; `bytes` is what a training keeps of it for the backward pass,
    without the weights.
    """

    name: str
    length: int
    milliseconds: float
    bytes: int


@dataclass(frozen=True)
class MeasuredModel:
    """What is measured: a family, its configuration and its vocabulary, under a name."""

    name: str
    family: str
    configuration: ModelConfiguration
    vocabulary: int


def measure_lengths(
    models: Sequence[MeasuredModel], lengths: Sequence[int] = LENGTHS
) -> Generator[float | tuple[MeasuredLength, ...], None, tuple[MeasuredLength, ...]]:
    """Measure each model at each length; yields the fraction done and what is known so far, and returns all.

    The weights are new: no number of them changes how long a pass takes. A Transformer gets a context as
    long as the longest text, and is otherwise as configured.
    """
    import torch

    found: list[MeasuredLength] = []
    for number, measured in enumerate(models):
        model = _built(measured, max(lengths))
        for place, length in enumerate(lengths):
            with torch.no_grad():
                milliseconds = _fastest(model, length)
            found.append(MeasuredLength(measured.name, length, milliseconds, _kept(model, length)))
            yield tuple(found)
            yield (number * len(lengths) + place + 1) / (len(models) * len(lengths))
    return tuple(found)


def _built(measured: MeasuredModel, longest: int) -> Model:
    from lmviz.families import build_model

    configuration = measured.configuration
    if isinstance(configuration, TransformerConfiguration):
        configuration = replace(configuration, context=max(longest, configuration.context))
    return build_model(measured.family, configuration, measured.vocabulary, seed=0)


def _tokens(model: Model, length: int) -> Any:
    """The ids 0, 1, 2 … in turn: (text, position)."""
    import torch

    return (torch.arange(length) % model.vocabulary_size).unsqueeze(0)


def _fastest(model: Model, length: int) -> float:
    """Milliseconds of the fastest of some forward passes, after one that is not counted."""
    tokens = _tokens(model, length)
    model.eval()
    taken = []
    for _ in range(1 + ROUNDS):
        begun = time.perf_counter()
        model(tokens)
        taken.append(time.perf_counter() - begun)
    return 1000 * min(taken[1:])


def _kept(model: Model, length: int) -> int:
    """Bytes that autograd keeps for the backward pass, each memory once and the weights not at all."""
    import torch

    weights = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, int] = {}
    held: list[torch.Tensor] = []  # so that no memory is given back and counted under another's place

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in weights:
            kept[storage.data_ptr()] = storage.nbytes()
            held.append(tensor)
        return tensor

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model.train()(_tokens(model, length))
    return sum(kept.values())
