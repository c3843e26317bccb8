"""Fetching a corpus of the catalogue: only when asked, checked by its checksum, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import IO

from lmviz.errors import LmvizError
from lmviz.text.catalogue import Entry
from lmviz.text.files import name_beside
from lmviz.text.resources import DATA_VARIABLE

_STEP = 1 << 16  # bytes read at a time; between two one can cancel
_PATIENCE = 30.0  # seconds without an answer
_BYTES_PER_CHARACTER = 4


def download(
    entry: Entry,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Path | None:
    """Download a corpus to `entry.path` and return it; None when it was cancelled.

    `progress` hears of the share that has arrived. Nothing is left behind unless the whole file came
    and its SHA-256 is the entry's; LmvizError otherwise.
    """
    if not entry.address:
        raise LmvizError(f"{entry.title} comes with lmviz: there is nothing to download.")
    folder = entry.path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        beside = name_beside(entry.path)
        file = beside.open("xb")
    except OSError as error:
        raise LmvizError(
            f"{folder} cannot be written to ({error.strerror}): name another folder in {DATA_VARIABLE}."
        ) from error
    try:
        with file:
            digest = _fetch(entry, file, progress or _ignore, cancelled or _never)
        if digest is None:
            return None
        if digest != entry.sha256:
            raise LmvizError(
                f"What {entry.address} sent is not {entry.title}: its checksum differs; try again later."
            )
        beside.replace(entry.path)
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise LmvizError(
            f"{entry.title} could not be downloaded ({reason}): check the connection."
        ) from error
    finally:
        beside.unlink(missing_ok=True)
    return entry.path


def _fetch(
    entry: Entry, file: IO[bytes], progress: Callable[[float], None], cancelled: Callable[[], bool]
) -> str | None:
    """Write what the address sends to the file; its SHA-256, or None when cancelled."""
    digest = hashlib.sha256()
    arrived = 0
    with urllib.request.urlopen(entry.address, timeout=_PATIENCE) as answer:
        expected = int(answer.headers.get("Content-Length") or entry.characters)
        while block := answer.read(_STEP):
            if cancelled():
                return None
            arrived += len(block)
            if arrived > entry.characters * _BYTES_PER_CHARACTER + _STEP:
                break  # far too much; the checksum will say so
            file.write(block)
            digest.update(block)
            progress(min(1.0, arrived / max(1, expected)))
    file.flush()
    os.fsync(file.fileno())
    return digest.hexdigest()


def _ignore(share: float) -> None:
    """Nobody listens."""


def _never() -> bool:
    return False
