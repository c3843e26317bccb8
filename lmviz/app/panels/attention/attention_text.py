"""The text with its attention weights, drawn as arcs between the words and as shades."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QTimer

from lmviz.app.panels.attention.followed_text import NOTHING, FollowedTextPanel
from lmviz.app.panels.panel import AFTER_THE_POINTER
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.attention_heads import CROSS, DECODER, ENCODER, Head
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.attention_text import AttentionText
from lmviz.inspection.attention import attention_place, combine_heads
from lmviz.inspection.recipes.recipe import attention_recipe
from lmviz.inspection.trace import Trace
from lmviz.looks.names import Names
from lmviz.text.tokenizer import visible

TITLES = {"": "In the text", ENCODER: "In the source", DECODER: "In the translation"}
NO_HEADS = "Open a Transformer to see what its heads look at in the text."
NO_TEXT = "Type a text above to see what its heads look at."
HINT = "point at a word: what it looks at · with Shift: what looks at it · click: pin"


class AttentionTextPanel(FollowedTextPanel):
    """Draws the chosen head, or the mean of several."""

    least_height = 80

    def __init__(self, session: Session) -> None:
        self._text = AttentionText()
        super().__init__(session, self._text)
        self._card = self.add_card("In the text", "", self._area)
        self._text.part_hovered.connect(self._point)
        self._text.part_clicked.connect(self._pin)
        self._mark_late = QTimer(self, singleShot=True, interval=AFTER_THE_POINTER)
        self._mark_late.timeout.connect(self._mark)
        for changed in (session.focus.hovered_position_changed, session.focus.source_changed):
            changed.connect(self._mark_late.start)
        session.attention.looked_at_changed.connect(
            lambda: self._text.set_looked_at(session.attention.looked_at)
        )
        session.focus.position_changed.connect(self._mark)

    def exported_names(self) -> Names:
        words = self._words(self.session.reading.current)
        return Names(words, words)

    def recipe(self) -> str:
        reading = self.session.reading.current
        if reading is None or not self.weights.size:
            return ""
        return attention_recipe(reading.moment, self._heads(), side=self._side)

    def out_of_place(self, model: OpenedModel) -> str:
        if model.reads_source and not model.reads_picture and not model.has_heads:
            return f"{model.name} {model.does}. Between the two texts shows what it looks at in its source."
        if model.has_heads:
            return ""
        return f"{model.name} has no attention: open a Transformer to see what its heads look at in the text."

    def refresh(self) -> None:
        reading, side = self.session.reading.current, self._side
        heads = [head for head in self._heads() if reading is not None and _has(reading.trace, head, side)]
        self._card.set_title(TITLES[side])
        if reading is None or not heads:
            self.weights = NOTHING
            self._text.set_attention([], NOTHING)
            is_known = reading is not None or self.session.library.model is None
            self._card.set_placeholder(NO_HEADS if is_known else NO_TEXT)
            return
        self._card.set_placeholder("")
        self._card.set_aside(self.of_units(HINT))
        self.weights = combine_heads(reading.trace, heads, side=side)
        self._text.set_attention(list(map(visible, self._words(reading))), self.weights)
        self._mark()
        self._follow_current.start()

    def _word_place(self, position: int) -> QPointF:
        return self._text.token_place(position)

    @property
    def _side(self) -> str:
        """Of a model that translates, within which text it looks; that of the source until one is chosen."""
        side = self.session.attention.side
        return ENCODER if side == CROSS else side

    def _heads(self) -> tuple[Head, ...]:
        head, several = self.session.attention.chosen_of(self._side)
        return several or (head,)

    def _words(self, reading: Reading | None) -> Sequence[str]:
        return (
            () if reading is None else reading.trace.names("source" if self._side == ENCODER else "position")
        )

    @property
    def _position(self) -> int:
        reading = self.session.reading
        return source_position(self.session) if self._side == ENCODER else reading.position

    def _point(self, token: int) -> None:
        if self._side == ENCODER:
            self.session.focus.hover_source(token if token >= 0 else None)
        else:
            self.session.focus.hover_position(token)
        self._mark()  # at once, as the pointer is here

    def _pin(self, token: int) -> None:
        focus = self.session.focus
        (focus.choose_source if self._side == ENCODER else focus.choose_position)(token)

    def _mark(self) -> None:
        if self.awaits_answer:
            return
        focus, is_source = self.session.focus, self._side == ENCODER
        hovered = focus.hovered_source if is_source else focus.hovered_position
        pinned = self._position if hovered is None or is_source else focus.position
        self._text.set_current(pinned)
        self._text.set_hovered(-1 if hovered is None else hovered)


def _has(trace: Trace, head: Head, side: str) -> bool:
    traced = trace.arrays.get(f"{attention_place(head[0], side)}/weights")
    return traced is not None and head[1] < traced.shape[0]
