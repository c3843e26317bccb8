"""Two heads that work together, each with the word that it looks at, and the word they find, by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QWidget

from lmviz.app.panels.circuits.answering_panel import heads_missing
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.answers_by_step import AnswersByStep
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.figures import count, percentage
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.base.counting import head_name
from lmviz.circuits.recipes import chances_recipe
from lmviz.decoding.continuation import Continuation
from lmviz.inspection.attention import attention_weights
from lmviz.inspection.names import told_apart
from lmviz.inspection.trace import Trace
from lmviz.looks.names import Names
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.head_pair import Head, HeadPair
    from lmviz.models.model import Model

BY_STEP = Key("answer by step")

PAIR = Key("two heads")
NO_MODEL = "Open or train a Transformer to see which two of its heads work together."
NO_TEXT = "Type a text above whose last word has occurred before."
NO_PAIR = (
    "At this step no two heads work together in this way: one that looks at the word before, and one of a "
    "later layer that clearly looks at what followed last time."
)
NEW = "The last word, “{word}”, occurs for the first time. End the text with a word that has occurred before."
MOST_STEPS = 40
"""So many snapshots at most are asked, of all that there are."""
ROWS = 5
"""So many steps are drawn."""
RISE = 0.2
"""By so much at least the probability rises within a few steps where these are drawn."""
ROLES = {"translation": "query", "source": "key"}
"""The colour of labels, by the role of a name in the style sheet."""
WORDS, TEXTS = 16, 4
"""As the panel of all heads measures: so many random words, twice, in so many texts."""


class HeadPairPanel(Panel):
    """How an induction head and the one before it read the text, and since when the model knows the word."""

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.pair: HeadPair | None = None
        """The two heads that are drawn."""
        self.chances: AnswersByStep[float] = AnswersByStep(
            self, self._follow_steps, key=BY_STEP, beside_others=True
        )
        """The probability of the word that they find."""
        self._pairs: dict[Moment, tuple[HeadPair | None]] = {}  # of the model and step that were read last
        self._reading: Reading | None = None
        self._said = Label(name="head_pair_sentence", wraps=True)
        self._parts = [_HeadView("before", "translation"), _HeadView("follows", "source")]
        body = column(self._said, *((part, 1) for part in self._parts), gap=8)
        self._card = self.add_card("How they work together", "", body)
        self._bars = named(BarsView(), "head_pair_bars", "probability of what they find, by step")
        self._by_step = self.add_card("What they find", "by step", self._bars)
        self.column.setStretch(0, 2)
        self.column.setStretch(1, 1)
        self._drawn: list[int] = []  # the step of each bar
        self._bars.part_clicked.connect(lambda bar: session.library.choose_step(self._drawn[bar]))
        self.follow(session.reading.changed, session.library.model_changed, session.library.step_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        steps = sorted(self.chances)
        if not steps:
            return {}
        return {"step": np.array(steps), "probability": np.array([self.chances[step] for step in steps])}

    def exported_names(self) -> Names:
        return Names([count(step) for step in sorted(self.chances)])

    def recipe(self) -> str:
        if self._reading is None or not self.chances:
            return ""
        found = self._found_at()
        moment = self.session.reading.moment_of(self._reading.trace.text)
        return (
            chances_recipe(moment, sorted(self.chances), int(self._reading.trace.ids[found])) if found else ""
        )

    def out_of_place(self, model: OpenedModel) -> str:
        return heads_missing(model)

    def refresh(self) -> None:
        reading = self.session.reading.current
        if self.session.library.model is None or reading is None:
            self.silence(PAIR)
            self._show_instead(NO_MODEL if self.session.library.model is None else NO_TEXT)
            return
        moment, text = (reading.model, reading.step), reading.trace.text
        known = self._pairs.get(moment)

        def work(model: Model) -> tuple[HeadPair | None, int]:
            from lmviz.circuits.head_pair import needed_pair

            pair = known[0] if known else needed_pair(model, words=WORDS, rows=TEXTS)
            return pair, int(Continuation.of(model, text).logits.argmax())

        def take(found: tuple[HeadPair | None, int]) -> None:
            pair, likeliest = found
            self._pairs = {moment: (pair,)}
            self._draw(reading, pair, likeliest)

        self.ask(Question(PAIR, reading, work), take)

    def _show_instead(self, sentence: str) -> None:
        """Say why there is nothing to draw."""
        self._reading = self.pair = None
        self.chances.forget()
        self._card.set_placeholder(self.of_units(sentence))
        self._by_step.hide()

    def _found_at(self) -> int | None:
        """The place of the word that is to be found."""
        from lmviz.circuits.head_pair import said_before

        return None if self._reading is None else said_before(self._reading.trace.ids)

    def _draw(self, reading: Reading, pair: HeadPair | None, likeliest: int) -> None:
        from lmviz.circuits.head_pair import said_before

        trace = reading.trace
        words, found = told_apart(map(visible, trace.tokens)), said_before(trace.ids)
        if pair is None or found is None:
            self._show_instead(NO_PAIR if pair is None else NEW.format(word=words[-1]))
            return
        self.chances.be_about((reading.model, trace.text))
        self._reading, self.pair = reading, pair
        self._card.set_placeholder("")
        self._card.set_aside(f"step {count(reading.step)}" if len(reading.model.snapshots) > 1 else "")
        last = len(words) - 1
        before, follows = self._parts
        share, looks = before.show_head(pair.before, trace, words, found, found - 1)
        looks = looks or pair.is_needed  # what it looks at most may matter less
        with_share = f"with {share}" if looks else f"with only {share}"
        knows = f": so “{words[found]}” knows what it follows" if looks else ""
        at = self.of_units("the word before it")
        before.say(f"“{words[found]}” looks at {at}, “{words[found - 1]}”, {with_share}{knows}.")
        share, finds = follows.show_head(pair.follows, trace, words, last, found)
        with_share = f"with {share}" if finds else f"with only {share}"
        says = likeliest == trace.ids[found]
        follows.say(
            f"The last “{words[last]}” looks at “{words[found]}”, which followed it last time, {with_share}"
            f"{f', and “{words[found]}” is what the model says next' if says else ''}."
        )
        whole = looks and finds and says
        needed = ""
        if pair.share is not None and pair.without is not None:
            needed = (
                f" Without {head_name(*pair.before)}, {head_name(*pair.follows)} looks there with "
                f"{percentage(pair.without)} in place of {percentage(pair.share)} (random words said twice)."
            )
        together = f"Together: they find “{words[last]}” again and read off what came next."
        part = self.of_units(
            "Such heads find a word again and read off what came next; here only a part of this happens."
        )
        self._said.setText((together if whole else part) + needed)
        self._by_step.setVisible(len(reading.model.snapshots) > 1)
        self._by_step.set_title(f"What followed, “{words[found]}”")
        self._follow_steps()

    def _follow_steps(self) -> None:
        """Draw the probabilities that are known, and ask for the next."""
        self._draw_steps()
        reading, found = self._reading, self._found_at()
        if reading is None or found is None or len(reading.model.snapshots) == 1:
            return
        text, id = reading.trace.text, int(reading.trace.ids[found])

        def work(model: Model) -> float:
            from lmviz.circuits.head_pair import chance_of

            return chance_of(model, text, id)

        self.chances.ask_next(reading.model, _spread(reading.model.snapshots, MOST_STEPS), work)

    @property
    def is_whole(self) -> bool:
        """Whether the probability is known at every snapshot that is asked."""
        if self._reading is None:
            return False
        return set(_spread(self._reading.model.snapshots, MOST_STEPS)) <= self.chances.keys()

    def _steps(self) -> list[int]:
        """The steps that are drawn: the first, around the rise, the last, and the nearest to that shown."""
        from lmviz.circuits.heads_over_time import jump_of

        known = sorted(self.chances)
        if len(known) <= ROWS:
            return known
        jump = jump_of(known, np.array([self.chances[step] for step in known]), RISE)
        wanted = _spread(known, ROWS - 1) if jump is None else [known[0], jump.begin, jump.end, known[-1]]
        near = [
            min(known, key=lambda step: abs(step - place)) for place in (*wanted, self.session.library.step)
        ]
        return sorted(set(near))

    def _draw_steps(self) -> None:
        steps, shown = self._steps(), self.session.library.step
        self._drawn = steps
        self._bars.set_bars(
            [count(step) for step in steps],
            [self.chances[step] for step in steps],
            limit=1.0,
            highlighted=[at for at, step in enumerate(steps) if step == shown],
        )
        self._bars.setMinimumHeight(self._bars.sizeHint().height())  # none is left out


class _HeadView(QWidget):
    """One head over the text: its weights, a word with what it looks at marked, and that in a sentence."""

    def __init__(self, name: str, role: str) -> None:
        super().__init__()
        self._map = named(HeatmapView(), f"head_{name}_map", "what each token looks at")
        self._map.set_style(square=True, values="none", few_columns=True, column_role=ROLES[role])
        self._name, self._words = Label(role=role), Label(name=f"head_{name}_sentence", wraps=True)
        row((self._map, 3), (column(self._name, self._words, STRETCH, gap=4), 2), on=self, gap=12)

    def show_head(
        self, head: Head, trace: Trace, words: Sequence[str], query: int, key: int
    ) -> tuple[str, bool]:
        """Show what a head looks at: how much a word looks at another, and whether at none more."""
        layer, number = head
        weights = attention_weights(trace, layer)[number]
        self._name.setText(f"head {head_name(layer, number)}")
        self._map.set_matrix(weights, scale="share", limit=1.0, rows=words, columns=words)
        self._map.set_selection(row=query)
        self._map.set_pinned((query, key))
        return percentage(float(weights[query, key])), int(weights[query].argmax()) == key

    def say(self, sentence: str) -> None:
        """Say what it does."""
        self._words.setText(sentence)


def _spread(steps: Sequence[int], most: int) -> list[int]:
    """At most so many of some steps, from the first to the last."""
    places = np.linspace(0, len(steps) - 1, min(most, len(steps))).round().astype(int)
    return [steps[at] for at in places]
