"""The open text, every token coloured by its loss, or by the loss of one model minus that of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QScrollArea

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.texts.recipes import map_recipe
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker
from lmviz.app.widgets.base.figures import count, number, signed_figure, whole_percentage
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.loss_text import LossText
from lmviz.looks.names import COUNTED, Names
from lmviz.text.tokenizer import visible
from lmviz.training.loss_kinds import KINDS

if TYPE_CHECKING:
    from lmviz.training.loss_map import LossMap

NO_MODEL = "Open or train a model to see what each token of a text costs it."
NO_TEXT = "Open a text in Corpus to see what each of its tokens costs the model."
INVITATION = "Measure the loss of every token of the text."
LIMIT = 6.0
"""Nats of the strongest colour; of a difference half of it."""

PARTS = {"held out": "validation", "training": "training"}
SHOWN = ("loss", "A − B")
NEWLY = 400
"""So many tokens of a text before a place are put into the window."""


class LossMapPanel(Panel):
    """A text that is scrolled; a click on a token opens the passage up to it in the window."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._drawn: LossMap | None = None
        self._part = picker("loss_part_picker", "which part of the text", list(PARTS))
        self._what = picker("loss_shown_picker", "what the colours are", SHOWN)
        self._measure = QuietButton("measure_losses_button", "Measure")
        self._said = named(Label(wraps=True), "loss_map_sentence")
        self.text = named(LossText(), "loss_map_text", "the text by the loss of each token")
        self._area: QScrollArea = scrolling(self.text)
        head = FittingRow((self._part, self._what, self._measure), giving_way=(self._what, self._part))
        self._card = self.add_card("Loss of every token", head, column(self._said, (self._area, 1)))
        self.text.set_readout(self._read_out)
        self.text.part_clicked.connect(self._open)
        self._part.activated.connect(lambda at: session.many.losses.choose_part(list(PARTS.values())[at]))  # type: ignore[arg-type]  # the two parts
        self._what.activated.connect(lambda at: session.many.losses.show_difference(bool(at)))
        self._measure.clicked.connect(self._press)
        self.show_failures(session.many.losses)
        session.many.losses.place_changed.connect(self._go)
        session.many.losses.progressed.connect(self._say)
        self.follow(session.many.losses.changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {} if self._drawn is None else {"loss": self._drawn.losses}

    def exported_names(self) -> Names:
        return COUNTED

    def recipe(self) -> str:
        return "" if self._drawn is None else map_recipe(self.session, "values = found.losses")

    def refresh(self) -> None:
        losses = self.session.many.losses
        corpus = self.session.text.corpus
        self._what.model().item(1).setEnabled(losses.second is not None)  # type: ignore[attr-defined]  # a picker's items
        self._what.setCurrentIndex(int(losses.shows_difference))
        self._part.setCurrentIndex(list(PARTS.values()).index(losses.part))
        empty = NO_MODEL if losses.moment is None else NO_TEXT if corpus is None else losses.obstacle
        found = losses.shown
        if found is None or empty:
            self._drawn = None
            self._card.set_placeholder(empty or ("" if losses.share is not None else INVITATION))
            self._say()
            return
        self._card.set_placeholder("")
        if found is not self._drawn:
            is_same = self._drawn is not None and np.array_equal(self._drawn.losses, found.losses, True)
            self._drawn = found
            if not is_same:
                words = [visible(word) for word in found.vocabulary]
                scale, limit = ("signed", LIMIT / 2) if losses.shows_difference else ("count", LIMIT)
                self.text.set_text(found.ids, words, found.starts, found.painted, scale, limit)
        self._say()

    def _say(self) -> None:
        losses = self.session.many.losses
        self._measure.setText("Stop" if losses.share is not None else "Measure")
        self._measure.setVisible(losses.share is not None or losses.shown is None)
        if losses.share is not None:
            self._said.setText(f"{whole_percentage(losses.share)} of the text has been read.")
            return
        found = self._drawn
        if found is None:
            self._said.setText("")
            return
        mean = signed_figure(found.mean, 3) if losses.shows_difference else number(found.mean)
        what = "label" if found.is_of_labels else "token"
        said = f"{count(found.judged)} {what}s of {count(len(found.starts))} documents: {mean} nats a {what}"
        if losses.shows_difference:
            ahead = found.losses[~np.isnan(found.losses)] < -0.5
            behind = found.losses[~np.isnan(found.losses)] > 0.5
            said += (
                f"; A is ahead by 0.5 or more on {whole_percentage(float(ahead.mean()))}, "
                f"B on {whole_percentage(float(behind.mean()))} of the {what}s"
            )
        self._said.setText(f"{said}.")

    def _press(self) -> None:
        losses = self.session.many.losses
        losses.stop() if losses.share is not None else losses.measure()

    def _read_out(self, token: int) -> tuple[str, list[str]]:
        found, losses = self._drawn, self.session.many.losses
        if found is None:
            return "", []
        if np.isnan(found.painted[token]):
            return visible(found.token(token)), ["begins a document"]
        loss = float(found.painted[token])
        lines = [f"{signed_figure(loss) if losses.shows_difference else number(loss)} nats"]
        if losses.shows_difference and losses.map is not None and losses.other is not None:
            one, two = (float(each.painted[token]) for each in (losses.map, losses.other))
            lines.append(f"A {number(one)}, B {number(two)}")
        if found.is_of_labels:
            return visible(found.token(token)), [*lines, f"label {found.label_of(token)}"]
        lines.append(f"{count(int(found.read[token]))} tokens read before; {KINDS[int(found.kinds[token])]}")
        return visible(found.token(token)), lines

    def _open(self, token: int) -> None:
        """Put the document up to a token into the window, its beginning left out where that is long."""
        found = self._drawn
        if found is None:
            return
        first, end = found.span_of(found.document_of(token))
        # A label may depend on all of its text, and a translation on a source that is not in this one.
        text = found.text_of(max(first, token - NEWLY), end if found.is_of_labels else token)
        if text and not found.is_translation:
            self.session.reading.set_prefix(text)
        self.session.many.losses.look_at(token, token + 1)

    def _go(self) -> None:
        start, end = self.session.many.losses.place
        self.text.mark(start, end)
        if start >= 0 and self._drawn is not None:
            self._area.ensureVisible(0, round(self.text.top_of(start)), 0, self._area.height() // 3)
