"""The base of all panels: draws only while visible, asks in other threads, and shows errors."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from PySide6.QtCore import QTimer, Signal, SignalInstance
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLayout, QStackedLayout, QWidget
from shiboken6 import isValid

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.question import Question
from lmviz.app.panels.questions import Questions
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.part import Part
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, sheet
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.workers.job import Job, JobWork
from lmviz.base.figures import whole_percentage
from lmviz.looks.names import COUNTED, Names
from lmviz.text.tokenizer import of_units

T = TypeVar("T")

AFTER_THE_POINTER = 33  # milliseconds
NOW_AND_THEN, APART = 400, 33  # milliseconds; between two panels that are drawn now and then
TELL_EVERY = 500  # milliseconds between two times that it is said how far an answer is
TELLS_REST = 2.0  # seconds of work from which on it can be said how much is left
LATE = 120  # milliseconds until what answers an older question is paled: with the drawing of it 150 at most
JOBS = "jobs"
"""What a panel complains about when a job of its own has failed: until it starts the next."""


class Panel(QWidget):
    """A view of the session. Subclasses build their widgets, `follow` what they draw, and `refresh`.

    Redrawing is what live panels cost the training, so nothing is drawn behind another perspective:
    a change that comes while the panel is hidden is drawn when it is shown again.

    What takes time is a `Question` that it asks, or a job that it starts. Work is a function that knows no
    widget; of the questions under one key only the newest is answered. Where the work fails, the panel
    shows the sentence in its own card until the same question is answered.

    What is drawn answers one question, which title, names, unit and export belong to. While a newer answer of
    a part of the session is awaited that a panel `draws`, its picture stays as it is, whole; a panel that
    asks questions of its own draws nothing of the new question before it is answered. Where that takes longer
    than an eye notices, its cards are paled and say what they still show.

    A panel that is about the next word says in `needs_next_word` what would show it: where the shown model
    predicts labels that sentence stands in its place, and nothing is drawn or asked.
    """

    spoken_as = "Pane"

    begun = Signal()
    """What it shows has just begun: it comes in front, unless a person has chosen a tab in its place."""

    need_changed = Signal()
    """Whether it is needed may have changed."""

    _drawn_last = (
        0.0  # when the last of those that wait now and then is drawn, in milliseconds of `monotonic`
    )

    gives_way = 0
    """Milliseconds for which it lets the others draw first, so that the window is not painted all at once."""

    can_play = False
    """Whether the space bar plays and pauses it while it is in sight, by `toggle_play`."""

    draws: tuple[str, ...] = ()
    """The parts of the session whose answers it draws: "reading", "gradients", "explanation", "writing"."""

    needs_next_word = ""
    """What to open to see it, as a sentence; empty where models of labels have something to show as well."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(self.view_name())
        self.session = session
        self._sheets = QStackedLayout(self)
        self._sheets.setContentsMargins(0, 0, 0, 0)
        self._own = QWidget()  # what the panel draws, without what stands in its place
        self.column = column(on=self._own)
        self._sheets.addWidget(self._own)
        self._first_title: str | None = None
        self._instead: EmptyText | None = None  # made when a model of labels is first shown
        self._complaints: dict[object, str] = {}
        self._is_stale = True
        self._lets_go = False  # whether what it draws is of a model that was closed
        self._put_away_on: QWidget | None = None
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._refresh_if_seen)
        self._own_questions = Questions(session.work.is_busy)
        self._keys: set[str] = set()  # under which it has asked
        self._awaited: set[str] = set()  # keys of questions whose answer replaces what is drawn
        self._unanswered: set[str] = set()  # those of them that have failed
        self._asked_at: dict[str, float] = {}  # when each was asked
        self._is_pale = False  # whether a card says what it still shows
        self._pale_soon = QTimer(self)
        self._pale_soon.setSingleShot(True)
        self._pale_soon.timeout.connect(self._say_late)
        for part in self.draws:
            getattr(session, part).late_changed.connect(self._follow_answers)
        self.follow(theme_switch().theme_changed)  # its widgets were given colours of the theme
        session.library.model_changed.connect(self._refuse_soon)
        session.library.model_closed.connect(self._let_go)

    @classmethod
    def view_name(cls) -> str:
        """What lessons, scripts and tests call a panel: "over_time_view" is the OverTimePanel."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Panel")).lower() + "_view"

    @property
    def is_in_sight(self) -> bool:
        """Whether it can be seen: no other tab is in front of it."""
        return self.isVisible()

    @property
    def is_put_away(self) -> bool:
        """Whether another panel of its perspective, which is in sight, has been given its room."""
        return self._put_away_on is not None and self._put_away_on.isVisible()

    def set_put_away(self, around: QWidget | None) -> None:
        """Say on which board others have its room, before it is hidden; None where it has its own."""
        self._put_away_on = around

    @property
    def is_up_to_date(self) -> bool:
        """Whether it has drawn every change that it follows."""
        return not self._is_stale

    @property
    def is_behind(self) -> bool:
        """Whether what is asked now is not yet what is drawn."""
        busy = self.session.work.is_busy
        self._awaited = {key for key in self._awaited if busy(key)}
        is_asking = bool(self.draws) and self._is_stale  # what it asks itself comes with the next drawing
        is_awaiting = bool(self._awaited or self._unanswered) or is_asking or self.awaits_answer
        return is_awaiting or bool(self.outdated)

    @property
    def outdated(self) -> str:
        """What it still shows, where nothing newer is on its way; empty where it shows what is asked now."""
        return ""

    @property
    def awaits_answer(self) -> bool:
        """Whether a part of the session that it draws has not answered yet what is asked now.

        Where the shown model has nothing here, nothing is awaited: the sentence that says so is known.
        """
        return any(getattr(self.session, part).is_late for part in self.draws) and not self._refusal

    @property
    def is_out_of_place(self) -> bool:
        """Whether a sentence stands in its place, as the shown model has nothing to show here."""
        return self._sheets.currentIndex() > 0

    @property
    def is_needed(self) -> bool:
        """Whether it has anything to show just now: where not, its neighbours get its room."""
        return True

    def add_card(
        self, title: str, aside: str | QWidget | QLayout = "", body: QWidget | QLayout | None = None
    ) -> Card:
        """A card below what it shows so far: see `Card`. A row or a column is what stands in it."""
        card = Card(title, _held(aside), _held(body))
        self.column.addWidget(card)
        return card

    def follow(self, *signals: SignalInstance) -> None:
        """Call `refresh` after any of these, at the end of the turn."""
        for signal in signals:
            signal.connect(self.refresh_soon)

    def refresh_soon(self) -> None:
        """Have `refresh` called once, at the end of the turn or when the panel is shown next."""
        self._refresh_within(self.gives_way)

    def refresh_late(self) -> None:
        """The same, but only when what lies under the pointer has been drawn."""
        self._refresh_within(AFTER_THE_POINTER)

    def refresh_now_and_then(self) -> None:
        """The same, but not often: while a model is trained, what plots draw again is time that it lacks.

        Panels then draw one after the other, so that no turn of the event loop has them all.
        """
        if not (self.session.library.live and self.session.training.is_taken):
            self.refresh_soon()
        elif self._soon.isActive():
            self._is_stale = True
        else:
            now = 1000 * monotonic()
            Panel._drawn_last = max(now + NOW_AND_THEN, Panel._drawn_last + APART)
            self._refresh_within(round(Panel._drawn_last - now))

    def toggle_play(self) -> None:
        """Play, or stop; called where it `can_play`."""

    def have_asked(self) -> None:
        """Have the session asked what is to be drawn: before `refresh`, also while that has to wait."""

    def show_choices(self) -> None:
        """Show what needs no answer, such as settings: before `refresh`, also while that has to wait."""

    @abstractmethod
    def refresh(self) -> None:
        """Draw what the session holds now."""

    def out_of_place(self, model: OpenedModel) -> str:
        """Why a model has nothing to show here, and what would, in its place; empty where it has."""
        if not self.needs_next_word or model.predicts.continues:
            return ""
        return f"{model.name} predicts {model.predicts.describe()}. {self.needs_next_word}"

    def refusal_of(self, model: OpenedModel) -> str:
        """Why it is `out_of_place`, as it is said of what the shown model reads; empty where it is not."""
        return self.of_units(self.out_of_place(model))

    def catch_up(self) -> None:
        """Draw at once what a change has left to be drawn later, even behind another tab."""
        self._soon.stop()
        self._refresh_if_answered()

    def drawn_arrays(self) -> dict[str, np.ndarray]:
        """Its `exported_arrays`; none where the shown model has nothing here: they are of the one before."""
        return {} if self._draws_nothing else self.exported_arrays()

    def drawn_recipe(self) -> str:
        """Its `recipe`; empty where the shown model has nothing here."""
        return "" if self._draws_nothing else self.recipe()

    @property
    def _draws_nothing(self) -> bool:
        """Whether it is out of place, or will be when it is seen next."""
        return self.is_out_of_place or bool(self._refusal)

    @property
    def _refusal(self) -> str:
        """Why the shown model has nothing to show here; empty where it has, or none is shown."""
        model = self.session.library.model
        return "" if model is None else self.refusal_of(model)

    def drawn_results(self) -> Sequence[Any]:
        """Its `page_results`; none where the shown model has nothing here: they are of the one before."""
        return () if self._draws_nothing else self.page_results()

    def page_results(self) -> Sequence[Any]:
        """Frozen results, or looks, of which a page makes what it draws; none where it is drawn by hand."""
        return ()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The numbers that are drawn, by name, for export; empty where there are none."""
        return {}

    def exported_names(self) -> Names:
        """What the rows and columns of a table of these numbers are called."""
        return COUNTED

    def recipe(self) -> str:
        """The lines of Python that give the same numbers; empty where there are none."""
        return ""

    @property
    def card(self) -> Card | None:
        """The first card in sight, in which the panel says what failed."""
        shown = self._sheets.currentWidget()
        return shown if isinstance(shown, Card) else shown.findChild(Card)

    @property
    def complaint(self) -> str:
        """What failed last and has not been answered since; empty where nothing has."""
        return next(reversed(self._complaints.values()), "")

    def complains(self, about: object) -> bool:
        """Whether it says what failed of a question, or of a job of its own under `JOBS`."""
        return about in self._complaints

    def complain(self, sentence: str, about: object = None) -> None:
        """Show a sentence about something that failed; an empty one takes it away."""
        self._complaints.pop(about, None)
        if sentence:
            self._complaints[about] = sentence
        if isValid(self):  # a part of the session may outlive a panel
            self.show_complaint(self.complaint)

    def show_complaint(self, sentence: str) -> None:
        """Put the sentence where a person sees it: by default into the first card."""
        if self.card is not None:
            self.card.complain(sentence)

    def show_failures(self, part: Part) -> None:
        """Show what a part says failed, until it begins anew: no other signal takes that away."""
        about = object()

        def complain(sentence: str) -> None:
            if isValid(self):  # a panel may be gone before the session is
                self.complain(sentence, about)

        part.failed.connect(complain)
        part.begun.connect(lambda: complain(""))

    def of_units(self, sentence: str) -> str:
        """A sentence that speaks of words, as it is said of what the shown model reads."""
        return of_units(sentence, self.session.reading.noun)

    def must_ask(self, question: Question[Any, Any]) -> bool:
        """Whether a question is still to be asked: not where its answer is drawn, or on its way.

        Where it is drawn, another one that is on its way is taken back: its answer would be drawn instead.
        """
        key = question.key
        if self._own_questions.is_drawn(key, question):
            self._take_back(key)
            return False
        if self._own_questions.is_awaited(key, question):
            return False
        self._own_questions.begin(key, question.without_work)
        return True

    def has_drawn(self, question: Question[Any, Any]) -> bool:
        """Whether what is drawn is the whole answer to a question that it `must_ask` before."""
        return self._own_questions.is_drawn(question.key, question)

    def ask(self, question: Question[Any, T], answer: Callable[[T], object]) -> None:
        """Have a question answered: what comes is drawn, and what fails is said on the panel's card.

        An answer that `grows` adds to what is drawn; otherwise it replaces it, which is late until then.
        """
        self._await(question.key, question.grows)
        question.put(self.session, *self._ends(question.key, answer))

    def ask_once(self, question: Question[Any, T], answer: Callable[[T], object]) -> None:
        """Ask what it `must_ask`."""
        if self.must_ask(question):
            self.ask(question, answer)

    def silence(self, key: str) -> None:
        """Take a question back: it will not be answered, and what failed of it is no longer said.

        What is drawn of that key is no answer any more: any question under it is to be asked.
        """
        self._own_questions.forget(key)
        self._take_back(key)

    def _take_back(self, key: str) -> None:
        """Wait for no answer any more; what is drawn stays."""
        self.session.work.silence(key)
        self.complain("", key)
        self._unanswered.discard(key)
        self._follow_lateness()

    def start_job(
        self,
        name: str,
        work: JobWork,
        answer: Callable[[Any], object],
        partial: Callable[[Any], object] | None = None,
    ) -> Job:
        """Start long work in its own thread, shown with its progress: see `Work.start_job`."""
        self.complain("", JOBS)
        return self.session.work.start_job(name, work, answer, self._end_of(JOBS), partial)

    def handle_failure(self, key: str) -> None:
        """Called after a question has failed, or a job under `JOBS`, for what has to be undone then.

        Also where a question is given up that was on its way when the panel came to be out of place.
        """

    def _ends(
        self, key: str, answer: Callable[[T], object]
    ) -> tuple[Callable[[T], None], Callable[[str], None]]:
        """What to do with an answer, and with the sentence about a failure."""

        def take(result: T) -> None:
            self.complain("", key)
            self._own_questions.draw(key, lambda: answer(result))
            self._follow_lateness()

        return take, self._end_of(key)

    def _end_of(self, key: str) -> Callable[[str], None]:
        """What to do with the sentence about a failure."""

        def fail(sentence: str) -> None:
            self._own_questions.forget(key)
            if key in self._awaited:
                self._unanswered.add(key)
            self.handle_failure(key)
            self.complain(sentence, key)  # last: what undoes a question may silence it
            self._follow_lateness()

        return fail

    def _await(self, key: str, grows: bool = False) -> None:
        """A question is asked; what is drawn is late until it is answered, unless the answer adds to it."""
        self._keys.add(key)
        self._unanswered.discard(key)
        if grows:
            self._own_questions.replace(key)
            self._awaited.discard(key)
        else:
            self._awaited.add(key)
            self._asked_at[key] = monotonic()
            self._pale_later()

    def _follow_answers(self) -> None:
        """A newer answer of the session is awaited, or has come."""
        self._follow_lateness()
        if self._is_stale and not self.awaits_answer and self._keeps_up:
            self._soon.start()

    def _follow_lateness(self) -> None:
        """Pale what is drawn where it has become late, and bring it back where it no longer is."""
        if not isValid(self):
            return
        if not (self.is_in_sight or self._is_pale or self._pale_soon.isActive()):
            return  # at a keystroke there are many more that nobody sees
        if self.is_behind:
            if self.is_in_sight:
                self._pale_later()
        else:
            self._pale_soon.stop()
            self._say_late()

    def _pale_later(self) -> None:
        if not self._pale_soon.isActive() and isValid(self):
            self._pale_soon.start(LATE)

    def _say_late(self) -> None:
        """Say on each card what it still shows, or nothing where that is what is asked now."""
        words = self._late_words() if self.is_behind else ""
        if not (words or self._is_pale):  # so it is at nearly every keystroke
            return
        self._is_pale = bool(words)
        for card in self.findChildren(Card):
            card.set_late(words)
        if words and self._awaited and self.is_in_sight:
            self._pale_soon.start(TELL_EVERY)  # it will have come further by then

    def _late_words(self) -> str:
        reading = self.session.reading
        if self._unanswered:
            return "not answered"
        if self.outdated:
            return self.outdated
        if not reading.is_late or "reading" not in self.draws or reading.current is None:
            return self._how_far() or "in a moment …"
        return reading.current.question.said_before(reading.question)

    def _how_far(self) -> str:
        """How much of what is awaited is done, and how long the rest takes; empty where it is not known."""
        from lmviz.base.durations import in_words  # the first screen waits for nothing

        for key in sorted(self._awaited):
            done, spent = self.session.work.progress(key), monotonic() - self._asked_at.get(key, monotonic())
            if done:
                rest = f", {in_words(spent * (1 - done) / done)} left" if spent > TELLS_REST else ""
                return f"{whole_percentage(done)} done{rest}"
        return ""

    def _refresh_within(self, milliseconds: int) -> None:
        self._is_stale = True
        is_waiting = self._soon.isActive() and self._soon.remainingTime() <= milliseconds
        if self._keeps_up and not is_waiting:
            self._soon.start(milliseconds)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self._soon.start()
        if self.outdated:
            self._say_late()

    @property
    def _keeps_up(self) -> bool:
        """Whether what changes is drawn now: also out of sight where no model is open any more, for what was
        drawn of one would be kept."""
        return self.is_in_sight or (self._lets_go and self.session.library.model is None)

    def _let_go(self) -> None:
        """A model was closed."""
        self._lets_go = self._first_title is not None
        if self._keeps_up:
            self._is_stale = True
            self._soon.start(0)

    def _refuse_soon(self) -> None:
        """Another model is shown: that it has nothing here, or has again, needs no answer to be said."""
        if self.is_out_of_place or self.needs_next_word or self._refusal:
            self.refresh_soon()

    def _refresh_if_seen(self) -> None:
        if self._keeps_up:
            self._refresh_if_answered()

    def _refresh_if_answered(self) -> None:
        """Draw what has changed, unless what is to be drawn is still awaited."""
        if not self._is_stale:
            return
        self.have_asked()
        self.show_choices()
        if not self.awaits_answer:
            self._refresh_or_refuse()
        self._follow_lateness()

    def _refresh_or_refuse(self) -> None:
        """Draw what the session holds, or say why the shown model has nothing to show here."""
        self._is_stale = False
        if self._first_title is None:  # before anything is drawn it names the panel alone
            own = self._own.findChild(Card)
            self._first_title = own.title if own is not None else ""
        sentence = self._refusal
        if sentence and self._instead is None:
            self._instead = named(EmptyText(), "out_of_place")
            self._sheets.addWidget(Card(self._first_title, "", self._instead))
        if self._instead is not None:
            self._instead.set_text(sentence)
        if bool(sentence) != self.is_out_of_place:
            self._change_sheets()
        if not sentence:
            self.refresh()
        self._lets_go = self._lets_go and self.session.reading.current is not None

    def _change_sheets(self) -> None:
        """Put the sentence in the place of what is drawn, or take it away.

        Nobody waits any more for what was asked of the model before, and what failed of it is no longer said.
        """
        if not self.is_out_of_place:
            for key in filter(self.session.work.is_busy, sorted(self._keys)):
                self.silence(key)
                self.handle_failure(key)
            self._complaints.clear()
            self._unanswered.clear()
        self.show_complaint("")  # in the card that goes
        self._sheets.setCurrentIndex(0 if self.is_out_of_place else 1)
        self.show_complaint(self.complaint)


def _held(part: T | QLayout) -> T | QWidget:
    """A layout as a widget."""
    return sheet(part) if isinstance(part, QLayout) else part
