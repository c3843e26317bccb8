"""What panels have in common that draw one matrix of cells: pointing, pinning, explaining, editing."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.gradient_switch import GradientSwitch
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.strongest import strongest_cell
from lmviz.inspection.views import OVER_SOURCE, OVER_TEXT, View
from lmviz.models.sequences import ALONG, TEXT

NOTHING = np.zeros((0, 0), dtype=np.float32)
EDIT_VALUES = "Edit values: drag a cell up or down; all later values are recomputed."
EDIT_WEIGHTS = (
    "Edit weights: drag one up or down; the rest of its row is rescaled to sum to one, "
    "and all later values are recomputed."
)


class CellsPanel(Panel):
    """Hover reads a cell, a click pins it and its word, dragging changes it; the strongest is explained.

    Subclasses draw `shown` in `matrix`, and keep in `view` where its cells come from: None while they are
    combined of several heads, so that none of them can be explained.
    """

    draws = ("reading", "gradients")

    def __init__(self, session: Session, edit_name: str, edit_tip: str, matrix_name: str = "") -> None:
        super().__init__(session)
        self.matrix = named(HeatmapView(), description=matrix_name)
        self.shown = NOTHING  # the numbers that are drawn, (row, column)
        self.view: View | None = None
        self._edit = named(QPushButton("edit"), edit_name, role="link")
        self._edit.setCheckable(True)
        self._edit.setToolTip(paragraph(edit_tip))
        self._edit.toggled.connect(self.matrix.set_editable)
        self._switch = GradientSwitch(session)
        self._dragging = False
        self.matrix.cell_hovered.connect(self._hover)
        self.matrix.left.connect(self._leave)
        self.matrix.cell_clicked.connect(self._choose)
        self.matrix.set_readout(self._read_out)
        self.matrix.cell_dragged.connect(self._change)
        self.matrix.drag_finished.connect(self._end_of_drag)
        focus, explanation, gradients = session.focus, session.explanation, session.gradients
        for changed in (focus.hovered_position_changed, focus.cell_changed, focus.source_changed):
            changed.connect(self._mark)
        focus.source_changed.connect(self._suggest)
        explanation.changed.connect(self._light)
        explanation.suggestion_changed.connect(self._mark_suggested)
        self.follow(session.reading.changed, session.attention.head_changed, gradients.changed)
        self.show_failures(gradients)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._suggest()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not self.is_put_away:  # what is explained stays, where the explanation is enlarged
            self.session.explanation.suggest(None)

    @abstractmethod
    def _read_out(self, row: int, column: int) -> tuple[str, list[str]]:
        """What is said of a cell."""

    @abstractmethod
    def _changed(self, row: int, column: int, value: float) -> Intervention | None:
        """What gives a cell that value; None where what is drawn cannot be forced."""

    @property
    def _is_of_source(self) -> bool:
        """Whether what is drawn runs along the source, or is a picture."""
        if self.view is None:
            return False
        axis = self.view.row_axis if self.view.row_axis in ALONG else self.view.column_axis
        return ALONG.get(axis) != TEXT

    def _places(self, row: int, column: int) -> tuple[int | None, int | None]:
        """The position of the text to which a cell belongs, and the place of the source."""
        view = self.view
        place = row if view is None or view.row_axis in ALONG else column
        if not self._is_of_source:
            return place, None
        return None, None if view is not None and view.folded else place

    def _select(self, position: int) -> None:
        """Outline what stands at a position of the text, or a place of the source."""
        view = self.view
        if view is not None and view.folded:
            self.matrix.set_selection()
        elif view is None or view.row_axis in ALONG:
            self.matrix.set_selection(row=position)
        else:
            self.matrix.set_selection(column=position)

    def _lights(self) -> np.ndarray | None:
        """How strongly each cell stands out, (row, column): those that are not operands are dimmed."""
        return None if self.view is None else self.session.explanation.lights(self.view)

    def _draw_nothing(self) -> None:
        self.view, self.shown = None, NOTHING
        self.matrix.set_matrix(NOTHING)
        self.session.explanation.suggest(None)

    def _mark(self) -> None:
        """Outline the chosen position, frame the pinned cell, and have others dimmed."""
        view, cell = self.view, self.session.focus.cell
        if not self.shown.size or self.awaits_answer:
            return
        self._select(source_position(self.session) if self._is_of_source else self.session.reading.position)
        is_drawn = view is not None and cell is not None and cell[0] == view.address
        self.matrix.set_pinned(view.cell(cell[1]) if is_drawn and view and cell else None)
        self._mark_suggested()
        self._light()

    def _mark_suggested(self) -> None:
        view, cell = self.view, self.session.explanation.suggestion
        is_drawn = view is not None and cell is not None and cell[0] == view.address
        self.matrix.set_suggested(view.cell(cell[1]) if is_drawn and view and cell else None)

    def _light(self) -> None:
        if self.is_in_sight and not self.awaits_answer:
            self.matrix.set_lights(self._lights())

    def _suggest(self) -> None:
        """Have the strongest cell of the pinned position explained, as long as no cell is pinned."""
        view, reading = self.view, self.session.reading.current
        is_seen = self.is_in_sight or self.is_put_away
        if view is None or reading is None or self.awaits_answer or not is_seen:
            return
        if self._is_of_source:
            place = strongest_cell(view, source_position(self.session), OVER_SOURCE)
        else:
            place = strongest_cell(view, min(self.session.focus.position, reading.last), OVER_TEXT)
        is_number = view.scale != "token"  # of a word there is nothing to explain
        cell = (view.address, view.index(*place)) if place is not None and is_number else None
        self.session.explanation.suggest(cell)

    def _hover(self, row: int, column: int) -> None:
        position, place = self._places(row, column)
        if self.view is not None:  # first: what follows the position draws what belongs to the cell
            self.session.focus.hover_cell((self.view.address, self.view.index(row, column)))
        self.session.focus.hover_position(position)
        self.session.focus.hover_source(place)

    def _leave(self) -> None:
        self.session.focus.hover_position(None)
        self.session.focus.hover_source(None)
        self.session.focus.hover_cell(None)

    def _choose(self, row: int, column: int) -> None:
        position, place = self._places(row, column)
        if position is not None:
            self.session.focus.choose_position(position)
        if place is not None:
            self.session.focus.choose_source(place)
        if self.view is not None:
            self.session.focus.choose_cell((self.view.address, self.view.index(row, column)))

    def _change(self, row: int, column: int, value: float) -> None:
        """Put a dragged value in force; a whole drag is one step of undo."""
        try:
            change = self._changed(row, column, value)
        except LmvizError as sentence:
            self.complain(str(sentence), "edit")
            return
        if change is None:
            return
        self.complain("", "edit")
        self.session.surgery.add(change, dragging=self._dragging)
        self._dragging = True

    def _end_of_drag(self) -> None:
        self._dragging = False
