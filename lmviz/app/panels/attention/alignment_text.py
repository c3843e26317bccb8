"""A source and its translation, one above the other, with the weights between them as bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStackedWidget

from lmviz.app.panels.attention.chosen_alignment import NO_ALIGNMENT, chosen_alignment, out_of_translation
from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.export import Names
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.alignment_arcs import TARGET, AlignmentArcs

if TYPE_CHECKING:
    from lmviz.app.panels.attention.chosen_alignment import ChosenAlignment
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.session import Session

NOTHING = np.zeros((0, 0))
LEAST_HEIGHT = 112  # pixels within which the words and their bands can be seen
HINT = "point at a word: where it comes from, or goes · click: pin"


class AlignmentTextPanel(Panel):
    """Draws the chosen head, or the mean of several. A click on a word of the source pins its weight."""

    gives_way = 33

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("alignment_text_view")
        self._arcs = AlignmentArcs()
        self._chosen: ChosenAlignment | None = None
        self._weights = NOTHING
        self._area = scrolling(self._arcs, sideways=True)
        self._area.setMinimumHeight(LEAST_HEIGHT)
        self._empty = EmptyText(NO_ALIGNMENT)
        self._pages = QStackedWidget()
        for page in (self._area, self._empty):
            self._pages.addWidget(page)
        self._card = Card("Between the two texts", HINT, self._pages)
        self.column.addWidget(self._card)
        self._arcs.target_hovered.connect(lambda at: session.focus.hover_position(at if at >= 0 else None))
        self._arcs.target_clicked.connect(session.focus.choose_position)
        self._arcs.source_clicked.connect(self._choose_source)
        self._follow_current = QTimer(self, singleShot=True, interval=0)
        self._follow_current.timeout.connect(self._show_current)
        session.focus.position_changed.connect(self._follow_current.start)
        for changed in (
            session.focus.hovered_position_changed,
            session.focus.position_changed,
            session.focus.cell_changed,
        ):
            changed.connect(self._mark)
        self.follow(session.reading.changed, session.attention.head_changed, session.attention.heads_changed)

    @property
    def arcs(self) -> AlignmentArcs:
        """The two lines of words."""
        return self._arcs

    @property
    def weights(self) -> np.ndarray:
        """What is drawn, (position, source)."""
        return self._weights

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {"weights": self._weights} if self._weights.size else {}

    def exported_names(self) -> Names:
        chosen = self._chosen
        return Names() if chosen is None else Names(chosen.written, chosen.source)

    def recipe(self) -> str:
        from lmviz.inspection.recipes.recipe import alignment_recipe

        chosen = self._chosen
        return "" if chosen is None else alignment_recipe(chosen.reading.moment, chosen.heads)

    def out_of_place(self, model: OpenedModel) -> str:
        return out_of_translation(model, "where each word of a translation comes from")

    def refresh(self) -> None:
        from lmviz.inspection.alignment import combined_alignment

        chosen = self._chosen = chosen_alignment(self.session)
        if chosen is None:
            self._weights = NOTHING
            self._arcs.set_alignment((), (), NOTHING)
            self._pages.setCurrentWidget(self._empty if self.session.reading.current else self._area)
            self._card.set_aside("" if self.session.reading.current else "type a source, and a translation")
            return
        self._pages.setCurrentWidget(self._area)
        self._card.set_aside(HINT)
        self._weights = combined_alignment(chosen.reading.trace, chosen.heads)
        self._arcs.set_alignment(chosen.written, chosen.source, self._weights)
        self._mark()
        self._follow_current.start()

    def _show_current(self) -> None:
        """Scroll to the chosen word once the two texts have their new width."""
        position = self.session.reading.position
        if 0 <= position < len(self._weights):
            place = self._arcs.token_place(TARGET, position).toPoint()
            self._area.ensureVisible(place.x(), place.y(), self._area.width() // 4, 0)

    def _mark(self) -> None:
        if self._chosen is None:
            return
        hovered, cell = self.session.focus.hovered_position, self.session.focus.cell
        reading = self._chosen.reading
        axes = reading.axes(cell[0]) if cell is not None else None
        places = dict(zip(axes, cell[1], strict=True)) if axes is not None and cell is not None else {}
        self._arcs.set_current(self.session.focus.position)
        self._arcs.set_hovered(-1 if hovered is None else hovered)
        self._arcs.set_chosen_source(places.get("source", -1))

    def _choose_source(self, source: int) -> None:
        """Pin the weight with which the chosen position looks at a word of the source."""
        chosen = self._chosen
        if chosen is None or len(chosen.heads) > 1:
            return
        position = min(self.session.focus.position, len(self._weights) - 1)
        head = (chosen.head,) if chosen.has_heads else ()
        self.session.focus.choose_cell((chosen.attention.weights, (*head, position, source)))
