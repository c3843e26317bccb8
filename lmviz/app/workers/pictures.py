"""Pictures that lie beside a lesson: checked, and decoded in a thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import unquote

from PySide6.QtCore import QBuffer, QByteArray
from PySide6.QtGui import QImage, QImageReader

from lmviz.app.workers.threads import BackgroundThread, lower_priority
from lmviz.base.errors import LmvizError
from lmviz.base.places import elsewhere
from lmviz.text.ordinary_files import read_file

LARGEST = 8_000_000  # bytes
MOST_PIXELS = 16_000_000
MOST_SCANS = 100
"""Passes over all of a progressive JPEG; cameras and programs write about ten."""

MOST = 20
"""Pictures of one text."""

KINDS = {"png": b"\x89PNG\r\n\x1a\n", "jpeg": b"\xff\xd8\xff"}
SCAN = b"\xff\xda"

Found = dict[str, QImage | str]
"""What a text calls its pictures: each as it was decoded, or the sentence why it is not shown."""


def read_pictures(names: Sequence[str], folder: Path | None, send: Callable[[Found], None]) -> None:
    """Read pictures beside a lesson in a thread, which sends what has become of them."""

    def read() -> None:
        lower_priority()
        send({name: _read(name, folder) if place < MOST else TOO_MANY for place, name in enumerate(names)})

    BackgroundThread("pictures", read).start()


TOO_MANY = f"No more than {MOST} pictures are shown in one place."


def _read(name: str, folder: Path | None) -> QImage | str:
    try:
        return read_picture(name, folder)
    except LmvizError as sentence:
        return str(sentence)


def read_picture(name: str, folder: Path | None) -> QImage:
    """The PNG or JPEG of this name in the folder, or a folder in it; LmvizError for anything else.

    What is elsewhere is not touched, and of what is no such picture nothing is decoded.
    """
    written = f"The picture “{name}” is not shown"
    inside = unquote(name)
    if (
        folder is None
        or not set(inside).isdisjoint("\\:\0")
        or inside.startswith("/")
        or elsewhere(folder / inside, (folder,)) is not None
    ):
        raise LmvizError(f"{written}: it is not in the folder of the lesson.")
    try:
        content = read_file(folder / inside, LARGEST)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it cannot be read"
        raise LmvizError(f"{written}: {why[0].lower()}{why[1:]}.") from None
    kind = next((kind for kind, beginning in KINDS.items() if content.startswith(beginning)), None)
    if kind is None or (kind == "jpeg" and content.count(SCAN) > MOST_SCANS):
        raise LmvizError(f"{written}: it is neither a PNG nor an ordinary JPEG.")
    return _decoded(content, kind, written)


def _decoded(content: bytes, kind: str, written: str) -> QImage:
    buffer = QBuffer()
    buffer.setData(QByteArray(content))
    buffer.open(QBuffer.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(kind.encode()))
    reader.setAutoDetectImageFormat(False)
    reader.setAutoTransform(True)
    size = reader.size()
    if size.isValid() and size.width() * size.height() > MOST_PIXELS:
        raise LmvizError(f"{written}: it has more than {MOST_PIXELS // 1_000_000} million pixels.")
    picture = reader.read() if size.isValid() else QImage()
    if picture.isNull():
        raise LmvizError(f"{written}: it is damaged.")
    return picture
