"""A Transformer that was opened and is trained further: what of it learns, and what it is then."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, cast

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from lmviz.base.errors import LmvizError
from lmviz.models.blocks import without_blocks
from lmviz.models.low_rank import LowRankLinear, Rows, with_products
from lmviz.models.model import Model
from lmviz.models.precision import widened
from lmviz.models.shapes import without_numbers
from lmviz.models.transformer import TransformerModel
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_layers import Attending, KeysAndValues
from lmviz.models.tuning_configuration import ALL, LORA, TuningConfiguration


@dataclass(frozen=True)
class Tuning:
    """What is learned of a Transformer of a configuration.

    `joined` says that its queries, keys and values are one matrix where it is stored, and get one A and B.
    """

    configuration: TransformerConfiguration
    chosen: TuningConfiguration
    joined: bool = False

    @property
    def scale(self) -> float:
        """What a product B · A is multiplied by."""
        return self.chosen.alpha / self.chosen.rank

    def products(self) -> dict[str, tuple[Rows, ...]]:
        """The matrices that get products, by the dotted names of their modules, and for which units."""
        parts, configuration = self.chosen.parts, self.configuration
        if not parts:
            return {}
        found: dict[str, tuple[Rows, ...]] = {}
        width, units = configuration.width, configuration.feedforward_width
        for layer in range(configuration.layers):
            rows = self._of_attention()
            if rows:
                found[f"layers.{layer}.attention.input"] = rows
            if "output" in parts:
                found[f"layers.{layer}.attention.output"] = ((0, width),)
            if configuration.attention_alone:
                continue
            if "gate" in parts and configuration.gated:
                found[f"layers.{layer}.feedforward.gate"] = ((0, units),)
            if "hidden" in parts:
                found[f"layers.{layer}.feedforward.hidden"] = ((0, units),)
            if "down" in parts:
                found[f"layers.{layer}.feedforward.output"] = ((0, width),)
        return found

    def _of_attention(self) -> tuple[Rows, ...]:
        configuration, parts = self.configuration, self.chosen.parts
        mixed = configuration.heads * configuration.head_width
        shared = configuration.groups * configuration.head_width
        ends = {
            "query": (0, mixed),
            "key": (mixed, mixed + shared),
            "value": (mixed + shared, mixed + 2 * shared),
        }
        rows = tuple(place for part, place in ends.items() if part in parts)
        return ((0, mixed + 2 * shared),) if rows and self.joined else rows

    def learns(self, parameter: str) -> bool:
        """Whether a weight of the model itself is learned."""
        if self.chosen.adapter == LORA:
            return False
        if self.chosen.adapter == ALL:
            return True
        first = max(0, self.configuration.layers - self.chosen.last_layers)
        return parameter.startswith(tuple(f"layers.{at}." for at in range(first, self.configuration.layers)))

    def changes(self, parameter: str) -> bool:
        """Whether a weight of the model is another one afterwards."""
        module, _, end = parameter.rpartition(".")
        return (end == "weight" and module in self.products()) or self.learns(parameter)

    def changed(
        self, base: Mapping[str, torch.Tensor], learned: Mapping[str, torch.Tensor]
    ) -> dict[str, torch.Tensor]:
        """The weights that are others, with what was learned; in float32, and all new tensors.

        `base` are the weights that it began with, and where `learned` says nothing they are as they were.
        """
        products, found = self.products(), dict[str, torch.Tensor]()
        for name, weight in base.items():
            module, _, end = name.rpartition(".")
            if end == "weight" and module in products:
                found[name] = with_products(widened(weight), learned, module, products[module], self.scale)
            elif self.learns(name):
                found[name] = learned.get(name, weight).detach().float().clone()
        return found


class TunedTransformer(TransformerModel):
    """A Transformer that learns as a `Tuning` says; `state()` is what it has learned."""

    tuning: Tuning

    @classmethod
    def of(cls, base: Model, tuning: Tuning, seed: int) -> Self:
        """One that begins as a model is; what is learned is computed in float32 of its own memory."""
        check_tunable(base)
        assert isinstance(base, TransformerModel)
        with without_numbers():
            model = cls(base.configuration, base.vocabulary_size)
        state = {name: _plain(value) for name, value in base.state_dict().items()}
        learned = {name for name in state if tuning.learns(name)}
        state |= {name: state[name].clone(memory_format=torch.contiguous_format) for name in learned}
        model.load_state_dict(state, assign=True)
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(name in learned)
        chance = torch.Generator().manual_seed(seed)
        for name, rows in tuning.products().items():
            kept = model.get_submodule(name)
            assert isinstance(kept, nn.Linear)
            parent, _, last = name.rpartition(".")
            product = LowRankLinear(kept, rows, tuning.chosen.rank, tuning.scale, chance)
            setattr(model.get_submodule(parent), last, product)
        learns = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
        if not learns:
            raise LmvizError("This choice leaves nothing to learn: choose other matrices or more layers.")
        model.fixed = frozenset(model.state_dict().keys() - learns)
        model.tuning = tuning
        model.tokenizer, model.name, model.documents = base.tokenizer, base.name, base.documents
        model.is_foreign, model.checkpoint = base.is_foreign, base.checkpoint
        return model

    def through_layer(
        self, index: int, stream: torch.Tensor, attending: Attending, past: KeysAndValues | None
    ) -> tuple[torch.Tensor, KeysAndValues]:
        """See TransformerModel; where it was chosen so, only the stream before each layer is kept."""
        if not self.tuning.chosen.recompute or past is not None or not torch.is_grad_enabled():
            return super().through_layer(index, stream, attending, past)
        layer = self.layers[index]
        return cast(
            "tuple[torch.Tensor, KeysAndValues]",
            checkpoint(layer, stream, attending, past, use_reentrant=False),
        )

    def reading_state(self, largest: float = math.inf) -> dict[str, torch.Tensor] | None:
        """See Model: the weights that are others now, of the shapes that they have in the base."""
        sizes = (value.numel() for name, value in self.named_parameters() if self.tuning.changes(name))
        if 4 * sum(sizes) > largest:
            return None
        weights = {name: value for name, value in self.state_dict().items() if name in self.fixed}
        learned = {
            name: value.detach() for name, value in self.state_dict().items() if name not in self.fixed
        }
        found = self.tuning.changed({**weights, **learned}, learned)
        return {name: value.cpu() for name, value in found.items()}


def read_as(base: Model, tuning: Tuning, learned: Mapping[str, torch.Tensor]) -> TransformerModel:
    """The model that a base becomes with what was learned, for reading; what stays is shared with it."""
    check_tunable(base)
    assert isinstance(base, TransformerModel)
    with without_numbers():
        model = TransformerModel(base.configuration, base.vocabulary_size)
    weights = base.state_dict()
    changed = tuning.changed(weights, learned)
    model.load_state_dict({**weights, **changed}, assign=True)
    model.fixed = frozenset(weights.keys() - changed.keys())
    model.tokenizer, model.documents = base.tokenizer, base.documents
    model.why_no_tokenizer = base.why_no_tokenizer
    model.is_foreign, model.checkpoint, model.has_adapter = base.is_foreign, base.checkpoint, True
    return model.eval().requires_grad_(False)


def check_tunable(model: Model) -> None:
    """Raise LmvizError for a model that cannot be trained further as an opened one."""
    if not isinstance(model, TransformerModel) or not (model.causal and model.predicts.continues):
        raise LmvizError(
            f"Only a Transformer that predicts the next token is trained further from where it stands, and "
            f"{model.name or 'this model'} is none: train a new model, or choose another checkpoint."
        )
    if model.tokenizer is None:
        raise LmvizError(
            f"{model.name or 'This model'} has no tokenizer, so it cannot read a text to learn from: "
            f"{model.why_no_tokenizer or 'choose another checkpoint'}."
        )


def _plain(value: torch.Tensor) -> torch.Tensor:
    """A weight in single precision, unpacked where it is in blocks."""
    return without_blocks(value).detach().float() if value.is_floating_point() else value.detach()
