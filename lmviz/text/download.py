"""Downloads a corpus of the catalogue: only when asked, verified by its checksum, whole or not at all."""

from __future__ import annotations

import hashlib
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import IO

from lmviz.base.errors import LmvizError
from lmviz.base.files import replacing
from lmviz.base.reporting import Report, unheard
from lmviz.text.catalogue import Entry
from lmviz.text.resources import DATA_VARIABLE

_STEP = 1 << 16  # bytes read at a time; between two one can cancel
_PATIENCE = 30.0  # seconds without an answer
_MOST = 64 << 20  # bytes that are taken where it is not known how many there are


def download(
    entry: Entry,
    progress: Report = unheard,
    cancelled: Callable[[], bool] | None = None,
) -> Path | None:
    """Download a corpus to `entry.path` and return it; None when it was cancelled.

    `progress` hears of the share that has arrived. Nothing is left behind unless the whole file came
    and its SHA-256 is the entry's; LmvizError otherwise.
    """
    if not entry.address:
        raise LmvizError(f"{entry.title} comes with lmviz: there is nothing to download.")
    _check_writable(entry.path.parent)
    try:
        with replacing(entry.path) as beside:
            with beside.open("xb") as file:
                digest = _fetch(entry, file, progress, cancelled or _never)
            if digest != entry.sha256:
                raise LmvizError(
                    f"What {entry.address} sent is not {entry.title}: its checksum differs; try again later."
                )
    except _Cancelled:
        return None
    except (urllib.error.URLError, HTTPException, OSError) as error:
        reason = getattr(error, "reason", None) or error
        said = getattr(reason, "strerror", None) or reason  # and no number of an error
        raise LmvizError(f"{entry.title} could not be downloaded ({said}): check the connection.") from error
    return entry.path


class _Cancelled(Exception):
    """The person does not want the file any more."""


def _check_writable(folder: Path) -> None:
    """Make a folder where there is none; LmvizError where no file can be made in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise LmvizError(
            f"{folder} cannot be written to ({error.strerror}): name another folder in {DATA_VARIABLE}."
        ) from error


def _fetch(entry: Entry, file: IO[bytes], progress: Report, cancelled: Callable[[], bool]) -> str:
    """Write what the address sends to the file; its SHA-256. _Cancelled when it is not wanted any more."""
    digest = hashlib.sha256()
    arrived = 0
    with urllib.request.urlopen(entry.address, timeout=_PATIENCE) as answer:
        expected = answer.length or entry.sent or _MOST
        while block := answer.read(_STEP):
            if cancelled():
                raise _Cancelled
            arrived += len(block)
            if arrived > (entry.sent or _MOST):
                break  # far too much; the checksum will say so
            file.write(block)
            digest.update(block)
            progress(min(1.0, arrived / expected))
    return digest.hexdigest()


def _never() -> bool:
    return False
