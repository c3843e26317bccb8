"""The explanation of the chosen cell, and the cells that it was computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.focus import Focus
    from lmviz.app.session.work import Work
    from lmviz.inspection.views import View
    from lmviz.models.arithmetic import Arithmetic
    from lmviz.models.model import Model


class Explanation(Part):
    """Explains the cell that is pinned or hovered, by the model that the reading was taken from."""

    changed = Signal()

    def __init__(
        self, work: Work, reading: CurrentReading, focus: Focus, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._work = work
        self._reading = reading
        self._focus = focus
        self._arithmetic: Arithmetic | None = None
        self._has_failed = False
        for changed in (focus.cell_changed, focus.hovered_cell_changed, reading.changed):
            changed.connect(self._explain)

    @property
    def arithmetic(self) -> Arithmetic | None:
        """That of `focus.explained_cell`; until it is known, that of the one before. None for no cell."""
        return self._arithmetic

    def lights(self, view: View) -> np.ndarray | None:
        """How strongly each cell of a view belongs to the explained one, (row, column) from 0 to 3.

        None where no cell of the view does.
        """
        from lmviz.inspection.lighting import lights

        found = self._arithmetic
        if found is None or (found.address, tuple(found.index)) != self._focus.explained_cell:
            return None
        return lights(view, found)

    def _explain(self) -> None:
        cell, reading = self._focus.explained_cell, self._reading.current
        if reading is None or cell is None or not reading.has_cell(*cell):
            self._work.silence("why")
            self._take_arithmetic(None)
            return

        def work(model: Model) -> Arithmetic:
            from lmviz.inspection.explain import explain

            return explain(model, reading.trace, *cell)

        self._reading.ask_about(reading, "why", work, self._take_arithmetic, self._fail)

    def _take_arithmetic(self, arithmetic: Arithmetic | None) -> None:
        if arithmetic is not None or self._arithmetic is not None or self._has_failed:
            self._arithmetic, self._has_failed = arithmetic, False
            self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self._take_arithmetic(None)
        self._has_failed = True
        self.failed.emit(sentence)
