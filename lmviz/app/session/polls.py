"""The polls: which is asked, how many have answered what, and whether the answers are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.work import Work
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.polls.counts import MOST, counts_as_csv, counts_path, key_of, read_counts, write_counts
from lmviz.polls.poll_file import open_poll

if TYPE_CHECKING:
    from lmviz.polls.order import OrderExperiment
    from lmviz.polls.poll import Poll

SOON = 1000  # milliseconds from an answer until the counts are written, together with later ones


class Polls(Part):
    """Asks one poll at a time. Only the counts are kept, on this computer.

    `changed` follows another poll or other numbers in it, `counted` another count, and `shown` showing or
    hiding the answers.
    """

    changed = Signal()
    counted = Signal()
    shown = Signal()

    def __init__(self, work: Work, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._polls: tuple[Poll, ...] = ()
        self._index = 0
        self._counts: dict[str, dict[str, int]] | None = None
        self._collected: list[str] = []
        self._is_shown = False
        self._write_soon = QTimer(self, singleShot=True, interval=SOON)
        self._write_soon.timeout.connect(self._write)

    @property
    def all(self) -> tuple[Poll, ...]:
        """The polls that come with lmviz, and those opened since, as they were last asked."""
        if not self._polls:
            from lmviz.polls.poll_file import shipped_polls  # not before the first paint

            self._polls = shipped_polls()
        return self._polls

    @property
    def index(self) -> int:
        """The place of the poll that is asked."""
        return self._index

    @property
    def current(self) -> Poll:
        """The poll that is asked."""
        return self.all[self._index]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many chose each letter."""
        return self._of_current()

    @property
    def total(self) -> int:
        """How many have answered."""
        return sum(self.counts.values())

    @property
    def is_shown(self) -> bool:
        """Whether the counts and the right choice can be seen."""
        return self._is_shown

    def choose(self, index: int) -> None:
        """Ask another poll; its answers are hidden at first."""
        if 0 <= index < len(self.all) and index != self._index:
            self._index = index
            self._begin()

    def open_file(self, path: Path) -> None:
        """Ask the poll of a file; `failed` says what is wrong with it, line by line."""

        self.begun.emit()

        def fail(sentence: str) -> None:
            self.failed.emit(f"{path.name}: {sentence}")

        self._work.open_file(path, lambda: open_poll(path), self.pose, fail)

    def pose(self, poll: Poll) -> None:
        """Ask a poll, in the place of one of the same title; its answers are hidden at first."""
        same = [place for place, other in enumerate(self.all) if other.title == poll.title]
        if same:
            self._polls = (*self._polls[: same[0]], poll, *self._polls[same[0] + 1 :])
            self._index = same[0]
        else:
            self._polls = (*self.all, poll)
            self._index = len(self._polls) - 1
        self._begin()

    def save_csv(self, path: Path, saved: Callable[[Path], object], failed: Callable[[str], object]) -> None:
        """Write how many chose what in every poll that was answered."""
        self._of_current()  # the counts are read by now
        content = counts_as_csv(self.all, self._counts or {}).encode("utf-8")
        self._work.save_file(path, lambda: write_atomically(path, content), saved, failed)

    def set_experiment(self, experiment: OrderExperiment) -> None:
        """Ask the same question about other numbers; its answers are hidden again."""
        poll = self.current.with_experiment(experiment)
        self._polls = (*self.all[: self._index], poll, *self.all[self._index + 1 :])
        self._begin()

    def collect(self, letter: str) -> None:
        """Count one more answer; a letter that is no choice is none, nor is one more than can be counted."""
        count = self.counts.get(letter, 0)
        if count < MOST and letter in (choice.letter for choice in self.current.filled):
            self._collected.append(letter)
            self.set_count(letter, count + 1)

    def take_back(self) -> None:
        """Take the answer back that was collected last."""
        if self._collected:
            letter = self._collected.pop()
            self.set_count(letter, self.counts.get(letter, 0) - 1)

    def set_count(self, letter: str, number: int) -> None:
        """Say how many chose a letter."""
        counts, number = self._of_current(), min(max(number, 0), MOST)
        if number != counts.get(letter, 0):
            counts[letter] = number
            self._write_soon.start()
            self.counted.emit()

    def clear(self) -> None:
        """Begin to count anew, with the answers hidden."""
        self._of_current().clear()
        self._collected.clear()
        self._write_soon.start()
        self.counted.emit()
        self.show_answers(False)

    def show_answers(self, shown: bool) -> None:
        """Show the counts and the right choice, or hide them."""
        if shown != self._is_shown:
            self._is_shown = shown
            self.shown.emit()

    def close(self) -> None:
        """Write what has not been written yet."""
        if self._write_soon.isActive():
            self._write_soon.stop()
            self._write()

    def _begin(self) -> None:
        self._collected.clear()
        self._is_shown = False
        self.begun.emit()
        self.changed.emit()

    def _of_current(self) -> dict[str, int]:
        if self._counts is None:
            self._counts = read_counts(counts_path())
        return self._counts.setdefault(key_of(self.current), {})

    def _write(self) -> None:
        kept = {
            key: {each: n for each, n in counts.items() if n} for key, counts in (self._counts or {}).items()
        }
        try:
            write_counts(counts_path(), {key: counts for key, counts in kept.items() if counts})
        except LmvizError as error:
            self.failed.emit(str(error))
