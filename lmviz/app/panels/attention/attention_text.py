"""The text with its attention weights, drawn as arcs between the words and as shades."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QTimer

from lmviz.app.panels.attention.followed_text import NOTHING, FollowedTextPanel
from lmviz.app.panels.panel import AFTER_THE_POINTER
from lmviz.app.session.attention_heads import Head
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.export import Names
from lmviz.app.widgets.text.attention_text import AttentionText
from lmviz.inspection.attention import combine_heads
from lmviz.inspection.trace import Trace
from lmviz.text.tokenizer import visible

NO_HEADS = "Open a Transformer to see what its heads look at in the text."
NO_TEXT = "Type a text above to see what its heads look at."
HINT = "point at a word: what it looks at · with Shift: what looks at it · click: pin"


class AttentionTextPanel(FollowedTextPanel):
    """Draws the chosen head, or the mean of several."""

    least_height = 80

    def __init__(self, session: Session) -> None:
        self._text = AttentionText()
        super().__init__(session, self._text)
        self._card = self.add_card("In the text", HINT, self._area)
        self._text.token_hovered.connect(self._point)
        self._text.token_clicked.connect(session.focus.choose_position)
        self._mark_late = QTimer(self, singleShot=True, interval=AFTER_THE_POINTER)
        self._mark_late.timeout.connect(self._mark)
        session.focus.hovered_position_changed.connect(self._mark_late.start)
        session.attention.looked_at_changed.connect(
            lambda: self._text.set_looked_at(session.attention.looked_at)
        )
        session.focus.position_changed.connect(self._mark)

    def exported_names(self) -> Names:
        reading = self.session.reading.current
        words = reading.trace.tokens if reading is not None else ()
        return Names(words, words)

    def recipe(self) -> str:
        from lmviz.inspection.recipes.recipe import attention_recipe

        reading, attention = self.session.reading.current, self.session.attention
        if reading is None or not self.weights.size:
            return ""
        return attention_recipe(reading.moment, attention.heads or (attention.head,))

    def out_of_place(self, model: OpenedModel) -> str:
        if model.reads_source and not model.reads_picture:
            return f"{model.name} {model.does}. Between the two texts shows what it looks at in its source."
        if model.has_heads:
            return ""
        return f"{model.name} has no attention: open a Transformer to see what its heads look at in the text."

    def refresh(self) -> None:
        reading, attention = self.session.reading.current, self.session.attention
        chosen = attention.heads or (attention.head,)
        heads = [head for head in chosen if reading is not None and _has(reading.trace, head)]
        if reading is None or not heads:
            self.weights = NOTHING
            self._text.set_attention([], NOTHING)
            is_known = reading is not None or self.session.library.model is None
            self._card.set_placeholder(NO_HEADS if is_known else NO_TEXT)
            return
        self._card.set_placeholder("")
        self.weights = combine_heads(reading.trace, heads)
        self._text.set_attention([visible(token) for token in reading.trace.tokens], self.weights)
        self._mark()
        self._follow_current.start()

    def _word_place(self, position: int) -> QPointF:
        return self._text.token_place(position)

    def _point(self, token: int) -> None:
        self.session.focus.hover_position(token)
        self._mark()  # at once, as the pointer is here

    def _mark(self) -> None:
        if self.awaits_answer:
            return
        hovered = self.session.focus.hovered_position
        self._text.set_current(
            self.session.reading.position if hovered is None else self.session.focus.position
        )
        self._text.set_hovered(-1 if hovered is None else hovered)


def _has(trace: Trace, head: Head) -> bool:
    traced = trace.arrays.get(f"layers/{head[0]}/attention/weights")
    return traced is not None and head[1] < traced.shape[0]
