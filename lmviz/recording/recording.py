"""A recording: what somebody's own training does, written as a run while it trains."""

from __future__ import annotations

import math
import os
import time
import warnings
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from torch import distributed, nn

from lmviz.base.arguments import whole_number, words
from lmviz.base.errors import LmvizError, LmvizWarning
from lmviz.looks.shown import Shown
from lmviz.recording.known_module import KnownModule, UnknownModule
from lmviz.recording.modules import check_gatherable, is_sharded
from lmviz.recording.read_module import ReadModule
from lmviz.recording.readings import Readings
from lmviz.recording.schedule import LOG, Schedule, byte_count
from lmviz.recording.targets import ReadingsTarget, RunTarget, Target
from lmviz.recording.tokenizers_given import read_given_tokenizer
from lmviz.recording.writer import Writer
from lmviz.text.checkpoint_names import READINGS
from lmviz.training.description import RunDescription, now
from lmviz.training.options import LARGEST_STEPS, PRECISIONS, TrainingOptions
from lmviz.training.run import Run

A_LOOP = "a loop of PyTorch"

BUDGET = "2 GB"


class Recording(Shown):
    """A run that is written while another program trains; see `lmviz.record`.

    `folder` holds it, and `trouble` says why nothing is written any more, if that is so. Where several
    processes train, the first one writes, and the others only give what they hold a share of.
    """

    def __init__(
        self,
        folder: str | Path,
        module: nn.Module,
        *,
        tokenizer: Any = None,
        every: int | str | None = LOG,
        budget: int | str = BUDGET,
        precision: str = "full",
        steps: int | None = None,
        overwrite: bool = False,
        resume: bool = False,
        prefixes: str | Sequence[str] = (),
        taps: str | Sequence[str] = (),
        by: str = A_LOOP,
        first_step: int = 0,
    ) -> None:
        if not isinstance(folder, str | os.PathLike) or folder == "":
            raise LmvizError("There is no folder to record into: name one.")
        if not isinstance(module, nn.Module):
            raise LmvizError(
                f"{type(module).__name__} is no module of torch: give the model that is trained."
            )
        if precision not in PRECISIONS:
            raise LmvizError(f"precision must be one of {', '.join(PRECISIONS)}, and not {precision!r}.")
        if resume and overwrite:
            raise LmvizError("A recording is either resumed or overwritten: give one of the two.")
        self.folder = Path(folder)
        self._schedule, room = Schedule(every), byte_count(budget)
        self._steps = min(whole_number("steps", 0 if steps is None else steps), LARGEST_STEPS)
        self._last: int | None = None
        self._newest_kept: int | None = None
        self._resumes = False
        self._began = time.monotonic()
        self._has_warned = self._is_closed = False
        self._writer: Writer | None = None
        self._subject: KnownModule | ReadModule | None = None
        self._run: Run | None = None
        self._is_first = _rank() == 0
        check_gatherable(module)
        if not self._is_first and not is_sharded(module):
            return
        read = words("prefix", prefixes, "the cat sat")
        tapped = words("tap", taps, "blocks.*.attn")
        self._subject = self._subject_of(module, tokenizer, read, tapped)
        copies = self._subject.copies(keeps=self._is_first)
        if self._is_first:
            recorded = {"by": by, "module": _title_of(self._subject)}
            if isinstance(self._subject, KnownModule):
                self._run = self._begin(self._subject, tokenizer, recorded, overwrite, resume)
                self._run.remember_files()
                target: Target = RunTarget(self._run, self._subject, precision)
            else:
                target = ReadingsTarget(self._begin_readings(self._subject, recorded, overwrite, resume))
            self._writer = Writer(target, room)
            self._closing = weakref.finalize(self, self._writer.close)  # at the latest when Python ends
            if not self._resumes:
                self._writer.keep(first_step, copies)
        self._schedule.keep(first_step)
        self._newest_kept = first_step

    def _subject_of(
        self, module: nn.Module, tokenizer: Any, prefixes: Sequence[str], taps: Sequence[str]
    ) -> KnownModule | ReadModule:
        """The module as one that lmviz computes, or else as one that reads the prefixes."""
        try:
            known = KnownModule(module)
            known.try_out(known.copies(keeps=self._is_first), keeps=self._is_first)
            return known
        except UnknownModule as reason:
            if not prefixes:
                told = str(reason).rstrip(".")
                raise UnknownModule(
                    f"{told}; with prefixes=[…] what it answers to them is recorded, and not its weights."
                ) from None
            return ReadModule(module, tokenizer, prefixes, taps)

    def _begin_readings(
        self, module: ReadModule, recorded: Mapping[str, str], overwrite: bool, resume: bool
    ) -> Readings:
        prefixes = [
            {"text": text, "ids": encoding.ids.tolist(), "tokens": list(encoding.tokens)}
            for text, encoding in zip(module.prefixes, module.encodings, strict=True)
        ]
        if resume and os.path.isfile(self.folder / READINGS):
            readings = Readings.open(self.folder)
            if readings.prefixes != module.prefixes:
                raise LmvizError(f"{self.folder} has readings of other prefixes: record into another folder.")
            self._resumes = True
            return readings
        values = {
            "name": self.folder.resolve().name,
            "created": now(),
            "recorded": dict(recorded),
            "prefixes": prefixes,
            "taps": list(module.taps),
        }
        return Readings.create(self.folder, values, module.tokenizer, overwrite=overwrite)

    def _begin(
        self,
        known: KnownModule,
        tokenizer: Any,
        recorded: Mapping[str, str],
        overwrite: bool,
        resume: bool,
    ) -> Run:
        read = read_given_tokenizer(tokenizer, known.vocabulary_size)
        description = RunDescription(
            name=self.folder.resolve().name,
            family=known.family,
            configuration=known.configuration.to_values(),
            vocabulary_size=known.vocabulary_size,
            training=TrainingOptions(steps=max(1, self._steps)).to_values(),
            recorded=dict(recorded),
        )
        if resume and os.path.isfile(self.folder / "run.json"):
            run = Run.open(self.folder)
            _check_same(run, description)
            self._resumes = True
            return run
        return Run.create(self.folder, description, read, overwrite=overwrite)

    @property
    def trouble(self) -> str:
        """Why nothing is written any more, as a sentence; empty while all is well."""
        return "" if self._writer is None else self._writer.trouble

    @property
    def last_step(self) -> int | None:
        """The last step of which it was told; None before the first."""
        return self._last

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(keep_last=kind is None)

    def step(self, step: int, *, keep: bool = False, **measured: float | torch.Tensor | None) -> None:
        """Tell of a step: its number in the training's own count, and what was measured, each by its name.

        "loss", "validation_loss", "learning_rate", "gradient_norm" and "tokens_per_second" are drawn as those
        of lmviz's own training; every other name stays beside them. The weights are kept as they are now
        where that is due, or with `keep`. Steps ascend; one may be told of several times.

        LmvizError for a step that is none and for what is no number; a disk that is full is no error, but
        one warning, after which nothing is written.
        """
        self.tell(step, measured, keep=keep)

    def tell(self, step: int, measured: Mapping[str, Any], *, keep: bool = False) -> None:
        """The same, for names that no argument can have, such as "train/loss"."""
        number = whole_number("step", step)
        line = _numbers(measured)
        if self._is_closed:
            raise LmvizError(f"The recording in {self.folder} is closed: begin another one.")
        if self._subject is None or not self._may_go_on(number):
            return
        if self._resumes and self._last is None and self._writer is not None:
            self._writer.rewind(number - 1)
        self._last = number
        if self._writer is not None and line:
            self._writer.note({"step": number, **line, "seconds": round(time.monotonic() - self._began, 3)})
        if keep or self._schedule.is_due(number) or (number == 0 and self._newest_kept == 0):
            self._keep(number, always=keep)
        self._warn_once()

    def _may_go_on(self, step: int) -> bool:
        if self._last is None or step >= self._last:
            return True
        if self._is_first and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                LmvizWarning(
                    f"Step {step:,} comes after step {self._last:,}: the recording in {self.folder} leaves "
                    "out steps that do not ascend."
                ),
                stacklevel=4,
            )
        return False

    def _keep(self, step: int, *, always: bool) -> None:
        """Copy the weights for the disk, which `always` has room for one more, or else perhaps not."""
        subject, writer = self._subject, self._writer
        assert subject is not None
        if not subject.is_sharded and (writer is None or writer.trouble or not (always or writer.has_room())):
            return  # the next step is tried instead
        copies = subject.copies(keeps=writer is not None)
        if writer is not None:
            writer.keep(step, copies)
        self._schedule.keep(step)
        self._newest_kept = step

    def _warn_once(self) -> None:
        if self.trouble and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                LmvizWarning(f"Nothing more is recorded, and the training goes on: {self.trouble}"),
                stacklevel=4,
            )

    def close(self, *, keep_last: bool = True) -> None:
        """Wait until all is written; with `keep_last` the weights as they are now belong to the last step.

        A second call does nothing.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if keep_last and self._subject is not None and self._last not in (None, self._newest_kept):
            assert self._last is not None
            self._keep(self._last, always=True)
        if self._writer is None:
            return
        self._closing()
        self._warn_once()
        if self._run is not None and not self.trouble and self._last is not None:
            training = TrainingOptions(steps=min(max(1, self._last, self._steps), LARGEST_STEPS))
            try:
                self._run.change_training(training.to_values())
            except LmvizError as error:
                self._writer.trouble = str(error)
                self._warn_once()


def _title_of(subject: KnownModule | ReadModule) -> str:
    return subject.title if isinstance(subject, KnownModule) else type(subject.module).__name__


def _numbers(measured: Mapping[str, Any]) -> dict[str, float]:
    """What was measured as numbers; what is None was not."""
    found = {}
    for name, value in measured.items():
        if value is None:
            continue
        try:
            found[name] = float(value)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            raise LmvizError(f"{name}={value!r:.60} is no number that could be recorded.") from None
    return {name: value for name, value in found.items() if not math.isnan(value) and value > -math.inf}


def _rank() -> int:
    """The number of this process among those that train together."""
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    return int(os.environ.get("RANK", "0"))


def _check_same(run: Run, now: RunDescription) -> None:
    """Raise LmvizError where a run that is to be gone on with is of another model."""
    before = run.description
    alike = (
        before.recorded is not None
        and (before.family, before.vocabulary_size) == (now.family, now.vocabulary_size)
        and dict(before.configuration) == now.configuration
    )
    if not alike:
        raise LmvizError(
            f"{run.folder} holds a run of another model: record into another folder, or with overwrite=True."
        )


def record(
    folder: str | Path,
    model: nn.Module,
    *,
    tokenizer: Any = None,
    every: int | str | None = LOG,
    budget: int | str = BUDGET,
    precision: str = "full",
    steps: int | None = None,
    overwrite: bool = False,
    resume: bool = False,
    prefixes: str | Sequence[str] = (),
    taps: str | Sequence[str] = (),
) -> Recording:
    """Write down, as a run of lmviz, what a training of your own does to a torch module while it trains.

        with lmviz.record("runs/mine", model, tokenizer=tokenizer) as recording:
            for step, batch in enumerate(batches, start=1):
                ...
                recording.step(step, loss=loss.item())

    `model` is a module of a kind that lmviz opens (the kinds of checkpoints, and its own models), wrapped or
    not; it is left as it is. `tokenizer` is that of transformers, of tokenizers, one of lmviz, the folder or
    file of one, or a dictionary with the id of each character; without one, every token is a number. The
    weights are kept as step 0 when the recording begins, then at the steps 1, 2, 4, … 512 and every further
    `every` steps ("log" is 512; None keeps those alone of which `Recording.step` is told to), and when it
    ends. If they take more than `budget`, some are given up, so that the others stay spread evenly in the
    logarithm of the step. `precision` is "full" for weights as they are, "half" or "quarter". `steps` is how
    many there will be, if that is known.

    A thread writes: the loop waits for the copy of the weights and never for the disk. Of several processes
    the first one writes; where fully_shard has dealt out the weights, every process has to record.

    A module of no known kind, and one that computes otherwise than its names say, is recorded where
    `prefixes` are given, at a second level: what it answers to them at each kept step, the outputs of the
    modules that `taps` name ("blocks.*.attn"), and the weights of attention where it calls
    `scaled_dot_product_attention`. That is recorded, not recomputed: see `lmviz.open_readings`.

    LmvizError where such a module is given without prefixes, and where the folder holds a run already:
    `overwrite` removes it, and `resume` goes on with it.
    """
    return Recording(
        folder,
        model,
        tokenizer=tokenizer,
        every=every,
        budget=budget,
        precision=precision,
        steps=steps,
        overwrite=overwrite,
        resume=resume,
        prefixes=prefixes,
        taps=taps,
    )
