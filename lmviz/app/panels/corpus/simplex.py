"""The simplex: the probabilities of the words after a context, dragged until they are as likely as can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSignalBlocker, QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.beside import Beside
from lmviz.app.widgets.base.building import column, named, sheet
from lmviz.app.widgets.base.figures import count, number, whole_percentage
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.hinted_edit import HintedEdit
from lmviz.app.widgets.kit.axes import SHARE
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.widgets.plots.simplex_bars import SimplexBars
from lmviz.inspection.recipes.text import settings_of, simplex_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.names import Names
from lmviz.text.simplex import CountedWords, counted_words, example_context, with_share
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

KEY = Key("simplex")

TYPING = 120  # milliseconds without a key before the text is searched
FRAME = 40  # milliseconds for a step of the ascent
RATE = 0.08  # the part of the way that is left which one step goes
PLACES = 121  # points of the curve
DEPTH = 4.0  # what is drawn of the curve, in distances between the maximum and the uniform shares
REACH = 2.0  # the pull of the longest arrow, in multiples of λ
SIZE_OF_CONTEXT = 130  # pixels
NARROWEST_BARS, NARROWEST_CURVE = 120, 80  # pixels
EMPTY = "Open a text, and type a phrase that goes on in 2 to 8 ways."


class SimplexPanel(Panel):
    """One bar for each word that follows; raising one lowers the others, and the counts are the best."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        session.text.offer_changed.connect(self.need_changed)
        self.counted: CountedWords | None = None  # the words and counts that are drawn
        self._is_typed = False  # or else the context is an example that was found in the text
        self._is_counted = False
        self.shares = np.zeros(0)  # (word,) The probabilities as they stand
        self._way: Iterator[np.ndarray] | None = None
        self._context = named(
            HintedEdit("a phrase, such as cows eat", "a phrase"),
            "simplex_context",
            "phrase whose continuations are weighed",
        )
        self._context.setMinimumWidth(SIZE_OF_CONTEXT)
        self._bars = named(SimplexBars(), "simplex_bars")
        self._curve = LinePlot("p", words=(whole_percentage, _nats), y_name="Σ c ln p", possible_x=SHARE)
        self._bars.setMinimumWidth(NARROWEST_BARS)
        self._curve.setMinimumWidth(NARROWEST_CURVE)
        self._likelihood = Label(name="simplex_likelihood", role="title")
        self._lack, self._multiplier = Label(role="muted"), Label()
        self._counts_are = Label("c: how often each follows in training")
        self._ascend = named(QPushButton("maximise"), "simplex_ascend_button", role="primary")
        self._ascend.setToolTip("Every share moves along p × (c/p − λ), until none of them moves any more.")
        self._even = named(QPushButton("equal"), "simplex_even_button")
        self._even.setToolTip("Give all of them the same share.")
        self._card = self.add_card("Simplex", self._context, scrolling(self._lay_out()))
        self._wait = QTimer(self, singleShot=True, interval=TYPING)
        self._wait.timeout.connect(self._count)
        self._frame = QTimer(self, interval=FRAME)
        self._frame.timeout.connect(self._climb)
        self._context.textChanged.connect(self._note_typing)
        self._bars.share_wanted.connect(self._drag)
        self._bars.word_chosen.connect(lambda _: self._draw())
        self._ascend.clicked.connect(self._begin_to_climb)
        self._even.clicked.connect(self._make_even)
        session.text.changed.connect(self._note_text)
        self.follow(session.text.changed)

    @property
    def is_ascending(self) -> bool:
        """Whether the shares are on their way to the counts."""
        return self._frame.isActive()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """For every word (word,): its count, its share, and by how much its gradient exceeds λ."""
        counted = self.counted
        if counted is None:
            return {}
        return {"count": counted.counts, "share": self.shares, "pull": counted.surplus(self.shares)}

    def exported_names(self) -> Names:
        return Names(self.counted.words if self.counted is not None else ())

    def recipe(self) -> str:
        corpus, counted = self.session.text.corpus, self.counted
        if corpus is None or counted is None or not corpus.sources:
            return ""
        return simplex_recipe(corpus.sources, settings_of(corpus), counted.context, self.shares.tolist())

    @property
    def is_needed(self) -> bool:
        return self.session.text.offer is None

    def refresh(self) -> None:
        if not self._is_counted:  # nothing is counted while nobody looks
            self._count()
        self._draw()

    def _lay_out(self) -> QWidget:
        said = FlowLayout()
        for label in (self._likelihood, self._lack, self._counts_are, self._multiplier):
            said.addWidget(label)
        buttons = FlowLayout()
        buttons.addWidget(self._ascend)
        buttons.addWidget(self._even)
        return sheet(column(said, (Beside(self._bars, self._curve, (5, 3)), 1), buttons))

    def _note_text(self) -> None:
        self._is_counted = False

    def _note_typing(self, text: str) -> None:
        self._is_typed = bool(text)
        self._wait.start()

    def _count(self) -> None:
        """Count what follows the phrase that is typed, or else an example that the text has."""
        self._is_counted = True
        self._wait.stop()  # what was typed until now is counted with it
        corpus = self.session.text.corpus
        typed = self._context.text() if self._is_typed else ""
        if corpus is None:
            self.silence(KEY)
            self._show_counted(None)
            return
        if corpus.tokenizer.kind in ("words", "spaces"):
            typed = typed.strip()  # of characters and pieces a space is one, too

        def work(corpus: Corpus) -> CountedWords | None:
            context = typed or example_context(corpus)
            return counted_words(corpus, context) if context else None

        self.ask(Question(KEY, corpus, work), self._show_counted)

    def _show_counted(self, counted: CountedWords | None) -> None:
        self._stop()
        self.counted = counted
        if counted is not None:
            self.shares = counted.uniform
            if not self._is_typed:
                with QSignalBlocker(self._context):
                    self._context.setText(counted.context)
            names = [visible(word) for word in counted.words]
            self._bars.set_words(names, counted.best, REACH * counted.total)
        self._draw()

    def _draw(self) -> None:
        counted = self.counted
        self._card.set_placeholder(EMPTY if counted is None else "")
        if counted is None:
            return
        shares, word = self.shares, self._bars.current
        likelihood, best = counted.log_likelihood(shares), counted.log_likelihood(counted.best)
        self._likelihood.setText(f"Σ c ln p = {_nats(likelihood)} nats")
        lack = best - likelihood
        is_reached = lack < 5e-5  # to the last decimal that is written
        self._lack.setText("the maximum" if is_reached else f"{number(lack, 4)} below the maximum")
        self._multiplier.setText(f"λ = Σ c = {count(counted.total)}")
        self._bars.set_shares(shares, counted.surplus(shares))
        places, share = np.linspace(0, 1, PLACES), float(shares[word])
        along = counted.along(shares, word, places)
        low = best - DEPTH * max(best - counted.log_likelihood(counted.uniform), 1.0)
        name, now = visible(counted.words[word]), _nats(likelihood)
        here = PlotCurve("here", [share], [likelihood], "accent", 0, dots=True, said=now)
        curve = PlotCurve(f"p({name})", places, np.where(along >= low, along, np.nan), "accent", said="")
        # how high the maximum is, the picture says to whoever has reached it
        said = None if is_reached else ""
        most = PlotCurve("maximum", [0.0, 1.0], [best, best], "muted_text", 1, dashed=True, said=said)
        self._curve.set_curves([here, curve, most] if likelihood >= low else [curve, most])
        self._curve.set_cursor(share)

    def _drag(self, word: int, share: float) -> None:
        self._stop()
        self._bars.choose(word)
        self.shares = with_share(self.shares, word, share)
        self._draw()

    def _make_even(self) -> None:
        self._stop()
        if self.counted is not None:
            self.shares = self.counted.uniform
            self._draw()

    def _begin_to_climb(self) -> None:
        if self.counted is not None:
            self._way = self.counted.ascent(self.shares, RATE / self.counted.total)
            self._frame.start()

    def _climb(self) -> None:
        shares = None if self._way is None else next(self._way, None)
        if shares is None:
            self._stop()
            return
        self.shares = shares
        self._draw()

    def _stop(self) -> None:
        self._frame.stop()
        self._way = None

    def hideEvent(self, event: QHideEvent) -> None:
        self._stop()
        super().hideEvent(event)

    def handle_failure(self, key: str) -> None:
        self._show_counted(None)


def _nats(value: float) -> str:
    """A sum of logarithms, which is large where the text is."""
    return number(value, 4 if abs(value) < 1000 else 1)
