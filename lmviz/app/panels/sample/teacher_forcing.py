"""Teacher forcing: what each word of the text costs after the right words, and after the model's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, sheet
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.plots.surprisal_plot import SurprisalPlot, WordCurve
from lmviz.decoding.histories import Histories, read_both_ways
from lmviz.inspection.recipes.decoding import histories_recipe
from lmviz.inspection.recipes.recipe import RecipeSubject
from lmviz.looks.names import Names
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("histories")

RIGHT, OWN = "after the right words", "after its own"


class TeacherForcingPanel(Panel):
    """Two curves over the words of the prefix, and where the model's own text parts from it."""

    draws = ("reading",)

    gives_way = 33
    needs_next_word = "Open a model that writes to see what its own words would do to the text."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._plot, self._legend, self._said = SurprisalPlot(), Legend(hides=True), MutedLine()
        self._plot.setAccessibleName("cost of each token after either history")
        self._hidden: set[str] = set()
        self._legend.entry_clicked.connect(self._hide)
        self.histories: Histories | None = None  # what is drawn; None while nothing is
        self._moment: RecipeSubject | None = None  # what was read
        self._first = 0
        body = sheet(column((scrolling(self._plot), 1), self._said, gap=4))
        self._card = self.add_card("Teacher forcing, bits", self._legend, body)
        self._plot.part_hovered.connect(
            lambda word: session.focus.hover_position(word + self._first if word >= 0 else None)
        )
        self._plot.part_clicked.connect(lambda word: session.focus.choose_position(word + self._first))
        for changed in (session.focus.position_changed, session.focus.hovered_position_changed):
            changed.connect(self._mark)
        theme_switch().theme_changed.connect(self._draw)
        self.follow(session.reading.changed)

    @property
    def _right(self) -> str:
        """What the curve of the given text is called."""
        return self.of_units(RIGHT)

    @property
    def said(self) -> str:
        """What the model would have written, and what either history costs."""
        return self._said.text

    def exported_arrays(self) -> dict[str, np.ndarray]:
        found = self.histories
        return {} if found is None else {RIGHT: found.after_right, OWN: found.after_own}

    def exported_names(self) -> Names:
        return Names(self.histories.right if self.histories is not None else ())

    def recipe(self) -> str:
        return "" if self.histories is None or self._moment is None else histories_recipe(self._moment)

    def refresh(self) -> None:
        reading, shown = self.session.reading.current, self.session.comparison.shown
        if reading is None or shown is None or len(reading.trace) < 2:
            self.silence(KEY)
            self.histories = None
            self._card.set_placeholder(
                "Type a longer text, to see what the model's own would do to it."
                if self.session.library.model is not None
                else "Open a model to see what its own words would do to the text."
            )
            return
        text = reading.trace.text
        moment = self.session.reading.moment_of(text)

        def work(model: Model) -> Histories:
            return read_both_ways(model, text)

        def take(found: Histories) -> None:
            self.histories, self._moment, self._first = found, moment, 1
            self._draw()

        self.ask(Question(KEY, shown, work), take)

    def handle_failure(self, key: str) -> None:
        self.histories = None
        self._plot.set_words((), ())
        self._said.set_text("")
        self._card.set_placeholder("")

    def _draw(self) -> None:
        found, theme = self.histories, current_theme()
        if found is None:
            return
        curves = (
            WordCurve(self._right, theme.training, found.after_right),
            WordCurve(OWN, theme.key, found.after_own, 1),
        )
        self._legend.set_entries(
            [LegendEntry(each.name, each.color, each.name not in self._hidden, each.line) for each in curves]
        )
        shown = [each for each in curves if each.name not in self._hidden]
        self._plot.set_words([visible(token) for token in found.right], shown)
        self._said.set_text(self._sentence(found))
        self._card.set_placeholder("")
        self._mark()

    def _hide(self, name: str) -> None:
        """Leave out one of the two curves, or bring it back."""
        self._hidden ^= {name}
        self._draw()

    def _sentence(self, found: Histories) -> str:
        right, own = found.totals
        if found.parted is None:
            return f"It would have written just this · {right:.1f} bits"
        place = found.parted
        written = " ".join(visible(token) for token in found.own[place:] if token)
        beginning = f"From “{visible(found.right[place])}” on it would have written “{written}”"
        return f"{beginning} · {right:.1f} bits {self._right}, {own:.1f} {OWN}"

    def _mark(self) -> None:
        position, hovered = self.session.focus.position, self.session.focus.hovered_position
        self._plot.set_current(position - self._first)
        self._plot.set_hovered(-1 if hovered is None else hovered - self._first)
