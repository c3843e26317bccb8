"""What `torch.save` wrote, read by torch: the only place that calls `torch.load`.

`weights_only=True` lets no code of a file run. It does not keep what is written there from holding the
program up, from taking all memory, or from giving numbers that stand in no file. So a `PickleMachine` goes
through it before.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from lmviz.base.errors import LmvizError
from lmviz.interchange.pickle_machine import PickleMachine

LARGEST_DESCRIPTION = 100_000_000
"""Bytes of the pickles in a file."""

PICKLES = 5
"""One after another at the beginning of a file before version 1.6 of torch: a number by which it is known,
the version, the machine, the values, and the names of what is stored behind them."""

MADE_BY_NUMBER = re.compile(r"(torch|builtins|__builtin__)\..*(bytearray|Storage|Tensor)")
"""Classes that make as many numbers as they are told to."""

MADE_OF_KEYS = re.compile(r"(collections|builtins|__builtin__)\.(OrderedDict|Counter|set)")
"""Classes that make keys of what they are given."""


def load_saved(source: Path | io.BytesIO) -> Any:
    """The value that `torch.save` wrote into a file, mapped into memory where that can be done.

    Objects of classes that are not plain, such as the options of a training, are left out. LmvizError where
    it is packed, and one of many errors where it is damaged or asks for what `torch.save` does not.
    """
    packed = zipfile.is_zipfile(source)
    (_check_archive if packed else _check_old)(source)
    left_out = torch.serialization.get_unsafe_globals_in_checkpoint(_again(source)) if packed else []
    mapped = True if packed and isinstance(source, Path) else None
    # torch takes a pair of what is meant and the name it has in the file
    with torch.serialization.safe_globals([(_LeftOut, name) for name in left_out]):
        return torch.load(_again(source), map_location="cpu", weights_only=True, mmap=mapped)


class _LeftOut:
    """Stands for an object of a class that is not plain; it keeps nothing of what it is given."""

    def __new__(cls, *_: Any, **__: Any) -> _LeftOut:
        return super().__new__(cls)

    def __setstate__(self, state: Any) -> None: ...


def _again(source: Path | io.BytesIO) -> Path | io.BytesIO:
    """The same from its beginning."""
    if isinstance(source, io.BytesIO):
        source.seek(0)
    return source


def _size(source: Path | io.BytesIO) -> int:
    return source.stat().st_size if isinstance(source, Path) else source.getbuffer().nbytes


def _check_archive(source: Path | io.BytesIO) -> None:
    """An error where an archive would unpack to more than it takes, or its pickle asks for more."""
    with zipfile.ZipFile(source) as archive:
        members = archive.infolist()
    packed = any(member.compress_type != zipfile.ZIP_STORED for member in members)
    described = max((item.file_size for item in members if item.filename.endswith(".pkl")), default=0)
    size = _size(source)
    if packed or described > LARGEST_DESCRIPTION or sum(item.file_size for item in members) > size:
        name = source if isinstance(source, Path) else "It"
        raise LmvizError(f"{name} is packed in a way that torch.save does not: choose another checkpoint.")
    # of the same reader, for another might find another member of the same name
    again = _again(source)
    reader = torch._C.PyTorchFileReader(str(again) if isinstance(again, Path) else again)
    _Checked(size).value(reader.get_record("data.pkl"))


def _check_old(source: Path | io.BytesIO) -> None:
    """The same of a file before version 1.6 of torch, whose numbers follow one another behind its pickles."""
    with open(source, "rb") if isinstance(source, Path) else io.BytesIO(source.getvalue()) as file:
        begins = io.BytesIO(file.read(LARGEST_DESCRIPTION))
    checked = _Checked(_size(source))
    *_, names = (checked.value(begins) for _ in range(PICKLES))
    if not checked.stored_names <= {*names}:  # torch would give whatever lies in memory
        raise ValueError


class _Named(NamedTuple):
    """A class or a function, by its name alone."""

    name: str


class _Made:
    """What comes of a call, whatever it is."""


class _Checked(PickleMachine):
    """Goes through what torch is to read: a ValueError for what `torch.save` does not write."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size
        self.stored_names: set[str] = set()

    def named(self, module: str, name: str) -> Any:
        return _Named(f"{module}.{name}")

    def called(self, what: Any, given: Any) -> Any:
        if not isinstance(what, _Named) or not isinstance(given, tuple | list):
            raise ValueError
        if MADE_BY_NUMBER.fullmatch(what.name) and any(isinstance(each, int) for each in given):
            raise ValueError
        if what == _Named("torch.Size"):
            [sizes] = given
            return self.tuple_of(list(sizes))
        if MADE_OF_KEYS.fullmatch(what.name):
            self._check_contents(given)
        return _Made()

    def set_state(self, made: Any, state: Any) -> None:
        """Nothing comes of it here."""

    def put_into(self, made: Any, keys: Iterable[Any], items: list[Any]) -> None:
        if not isinstance(made, _Made):
            raise ValueError

    def stored(self, reference: Any) -> Any:
        if not isinstance(reference, tuple) or reference[:1] != ("storage",):
            return _Made()
        _, _, name, _, count, *_ = reference
        if not isinstance(name, str) or type(count) is not int or count < 0:
            raise ValueError
        if count > self._size:
            raise ValueError
        self.stored_names.add(name)
        return _Made()

    def _check_contents(self, given: Iterable[Any]) -> None:
        """ValueError where single values, or the first of pairs, would be keys that take long."""
        for each in given:
            if isinstance(each, list | tuple):
                self.check_keys(each)
                self.check_keys(pair[0] for pair in each if isinstance(pair, list | tuple) and pair)
