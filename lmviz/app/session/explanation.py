"""The explanation of the chosen cell, and the cells that it was computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session.part import Part
from lmviz.models.address import Address

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.focus import Cell, Focus
    from lmviz.app.session.gradients import Gradients
    from lmviz.app.session.reading import Reading
    from lmviz.app.session.work import Work
    from lmviz.inspection.views import View
    from lmviz.models.arithmetic import Arithmetic
    from lmviz.models.model import Model


class Explanation(Part):
    """Explains the cell that is pinned or hovered, by the model that the reading was taken from.

    While there is none, it explains the one that a panel in sight suggests: no card that explains is blank.
    A cell of "gradient/…" is explained by what reads it, as soon as the gradient is known.
    """

    changed = Signal()
    late_changed = Signal()
    suggestion_changed = Signal()

    def __init__(
        self,
        work: Work,
        reading: CurrentReading,
        focus: Focus,
        gradients: Gradients,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work = work
        self._reading = reading
        self._focus = focus
        self._gradients = gradients
        self._arithmetic: Arithmetic | None = None
        self._reading_explained: Reading | None = None
        self._asked: tuple[Reading, Cell] | None = None
        self._has_failed = False
        self._drawn: Cell | None = None  # the strongest cell that a panel draws
        self._drawn_of: Reading | None = None  # the reading of which it was the strongest
        self._otherwise: Callable[[], Cell | None] | None = None  # finds one where no panel draws any
        self._suggestion: Cell | None = None
        self._update_soon = QTimer(self)
        self._update_soon.setSingleShot(True)
        self._update_soon.timeout.connect(self._update)
        for changed in (focus.cell_changed, focus.hovered_cell_changed):
            changed.connect(self._update)
        reading.changed.connect(self._take_reading)
        gradients.changed.connect(self._take_gradient)

    @property
    def arithmetic(self) -> Arithmetic | None:
        """That of `cell`; until it is known, that of the one before. None for no cell."""
        return self._arithmetic

    @property
    def is_late(self) -> bool:
        """Whether `arithmetic` is still that of another cell or reading, or none, while one is on its way."""
        found = self._arithmetic
        if found is None:  # a stored reading waits for torch, which takes too long to show nothing meanwhile
            return self._work.is_busy("why") and not self._reading.is_stored
        is_gradient = Address.parse(found.address).is_gradient
        if self._work.is_busy("why") or (is_gradient and self._gradients.is_late):
            return True
        is_old = self._reading_explained is not self._reading.current
        return is_old or (found.address, tuple(found.index)) != self.cell

    @property
    def reading(self) -> Reading | None:
        """The reading that `arithmetic` is of."""
        return self._reading_explained

    @property
    def cell(self) -> Cell | None:
        """The cell to explain: the hovered, the pinned or the suggested one."""
        return self._focus.explained_cell or self.suggestion

    @property
    def pinned_cell(self) -> Cell | None:
        """The focus's `value_cell`; None where the current reading has no such cell.

        It may be of a picture that was drawn before, and not be unpinned until the next reading.
        """
        reading, cell = self._reading.current, self._focus.value_cell
        return cell if reading is not None and cell is not None and reading.has_cell(*cell) else None

    @property
    def suggestion(self) -> Cell | None:
        """What is explained while no cell is pinned, though another may be hovered; None while one is."""
        return self._suggestion

    def suggest(self, cell: Cell | None) -> None:
        """Say which cell is the strongest that is drawn; None when it is out of sight."""
        self._drawn, self._drawn_of = cell, self._reading.current
        self._update()

    def suggest_otherwise(self, find: Callable[[], Cell | None] | None) -> None:
        """Say how to find the cell to explain where no panel draws one: it may take long to find.

        Where one does, that panel suggests its own of a newer reading, as a rule in this turn.
        """
        self._otherwise = find
        if self._is_drawn and self._drawn_of is not self._reading.current:
            self._update_soon.start()
        else:
            self._update()

    @property
    def _is_drawn(self) -> bool:
        """Whether the reading has the strongest cell that a panel draws."""
        reading = self._reading.current
        return reading is not None and self._drawn is not None and reading.has_cell(*self._drawn)

    def lights(self, view: View) -> np.ndarray | None:
        """How strongly each cell of a view belongs to the explained one, (row, column) from 0 to 3.

        None where no cell of the view does, and for a cell that is only suggested.
        """
        found = self._arithmetic
        if found is None or (found.address, tuple(found.index)) != self._focus.explained_cell:
            return None
        from lmviz.inspection.lighting import lights  # not needed for the first paint

        return lights(view, found)

    def _take_reading(self) -> None:
        """Another reading: where nothing is pinned or hovered, the panels in sight suggest a cell."""
        if self._focus.explained_cell is not None or self._reading.current is None:
            self._update()

    def _take_gradient(self) -> None:
        """Another gradient, or none: what is explained of one is explained anew."""
        if self.cell is not None and Address.parse(self.cell[0]).is_gradient:
            self._asked = None
            self._explain()

    def _update(self) -> None:
        self._update_soon.stop()
        before, self._suggestion = self._suggestion, self._best_offer()
        if self._suggestion != before:
            self.suggestion_changed.emit()
        self._explain()

    def _best_offer(self) -> Cell | None:
        """Of what is suggested, the first that the reading has; None while a cell is pinned."""
        reading = self._reading.current
        if reading is None or self._focus.cell is not None:
            return None
        if self._is_drawn:
            return self._drawn
        found = self._otherwise() if self._otherwise is not None else None
        return found if found is not None and reading.has_cell(*found) else None

    def _explain(self) -> None:
        cell, reading, found = self.cell, self._reading.current, self._gradients.current
        is_gradient = cell is not None and Address.parse(cell[0]).is_gradient
        is_there = found is not None or not is_gradient
        if reading is None or cell is None or not reading.has_cell(*cell) or not is_there:
            self._asked = None
            self.begun.emit()
            self._work.silence("why")
            self._take_arithmetic(None, None)
            return
        if self._asked is not None and self._asked[0] is reading and self._asked[1] == cell:
            return
        self._asked = reading, cell
        self.begun.emit()

        def work(model: Model) -> Arithmetic:
            from lmviz.inspection.explain import explain
            from lmviz.inspection.explain_gradient import explain_gradient

            if found is not None and is_gradient:
                return explain_gradient(model, found, *cell)
            return explain(model, reading.trace, *cell)

        self._reading.ask_about(
            reading, "why", work, lambda found: self._take_arithmetic(found, reading), self._fail
        )
        self.late_changed.emit()

    def _take_arithmetic(self, arithmetic: Arithmetic | None, reading: Reading | None) -> None:
        if arithmetic is not None or self._arithmetic is not None or self._has_failed:
            self._arithmetic, self._reading_explained, self._has_failed = arithmetic, reading, False
            self.changed.emit()
        self.late_changed.emit()

    def _fail(self, sentence: str) -> None:
        self._take_arithmetic(None, None)
        if self._reading.is_stored:  # its operands come with the first live reading, in a moment
            return
        self._has_failed = True  # `_asked` stays, or a suggestion would be asked for again and again
        self.failed.emit(sentence)
