"""Downloads the steps of a training that lie on the Hugging Face hub as revisions, into one folder.

Programs that publish a training give each step a branch or a tag that is called by it ("step1000",
"step1000-tokens4B"). The folder holds a folder for each step, whose files are links to what lies in the
cache: what several steps have in common is there once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lmviz.base.arguments import whole_number
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import Report, unheard
from lmviz.interchange.hub import (
    Revision,
    asking_hub,
    check_name,
    fetch_file,
    find_revision,
    home_of,
    hub_library,
    known_blob,
    link_blob,
)
from lmviz.text.checkpoint_names import step_in_name

SERIES = "steps"
"""The folder of the steps, beside the snapshots and the blobs of the hub's own library."""

MOST_SAID = 12
"""Steps that a sentence lists."""


def read_steps(text: str) -> list[int] | None:
    """The steps that a person lists, "0,1,2,4", or None for "all"; LmvizError for anything else."""
    if text.strip().lower() == "all":
        return None
    parts = [part for part in re.split(r"[\s,;]+", text) if part]
    if not parts or not all(re.fullmatch(r"[0-9]{1,12}", part) for part in parts):
        raise LmvizError(f"{text[:60]!r} lists no steps: write numbers such as 0,1,2,4, or all.")
    return [int(part) for part in parts]


def download_steps(
    name: str,
    steps: Iterable[int] | None,
    progress: Report = unheard,
    *,
    cache: Path | None = None,
    address: str | None = None,
) -> Path:
    """Download these steps of a model's training, None for all of them; the folder that holds them.

    They arrive one after the other. `progress` hears of the share that is there, and may raise to cancel; the
    next call goes on from there. `cache` and `address` are as of `hub.download_model`. LmvizError where the
    hub has no such step, and as there.
    """
    check_name(name)
    wanted = None if steps is None else sorted({whole_number("steps", step) for step in steps})
    if wanted == []:
        raise LmvizError("There are no steps to download: name some, such as 0,1,2,4.")
    hub = hub_library()
    with asking_hub(hub, name):
        names = _chosen(name, _named_steps(hub, name, address), wanted)
        home = home_of(hub, name, cache)
        folder = home / SERIES / name.rpartition("/")[2]
        revisions = {step: find_revision(hub, name, address, ref) for step, ref in names.items()}
        arriving = _Arriving(revisions.values(), home, progress)
        for step, revision in revisions.items():
            place = folder / f"step{step}"
            # the weights last: a folder without them is a step that has only been begun
            for file, item in revision.files.items():
                if not os.path.exists(place / file):
                    blob = fetch_file(hub, revision, file, home, arriving.of_file)
                    link_blob(blob, place / file)
                arriving.has(item)
    return folder


def _named_steps(hub: Any, name: str, address: str | None) -> dict[int, str]:
    """The branches and tags of a model that are called by a step; of several the one that is shortest."""
    refs = hub.HfApi(endpoint=address).list_repo_refs(name)
    found: dict[int, str] = {}
    for ref in sorted(
        (each.name for each in (*refs.branches, *refs.tags)), key=lambda each: (len(each), each)
    ):
        step = step_in_name(ref)
        if step is not None:
            found.setdefault(step, ref)
    return dict(sorted(found.items()))


def _chosen(name: str, there: Mapping[int, str], wanted: list[int] | None) -> dict[int, str]:
    if not there:
        raise LmvizError(f"The hub has no steps of {name}, only the model: download it without the steps.")
    missing = [step for step in wanted or () if step not in there]
    if missing:
        some = list(there) if len(there) <= MOST_SAID else [*list(there)[: MOST_SAID - 1]]
        more = "" if len(some) == len(there) else f" … {max(there)}"
        raise LmvizError(
            f"The hub has no step {missing[0]} of {name}: it has {', '.join(map(str, some))}{more}."
        )
    return {step: ref for step, ref in there.items() if wanted is None or step in wanted}


class _Arriving:
    """What share of the bytes has arrived that were missing when it began; each content counts once."""

    def __init__(self, revisions: Iterable[Revision], home: Path, report: Report) -> None:
        self._report, self._home = report, home
        sizes = {self._key(item): item.size or 0 for each in revisions for item in each.files.values()}
        self._sizes = {key: size for key, size in sizes.items() if not os.path.exists(key)}
        self._whole = sum(self._sizes.values()) or 1
        self._arrived = 0

    def _key(self, item: Any) -> Path | str:
        return known_blob(item, self._home) or item.rfilename

    def of_file(self, part: float) -> None:
        """So many bytes of the file are there that is arriving."""
        self._report(min(1.0, (self._arrived + part) / self._whole))

    def has(self, item: Any) -> None:
        """A file is there as a whole."""
        self._arrived += self._sizes.pop(self._key(item), 0)
        self._report(min(1.0, self._arrived / self._whole) if self._sizes else 1.0)
