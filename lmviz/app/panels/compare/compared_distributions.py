"""What several models expect, the next word or a label, side by side, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QPushButton

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.compare.colors import color_of
from lmviz.app.panels.compare.expectation import (
    Expectation,
    UnitsCache,
    agreement_in_words,
    expect,
    remark_on,
)
from lmviz.app.panels.compare.trio import Trio
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel, names_of_compared
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.session.surgery import in_words
from lmviz.app.widgets.base.building import fill, give_menu, named, row, sheet
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label, caption
from lmviz.app.widgets.base.remark import Remark
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.controls.refused_action import refuse
from lmviz.app.widgets.plots.distribution_card import DistributionCard
from lmviz.decoding.distribution import Distribution
from lmviz.decoding.shared_units import bare_word, ids_by_word
from lmviz.inspection.recipes.decoding import side_by_side_recipe
from lmviz.looks.names import Names
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("compare")

MOST = 30


class ComparedDistributionsPanel(Panel):
    """One card for each moment; hovering a word marks it in all, a click appends it to the prefix."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("compare_view")
        self._title = Label(role="title")
        self._agreement = named(MutedLine(right=True), "agreement")
        self._remark = Remark("compared_remark")
        self._add = named(QPushButton("Add a model"), "add_model_button")
        self._add.setProperty("menu", True)
        self._menu = give_menu(self._add)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._twin = named(QPushButton("Compare with the untouched model"), "add_twin_button")
        self._twin.setToolTip("Add the same model without the changes")
        self._twin.clicked.connect(lambda: session.comparison.set_twin(True))
        # Of this panel's many cards none always stands there to complain in.
        self._complaint = Label(name="complaint", role="warning", wraps=True)
        self._complaint.hide()
        self._invitation = Invitation("compare_trio_button")
        self._invited = Card("Compare", "", self._invitation)
        self.cards: list[DistributionCard] = []  # the cards, in the order of the moments
        self._trio = Trio(self)
        self._units = UnitsCache()
        self.models: tuple[ComparedModel, ...] = ()  # what is compared
        self._read = ""
        self.found: tuple[Expectation, ...] = ()  # what is drawn, in the order of the moments
        self._word = ""
        self._ids: dict[OpenedModel, dict[str, int]] = {}
        self._lay_out()
        self._invitation.accepted.connect(self._trio.compare)
        self._trio.changed.connect(self.refresh_soon)
        self.follow(
            session.comparison.changed,
            session.reading.encoding_changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.work.ready_changed,
        )

    @property
    def title(self) -> str:
        """The line that says what is compared."""
        return self._title.text()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Each column's probabilities (token,) by the name of its model."""
        if not self.found:
            return {}
        pairs = zip(names_of_compared(self.models), self.found, strict=True)
        return {name: found.distribution.probabilities for name, found in pairs if found.distribution}

    def exported_names(self) -> Names:
        found = next((item.distribution for item in self.found if item.distribution), None)
        return Names(found.tokens if found is not None else ())

    def recipe(self) -> str:
        if not self.found or not all(found.distribution for found in self.found):
            return ""
        if not all(item.model.predicts.continues for item in self.models):
            return ""
        return side_by_side_recipe([item.reads(self._read) for item in self.models])

    def show_complaint(self, sentence: str) -> None:
        self._complaint.setText(sentence)
        self._complaint.setVisible(bool(sentence))

    def handle_failure(self, key: str) -> None:
        if key == "trio":
            self._trio.forget()

    def refresh(self) -> None:
        models = self.session.comparison.models
        self._trio.search()
        self._invite(models)
        if models and models == self.models:
            self.models = models  # which may have more snapshots by now, and are the same all the same
            self._show_models()
        self._ask(models)

    def _lay_out(self) -> None:
        head = row(self._title, (self._agreement, 1), self._twin, self._add, gap=12, margins=(4, 0, 0, 0))
        self.column.addWidget(sheet(head))
        self.column.addWidget(self._remark)
        self.column.addWidget(self._complaint)
        self.column.setSpacing(8)
        self._row = row((self._invited, 1), gap=12)
        self.column.addWidget(scrolling(sheet(self._row), sideways=True), 1)

    def _card_at(self, place: int) -> DistributionCard:
        card = DistributionCard()
        card.bars.part_hovered.connect(lambda bar: self._hover(place, bar))
        card.bars.part_clicked.connect(lambda bar: self._append(place, bar))
        card.step_chosen.connect(lambda step: self._choose_step(place, step))
        card.removed.connect(lambda: self._remove(place))
        card.resized.connect(self._draw_soon)
        return card

    def _show_models(self) -> None:
        others = self._others()
        for card, item in zip(self.cards, self.models, strict=True):
            model, color = item.model, color_of(item.moment)
            removable = item.moment in others or item.is_twin
            steps = model.snapshots if model.when(item.step) else ()
            card.set_moment(model.name, color, steps, item.step, removable=removable)

    def _invite(self, models: tuple[ComparedModel, ...]) -> None:
        """What can be added to the comparison."""
        session = self.session
        self._add.setEnabled(bool(session.library.models))
        self._twin.setVisible(bool(session.surgery.in_force) and not session.comparison.has_twin)
        self._invited.setVisible(len(models) < 2)
        has_steps = any(len(item.model.snapshots) > 1 for item in models)
        add = "Add a model, or another step of this one" if has_steps else "Add a model"
        begin = add if models else "Open or train a model"
        offer = self._trio.offer
        sentence, button = f"{begin}: the same prefix is read by each, side by side.", f"Compare {offer}"
        if theme_switch().projector and offer:  # the button is no wider than a card
            sentence, button = f"{sentence} There are {offer}.", "Compare them"
        self._invitation.invite(sentence, button if offer else "")

    def _subject(self) -> str:
        """What is compared, in words."""
        shown, text = self.session.library.model, self._text()
        last = visible(text[-1:]) if text[-1:].isspace() else text.split()[-1] if text else ""
        if shown is not None and not shown.predicts.continues:
            return "The label of the text" if shown.predicts.per == "text" else f"The tag of “{last}”"
        return f"What follows “{last}”" if last else "What comes first"

    def _end(self) -> int:
        """How many characters of the prefix there are up to the chosen position."""
        reading, position = self.session.reading, self.session.focus.shown_position
        if reading.encoding is None or position >= len(reading.encoding) - 1:
            return len(reading.prefix)
        return reading.encoding.offsets[position][1]

    def _text(self) -> str:
        """The prefix up to the chosen position."""
        return self.session.reading.prefix[: self._end()]

    def _ask(self, models: tuple[ComparedModel, ...]) -> None:
        text, cache = self.session.reading.prefix, self._units
        end, subject = self._end(), self._subject()
        opened = [item.model for item in models]
        if not models:
            self.silence(KEY)
            self.models, self.found = (), ()
            fill(self._row, self.cards, 0, self._card_at)
            self._title.setText(subject)
            self._agreement.set_text("")
            self._remark.say("")
            return

        def work(found: Iterator[Model]) -> list[Expectation]:
            return [expect(model, text, end, place, opened, cache) for place, model in enumerate(found)]

        def take(found: list[Expectation]) -> None:
            self.models, self.found = (), ()  # until each has its card
            self._ids = {model: ids for model, ids in self._ids.items() if model in opened}
            fill(self._row, self.cards, len(models), self._card_at)
            self.models, self._read, self.found = models, text[:end], tuple(found)
            self._show_models()
            self._title.setText(subject)
            self._draw()

        question = Question(KEY, models, work, about=(text, end, subject))
        if self.has_drawn(question):
            self._draw()
        self.ask_once(question, take)

    def _draw_soon(self) -> None:
        """Other sizes have room for other numbers of bars; nothing has to be asked for."""
        if self.found:
            self._draw()

    def _draw(self) -> None:
        known = [item.distribution for item in self.found if item.distribution is not None]
        most = max((found.probability_of(found.best) for found in known), default=1.0)
        for card, item, compared in zip(self.cards, self.found, self.models, strict=True):
            card.set_sentence(item.sentence)
            if item.distribution is None:
                card.set_readout("")
                continue
            self._draw_bars(card, item.distribution, most)
            readout = self._readout(item.distribution, compared.model)
            condition = "as trained" if compared.is_twin else in_words(compared.interventions)
            card.set_readout(f"{condition} · {readout}" if condition else readout)
        self._agreement.set_text(agreement_in_words(self.found))
        self._remark.say(remark_on(self.found, names_of_compared(self.models), self.session.reading.noun))

    def _draw_bars(self, card: DistributionCard, found: Distribution, most: float) -> None:
        rows = found.top(min(card.room, MOST))
        marked = {n for n, row in enumerate(rows) if bare_word(row.token) == self._word} if self._word else ()
        card.bars.set_bars(
            [visible(row.token) for row in rows],
            [row.probability for row in rows],
            highlighted=marked,
            faded=set(range(len(rows))) - set(marked) if self._word else (),
            limit=most,
        )

    def _readout(self, found: Distribution, model: OpenedModel) -> str:
        if not self._word:
            return f"entropy {found.entropy:.2f} bits"
        id = self._ids_of(model).get(self._word)
        if id is None:
            answer = "token" if model.predicts.continues else "label"
            return f"“{visible(self._word)}” is not a {answer} of this model"
        return f"“{visible(self._word)}” {percentage(found.probability_of(id))}, rank {found.rank_of(id):,}"

    def _ids_of(self, model: OpenedModel) -> dict[str, int]:
        if model not in self._ids:
            names = {bare_word(name): id for id, name in enumerate(model.predicts.names)}
            self._ids[model] = names or ids_by_word(model.tokenizer)
        return self._ids[model]

    def _hover(self, place: int, bar: int) -> None:
        found = self.found[place].distribution if place < len(self.found) else None
        self._word = bare_word(found.candidate(bar + 1).token) if found is not None and bar >= 0 else ""
        self._draw_soon()

    def _append(self, place: int, bar: int) -> None:
        """Write the clicked token at the end of what was read, as that model spells it."""
        found = self.found[place].distribution if place < len(self.found) else None
        if found is not None and self.models[place].model.predicts.continues:
            tokenizer = self.models[place].model.tokenizer
            self.session.reading.set_prefix(tokenizer.continue_text(self._read, found.candidate(bar + 1).id))
            self.session.focus.follow_end()

    def _choose_step(self, place: int, step: int) -> None:
        session, chosen = self.session, self.models[place]
        moment = chosen.moment
        if chosen.is_twin:
            if step != chosen.step:
                session.comparison.set_twin(False)
                self._include((chosen.model, step))
        elif moment not in self._others():
            session.library.choose_step(step)
        else:
            session.comparison.choose(
                ((chosen.model, step) if item == moment else item) for item in self._others()
            )

    def _remove(self, place: int) -> None:
        removed = self.models[place]
        if removed.is_twin:
            self.session.comparison.set_twin(False)
        else:
            self.session.comparison.choose(item for item in self._others() if item != removed.moment)

    def _others(self) -> tuple[Moment, ...]:
        """What the shown model and step is compared with."""
        if self.session.library.model is None:  # closed, while what was asked of it was on its way
            return ()
        present = self.session.comparison.present
        return tuple(item.moment for item in self.models if item.moment != present)

    def _fill_menu(self) -> None:
        menu, session = self._menu, self.session
        menu.clear()
        for model in session.library.models:
            shown = [item.step for item in self.models if item.model == model]
            free = [step for step in reversed(model.snapshots) if step not in shown]
            action = menu.addAction(caption(f"{model.name}, another step" if shown else model.name))
            action.setEnabled(bool(free))
            if obstacle := session.comparison.obstacle_to(model):
                refuse(menu, action, obstacle.reason, obstacle.sentence)
            elif free:
                # The most informative comparison with a model is itself when half trained.
                step = free[0] if not shown else model.nearest_snapshot(free[len(free) // 2])
                action.triggered.connect(lambda _=False, moment=(model, step): self._include(moment))
        if len(session.comparison.comparable) > 1:
            menu.addSeparator()
            menu.addAction("All that are open", self._trio.compare_all)
        if self._trio.offer:
            menu.addAction(caption(f"Compare {self._trio.offer}"), self._trio.compare)

    def _include(self, moment: Moment) -> None:
        self.session.comparison.choose((*self._others(), moment))
