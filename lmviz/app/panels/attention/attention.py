"""The attention matrix of one head, from dot products to weights; or the mean or maximum of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from lmviz.app.panels.attention.attention_body import AttentionBody
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.explained_strips import ExplainedStrips, NamedView
from lmviz.app.panels.shared.gradient_switch import GradientSwitch
from lmviz.app.session.offers import FIRST_MODEL, MODEL_OFFER
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.export import Names
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.inspection.names import coordinate
from lmviz.models.tap import GRADIENT
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.session.opened_model import OpenedModel
    from lmviz.app.session.reading import Reading
    from lmviz.app.session.session import Session
    from lmviz.inspection.trace import Trace
    from lmviz.inspection.views import View

STEPS = {"q · k": "products", "÷ √d": "scaled", "masked": "scores", "softmax": "weights"}
COMBINATIONS = ("mean", "max")
LIT = 3  # as strong as a cell can be lit
NOTHING = np.zeros((0, 0), dtype=np.float32)


class AttentionPanel(Panel):
    """Rows look at columns. Hover reads a weight, click pins its position, dragging repaints a row."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("attention_view")
        self._step = QComboBox()
        self._step.setObjectName("attention_step_picker")
        self._step.setAccessibleName("which step of attention")
        for name, tap in STEPS.items():
            self._step.addItem(name, tap)
        self._step.setCurrentIndex(len(STEPS) - 1)
        self._how = QComboBox()
        self._how.addItems(COMBINATIONS)
        self._how.setAccessibleName("how heads are combined")
        self._paint = QPushButton("edit")
        self._paint.setObjectName("paint_button")
        self._paint.setCheckable(True)
        self._paint.setProperty("role", "link")
        self._paint.setToolTip(
            "Edit weights: drag one up or down; the rest of its row is rescaled to sum to one, "
            "and all later values are recomputed."
        )
        self._matrix = HeatmapView()
        self._matrix.setAccessibleName("attention of the chosen head")
        self._invitation = Invitation("attention_invitation")
        self._invitation.accepted.connect(lambda: session.library.open(FIRST_MODEL))
        self._strips = ExplainedStrips(session)
        self._strips.setAccessibleName("query, key, value and the weighted sum of values")
        self._pair = (0, 0)
        self._strips_drawn: object = None
        self._dragging = False
        self._shown = NOTHING
        self._hidden = NOTHING == 0  # (query, key) bool: what the causal mask hides
        self._names: tuple[str, ...] = ()  # of the tokens that stand along both axes
        self._drawn = ""
        self._stepped_to: Reading | None = None
        self._body = AttentionBody(self._matrix, self._strips, self._invitation)
        self._card = Card("Attention", self._head(), self._body)
        self.column.addWidget(self._card)
        self._connect()

    @property
    def shown(self) -> np.ndarray:
        """What is drawn, (query, key)."""
        return self._shown

    @property
    def matrix(self) -> HeatmapView:
        """The heatmap."""
        return self._matrix

    @property
    def strips(self) -> ExplainedStrips:
        """The query, key and value of the chosen weight, and the weighted sum of values."""
        return self._strips

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {self._drawn_address: self._shown} if self._shown.size else {}

    def exported_names(self) -> Names:
        reading = self.session.reading.current
        words = reading.trace.tokens if reading is not None else ()
        return Names(words, words)

    def recipe(self) -> str:
        from lmviz.inspection.recipes.recipe import array_recipe, attention_recipe

        reading = self.session.reading.current
        if reading is None or not self._shown.size or self._shows_gradient:
            return ""
        if self.session.attention.heads:
            return attention_recipe(reading.moment, self.session.attention.heads, self._how.currentText())
        return array_recipe(reading.moment, self._address, head=self.session.attention.head[1])

    def out_of_place(self, model: OpenedModel) -> str:
        if not model.reads_source:
            return ""
        return f"{model.name} translates. Alignment shows what it looks at in its source."

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None or "layers/0/attention/weights" not in reading.trace.arrays:
            self._shown = NOTHING
            self._matrix.set_matrix(NOTHING)
            self._strips.set_views([])
            self._card.set_title("Attention")
            self._invite()
            self.session.explanation.suggest(None)
            return
        self._body.show_invitation(False)
        self._draw(reading.trace)
        self._mark()
        self._suggest()

    def _head(self) -> QWidget:
        switch = GradientSwitch(self.session)
        return FittingRow((self._paint, switch, self._how, self._step), giving_way=(self._paint, switch))

    def _invite(self) -> None:
        """Show a sentence that says what to do in place of the matrix."""
        if self.session.reading.current is not None:
            self._invitation.invite(
                "In this model no word of a text looks at the others: only in Transformers they do.",
                MODEL_OFFER,
            )
        elif self.session.library.model is None:
            self._invitation.invite("Open a Transformer to see which words look at which.", MODEL_OFFER)
        else:
            is_coming = bool(self.session.reading.prefix)
            self._invitation.invite("" if is_coming else "Type a prefix to see which words look at which.")
        self._body.show_invitation(True)

    def _connect(self) -> None:
        session, matrix = self.session, self._matrix
        self._step.currentIndexChanged.connect(lambda _: self.refresh_soon())
        self._how.currentIndexChanged.connect(lambda _: self.refresh_soon())
        self._paint.toggled.connect(matrix.set_editable)
        matrix.cell_hovered.connect(self._hover)
        matrix.left.connect(self._leave)
        matrix.cell_clicked.connect(self._choose)
        matrix.cell_dragged.connect(self._repaint)
        matrix.drag_finished.connect(self._end_of_drag)
        matrix.set_readout(self._read_out)
        for changed in (
            session.focus.hovered_position_changed,
            session.focus.cell_changed,
            session.focus.position_changed,
        ):
            changed.connect(self._mark)
        session.focus.position_changed.connect(self._suggest)
        session.attention.looked_at_changed.connect(self._mark)
        session.focus.hovered_cell_changed.connect(self._draw_strips)
        session.explanation.changed.connect(self._light)
        session.explanation.suggestion_changed.connect(self._mark_suggested)
        self.follow(
            session.reading.changed,
            session.attention.head_changed,
            session.attention.heads_changed,
            session.gradients.changed,
        )
        self.show_failures(
            session.gradients.failed, session.gradients.changed, session.gradients.shown_changed
        )

    @property
    def _tap(self) -> str:
        return self._step.currentData()

    @property
    def _address(self) -> str:
        return f"layers/{self.session.attention.head[0]}/attention/{self._tap}"

    @property
    def _drawn_address(self) -> str:
        """The address of the cells that are drawn: the tap's, or its gradient's."""
        return f"{GRADIENT}{self._address}" if self._shows_gradient else self._address

    @property
    def _shows_gradient(self) -> bool:
        found = self.session.gradients.current
        return found is not None and len(self.session.attention.heads) <= 1 and self._address in found

    def _view(self, trace: Trace) -> View:
        """The cells of the one head that is drawn."""
        from lmviz.inspection.views import matrix

        view = matrix(trace, self._address, self.session.attention.head[1], 0, ())
        return self.session.gradients.view(view) if self._shows_gradient else view

    def _draw(self, trace: Trace) -> None:
        from lmviz.inspection.attention import combine_heads, unseen

        layer, head = self.session.attention.head
        several = [place for place in self.session.attention.heads if self._has(trace, *place)]
        self._how.setVisible(len(several) > 1)
        self._step.setEnabled(len(several) <= 1)
        self._paint.setEnabled(len(several) <= 1 and self._tap == "weights")
        if len(several) > 1:
            how = self._how.currentText()
            self._shown, scale = combine_heads(trace, several, how), "share"
            self._card.set_title(f"{'Mean' if how == 'mean' else 'Maximum'} of {len(several)} heads")
        elif self._has(trace, layer, head):
            view = self._view(trace)
            self._shown, scale = view.values, view.scale
            of = "gradient of layer" if self._shows_gradient else "layer"
            self._card.set_title(f"{of} {layer + 1}, head {head + 1}".capitalize())
            self._paint.setEnabled(self._paint.isEnabled() and not self._shows_gradient)
        else:
            self._shown, scale = NOTHING, "share"
        names = self._names = tuple(visible(token) for token in trace.tokens) if self._shown.size else ()
        self._matrix.set_style(square=True, values="hovered row", row_role="query", column_role="key")
        walked = self._drawn not in ("", self._drawn_address)
        reading = self.session.reading.current
        stepped = self.session.reading.has_stepped and reading is not self._stepped_to
        self._drawn, self._stepped_to = self._drawn_address, reading
        # A weight behind the mask is no small weight: its cell is without a number.
        self._hidden = unseen(self._shown) if scale == "share" else np.isneginf(self._shown)
        if self._shows_gradient and self._shown.size:
            self._hidden = unseen(trace[f"layers/{layer}/attention/weights"].array[head])
        cells = np.where(self._hidden, np.float32(-np.inf), self._shown)
        self._matrix.set_matrix(cells, scale=scale, rows=names, columns=names, crossfade=walked or stepped)
        self._draw_strips()

    def _has(self, trace: Trace, layer: int, head: int) -> bool:
        traced = trace.arrays.get(f"layers/{layer}/attention/weights")
        return traced is not None and head < traced.shape[0]

    def _pair_looked_at(self) -> tuple[int, int]:
        """The query and key of the chosen weight; unchanged while the pointer is on their strips."""
        for cell in (self.session.focus.shown_cell, self.session.focus.cell):
            if cell is None:
                continue
            place, _, tap = cell[0].rpartition("/")
            if place.endswith("/attention") and tap in STEPS.values():
                return cell[1][1], cell[1][2]
            if self._strips.shows(cell):
                return self._pair
        return self.session.reading.position, self.session.reading.position

    def _draw_strips(self) -> None:
        """Draw the query, key and value of the chosen weight, and the weighted sum of values."""
        reading, (layer, head) = self.session.reading.current, self.session.attention.head
        if reading is None or self._shown.size == 0 or not self.isVisible():
            self._strips.set_views([])
            self._strips_drawn = None
            return
        from lmviz.inspection.views import strip

        place, trace = f"layers/{layer}/attention", reading.trace
        if f"{place}/mixed" not in trace:
            return  # the new reading is of another family; the panel is redrawn next
        last = len(trace.tokens) - 1
        looked_at = self._pair_looked_at()
        query, key = self._pair = min(looked_at[0], last), min(looked_at[1], last)
        wanted = (reading, layer, head, query, key)
        if wanted == self._strips_drawn:
            return
        self._strips_drawn = wanted
        rotated = "_rotated" if f"{place}/query_rotated" in trace.arrays else ""
        rows = (
            (f"q “{visible(trace.tokens[query])}”", f"query{rotated}", query),
            (f"k “{visible(trace.tokens[key])}”", f"key{rotated}", key),
            (f"v “{visible(trace.tokens[key])}”", "value", key),
            ("Σ α v", "mixed", query),
        )
        self._strips.set_views(
            [NamedView(name, strip(trace, f"{place}/{tap}", at, head, ())) for name, tap, at in rows],
            reading,
        )

    def _mark(self) -> None:
        if self._shown.size == 0:
            return
        position = self.session.reading.position
        if self.session.attention.looked_at:
            self._matrix.set_selection(column=position)
        else:
            self._matrix.set_selection(row=position)
        cell = self.session.focus.cell
        pinned = None
        if cell is not None and cell[0] == self._drawn_address and not self.session.attention.heads:
            head, query, key = cell[1]
            pinned = (query, key) if head == self.session.attention.head[1] else None
        self._matrix.set_pinned(pinned)
        self._claim(position)
        self._draw_strips()
        self._light()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._suggest()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.session.explanation.suggest(None)

    def _suggest(self) -> None:
        """Have the strongest weight of the chosen word explained, as long as none is pinned."""
        from lmviz.inspection.strongest import strongest_cell

        reading = self.session.reading.current
        is_one = self._shown.size > 0 and not self.session.attention.heads
        if reading is None or not is_one or self._address not in reading.trace or not self.is_in_sight:
            return
        view = self._view(reading.trace)
        place = strongest_cell(view, min(self.session.focus.position, len(self._shown) - 1))
        self.session.explanation.suggest(None if place is None else (view.address, view.index(*place)))

    def _mark_suggested(self) -> None:
        suggestion, (_, head) = self.session.explanation.suggestion, self.session.attention.head
        drawn = suggestion is not None and suggestion[0] == self._drawn_address and suggestion[1][0] == head
        query, key = suggestion[1][1:] if suggestion is not None and drawn else (0, 0)
        there = drawn and query < self._shown.shape[0] and key < self._shown.shape[1]
        self._matrix.set_suggested((query, key) if there else None)

    def _claim(self, position: int) -> None:
        """Say at which word the chosen one looks most."""
        from lmviz.inspection.attention import most_looked_at

        reading = self.session.reading.current
        is_free = position < len(self._shown) and bool(self._hidden[0, 1:].all()) and not self._shows_gradient
        if reading is None or self._tap != "weights" or not is_free:
            self._body.set_claim("", "", 0.0)
            return
        key, weight = most_looked_at(self._shown, position)
        tokens = reading.trace.tokens
        self._body.set_claim(visible(tokens[position]), visible(tokens[key]), weight)

    def _light(self) -> None:
        """Dim the cells that are not operands of the explained cell."""

        reading = self.session.reading.current
        if reading is None or self._shown.size == 0 or self._address not in reading.trace:
            return
        if not self.is_in_sight:
            return
        view = self._view(reading.trace)
        same = view.values.shape == self._shown.shape and len(self.session.attention.heads) <= 1
        lights = self.session.explanation.lights(view) if same else None
        self._matrix.set_lights(self._isolated() if lights is None else lights)

    def _isolated(self) -> np.ndarray | None:
        """What the word under the pointer looks at, or who looks at it; None while it is a cell, or none."""
        position = self.session.focus.hovered_position
        if position is None or position >= len(self._shown) or self.session.focus.hovered_cell is not None:
            return None
        strengths = np.zeros(self._shown.shape, dtype=np.int8)
        strengths[(slice(None), position) if self.session.attention.looked_at else position] = LIT
        return strengths

    def _hover(self, query: int, key: int) -> None:
        self.session.focus.hover_position(query)
        if not self.session.attention.heads:
            self.session.focus.hover_cell((self._drawn_address, (self.session.attention.head[1], query, key)))

    def _leave(self) -> None:
        self.session.focus.hover_position(None)
        self.session.focus.hover_cell(None)

    def _choose(self, query: int, key: int) -> None:
        self.session.focus.choose_position(query)
        if not self.session.attention.heads:
            self.session.focus.choose_cell(
                (self._drawn_address, (self.session.attention.head[1], query, key))
            )

    def _repaint(self, query: int, key: int, weight: float) -> None:
        from lmviz.errors import LmvizError
        from lmviz.inspection.interventions import paint_attention

        reading, (layer, head) = self.session.reading.current, self.session.attention.head
        if reading is None or self._tap != "weights":
            return
        try:
            painted = paint_attention(reading.baseline or reading.trace, layer, head, query, key, weight)
        except LmvizError as sentence:
            self.complain(str(sentence), "paint")
            return
        self.complain("", "paint")
        self.session.surgery.add(painted, dragging=self._dragging)
        self._dragging = True

    def _end_of_drag(self) -> None:
        self._dragging = False

    def _read_out(self, query: int, key: int) -> tuple[str, list[str]]:
        words = f"{coordinate('query', query, self._names)} looks at {coordinate('key', key, self._names)}"
        if self._hidden[query, key]:
            return "masked", [words.replace(" looks at ", " cannot look at ")]
        return number(float(self._shown[query, key])), [words]
