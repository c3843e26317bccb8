"""Two models that are held against each other, and what can be asked of the two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from lmviz.base.errors import LmvizError
from lmviz.inspection.backpropagation import unchanged
from lmviz.models.blocks import without_blocks
from lmviz.models.model import Model
from lmviz.models.other_tensors import with_tensors


@dataclass(frozen=True, eq=False)
class ModelPair:
    """A model and another one, which is what the first has become, or what it is compared with."""

    before: Model
    after: Model

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called, with their steps where the names are the same."""
        names = self.before.name or self.before.family, self.after.name or self.after.family
        if names[0] != names[1]:
            return names
        steps = self.before.step, self.after.step
        if steps[0] == steps[1]:
            return f"{names[0]} (A)", f"{names[1]} (B)"
        return f"{names[0]}, step {steps[0]:,}", f"{names[1]}, step {steps[1]:,}"

    @property
    def read_alike(self) -> bool:
        """Whether both have the same tokens under the same ids."""
        one, other = self.before, self.after
        if one.vocabulary_size != other.vocabulary_size:
            return False
        if one.tokenizer is None or other.tokenizer is None:
            return True
        return one.tokenizer is other.tokenizer or one.tokenizer.tokens() == other.tokenizer.tokens()

    @property
    def why_not_alike(self) -> str:
        """A sentence about why the two cannot be compared number by number; empty where they can."""
        one, other = self.before, self.after
        if not self.read_alike:
            return (
                "These models have different tokens, so only what they say of a text can be compared: choose "
                "two of one tokenizer to look inside."
            )
        if one.family != other.family:
            return (
                f"A {one.family} and a {other.family} have no parts in common: choose two of one family and "
                "shape to compare weights and states."
            )
        shapes = [
            {name: tuple(part.shape) for name, part in model.tensors().items()} for model in (one, other)
        ]
        if not shapes[0]:
            return "Models that count have no weights to compare: choose two that learn by gradients."
        if shapes[0] != shapes[1] or _of_computation(one) != _of_computation(other):
            return (
                "These two differ in shape, so their weights and states cannot be compared number by number: "
                "choose two of one shape."
            )
        return ""

    def check_read_alike(self) -> None:
        """LmvizError where the two have different tokens."""
        if not self.read_alike:
            raise LmvizError(self.why_not_alike)

    def check_alike(self) -> None:
        """LmvizError where the two are not of one tokenizer and shape."""
        if self.why_not_alike:
            raise LmvizError(self.why_not_alike)


def _of_computation(model: Model) -> dict[str, Any]:
    """What a configuration says of how a model computes when it is read."""
    return {name: value for name, value in model.configuration.to_values().items() if name != "dropout"}


def pair_of(models: Iterator[Model]) -> ModelPair:
    """The next two of some models, each with the weights that it has when it comes.

    Either may be given other weights afterwards, as a model is that is opened once for all its steps.
    LmvizError as of `paired`.
    """
    before = next(models)
    kept = with_tensors(before, before.tensors())
    after = next(models)
    return paired(kept, with_tensors(after, after.tensors()))


def paired(before: Model, after: Model) -> ModelPair:
    """The two as they were trained, without interventions; LmvizError where neither continues a text.

    Models that predict labels, or read a source beside their text, are not compared here.
    """
    models = [unchanged(model, ())[0] for model in (before, after)]
    for model in models:
        model.check_continues()
        if len(model.inputs) > 1:
            raise LmvizError(
                "A model that translates or writes captions cannot be compared with another yet: choose two "
                "language models of one text."
            )
    return ModelPair(models[0], models[1])


def numbers(tensor: torch.Tensor) -> torch.Tensor:
    """A parameter in double precision on the processor, whatever it is stored in."""
    return without_blocks(tensor.detach()).cpu().double()
