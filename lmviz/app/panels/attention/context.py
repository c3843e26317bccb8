"""What the decoder is handed of the source: its states, faded by weight, and the context made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.panels.attention.chosen_alignment import ChosenAlignment, chosen_alignment, out_of_translation
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.explained_strips import ExplainedStrips, NamedView
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, row, sheet
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.hinted_edit import HintedEdit
from lmviz.inspection.alignment import alignment_view, encoded_states, source_attentions
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.names import told_apart
from lmviz.inspection.recipes.recipe import views_recipe
from lmviz.inspection.trace import Trace
from lmviz.inspection.views import View, strip
from lmviz.models.address import Address

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("swap")

SILENCING = "Sets the encoder's state at this place to zero; keys, values and scores change with it."
READ_ON = " The encoder reads on from there: what follows in the source changes too."
SWAPS = {
    "context": ("swap c", "Takes the context at this place from the other source, with the same text"),
    "state": ("swap state", "Hands the decoder the encoder's last state for the other source"),
}
CHANGED = "c, changed"
"""What is handed on where a change has put it there: it is not made of the states above."""

LOW_ROW = 20  # pixels of a line: a source may be long


class ContextPanel(Panel):
    """With attention the context of a word is the mean of all states; without, the last state is handed on.

    A state of the source can be silenced, and the context or the last state taken from another source.
    """

    draws = ("reading",)

    gives_way = 16

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.strips = named(ExplainedStrips(session, row=LOW_ROW), description="states of the source")
        """The states of the source from top to bottom."""
        self.context = named(ExplainedStrips(session, row=LOW_ROW), description="the context made of them")
        """What is made of them."""
        self._area = scrolling(self.strips)
        self._silence = named(QPushButton("silence a word"), "silence_source_button", role="link")
        self._silence.setCheckable(True)
        self._other = named(
            HintedEdit("another source", "source"),
            "other_source_edit",
            "another source, from which the context is taken",
        )
        self._swaps = {name: QPushButton(words) for name, (words, _) in SWAPS.items()}
        self._source_place = -1
        self._shown: tuple[object, ...] = ()
        self._strongest = 0
        self._follow_strongest = QTimer(self, singleShot=True, interval=0)
        self._follow_strongest.timeout.connect(self._show_strongest)
        self._card = self.add_card("Context", self._silence, self._lay_out())
        self._silence.clicked.connect(self._toggle_silence)
        self._other.textChanged.connect(self._offer)
        for name, button in self._swaps.items():
            button.clicked.connect(lambda _=False, name=name: self._swap(name))
        self.follow(
            session.reading.changed,
            session.focus.position_changed,
            session.focus.cell_changed,
            session.attention.head_changed,
            session.attention.heads_changed,
            session.surgery.changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        if not self.context.views:
            return {}
        states = np.concatenate([view.values for view in self.strips.views])
        return {"states": states, "context": self.context.views[0].values[0]}

    def recipe(self) -> str:
        reading = self.session.reading.current
        if reading is None or not self.context.views:
            return ""
        numbered = {f"state {number}": view for number, view in enumerate(self.strips.views, start=1)}
        return views_recipe(reading.moment, numbered | {"context": self.context.views[0]})

    def out_of_place(self, model: OpenedModel) -> str:
        return out_of_translation(model, "what is made of a source")

    def refresh(self) -> None:
        reading, chosen = self.session.reading.current, chosen_alignment(self.session)
        if reading is None or self.out_of_place(reading.model):  # as that of the model before may be
            self.strips.set_views([])
            self.context.set_views([])
            self._card.set_title("Context")
            self._source_place = -1
        elif chosen is None:
            self._show_last_state(reading)
        else:
            self._show_context(chosen)
        self._offer()

    def _lay_out(self) -> QWidget:
        for name, button in self._swaps.items():
            button.setObjectName(f"swap_{name}_button")
            button.setToolTip(paragraph(SWAPS[name][1]))
        foot = row((self._other, 1), *self._swaps.values())
        return sheet(column((self._area, 1), self.context, foot, gap=6))

    def _show_context(self, chosen: ChosenAlignment) -> None:
        """The states that are averaged, each as strong as its weight, and their mean."""
        trace, attention, head = chosen.reading.trace, chosen.attention, chosen.head
        position = self.session.reading.position
        weights = alignment_view(trace, attention.weights, head).values[position]
        states = [strip(trace, attention.states, at, head, ()) for at in range(len(weights))]
        context = strip(trace, attention.context, position, head, ())
        name = CHANGED if _is_changed(trace, context) else "c = Σ α h"
        self._show(chosen.reading, chosen.source, states, weights, context, name)
        self._card.set_title(f"Context: {chosen.written[position]}")

    def _show_last_state(self, reading: Reading) -> None:
        """All states, of which the decoder gets the last."""
        from lmviz.inspection.source_surgery import last_states

        trace, words = reading.trace, tuple(reading.names("source"))
        address, handed_on = encoded_states(trace), last_states(trace)
        states = [strip(trace, address, at, 0, ()) for at in range(len(words))]
        context = strip(trace, handed_on[-1], 0, 0, ())
        name = CHANGED if _is_changed(trace, context) else "c, the last"
        self._show(reading, words, states, None, context, name)
        self._card.set_title(self.of_units("Context of every word"))

    def _show(
        self,
        reading: Reading,
        words: tuple[str, ...],
        states: list[View],
        weights: np.ndarray | None,
        context: View,
        name: str,
    ) -> None:
        shares = [None] * len(words) if weights is None else [float(weight) for weight in weights]
        rows = [
            NamedView(word, state, share=share)
            for word, state, share in zip(told_apart(words), states, shares, strict=True)
        ]
        self.strips.set_views(rows, reading)
        whole = None if weights is None or name == CHANGED else 1.0
        self.context.set_views([NamedView(name, context, "result", whole)], reading)
        strongest = len(words) - 1 if weights is None else int(np.argmax(weights))
        if (reading, name, strongest) != self._shown:
            self._shown = (reading, name, strongest)
            self._strongest = strongest
            self._follow_strongest.start()
        self._source_place = self._pinned_source(reading, strongest)

    def _show_strongest(self) -> None:
        """Scroll to the state that counts most, once the strips have their new height."""
        if self._strongest < len(self.strips.strips):
            place = self.strips.cell_rectangle(self._strongest, 0).center().toPoint()
            self._area.ensureVisible(place.x(), place.y(), 0, round(self.strips.length(LOW_ROW)))

    def _pinned_source(self, reading: Reading, otherwise: int) -> int:
        """The word of the source that the pinned cell belongs to."""
        cell = self.session.focus.value_cell
        if cell is None or not reading.has_cell(*cell):
            return otherwise
        places = dict(zip(reading.trace[cell[0]].axes, cell[1], strict=True))
        return places.get("source", otherwise)

    def _offer(self) -> None:
        """Say what can be done with the word that is pinned, or the strongest, and with another source."""
        from lmviz.inspection.source_surgery import last_states

        reading, there = self.session.reading.current, self._source_place >= 0
        self._silence.setEnabled(there)
        trace = None if reading is None or not there else reading.trace
        self._swaps["context"].setVisible(trace is None or bool(source_attentions(trace)))
        self._swaps["state"].setVisible(trace is not None and bool(last_states(trace)))
        for button in self._swaps.values():
            button.setEnabled(there and bool(self._other.text().strip()))
        if trace is None or reading is None:
            self._silence.setText(self.of_units("silence a word"))
            self._silence.setChecked(False)
            return
        self._silence.setText(f"silence “{reading.names('source')[self._source_place]}”")
        self._silence.setChecked(self._silenced() >= 0)
        on_its_way = Address.parse(encoded_states(trace)).name == "hidden" and bool(last_states(trace))
        self._silence.setToolTip(paragraph(SILENCING + (READ_ON if on_its_way else "")))

    def _silenced(self) -> int:
        """Which change silences the word; −1 where none that is in force does."""
        from lmviz.inspection.source_surgery import silence_source

        reading, surgery = self.session.reading.current, self.session.surgery
        if reading is None or surgery.is_off:
            return -1
        wanted = silence_source(reading.trace, self._source_place)
        return next((at for at, item in enumerate(surgery.interventions) if item == wanted), -1)

    def _toggle_silence(self, on: bool) -> None:
        from lmviz.inspection.source_surgery import silence_source

        reading, index = self.session.reading.current, self._silenced()
        if reading is not None and on and index < 0:
            self.session.surgery.add(silence_source(reading.trace, self._source_place))
        elif not on and index >= 0:
            self.session.surgery.remove(index)

    def _swap(self, what: str) -> None:
        """Take the context at the chosen word, or the last state, from the other source."""
        reading, other = self.session.reading.current, self._other.text()
        if reading is None:
            return
        position, untouched = self.session.reading.position, reading.untouched

        def work(model: Model) -> tuple[Intervention, ...]:
            from lmviz.inspection.source_surgery import swap_context, swap_last_state

            if what == "context":
                return swap_context(model, untouched, position, other)
            return swap_last_state(model, untouched, other)

        self.ask(Question(KEY, reading, work), lambda found: self.session.surgery.add(*found))


def _is_changed(trace: Trace, context: View) -> bool:
    """Whether changes have put other numbers in the place of what was made of the source."""
    from lmviz.inspection.surgery import is_changed_at

    shape = trace[context.address].shape
    return is_changed_at(trace.interventions, context.address, context.axes, shape, context.fixed)
