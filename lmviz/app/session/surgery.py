"""The interventions in force, and the way back through every one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from lmviz.inspection.names import POSITIONAL

if TYPE_CHECKING:
    from lmviz.inspection.intervention import Intervention


class Surgery:
    """The part of the session that changes what a model computes. Mixed into a QObject."""

    interventions_changed = Signal()
    twin_changed = Signal()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._is_twin_wanted = False
        self._intervention_history: list[tuple[Intervention, ...]] = [()]
        self._intervention_time = 0

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """All interventions, those that are switched off too, in the order in which they were made."""
        return self._intervention_history[self._intervention_time]

    @property
    def interventions_in_force(self) -> tuple[Intervention, ...]:
        """Those that are switched on."""
        return tuple(item for item in self.interventions if item.enabled)

    @property
    def has_twin(self) -> bool:
        """Whether the model as it was trained is compared with it as it is changed."""
        return self._is_twin_wanted and bool(self.interventions_in_force)

    def set_twin(self, wanted: bool) -> None:
        """Put the model as it was trained beside it as it is changed, or take it away."""
        if wanted != self._is_twin_wanted:
            self._is_twin_wanted = wanted
            self.twin_changed.emit()

    @property
    def can_undo_intervention(self) -> bool:
        """Whether there is a step to go back."""
        return self._intervention_time > 0

    @property
    def can_redo_intervention(self) -> bool:
        """Whether there is a step to go forward again."""
        return self._intervention_time < len(self._intervention_history) - 1

    def add_intervention(self, intervention: Intervention, *, dragging: bool = False) -> None:
        """Put one more in force; at the same address and place it takes the other's place.

        `dragging` is for the moves of one drag after its first: together they are one step of undo.
        """
        kept = tuple(item for item in self.interventions if not _same_place(item, intervention))
        if dragging and self._intervention_time > 0 and len(kept) < len(self.interventions):
            self._intervention_history[self._intervention_time :] = [(*kept, intervention)]
            self.interventions_changed.emit()
        else:
            self._put_in_force((*kept, intervention))

    def toggle_intervention(self, index: int) -> None:
        """Switch one off, or on again."""
        changed = list(self.interventions)
        changed[index] = replace(changed[index], enabled=not changed[index].enabled)
        self._put_in_force(tuple(changed))

    def remove_intervention(self, index: int) -> None:
        """Take one out of the list."""
        self._put_in_force(self.interventions[:index] + self.interventions[index + 1 :])

    def clear_interventions(self) -> None:
        """Take all out of the list; undo brings them back."""
        if self.interventions:
            self._put_in_force(())

    def undo_intervention(self) -> None:
        """Back to before the last change of the list."""
        if self.can_undo_intervention:
            self._intervention_time -= 1
            self.interventions_changed.emit()

    def redo_intervention(self) -> None:
        """Forward again after an undo."""
        if self.can_redo_intervention:
            self._intervention_time += 1
            self.interventions_changed.emit()

    def _put_in_force(self, interventions: tuple[Intervention, ...]) -> None:
        self._intervention_history[self._intervention_time + 1 :] = [interventions]
        self._intervention_time += 1
        self.interventions_changed.emit()

    def _forget_interventions(self) -> None:
        """Another model: its taps are others, so that nothing of the past would fit."""
        had_some = bool(self.interventions)
        self._is_twin_wanted = False
        self._intervention_history, self._intervention_time = [()], 0
        if had_some:
            self.interventions_changed.emit()


def in_words(interventions: Sequence[Intervention]) -> str:
    """What is in force, for a line beside what it changes; empty where nothing is."""
    if not interventions:
        return ""
    only = interventions[0].describe()
    return f"with {only}" if len(interventions) == 1 else f"with {len(interventions)} interventions"


def meaning_in_words(interventions: Sequence[Intervention]) -> str:
    """What interventions mean for a text that goes on; empty where nothing is in force."""
    if not interventions:
        return ""
    listed = "; ".join(item.describe() for item in interventions)
    if not any(POSITIONAL & set(item.where) for item in interventions):
        return f"In force at every position, those still to come too: {listed}."
    return (
        f"In force: {listed}. What is changed at certain positions is changed there alone: "
        "words written after them are not touched."
    )


def _same_place(first: Intervention, second: Intervention) -> bool:
    return (first.address, first.where) == (second.address, second.where)
