"""The attention matrix of one head, from dot products to weights; or the mean or maximum of several.

Of a Transformer that translates it is that within its source, or within its translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.attention.attention_body import AttentionBody
from lmviz.app.panels.attention.long_text import LongText
from lmviz.app.panels.attention.weight_strips import WeightStrips
from lmviz.app.panels.shared.cells_panel import EDIT_WEIGHTS, NOTHING, CellsPanel
from lmviz.app.session.attention_heads import DECODER, ENCODER
from lmviz.app.session.library import FIRST_MODEL, MODEL_OFFER
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import picker
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.remark import Remark
from lmviz.base.counting import numbered
from lmviz.inspection.attention import (
    attention_layers,
    attention_place,
    combine_heads,
    most_looked_at,
    unseen_by_all,
)
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.names import coordinate, told_apart
from lmviz.inspection.recipes.recipe import array_recipe, attention_recipe
from lmviz.inspection.remarks import AttentionRemark, attention_remark
from lmviz.inspection.trace import Trace
from lmviz.inspection.views import View, matrix
from lmviz.looks.names import Names
from lmviz.models.address import gradient_of
from lmviz.text.tokenizer import visible

STEPS = {"q · k": "products", "÷ √d": "scaled", "masked": "scores", "softmax": "weights"}
COMBINATIONS = ("mean", "max")
LIT = 3  # as strong as a cell can be lit
SIDES = {"within the source": ENCODER, "within the translation": DECODER}
ROOMY = 240
"""Pixels of height at scale 1 from which on a sentence has room above the matrix."""

MOST_NAMED = 14
"""Columns that are all named in front of a class: of more, the one that matters, so that cells stay large."""


class AttentionPanel(CellsPanel):
    """One head over the text, and the strips that its chosen weight is made of."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "paint_button", EDIT_WEIGHTS, "attention of the chosen head")
        self._step = picker("attention_step_picker", "which step of attention")
        for name, tap in STEPS.items():
            self._step.addItem(name, tap)
        self._step.setCurrentIndex(len(STEPS) - 1)
        self._within = picker("attention_side_picker", "which attention")
        for name, side in SIDES.items():
            self._within.addItem(name, side)
        self._within.hide()  # until a model has both
        self._how = picker("", "how heads are combined", COMBINATIONS)
        self._how.hide()  # until there are several
        self._invitation = Invitation("attention_invitation")
        self._invitation.accepted.connect(lambda: session.library.open(FIRST_MODEL))
        self.strips = WeightStrips(session)
        """The query, key and value of the chosen weight, and the weighted sum of values."""
        self._hidden = NOTHING == 0  # (query, key) bool: what a mask hides
        self._names: tuple[str, ...] = ()  # of the tokens that stand along both axes
        self._words: tuple[str, ...] = ()  # the same, of which no two are alike
        self._drawn = ""
        self._row = 0  # the one that is written in words
        self._stretched = (0, 0)  # of how many tokens the last were chosen, and of how many
        self._stepped_to: Reading | None = None
        self._long = LongText(self)
        self._body = AttentionBody(self.matrix, self.strips, self._invitation, self._long.bars)
        self._card = self.add_card("Attention", self._head(), self._body)
        self._named_few = False  # as the matrix is drawn
        self._remark = Remark("attention_remark", "show this head", "look at the head of which this is said")
        self._remark.followed.connect(self._follow_remark)
        self._card.layout_below.insertWidget(1, self._switch.choice)
        self._card.layout_below.insertWidget(1, self._remark)
        self._connect()

    def page_results(self) -> Sequence[Any]:
        from lmviz.pages.reading import PartOfTrace

        reading = self.session.reading.current
        if reading is None or self._shows_gradient or not self.shown.size:
            return ()
        return (PartOfTrace(reading.trace, "attention"),)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {self._drawn_address: self.shown} if self.shown.size else {}

    def exported_names(self) -> Names:
        return Names(self._names, self._names)

    def recipe(self) -> str:
        reading = self.session.reading.current
        if reading is None or not self.shown.size or self._shows_gradient:
            return ""
        (_, head), several = self.session.attention.chosen_of(self._side)
        if several:
            return attention_recipe(reading.moment, several, self._how.currentText(), self._side)
        return array_recipe(reading.moment, self._address, head=head)

    def out_of_place(self, model: OpenedModel) -> str:
        if not model.reads_source or model.has_heads:
            return ""
        if model.reads_picture:
            return f"{model.name} {model.does}, which it reads once. Open a Transformer to see attention."
        return f"{model.name} translates. Alignment shows what it looks at in its source."

    def show_choices(self) -> None:
        if self.session.reading.current is None:  # what is offered where no model is open goes at once
            self._invite()

    def refresh(self) -> None:
        reading = self.session.reading.current
        self._within.setVisible(bool(self._side))
        if reading is None or not attention_layers(reading.trace, self._side):
            self._draw_nothing()
            self._stepped_to = None
            self.strips.draw_nothing()
            self._card.set_title("Attention")
            self._say_what_stands_out()
            self._invite()
            return
        self._body.show_invitation(False)
        self._draw(reading.trace)
        self._mark()
        self._suggest()
        self._say_what_stands_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room it is the matrix's: the sentence is left out."""
        super().resizeEvent(event)
        self._remark.setVisible(self._has_room)
        if self._names_few != self._named_few:
            self.refresh_soon()

    @property
    def _has_room(self) -> bool:
        """Whether there is height for more than the matrix and what it is of."""
        return self.height() >= ROOMY * current_theme().scale

    @property
    def _names_few(self) -> bool:
        """Whether not all columns are named, so that cells are larger."""
        return theme_switch().projector or not self._has_room

    def _say_what_stands_out(self) -> None:
        """Name the head that looks hardest from the position, whichever is drawn."""
        if self.awaits_answer:  # what is said stays as what is drawn does: without it that would move
            return
        found = self._found_remark()
        chosen, several = self.session.attention.chosen_of(self._side)
        is_elsewhere = found is not None and (len(several) > 1 or chosen != (found.layer, found.head))
        self._remark.say("" if found is None else found.sentence, is_elsewhere)

    def _found_remark(self) -> AttentionRemark | None:
        reading = self.session.reading.current
        if reading is None or self._side or self._shows_gradient:
            return None
        position = self.session.reading.position
        if position >= len(reading.trace):
            return None
        return attention_remark(reading.trace, position, self.session.reading.noun)

    def _follow_remark(self) -> None:
        found = None if self.awaits_answer else self._found_remark()
        if found is not None:
            self.session.attention.choose_head(found.layer, found.head)

    def _head(self) -> QWidget:
        controls = (self._edit, self._switch, self._how, self._within, *self._long.controls, self._step)
        return FittingRow(controls, giving_way=(self._edit, self._switch))

    def _invite(self) -> None:
        """Show a sentence that says what to do in place of the matrix."""
        reading = self.session.reading.current
        model = self.session.library.model if reading is None else reading.model
        if model is None:
            self._invitation.invite("Open a Transformer to see which words look at which.", MODEL_OFFER)
        elif not model.has_heads:
            self._invitation.invite(
                self.of_units("In this model no word looks at the others. Words in a Transformer do."),
                MODEL_OFFER,
            )
        else:
            is_coming = bool(self.session.reading.prefix)
            wanted = self.of_units("Type a prefix to see which words look at which.")
            self._invitation.invite("" if is_coming else wanted)
        self._body.show_invitation(True)

    def _connect(self) -> None:
        session = self.session
        self._step.currentIndexChanged.connect(lambda _: self.refresh_soon())
        self._long.changed.connect(self.refresh_soon)
        self._long.bars.part_clicked.connect(self._choose_bar)
        self._within.activated.connect(lambda _: self._take_side())
        session.attention.side_changed.connect(self._name_side)
        session.attention.model_begun.connect(lambda: self._take_side() if self.is_in_sight else None)
        self._how.currentIndexChanged.connect(lambda _: self.refresh_soon())
        for changed in (session.focus.position_changed, session.attention.looked_at_changed):
            changed.connect(self._mark)
        session.focus.position_changed.connect(self._suggest)
        session.focus.position_changed.connect(self._say_what_stands_out)
        session.focus.hovered_cell_changed.connect(self._draw_strips)
        session.attention.offset_changed.connect(self._light)
        self.follow(
            session.library.model_changed, session.attention.side_changed, session.attention.heads_changed
        )

    def showEvent(self, event: QShowEvent) -> None:
        self._take_side()
        super().showEvent(event)

    def _take_side(self) -> None:
        """All heads shows those of this attention."""
        self.session.attention.choose_side(self._within.currentData())
        self.refresh_soon()

    def _name_side(self) -> None:
        """The picker names the attention that was chosen elsewhere, if it is one within a text."""
        at = self._within.findData(self.session.attention.side)
        self._within.setCurrentIndex(at if at >= 0 else self._within.currentIndex())

    @property
    def _side(self) -> str:
        """Within what a model that translates looks, ENCODER or DECODER; empty of others."""
        return self._within.currentData() if self.session.attention.side else ""

    @property
    def _tap(self) -> str:
        return self._step.currentData()

    @property
    def _address(self) -> str:
        (layer, _), _ = self.session.attention.chosen_of(self._side)
        place, reading = attention_place(layer, self._side), self.session.reading.current
        address = f"{place}/{self._tap}"
        if self._tap == "scaled" and reading is not None and address not in reading.trace:
            return f"{place}/scores"  # where nothing is masked, what was divided by √d are the scores
        return address

    @property
    def _drawn_address(self) -> str:
        """The address of the cells that are drawn: the tap's, or its gradient's."""
        return gradient_of(self._address) if self._shows_gradient else self._address

    @property
    def _shows_gradient(self) -> bool:
        found = self.session.gradients.current
        several = self.session.attention.chosen_of(self._side)[1]
        return found is not None and len(several) <= 1 and self._address in found

    def _view_of(self, trace: Trace) -> View:
        """The cells of the one head that is drawn."""
        view = matrix(trace, self._address, self.session.attention.chosen_of(self._side)[0][1], 0, ())
        return self.session.gradients.view(view) if self._shows_gradient else view

    def _draw(self, trace: Trace) -> None:
        (layer, head), heads = self.session.attention.chosen_of(self._side)
        several = [place for place in heads if self._has(trace, *place)]
        self._how.setVisible(len(several) > 1)
        self._step.setEnabled(len(several) <= 1)
        self._edit.setEnabled(len(several) <= 1 and self._tap == "weights")
        if len(several) > 1:
            how = self._how.currentText()
            self.view, self.shown, scale = None, combine_heads(trace, several, how, self._side), "share"
            self._card.set_title(f"{'Mean' if how == 'mean' else 'Maximum'} of {len(several)} heads")
        elif self._has(trace, layer, head):
            self.view = view = self._view_of(trace)
            self.shown, scale = view.values, view.scale
            of = "gradient of layer" if self._shows_gradient else "layer"
            self._card.set_title(f"{of} {numbered(layer)}, head {numbered(head)}".capitalize())
            self._edit.setEnabled(self._edit.isEnabled() and not self._shows_gradient)
        else:
            self.view, self.shown, scale = None, NOTHING, "share"
        words = trace.names("source_query" if self._side == ENCODER else "query")
        names = self._names = tuple(map(visible, words)) if self.shown.size else ()
        self._named_few = self._names_few
        self.matrix.set_style(
            square=True,
            values="hovered row",
            row_role="query",
            column_role="key",
            few_columns=self._names_few and self.shown.shape[-1] > MOST_NAMED,
        )
        walked = self._drawn not in ("", self._drawn_address)
        reading = self.session.reading.current
        stepped = self.session.reading.has_stepped and reading is not self._stepped_to
        self._drawn, self._stepped_to = self._drawn_address, reading
        # What a mask keeps out is no small weight: its cell is without a number.
        self._hidden = np.isneginf(self.shown) | np.isnan(self.shown)
        if scale == "share" and self.shown.size:
            drawn = several if len(several) > 1 else [(layer, head)]
            self._hidden = unseen_by_all(trace, drawn, self._side)
        cells = np.where(self._hidden, np.float32(-np.inf), self.shown)
        self._long.take(len(names), scale)
        style = self._long.style(cells, scale)
        crossfade = walked or stepped
        words = self._words = told_apart(names)
        self.matrix.set_matrix(cells, scale=scale, rows=words, columns=words, crossfade=crossfade, **style)
        self._stretch_out(len(names))
        self._draw_strips()

    def _stretch_out(self, count: int) -> None:
        """Show as much of the text as is chosen, when that or the text is another one."""
        if (self._long.last, count) != self._stretched:
            self._stretched = self._long.last, count
            self.matrix.show_last(self._long.last)

    def _choose_bar(self, bar: int) -> None:
        """Pin the weight that a bar shows."""
        if self.view is not None:
            key = self._long.key_of(bar)
            cell = (key, self._row) if self.session.attention.looked_at else (self._row, key)
            self.session.focus.choose_cell((self.view.address, self.view.index(*cell)))

    def _has(self, trace: Trace, layer: int, head: int) -> bool:
        traced = trace.arrays.get(f"{attention_place(layer, self._side)}/weights")
        return traced is not None and head < traced.shape[0]

    def _draw_strips(self) -> None:
        if self.awaits_answer:
            return
        reading = self.session.reading.current
        if reading is None or self.shown.size == 0 or not self.isVisible():
            self.strips.draw_nothing()
        else:
            self.strips.draw_head(reading, self._side)
        self._body.fit_strips()

    @property
    def _is_of_source(self) -> bool:
        return self._side == ENCODER

    def _select(self, position: int) -> None:
        if self.session.attention.looked_at:
            self.matrix.set_selection(column=position)
        else:
            self.matrix.set_selection(row=position)
        self._claim(position)
        self._show_row(position)
        self._draw_strips()

    def _show_row(self, position: int) -> None:
        """Write in words what the word one looks at looks at, or who looks at it."""
        self._row = position
        is_drawn = 0 <= position < len(self.shown) and self._tap == "weights" and not self._shows_gradient
        weights = np.zeros(0)
        if is_drawn:
            row = (slice(None), position) if self.session.attention.looked_at else position
            weights = np.where(self._hidden[row], -np.inf, self.shown[row])
        self._long.show_row(weights, self._words)
        self._body.show_bars(self._long.is_long and is_drawn)

    def _claim(self, position: int) -> None:
        """Say at which word the chosen one looks most."""
        is_drawn = 0 <= position < len(self.shown)
        is_free = is_drawn and bool(self._hidden[0, 1:].all()) and not self._shows_gradient
        if self._tap != "weights" or not is_free:
            self._body.set_claim("", "", 0.0)
            return
        # The words of the matrix as it is drawn: the current reading may be a shorter one that is drawn next.
        key, weight = most_looked_at(self.shown, position)
        other = "" if key == position else self._names[key]
        self._body.set_claim(self._names[position], other, weight)

    def _lights(self) -> np.ndarray | None:
        lights = super()._lights()
        for lit in (self._isolated, self._diagonal):
            lights = lit() if lights is None else lights
        return lights

    def _isolated(self) -> np.ndarray | None:
        """What the word under the pointer looks at, or who looks at it; None while it is a cell, or none."""
        focus = self.session.focus
        position = focus.hovered_source if self._is_of_source else focus.hovered_position
        if position is None or position >= len(self.shown) or self.session.focus.hovered_cell is not None:
            return None
        strengths = np.zeros(self.shown.shape, dtype=np.int8)
        strengths[(slice(None), position) if self.session.attention.looked_at else position] = LIT
        return strengths

    def _diagonal(self) -> np.ndarray | None:
        """The weights at the offset one looks at; None while there is none."""
        offset, (count, _) = self.session.attention.offset, self.shown.shape
        if offset is None or abs(offset) >= count:
            return None
        return LIT * np.eye(count, k=offset, dtype=np.int8)

    def _changed(self, row: int, column: int, value: float) -> Intervention | None:
        from lmviz.inspection.interventions import paint_attention

        reading, (layer, head) = (
            self.session.reading.current,
            self.session.attention.chosen_of(self._side)[0],
        )
        if reading is None or self._tap != "weights":
            return None
        trace = reading.baseline or reading.trace
        return paint_attention(trace, layer, head, row, column, value, self._side)

    def _read_out(self, query: int, key: int) -> tuple[str, list[str]]:
        looking, seen = (
            coordinate("query", query, self._names[query]),
            coordinate("key", key, self._names[key]),
        )
        words = f"{looking} looks at {seen}"
        if self._hidden[query, key]:
            return "masked", [words.replace(" looks at ", " cannot look at ")]
        return number(float(self.shown[query, key])), [words]
