"""Which stored tensors make which parameters of the Transformer, in which shape, and the way back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.kinds.kind import Half, Kind, Name
from lmviz.interchange.stored_tensors import KINDS, StoredTensors
from lmviz.models.transformer_configuration import TransformerConfiguration

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
        there = self._there(parameter)
        several = (there,) if isinstance(there, str) else (there.name,) if isinstance(there, Half) else there
        heads = range(self.configuration.heads if "query" in module else self.configuration.groups)
        return tuple(
            f"{name.replace('*', number[1] if number else '*').replace('#', str(head))}.{end}"
            for name in several
            for head in (heads if "#" in name else (0,))
        )

    @property
    def table(self) -> str:
        """The full name of the tensor that holds the embedding."""
        return self.kind.inside + self.stored_names("embedding.weight")[0]

    @property
    def output(self) -> str:
        """The full name of the tensor that holds the output, where that is not the embedding."""
        return self.stored_names("output.weight")[0]

    def lies_on_its_side(self, name: str) -> bool:
        """Whether the tensor of this full name is a matrix (feature, unit)."""
        module = re.sub(r"\.\d+\.", ".*.", name.removeprefix(self.kind.inside).rpartition(".")[0], count=1)
        return self.transposed and module in {self.kind.names[each] for each in self.kind.transposed}

    def stored_shapes(self, parameter: str, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
        """The shapes of the tensors that make a parameter of a shape."""
        count, there = len(self.stored_names(parameter)), self._there(parameter)
        if isinstance(there, tuple):
            return tuple((units, *shape[1:]) for units in self._units)
        if isinstance(there, Half):
            return ((2 * shape[0], *shape[1:]),)
        if self._module(parameter) in self.kind.by_head:
            return ((shape[0] // self.configuration.head_width, self.configuration.head_width),)
        if count > 1:
            return ((shape[0] // count, *shape[1:]),) * count
        return (shape[::-1] if self._is_transposed(parameter) else shape,)

    def combined(self, parameter: str, tensors: list[torch.Tensor]) -> torch.Tensor:
        """The parameter from the tensors that make it; nothing is copied where that can be avoided.

        What has one axis is in single precision: it takes no room, and normalisation wants it so.
        """
        tensor, there = torch.cat(tensors) if len(tensors) > 1 else tensors[0], self._there(parameter)
        if isinstance(there, Half):
            tensor = tensor.chunk(2)[there.second]
        if self._is_transposed(parameter):
            tensor = tensor.t()
        if self._is_by_group(parameter):
            groups = tensor.unflatten(0, (self.configuration.groups, -1, self.configuration.head_width))
            parts = groups.split((self._shared, 1, 1), dim=1)
            tensor = torch.cat([part.flatten(0, 2) for part in parts])
        if self._module(parameter) in self.kind.by_head:
            tensor = tensor.flatten()
        return tensor.float() if tensor.dim() == 1 else tensor

    def separated(self, parameter: str, tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The tensors that are stored for a parameter, in the order of their names.

        Of a half it is the half alone; `is_half` says so.
        """
        if self._is_by_group(parameter):
            width = self.configuration.head_width
            parts = [
                part.unflatten(0, (self.configuration.groups, -1, width))
                for part in tensor.split(self._units)
            ]
            tensor = torch.cat(parts, dim=1).flatten(0, 2)
        if self._is_transposed(parameter):
            tensor = tensor.t()
        if self._module(parameter) in self.kind.by_head:
            tensor = tensor.unflatten(0, (-1, self.configuration.head_width))
        if isinstance(self._there(parameter), tuple):
            return tensor.split(self._units)
        return tensor.chunk(len(self.stored_names(parameter)))

    def is_half(self, parameter: str) -> bool:
        """Whether it is stored in one tensor with another parameter, of which the first comes first."""
        return isinstance(self._there(parameter), Half)

    def _there(self, parameter: str) -> Name:
        """The modules that hold a parameter."""
        names = {**self.kind.names, **self.kind.renamed(self.configuration)}
        return names[self._module(parameter)]

    def _module(self, parameter: str) -> str:
        return re.sub(r"layers\.\d+", "layers.*", parameter.rpartition(".")[0])

    def _is_by_group(self, parameter: str) -> bool:
        return self.kind.by_group and self._module(parameter) == INPUT

    def _is_transposed(self, parameter: str) -> bool:
        is_matrix = self.transposed and parameter.endswith("weight")
        return is_matrix and self._module(parameter) in self.kind.transposed

    @property
    def _shared(self) -> int:
        return self.configuration.heads // self.configuration.groups

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
        inner = [name for name in self.unexpected if re.search(r"(^|\.)(h|layers|blocks|blk)\.\d+\.", name)]
        if inner:
            raise LmvizError(
                f"{place} holds {some(inner)}, a part of a layer that lmviz does not compute: choose "
                "another checkpoint."
            )


def fit(layout: StoredLayout, shapes: Mapping[str, tuple[int, ...]], stored: StoredTensors) -> Fit:
    """How `stored`, under the names of its kind, fits the parameters whose shapes are given by name."""
    names, missing, wrong, used = {}, [], [], set()
    for parameter, shape in shapes.items():
        found = []
        expected = layout.stored_shapes(parameter, shape)
        for name, own in zip(layout.stored_names(parameter), expected, strict=True):
            full = name if parameter.startswith("output.") else layout.kind.inside + name
            if full not in stored.shapes:
                missing.append(full)
                continue
            used.add(full)
            found.append(full)
            if stored.shapes[full] != own:
                wrong.append((full, stored.shapes[full], own))
        names[parameter] = tuple(found)
    ignored = _ignored(layout)
    unexpected = [name for name in stored.shapes if name not in used and not ignored.fullmatch(name)]
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


def some(names: Iterable[str]) -> str:
    """A few of these names, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else ""
    return ", ".join(name[:80] for name in listed[:SHOWN]) + more


def shape_in_words(shape: tuple[int, ...]) -> str:
    """A shape as a person writes it: "768 × 2,304"."""
    return " × ".join(f"{size:,}" for size in shape) or "a single number"
