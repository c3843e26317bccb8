"""A set of texts asked one question: its rows, their measure, and what each part of the model does to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.app.session.token_losses import TokenLosses
from lmviz.base.errors import LmvizError
from lmviz.text.text_set import TextSet, lines_of, read_pattern, sentences_of

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.session.comparison import Comparison
    from lmviz.app.session.contrast import CurrentContrast
    from lmviz.app.session.library import Library
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import Moment
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.base.reporting import Report
    from lmviz.circuits.row_values import RowValues
    from lmviz.circuits.set_effects import SetEffects
    from lmviz.models.model import Model

SAMPLE = 200
"""So many lines or sentences of the open text are drawn."""

TOGETHER = 8
"""So many rows are asked without each part before the means are shown anew."""


@dataclass(frozen=True, eq=False)
class EffectsSoFar:
    """The effects in the rows that were done, `of` so many; `seconds` is what a row takes, on average."""

    effects: SetEffects
    of: int
    seconds: float

    @property
    def done(self) -> int:
        """How many rows were done."""
        return len(self.effects.numbers)

    @property
    def left(self) -> float:
        """Seconds until all are done."""
        return self.seconds * (self.of - self.done)


class ManyTexts(Part):
    """The set, its values for the shown model and for a second one, and the effects of parts, as they grow.

    `changed` follows another set, and anything that has come of it; `chosen_changed` another row. `taken`
    says that another set was taken.
    """

    changed = Signal()
    chosen_changed = Signal()
    taken = Signal()

    def __init__(
        self,
        work: Work,
        text: OpenText,
        library: Library,
        comparison: Comparison,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._work, self._text, self._library, self._comparison = work, text, library, comparison
        self.losses = TokenLosses(work, text, library, comparison, self)
        """The loss of every token of the open text."""
        self.of_effects = Part(self)
        """What fails of the effects of parts."""
        self._given: TextSet | None = None
        self._chosen = -1
        self._part: tuple[int, ...] | None = None
        self._by = "mean"
        self._values: dict[Moment, RowValues] = {}
        self._effects: dict[tuple[Moment, str], EffectsSoFar] = {}
        self._rows: dict[tuple[Moment, str], list[np.ndarray]] = {}
        self._measuring: Job | None = None
        self._job: Job | None = None
        self._under_way: tuple[Moment, str] | None = None
        library.model_changed.connect(self._take_model)
        library.step_changed.connect(self.changed)
        comparison.changed.connect(self.changed)

    @property
    def given(self) -> TextSet | None:
        """The set; None where none was taken."""
        return self._given

    @property
    def chosen(self) -> int:
        """The row that is looked at, −1 for none."""
        return self._chosen

    @property
    def part(self) -> tuple[int, ...] | None:
        """The cell of the effects that a person has chosen."""
        return self._part

    @property
    def by(self) -> str:
        """What is done to parts, one of `lmviz.circuits.set_effects.WAYS`."""
        return self._by

    @property
    def moment(self) -> Moment | None:
        """The model and the step that are asked."""
        return None if self._library.model is None else self._comparison.present

    @property
    def second(self) -> Moment | None:
        """The model that is held against it; None where none was chosen for comparison."""
        moment = self.moment
        return next((each for each in self._comparison.moments if each != moment), None)

    @property
    def values(self) -> RowValues | None:
        """What is known of the rows with the shown model."""
        return None if self.moment is None else self._values.get(self.moment)

    @property
    def second_values(self) -> RowValues | None:
        """What is known of the rows with the second model."""
        return None if self.second is None else self._values.get(self.second)

    @property
    def effects(self) -> EffectsSoFar | None:
        """What is known of the effects of parts."""
        return None if self.moment is None else self._effects.get((self.moment, self._by))

    @property
    def is_measuring(self) -> bool:
        """Whether values of rows are on their way."""
        return self._measuring is not None

    @property
    def is_trying(self) -> bool:
        """Whether effects of the shown model are on their way."""
        return self._job is not None and self._under_way == (self.moment, self._by)

    @property
    def ways(self) -> tuple[str, ...]:
        """What can be done to the parts of the shown model, for this set."""
        model = self._library.model
        if model is None:
            return ()
        usual = ("lower",) if model.family == "ngram" else ("mean", "zero")
        return (*usual, "patch") if self._given is not None and self._given.are_pairs else usual

    def take(self, given: TextSet) -> None:
        """Ask about another set."""
        self.stop()
        self.begun.emit()
        self.of_effects.begin_anew()
        self._given, self._chosen, self._part = given, -1, None
        self._values, self._effects, self._rows = {}, {}, {}
        self.taken.emit()
        self.changed.emit()
        self.chosen_changed.emit()

    def take_pattern(self, text: str) -> None:
        """Ask about the rows of a pattern; `failed` says what is wrong with it."""
        self._try(lambda: read_pattern(text))

    def take_lines(self, *, sentences: bool = False, seed: int = 0) -> None:
        """Ask about lines or sentences of the open text, so many of them drawn at random."""
        corpus = self._text.corpus
        if corpus is None:
            self.failed.emit("Open a text first: its lines are the rows of the set.")
            return
        held_out = corpus.validation_documents if len(corpus.validation_documents) else None
        text = (held_out or corpus.training_documents).text
        divide = sentences_of if sentences else lines_of
        self._try(lambda: divide(text[: 2**22], corpus.name).sample(SAMPLE, seed))

    def take_questions(self, contrast: CurrentContrast) -> None:
        """Ask the questions that come with lmviz for the shown model, as one set."""
        moment, offers = self.moment, contrast.offers()
        if moment is None:
            self.failed.emit("Open a model first: questions are for some models.")
            return

        def work(model: Model) -> TextSet:
            from lmviz.circuits.set_questions import set_of_questions

            return set_of_questions(offers, model)

        self._work.ask_model(moment, "questions as a set", work, self.take, self)

    def open_file(self, path: Path) -> None:
        """Ask about the rows of a file; `failed` says what is wrong with it."""
        from lmviz.text.set_files import read_set

        self._work.open_file(path, lambda: read_set(path), self.take, self)

    def choose(self, row: int) -> None:
        """Look at a row."""
        if row != self._chosen:
            self._chosen = row
            self.chosen_changed.emit()

    def choose_part(self, cell: tuple[int, ...] | None) -> None:
        """Look at a part."""
        if cell != self._part:
            self._part = cell
            self.changed.emit()

    def choose_way(self, by: str) -> None:
        """Do something else to parts."""
        if by != self._by:
            self._by, self._part = by, None
            self.changed.emit()

    def renew(self) -> None:
        """Have the rows measured that are not yet: with the shown model, then with the second."""
        given = self._given
        if given is None or self._measuring is not None:
            return
        for moment in (self.moment, self.second):
            known = None if moment is None else self._values.get(moment)
            if moment is not None and (known is None or known.done < len(given)):
                self._measure(moment, given)
                return

    def start(self) -> None:
        """Have the effects measured, or go on where that was left."""
        moment, values, given = self.moment, self.values, self._given
        if moment is None or values is None or given is None or self._job is not None:
            return
        if self._by not in self.ways:
            self._by = self.ways[0]
        key = (moment, self._by)
        rows, numbers = self._rows.setdefault(key, []), values.asked
        contrasts = [values.contrasts[number] for number in numbers]
        by, first, folder, step = self._by, list(rows), moment[0].folder, moment[1]

        def work(report: Report) -> Iterator[Any]:
            from lmviz.circuits.set_effects import EffectsPlan
            from lmviz.runs.opening import open_model_of, open_recorded

            model = open_model_of(open_recorded(folder), step)  # its own: those of reading are of one thread
            plan = EffectsPlan.of(model, contrasts, by)
            done, begun = list(first), monotonic()
            while len(done) < len(contrasts):
                some = TOGETHER if len(done) > len(first) else 1  # a first answer comes soon
                done += plan.rows(range(len(done), min(len(done) + some, len(contrasts))))
                seconds = (monotonic() - begun) / (len(done) - len(first))
                effects = plan.effects(done, numbers[: len(done)])
                yield EffectsSoFar(effects, len(contrasts), seconds)
                yield len(done) / len(contrasts)

        def take(found: EffectsSoFar) -> None:
            if self._given is given:
                self._rows[key] = list(found.effects.rows)
                self._effects[key] = found
                self.changed.emit()

        self._under_way = key
        self.of_effects.begin_anew()
        name = "Effects over many texts"
        self._job = self._work.start_job(name, work, lambda _: None, self._fail, take)
        self._job.ended.connect(self._end)
        self.changed.emit()

    def stop(self) -> None:
        """Leave what is under way; what is known stays, and `start` goes on from there."""
        for job in (self._job, self._measuring):
            if job is not None:
                job.cancel()

    def _measure(self, moment: Moment, given: TextSet) -> None:
        folder, step = moment[0].folder, moment[1]

        def work(report: Report) -> Iterator[Any]:
            from lmviz.circuits.row_values import measuring_rows
            from lmviz.runs.opening import open_model_of, open_recorded

            model = open_model_of(open_recorded(folder), step)
            yield from measuring_rows(model, given)

        def take(found: RowValues) -> None:
            if self._given is given:
                self._values[moment] = found
                self.changed.emit()

        job = self._work.start_job(f"Asking {len(given)} texts", work, lambda _: None, self._fail_rows, take)
        self._measuring = job
        job.ended.connect(self._end_rows)
        self.changed.emit()

    def _take_model(self) -> None:
        if self._given is None:
            self.begin_anew()  # what could not be asked of the model before, this one may be asked
        self.changed.emit()

    def _try(self, make: Callable[[], TextSet]) -> None:
        try:
            given = make()
        except LmvizError as error:
            self.failed.emit(str(error))
        else:
            self.take(given)

    def _fail(self, sentence: str) -> None:
        self.of_effects.say_failed(sentence)

    def _fail_rows(self, sentence: str) -> None:
        self._given = None  # nothing can be asked of it
        self.failed.emit(sentence)

    def _end(self, job: Job) -> None:
        self._job = self._under_way = None
        self.changed.emit()

    def _end_rows(self, job: Job) -> None:
        self._measuring = None
        self.changed.emit()
        self.renew()
