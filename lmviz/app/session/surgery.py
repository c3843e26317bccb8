"""The interventions on the shown model, with undo and redo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.library import Library
from lmviz.app.session.part import Part
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.names import POSITIONAL


class Surgery(Part):
    """Changes what the shown model computes. Another model begins without changes: its taps are others.

    All changes together can be switched off for a while, and are kept. Whatever is changed then switches
    them on again.
    """

    changed = Signal()

    def __init__(self, library: Library, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._history: list[tuple[Intervention, ...]] = [()]
        self._time = 0
        self._is_off = False
        library.model_changed.connect(self._forget)

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """All interventions, those that are switched off too, in the order in which they were made."""
        return self._history[self._time]

    @property
    def in_force(self) -> tuple[Intervention, ...]:
        """Those that are switched on; none while all are switched off."""
        return () if self._is_off else tuple(item for item in self.interventions if item.enabled)

    @property
    def is_off(self) -> bool:
        """Whether all are switched off for now, and kept."""
        return self._is_off

    def set_off(self, off: bool) -> None:
        """Switch all off for now, or on again as they were."""
        if off != self._is_off and (self.interventions or not off):
            self._is_off = off
            self.changed.emit()

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to go back."""
        return self._time > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a step to go forward again."""
        return self._time < len(self._history) - 1

    def add(self, *interventions: Intervention, dragging: bool = False) -> None:
        """Put more in force, as one step of undo; at the same address and place one takes another's place.

        `dragging` is for the moves of one drag after its first: together they are one step of undo.
        """
        made = tuple(
            replace(item, required=False) for item in interventions
        )  # they outlive a change of the text
        kept = tuple(
            item for item in self.interventions if not any(_same_place(item, other) for other in made)
        )
        if dragging and self._time > 0 and len(kept) < len(self.interventions):
            self._history[self._time :] = [(*kept, *made)]
            self._is_off = False
            self.changed.emit()
        else:
            self._put_in_force((*kept, *made))

    def toggle(self, index: int) -> None:
        """Switch one off, or on again."""
        changed = list(self.interventions)
        changed[index] = replace(changed[index], enabled=not changed[index].enabled)
        self._put_in_force(tuple(changed))

    def remove(self, index: int) -> None:
        """Take one out of the list."""
        self._put_in_force(self.interventions[:index] + self.interventions[index + 1 :])

    def clear(self) -> None:
        """Take all out of the list; undo brings them back."""
        if self.interventions:
            self._put_in_force(())

    def undo(self) -> None:
        """Back to before the last change of the list."""
        if self.can_undo:
            self._time -= 1
            self.changed.emit()

    def redo(self) -> None:
        """Forward again after an undo."""
        if self.can_redo:
            self._time += 1
            self.changed.emit()

    def _put_in_force(self, interventions: tuple[Intervention, ...]) -> None:
        self._history[self._time + 1 :] = [interventions]
        self._time += 1
        self._is_off = False
        self.changed.emit()

    def _forget(self) -> None:
        had_some = bool(self.interventions)
        self._history, self._time, self._is_off = [()], 0, False
        if had_some:
            self.changed.emit()


def number_in_words(number: int) -> str:
    """How many changes there are: "1 change", "2 changes"."""
    return "1 change" if number == 1 else f"{number} changes"


def in_words(interventions: Sequence[Intervention]) -> str:
    """The interventions in a few words, for a caption; empty if there are none."""
    if not interventions:
        return ""
    only = interventions[0].describe()
    return f"with {only}" if len(interventions) == 1 else f"with {number_in_words(len(interventions))}"


def of_whole_texts(interventions: tuple[Intervention, ...]) -> tuple[Intervention, ...]:
    """The interventions, where they hold for any text; none where one is of certain words that are typed."""
    is_of_some_words = any(POSITIONAL & set(item.where) for item in interventions)
    return () if is_of_some_words else interventions


def meaning_in_words(interventions: Sequence[Intervention]) -> str:
    """How interventions apply to words written later; empty if there are none."""
    if not interventions:
        return ""
    listed = "; ".join(item.describe() for item in interventions)
    if of_whole_texts(tuple(interventions)):
        return f"At every position, including what is written later: {listed}."
    return (
        f"In force: {listed}. A change at certain positions applies only there, not to what is written later."
    )


def _same_place(first: Intervention, second: Intervention) -> bool:
    return (first.address, first.where) == (second.address, second.where)
