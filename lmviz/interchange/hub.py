"""Downloads a model of the Hugging Face hub, when somebody asks for it, into the hub's own cache.

Files belong to one revision, and lie where the hub's own library looks for them. That library says what there
is; it no longer goes on with a download that was given up, so the bytes are fetched here. The checksums that
the hub states for weights are compared with what arrived. Needs the extra `[hub]`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.interchange.stored_tensors import WEIGHT_FILES
from lmviz.interchange.tokenizer_files import DESCRIPTION, SMALL_FILES

NAME = re.compile(r"\w[\w.-]{0,95}(/\w[\w.-]{0,95})?", re.ASCII)
"""A model on the hub: its own name, usually after that of whoever put it there."""

STEP = 1 << 18  # bytes read at a time; between two one can cancel
PATIENCE = 30.0  # seconds without an answer
PARTIAL = 206  # the answer to a request for a part of a file
UNFINISHED = ".lmviz.part"


def download_model(
    name: str, progress: Report = unheard, *, cache: Path | None = None, address: str | None = None
) -> Path:
    """Download what lmviz opens of a model such as "openai-community/gpt2"; the folder that holds it.

    `progress` hears of the share that has arrived, and may raise to cancel; the next call goes on from there.
    `cache` is the hub's own by default, `address` that of the hub. LmvizError where there is no such model,
    where it holds nothing that lmviz opens, or where it does not arrive.
    """
    check_name(name)
    hub = hub_library()
    with asking_hub(hub, name):
        revision = find_revision(hub, name, address)
        home = home_of(hub, name, cache)
        folder = home / "snapshots" / revision.sha
        whole = sum(item.size or 0 for item in revision.files.values()) or 1
        arrived = 0
        for file, item in revision.files.items():
            if not os.path.exists(folder / file):
                blob = fetch_file(hub, revision, file, home, _share(progress, arrived, whole))
                link_blob(blob, folder / file)
            arrived += item.size or 0
            progress(min(1.0, arrived / whole))
    return folder


@dataclass(frozen=True)
class Revision:
    """A revision of a model: its `sha`, and what the hub says of each file that lmviz opens, by name."""

    name: str
    sha: str
    files: dict[str, Any]
    address: str | None


def check_name(name: str) -> None:
    """Raise LmvizError where no model on the hub can be called so."""
    if not NAME.fullmatch(name):
        raise LmvizError(
            f"{name[:100]!r} is not the name of a model on the hub, such as openai-community/gpt2."
        )


def home_of(hub: Any, name: str, cache: Path | None) -> Path:
    """Where the hub's library keeps what belongs to a model."""
    return Path(cache or hub.constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"


def find_revision(hub: Any, name: str, address: str | None, revision: str | None = None) -> Revision:
    """What the hub says of a revision, by default of the newest one."""
    found = hub.HfApi(endpoint=address).model_info(name, revision=revision, files_metadata=True)
    files = wanted_files(name, {item.rfilename: item for item in found.siblings or ()})
    return Revision(name, plain_name(found.sha), files, address)


def fetch_file(hub: Any, revision: Revision, file: str, home: Path, report: Report) -> Path:
    """The blob of a file of a revision, which is downloaded where it is not there yet."""
    item = revision.files[file]
    if (blob := known_blob(item, home)) is not None and os.path.exists(blob):
        return blob
    address = hub.hf_hub_url(revision.name, file, revision=revision.sha, endpoint=revision.address)
    known = hub.get_hf_file_metadata(address)
    blob = home / "blobs" / plain_name(known.etag)
    if not os.path.exists(blob):
        _fetch(_asked_for(hub, known.location, address), blob, known.size, report)
        _check(revision.name, blob, file, item.lfs)
    return blob


def known_blob(item: Any, home: Path) -> Path | None:
    """Where a file's content lies or will lie, as far as the description of its revision says it."""
    named = getattr(item.lfs, "sha256", None) or getattr(item, "blob_id", None)
    return None if named is None else home / "blobs" / plain_name(named)


def plain_name(name: str | None) -> str:
    """A name that the hub gives to a file or a revision, as long as it can lead nowhere else."""
    if name is None or not re.fullmatch(r"\w{1,200}", name, re.ASCII):
        raise OSError("the hub's answer makes no sense")
    return name


def _share(report: Report, before: int, whole: int) -> Report:
    """What hears of bytes, and reports the share of everything that has arrived with them."""
    return lambda part: report(min(1.0, (before + part) / whole))


def _asked_for(hub: Any, location: str, address: str) -> Request:
    """The request for a file that lies at `location`; it says who asks if that is where `address` is.

    A token belongs to the hub: no other host is told, not even one to which the hub's answer leads.
    """
    request = Request(location)
    token = hub.utils.build_hf_headers().get("authorization")
    if token is not None and urlsplit(location)[:2] == urlsplit(address)[:2]:
        request.add_unredirected_header("Authorization", token)
    return request


def _fetch(request: Request, blob: Path, size: int | None, report: Report) -> None:
    """Write what answers a request into a file, from where an earlier download was given up; or OSError.

    Where nobody states a size it begins anew: nothing would tell what is there from the whole.
    """
    part = blob.with_name(f"{blob.name}{UNFINISHED}")
    part.parent.mkdir(parents=True, exist_ok=True)
    kept = part.stat().st_size if os.path.exists(part) else 0
    begun = kept if size is not None and kept <= size else 0
    if size is None or begun < size:
        if begun:
            request.add_header("Range", f"bytes={begun}-")
        with urlopen(request, timeout=PATIENCE) as answer:
            begun = begun if answer.status == PARTIAL else 0
            if size is None and answer.length is not None:
                size = answer.length
            with part.open("ab" if begun else "wb") as file:
                while (size is None or begun <= size) and (block := answer.read(STEP)):
                    file.write(block)
                    begun += len(block)
                    report(begun)
    if size is not None and begun > size:
        part.unlink()  # no later try could go on from it
    if size is not None and begun != size:
        raise OSError(f"{begun:,} of {size:,} bytes arrived")
    part.replace(blob)


def link_blob(blob: Path, path: Path) -> None:
    """Let a revision's file be what lies in the blobs, as the hub's own library does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.symlink_to(os.path.relpath(blob, path.parent))
    except FileExistsError:
        return
    except OSError:  # Windows allows links to few
        shutil.copyfile(blob, path)


def wanted_files(name: str, there: dict[str, Any]) -> dict[str, Any]:
    """What lmviz opens, small files first; weights as safetensors where there are such."""
    if DESCRIPTION not in there:
        raise LmvizError(f"The hub's {name} has no {DESCRIPTION}, so it is not a model of transformers.")
    chosen = {file: there[file] for file in SMALL_FILES if file in there}
    for weights in WEIGHT_FILES:
        stem, _, ending = weights.rpartition(".")
        index = f"{weights}.index.json"
        if weights in there:
            return chosen | {weights: there[weights]}
        if index in there:
            part = re.compile(rf"{re.escape(stem)}-\d+-of-\d+\.{ending}")
            parts = {file: there[file] for file in sorted(there) if part.fullmatch(file)}
            return chosen | {index: there[index], **parts}
    raise LmvizError(
        f"The hub's {name} has weights in a form that lmviz does not open: choose another model."
    )


def _check(name: str, blob: Path, file: str, stated: Any) -> None:
    """Raise LmvizError, and remove what arrived, where its checksum is another than the hub states."""
    expected = getattr(stated, "sha256", None)
    if expected is None:
        return
    with blob.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != expected:
        blob.unlink()
        raise LmvizError(f"What arrived of {name} is damaged ({file}): download it again.")


def hub_library() -> Any:
    try:
        for part in ("constants", "errors", "utils"):  # which it does not import by itself
            import_module(f"huggingface_hub.{part}")
        return import_module("huggingface_hub")
    except ImportError:
        raise LmvizError(
            "Downloading models needs huggingface_hub: install it with `pip install huggingface_hub`."
        ) from None


@contextmanager
def asking_hub(hub: Any, name: str) -> Iterator[None]:
    """What the library raises about the hub, or about the connection, becomes one sentence."""
    errors = hub.errors
    try:
        yield
    except errors.GatedRepoError:
        raise LmvizError(_closed(name)) from None
    except errors.RepositoryNotFoundError:
        raise LmvizError(
            f"The hub has no model {name!r} that is open to you: check its name, or, if it is private, log "
            "in with `hf auth login`."
        ) from None
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, HTTPException, OSError) as error:
        if _status(error) in (401, 403):
            raise LmvizError(_closed(name)) from None
        reason = str(error).split("\n")[0][:200]
        raise LmvizError(f"{name} could not be downloaded ({reason}): check the connection.") from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in (
            "httpx",
            "httpx2",
            "httpcore",
            "httpcore2",
            "requests",
        ):
            raise
        raise LmvizError(
            f"{name} could not be downloaded ({type(error).__name__}): check the connection."
        ) from None


def _closed(name: str) -> str:
    return (
        f"The hub does not give {name} to you, because it is gated or private: accept its terms on its page, "
        "and log in with `hf auth login`."
    )


def _status(error: Exception) -> int | None:
    """What the hub answered, whichever library says so."""
    return getattr(getattr(error, "response", None), "status_code", getattr(error, "code", None))
