"""The directions of the shown model: one list, kept beside the run, and which of them is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part

if TYPE_CHECKING:
    from lmviz.app.session.library import Library
    from lmviz.app.session.opened_model import Moment, OpenedModel
    from lmviz.app.session.surgery import Surgery
    from lmviz.app.session.work import Work
    from lmviz.inspection.intervention import Intervention
    from lmviz.readouts.direction import StateDirection

    _Key = tuple[Path, str]


@dataclass(frozen=True, eq=False)
class _List:
    """The directions of one run, in the order in which they came, and the file in which they are kept."""

    listed: tuple[StateDirection, ...]
    file: Path


class OpenDirections(Part):
    """Directions are added, named, taken out, read from files and written into them.

    `changed` follows each change of the list, and `chosen_changed` another choice.
    """

    changed = Signal()
    chosen_changed = Signal()

    def __init__(self, work: Work, library: Library, surgery: Surgery, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._library, self._surgery = work, library, surgery
        self._known: dict[_Key, _List] = {}
        self._looked_for: set[_Key] = set()
        self._unread: set[_Key] = set()
        self._early: dict[_Key, list[StateDirection]] = {}  # added before what is kept had been read
        self._chosen = -1
        library.model_changed.connect(self._choose_none)
        library.step_changed.connect(self.changed)

    @property
    def moment(self) -> Moment | None:
        """The model and the step whose states they are of."""
        model = self._library.model
        return None if model is None else (model, model.nearest_snapshot(self._library.shown_moment[1]))

    @property
    def listed(self) -> tuple[StateDirection, ...]:
        """Those of the shown model."""
        own = self._own
        return () if own is None else own.listed

    @property
    def file(self) -> Path | None:
        """Where they are kept; None until that is known."""
        own = self._own
        return None if own is None else own.file

    @property
    def chosen(self) -> int:
        """The place in the list of the one that is looked at, −1 for none."""
        return self._chosen if self._chosen < len(self.listed) else -1

    @property
    def direction(self) -> StateDirection | None:
        """The one that is looked at."""
        return self.listed[self.chosen] if self.chosen >= 0 else None

    def code_of(self, direction: StateDirection) -> str:
        """Python code that opens one of the list, whatever becomes of the others; empty for another one."""
        own = self._own
        if own is None or not any(one is direction for one in own.listed):
            return ""
        mark = repr(direction.digest)
        return f"next(one for one in lmviz.open_direction({str(own.file)!r}) if one.digest == {mark})"

    def look_for(self) -> None:
        """Have those that are kept of the shown model read, once."""
        model = self._library.model
        if model is None or model.identity in self._looked_for:
            return
        key, created = model.identity, model.description.created
        folder = model.folder
        self._looked_for.add(key)

        def work() -> tuple[_List, str]:
            from lmviz.readouts.kept_directions import directions_of, kept_directions

            path = directions_of(folder, created)
            listed, sentence = kept_directions(path)
            return _List(listed, path), sentence

        self.begun.emit()
        self._work.ask(
            f"kept directions {folder}", work, lambda found: self._take(key, *found), self._fail(key)
        )

    def add(self, *directions: StateDirection) -> None:
        """Put directions at the end of the shown model's list, and look at the last."""
        model = self._library.model
        if model is None or not directions:
            return
        self.look_for()
        own = self._own
        if own is None:
            self._early.setdefault(model.identity, []).extend(directions)
            return
        self._put(own, (*own.listed, *directions))
        self.choose(len(self.listed) - 1)

    def choose(self, place: int) -> None:
        """Look at one of the list."""
        if place != self._chosen and -1 <= place < len(self.listed):
            self._chosen = place
            self.chosen_changed.emit()

    def give_name(self, name: str) -> None:
        """Give the one that is looked at a name; an empty one takes it away."""
        own, at = self._own, self.chosen
        if own is not None and at >= 0 and name.strip() != own.listed[at].name:
            named = replace(own.listed[at], name=name.strip())
            self._put(own, (*own.listed[:at], named, *own.listed[at + 1 :]))

    def remove(self) -> None:
        """Take the one that is looked at out of the list."""
        own, at = self._own, self.chosen
        if own is not None and at >= 0:
            self._chosen = min(at, len(own.listed) - 2)
            self._put(own, own.listed[:at] + own.listed[at + 1 :])
            self.chosen_changed.emit()

    def open_file(self, path: Path) -> None:
        """Add the directions of a file; `failed` says what is wrong with it."""

        def work() -> tuple[StateDirection, ...]:
            from lmviz.readouts.direction_file import read_directions

            return read_directions(path)

        self._work.open_file(path, work, lambda found: self.add(*found), self)

    def save_file(self, path: Path) -> None:
        """Write the list into a file; `failed` says why that cannot be."""
        listed = self.listed

        def write() -> None:
            from lmviz.readouts.direction_file import write_directions

            write_directions(listed, path)

        self._work.save_file(path, write, lambda _: None, self)

    def apply(self, change: Intervention) -> None:
        """Put what a direction does into surgery."""
        self._surgery.add(change)

    @property
    def _own(self) -> _List | None:
        model = self._library.model
        return None if model is None else self._known.get(model.identity)

    def _put(self, own: _List, listed: tuple[StateDirection, ...]) -> None:
        model: OpenedModel | None = self._library.model
        assert model is not None, "a list is of an open model"
        self._known[model.identity] = replace(own, listed=listed)
        path = own.file

        def write() -> None:
            from lmviz.readouts.kept_directions import keep_directions

            keep_directions(listed, path)

        self._work.save_file(path, write, lambda _: None, self)
        self.changed.emit()

    def _take(self, key: _Key, found: _List, sentence: str) -> None:
        self._known[key] = found
        if sentence:
            self.failed.emit(sentence)
        early = self._early.pop(key, [])
        if early and self._own is self._known[key]:
            self.add(*early)
        self.changed.emit()

    def _fail(self, key: _Key) -> Callable[[str], None]:
        """What to do where the list cannot be read: it is tried again when the model is next shown."""

        def fail(sentence: str) -> None:
            self._unread.add(key)
            self.failed.emit(sentence)

        return fail

    def _choose_none(self) -> None:
        self._looked_for -= self._unread
        self._unread = set()
        self._chosen = -1
        self.chosen_changed.emit()
        self.changed.emit()
