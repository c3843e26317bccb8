"""Where each word of a translation comes from: target words by source words."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.panels.attention.chosen_alignment import (
    NO_ALIGNMENT,
    ChosenAlignment,
    chosen_alignment,
    out_of_translation,
)
from lmviz.app.panels.shared.cells_panel import EDIT_WEIGHTS, CellsPanel
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.attention_heads import CROSS
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import picker
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.base.counting import numbered
from lmviz.inspection.alignment import alignment_view, combined_alignment
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.names import word_of
from lmviz.inspection.recipes.recipe import alignment_recipe, view_recipe
from lmviz.looks.names import Names
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

WEIGHTS = "weights"
STEPS = {"products": "q · k", "scores": "scores", WEIGHTS: "softmax"}
"""What the steps are called that lead to the weights, by the last part of their address."""


class AlignmentPanel(CellsPanel):
    """A row for each word of the translation, a column for each word of its source.

    A row is named after the word that was written there: the model looked at the source before it wrote it.
    """

    def __init__(self, session: Session) -> None:
        description = "alignment of the translation with its source"
        super().__init__(session, "alignment_paint_button", EDIT_WEIGHTS, description)
        self._step = picker("alignment_step_picker", "which step of attention to the source")
        self._chosen: ChosenAlignment | None = None
        self._stepped_to: Reading | None = None
        self._card = self.add_card("Alignment", self._head(), self.matrix)
        self._card.layout_below.insertWidget(1, self._switch.choice)
        self._connect()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        if self._chosen is None or not self.shown.size:
            return {}
        return {self.view.address if self.view is not None else WEIGHTS: self.shown}

    def exported_names(self) -> Names:
        chosen = self._chosen
        return Names() if chosen is None else Names(chosen.written, chosen.source)

    def recipe(self) -> str:
        if self._chosen is None or not self.shown.size:
            return ""
        moment = self._chosen.reading.moment
        if self.view is None:
            return alignment_recipe(moment, self._chosen.heads)
        return "" if Address.parse(self.view.address).is_gradient else view_recipe(moment, self.view)

    def out_of_place(self, model: OpenedModel) -> str:
        return out_of_translation(model, "where each part of a translation comes from")

    def refresh(self) -> None:
        chosen = chosen_alignment(self.session)
        self._chosen = chosen
        if chosen is None:
            self._show_nothing()
            return
        self._card.set_placeholder("")
        self._offer_steps(chosen)
        self._draw(chosen)
        self._mark()
        self._suggest()

    def _head(self) -> QWidget:
        controls = (self._edit, self._switch, self._step)
        return FittingRow(controls, giving_way=(self._edit, self._switch))

    def _connect(self) -> None:
        self._step.activated.connect(lambda _: self.refresh_soon())
        self.matrix.set_style(square=False, values="hovered row", row_role="query", column_role="key")
        session = self.session
        session.focus.position_changed.connect(self._mark)
        session.focus.position_changed.connect(self._suggest)
        self.follow(
            session.library.model_changed, session.attention.side_changed, session.attention.heads_changed
        )

    def showEvent(self, event: QShowEvent) -> None:
        self.session.attention.choose_side(CROSS)
        super().showEvent(event)

    def _show_nothing(self) -> None:
        """Say what would show an alignment."""
        reading = self.session.reading
        self._stepped_to = None
        self._draw_nothing()
        if reading.current is not None and reading.current.model.reads_source:
            self._card.set_placeholder(NO_ALIGNMENT)
        elif self.session.library.model is None:
            self._card.set_placeholder(
                "Open a model that translates to see where each part of a translation comes from."
            )
        else:
            self._card.set_placeholder("" if reading.prefix else "Type a source to see how it is translated.")
        self._card.set_title("Alignment")
        self._step.hide()
        self._edit.setEnabled(False)

    def _offer_steps(self, chosen: ChosenAlignment) -> None:
        names = [Address.parse(address).name for address in chosen.attention.steps]
        kept = self._step.currentData()
        steps = {name: STEPS.get(name, word_of(name)) for name in names}
        set_choices(self._step, steps, kept if kept in names else names[-1])

    def _draw(self, chosen: ChosenAlignment) -> None:
        trace, several = chosen.reading.trace, len(chosen.heads) > 1
        if several:
            self.view, self.shown, scale = None, combined_alignment(trace, chosen.heads), "share"
        else:
            address = Address.parse(chosen.attention.weights).beside(self._step.currentData())
            view = self.session.gradients.view(alignment_view(trace, address, chosen.head))
            self.view, self.shown, scale = view, view.values, view.scale
        self._card.set_title(self._title(chosen))
        self._step.show()
        self._step.setEnabled(not several)
        self._edit.setEnabled(self._is_painted)
        self.matrix.set_editable(self._is_painted and self._edit.isChecked())
        stepped = self.session.reading.has_stepped and chosen.reading is not self._stepped_to
        self._stepped_to = chosen.reading
        self.matrix.set_matrix(
            self.shown, scale=scale, rows=chosen.written, columns=chosen.source, crossfade=stepped
        )

    @property
    def _is_painted(self) -> bool:
        """Whether what is drawn are the weights of one attention, which can be forced."""
        return self.view is not None and self.view.address == self._chosen_weights

    @property
    def _chosen_weights(self) -> str:
        return "" if self._chosen is None else self._chosen.attention.weights

    def _title(self, chosen: ChosenAlignment) -> str:
        if len(chosen.heads) > 1:
            return f"Mean of {len(chosen.heads)} heads"
        where = (
            f"layer {numbered(chosen.layer)}, head {numbered(chosen.head)}"
            if chosen.has_heads
            else "alignment"
        )
        is_gradient = self.view is not None and self.view.address not in chosen.reading.trace
        return f"gradient of {where}".capitalize() if is_gradient else where.capitalize()

    def _places(self, row: int, column: int) -> tuple[int | None, int | None]:
        return row, column

    def _changed(self, row: int, column: int, value: float) -> Intervention | None:
        from lmviz.inspection.source_surgery import paint_alignment

        chosen = self._chosen
        if chosen is None or not self._is_painted:
            return None
        untouched = chosen.reading.untouched
        return paint_alignment(untouched, self._chosen_weights, chosen.head, row, column, value)

    def _read_out(self, row: int, column: int) -> tuple[str, list[str]]:
        chosen = self._chosen
        if chosen is None:
            return "", []
        read = visible(chosen.reading.trace.tokens[row])
        words = f"“{chosen.written[row]}”, written after “{read}”, looks at “{chosen.source[column]}”"
        return number(float(self.shown[row, column])), [words]
