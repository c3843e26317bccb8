"""What the window shows at its start: a stored first screen, the welcome, or the last session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.opening.reading_order import ReadingOrder
from lmviz.app.opening.settings import LastSession
from lmviz.app.opening.welcome_strip import WelcomeStrip
from lmviz.app.session.library import FIRST_TEXT
from lmviz.app.session.opened_model import OpenedModel
from lmviz.base.errors import LmvizError
from lmviz.base.places import shipped
from lmviz.families import FAMILIES
from lmviz.inspection.trace import Trace
from lmviz.text.tokenizer_file import vocabulary_in
from lmviz.training.run import Run

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from lmviz.app.opening.shell import Shell
    from lmviz.app.session.session import Session


FILE = "first_screen.npz"


@dataclass(frozen=True)
class FirstScreen:
    """A sample model, and what it computed for a prefix when it was shipped."""

    model: OpenedModel
    trace: Trace

    def is_where(self, last: LastSession) -> bool:
        """Whether a session ended just here, so that there is nothing to go back to."""
        here = (str(self.model.folder), self.trace.step, self.trace.text)
        return not last.sources and (last.run, last.step, last.prefix) == here


class Beginning(QObject):
    """Offers what can be done first. `strip` is the welcome, to be placed in the window.

    Signals: `tour_wanted`, and `welcome_over` when something else is begun, whether or not `strip` was seen.
    """

    tour_wanted = Signal()
    welcome_over = Signal()

    def __init__(self, window: Shell, parent: QWidget) -> None:
        super().__init__(parent)
        self._window, self._parent = window, parent
        self._session = window.session
        self._first: FirstScreen | None = None
        self._last_time = ""  # the sentence that offers to go on where the last session ended
        self._unfinished = ""  # the run that is about to be opened again
        self._offered = ""  # the sentence that offers to train it further
        self.strip = WelcomeStrip(_sample_models)
        self.reading_order = ReadingOrder(window, self)
        """Where one looks first."""
        self._connect()

    @property
    def is_untouched(self) -> bool:
        """Whether nothing has been opened yet but what the window began with."""
        session, first = self._session, self._first
        began_with = ((), "") if first is None else ((first.model,), first.trace.text)
        is_idle = session.text.corpus is None and session.training.state.folder is None
        return is_idle and (session.library.models, session.reading.prefix) == began_with

    def welcome(self, samples: Path | None = None) -> None:
        """Begin with a sample model on screen, for a start in which nothing was asked for.

        `samples` is the folder of the sample models, if not the one that came with lmviz. It also offers
        to go on where the last session ended, or else what can be done first.
        """
        settings, first = self._window.settings, load_first_screen(samples)
        self._first = first
        last = settings.last_session
        if first is not None:
            self._session.show_stored(first.model, first.trace)
            if not last.perspective:
                self._window.show_perspective("attention")
        self.reading_order.begin()
        goes_on = last.is_worth_going_on and not (first is not None and first.is_where(last))
        self.strip.setVisible(settings.is_on("view/welcome", True) and not goes_on)
        if goes_on:
            from lmviz.runs.run_list import title_in  # which nobody needs who begins

            runs = (title_in(Path(path)) for path in reversed(last.runs))
            texts = (Path(path).name for path in last.sources)
            sentence = f"Last time you had {' and '.join(dict.fromkeys((*runs, *texts)))} open."
            self._last_time = sentence
            self._window.offer(sentence, "Continue there", lambda: self._go_on(last, first))

    def start_tour(self) -> None:
        """Have the lesson begun that leads through the window."""
        self.strip.hide()
        self.tour_wanted.emit()

    def prepare_training(self) -> None:
        """Show where a model is trained, with a text to train it on."""
        if self._session.text.corpus is None:
            self._session.text.open(FIRST_TEXT)
        self._window.show_perspective("train")

    def _connect(self) -> None:
        window, strip = self._window, self.strip
        strip.look_wanted.connect(lambda: window.show_perspective("inside"))
        strip.train_wanted.connect(self.prepare_training)
        strip.text_wanted.connect(lambda: window.choose_text())
        strip.sample_wanted.connect(self._session.library.open)
        strip.public_wanted.connect(lambda name: window.open_public_model(name))
        strip.tour_wanted.connect(self.start_tour)
        strip.dismissed.connect(lambda: window.settings.keep("view/welcome", False))
        self._session.library.model_changed.connect(self._offer_to_train_on)
        self._session.training.changed.connect(self._withdraw_offer)
        for changed in (
            self._session.training.changed,
            self._session.library.model_changed,
            self._session.text.changed,
        ):
            changed.connect(self._follow_what_is_opened)
        self._session.lesson.step_begun.connect(self._make_way)

    def _make_way(self) -> None:
        """Offer nothing more: a lesson has begun, whose controls it would lie over, or something is open."""
        self.strip.hide()
        self.welcome_over.emit()
        if self._last_time:
            self._window.withdraw(self._last_time)
            self._last_time = ""

    def _follow_what_is_opened(self) -> None:
        """Whoever has opened or trained something else goes on with that."""
        session, began_with = self._session, None if self._first is None else self._first.model
        is_idle = session.text.corpus is None and not session.training.state.is_active
        if not is_idle or session.library.model != began_with:
            self._make_way()

    def _go_on(self, last: LastSession, first: FirstScreen | None) -> None:
        """Open what was open last time; an unfinished training can be continued."""
        open_last(self._session, last, first)
        self._unfinished = last.training or last.run

    def _offer_to_train_on(self) -> None:
        model = self._session.library.model
        if model is None or str(model.folder) != self._unfinished:
            return
        self._unfinished = ""
        done, steps = model.snapshots[-1], model.description.training.get("steps", 0)
        if not model.unsaved and done < steps:
            sentence = f"The training of {model.name} stopped at step {done:,} of {steps:,}."
            self._offered = sentence
            self._window.offer(sentence, "Continue training", self._session.training.resume)

    def _withdraw_offer(self) -> None:
        """Once something is trained, however it was begun, the offer is out of date."""
        if self._offered and self._session.training.state.is_active:
            self._window.withdraw(self._offered)
            self._offered = ""


def _sample_models() -> tuple[str, ...]:
    from lmviz.api.training import sample_models

    return sample_models()


def open_last(session: Session, last: LastSession, first: FirstScreen | None = None) -> None:
    """Open what the last session had open, in place of the first screen."""
    if last.sources:
        session.text.open(last.sources, last.corpus_options, target=last.target or None)
    untouched = "" if first is None else first.trace.text
    if first is not None and first.model in session.library.models and str(first.model.folder) != last.run:
        session.library.close(first.model)
    for run in last.runs:
        session.library.open(run, last.step if run == last.run and not last.live else None)
    session.library.spell_out(last.spells_out)
    session.reading.set_source(last.translated)
    if session.reading.prefix in ("", untouched):
        session.reading.set_prefix(last.prefix)


def load_first_screen(folder: Path | None = None) -> FirstScreen | None:
    """The stored trace next to the sample models in `folder`; None if it is missing or does not fit."""
    folder = folder or shipped("sample_models")
    try:
        trace = Trace.load(folder / FILE)
        model = _model_of(folder / trace.name)
        vocabulary = vocabulary_in(model.folder / "tokenizer.json")
    except LmvizError:
        return None  # a window without a first screen is better than none
    fits = trace.step in model.snapshots and "logits" in trace and len(trace.stages) > 0
    fits = fits and trace["logits"].array.shape == (len(trace), len(vocabulary))
    return FirstScreen(model, replace(trace, vocabulary=vocabulary)) if fits else None


def _model_of(folder: Path) -> OpenedModel:
    """A run as the window knows it, without its weights, which would take torch."""
    run = Run.open(folder.resolve())
    description = run.description
    if description.family not in FAMILIES:
        raise LmvizError(f"There is no family {description.family!r}.")
    family = FAMILIES[description.family]
    configuration = family.configuration.from_values(description.configuration)
    estimate = configuration.estimate(description.vocabulary_size, 1, 1)
    return OpenedModel(
        folder=run.folder,
        name=description.name or run.folder.name,
        family=description.family,
        snapshots=tuple(run.snapshots()),
        run=run,
        find_tokenizer=cache(run.tokenizer),
        context=getattr(configuration, "context", None),
        parameters=None if family.counts else estimate.parameters,
    )
