"""What each of several models expects next, side by side, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QVBoxLayout, QWidget

from lmviz.app.comparing import UnitsCache, ask_each, color_of, present_moment, shown_moments
from lmviz.app.panels.panel import Panel
from lmviz.app.tasks import Moment
from lmviz.app.theme import theme_switch
from lmviz.app.trio import Trio
from lmviz.app.widgets.card import Card
from lmviz.app.widgets.empty_text import EmptyText
from lmviz.app.widgets.figures import percentage
from lmviz.app.widgets.model_card import ModelCard
from lmviz.app.widgets.muted_line import MutedLine
from lmviz.app.widgets.scrolling import scrolling
from lmviz.decoding.comparison import jensen_shannon, largest_differences, overlap
from lmviz.decoding.shared_units import bare_word, ids_by_word
from lmviz.errors import LmvizError
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from pathlib import Path

    from lmviz.app.opened_models import OpenedModel
    from lmviz.app.session import Session
    from lmviz.decoding.distribution import Distribution
    from lmviz.decoding.shared_units import SharedUnits
    from lmviz.models.model import Model

MOST = 30


@dataclass(frozen=True, eq=False)
class Expectation:
    """What one model expects next: its distribution and its shares (unit,) of the common units.

    Where it cannot read the text there is a sentence instead.
    """

    distribution: Distribution | None
    shares: np.ndarray | None
    units: SharedUnits | None
    sentence: str = ""


class ComparedDistributionsPanel(Panel):
    """One card for each moment; hovering a word marks it in all, a click appends it to the prefix."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("compare_view")
        self._title = QLabel()
        self._title.setProperty("role", "title")
        self._agreement = MutedLine(right=True)
        self._agreement.setObjectName("agreement")
        self._add = QPushButton("Add a model")
        self._add.setObjectName("add_model_button")
        self._add.setProperty("menu", True)
        self._add.setMenu(QMenu(self._add))
        self._add.menu().aboutToShow.connect(self._fill_menu)
        self._invitation = _Invitation()
        self._cards: list[ModelCard] = []
        self._row = QHBoxLayout()
        self._trio = Trio(session, self)
        self._units = UnitsCache()
        self._moments: tuple[Moment, ...] = ()
        self._found: tuple[Expectation, ...] = ()
        self._word = ""
        self._ids: dict[Path, dict[str, int]] = {}
        self._lay_out()
        self._invitation.wanted.clicked.connect(lambda: self._trio.compare())
        self._trio.changed.connect(self.refresh_soon)
        theme_switch().theme_changed.connect(self.refresh_soon)
        self.follow(
            session.model_changed,
            session.models_changed,
            session.step_changed,
            session.compared_changed,
            session.encoding_changed,
            session.position_changed,
            session.hovered_position_changed,
            session.ready_changed,
        )

    @property
    def cards(self) -> tuple[ModelCard, ...]:
        """The cards, in the order of the moments."""
        return tuple(self._cards)

    @property
    def moments(self) -> tuple[Moment, ...]:
        """What is compared."""
        return self._moments

    @property
    def found(self) -> tuple[Expectation, ...]:
        """What is drawn, in the order of the moments."""
        return self._found

    @property
    def agreement(self) -> str:
        """The line that says how far the models agree."""
        return self._agreement.text

    def refresh(self) -> None:
        moments = shown_moments(self.session)
        if moments != self._moments or len(self._cards) != len(moments):
            self._moments, self._found = moments, ()
            self._fit_cards(len(moments))
        self._trio.look()
        self._show_moments()
        self._ask()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(4, 0, 0, 0)
        head.setSpacing(12)
        head.addWidget(self._title)
        head.addWidget(self._agreement, 1)
        head.addWidget(self._add)
        self.column.addLayout(head)
        self.column.setSpacing(8)
        cards = QWidget()
        self._row = QHBoxLayout(cards)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(12)
        self._row.addWidget(self._invitation, 1)
        self.column.addWidget(scrolling(cards, sideways=True), 1)

    def _fit_cards(self, count: int) -> None:
        while len(self._cards) > count:
            card = self._cards.pop()
            self._row.removeWidget(card)
            card.hide()
            card.deleteLater()
        while len(self._cards) < count:
            place = len(self._cards)
            card = ModelCard()
            card.bars.bar_hovered.connect(lambda bar, place=place: self._hover(place, bar))
            card.bars.bar_clicked.connect(lambda bar, place=place: self._append(place, bar))
            card.step_chosen.connect(lambda step, place=place: self._choose_step(place, step))
            card.removed.connect(lambda place=place: self._remove(place))
            card.resized.connect(self._draw_soon)
            self._cards.append(card)
            self._row.insertWidget(place, card, 1)

    def _show_moments(self) -> None:
        session, others = self.session, self._others()
        for card, moment in zip(self._cards, self._moments, strict=True):
            model, step = moment
            card.set_moment(model.name, color_of(moment), model.snapshots, step, removable=moment in others)
        self._add.setEnabled(bool(session.models))
        self._invitation.setVisible(len(self._moments) < 2)
        self._invitation.show_offer(bool(self._moments), self._trio.offer)
        text = self._text()
        last = visible(text[-1:]) if text[-1:].isspace() else text.split()[-1] if text else ""
        self._title.setText(f"What follows “{last}”" if last else "What comes first")

    def _text(self) -> str:
        """The prefix up to the position that one looks at."""
        session = self.session
        if session.encoding is None or not len(session.encoding):
            return session.prefix
        position = session.shown_position
        last = position == len(session.encoding) - 1
        return session.prefix if last else session.prefix[: session.encoding.offsets[position][1]]

    def _ask(self) -> None:
        moments, text, cache = self._moments, self._text(), self._units
        if not moments:
            self.session.silence("compare")
            self._agreement.set_text("")
            return

        def work(model: Model, place: int) -> Expectation:
            from lmviz.decoding.continuation import Continuation
            from lmviz.decoding.distribution import next_distribution

            try:
                continuation = Continuation.of(model, text)
                found = next_distribution(continuation.logits, tokens=continuation.tokens)
            except LmvizError as sentence:
                return Expectation(None, None, None, str(sentence))
            units = cache.units(moments)
            return Expectation(found, units.share(place, found.probabilities), units)

        ask_each(self.session, "compare", moments, work, lambda found: self._take(moments, found))

    def _take(self, moments: Sequence[Moment], found: Sequence[Expectation]) -> None:
        if tuple(moments) == self._moments:
            self._found = tuple(found)
            self._draw()

    def _draw_soon(self) -> None:
        """Other sizes have room for other numbers of bars; nothing has to be asked for."""
        if self._found:
            self._draw()

    def _draw(self) -> None:
        known = [item.distribution for item in self._found if item.distribution is not None]
        most = max((found.probability_of(found.best) for found in known), default=1.0)
        for card, item, moment in zip(self._cards, self._found, self._moments, strict=True):
            card.set_sentence(item.sentence)
            if item.distribution is None:
                card.set_readout("")
                continue
            self._draw_bars(card, item.distribution, most)
            card.set_readout(self._readout(item.distribution, moment))
        self._agreement.set_text(self._say_agreement())

    def _draw_bars(self, card: ModelCard, found: Distribution, most: float) -> None:
        rows = found.top(min(card.room, MOST))
        marked = {n for n, row in enumerate(rows) if bare_word(row.token) == self._word} if self._word else ()
        card.bars.set_bars(
            [visible(row.token) for row in rows],
            [row.probability for row in rows],
            highlighted=marked,
            faded=set(range(len(rows))) - set(marked) if self._word else (),
            limit=most,
        )

    def _readout(self, found: Distribution, moment: Moment) -> str:
        if not self._word:
            return f"entropy {found.entropy:.2f} bits"
        id = self._ids_of(moment[0]).get(self._word)
        if id is None:
            return f"“{visible(self._word)}” is no token of this model"
        return f"“{visible(self._word)}” {percentage(found.probability_of(id))}, rank {found.rank_of(id):,}"

    def _ids_of(self, model: OpenedModel) -> dict[str, int]:
        if model.folder not in self._ids:
            self._ids[model.folder] = ids_by_word(model.tokenizer)
        return self._ids[model.folder]

    def _say_agreement(self) -> str:
        shares = [item.shares for item in self._found if item.shares is not None]
        units = next((item.units for item in self._found if item.units is not None), None)
        if len(shares) < 2 or len(shares) < len(self._found) or units is None:
            return ""
        table = np.stack(shares)  # (model, unit)
        (most,) = largest_differences(table, units.names, 1)
        parts = [
            f"{percentage(float(overlap(table)))} in common",
            f"Jensen–Shannon divergence {float(jensen_shannon(table)):.3f} bits",
            f"furthest apart on “{visible(most.name)}”",
        ]
        if units.by != "token":
            parts.append("compared by first characters, since their tokens differ")
        return " · ".join(parts)

    def _hover(self, place: int, bar: int) -> None:
        found = self._found[place].distribution if place < len(self._found) else None
        self._word = bare_word(found.candidate(bar + 1).token) if found is not None and bar >= 0 else ""
        self._draw_soon()

    def _append(self, place: int, bar: int) -> None:
        """Write the clicked token at the end of what was read, as that model spells it."""
        found = self._found[place].distribution if place < len(self._found) else None
        if found is not None:
            tokenizer = self._moments[place][0].tokenizer
            self.session.set_prefix(tokenizer.continue_text(self._text(), found.candidate(bar + 1).id))
            self.session.follow_end()

    def _choose_step(self, place: int, step: int) -> None:
        session, moment = self.session, self._moments[place]
        if moment not in self._others():
            session.choose_step(step)
        else:
            session.compare(((moment[0], step) if item == moment else item) for item in self._others())

    def _remove(self, place: int) -> None:
        moment = self._moments[place]
        self.session.compare(item for item in self._others() if item != moment)

    def _others(self) -> tuple[Moment, ...]:
        """What the present moment is compared with, as it is shown."""
        if not self._moments:
            return ()
        present = present_moment(self.session)
        return tuple(moment for moment in self._moments if moment != present)

    def _fill_menu(self) -> None:
        menu, session = self._add.menu(), self.session
        menu.clear()
        for model in session.models:
            shown = [step for other, step in self._moments if other == model]
            free = [step for step in reversed(model.snapshots) if step not in shown]
            action = menu.addAction(f"{model.name}, once more" if shown else model.name)
            action.setEnabled(bool(free))
            if free:
                # Beside a model as it is now, what it was when half trained tells most.
                step = free[0] if not shown else model.nearest_snapshot(free[len(free) // 2])
                action.triggered.connect(lambda _=False, moment=(model, step): self._include(moment))
        if len(session.models) > 1:
            menu.addSeparator()
            menu.addAction("All that are open", self._trio.compare_all)
        if self._trio.offer:
            menu.addAction(f"The trio {self._trio.offer}", self._trio.compare)

    def _include(self, moment: Moment) -> None:
        self.session.compare((*self._others(), moment))


class _Invitation(Card):
    """Says what there is to compare with, where there is nothing beside the present model."""

    def __init__(self) -> None:
        super().__init__("Compare")
        self._sentence = EmptyText()
        self.wanted = QPushButton()
        self.wanted.setObjectName("compare_trio_button")
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._sentence, 1)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.wanted)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
        self.set_body(body)

    def show_offer(self, has_model: bool, offer: str) -> None:
        """`offer` names the models that one click would compare; empty when there are none."""
        begin = "Add a model, or another step of this one" if has_model else "Open or train a model"
        self._sentence.set_text(f"{begin}: the same prefix is read by each, side by side.")
        self.wanted.setVisible(bool(offer))
        self.wanted.setText(f"Compare {offer}")
