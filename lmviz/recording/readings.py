"""Readings: what a module answered at each kept step of its training, recorded and not recomputed.

readings.json                  the prefixes and their tokens, what is kept of them, who trained
tokenizer.json                 how text becomes its tokens
metrics.jsonl                  one line a step
readings/NNNNNN.safetensors    what was answered after so many steps
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.base.files import remove_unfinished
from lmviz.base.loading import loads
from lmviz.looks.shown import Shown
from lmviz.text.checkpoint_names import READINGS
from lmviz.text.ordinary_files import read_file
from lmviz.training.lock import holding
from lmviz.training.metrics import append_metrics, read_metrics, truncate_metrics
from lmviz.training.plain_numbers import is_step
from lmviz.training.run import SNAPSHOT_NAME
from lmviz.training.writing import write_bytes

if TYPE_CHECKING:
    import torch

    from lmviz.text.tokenizer import Tokenizer

FORMAT, FOLDER = "lmviz readings", "readings"
MOST_PREFIXES = 1000
LARGEST_DESCRIPTION = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class RecordedReading(Shown):
    """What a module answered to one prefix at one step: recorded, not recomputed.

    `ids` (position,) are its tokens, and `tokens` how they are displayed. `logits` is (position, token).
    `activations` are the outputs of named modules, mostly (position, channel), and `attention` the weights
    (head, query, key) in the order in which they were computed.
    """

    step: int
    prefix: str
    ids: np.ndarray
    tokens: tuple[str, ...]
    logits: np.ndarray
    activations: Mapping[str, np.ndarray]
    attention: tuple[np.ndarray, ...]

    @cached_property
    def log_probabilities(self) -> np.ndarray:
        """Of the token after each position, (position, token), in nats."""
        shifted = self.logits.astype(np.float64) - self.logits.max(axis=-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))

    @property
    def probabilities(self) -> np.ndarray:
        """Of the token after each position, (position, token)."""
        return np.exp(self.log_probabilities)

    @property
    def surprisal(self) -> np.ndarray:
        """Of each token but the first, in nats, (position - 1,)."""
        return -self.log_probabilities[np.arange(len(self.ids) - 1), self.ids[1:]]


class Readings(Shown):
    """The folder of readings. `prefixes` are what was read, and `recorded` says by which program it was."""

    def __init__(self, folder: Path, description: Mapping[str, Any]) -> None:
        self.folder, self._description = folder, description
        self.prefixes: tuple[str, ...] = tuple(each["text"] for each in description["prefixes"])
        self.recorded: Mapping[str, Any] = description["recorded"]

    @classmethod
    def create(
        cls, folder: Path, description: Mapping[str, Any], tokenizer: Tokenizer, *, overwrite: bool = False
    ) -> Self:
        """Begin readings in a folder that holds neither a run nor readings; LmvizError otherwise."""
        if os.path.isfile(folder / "run.json") or (os.path.isfile(folder / READINGS) and not overwrite):
            raise LmvizError(f"{folder} holds a recording already: choose another folder, or overwrite it.")
        try:
            (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LmvizError(
                f"{folder} could not be made ({error.strerror}): choose another place."
            ) from None
        readings = cls(folder, {"format": FORMAT, "format_version": 1, **description})
        with holding(folder):
            (folder / READINGS).unlink(missing_ok=True)
            readings.rewind(-1)
            write_bytes(folder / "tokenizer.json", tokenizer.content)
            readings.write_missing()
        return readings

    @classmethod
    @loads("readings")
    def open(cls, folder: str | Path) -> Self:
        """The readings in a folder; LmvizError where there are none."""
        place = Path(folder)
        path = place / READINGS
        try:
            values = json.loads(read_file(path, LARGEST_DESCRIPTION))
        except (FileNotFoundError, NotADirectoryError):
            raise LmvizError(f"{place} holds no readings: choose the folder of a recording.") from None
        except OSError as error:
            raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another folder.") from None
        except (ValueError, RecursionError):
            values = None
        if not _is_description(values):
            raise LmvizError(f"{path} describes no readings: choose another folder.")
        return cls(place, values)

    def tokenizer(self) -> Tokenizer:
        """The tokenizer by which the prefixes became tokens; LmvizError where its file cannot be read."""
        from lmviz.text.tokenizer import Tokenizer

        return Tokenizer.load(self.folder / "tokenizer.json")

    @cached_property
    def displayed(self) -> Sequence[str]:
        """All tokens as displayed, by id; none where the tokenizer cannot be read."""
        try:
            return tuple(self.tokenizer().tokens())
        except LmvizError:
            return ()

    @cached_property
    def noun(self) -> str:
        """What a token is called: "word", "character" or "token", as where the tokenizer cannot be read."""
        try:
            return self.tokenizer().noun
        except LmvizError:
            return "token"

    def metrics(self) -> list[dict[str, Any]]:
        """The measurements, a dictionary for each step of which it was told."""
        return read_metrics(self.folder / "metrics.jsonl")

    def snapshots(self) -> list[int]:
        """The steps at which the prefixes were read, ascending."""
        try:
            names = [path.name for path in (self.folder / FOLDER).iterdir()]
        except OSError:
            return []
        return sorted(int(name.partition(".")[0]) for name in names if SNAPSHOT_NAME.fullmatch(name))

    @loads("readings")
    def reading(self, step: int, prefix: int = 0) -> RecordedReading:
        """The answer at a step to a prefix, by its number from 0; LmvizError where there is none."""
        from lmviz.training.tensors import read_tensors

        known = self.snapshots()
        if step not in known:
            raise LmvizError(
                f"{self.folder} has no readings of step {step}: it has {', '.join(map(str, known))}."
            )
        if not isinstance(prefix, int) or not 0 <= prefix < len(self.prefixes):
            raise LmvizError(f"{prefix!r} is no number of a prefix: there are {len(self.prefixes)}, from 0.")
        tensors, _ = read_tensors(self._path(step))
        own = {
            name.removeprefix(f"{prefix}/"): tensor.float().numpy()
            for name, tensor in tensors.items()
            if name.startswith(f"{prefix}/")
        }
        described = self._description["prefixes"][prefix]
        ids = np.array(described["ids"], np.int64)
        logits = own.get("logits")
        if logits is None or logits.ndim != 2 or len(logits) != len(ids) or ids.max() >= logits.shape[1]:
            raise LmvizError(f"{self._path(step)} does not fit its {READINGS}: choose another step.")
        attention = sorted((name for name in own if name.startswith("attention/")), key=_number)
        return RecordedReading(
            step,
            self.prefixes[prefix],
            ids,
            tuple(described["tokens"]),
            logits,
            {name.removeprefix("tap/"): value for name, value in own.items() if name.startswith("tap/")},
            tuple(own[name] for name in attention),
        )

    def _path(self, step: int) -> Path:
        return self.folder / FOLDER / f"{step:06d}.safetensors"

    # How they are written

    def write_missing(self) -> None:
        """Write the description where it is not there; raises NotWritten."""
        if not os.path.exists(self.folder / READINGS):
            content = json.dumps(dict(self._description), indent=2, ensure_ascii=False)
            write_bytes(self.folder / READINGS, content.encode("utf-8", "backslashreplace") + b"\n")

    def append_metrics(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add what was measured; raises NotWritten."""
        append_metrics(self.folder / "metrics.jsonl", lines)

    def save(self, step: int, tensors: Mapping[str, torch.Tensor]) -> None:
        """Write what was answered at a step; raises NotWritten."""
        from lmviz.training.tensors import write_tensors

        write_tensors(self._path(step), tensors, {"step": str(step)})

    def thin(self, count: int, megabytes: float) -> None:
        """Give steps up, as Run.thin_snapshots does."""
        from lmviz.training.snapshots import superfluous

        steps = self.snapshots()
        sizes = {step: _size(self._path(step)) for step in steps}
        while len(sizes) > 2 and (len(sizes) > count or sum(sizes.values()) > megabytes * 1e6):
            [step] = superfluous(list(sizes), len(sizes) - 1)
            self._path(step).unlink(missing_ok=True)
            del sizes[step]

    def rewind(self, step: int) -> None:
        """Forget what was recorded after a step."""
        for name in ("", FOLDER):
            remove_unfinished(self.folder / name)
        for later in self.snapshots():
            if later > step:
                self._path(later).unlink(missing_ok=True)
        truncate_metrics(self.folder / "metrics.jsonl", step)


def is_readings(path: Path) -> bool:
    """Whether a folder holds readings; a folder is known by the file that describes them."""
    return os.path.isfile(path / READINGS)


def _is_description(values: Any) -> bool:
    if not isinstance(values, dict) or values.get("format") != FORMAT or values.get("format_version") != 1:
        return False
    recorded, prefixes = values.get("recorded"), values.get("prefixes")
    if not isinstance(recorded, dict) or not isinstance(prefixes, list) or len(prefixes) > MOST_PREFIXES:
        return False
    return bool(prefixes) and all(
        isinstance(each, dict)
        and isinstance(each.get("text"), str)
        and _are(each.get("ids"), is_step)
        and _are(each.get("tokens"), lambda token: isinstance(token, str))
        and len(each["ids"]) == len(each["tokens"]) > 0
        for each in prefixes
    )


def _are(values: Any, check: Any) -> bool:
    return isinstance(values, list) and all(map(check, values))


def _number(name: str) -> int:
    number = name.rpartition("/")[2]
    return int(number) if number.isdecimal() and number.isascii() else 0


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def open_readings(folder: str | Path) -> Readings:
    """The answers of a module that lmviz does not compute, while it trained, as `lmviz.record` wrote them.

    It was recorded and is not recomputed: nothing in it can be explained or changed. LmvizError where the
    folder holds no readings.
    """
    if not isinstance(folder, str | os.PathLike):
        raise LmvizError(f"{folder!r} names no readings: give the folder of a recording.")
    return Readings.open(folder)
