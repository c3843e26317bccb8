"""What each lane expects after the same prefix, and what it writes on with the same draws."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QSizePolicy

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel
from lmviz.app.session.opened_model import Moment
from lmviz.app.session.race_lane import RaceLane
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, fill, row, sheet
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.plain import InkedLabel, Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.plots.bars import ROW, BarsView
from lmviz.base.errors import LmvizError
from lmviz.decoding.comparison import largest_differences
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import Distribution, next_distribution
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import sample
from lmviz.inspection.recipes.decoding import side_by_side_recipe
from lmviz.inspection.recipes.recipe import RecipeSubject
from lmviz.looks.ink import Inked
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

SAMPLES = Key("lane samples")

WORDS = Key("lane words")

EMPTY = "Once a lane trains, this shows what it expects after the typed text, and what it writes."
WRITTEN = {"characters": 120, "bpe": 40, "words": 30}
"""How many tokens a lane writes, by the kind of its tokens."""
WRITES_EVERY = 2.0  # seconds, while lanes are trained
BEGINNING = "\n"
SEED = 0
BARS = 5
NARROWEST = 190  # pixels at scale 1 of a card


@dataclass(frozen=True, eq=False)
class _Expected:
    """What one lane expects; a sentence in the place of it where it cannot read the text."""

    distribution: Distribution | None
    sentence: str = ""


class LaneWordsPanel(Panel):
    """A card for each lane that is not hidden, all at the step of the shown one."""

    needs_next_word = "It writes no text: open a language model, or see in Compare the labels of all lanes."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._race = session.race
        self._said = InkedLabel(name="lanes_apart", wraps=True)
        self._complaint = Label(name="complaint", role="warning", wraps=True)
        self._complaint.hide()
        self._empty = Card("What comes next")
        self._empty.set_placeholder(EMPTY)
        self._cards: list[_LaneCard] = []
        self._lanes: tuple[RaceLane, ...] = ()
        self._moments: tuple[Moment, ...] = ()
        self._found: tuple[_Expected, ...] = ()
        self._read, self._step = "", 0
        self._wrote = 0.0
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(self._write)
        self._row = row((self._empty, 1), gap=12)
        self.column.setSpacing(6)
        self.column.addWidget(self._said)
        self.column.addWidget(self._complaint)
        self.column.addWidget(scrolling(sheet(self._row), sideways=True), 1)
        for growing in (self._race.changed, session.library.step_changed, session.comparison.changed):
            growing.connect(self.refresh_now_and_then)
        self.follow(session.reading.prefix_changed, session.library.model_changed, session.work.ready_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Each lane's probabilities (token,) by its name."""
        pairs = zip(self._lanes, self._found, strict=True)
        return {lane.label: found.distribution.probabilities for lane, found in pairs if found.distribution}

    def recipe(self) -> str:
        if not self._found or not all(found.distribution for found in self._found):
            return ""
        return side_by_side_recipe(
            [RecipeSubject(str(model.folder), self._read, step) for model, step in self._moments]
        )

    def show_complaint(self, sentence: str) -> None:
        self._complaint.setText(sentence)
        self._complaint.setVisible(bool(sentence))

    def refresh(self) -> None:
        lanes, moments = self._drawn()
        self._empty.setVisible(not lanes)
        if not lanes:
            self.silence(WORDS)
            self.silence(SAMPLES)
            self._lanes, self._moments, self._found = (), (), ()
            self._fit_cards()
            self._said.set_pieces([])
            self._said.hide()
            return
        text, step = self._text, self.session.library.step

        def expected(model: Model) -> _Expected:
            try:
                continuation = Continuation.of(model, text)
                return _Expected(next_distribution(continuation.logits, tokens=continuation.tokens))
            except LmvizError as sentence:
                return _Expected(None, str(sentence))

        def take(found: list[_Expected]) -> None:
            self._lanes, self._moments, self._found = lanes, moments, tuple(found)
            self._read, self._step = text, step
            self._fit_cards()
            self._draw()
            self._write()

        models = tuple(map(ComparedModel, moments))
        self.ask(Question(WORDS, models, lambda found: list(map(expected, found))), take)

    def _drawn(self) -> tuple[tuple[RaceLane, ...], tuple[Moment, ...]]:
        """The lanes that are open and not hidden, each at the step that is shown."""
        step = self.session.library.step
        found = [
            (lane, (opened, opened.nearest_snapshot(step)))
            for lane in self._race.lanes
            if lane.name not in self._race.hidden
            and (opened := self._race.opened(lane)) is not None
            and opened.predicts.continues
        ]
        return tuple(lane for lane, _ in found), tuple(moment for _, moment in found)

    @property
    def _text(self) -> str:
        return self.session.reading.prefix or BEGINNING

    def _fit_cards(self) -> None:
        fill(self._row, self._cards, len(self._lanes), self._card_at)

    def _card_at(self, place: int) -> _LaneCard:
        card = _LaneCard()
        card.bars.part_clicked.connect(lambda bar: self._append(place, bar))
        return card

    def _draw(self) -> None:
        known = [found.distribution for found in self._found if found.distribution is not None]
        most = max((found.probability_of(found.best) for found in known), default=1.0)
        drawn = zip(self._cards, self._lanes, self._found, strict=True)
        for place, (card, lane, found) in enumerate(drawn):
            card.set_lane(lane.label, current_theme().series_color(lane.color))
            if found.distribution is None:
                card.set_aside("")
                card.set_placeholder(found.sentence)
                continue
            card.set_placeholder("")
            entropy = f"entropy {found.distribution.entropy:.1f} bits"
            step = self._moments[place][1]  # a fork has none before it left
            card.set_aside(entropy if step == self._step else f"at step {step:,} · {entropy}")
            rows = found.distribution.top(BARS)
            card.bars.set_bars(
                [visible(each.token) for each in rows], [each.probability for each in rows], limit=most
            )
        pieces = self._difference()
        self._said.set_pieces(pieces)
        self._said.setVisible(bool(pieces))

    def _difference(self) -> list[Inked]:
        """On which word the lanes are furthest apart; nothing where their words are not the same."""
        found = [each.distribution for each in self._found if each.distribution is not None]
        if len(found) < 2 or any(list(each.tokens) != list(found[0].tokens) for each in found[1:]):
            return []
        (most,) = largest_differences(np.stack([each.probabilities for each in found]), found[0].tokens, 1)
        lanes = [lane for lane, each in zip(self._lanes, self._found, strict=True) if each.distribution]
        low, high = int(np.argmin(most.shares)), int(np.argmax(most.shares))
        last = " ".join(self._read.split()[-3:])
        after = f"After “{last}” they" if last else "They"
        return [
            Inked(f"{after} differ most on "),
            Inked(visible(most.name), is_bold=True),
            Inked(f": {percentage(most.shares[low])} in lane {lanes[low].label}, "),
            Inked(f"{percentage(most.shares[high])} in lane {lanes[high].label}. "),
            Inked("Below, what each writes with the same draws.", ink="muted_text"),
        ]

    def _write(self) -> None:
        """Have each lane write on; not often while they train, for it takes time from them."""
        asked = (self._moments, self._read)
        if not self._moments:
            return
        wait = WRITES_EVERY - (time.monotonic() - self._wrote)
        if self._race.is_active and wait > 0:
            self._later.start(round(1000 * wait))
            return
        if not self.is_in_sight:
            self.refresh_soon()  # they write on when they are seen again
            return
        moments, text = asked

        def written(model: Model, moment: Moment) -> str:
            steps = WRITTEN.get(moment[0].tokenizer.kind, WRITTEN["words"])
            try:
                drawn = list(sample(model, text, steps, SamplingOptions(seed=SEED)))
            except LmvizError as sentence:
                return str(sentence)
            return drawn[-1].text[len(text) :] if drawn else ""

        def work(models: Iterator[Model]) -> list[str]:
            return [written(model, moment) for model, moment in zip(models, moments, strict=True)]

        def take(found: list[str]) -> None:
            if asked != (self._moments, self._read):
                self.silence(SAMPLES)  # other words stand above by now
                return
            for card, words in zip(self._cards, found, strict=True):
                card.written.setText(words.strip())

        question = Question(SAMPLES, tuple(map(ComparedModel, moments)), work, about=text, grows=True)
        if self.must_ask(question):
            self._wrote = time.monotonic()
            self.ask(question, take)

    def _append(self, place: int, bar: int) -> None:
        """Write the clicked word at the end of what was read."""
        found = self._found[place].distribution if place < len(self._found) else None
        if found is not None:
            tokenizer = self._moments[place][0].tokenizer
            self.session.reading.set_prefix(tokenizer.continue_text(self._read, found.candidate(bar + 1).id))
            self.session.focus.follow_end()


class _Written(Label):
    """As much of a text as has room: its height holds no room."""

    def hasHeightForWidth(self) -> bool:
        return False


class _LaneCard(Card):
    """What one lane expects, in `bars`, and what it has `written`."""

    def __init__(self) -> None:
        self._color = QColor()
        self.bars = BarsView()
        self.bars.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.written = _Written(wraps=True)
        self.written.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.written.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        super().__init__("", "", sheet(column(self.bars, (self.written, 1), gap=8)))
        self.adopt_theme()

    def set_lane(self, name: str, color: QColor) -> None:
        """Say whose card it is."""
        self.set_title(name)
        self._color = color
        self.bars.set_color(color)
        self.bars.setAccessibleName(f"what lane {name} expects next")
        self.update()

    def adopt_theme(self) -> None:
        self.bars.setFixedHeight(round(self.length(ROW * BARS)))
        self.setMinimumWidth(round(self.length(NARROWEST)))
        super().adopt_theme()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        super().paint(painter, event)
        mark = QRectF(0, self.length(14), self.length(3), self.length(16))
        painter.box(mark, self._color, radius=1.5)
