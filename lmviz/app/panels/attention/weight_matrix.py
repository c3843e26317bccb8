"""What panels with a matrix of weights of attention have in common: pointing, pinning, repainting."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.gradient_switch import GradientSwitch
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.strongest import strongest_cell
from lmviz.inspection.views import View

NOTHING = np.zeros((0, 0), dtype=np.float32)


class WeightMatrixPanel(Panel):
    """Rows look at columns. Hover reads a weight, a click pins its position, dragging repaints a row.

    Subclasses draw `_shown`, and keep in `_view` where its cells come from: None while they are combined of
    several heads, so that none of them can be explained. `_mark` and `_light` say what stands out.
    """

    draws = ("reading", "gradients")

    def __init__(self, session: Session, matrix_name: str, paint_name: str) -> None:
        super().__init__(session)
        self.matrix = named(HeatmapView(), description=matrix_name)  # the heatmap
        self._paint = named(QPushButton("edit"), paint_name, role="link")
        self._paint.setCheckable(True)
        self._paint.setToolTip(
            "Edit weights: drag one up or down; the rest of its row is rescaled to sum to one, "
            "and all later values are recomputed."
        )
        self._switch = GradientSwitch(session)
        self.shown = NOTHING  # what is drawn: (query, key), or (position, source)
        self._view: View | None = None
        self._dragging = False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._suggest()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not self.is_put_away:  # what is explained stays, where the explanation is enlarged
            self.session.explanation.suggest(None)

    @abstractmethod
    def _mark(self) -> None:
        """Frame the chosen row and the pinned cell."""

    @abstractmethod
    def _light(self) -> None:
        """Dim the cells that are not operands of the explained cell."""

    @abstractmethod
    def _painted(self, row: int, column: int, weight: float) -> Intervention | None:
        """The row with that weight in the column; None where what is drawn cannot be forced."""

    def _connect_matrix(self) -> None:
        """Have the matrix follow the session, and the session the matrix."""
        session, matrix = self.session, self.matrix
        matrix.cell_hovered.connect(self._hover)
        matrix.left.connect(self._leave)
        matrix.cell_clicked.connect(self._choose)
        matrix.cell_dragged.connect(self._repaint)
        matrix.drag_finished.connect(self._end_of_drag)
        for changed in (
            session.focus.hovered_position_changed,
            session.focus.cell_changed,
            session.focus.position_changed,
            session.focus.source_changed,
        ):
            changed.connect(self._mark)
        for changed in (session.focus.position_changed, session.focus.source_changed):
            changed.connect(self._suggest)
        session.explanation.changed.connect(self._light)
        session.explanation.suggestion_changed.connect(self._mark_suggested)
        self.follow(
            session.library.model_changed,
            session.reading.changed,
            session.attention.side_changed,
            session.attention.head_changed,
            session.attention.heads_changed,
            session.gradients.changed,
        )
        self.show_failures(
            session.gradients.failed, session.gradients.changed, session.gradients.shown_changed
        )

    def _mark_pinned(self) -> None:
        view, cell = self._view, self.session.focus.cell
        is_drawn = view is not None and cell is not None and cell[0] == view.address
        self.matrix.set_pinned(view.cell(cell[1]) if is_drawn and view and cell else None)

    def _suggest(self) -> None:
        """Have the strongest weight of the chosen row explained, as long as none is pinned."""
        view = self._view
        if view is None or self.awaits_answer or not (self.is_in_sight or self.is_put_away):
            return
        row = min(self._chosen_row(), len(self.shown) - 1)
        place = strongest_cell(view, row, along=(view.row_axis,))
        self.session.explanation.suggest(None if place is None else (view.address, view.index(*place)))

    def _mark_suggested(self) -> None:
        view, suggestion = self._view, self.session.explanation.suggestion
        is_drawn = view is not None and suggestion is not None and suggestion[0] == view.address
        self.matrix.set_suggested(view.cell(suggestion[1]) if is_drawn and view and suggestion else None)

    def _chosen_row(self) -> int:
        """The row that one looks at, whatever is under the pointer."""
        return self.session.focus.position

    def _point(self, row: int | None, column: int | None) -> None:
        """Preview what stands along a row and a column; None when the pointer leaves."""
        self.session.focus.hover_position(row)

    def _pin(self, row: int, column: int) -> None:
        """Pin what stands along them."""
        self.session.focus.choose_position(row)

    def _hover(self, row: int, column: int) -> None:
        self._point(row, column)
        if self._view is not None:
            self.session.focus.hover_cell((self._view.address, self._view.index(row, column)))

    def _leave(self) -> None:
        self._point(None, None)
        self.session.focus.hover_cell(None)

    def _choose(self, row: int, column: int) -> None:
        self._pin(row, column)
        if self._view is not None:
            self.session.focus.choose_cell((self._view.address, self._view.index(row, column)))

    def _repaint(self, row: int, column: int, weight: float) -> None:
        try:
            painted = self._painted(row, column, weight)
        except LmvizError as sentence:
            self.complain(str(sentence), "paint")
            return
        if painted is None:
            return
        self.complain("", "paint")
        self.session.surgery.add(painted, dragging=self._dragging)
        self._dragging = True

    def _end_of_drag(self) -> None:
        self._dragging = False
