"""The named tensors of a checkpoint: what is there first, and the numbers only when they are asked for.

Files are safetensors, alone or in several parts with an index, or what `torch.save` wrote, which is read with
`weights_only=True`: it cannot run code. What is neither a tensor nor a plain value in it is left out. Both
are mapped into memory, so that numbers which nobody reads take none. Every fault of a file is one sentence.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from lmviz.base.errors import LmvizError
from lmviz.interchange.containers import not_the_file
from lmviz.interchange.saved_file import load_saved
from lmviz.text.checkpoint_names import weights_in
from lmviz.text.ordinary_files import check_ordinary, read_file

LARGEST_INDEX = 100_000_000
"""Bytes of the index of a checkpoint in several parts."""

MOST_PARTS = 1000

WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
"""The names that transformers gives to weights in one file, the safer first; an index is named after them."""

KINDS = {torch.float32, torch.float16, torch.bfloat16, torch.float64}


class StoredTensors:
    """Tensors by name: `shapes` and `kinds` say what is there, `get` gives the numbers, mapped from disk.

    `formats` says how each is packed ("float32", "Q4_K"), and `kinds` what `get` makes of it. Those that are
    `packed` come out as a `BlockMatrix`, and those that are `made_float` take memory once they are read.
    """

    def __init__(self) -> None:
        self.shapes: dict[str, tuple[int, ...]] = {}
        self.kinds: dict[str, torch.dtype] = {}
        self.formats: dict[str, str] = {}
        self.files: list[Path] = []
        self.maps: list[mmap.mmap] = []
        self.packed: set[str] = set()
        self.made_float: set[str] = set()
        self._sources: dict[str, Any] = {}

    def __contains__(self, name: str) -> bool:
        return name in self.shapes

    def in_single_precision(self, names: Iterable[str]) -> int:
        """The bytes that some tensors take in single precision."""
        return sum(4 * math.prod(self.shapes[name]) for name in names)

    def get(self, name: str) -> torch.Tensor:
        """The numbers of a tensor, as they are stored; float64 becomes float32."""
        source, path = self._sources[name]
        if isinstance(source, torch.Tensor):
            tensor = source
        else:
            with _reading(path):
                tensor = source.get_tensor(name)
        return tensor.float() if tensor.dtype == torch.float64 else tensor

    def let_go(self) -> None:
        """Give back the memory of what was read from mapped files; what is wanted again is read again."""
        for mapped in self.maps:
            if hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)

    def are_equal(self, first: str, second: str) -> bool:
        """Whether two tensors hold the same numbers, of kinds that lmviz computes with."""
        if self.shapes[first] != self.shapes[second] or not {self.kinds[first], self.kinds[second]} <= KINDS:
            return False
        return torch.equal(self.get(first).float(), self.get(second).float())

    def renamed(self, names: Mapping[str, str]) -> StoredTensors:
        """The same tensors under other names, by the names they have; itself where none is another."""
        if all(name == new for name, new in names.items()):
            return self
        found = StoredTensors()
        source = _Renamed(self, {new: name for name, new in names.items()})
        for name, shape in self.shapes.items():
            _, path = self._sources[name]
            found.add(path, names[name], shape, self.kinds[name], source, self.formats[name])
        found.packed = {names[name] for name in self.packed}
        found.made_float = {names[name] for name in self.made_float}
        found.files, found.maps = list(self.files), list(self.maps)
        return found

    def add_safetensors(self, path: Path) -> None:
        """Take in the tensors of a safetensors file; LmvizError where it is none."""
        with _reading(path):
            check_ordinary(path)
            # It stays open as long as something may be read from it; what was read stays mapped.
            file: Any = safe_open(path, framework="pt")
            for name in file.keys():  # noqa: SIM118 - it is no dictionary
                part = file.get_slice(name)
                kind = _SAFE_KINDS.get(part.get_dtype())
                self.add(path, name, tuple(part.get_shape()), kind, file)
        self.files.append(path)

    def add_saved(self, path: Path, values: Mapping[str, Any]) -> None:
        """Take in the tensors among the values that `read_saved` gave for a file."""
        size = os.stat(path).st_size
        for name, value in values.items():
            if not isinstance(name, str) or not isinstance(value, torch.Tensor):
                continue
            plain = value.layout is torch.strided and value.device.type == "cpu" and not value.is_quantized
            if not plain or value.nbytes > min(value.untyped_storage().nbytes(), size):
                raise LmvizError(
                    f"{path} holds a tensor {name!r} that is not a plain one: choose another checkpoint."
                )
            self.add(path, name, tuple(value.shape), value.dtype, value.detach())
        self.files.append(path)

    def add(
        self,
        path: Path,
        name: str,
        shape: tuple[int, ...],
        kind: torch.dtype | None,
        source: Any,
        stored_as: str = "",
    ) -> None:
        """Take in one tensor of a file: `source` is the tensor, or gives it by `get_tensor(name)`.

        `stored_as` is how it is packed where `kind` does not say it.
        """
        if name in self.shapes:
            raise LmvizError(
                f"{path} holds {name!r}, which another part holds too: choose another checkpoint."
            )
        self.shapes[name], self.kinds[name] = shape, kind if kind is not None else torch.int8
        self.formats[name] = stored_as or str(self.kinds[name]).removeprefix("torch.")
        self._sources[name] = (source, path)


class _Renamed:
    """Tensors by the new names of others."""

    def __init__(self, stored: StoredTensors, names: Mapping[str, str]) -> None:
        self._stored, self._names = stored, names

    def get_tensor(self, name: str) -> torch.Tensor:
        return self._stored.get(self._names[name])


_SAFE_KINDS = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "F64": torch.float64}


def stored_in(folder: Path) -> StoredTensors:
    """The tensors of a folder, from `model.safetensors` or `pytorch_model.bin`, whole or in parts.

    LmvizError where there are none, or where a file is not what it should be.
    """
    for name in WEIGHT_FILES:
        whole, index = folder / name, folder / f"{name}.index.json"
        if os.path.exists(whole):
            return stored_at(whole)
        if os.path.exists(index):
            found = StoredTensors()
            for part in parts_of(index):
                _add_file(found, folder / part)
            return found
    others = [path for path in weights_in(folder) if path.suffix != ".gguf"]
    if len(others) == 1:
        return stored_at(others[0])
    if others:
        names = ", ".join(path.name for path in others[:3])
        raise LmvizError(f"{folder} holds {len(others)} files of weights ({names}): choose one of them.")
    raise LmvizError(
        f"{folder} describes a model and holds no weights: put its {' or '.join(WEIGHT_FILES)} there, whole "
        "or in parts."
    )


def stored_at(path: Path) -> StoredTensors:
    """The tensors of one file."""
    found = StoredTensors()
    _add_file(found, path)
    return found


def _add_file(found: StoredTensors, path: Path) -> None:
    if path.suffix == ".safetensors":
        found.add_safetensors(path)
    else:
        found.add_saved(path, state_in(read_saved(path)))


STATES = ("model", "state_dict", "model_state_dict", "module")
"""Where nanoGPT, Lightning, much else and DeepSpeed keep a model's tensors beside those of its optimizer."""

MOST_WRAPPED = 10
"""Dictionaries in one another under such names; one may hold itself."""


def state_in(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tensors by name among the values of a file: these themselves, or a dictionary in which they lie."""

    def count(state: Any) -> int:
        return sum(isinstance(each, torch.Tensor) and each.dim() > 0 for each in state.values())

    for _ in range(MOST_WRAPPED):
        inner = {name: state for name, state in values.items() if isinstance(state, Mapping)}
        named = next((inner[name] for name in STATES if name in inner), None)
        if named is None or count(values):
            return max([values, *inner.values()], key=count)
        values = named
    return {}


def read_saved(path: Path) -> dict[str, Any]:
    """The dictionary that `torch.save` wrote into a file; LmvizError where there is none.

    Only tensors and plain values are read, and no code of the file is run: objects of other classes, such as
    the options of a training, are left out.
    """
    with _reading(path):
        check_ordinary(path)
        values = load_saved(path)
    if not isinstance(values, dict):
        raise LmvizError(f"{path} holds no tensors by name: choose another checkpoint.")
    return values


def read_json(path: Path, limit: int = LARGEST_INDEX) -> dict[str, Any]:
    """The object in a JSON file; LmvizError where there is none."""
    try:
        values = json.loads(read_file(path, limit).decode("utf-8"))
    except OSError as error:
        raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another checkpoint.") from None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise LmvizError(f"{path} is not a JSON object: choose another checkpoint.")
    return values


def parts_of(index: Path) -> list[str]:
    """The names of the files that an index lists; none of them may lie in another folder."""
    listed = read_json(index).get("weight_map")
    names = (
        set(listed.values()) if isinstance(listed, dict) and all(map(_is_text, listed.values())) else set()
    )
    if not 1 <= len(names) <= MOST_PARTS or any(os.path.basename(name) != name or not name for name in names):
        raise LmvizError(f"{index} names no files of its folder: choose another checkpoint.")
    return sorted(names)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever a library raises about a file becomes one sentence."""
    try:
        yield
    except LmvizError:
        raise
    except FileNotFoundError:
        raise LmvizError(f"{path} is not there: the checkpoint is not complete.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise LmvizError(f"{path} cannot be read ({reason}): choose another checkpoint.") from None
    except MemoryError:
        raise LmvizError(f"{path} does not fit into memory: choose a smaller checkpoint.") from None
    except Exception as error:
        if (sentence := not_the_file(path)) is not None:
            raise LmvizError(sentence) from None
        # torch raises errors of many kinds for damaged files, those of pickle among them
        kind = "safetensors" if isinstance(error, SafetensorError) else "a file of weights"
        raise LmvizError(f"{path} cannot be read as {kind}: choose another checkpoint.") from error
