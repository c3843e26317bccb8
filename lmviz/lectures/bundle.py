"""A bundle for students: a lecture or a lesson in one file, with the texts, runs and networks that it names.

It is a zip archive with a `bundle.json` that says which of its files is opened. It may come from anybody:
`unpack` writes ordinary files of bounded size into a new folder of its own, or says one sentence.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from lmviz.base.errors import LmvizError
from lmviz.base.files import cut_name, replacing, unfinished_name
from lmviz.base.loading import loads
from lmviz.base.places import elsewhere
from lmviz.desktop.association import BUNDLE_ENDING
from lmviz.desktop.scene import Scene, SceneText, found_from
from lmviz.lectures.lecture import ShownScene, ShownStep
from lmviz.lectures.reading import is_lecture, open_lecture, without_notes
from lmviz.lessons.lesson import Lesson
from lmviz.lessons.openings import beside
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.results import KEY_FILE, LONGEST_KEY, key_beside
from lmviz.text.ordinary_files import check_ordinary
from lmviz.text.resources import data_folder

FORMAT, VERSION = "lmviz bundle", 1
MANIFEST = "bundle.json"
LARGEST = 1_000_000_000
"""Bytes of all files of a bundle together, as they are unpacked, and of the bundle itself."""
MOST_FILES = 5000
LARGEST_MANIFEST = 10_000  # bytes
LONGEST_PATH, DEEPEST = 200, 12
CHUNK = 1 << 20
LEFT_OUT = ("resume",)  # what a run needs only to be trained on
STORED_ENDINGS = (".safetensors", ".gguf", ".gz", ".png", ".jpg", ".jpeg")
"""Files that do not get smaller."""

_PART = re.compile(r"[^\x00-\x1f\x7f/\\:*?\"<>|]+")  # what every system takes as a name
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)")
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    OverflowError,
)
"""What zipfile raises of bytes that are no archive, or one that it cannot read."""


class _Refused(Exception):
    """Why a bundle is not unpacked, in words."""


def is_bundle(path: Path) -> bool:
    """Whether a file is a bundle by its name."""
    return path.suffix.lower() == BUNDLE_ENDING


def pack(path: Path, out: Path, perspectives: Collection[str], *, notes: bool = True) -> Path:
    """Write the lecture or lesson in the file `path`, and all that it names beside it, as a bundle.

    Without `notes` the lecture in it has none. A bundle has a key of its own, with which results are signed.
    LmvizError where something that it names stands elsewhere, is too large, or cannot be read or written.
    """
    folder = path.parent
    files = {path, *_named_by(path, perspectives)}
    outside = next((file for file in sorted(files) if elsewhere(file, (folder,)) is not None), None)
    if outside is not None:
        raise LmvizError(f"{path.name} names {outside}, outside its folder: put it beside.")
    size = sum(file.stat().st_size for file in files)
    if size > LARGEST or len(files) >= MOST_FILES:
        raise LmvizError(
            f"{path.name} names {len(files):,} files of {size / 1e6:,.0f} MB: a bundle holds at most "
            f"{MOST_FILES:,} of {LARGEST / 1e6:,.0f} MB."
        )
    manifest = {"format": FORMAT, "format_version": VERSION, "open": path.name}
    bare = None if notes or not is_lecture(path) else without_notes(open_lecture(path, perspectives))
    try:
        packed = zipfile.ZIP_DEFLATED
        with replacing(out) as beside_it, zipfile.ZipFile(beside_it, "w", packed) as archive:
            archive.writestr(MANIFEST, json.dumps(manifest, ensure_ascii=False))
            archive.writestr(KEY_FILE, secrets.token_hex(16))
            for file in sorted(files):
                check_ordinary(file)
                if file == path and bare is not None:
                    archive.writestr(path.name, bare)
                    continue
                kind = zipfile.ZIP_STORED if file.suffix.lower() in STORED_ENDINGS else packed
                archive.write(file, file.relative_to(folder).as_posix(), kind)
    except (OSError, ValueError) as error:  # ValueError for a file from before 1980
        reason = getattr(error, "strerror", None) or error
        raise LmvizError(f"{out.name} cannot be written ({reason}): choose another place.") from None
    return out


def bundle_key(path: Path) -> str:
    """The key with which results of a bundle are signed, "" where it has none; LmvizError for no bundle."""
    check_ordinary(path, LARGEST)
    try:
        with zipfile.ZipFile(path) as archive:
            if KEY_FILE not in archive.namelist():
                return ""
            with archive.open(KEY_FILE) as file:
                return file.read(LONGEST_KEY).decode("utf-8").strip()
    except (OSError, *_BROKEN):
        raise LmvizError(f"{path.name} is not a bundle, or was cut short: get it again.") from None


def known_keys() -> Iterator[str]:
    """The keys of the bundles that were unpacked on this computer."""
    folder = data_folder() / "bundles"
    for place in sorted(folder.glob("*")) if os.path.isdir(folder) else ():
        if key := key_beside(place):
            yield key


@loads("bundle", doing="unpacked")
def unpack(path: Path, folder: Path | None = None) -> Path:
    """Unpack a bundle into a new folder in `folder`, by default that of lmviz's data; the file to be opened.

    The same bundle is unpacked once. LmvizError for anything that is no bundle, or not a safe one.
    """
    folder = data_folder() / "bundles" if folder is None else folder
    check_ordinary(path, LARGEST)
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
            place = folder / f"{_plain_name(path.stem)}-{digest}"
            with zipfile.ZipFile(file) as archive:
                opened = _opened(archive, _checked(archive))
                if not os.path.isfile(place / opened):
                    _write(archive, place)
    except _Refused as reason:
        raise LmvizError(f"{path.name} is not unpacked: {reason}.") from None
    except _BROKEN:
        raise LmvizError(f"{path.name} is not a bundle, or was cut short: get it again.") from None
    return place / opened


def _write(archive: zipfile.ZipFile, place: Path) -> None:
    """Write all files, and only then give the folder its name."""
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = unfinished_name(place)
    try:
        left = LARGEST
        for entry in archive.infolist():
            if entry.filename == MANIFEST:
                continue
            target = unfinished.joinpath(*PurePosixPath(entry.filename).parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as content, open(target, "xb") as file:
                left -= _copy(content, file, min(left, entry.file_size))
        shutil.rmtree(place, ignore_errors=True)  # what an earlier attempt has left
        unfinished.rename(place)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _copy(content: IO[bytes], file: IO[bytes], most: int) -> int:
    """Copy at most so many bytes; how many they were."""
    copied = 0
    while chunk := content.read(CHUNK):
        copied += len(chunk)
        if copied > most:
            raise _Refused("a file in it is larger than it says")
        file.write(chunk)
    return copied


def _checked(archive: zipfile.ZipFile) -> list[str]:
    """The names of its files; _Refused where one could do harm."""
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise _Refused(f"it holds more than {MOST_FILES:,} files")
    if sum(entry.file_size for entry in entries) > LARGEST:
        raise _Refused(f"it holds more than {LARGEST / 1e6:,.0f} MB")
    names = [entry.filename for entry in entries]
    for entry in entries:
        _check_name(entry.orig_filename)
        if entry.filename != entry.orig_filename:  # from Python 3.12 on an entry may bring a second name
            raise _Refused("a name in it is not safe")
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or entry.is_dir():
            raise _Refused("it holds something other than ordinary files")
        if entry.flag_bits & 1:
            raise _Refused("it is encrypted")
    folded = [name.casefold() for name in names]
    if len(set(folded)) < len(folded):
        raise _Refused("it holds two files of one name")
    folders = {str(above) for name in folded for above in PurePosixPath(name).parents}
    if folders.intersection(folded):
        raise _Refused("one of its names is a file and a folder")
    return names


def _check_name(name: str) -> None:
    """_Refused where a name leads out of the folder, or is none on some system."""
    parts = name.split("/")
    is_sound = all(
        _PART.fullmatch(part)
        and part not in (".", "..")
        and part == part.strip(" ").rstrip(".")
        and not _RESERVED.fullmatch(part)
        for part in parts
    )
    if not is_sound or len(name) > LONGEST_PATH or len(parts) > DEEPEST:
        raise _Refused("a name in it is not safe")


def _opened(archive: zipfile.ZipFile, names: Collection[str]) -> str:
    """The name of the lecture or lesson in it."""
    if MANIFEST not in names:
        raise _Refused(f"it has no {MANIFEST}")
    with archive.open(MANIFEST) as file:
        content = file.read(LARGEST_MANIFEST + 1)
    try:
        values = json.loads(content) if len(content) <= LARGEST_MANIFEST else None
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise _Refused(f"its {MANIFEST} is not that of a bundle")
    if values.get("format_version") != VERSION:
        raise _Refused(f"only version {VERSION} is known")
    opened = values.get("open")
    if not isinstance(opened, str) or opened not in names or opened == MANIFEST or "/" in opened:
        raise _Refused("what it would open is not in it")
    return opened


def _plain_name(stem: str) -> str:
    """The name of a bundle as that of a folder."""
    return cut_name(re.sub(r"[^\w-]+", "-", stem), 100).strip("-") or "bundle"


def _named_by(path: Path, perspectives: Collection[str]) -> Iterator[Path]:
    """The files that a lecture or a lesson names, at any depth."""
    if not is_lecture(path):
        yield from _of_lesson(open_lesson(path, perspectives))
        return
    lecture = open_lecture(path, perspectives)
    for item in lecture.items:
        for shown in item.layers:
            if shown.path is None:
                continue  # it comes with lmviz
            yield shown.path
            if isinstance(shown, ShownScene):
                yield from _of_scene(shown.scene, shown.path.parent)
            elif isinstance(shown, ShownStep):
                yield from _of_lesson(shown.lesson)


def _of_lesson(lesson: Lesson) -> Iterator[Path]:
    folder = lesson.folder
    if folder is None:
        return
    for step in lesson.steps:
        for opening in step.openings:
            place = beside(opening.words, folder)
            if place is not None:
                yield from _files_in(place)
        for name in _PICTURE.findall(step.sentences):
            picture = folder / name
            if elsewhere(picture, (folder,)) is None and os.path.isfile(picture):
                yield picture


def _of_scene(scene: Scene, folder: Path) -> Iterator[Path]:
    text = scene.text or SceneText()
    for name in filter(None, (*text.files, text.target, *(model.path for model in scene.models))):
        place = found_from(name, folder)
        if not os.path.exists(place):
            raise LmvizError(f"A scene names {name}, and there is none: put it beside the lecture.")
        yield from _files_in(place)


def _files_in(place: Path) -> Iterable[Path]:
    """A file, or all files in a folder but those that only training needs."""
    if not os.path.isdir(place):
        return [place]
    inner = (file for file in place.rglob("*") if os.path.isfile(file))
    return [file for file in inner if not set(file.relative_to(place).parts) & set(LEFT_OUT)]
