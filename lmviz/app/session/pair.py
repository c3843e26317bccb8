"""The two models that are held against each other: the shown one, B, and the one before it, A."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.comparison import ComparedModel
from lmviz.app.session.part import Part

if TYPE_CHECKING:
    from lmviz.app.session.comparison import Comparison
    from lmviz.app.session.library import Library
    from lmviz.app.session.opened_model import Moment

Two = tuple[ComparedModel, ComparedModel]
"""A and B, as they were trained."""


class ShownPair(Part):
    """B is the shown model at the shown step, and A what it is compared with.

    A is the first model chosen for comparison. Where none is, it is an earlier step of the shown model, half
    way to the shown one, or another open model.
    """

    changed = Signal()

    def __init__(self, library: Library, comparison: Comparison, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._library, self._comparison = library, comparison
        comparison.changed.connect(self.changed)

    @property
    def models(self) -> Two | None:
        """A and B; None where there is nothing to compare."""
        before = self.before
        if before is None:
            return None
        return ComparedModel(before), ComparedModel(self._comparison.present)

    @property
    def before(self) -> Moment | None:
        """A: its model and step."""
        if self._library.model is None:
            return None
        model, step = present = self._comparison.present
        chosen = next((moment for moment in self._comparison.moments if moment != present), None)
        if chosen is not None:
            return chosen
        steps = [each for each in model.snapshots if each != step]
        if steps:
            return model, min(steps, key=lambda each: abs(each - step / 2))
        return next((moment for moment in self.choices if moment[0] != model), None)

    @property
    def choices(self) -> tuple[Moment, ...]:
        """What A may be: the other steps of the shown model, latest first, and other open models."""
        if self._library.model is None:
            return ()
        model, step = self._comparison.present
        steps = [(model, each) for each in reversed(model.snapshots) if each != step]
        others = [other for other in self._comparison.comparable if other != model and other.snapshots]
        return (*steps, *((other, other.snapshots[-1]) for other in others))

    def choose_before(self, moment: Moment) -> None:
        """Hold the shown model against another one, or another step."""
        self._comparison.choose((moment,))

    def choose_step(self, step: int) -> None:
        """Show another step of the shown model; A stays what it is."""
        before = self.before
        if before is not None:
            self._comparison.choose((before,))
        self._library.choose_step(step)
