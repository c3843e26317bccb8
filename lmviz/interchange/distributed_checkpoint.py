"""What torch.distributed.checkpoint writes: a folder with `.metadata`, and parts of tensors in files.

`.metadata` is a pickle that names classes of torch. It is read with others in their places that keep what
they are given and do nothing, so that nothing of the file is run; the parts are read as `torch.save` wrote
them, with the same care. A tensor is put together when it is asked for.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.pickle_machine import PickleMachine
from lmviz.interchange.saved_file import load_saved
from lmviz.interchange.stored_tensors import StoredTensors
from lmviz.text.checkpoint_names import DISTRIBUTED
from lmviz.text.ordinary_files import read_file

LARGEST_METADATA = 100_000_000

MOST_PARTS = 1_000_000

WAY_OUT = "gather it with `python -m torch.distributed.checkpoint.format_utils dcp_to_torch FOLDER FILE.pt`"

NOT_THE_MODEL = (
    "optimizer",
    "optim",
    "optimizers",
    "lr_scheduler",
    "lr_schedulers",
    "dataloader",
    "train_state",
)
"""What stands before the names of tensors that are kept beside those of the model."""


class _Kept:
    """Stands for an object of any class: keeps what the pickle gives it, by name or as one value."""

    def __init__(self, *given: Any) -> None:
        self.given = given

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
            state = {**(state[0] or {}), **state[1]}
        if isinstance(state, dict):
            for name, value in state.items():
                if isinstance(name, str) and name.isidentifier():
                    self.__dict__[name] = value
        else:
            self.state = state


class _Reader(PickleMachine):
    """Gives a class of ours for each that the pickle names, and looks for none."""

    def named(self, module: str, name: str) -> Any:
        kind = getattr(torch, name, None) if module == "torch" else None
        if isinstance(kind, torch.dtype):
            return kind
        return tuple if (module, name) == ("torch", "Size") else type(name[:60], (_Kept,), {})

    def called(self, what: Any, given: Any) -> Any:
        if what is tuple:  # of which it is the only argument
            [sizes] = given
            return sizes if isinstance(sizes, tuple) else self.tuple_of(list(sizes))
        if not isinstance(what, type) or not isinstance(given, tuple):
            raise ValueError
        return what(*given)

    def set_state(self, made: Any, state: Any) -> None:
        if not isinstance(made, _Kept):
            raise ValueError
        made.__setstate__(state)


@dataclass(frozen=True)
class _Part:
    """Where a part of a tensor stands in it, and in which file."""

    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    path: Path
    begin: int
    length: int


class _InParts:
    """Tensors by name, each put together from its parts."""

    def __init__(self, kinds: Mapping[str, torch.dtype], shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._kinds, self._shapes = kinds, shapes
        self.parts: dict[str, list[_Part]] = {}

    def get_tensor(self, name: str) -> torch.Tensor:
        whole = torch.zeros(self._shapes[name], dtype=self._kinds[name])
        is_filled = torch.zeros(self._shapes[name], dtype=torch.bool)
        for part in self.parts[name]:
            found = _read_part(part)
            if tuple(found.shape) != part.sizes:
                raise LmvizError(f"{part.path} holds a part of {name!r} of another shape: get it again.")
            if part.sizes == self._shapes[name]:
                return found.to(self._kinds[name])
            place = tuple(
                slice(offset, offset + size) for offset, size in zip(part.offsets, part.sizes, strict=True)
            )
            whole[place], is_filled[place] = found, True
        if not is_filled.all():
            folder = self.parts[name][0].path.parent
            raise LmvizError(f"{folder} holds {name!r} in parts that leave some of it out: get it again.")
        return whole


def stored_distributed(folder: Path) -> StoredTensors:
    """The tensors of a model in such a folder; LmvizError, with another way, where they cannot be read."""
    path = folder / DISTRIBUTED
    try:
        content = read_file(path, LARGEST_METADATA)
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another checkpoint.") from None
    try:
        said = _Reader().value(content)
        tensors, parts = said.state_dict_metadata, said.storage_data
        found = _found(folder, dict(tensors), dict(parts))
    except LmvizError:
        raise
    except Exception as error:  # a stranger's pickle may be anything
        raise LmvizError(f"{path} is not as torch writes it today: {WAY_OUT}.") from error
    if not found.shapes:
        raise LmvizError(f"{folder} holds no tensors of a model: {WAY_OUT}.")
    return found


def _found(folder: Path, tensors: Mapping[str, Any], parts: Mapping[Any, Any]) -> StoredTensors:
    if len(parts) > MOST_PARTS:
        raise LmvizError(f"{folder} is in {len(parts):,} parts: {WAY_OUT}.")
    kinds: dict[str, torch.dtype] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    for name, said in tensors.items():
        if not isinstance(name, str):
            raise TypeError
        if not hasattr(said, "chunks") or _is_beside(name):
            continue  # a plain value, such as a step
        kinds[name], shapes[name] = _kind_of(said.properties), _sizes(said.size)
    source = _InParts(kinds, shapes)
    lengths: dict[str, int] = {}
    for index, stored in parts.items():
        name = index.fqn
        if not isinstance(name, str) or name not in shapes:
            continue
        where, file = _offsets(index, tensors[name]), _file_in(folder, stored.relative_path)
        begin, length = int(stored.offset), int(stored.length)
        if getattr(stored, "transform_descriptors", None):
            raise LmvizError(f"{folder} holds tensors that were packed as they were written: {WAY_OUT}.")
        offsets, sizes = where
        source.parts.setdefault(name, []).append(_Part(offsets, sizes, file, begin, length))
        lengths[name] = lengths.get(name, 0) + length
    found, files = StoredTensors(), dict[Path, None]()
    for name, shape in shapes.items():
        own = source.parts.get(name, [])
        size = math.prod(shape) * kinds[name].itemsize
        if sum(math.prod(part.sizes) for part in own) != math.prod(shape) or size > lengths.get(name, 0):
            raise LmvizError(f"{folder} lacks parts of {name!r}: the checkpoint is not complete.")
        found.add(folder, name, shape, kinds[name], source)
        files |= {part.path: None for part in own}
    ends: dict[Path, int] = {}
    for part in (part for own in source.parts.values() for part in own):
        ends[part.path] = max(ends.get(part.path, 0), part.begin + part.length)
    for path, end in ends.items():
        if not os.path.isfile(path) or os.stat(path).st_size < end:
            raise LmvizError(f"{path} is missing or breaks off: the checkpoint is not complete.")
    found.files = list(files)
    return found


def _is_beside(name: str) -> bool:
    return name.split(".")[0] in NOT_THE_MODEL


def _kind_of(properties: Any) -> torch.dtype:
    """The first of what TensorProperties keeps is the kind of its numbers."""
    kind = properties.state[0] if hasattr(properties, "state") else properties.dtype
    if not isinstance(kind, torch.dtype):
        raise TypeError
    return kind


def _sizes(size: Any) -> tuple[int, ...]:
    sizes = tuple(int(each) for each in size)
    if any(each < 0 for each in sizes):
        raise ValueError
    return sizes


def _offsets(index: Any, said: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Where a part stands, and how large it is; of a tensor in one part nothing says where."""
    chunks = [(_sizes(chunk.offsets), _sizes(chunk.sizes)) for chunk in said.chunks]
    if index.offset is None:
        [only] = chunks
        return only
    return next(chunk for chunk in chunks if chunk[0] == _sizes(index.offset))


def _file_in(folder: Path, name: Any) -> Path:
    """A file of the folder itself; no name may lead out of it."""
    if not isinstance(name, str) or os.path.basename(name) != name or name in ("", ".", ".."):
        raise ValueError
    return folder / name


def _read_part(part: _Part) -> torch.Tensor:
    try:
        with open(part.path, "rb") as file:
            file.seek(part.begin)
            content = file.read(part.length)
    except OSError as error:
        raise LmvizError(f"{part.path} cannot be read ({error.strerror}): get it again.") from None
    if len(content) < part.length:
        raise LmvizError(f"{part.path} breaks off: the checkpoint is not complete.")
    try:
        found = load_saved(io.BytesIO(content))
    except Exception as error:  # torch raises errors of many kinds for damaged files
        raise LmvizError(f"{part.path} cannot be read as a part of a checkpoint: {WAY_OUT}.") from error
    if not isinstance(found, torch.Tensor):
        raise LmvizError(f"{part.path} holds something else than a tensor: {WAY_OUT}.")
    return found.detach()
