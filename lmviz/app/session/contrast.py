"""The contrast that Circuits asks about: the shown text, a changed one, and the number between them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from lmviz.app.session.part import Part
from lmviz.base.errors import LmvizError
from lmviz.circuits.contrast import Contrast

if TYPE_CHECKING:
    from lmviz.app.session.current_reading import CurrentReading
    from lmviz.app.session.library import Library
    from lmviz.app.session.reading import Reading
    from lmviz.app.session.work import Work
    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.circuits.shipped_questions import ShippedQuestion
    from lmviz.models.model import Model

QUESTION = "contrast"


class CurrentContrast(Part):
    """A changed text beside the prefix, or beside the source where the shown model reads one; a measure.

    Without a changed text the answer alone is asked about, and without a measure the likeliest words are
    proposed. Panels that draw what a contrast shows have it asked with `renew`; `found` is the answer. Of two
    texts that do not line up it is that of the text alone, and `failed` says why.
    """

    changed = Signal()
    answered = Signal()
    late_changed = Signal()

    def __init__(
        self, work: Work, library: Library, reading: CurrentReading, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._work, self._library, self._reading = work, library, reading
        self._other = ""
        self._measure = ""
        self._question: ShippedQuestion | None = None  # whose changed text it is, where nobody has typed one
        self._own: tuple[ShippedQuestion, ...] = ()  # those whose files were opened
        self._was_proposed = False
        self._asked: tuple[Reading, Contrast] | None = None
        self._found: MeasuredContrast | None = None
        self._of: Reading | None = None
        reading.changed.connect(self.changed)
        library.model_changed.connect(self._forget_words)
        library.model_closed.connect(self._forget_found)

    @property
    def other(self) -> str:
        """The changed text; empty where there is none."""
        return self._other

    @property
    def measure(self) -> str:
        """The number as a person stated it; empty where it is proposed."""
        return self._measure

    @property
    def asked(self) -> Contrast | None:
        """What is asked now, of the reading that is shown; None where there is none."""
        reading = self._reading.current
        if reading is None:
            return None
        question, other = reading.question, self._other or None
        if question.source is not None:
            return Contrast(question.text, None, self._measure, question.source, other)
        return Contrast(question.text, other, self._measure)

    @property
    def found(self) -> MeasuredContrast | None:
        """The contrast with its measure, and what that is in both texts; None until it is known."""
        return self._found

    @property
    def reading(self) -> Reading | None:
        """The reading that `found` is of."""
        return self._of

    @property
    def is_late(self) -> bool:
        """Whether what is asked now is not answered yet."""
        return self._work.is_busy(QUESTION)

    def set_other(self, text: str) -> None:
        """Type the changed text; an empty one asks about the shown text alone."""
        if text != self._other:
            self._other, self._question = text, None
            self.changed.emit()

    def set_measure(self, measure: str) -> None:
        """Ask about another number; an empty one has it proposed."""
        if measure != self._measure:
            self._measure = measure
            self.changed.emit()

    def open(self, question: ShippedQuestion) -> None:
        """Ask a question from a file: its text becomes the prefix."""
        contrast, self._question = question.contrast, question
        self._other = str(contrast.changed or contrast.changed_source or "")
        self._measure = str(contrast.measure)
        if contrast.source is not None:
            self._reading.set_source(str(contrast.source))
        self._reading.set_prefix(str(contrast.text))
        self.changed.emit()

    def put(self, contrast: Contrast) -> None:
        """Ask about a text: it becomes the prefix, and its pair and its measure are those that are asked."""
        self._other, self._measure = str(contrast.changed or ""), str(contrast.measure)
        self._question = None
        self._reading.set_prefix(str(contrast.text))
        self.changed.emit()

    def open_file(self, path: Path) -> None:
        """Ask the question of a file, which is offered from now on; `failed` says what is wrong with it."""
        from lmviz.circuits.shipped_questions import open_question

        def take(question: ShippedQuestion) -> None:
            self._own = (*(other for other in self._own if other.title != question.title), question)
            self.open(question)
            self._open_model_of(question)

        self._work.open_file(path, lambda: open_question(path), take, self)

    def _open_model_of(self, question: ShippedQuestion) -> None:
        """Look into a model that a question is for, where the shown one is none; then ask it once more."""
        from lmviz.api.training import sample_models

        library, shown = self._library, self._library.model
        if question.language or "*" in question.models:
            return
        if shown is not None and question.is_for(shown.name, is_foreign=shown.run.was_trained_elsewhere):
            return
        library.model_changed.connect(
            partial(self._open_for, question), Qt.ConnectionType.SingleShotConnection
        )
        opened = [model for model in library.models if question.is_for(model.name, is_foreign=False)]
        names = [name for name in sample_models() if question.is_for(name, is_foreign=False)]
        if opened:
            library.choose(opened[0])
        elif names:
            library.open(names[0])
        else:
            wanted = " or ".join(question.models)
            self.failed.emit(f"{question.title} is about {wanted}, which is not open: open it.")

    def _open_for(self, question: ShippedQuestion) -> None:
        """Ask a question of the model that has just been opened, if it is one that it is about."""
        model = self._library.model
        if model is not None and question.is_for(model.name, is_foreign=model.run.was_trained_elsewhere):
            self.open(question)

    def offers(self) -> tuple[ShippedQuestion, ...]:
        """The questions that fit the shown model."""
        from lmviz.circuits.shipped_questions import shipped_questions

        model = self._library.model
        if model is None:
            return ()
        foreign = model.run.was_trained_elsewhere
        found = tuple(item for item in shipped_questions() if item.is_for(model.name, is_foreign=foreign))
        return (*found, *(item for item in self._own if item not in found))

    def propose(self) -> None:
        """Ask the first question that fits the shown model, once, where nobody has typed anything yet."""
        reading = self._reading
        is_live = reading.current is not None and not reading.is_stored  # nothing heavy before that
        is_free = reading.is_untouched and not self._other and not self._measure
        if is_live and is_free and not self._was_proposed and (offered := self.offers()):
            self._was_proposed = True
            self.open(offered[0])

    def renew(self) -> None:
        """Ask, if what is asked now has not been asked yet."""
        reading, contrast = self._reading.current, self.asked
        if reading is None or contrast is None or self._reading.is_stored:
            self._work.silence(QUESTION)
            self._asked = self._found = self._of = None
            return
        if self._reading.is_late:  # the next reading is of the text that the changed one belongs to
            return
        if self._asked is not None and self._asked[0] is reading and self._asked[1] == contrast:
            return
        self._asked = (reading, contrast)
        self.begun.emit()
        changes = reading.question.interventions

        def work(model: Model) -> tuple[MeasuredContrast, str]:
            from lmviz.circuits.read_contrast import measured_contrast

            try:
                return measured_contrast(model, contrast, changes), ""
            except LmvizError as error:
                if not contrast.is_pair:
                    raise
                alone = replace(contrast, changed=None, changed_source=None)
                return measured_contrast(model, alone, changes), str(error)

        def take(answer: tuple[MeasuredContrast, str]) -> None:
            (self._found, sentence), self._of = answer, reading
            self.answered.emit()
            if sentence:
                self.failed.emit(sentence)
            self._say()

        def fail(sentence: str) -> None:
            self._found = self._of = None
            self.failed.emit(sentence)
            self._say()

        self._work.ask_model((reading.model, reading.step), QUESTION, work, take, fail)
        self.late_changed.emit()

    def _say(self) -> None:
        self.changed.emit()
        self.late_changed.emit()

    def _forget_found(self) -> None:
        """Where no model is open, keep nothing of one; panels that would `renew` may be out of sight."""
        if self._library.model is None:
            self._work.silence(QUESTION)
            self._asked = self._found = self._of = None

    def _forget_words(self) -> None:
        """Another model has other words: what was stated for one is proposed anew for the next.

        The changed text of a question that is not about it goes.
        """
        model, question = self._library.model, self._question
        is_of_another = (
            model is not None
            and question is not None
            and not question.is_for(model.name, is_foreign=model.run.was_trained_elsewhere)
        )
        if is_of_another:
            self._question = None
        if self._measure or is_of_another:
            self._measure, self._other = "", "" if is_of_another else self._other
            self.changed.emit()
