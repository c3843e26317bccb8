"""Reads text files: UTF-8 or a named encoding, with a clear error for anything else."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from lmviz.base.errors import LmvizError
from lmviz.base.machine_memory import GIGABYTE, machine_memory
from lmviz.base.reporting import Report, unheard
from lmviz.text.checkpoint_names import holds_texts, is_checkpoint, models_below, named_steps
from lmviz.text.encodings import (
    RECOGNISED,
    SHOWN,
    Found,
    WrongBytes,
    find_encoding,
    is_damaged_utf8,
    mend_utf8,
)
from lmviz.text.ordinary_files import read_file
from lmviz.text.packing import IN_MEMORY, is_packed, unpacked

_ABOUT = re.compile(
    r"_?(readme|licen[cs]e|copying|about)\b|(dataset_infos?|dataset_dict|features|state)\.json$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(https?|ftp)://\S+", re.IGNORECASE)
_STEP = 1 << 22  # bytes decoded at a time, so that a large file is never in memory as a string
_SNIFFED = 8192
_ARCHIVE_MARK = b"PK\x03\x04"
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b"))
_SLIPS = 50  # bytes of a text of which one may be a control character
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def check_encoding(name: str) -> str:
    """The name of an encoding of text as Python spells it; LmvizError when there is none."""
    try:
        spelled = codecs.lookup(name).name
        "".encode(name)
    except (LookupError, ValueError, UnicodeError):
        raise LmvizError(f"There is no encoding {name!r}: utf-8, utf-16 and latin-1 are usual.") from None
    return "utf-8" if spelled == "utf-8-sig" else spelled


def read_text(path: str | Path, encoding: str = "utf-8") -> str:
    """The text of a file, its ends of line as "\\n" and without a byte-order mark.

    LmvizError names the byte and the place where the encoding does not hold.
    """
    return read_utf8(Path(path), encoding).decode("utf-8")


def read_utf8(
    path: Path,
    encoding: str = "utf-8",
    progress: Report = unheard,
    *,
    line_ends: bool = True,
) -> bytes:
    """The text of a file as UTF-8, at about twice its size in memory.

    Its ends of line become b"\\n", unless `line_ends` is false: then they stay. `progress` hears
    of the share that is done, and may raise to cancel. The encoding may be RECOGNISED.
    """
    return read_found(path, encoding, progress, line_ends=line_ends)[0]


def read_found(
    path: Path,
    encoding: str = RECOGNISED,
    progress: Report = unheard,
    *,
    line_ends: bool = True,
    wrong: str = SHOWN,
) -> tuple[bytes, Found]:
    """The text of a file as of `read_utf8`, and the encoding that it was found to have, or was said to."""
    raw = read_raw(path)
    found = find_encoding(raw) if encoding == RECOGNISED else Found(check_encoding(encoding))
    data, wrong_bytes = as_utf8(path, raw, found.encoding, progress, line_ends=line_ends, wrong=wrong)
    return data, replace(found, wrong=wrong_bytes)


def read_raw(path: Path) -> bytes:
    """The bytes of a file, those of a packed one unpacked; LmvizError where it cannot be read."""
    try:
        raw = read_file(path)
    except OSError as error:
        raise LmvizError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a path with a NUL in it
        raise LmvizError(f"{str(path)!r} cannot be read: {error}.") from error
    return unpacked(path, raw)


def as_utf8(
    path: Path,
    raw: bytes,
    encoding: str = "utf-8",
    progress: Report = unheard,
    *,
    line_ends: bool = True,
    wrong: str = SHOWN,
) -> tuple[bytes, WrongBytes | None]:
    """The content of a file as UTF-8, as of `read_utf8`, and which of its bytes cannot stand there.

    `path` names it where it is no text. A few wrong bytes in good UTF-8, and zeros, do not end a text:
    `wrong` says what becomes of them, a choice of WRONG_CHOICES.
    """
    encoding = check_encoding(encoding)
    found: WrongBytes | None = None
    if encoding == "utf-8":
        raw = raw.removeprefix(codecs.BOM_UTF8)
        _refuse_other_kinds(path, raw)
        data, found = _mended(path, raw, wrong, progress)
    else:
        pieces = _decoded(path, raw, encoding, progress)
        data = b"".join(piece.encode("utf-8", "replace") for piece in pieces)
    if not data or data.isspace():
        raise LmvizError(f"{path} is empty: choose a file with text in it.")
    if b"\0" in data[:_SNIFFED]:
        raise LmvizError(f"{path} does not read as text in {encoding}: name its encoding.")
    if line_ends and b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data, found


def _mended(path: Path, raw: bytes, wrong: str, progress: Report) -> tuple[bytes, WrongBytes | None]:
    """UTF-8 in which all can be read, and what was wrong with it; LmvizError where it is not UTF-8."""
    refusal: LmvizError | None = None
    try:
        for _ in _decoded(path, raw, "utf-8", progress):
            pass
    except LmvizError as error:
        refusal = error
    if refusal is None and b"\0" not in raw:
        return raw, None
    if refusal is not None and not is_damaged_utf8(raw):
        raise refusal
    return mend_utf8(raw, wrong)


def is_binary(path: Path) -> bool:
    """Whether the beginning of a file is no text in any encoding, nor one that gzip has packed; OSError."""
    with path.open("rb") as file:
        sample = file.read(_SNIFFED)
    if is_packed(path.name, sample):
        return False
    return _has_too_many_controls(sample) and find_encoding(sample).encoding == "utf-8"


def _has_too_many_controls(sample: bytes) -> bool:
    """Whether zeros and other bytes that stand in no text are more than a slip."""
    return len(sample) - len(sample.translate(None, _CONTROLS)) > len(sample) / _SLIPS


def _refuse_other_kinds(path: Path, raw: bytes) -> None:
    if raw.startswith(_UTF16_MARKS):
        raise LmvizError(f"{path} begins like UTF-16: open it with the encoding utf-16.")
    if raw.startswith(_ARCHIVE_MARK):
        what = "a trace, which lmviz.Trace.load reads in Python" if path.suffix == ".npz" else "an archive"
        way_out = "choose a text file" if path.suffix == ".npz" else "unpack it, and choose a text in it"
        raise LmvizError(f"{path} is not a text but {what}: {way_out}.")
    if b"\0" in raw[:_SNIFFED] and _has_too_many_controls(raw[:_SNIFFED]):
        raise LmvizError(f"{path} is not a text but a binary file: choose a text file.")


def _decoded(path: Path, raw: bytes, encoding: str, progress: Report) -> Iterator[str]:
    """The text piece by piece."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    for start in range(0, len(raw), _STEP):
        end = min(start + _STEP, len(raw))
        waiting = len(decoder.getstate()[0])
        try:
            yield decoder.decode(raw[start:end], final=end == len(raw))
        except UnicodeDecodeError as error:
            raise _refusal(path, raw, start - waiting + error.start, encoding) from None
        except UnicodeError as error:
            raise LmvizError(f"{path} cannot be read as {encoding}: {error}.") from None
        progress(end / len(raw))


def _refusal(path: Path, raw: bytes, place: int, encoding: str) -> LmvizError:
    line = raw.count(b"\n", 0, place) + 1
    return LmvizError(
        f"{path} cannot be read as {encoding}: byte 0x{raw[place]:02X} at place {place:,} (line {line:,}) "
        "does not belong there, so name the file's encoding, such as latin-1 or cp1252."
    )


def find_files(
    source: str | Path | Sequence[str | Path], look: Callable[[], object] = lambda: None
) -> tuple[list[Path], list[Path]]:
    """The files that a path, a folder or several of them mean, in order, and those that are only about them.

    Of a folder all files are taken, at any depth, that are neither hidden nor binary, and among others none
    that is a README or a licence. LmvizError when there is none, when one may not be read, when it is an
    address on the web, or when the folder is the checkpoint of a model. `look` is called for each folder and
    file that is met, and may raise to cancel: somebody may have dropped a whole disk.
    """
    try:
        given = [source] if isinstance(source, str | Path) else list(source)
        paths = [Path(path) for path in given]
    except TypeError:
        raise LmvizError(f"{source!r} names no text: give a path, or several.") from None
    if not paths or "" in given:  # an empty name would mean the folder one is in
        raise LmvizError("There is no file to read: name at least one.")
    found: list[Path] = []
    others: list[Path] = []
    for name, path in zip(given, paths, strict=True):
        check_no_address(str(name))
        try:
            if path.is_dir():
                files = _files_of_folder(path, look)
                texts = [file for file in files if not _ABOUT.match(file.name)] or files
                found += texts
                others += [file for file in files if file not in texts]
            elif path.exists():
                found.append(path)
            else:
                raise LmvizError(f"There is no file {path}: check its name and folder.")
        except OSError as error:
            raise LmvizError(f"{error.filename or path} cannot be read: {error.strerror}.") from error
        except ValueError as error:  # a path with a NUL in it
            raise LmvizError(f"{str(path)!r} cannot be read: {error}.") from error
    return found, others


def check_no_address(text: str) -> None:
    """LmvizError where a path, or a text of one word, is an address on the web."""
    if _ADDRESS.fullmatch(text):
        raise LmvizError(
            f"{text} is a web address, not a text: download the file that is there, and open it."
        )


def check_room(files: Sequence[Path]) -> None:
    """LmvizError where files are larger together than the memory of this machine allows, before any is read.

    A system that has promised more memory than it has kills the whole program without an exception.
    """
    memory = machine_memory()
    try:
        size = sum(path.stat().st_size for path in files)
    except OSError as error:
        raise LmvizError(f"{error.filename} cannot be read: {error.strerror}.") from error
    if memory is None or IN_MEMORY * size <= memory:
        return
    what = f"{files[0]} holds" if len(files) == 1 else f"These {len(files):,} files hold"
    way_out = "choose a part of it" if len(files) == 1 else "choose fewer of them"
    needed = IN_MEMORY * size / GIGABYTE
    raise LmvizError(
        f"{what} {size / GIGABYTE:,.1f} GB of text, which takes about {needed:,.0f} GB of memory, and this "
        f"machine has {memory / GIGABYTE:,.0f} GB: {way_out}."
    )


def _files_of_folder(folder: Path, look: Callable[[], object]) -> list[Path]:
    if is_checkpoint(folder):
        raise LmvizError(
            f"{folder} is a checkpoint of transformers, not a text: open it as a model, or choose a text."
        )
    models = [each.path for each in named_steps(folder)][-1:]
    if not models and not holds_texts(folder):
        models = list(islice(models_below(folder), 1))
    if models:
        raise LmvizError(
            f"{folder} holds checkpoints of a model, such as {models[0].relative_to(folder)}, and is not a "
            "text: open it as a model, or choose a text."
        )
    files = [path for path in _visible_files(folder, look) if path.stat().st_size and not is_binary(path)]
    if not files:
        raise LmvizError(f"The folder {folder} holds no text files: choose another.")
    return sorted(files)


def _visible_files(folder: Path, look: Callable[[], object]) -> Iterator[Path]:
    """The ordinary files at any depth; links to folders are not followed, since they may lead in circles."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        look()
        for name in names:
            path = Path(place, name)
            if not name.startswith(".") and path.is_file():
                look()
                yield path
