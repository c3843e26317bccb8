"""Strips of a trace's values whose cells can be hovered, pinned and explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QShowEvent

from lmviz.app.session.focus import Cell
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import figure_of
from lmviz.app.widgets.matrix.strips import ROW, Strip, StripList
from lmviz.inspection.names import title_of
from lmviz.inspection.views import View
from lmviz.text.tokenizer import visible


@dataclass(frozen=True)
class NamedView:
    """One line of strips: a view of one row, its name, and its role and share as `Strip` has them."""

    name: str
    view: View
    role: str = "operand"
    share: float | None = None


class ExplainedStrips(StripList):
    """`ExplainedStrips(session, row=ROW)`: `set_views(named_views, reading)` draws them, all else follows.

    What it says of a cell is of the reading that is drawn, even if a newer one has been made meanwhile.
    """

    def __init__(self, session: Session, row: float = ROW) -> None:
        super().__init__(row=row)
        self._session = session
        self.views: tuple[View, ...] = ()  # what is drawn, one view each
        self._reading: Reading | None = None
        self.cell_hovered.connect(lambda *cell: session.focus.hover_cell(self._cell_of(cell)))
        self.cell_clicked.connect(lambda *cell: session.focus.choose_cell(self._cell_of(cell)))
        self.set_readout(self._read_out)
        session.focus.cell_changed.connect(self._mark)
        session.explanation.suggestion_changed.connect(self._mark)
        session.explanation.changed.connect(self._light)

    def shows(self, cell: Cell) -> bool:
        """Whether a cell is among those drawn."""
        return any(view.address == cell[0] and view.cell(cell[1]) is not None for view in self.views)

    def set_views(
        self, named: Sequence[NamedView], reading: Reading | None = None, *, crossfade: bool = False
    ) -> None:
        """Draw views of a reading from top to bottom; without a reading there are none."""
        self.views, self._reading = tuple(item.view for item in named), reading
        self.set_strips([self._strip(item) for item in named], crossfade=crossfade)
        self._mark()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._light()

    def _strip(self, item: NamedView) -> Strip:
        view = item.view
        texts = self._texts(view)
        return Strip(item.name, view.values[0], view.scale, role=item.role, texts=texts, share=item.share)

    def _texts(self, view: View) -> tuple[str, ...]:
        """The words of a strip of token ids, such as a matched context."""
        if view.scale != "token":
            return ()
        return tuple(self._word(int(id)) if id >= 0 else "–" for id in view.values[0])

    def _word(self, id: int) -> str:
        return visible(self._reading.model.tokenizer.token(id)) if self._reading is not None else ""

    def _cell_of(self, cell: tuple[int, int]) -> Cell | None:
        if cell[0] < 0:
            return None
        view = self.views[cell[0]]
        return view.address, view.index(0, cell[1])

    def _mark(self) -> None:
        """Outline the pinned or suggested cell, and those at its place in the other strips of its length."""
        suggestion = self._session.explanation.suggestion
        pinned = self._session.focus.cell or suggestion
        found = [
            (number_of_strip, place[1])
            for number_of_strip, view in enumerate(self.views)
            if pinned is not None and view.address == pinned[0]
            for place in [view.cell(pinned[1])]
            if place is not None
        ]
        if found:
            strip, place = found[0]
            length = len(self.strips[strip].values)
            alike = [n for n, other in enumerate(self.strips) if n != strip and len(other.values) == length]
            found = [(strip, place), *((n, place) for n in alike)]
        self.set_marks(found, dashed=suggestion is not None)
        self._light()

    def _light(self) -> None:
        """Dim the cells that are not operands of the explained cell."""
        if self.isVisible():
            self.set_lights([self._session.explanation.lights(view) for view in self.views])

    def _read_out(self, strip: int, cell: int) -> tuple[str, list[str]]:
        view = self.views[strip]
        value = float(view.values[0, cell])
        words = []
        for axis, place in zip(view.axes, view.index(0, cell), strict=True):
            if axis == "order" and value >= 0:
                words.append(f"“{self._word(int(value))}”")
            elif self._reading is not None:
                words.append(self._reading.coordinate(axis, place))
        return figure_of(view.address, value), [title_of(view.address), ", ".join(words)]
