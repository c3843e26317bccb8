"""The prefix, its tokens, and what the shown model computes for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import is_not
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from lmviz.app.session import work as waiting
from lmviz.app.session.part import Part
from lmviz.app.session.reading import Reading, ReadingQuestion, of_source, read
from lmviz.base.errors import LmvizError
from lmviz.text.pictures import is_picture
from lmviz.text.tokenizer import LONG, Encoding

if TYPE_CHECKING:
    from lmviz.app.session.focus import Focus
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.surgery import Surgery
    from lmviz.app.session.work import Failed, Work
    from lmviz.app.workers.job import Job
    from lmviz.inspection.recipes.recipe import RecipeSubject
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus
    from lmviz.text.examples_for import Part as PartOfText
    from lmviz.text.tokenizer import Tokenizer

T = TypeVar("T")

FIRST_PICTURE = "..###../..#.#../..###../......./...#.../..#.#../...#..."
"""What is painted before anybody has painted: a square above a circle."""


class CurrentReading(Part):
    """Has the prefix read by the shown model, at the shown step, under the interventions in force."""

    prefix_changed = Signal()
    source_changed = Signal()
    encoding_changed = Signal()
    changed = Signal()
    late_changed = Signal()
    """Whether a newer reading is awaited has changed, or what is awaited."""

    def __init__(
        self,
        work: Work,
        text: OpenText,
        library: Library,
        surgery: Surgery,
        focus: Focus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._text, self._library = work, text, library
        self._surgery, self._focus = surgery, focus
        self._prefix = self._source = ""
        self._picture = FIRST_PICTURE
        self._encoding: Encoding | None = None
        self._encoded = ""  # the text that was cut into these tokens
        self._encoding_job: Job | None = None  # which cuts a long text
        self._dropped = 0
        self._reading: Reading | None = None
        self._stored: Reading | None = None
        self._has_stepped = False
        self._question: ReadingQuestion | None = None  # as it was last put
        self._question_of: tuple[object, ...] = ()  # what it was put together from
        self._read_soon = QTimer(self)
        self._read_soon.setSingleShot(True)  # several changes in one turn are one reading
        self._read_soon.timeout.connect(self._read)
        self._was_late_for: ReadingQuestion | None = None
        text.changed.connect(self._encode)
        library.model_changed.connect(self._encode)
        library.spelling_changed.connect(self._begin_again)
        for changed in (library.model_changed, library.step_changed, surgery.changed):
            changed.connect(self._read_soon.start)
            changed.connect(self._say_whether_late)

    @property
    def prefix(self) -> str:
        """The text that is typed."""
        return self._prefix

    @property
    def source(self) -> str:
        """What the shown model reads beside the prefix, which is then its translation or caption so far.

        A picture is kept apart from a text, for models that read the one or the other.
        """
        return self._picture if self.has_picture else self._source

    @property
    def has_source(self) -> bool:
        """Whether the shown model reads a source, so that it counts."""
        return self._library.model is not None and self._library.model.reads_source

    @property
    def has_picture(self) -> bool:
        """Whether that is a picture."""
        return self._library.model is not None and self._library.model.reads_picture

    @property
    def tokenizer(self) -> Tokenizer | None:
        """How the prefix is cut into tokens: as the model does, without a model as the corpus is cut."""
        if self._library.model is not None:
            return self._library.model.tokenizer
        return None if self._text.corpus is None else self._text.corpus.tokenizer

    @property
    def encoding(self) -> Encoding | None:
        """The prefix as tokens, as far as the model can see back; offsets refer to the whole prefix."""
        return self._encoding

    @property
    def dropped(self) -> int:
        """How many tokens at the front of the prefix lie beyond the model's context."""
        return self._dropped

    @property
    def current(self) -> Reading | None:
        """What the model computes for the prefix. It lags behind the prefix by some milliseconds."""
        return self._reading

    @property
    def noun(self) -> str:
        """What a token is called as the prefix is cut: "word", "character" or "token"."""
        if self.is_stored:  # its tokenizer is not read before the first paint
            return "word"
        return "word" if self.tokenizer is None else self.tokenizer.noun

    @property
    def is_stored(self) -> bool:
        """Whether the reading was stored, with what the first screen draws and no more."""
        return self._reading is not None and self._reading is self._stored

    @property
    def has_stepped(self) -> bool:
        """Whether the reading is that of the same text at another snapshot than the one before.

        What is drawn may fade over then. While a training is followed nothing does: it would cost its time.
        """
        return self._has_stepped

    @property
    def is_busy(self) -> bool:
        """Whether a newer reading is on its way."""
        return self._read_soon.isActive() or self._work.is_busy("reading")

    @property
    def question(self) -> ReadingQuestion | None:
        """What is asked now: the answer is `current`, once it is known.

        None without a model, or without a token for it to read.
        """
        moment = self._library.moment
        if moment is None or not self._encoding:
            return None
        # Panels compare it many times at a keystroke: it stays one object while nothing changes.
        typed = self._prefix, self._source, self._picture
        of = (*moment, *typed, self._surgery.interventions, self._surgery.is_off)
        if self._question is None or any(map(is_not, of, self._question_of)):
            source = self.source if self.has_source else None
            self._question = ReadingQuestion(*moment, self._prefix, source, self._surgery.in_force)
            self._question_of = of
        return self._question

    @property
    def is_late(self) -> bool:
        """Whether `current` is the answer to an older question than the one that is asked now."""
        asked, answered = self.question, None if self._reading is None else self._reading.question
        return asked is not answered and asked != answered

    @property
    def is_untouched(self) -> bool:
        """Whether nobody has typed a text yet: there is none, or the one that the window began with."""
        return not self._source and self._prefix in (
            "",
            "" if self._stored is None else self._stored.trace.text,
        )

    @property
    def can_go_back(self) -> bool:
        """Whether `current` is of another text than the one that is being read."""
        asked, before = self.question, None if self._reading is None else self._reading.question
        if asked is None or before is None or asked.model != before.model:
            return False
        return (asked.text, asked.source) != (before.text, before.source)

    def go_back(self) -> None:
        """Read the text of `current` again, in the place of one that takes long to read."""
        if self._reading is not None and self.can_go_back:
            before = self._reading.question
            if before.source is not None:
                self.set_source(before.source)
            self.set_prefix(before.text)

    @property
    def position(self) -> int:
        """The focus's `shown_position`, within the positions that the current reading has."""
        last = len(self._reading.trace.tokens) - 1 if self._reading is not None else -1
        return min(self._focus.shown_position, last)

    def set_prefix(self, text: str) -> None:
        """Type a text, which is read at once, with all that has changed before in this turn."""
        if text != self._prefix:
            self._prefix = text
            self._begin_again()
        elif self._read_soon.isActive() and self.question is not None:
            self._read()

    def _begin_again(self) -> None:
        """The prefix has other tokens."""
        self.prefix_changed.emit()
        self._encode()
        if self.question is not None:
            self._read()  # at once: the window would first paint what has been typed
        else:
            self._read_soon.start()

    def set_source(self, text: str) -> None:
        """Type what is to be translated, or paint what is to be described; a picture is told by its form."""
        is_painted = is_picture(text)
        if text != (self._picture if is_painted else self._source):
            if is_painted:
                self._picture = text
            else:
                self._source = text
            self._focus.choose_source(None)
            self.source_changed.emit()
            self._say_whether_late()
            if self.has_source and self.question is not None:
                self._read()

    def read_example(self, number: int, part: PartOfText = "training", place: int | None = None) -> None:
        """Type an example of the open text, of a pair both sides; look at one of its words, or the end."""
        corpus = self._text.corpus
        documents = _documents(corpus, part) if corpus is not None else ()
        if corpus is None or not 0 <= number < len(documents):
            return
        if corpus.target_tokenizer is None:
            self.set_prefix(documents[number])
            if place is None:
                self._focus.follow_end()
            else:
                self._focus.choose_position(max(0, place - self._dropped))
            return
        examples = corpus.training_examples if part == "training" else corpus.validation_examples
        assert examples is not None, "a corpus with a tokenizer for targets has pairs"
        assert examples.texts is not None, "what is wanted are texts"
        self.set_source(documents[number])
        self.set_prefix(examples.texts[number])
        self._focus.follow_end()

    def show_stored(self, stored: Reading) -> None:
        """Show a reading that was stored, and in the library its model; the next reading replaces it.

        Its prefix is not cut into tokens: a library would be loaded for that before the first paint.
        """
        self._stored, self._prefix = stored, stored.trace.text
        if stored.model != self._library.model:
            self._library.show_stored(stored.model, stored.step)
        self.prefix_changed.emit()
        self._encode()
        self._show(stored)

    def close(self) -> None:
        """Read nothing more: a change that came last is not followed."""
        self._read_soon.stop()

    def moment_of(self, text: str) -> RecipeSubject:
        """The model as it is shown, reading a text, for a recipe; a model must be open."""
        model, step = self._library.shown_moment
        return model.reading(text, step, self._surgery.in_force, self.source if self.has_source else None)

    def ask(
        self, key: str, work: Callable[[Model], T], answer: Callable[[T], object], failed: Failed
    ) -> None:
        """Have work done on the model as it is shown, in the reading thread: see `Work.ask`.

        The interventions in force are part of what is shown. Without a model nothing happens.
        """
        if self._library.moment is not None:
            source = self.source if self.has_source else None
            asked = lambda model: work(of_source(model, source))  # noqa: E731
            self._work.ask_model(self._library.moment, key, asked, answer, failed, self._surgery.in_force)

    def ask_about(
        self,
        reading: Reading,
        key: str,
        work: Callable[[Model], T],
        answer: Callable[[T], object],
        failed: Failed,
    ) -> None:
        """The same on the model of a reading; it is answered only while nothing newer has been read."""

        def take(result: T) -> None:
            if reading is self._reading:
                answer(result)

        self._work.ask_model((reading.model, reading.step), key, work, take, failed)

    def _encode(self) -> None:
        before, text = self._encoding, self._encoded
        self._encoding, self._dropped, self._encoded = None, 0, self._prefix
        self.begun.emit()
        if self._encoding_job is not None:
            self._encoding_job.cancel()
            self._encoding_job = None
        encoding = self._stored_encoding()
        tokenizer = None if encoding is not None else self.tokenizer  # of a stored one it is not loaded
        if encoding is None and tokenizer is not None and len(self._prefix) > LONG:
            self._encode_beside(tokenizer, before, text)
            return
        if encoding is None and tokenizer is not None:
            try:
                encoding = tokenizer.encode_prefix(self._prefix)
            except LmvizError as reason:  # a stranger's pattern may give up on a short text as well
                self.failed.emit(str(reason))
        self._take_encoding(encoding, before, text)

    def _encode_beside(self, tokenizer: Tokenizer, before: Encoding | None, text: str) -> None:
        """Have a long text cut into tokens by a job: the patterns of some tokenizers take seconds for one.

        Mostly it is there at once; until it is, the text has no tokens.
        """
        prefix, is_late = self._prefix, False

        def take(encoding: Encoding) -> None:
            self._encoding_job = None
            self._take_encoding(encoding, before, text)
            if is_late:
                self._read_soon.start()

        job = self._encoding_job = self._work.start_job(
            "Cutting the text into tokens",
            lambda report: tokenizer.encode_prefix(prefix),
            take,
            self,
        )
        job.wait_briefly(waiting.BRIEFLY)
        if self._encoding_job is job:
            is_late = True
            self._focus.fit_positions(0, self._say_encoded)

    def _take_encoding(self, encoding: Encoding | None, before: Encoding | None, text: str) -> None:
        """Use the prefix's tokens; before, those were of a text."""
        if encoding is not None:
            context = self._library.model.context if self._library.model is not None else None
            self._dropped = max(0, len(encoding) - context) if context is not None else 0
            self._encoding = _without_first(encoding, self._dropped)
        positions = len(self._encoding) if self._encoding is not None else 0
        if before is not None and self._encoding is not None and text != self._prefix:
            self._focus.follow_words(before.tokens, self._encoding.tokens)
        self._focus.fit_positions(positions, self._say_encoded)

    def _say_encoded(self) -> None:
        self.encoding_changed.emit()
        self._say_whether_late()

    def _stored_encoding(self) -> Encoding | None:
        """The tokens of what was stored, of known words, as long as it is the prefix of that model."""
        stored = self._stored
        if stored is None or (stored.model, stored.trace.text) != (self._library.model, self._prefix):
            return None
        trace = stored.trace
        return Encoding(trace.ids, trace.tokens, trace.offsets, *((False,) * len(trace),) * 2)

    def _read(self) -> None:
        self._read_soon.stop()  # what changed before in this turn is read with this
        question, cache, previous = self.question, self._work.cache, self._reading
        if question is None:
            self._work.silence("reading")
            self._show(None)
            return

        def work() -> Reading:
            model = question.model
            return read(cache.model(model.folder, question.step, model.spells_out), question, previous)

        self._work.ask("reading", work, self._show, self)

    def _show(self, reading: Reading | None) -> None:
        if reading is None and self._reading is None:
            return
        self._has_stepped = not self._library.live and _differ_in_step(self._reading, reading)
        self._reading = reading
        self._focus.fit_cells(lambda cell: reading is not None and reading.has_cell(*cell))
        stages = reading.trace.stages if reading is not None else ()
        self._focus.fit_stages([(stage.place, stage.title) for stage in stages])
        self.changed.emit()
        self._say_whether_late()

    def _say_whether_late(self) -> None:
        late_for = self.question if self.is_late else None
        if late_for != self._was_late_for:
            self._was_late_for = late_for
            self.late_changed.emit()


def _documents(corpus: Corpus, part: PartOfText) -> Sequence[str]:
    return corpus.training_documents if part == "training" else corpus.validation_documents


def _differ_in_step(before: Reading | None, now: Reading | None) -> bool:
    """Whether two readings differ in the step of the model alone."""
    if before is None or now is None or before.step == now.step:
        return False
    traces = (before.trace, now.trace)
    (first, second) = ((trace.text, trace.interventions) for trace in traces)
    return before.model == now.model and first == second


def _without_first(encoding: Encoding, count: int) -> Encoding:
    return Encoding(**{field.name: getattr(encoding, field.name)[count:] for field in fields(encoding)})
