"""A run: the folder in which a training is recorded.

    run.json                      what was trained, how and on what
    tokenizer.json                how text becomes its tokens (Hugging Face tokenizers)
    source_tokenizer.json         the same for what is translated, where it is
    metrics.jsonl                 one line a step
    snapshots/NNNNNN.safetensors  the weights after so many steps
    resume/state.safetensors      everything needed to continue exactly
    resume/NNNNNN.safetensors     what it takes, beside the snapshot, to go on from an earlier step
    moments/NNNNNN.safetensors    Adam's second moments beside the snapshot, a mean for each row of a matrix

Training appends, others read at any time, from any thread or process. torch is imported when weights
are read or written, so that runs can be listed without it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lmviz.base.errors import LmvizError
from lmviz.base.files import remove_unfinished
from lmviz.base.loading import loads
from lmviz.looks.shown import Shown
from lmviz.text.ordinary_files import read_file
from lmviz.training.description import RunDescription
from lmviz.training.metrics import append_metrics, flush_metrics, read_metrics, truncate_metrics
from lmviz.training.writing import write_bytes

if TYPE_CHECKING:
    import torch

    from lmviz.text.tokenizer import Tokenizer

INNER_FOLDERS = ("snapshots", "resume")
MOMENTS = "moments"
TOKENIZERS = ("tokenizer.json", "source_tokenizer.json")
SNAPSHOT_NAME = re.compile(r"[0-9]{6,12}\.safetensors")
MEGABYTE = 1_000_000
LARGEST_DESCRIPTION = 100 * MEGABYTE
"""Bytes of a `run.json`, which names the files of its text, a hundred thousand of them at times."""


class HoldsRun(LmvizError):
    """A folder in which a run should begin holds one already."""

    def __init__(
        self,
        folder: str | Path,
        way_out: str = "choose another folder, or resume or overwrite that run",
    ) -> None:
        super().__init__(f"{folder} already holds a run: {way_out}.")
        self.folder = folder


class Run(Shown):
    """The folder of a training. `description` is the content of its `run.json`."""

    def __init__(self, folder: Path, description: RunDescription) -> None:
        self.folder = folder
        self.description = description
        self._remembered: dict[str, bytes] | None = None

    @classmethod
    def create(
        cls,
        folder: str | Path,
        description: RunDescription,
        tokenizer: Tokenizer | None = None,
        *,
        source_tokenizer: Tokenizer | None = None,
        overwrite: bool = False,
        fill: Callable[[Self], None] | None = None,
    ) -> Self:
        """Start a run in a folder that is new, or that at least holds none.

        With `overwrite` the run that is there is removed first. LmvizError otherwise, and when something
        trains into it or begins there at the same moment. What `fill` writes is there before the folder is
        known as a run.
        """
        folder = Path(folder)
        if not overwrite:
            _check_empty(folder)  # before anything is made in there
        try:
            for name in INNER_FOLDERS:
                (folder / name).mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # ValueError for a name with a NUL in it
            reason = getattr(error, "strerror", None) or error
            raise LmvizError(
                f"{str(folder)!r} could not be made ({reason}): check that runs may be written there, or "
                "choose another place."
            ) from None
        from lmviz.training.lock import holding  # who reads runs begins none

        run = cls(folder, description)
        with holding(folder):  # another training may be about to begin here, too
            if overwrite:
                _remove(folder)
            _check_empty(folder)
            if tokenizer is not None:
                write_bytes(folder / "tokenizer.json", tokenizer.content)
            if source_tokenizer is not None:
                write_bytes(folder / "source_tokenizer.json", source_tokenizer.content)
            if fill is not None:
                fill(run)
            run._write_description()
        return run

    @classmethod
    @loads("run")
    def open(cls, folder: str | Path) -> Self:
        """The run in a folder, or LmvizError whatever is in there."""
        if not isinstance(folder, str | os.PathLike):
            raise LmvizError(f"{folder!r} names no run: give the folder of one.")
        folder = Path(folder)
        path = folder / "run.json"
        try:
            values = json.loads(read_file(path, LARGEST_DESCRIPTION))
            return cls(folder, RunDescription.from_values(values))
        except (FileNotFoundError, NotADirectoryError):
            raise _no_run(folder) from None
        except OSError as error:
            raise LmvizError(f"{path} cannot be read ({error.strerror}): choose another run.") from None
        except (ValueError, RecursionError):
            raise LmvizError(f"{path} is not JSON: choose another run.") from None
        except LmvizError as error:
            reason = str(error).rstrip(".")
            raise LmvizError(f"{path} describes no run ({reason}): choose another run.") from None

    def described_as(self, description: RunDescription) -> Run:
        """The same run, of which more or something else is known by now."""
        return Run(self.folder, description)

    def _write_description(self) -> None:
        values = json.dumps(self.description.to_values(), indent=2, ensure_ascii=False)
        write_bytes(self.folder / "run.json", values.encode("utf-8", errors="backslashreplace") + b"\n")

    def change_training(self, values: Mapping[str, Any]) -> None:
        """Record that the training continues with other options; LmvizError where the run has gone."""
        newest = type(self).open(self.folder).description  # another program may have renamed it meanwhile
        self.description = replace(self.description, name=newest.name, training=dict(values))
        self._write_description()

    def remember_files(self) -> None:
        """Keep in memory what a training does not write anew, so that it is not lost with its files."""
        self._remembered = {}
        for name in TOKENIZERS:
            with contextlib.suppress(OSError):
                self._remembered[name] = read_file(self.folder / name)

    def write_missing(self) -> None:
        """Write the description and the tokenizers again where they were deleted; raises NotWritten."""
        for name, content in (self._remembered or {}).items():
            if not os.path.exists(self.folder / name):
                write_bytes(self.folder / name, content)
        if self._remembered is not None and not os.path.exists(self.folder / "run.json"):
            self._write_description()

    def check_own(self) -> None:
        """Raise LmvizError where another training has overwritten the run since it was begun or opened."""
        own = RunDescription.from_values(json.loads(json.dumps(self.description.to_values())))
        there = type(self).open(self.folder).description
        if replace(there, name=own.name) != own:
            raise LmvizError(
                f"Another training has begun in {self.folder} meanwhile: train in another folder."
            )

    def rename(self, name: str) -> None:
        """Call the run something else, and nothing of one's own where the name is empty; its folder stays.

        Raises NotWritten, and LmvizError where the run has gone.
        """
        newest = type(self).open(self.folder).description  # another program may have trained it meanwhile
        self.description = replace(newest, name=name.strip() or self.folder.resolve().name)
        self._write_description()

    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the run's texts, or LmvizError."""
        from lmviz.text.tokenizer import Tokenizer

        # Other programs round the number of a model's tokens up; lmviz's own fit exactly.
        size = 0 if self.description.recorded is None else self.description.vocabulary_size
        return Tokenizer.load(self.folder / "tokenizer.json", size)

    def source_tokenizer(self) -> Tokenizer | None:
        """The tokenizer of the texts that the run translates, None where it translates none; LmvizError."""
        from lmviz.text.tokenizer import Tokenizer

        if self.description.source_vocabulary_size is None:
            return None
        return Tokenizer.load(self.folder / "source_tokenizer.json")

    # What was measured

    @property
    def _metrics(self) -> Path:
        return self.folder / "metrics.jsonl"

    @loads("run")
    def metrics(self) -> list[dict[str, Any]]:
        """The measurements so far, a dictionary for each reported step (see Progress.metrics)."""
        return read_metrics(self._metrics)

    def append_metrics(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Add what was measured; raises NotWritten."""
        append_metrics(self._metrics, lines)

    # What the model was like

    def snapshot_path(self, step: int) -> Path:
        """The file of the snapshot of a step, also where there is none yet."""
        return self.folder / "snapshots" / f"{step:06d}.safetensors"

    def snapshots(self) -> list[int]:
        """The steps of which there are snapshots, ascending."""
        try:
            names = {path.name for path in (self.folder / "snapshots").iterdir()}
        except OSError:
            return []
        steps = {int(name.partition(".")[0]) for name in names if SNAPSHOT_NAME.fullmatch(name)}
        return sorted(step for step in steps if self.snapshot_path(step).name in names)

    def check_readable(self) -> None:
        """Raise LmvizError where there may be snapshots and their folder cannot be looked into."""
        _check_readable(self.folder / "snapshots")

    def save_snapshot(self, step: int, state: Mapping[str, torch.Tensor], precision: str = "full") -> None:
        """Write a state (Model.state) down in one of `options.PRECISIONS`; raises NotWritten."""
        from lmviz.training.snapshots import write_snapshot

        write_snapshot(self.snapshot_path(step), step, state, precision)

    @loads("run")
    def load_snapshot(self, step: int) -> dict[str, torch.Tensor]:
        """The state of a model after a step, or LmvizError."""
        from lmviz.training.snapshots import read_snapshot

        if not isinstance(step, Integral):
            raise LmvizError(f"{step!r} is not a step: give a whole number, such as one of run.snapshots().")
        return read_snapshot(self.snapshot_path(step))

    def thin_snapshots(self, count: int, megabytes: float, spared: frozenset[int] = frozenset()) -> None:
        """Remove snapshots until at most `count` are left and all take at most so many megabytes.

        What is left stays spread evenly in the logarithm of the step; the first and the last remain
        in any case. Those of the `spared` steps do not count, and go last where all take too much.
        """
        from lmviz.training.snapshots import superfluous

        steps = self.snapshots()
        for step in superfluous([step for step in steps if step not in spared], count):
            self._remove_snapshot(step)
            steps.remove(step)
        sizes = {step: self._size(step) for step in steps}
        while sum(sizes.values()) > megabytes * MEGABYTE and len(sizes) > 2:
            free = [step for step in sizes if step not in spared]
            of = free if len(free) > 2 else list(sizes)
            [step] = superfluous(of, len(of) - 1)
            self._remove_snapshot(step)
            del sizes[step]

    def _size(self, step: int) -> int:
        """Bytes of what is kept of a step."""
        sizes = [0]
        for path in (self.snapshot_path(step), self._memory_path(step), self._moments_path(step)):
            with contextlib.suppress(OSError):
                sizes.append(path.stat().st_size)
        return sum(sizes)

    def _remove_snapshot(self, step: int) -> None:
        # Windows does not delete a file that is being read; a later call deletes it.
        for path in (self._memory_path(step), self._moments_path(step), self.snapshot_path(step)):
            with contextlib.suppress(OSError):
                path.unlink()

    # What it takes to continue

    @property
    def _resume(self) -> Path:
        return self.folder / "resume" / "state.safetensors"

    @property
    def was_trained_elsewhere(self) -> bool:
        """Whether another program trained it, so that nothing of its training is known."""
        return False

    @property
    def has_steps(self) -> bool:
        """Whether it is known at the steps of its training, so that one speaks of it at one of them."""
        return True

    def again(self) -> Run:
        """The run as its folder holds it now, which another program may have changed; LmvizError."""
        return type(self).open(self.folder)

    @property
    def curve_names(self) -> Mapping[str, str]:
        """The names of its curves in the program that measured them, where they are not lmviz's own."""
        return {}

    @property
    def recorded_by(self) -> str:
        """The other program that recorded its curves; "" where lmviz has measured them."""
        return "" if self.description.recorded is None else str(self.description.recorded["by"])

    def trouble(self) -> str:
        """A sentence about those of its snapshots that cannot be opened; "" where none is known."""
        return ""

    @property
    def began_elsewhere(self) -> bool:
        """Whether another program made its tokenizer, which may know special tokens and chats."""
        return self.was_trained_elsewhere or self.description.tuned_from is not None

    @property
    def is_resumable(self) -> bool:
        """Whether there is a saved state from which training can continue."""
        return os.path.isfile(self._resume)

    def check_resumable(self) -> None:
        """Raise LmvizError where a saved state cannot be looked for; there may be none all the same."""
        if not os.path.exists(self.folder):
            raise LmvizError(f"{self.folder} was deleted or moved: open the run from where it is now.")
        _check_readable(self.folder / "resume")

    def save_resume(self, tensors: Mapping[str, torch.Tensor], values: Mapping[str, Any]) -> None:
        """Write down what it takes to continue: tensors, and plain values for JSON; raises NotWritten.

        Both go into one file, so that they never belong to different steps. What was measured until
        then reaches the disk first.
        """
        from lmviz.training.tensors import write_tensors

        flush_metrics(self._metrics)
        write_tensors(self._resume, tensors, {"values": json.dumps(values)})

    @loads("run")
    def load_resume(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """The state that `save_resume` wrote, or LmvizError."""
        self.check_resumable()
        if not self.is_resumable:
            raise LmvizError(f"{self.folder} keeps no state to resume from: train again in another folder.")
        return self._read_state(self._resume)

    def _memory_path(self, step: int) -> Path:
        return self.folder / "resume" / self.snapshot_path(step).name

    def save_memory(self, step: int, tensors: Mapping[str, torch.Tensor], values: Mapping[str, Any]) -> None:
        """Keep beside a snapshot what else it takes to go on from its step; raises NotWritten."""
        from lmviz.training.tensors import write_tensors

        write_tensors(self._memory_path(step), tensors, {"values": json.dumps(values)})

    @loads("run")
    def load_memory(self, step: int) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        """The memory that `save_memory` wrote of a step, None where it kept none; LmvizError."""
        path = self._memory_path(step)
        return self._read_state(path) if os.path.exists(path) else None

    def _read_state(self, path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        from lmviz.training.tensors import read_tensors

        tensors, header = read_tensors(path)
        try:
            values = json.loads(header.get("values", ""))
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise LmvizError(f"{path} is damaged: train again in another folder.")
        return tensors, values

    def _moments_path(self, step: int) -> Path:
        return self.folder / MOMENTS / self.snapshot_path(step).name

    def save_moments(self, step: int, moments: Mapping[str, torch.Tensor]) -> None:
        """Keep Adam's second moments beside a snapshot, by the names of parameters; raises NotWritten."""
        from lmviz.training.tensors import write_tensors

        with contextlib.suppress(OSError):  # where it cannot be made, writing says why
            (self.folder / MOMENTS).mkdir(exist_ok=True)
        write_tensors(self._moments_path(step), moments, {"step": str(step)})

    @loads("run")
    def load_moments(self, step: int) -> dict[str, torch.Tensor] | None:
        """The moments that `save_moments` wrote of a step; None where it kept none; LmvizError."""
        from lmviz.training.tensors import read_tensors

        path = self._moments_path(step)
        return read_tensors(path)[0] if os.path.exists(path) else None

    def rewind(self, step: int) -> None:
        """Remove what was written after a step, before a training continues from there."""
        for name in ("", *INNER_FOLDERS, MOMENTS):
            remove_unfinished(self.folder / name)
            for left in (self.folder / name).glob(".tmp??????"):  # as safetensors, by older versions, left it
                left.unlink(missing_ok=True)
        for later in self.snapshots():
            if later > step:
                self._remove_snapshot(later)
        truncate_metrics(self._metrics, step)


def _check_readable(folder: Path) -> None:
    """Raise LmvizError where a folder is there and may not be looked into."""
    try:
        os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise LmvizError(
            f"{folder} cannot be read ({error.strerror}): choose another run, or fix its permissions."
        ) from None


def _check_empty(folder: Path) -> None:
    if os.path.exists(folder / "run.json"):
        raise HoldsRun(folder)


def _remove(folder: Path) -> None:
    """Remove the files of a run and no others, its description last: a crash leaves what is still a run."""
    for inner in (*INNER_FOLDERS, MOMENTS):
        for path in (folder / inner).glob("*.safetensors"):
            path.unlink(missing_ok=True)
    for name in ("metrics.jsonl", "beside.json", *TOKENIZERS, "run.json"):
        (folder / name).unlink(missing_ok=True)


def _no_run(folder: Path) -> LmvizError:
    """What to say of a folder without a run.json."""
    from lmviz.text.checkpoint_names import is_checkpoint

    if is_checkpoint(folder):
        return LmvizError(
            f"{folder} is a checkpoint of transformers, not a run, so it cannot be trained further: "
            "choose a run."
        )
    lane = next((path.parent for path in folder.glob("*/run.json")), None)
    if lane is not None:
        return LmvizError(f"{folder} is a race, a folder of runs: choose one of them, such as {lane}.")
    return LmvizError(f"{folder} holds no run: choose the folder of one.")
