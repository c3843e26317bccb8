"""Why the cell one points at has its value, and which other cells have a part in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

if TYPE_CHECKING:
    import numpy as np

    from lmviz.inspection.views import View
    from lmviz.models.arithmetic import Arithmetic
    from lmviz.models.model import Model


class Explaining:
    """The part of the session that explains. Mixed into a QObject beside the focus and the tasks."""

    arithmetic_changed = Signal()

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._arithmetic: Arithmetic | None = None
        for changed in (self.cell_changed, self.hovered_cell_changed):
            changed.connect(self._explain)

    @property
    def arithmetic(self) -> Arithmetic | None:
        """The arithmetic of `explained_cell`; until it is known, that of the one before. None for no cell."""
        return self._arithmetic

    def lights(self, view: View) -> np.ndarray | None:
        """How strongly each cell of a view belongs to the explained one, (row, column) from 0 to 3.

        None where no cell of the view does.
        """
        from lmviz.inspection.lighting import lights

        found = self._arithmetic
        if found is None or (found.address, tuple(found.index)) != self.explained_cell:
            return None
        return lights(view, found)

    def _explain(self) -> None:
        cell, reading = self.explained_cell, self.reading
        if reading is None or cell is None or not reading.has_cell(*cell):
            self.silence("why")
            self._take_arithmetic(None)
            return

        def work(model: Model) -> Arithmetic:
            from lmviz.inspection.explain import explain

            return explain(model, reading.trace, *cell)

        self.ask_about(reading, "why", work, self._take_arithmetic)

    def _take_arithmetic(self, arithmetic: Arithmetic | None) -> None:
        if arithmetic is not None or self._arithmetic is not None:
            self._arithmetic = arithmetic
            self.arithmetic_changed.emit()
