"""The interventions in force, and the way back through every one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

if TYPE_CHECKING:
    from lmviz.inspection.intervention import Intervention


class Surgery:
    """The part of the session that changes what a model computes. Mixed into a QObject."""

    interventions_changed = Signal()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._intervention_history: list[tuple[Intervention, ...]] = [()]
        self._intervention_time = 0

    @property
    def interventions(self) -> tuple[Intervention, ...]:
        """All interventions, those that are switched off too, in the order in which they were made."""
        return self._intervention_history[self._intervention_time]

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
        self._intervention_history, self._intervention_time = [()], 0
        if had_some:
            self.interventions_changed.emit()


def _same_place(first: Intervention, second: Intervention) -> bool:
    return (first.address, first.where) == (second.address, second.where)
