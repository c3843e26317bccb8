"""A torch module of a kind that lmviz computes itself: its weights as those of a model of lmviz.

The kinds are those of checkpoints, in the one table of `lmviz.interchange.kinds`. That the module computes
what its names promise is tried once: it and the model of lmviz read the same tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.interchange.fields import Fields
from lmviz.interchange.kinds import kind_of
from lmviz.interchange.layout import StoredLayout, check_kinds, fit
from lmviz.interchange.state_dictionary import state_dictionary_of
from lmviz.interchange.stored_names import unwrap
from lmviz.interchange.stored_tensors import StoredTensors
from lmviz.models.model import Model
from lmviz.models.model_configuration import ModelConfiguration
from lmviz.models.shapes import without_numbers
from lmviz.models.translator import Translator
from lmviz.recording.modules import (
    described_module,
    evaluating,
    is_sharded,
    logits_of,
    names_when_saved,
)
from lmviz.recording.tensors import NamedTensor, tensors_of

PLACE = "The module"

_NOWHERE = Path(PLACE)

TRIED = 8
"""Tokens that both read."""

CLOSE = 1e-4
"""How far logits may be apart, as a share of the largest, that are computed in the same precision."""

ROUGHLY = 0.1
"""The same where the module computes in half precision, or on a card that rounds."""

Copies = dict[str, torch.Tensor]
"""Tensors of the processor by the names that the module has for them."""


class UnknownModule(LmvizError):
    """The module is none that lmviz computes."""


class KnownModule:
    """A module, and which of its tensors make which weights of a model of lmviz.

    `title` is its kind in words. `copies` is taken where the module is trained; `state` makes of it, in any
    thread, what a snapshot holds.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.inner, values = described_module(module)
        self.is_sharded = is_sharded(module)
        self._copies: Mapping[str, torch.Tensor] = {}
        self._asked: set[str] = set()
        self._originals: dict[str, str] = {}
        own = next((each for each in module.modules() if isinstance(each, Model)), None)
        if own is not None:
            self._be_of_lmviz(own)
        else:
            self._be_of_another_program(values)

    def _be_of_lmviz(self, own: Model) -> None:
        if isinstance(own, Translator) or not own.predicts.continues:
            raise UnknownModule(
                "The module is a model of lmviz that does not continue texts: train it with lmviz.train."
            )
        if not list(own.parameters()):
            raise UnknownModule("The module counts n-grams and has no weights to record.")
        self.inner = own
        self.family = next(
            name for name, family in FAMILIES.items() if family.configuration is type(own.configuration)
        )
        self.title, self.configuration = FAMILIES[self.family].title, own.configuration
        self.vocabulary_size = own.vocabulary_size
        before = next(name for name, each in self.module.named_modules() if each is own)
        start = f"{before}." if before else ""
        self._names: dict[str, tuple[str, ...]] = {name: (f"{start}{name}",) for name in own.state_dict()}
        self._layout: StoredLayout | None = None
        self.asked = tuple(name for names in self._names.values() for name in names)

    def _be_of_another_program(self, values: Mapping[str, Any]) -> None:
        stored, place = StoredTensors(), PLACE
        try:
            tensors = tensors_of(self.module)
        except LmvizError as error:
            raise UnknownModule(str(error)) from None
        saved_as = names_when_saved(self.module, tensors)
        for name, tensor in tensors.items():
            saved = saved_as.get(name, name)
            self._originals[saved] = name
            stored.add(_NOWHERE, saved, tensor.shape, tensor.kind, self)
        self._copies = _Whole(tensors)
        fields = Fields(values)
        try:
            if "architectures" in values or "transformers_version" in values:
                kind = kind_of(fields.word("model_type", ""))
                unwrapped = unwrap(place, stored, kind)
                stored, self.title = unwrapped.stored, kind.title
                layout = StoredLayout(kind, kind.configuration(fields))
                self.vocabulary_size = fields.whole("vocab_size", 50257)
            else:
                found = state_dictionary_of(place, stored, fields)
                stored, layout, self.title = found.stored, found.layout, found.title
                self.vocabulary_size = found.vocabulary_size
            layout = self._as_tied(layout, stored, tensors)
            self.family, self.configuration = "transformer", layout.configuration
            with without_numbers():
                empty = build_model(self.family, self.configuration, self.vocabulary_size, seed=0)
            shapes = {name: tuple(value.shape) for name, value in empty.state_dict().items()}
            fits = fit(layout, shapes, stored)
            fits.check(place)
            check_kinds(place, stored, (name for names in fits.names.values() for name in names))
        except (LmvizError, ZeroDivisionError, OverflowError) as error:
            raise UnknownModule(str(error)) from None
        self._names, self._layout, self._stored = dict(fits.names), layout, stored
        self._asked = set()
        self.state(self._copies)
        self.asked = tuple(name for name in tensors if name in self._asked)
        self._copies = {}

    def _as_tied(
        self, layout: StoredLayout, stored: StoredTensors, tensors: Mapping[str, NamedTensor]
    ) -> StoredLayout:
        """The layout with an output of its own, where that is not the embedding whatever is said of it.

        It may be another copy, which is equal at first, as peft makes one of an embedding that it trains.
        """
        output = next((name for name in layout.stored_names("output.weight") if name in stored), None)
        table = layout.table
        if not layout.configuration.tied or output is None or table not in stored:
            return layout
        first, second = (self._place(stored, name, tensors) for name in (output, table))
        if first == second:
            return layout
        return replace(layout, configuration=replace(layout.configuration, tied=False))

    def _place(self, stored: StoredTensors, name: str, tensors: Mapping[str, NamedTensor]) -> int:
        """Where the tensor of a name lies that the kind has for it."""
        self._asked = set()
        stored.get(name)
        [original] = self._asked
        return tensors[original].place

    configuration: ModelConfiguration
    vocabulary_size: int
    family: str
    title: str

    def get_tensor(self, name: str) -> torch.Tensor:
        """One of the copies that a state is being made of, by the name it has in a checkpoint."""
        name = self._originals[name]
        self._asked.add(name)
        return self._copies[name]

    def copies(self, keeps: bool = True) -> Copies:
        """The tensors as they are now, copied to the processor one after the other.

        Where processes have a share each, all of them call it; only those that keep something copy it.
        """
        tensors, found = tensors_of(self.module), {}
        for name in self.asked:
            tensor = tensors[name].numbers()
            if keeps:
                found[name] = tensor.to("cpu", copy=True)
        return found

    def state(self, copies: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """What a snapshot holds, by the names of lmviz; the tensors may share memory with the copies."""
        if self._layout is None:
            return {name: copies[stored].contiguous() for name, (stored,) in self._names.items()}
        self._copies = copies
        try:
            return {
                parameter: self._layout.combined(
                    parameter, [self._stored.get(name) for name in names]
                ).contiguous()
                for parameter, names in self._names.items()
            }
        finally:
            if not isinstance(copies, _Whole):
                self._copies = {}

    def try_out(self, copies: Copies, keeps: bool = True) -> None:
        """Raise UnknownModule where the module computes other logits than lmviz does from its weights.

        Every process calls it with the same module; those that keep nothing only take part.
        """
        length = min(TRIED, getattr(self.configuration, "context", TRIED) or TRIED)
        ids = torch.arange(length) * 7 % self.vocabulary_size
        found = self._answer(ids)
        if not keeps:
            return
        if found is None:
            raise UnknownModule("The module answers token ids with no logits of shape (1, position, token).")
        with without_numbers():
            model = build_model(self.family, self.configuration, self.vocabulary_size, seed=0)
        model.load_state_dict(
            {name: value.float() for name, value in self.state(copies).items()}, assign=True
        )
        with torch.no_grad():
            expected = model.eval()(ids[None])[0]
        found = found[0].to("cpu", torch.float32)
        if found.shape[-1] != expected.shape[-1] or not 1 <= len(found) <= length:
            raise UnknownModule(f"The module answers with logits of shape {tuple(found.shape)}.")
        apart = (found - expected[-len(found) :]).abs().max()
        if not apart <= self._tolerance() * expected.abs().max().clamp_min(1e-3):
            raise UnknownModule(
                f"The module is called as {self.title} is, and computes other logits from its weights than "
                "that: lmviz would show another model."
            )

    def _tolerance(self) -> float:
        plain = all(
            tensor.dtype == torch.float32 and tensor.device.type == "cpu"
            for tensor in self.inner.parameters()
        )
        return CLOSE if plain else ROUGHLY

    def _answer(self, ids: torch.Tensor) -> torch.Tensor | None:
        device = next(self.inner.parameters()).device
        with evaluating(self.module), torch.no_grad():
            return logits_of(self.inner(ids[None].to(device)))


class _Whole(Mapping[str, torch.Tensor]):
    """The tensors of a module themselves, each gathered from all processes when it is asked for."""

    def __init__(self, tensors: Mapping[str, NamedTensor]) -> None:
        self._tensors = tensors

    def __getitem__(self, name: str) -> torch.Tensor:
        return self._tensors[name].numbers()

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)
