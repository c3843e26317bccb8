"""Which stored tensors make which parameters of the Transformer, in which shape, and the way back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.kinds import Kind
from lmviz.interchange.stored_tensors import KINDS, StoredTensors
from lmviz.models.transformer_configuration import TransformerConfiguration

COMPILED = ("_orig_mod.", "module.")
"""What torch.compile and data parallel training put before names."""

INPUT = "layers.*.attention.input"
"""The one matrix of queries, keys and values."""

SHOWN = 3
"""Names that a sentence gives as examples."""


@dataclass(frozen=True)
class StoredLayout:
    """How the parameters of a model are stored in a kind of checkpoint.

    `transposed` is false for weights of a kind whose matrices are as torch's own, such as those of nanoGPT.
    """

    kind: Kind
    configuration: TransformerConfiguration
    transposed: bool = True

    def stored_names(self, parameter: str) -> tuple[str, ...]:
        """The names of the tensors that make a parameter, without what stands before them."""
        module, _, end = parameter.rpartition(".")
        number = re.search(r"layers\.(\d+)", module)
        there = self.kind.names[re.sub(r"layers\.\d+", "layers.*", module)]
        several = (there,) if isinstance(there, str) else there
        return tuple(f"{name.replace('*', number[1] if number else '*')}.{end}" for name in several)

    def stored_shapes(self, parameter: str, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """The shapes of the tensors that make a parameter of a shape."""
        if len(self.stored_names(parameter)) > 1:
            return tuple((units, *shape[1:]) for units in self._units)
        return (shape[::-1] if self._is_transposed(parameter) else shape,)

    def combined(self, parameter: str, tensors: list[torch.Tensor]) -> torch.Tensor:
        """The parameter from the tensors that make it; nothing is copied where that can be avoided.

        What has one axis is in single precision: it takes no room, and normalisation wants it so.
        """
        tensor = torch.cat(tensors) if len(tensors) > 1 else tensors[0]
        if self._is_transposed(parameter):
            tensor = tensor.t()
        if self.kind.by_head and ".attention.input." in parameter:
            heads, width = self.configuration.heads, self.configuration.head_width
            tensor = tensor.reshape(heads, 3, width, -1).transpose(0, 1).reshape(tensor.shape)
        return tensor.float() if tensor.dim() == 1 else tensor

    def separated(self, parameter: str, tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The tensors that are stored for a parameter, in the order of their names."""
        if self.kind.by_head and ".attention.input." in parameter:
            heads, width = self.configuration.heads, self.configuration.head_width
            tensor = tensor.reshape(3, heads, width, -1).transpose(0, 1).reshape(tensor.shape)
        if self._is_transposed(parameter):
            tensor = tensor.t()
        return tensor.split(self._units) if len(self.stored_names(parameter)) > 1 else (tensor,)

    def _is_transposed(self, parameter: str) -> bool:
        module = re.sub(r"layers\.\d+", "layers.*", parameter.rpartition(".")[0])
        return self.transposed and parameter.endswith("weight") and module in self.kind.transposed

    @property
    def _units(self) -> tuple[int, int, int]:
        configuration = self.configuration
        shared = configuration.groups * configuration.head_width
        return configuration.heads * configuration.head_width, shared, shared


@dataclass(frozen=True)
class Fit:
    """How stored tensors fit a model.

    `names` gives for each parameter the full names of the tensors that make it. `missing` are tensors that
    should be there; `wrong` those of another shape, with the shape they have and the one they should have;
    `unexpected` those that no parameter is made of.
    """

    names: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...]
    wrong: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    unexpected: tuple[str, ...]

    def check(self, place: object) -> None:
        """Raise LmvizError where the model could not be what was stored, without having read a number."""
        if self.missing:
            raise LmvizError(f"{place} lacks {some(self.missing)}: choose a checkpoint that is whole.")
        if self.wrong:
            name, shape, expected = self.wrong[0]
            raise LmvizError(
                f"{place} holds {name} of shape {shape_in_words(shape)}, and its configuration asks for "
                f"{shape_in_words(expected)}: choose a checkpoint whose parts belong together."
            )
        inner = [name for name in self.unexpected if re.search(r"(^|\.)(h|layers)\.\d+\.", name)]
        if inner:
            raise LmvizError(
                f"{place} holds {some(inner)}, a part of a layer that lmviz does not compute: choose "
                "another checkpoint."
            )


def fit(layout: StoredLayout, shapes: Mapping[str, tuple[int, ...]], stored: StoredTensors) -> Fit:
    """How `stored` fits the parameters whose shapes are given by name."""
    known = {without_wrappers(name): name for name in stored.shapes}
    names, missing, wrong, used = {}, [], [], set()
    for parameter, shape in shapes.items():
        found = []
        expected = layout.stored_shapes(parameter, shape)
        for name, own in zip(layout.stored_names(parameter), expected, strict=True):
            full = known.get(layout.kind.inside + name, known.get(name))
            if full is None:
                missing.append(layout.kind.inside + name if parameter != "output.weight" else name)
                continue
            used.add(full)
            found.append(full)
            if stored.shapes[full] != own:
                wrong.append((full, stored.shapes[full], own))
        names[parameter] = tuple(found)
    ignored = _ignored(layout)
    unexpected = [full for plain, full in known.items() if full not in used and not ignored.fullmatch(plain)]
    return Fit(names, tuple(missing), tuple(wrong), tuple(unexpected))


def check_kinds(place: object, stored: StoredTensors, names: Iterable[str]) -> None:
    """Raise LmvizError where numbers are stored in a way that lmviz does not compute with."""
    for name in names:
        if stored.kinds[name] not in KINDS:
            raise LmvizError(
                f"{place} holds {name} as whole numbers or in eight bits: choose a checkpoint in float32, "
                "float16 or bfloat16."
            )


def _ignored(layout: StoredLayout) -> re.Pattern[str]:
    """What may be there and is not needed: buffers, and the output where it is the embedding."""
    tied = layout.stored_names("output.weight") if layout.configuration.tied else ()
    written = [re.escape(name).replace(r"\*", r"\d+") for name in (*layout.kind.ignored, *tied)]
    return re.compile(rf"({re.escape(layout.kind.inside)})?({'|'.join(written) or 'x^'})")


def without_wrappers(name: str) -> str:
    """A name without what wrappers have put before it."""
    for wrapper in COMPILED:
        name = name.removeprefix(wrapper)
    return name


def some(names: Iterable[str]) -> str:
    """A few of these names, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else ""
    return ", ".join(name[:80] for name in listed[:SHOWN]) + more


def shape_in_words(shape: tuple[int, ...]) -> str:
    """A shape as a person writes it: "768 × 2,304"."""
    return " × ".join(f"{size:,}" for size in shape) or "a single number"
