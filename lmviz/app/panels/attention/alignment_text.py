"""A source and its translation, one above the other, with the weights between them as bands."""

from __future__ import annotations

from PySide6.QtCore import QPointF

from lmviz.app.panels.attention.chosen_alignment import (
    NO_ALIGNMENT,
    ChosenAlignment,
    chosen_alignment,
    out_of_translation,
)
from lmviz.app.panels.attention.followed_text import NOTHING, FollowedTextPanel
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.alignment_arcs import TARGET, AlignmentArcs
from lmviz.inspection.alignment import combined_alignment
from lmviz.inspection.recipes.recipe import alignment_recipe
from lmviz.looks.names import Names

NO_TEXTS = "Type a source, and a translation."
HINT = "point at a word: where it comes from, or goes · click: pin"


class AlignmentTextPanel(FollowedTextPanel):
    """Draws the chosen head, or the mean of several. A click on a word of the source pins its weight."""

    def __init__(self, session: Session) -> None:
        self._arcs = AlignmentArcs()
        super().__init__(session, self._arcs)
        self._chosen: ChosenAlignment | None = None
        self._card = self.add_card("Between the two texts", HINT, self._area)
        self._arcs.target_hovered.connect(session.focus.hover_position)
        self._arcs.target_clicked.connect(session.focus.choose_position)
        self._arcs.source_clicked.connect(self._choose_source)
        for changed in (
            session.focus.hovered_position_changed,
            session.focus.position_changed,
            session.focus.cell_changed,
        ):
            changed.connect(self._mark)

    def exported_names(self) -> Names:
        chosen = self._chosen
        return Names() if chosen is None else Names(chosen.written, chosen.source)

    def recipe(self) -> str:
        chosen = self._chosen
        return "" if chosen is None else alignment_recipe(chosen.reading.moment, chosen.heads)

    def out_of_place(self, model: OpenedModel) -> str:
        return out_of_translation(model, "which words of the two texts belong together")

    def refresh(self) -> None:
        chosen = self._chosen = chosen_alignment(self.session)
        if chosen is None:
            self.weights = NOTHING
            self._arcs.set_alignment((), (), NOTHING)
            self._card.set_aside("")
            self._card.set_placeholder(NO_ALIGNMENT if self.session.reading.current else NO_TEXTS)
            return
        self._card.set_placeholder("")
        self._card.set_aside(self.of_units(HINT))
        self.weights = combined_alignment(chosen.reading.trace, chosen.heads)
        self._arcs.set_alignment(chosen.written, chosen.source, self.weights)
        self._mark()
        self._follow_current.start()

    def _word_place(self, position: int) -> QPointF:
        return self._arcs.token_place(TARGET, position)

    def _mark(self) -> None:
        if self._chosen is None:
            return
        hovered, cell = self.session.focus.hovered_position, self.session.focus.cell
        reading = self._chosen.reading
        if cell is not None and not reading.has_cell(*cell):
            cell = None  # it is of a newer reading, which has not been drawn yet
        axes = reading.axes(cell[0]) if cell is not None else None
        places = dict(zip(axes, cell[1], strict=True)) if axes is not None and cell is not None else {}
        self._arcs.set_current(self.session.focus.position)
        self._arcs.suggest(-1 if hovered is None else hovered)
        self._arcs.set_chosen_source(places.get("source", -1))

    def _choose_source(self, source: int) -> None:
        """Pin the weight with which the chosen position looks at a word of the source."""
        chosen = self._chosen
        if chosen is None or len(chosen.heads) > 1:
            return
        position = min(self.session.focus.position, len(self.weights) - 1)
        head = (chosen.head,) if chosen.has_heads else ()
        self.session.focus.choose_source(source)
        self.session.focus.choose_cell((chosen.attention.weights, (*head, position, source)))
