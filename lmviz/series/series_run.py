"""A series: the checkpoints of a training of another program, seen as a run with snapshots.

The weights stay in their files and are read when a step is asked for. What is the same in all of them, such
as the tokenizer, is read once. A step that cannot be opened is named, and the rest is open.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmviz.base.errors import LmvizError
from lmviz.interchange.checkpoint_steps import StoredStep, has_steps, steps_in, steps_of
from lmviz.interchange.chosen_bases import NoBase
from lmviz.interchange.wholeness import why_not_whole
from lmviz.series.foreign import ForeignRun, described, tokenizer_of
from lmviz.series.keeping import copies_in, place_of_copies
from lmviz.text.checkpoint_names import holds_series, step_in_name

if TYPE_CHECKING:
    from lmviz.interchange.checkpoint import Checkpoint
    from lmviz.models.model import Model
    from lmviz.series.recorded_metrics import RecordedMetrics
    from lmviz.text.tokenizer import Tokenizer
    from lmviz.training.description import RunDescription

MOST_NAMED = 3
"""Steps that a sentence names one by one."""


class SeriesRun(ForeignRun):
    """The series in a folder. `steps` are its checkpoints, one for each step, and `troubles` says of others,
    by their steps, why they cannot be opened.
    """

    def __init__(self, folder: Path, base: Path | None = None, before: SeriesRun | None = None) -> None:
        self._base, self._home = base, folder
        self._tokenizer: Tokenizer | None = None
        self._opened: tuple[Path, Checkpoint] | None = None
        self._entries = _entries_of(folder) | _entries_of(place_of_copies(folder))
        self._looks: dict[Path, _Looked] = {} if before is None else before._looks
        self.steps, self.troubles = self._look_at(folder)
        if before is not None:
            self._tokenizer = before._tokenizer
            if before._opened is not None and before._opened[0] in self.steps.values():
                self._opened = before._opened
        if not self.steps:
            reason = next(iter(self.troubles.values()), "there are none")
            raise LmvizError(f"No checkpoint in {folder} can be opened ({reason}): choose another folder.")
        newest = self._newest_that_opens(folder)
        super().__init__(folder, self._described(folder, newest, before))

    @property
    def has_steps(self) -> bool:
        """Always true."""
        return True

    def snapshots(self) -> list[int]:
        """The steps of which there are checkpoints, ascending."""
        return list(self.steps)

    @property
    def copies(self) -> tuple[int, ...]:
        """The steps that are there as copies alone: the program has deleted its own."""
        return tuple(step for step, place in self.steps.items() if place.parent != self.folder)

    def place_of(self, step: int) -> Path:
        """The folder or the file of the checkpoint of a step; LmvizError where there is none."""
        if not isinstance(step, Integral):
            raise LmvizError(f"{step!r} is not a step: give a whole number, such as one of run.snapshots().")
        if step in self.troubles:
            raise LmvizError(f"The checkpoint of step {step} cannot be opened ({self.troubles[step]}).")
        if step not in self.steps:
            known = ", ".join(map(str, self.steps))
            raise LmvizError(f"{self.folder} has no checkpoint of step {step}: it has those of {known}.")
        return self.steps[step]

    def checkpoint(self, step: int) -> Checkpoint:
        """The checkpoint of a step; LmvizError where it cannot be read, or is not of the same model as the
        others.
        """
        place = self.place_of(step)
        if self._opened is None or self._opened[0] != place:
            self._opened = place, self._read(step, place)
        found = self._opened[1]
        configuration = found.configuration.to_values()
        if configuration != self.description.configuration or (
            found.vocabulary_size != self.description.vocabulary_size
        ):
            raise LmvizError(
                f"The checkpoint of step {step} in {self.folder} is of another model than the others "
                f"({difference(self.description, found)}): open it alone, as {place}."
            )
        return found

    def model(self, step: int | None = None) -> Model:
        step = list(self.steps)[-1] if step is None else step
        try:
            model = self.checkpoint(step).model()
        except LmvizError as reason:
            raise _of_step(step, reason) from None
        model.step, model.name = int(step), self.description.name
        return model

    @cached_property
    def recorded(self) -> RecordedMetrics:
        """What programs have recorded beside the checkpoints, read once."""
        from lmviz.series.recorded_metrics import recorded_metrics

        return recorded_metrics(self.folder)

    def metrics(self) -> list[dict[str, Any]]:
        """What was recorded of the training, under the names that a run of lmviz has for it."""
        return list(self.recorded.lines)

    @property
    def curve_names(self) -> Mapping[str, str]:
        """What the program that recorded them calls the curves."""
        return self.recorded.names

    @property
    def recorded_by(self) -> str:
        """The program that recorded the curves; "" where there are none."""
        return " and ".join(self.recorded.programs)

    def tokenizer(self) -> Tokenizer:
        return tokenizer_of(self.checkpoint(list(self.steps)[-1]), self.folder)

    def again(self) -> SeriesRun:
        """The series as it is on the disk now; this one itself where nothing has come or gone."""
        entries = _entries_of(self.folder) | _entries_of(place_of_copies(self.folder))
        if not self.troubles and entries == self._entries:
            return self
        now = SeriesRun(self.folder, self._base, before=self)
        return self if (now.steps, now.troubles) == (self.steps, self.troubles) else now

    def trouble(self) -> str:
        """What is said of the steps that cannot be opened, in a sentence; "" where all can."""
        if not self.troubles:
            return ""
        said = [f"step {step:,} ({why})" for step, why in list(self.troubles.items())[:MOST_NAMED]]
        more = len(self.troubles) - len(said)
        listed = f"{', '.join(said)} and {more:,} more" if more else " and ".join(said)
        return f"{self.folder} is open without {listed}: those checkpoints cannot be read."

    def _look_at(self, folder: Path) -> tuple[dict[int, Path], dict[int, str]]:
        """The checkpoints that are whole by their steps, one for each, and why the others are not.

        What has not changed since it was whole is not looked at again. Where two say the same step, that is
        meant whose name says it as well.
        """
        known = {path: look for path, look in self._looks.items() if _changed_at(path) == look.changed}
        of_known = {path: look.step for path, look in known.items()}
        kept = steps_of(copies_in(place_of_copies(folder)), of_known)
        found = (*kept, *steps_in(folder, of_known))
        looks, steps, troubles = dict[Path, _Looked](), dict[int, Path](), dict[int, str]()
        for each in sorted(found, key=lambda one: (one.step, self._preference(folder, one))):
            changed = _changed_at(each.path)
            if each.path not in known and (why := why_not_whole(each.path)):
                troubles.setdefault(each.step, why)
                continue
            looks[each.path] = _Looked(each.step, changed)
            steps[each.step] = each.path
        self._looks = looks
        return steps, {step: why for step, why in troubles.items() if step not in steps}

    @staticmethod
    def _preference(folder: Path, one: StoredStep) -> tuple[bool, bool]:
        """Which of several checkpoints of one step is meant: the last in this order."""
        return one.path.parent == folder, step_in_name(one.path.stem) == one.step

    def _newest_that_opens(self, folder: Path) -> Checkpoint:
        """The newest checkpoint whose description and whose table of tensors can be read.

        The steps after it are troubles.
        """
        for step, place in reversed(list(self.steps.items())):
            if self._opened is not None and self._opened[0] == place:
                return self._opened[1]
            try:
                found = self._read(step, place)
                found.fit().check(place)
            except NoBase as reason:
                raise NoBase(str(reason), folder) from None  # the base that is chosen is that of all steps
            except LmvizError as reason:
                if len(self.steps) == 1:
                    raise
                self.troubles[step] = str(reason).rstrip(".")
                del self.steps[step]
                continue
            self._opened = place, found
            return found
        raise AssertionError("a series has a step")

    def _read(self, step: int, place: Path) -> Checkpoint:
        from lmviz.interchange.checkpoint import open_checkpoint

        found = open_checkpoint(place, self._base, tokenizer=self._tokenizer)
        if found.tokenizer is None:
            elsewhere = self._tokenizer_elsewhere(place, found.vocabulary_size)
            found = replace(found, find_tokenizer=lambda: elsewhere)
        self._tokenizer = found.tokenizer
        return found

    def _tokenizer_elsewhere(self, place: Path, size: int) -> Tokenizer | None:
        """That of the series' own folder, or of another step: it need not lie in every checkpoint."""
        from lmviz.interchange.tokenizer_files import read_tokenizer

        others = [other for other in self.steps.values() if os.path.isdir(other) and other != place]
        for folder in (place.parent, self._home, *reversed(others)):
            if (found := read_tokenizer(folder, size)) is not None:
                return found
        return None

    def _described(self, folder: Path, newest: Checkpoint, before: SeriesRun | None) -> RunDescription:
        """The same beginning as before where the series has only grown or shrunk."""
        last = list(self.steps)[-1]
        oldest = next(iter(self.steps.values()))
        created = datetime.fromtimestamp(os.stat(oldest).st_mtime, UTC)
        found = described(folder, folder.resolve().name, newest, last, created)
        if before is not None and set(before.steps.items()) & set(self.steps.items()):
            known = replace(found, created=before.description.created)
            return known if known.continues(before.description) else found
        return found


def is_series(folder: Path) -> bool:
    """Whether a folder holds checkpoints of a training in the order of their steps, and no run of lmviz."""
    return holds_series(folder) and has_steps(folder)


def difference(description: RunDescription, found: Checkpoint) -> str:
    """In what a checkpoint differs from the series that it lies in."""
    wanted: Mapping[str, Any] = {**description.configuration, "tokens": description.vocabulary_size}
    values = {**found.configuration.to_values(), "tokens": found.vocabulary_size}
    names = [name for name in values if values[name] != wanted.get(name)]
    said = [f"{name} {values[name]}, not {wanted.get(name)}" for name in names[:MOST_NAMED]]
    return "; ".join(said)


@dataclass(frozen=True)
class _Looked:
    """A checkpoint that was whole when it was looked at: its step, and when it had changed."""

    step: int
    changed: int


def _entries_of(folder: Path) -> frozenset[tuple[str, int]]:
    """What lies in a folder by name, and when each changed."""
    try:
        with os.scandir(folder) as listed:
            return frozenset((entry.name, entry.stat().st_mtime_ns) for entry in listed)
    except OSError:
        return frozenset()


def _changed_at(place: Path) -> int:
    try:
        return os.stat(place).st_mtime_ns
    except OSError:
        return -1


def _of_step(step: int, reason: LmvizError) -> LmvizError:
    said = str(reason)
    return reason if said.startswith("The checkpoint of step") else LmvizError(f"Step {step}: {said}")
