"""Takes a text out of what packs it: gzip, bzip2, xz, Zstandard, a zip with one text, or a table in Parquet.

What is packed may be many times as long, so that no more of it is unpacked than fits into memory.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import GIGABYTE, machine_memory

IN_MEMORY = 3
"""Bytes that a byte of a file takes, about, once it is divided and being read into tokens."""

PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zst", ".zip")
TABLE_ENDING = ".parquet"

_GZIP, _BZIP2, _XZ, _ZSTANDARD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_ZIP, _PARQUET = b"PK\x03\x04", b"PAR1"
_MARKS = {".gz": _GZIP, ".bz2": _BZIP2, ".xz": _XZ, ".zst": _ZSTANDARD, ".zip": _ZIP, TABLE_ENDING: _PARQUET}
_TAR_MARK, _TAR_PLACE = b"ustar", 257
_MOST = 4 * GIGABYTE  # where the system does not say how much memory there is
_STEP = 1 << 22
_NO_TEXT = re.compile(r"(^|/)(\.|__MACOSX/|_?(readme|licen[cs]e|copying|about)\b)", re.IGNORECASE)
_SHOWN = 5


def is_packed(name: str, beginning: bytes) -> bool:
    """Whether a file is packed in a way that can be read, and its name says so."""
    return any(
        name.lower().endswith(ending) and beginning.startswith(mark) for ending, mark in _MARKS.items()
    )


def name_within(path: Path) -> str:
    """The name of the text that a file packs, and that of the file itself where it packs none."""
    if path.suffix.lower() == ".zip":
        try:
            with zipfile.ZipFile(path) as archive:
                return Path(_only_text(path, archive)).name
        except (OSError, zipfile.BadZipFile, LmvizError):
            return path.name
    return path.stem if path.suffix.lower() in PACKED_ENDINGS else path.name


def unpacked(path: Path, raw: bytes) -> bytes:
    """The text that a file packs, or the file itself where it packs none; a table as lines of JSON.

    LmvizError where it is damaged, too large, or needs a library that is not there.
    """
    if raw.startswith(_PARQUET):
        return b"".join(_bounded(path, _lines_of_table(path, raw)))
    if raw.startswith(_ZIP) and path.suffix.lower() == ".zip":
        return _of_zip(path, raw)
    opener = next((opener for mark, opener in _OPENERS.items() if raw.startswith(mark)), None)
    if opener is None:
        return raw
    try:
        with opener(path, raw) as file:
            data = b"".join(_bounded(path, iter(lambda: file.read(_STEP), b"")))
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        raise _damaged(path, error) from None
    if data[_TAR_PLACE : _TAR_PLACE + len(_TAR_MARK)] == _TAR_MARK:
        raise LmvizError(f"{path} is an archive of files: unpack it, and choose a text in it.")
    return data


def _damaged(path: Path, error: object) -> LmvizError:
    return LmvizError(f"{path} is damaged, and cannot be unpacked ({error}): fetch it again.")


def _bounded(path: Path, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces, as long as all of them fit into memory."""
    memory = machine_memory()
    limit = _MOST if memory is None else memory // IN_MEMORY
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise LmvizError(
                f"{path} holds more than {limit / GIGABYTE:,.1f} GB once it is unpacked, which this machine "
                "has no memory for: choose a part of it."
            )
        yield piece


def _zstandard(path: Path, raw: bytes) -> _Checked:
    library = _library("zstandard", path, "is packed with Zstandard")
    reader: IO[bytes] = library.ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True)
    return _Checked(reader, library.ZstdError)


class _Checked(io.RawIOBase):
    """A stream whose own kind of error becomes a ValueError."""

    def __init__(self, stream: IO[bytes], error: type[Exception]) -> None:
        self._stream, self._error = stream, error

    def read(self, size: int = -1) -> bytes:
        try:
            return self._stream.read(size)
        except self._error as error:
            raise ValueError(str(error)) from None


_OPENERS: dict[bytes, Callable[[Path, bytes], Any]] = {
    _GZIP: lambda path, raw: gzip.GzipFile(fileobj=io.BytesIO(raw)),
    _BZIP2: lambda path, raw: bz2.BZ2File(io.BytesIO(raw)),
    _XZ: lambda path, raw: lzma.LZMAFile(io.BytesIO(raw)),  # noqa: SIM115, the caller closes it
    _ZSTANDARD: _zstandard,
}


def _library(name: str, path: Path, why: str) -> Any:
    """A library that lmviz does without where nobody needs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise LmvizError(
            f"{path} {why}, which needs the package {name}: install it with `pip install {name}`, or "
            'with all that tables need, `pip install "lmviz[tables]"`.'
        ) from None


def _of_zip(path: Path, raw: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive, archive.open(_only_text(path, archive)) as file:
            return b"".join(_bounded(path, iter(lambda: file.read(_STEP), b"")))
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise _damaged(path, error) from None


def _only_text(path: Path, archive: zipfile.ZipFile) -> str:
    """The name of the one text in an archive, beside what is about it; LmvizError where there are others."""
    names = [entry.filename for entry in archive.infolist() if not entry.is_dir() and entry.file_size]
    texts = [name for name in names if not _NO_TEXT.search(name)] or names
    if len(texts) == 1:
        return texts[0]
    shown = ", ".join(texts[:_SHOWN]) + (", …" if len(texts) > _SHOWN else "")
    held = f"holds {len(texts):,} files ({shown})" if texts else "holds no file"
    raise LmvizError(
        f"{path} {held}, and one text is read from an archive: unpack it, and choose what to read."
    )


def _lines_of_table(path: Path, raw: bytes) -> Iterator[bytes]:
    """The rows of a table in Parquet as lines of JSON; of columns of bytes, such as pictures, only that."""
    library = _library("pyarrow", path, "is a table in Parquet")
    parquet = importlib.import_module("pyarrow.parquet")
    try:
        file = parquet.ParquetFile(library.BufferReader(raw))
        for batch in file.iter_batches(batch_size=1024):
            rows = batch.to_pylist()
            yield "".join(
                json.dumps(row, ensure_ascii=False, default=_as_text) + "\n" for row in rows
            ).encode("utf-8", "replace")
    except (library.ArrowException, OSError, ValueError) as error:
        raise _damaged(path, error) from None


def _as_text(value: object) -> str:
    return f"({len(value):,} bytes)" if isinstance(value, bytes) else str(value)
