"""How well models do what the open text asks, measured when somebody wants to know, and remembered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from lmviz.app.session.part import Part
from lmviz.base.figures import whole_percentage
from lmviz.runs.evaluating import evaluate_corpus, part_to_judge
from lmviz.runs.opening import open_model_of, open_recorded

if TYPE_CHECKING:
    from lmviz.app.session.open_text import OpenText
    from lmviz.app.session.opened_model import Moment
    from lmviz.app.session.work import Work
    from lmviz.app.workers.job import Job
    from lmviz.base.reporting import Report
    from lmviz.inspection.intervention import Intervention
    from lmviz.runs.evaluating import Score
    from lmviz.text.examples_for import Part as PartOfText

    Changes = tuple[Intervention, ...]
    Asked = tuple[Moment, Changes]
    """A model at a step, and the changes under which it is judged."""
    _Key = tuple[tuple[Path, str], int, Changes, str]


class Scores(Part):
    """Judges models at steps, with changes or as trained, on the held-out part of the open text, in turn.

    `changed` comes whenever a score is there, or measuring begins or ends; `progressed` in between.
    """

    changed = Signal()
    progressed = Signal()

    def __init__(self, work: Work, text: OpenText, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work, self._text = work, text
        self._known: dict[_Key, Score] = {}
        self._awaited: list[Asked] = []
        self._under_way: Asked | None = None
        self._job: Job | None = None
        self._share = 0.0

    @property
    def part(self) -> PartOfText | None:
        """The part of the open text on which models are judged; None where there is none."""
        corpus = self._text.corpus
        return None if corpus is None else part_to_judge(corpus)

    @property
    def is_measuring(self) -> bool:
        """Whether a model is being judged."""
        return self._job is not None

    @property
    def doing(self) -> str:
        """What is being measured, and how far that has come; empty while nothing is."""
        return "" if self._job is None else f"{self._job.name}: {whole_percentage(self._share)}"

    def score_of(self, moment: Moment, changes: Changes = ()) -> Score | None:
        """The score of a model and step, under changes, on the open text; None where it was not measured."""
        corpus = self._text.corpus
        return None if corpus is None else self._known.get(_key((moment, changes), corpus.fingerprint))

    def missing(self, asked: Sequence[Asked]) -> list[Asked]:
        """Those whose score is not known."""
        return [each for each in asked if self.score_of(*each) is None]

    def awaited(self, asked: Sequence[Asked]) -> list[Asked]:
        """Those that are being measured, or will be."""
        return [each for each in asked if each in (*self._awaited, self._under_way)]

    def to_measure(self, asked: Sequence[Asked]) -> list[Asked]:
        """Those whose score is neither known nor awaited."""
        return [each for each in self.missing(asked) if not self.awaited([each])]

    def measure(self, asked: Sequence[Asked]) -> None:
        """Judge those that were not judged yet, after what is being measured."""
        self._awaited += self.to_measure(asked)
        if self._job is None and self._awaited:
            self.begun.emit()
            self._measure_next()

    def cancel(self, asked: Sequence[Asked]) -> None:
        """Measure these no more; what is known stays, and what others asked for goes on."""
        self._awaited = [each for each in self._awaited if each not in asked]
        if self._job is not None and self._under_way in asked:
            self._job.cancel()
        self.changed.emit()

    def _measure_next(self) -> None:
        corpus, part = self._text.corpus, self.part
        self._awaited = self.missing(self._awaited)
        if corpus is None or part is None or not self._awaited:
            self._awaited = []
            self.changed.emit()
            return
        asked = self._under_way = self._awaited.pop(0)
        moment, changes = asked
        key, folder, step = _key(asked, corpus.fingerprint), moment[0].folder, moment[1]

        def work(report: Report) -> Score:
            from lmviz.inspection.changed_model import ChangedModel

            # Its own instance: those of the reading thread belong to that thread alone.
            model = open_model_of(open_recorded(folder), step)
            return evaluate_corpus(ChangedModel(model, changes) if changes else model, corpus, part, report)

        def take(score: Score) -> None:
            self._known[key] = score

        self._share = 0.0
        self._job = self._work.start_job(f"Evaluating {moment[0].name}", work, take, self._fail)
        self._job.progressed.connect(self._progress)
        self._job.ended.connect(self._go_on)
        self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self.failed.emit(sentence)

    def _progress(self, share: float) -> None:
        self._share = share
        self.progressed.emit()

    def _go_on(self, job: Job) -> None:
        """Start the next one, however this one has ended."""
        self._job = self._under_way = None
        self._measure_next()


def _key(asked: Asked, fingerprint: str) -> _Key:
    (model, step), changes = asked
    return model.identity, step, changes, fingerprint
