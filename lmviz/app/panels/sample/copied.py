"""What of a text stands word for word in the training text, and whether a model copies more than chance."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.sample.copied_parts import coloured, curves, marks, nearly_all, sentence
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.workers.job import Job
from lmviz.base.figures import whole_percentage
from lmviz.base.reporting import Report
from lmviz.inspection.recipes.recipe import arguments_of
from lmviz.looks.columns import Column
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.looks.parts import (
    Button,
    Curves,
    LookPart,
    Occurrences,
    Picker,
    SideBySide,
    Space,
    Stacked,
    Table,
    Words,
)
from lmviz.text.corpus import Corpus

if TYPE_CHECKING:
    from lmviz.origins.copies import Copied, CopiedPassage, CopiedPlace, CopiedText, Copies
    from lmviz.origins.memorised import Memorised

NOTHING = "Open a run and type a text to see what of it stands in the text that the model learned from."
FOREIGN = "It is not known what {name} learned from: open a run of lmviz to see what it has copied."
SHOWN, PLACES, TEXTS = 5, 3, 100

OPEN = Button("open_copied_text_button", shown=False)
WRITE = Button("copied_write_button", shown=False)
HEART = Button("learned_by_heart_button", shown=False)
PASSAGES, BY_HEART = "passages", "learned by heart"
SIDE = Picker(
    "copied_side_picker", says="what stands on the right", choices=(PASSAGES, BY_HEART), shown=False
)
LEARNED = Table("learned_by_heart", says="lines that were learned by heart", share=1)
TEXT = Words(
    "copied_text", says="the text, orange where it stands in long passages of the training text", given=True
)
LIST = Occurrences("copied_places", says="where the longest passages stand", share=1)
CURVE = Curves(
    "copied_curve",
    says="the share of tokens in passages of so many tokens or more",
    x_name="tokens in a row",
    y_name="",
    possible=((1.0, np.inf), (0.0, 1.0)),
    writes=(lambda length: count(round(length)), whole_percentage),
    share=1,
)


@dataclass(frozen=True, eq=False)
class LookedUp:
    """The index, the text that is shown, and how it compares with held-out text.

    `places` are those of its longest passages, each with the passage.
    """

    copies: Copies = field(repr=False)
    shown: CopiedText
    compared: Copied
    places: tuple[tuple[CopiedPassage, CopiedPlace], ...]


@dataclass(frozen=True, eq=False)
class WrittenTexts:
    """What a model wrote at a step of its training, compared."""

    moment: Moment
    compared: Copied


class CopiedPanel(AskingPanel[Corpus, LookedUp]):
    """The text typed above is looked up at once; a button has the model write texts for a verdict."""

    title = "Copied?"
    key = Key("copied")
    draws = ("reading",)
    follows = ("reading.changed", "text.changed", "library.model_changed")
    needs_next_word = "Open a model that writes to see what it has copied."
    parts = (OPEN, WRITE, HEART, SIDE)

    def __init__(self, session: Session) -> None:
        self._index: list[tuple[Corpus, Copies]] = []  # of the text that was looked up last
        self._job: Job | None = None
        self._shown: OpenedModel | None = None  # the model that the following are of
        self._written: WrittenTexts | None = None
        self._heart: Memorised | None = None
        self._side = 0
        super().__init__(session)
        session.text.changed.connect(self._forget_index)

    @property
    def written(self) -> Copied | None:
        """What the model wrote when it was asked to, compared; None before."""
        return None if self._written is None else self._written.compared

    def out_of_place(self, model: OpenedModel) -> str:
        if said := super().out_of_place(model):
            return said
        return FOREIGN.format(name=model.name) if model.run.was_trained_elsewhere else ""

    def question(self) -> Question[Corpus, LookedUp] | Look:
        reading, corpus = self.session.reading.current, self.session.text.corpus
        if reading is None:
            return Look(instead=NOTHING)
        model, description = reading.model, reading.model.description
        if corpus is None or corpus.fingerprint != description.fingerprint:
            name = description.corpus.get("name", "its text")
            offer = replace(
                OPEN,
                text=f"Open “{name}” to see what stands in it",
                shown=True,
                clicked=lambda: self.session.text.open_text_of(model),
            )
            return Look((offer, Space()), aside=f"learned from {name}")
        if not reading.trace.text.strip():
            return Look(instead=NOTHING)
        text, known = reading.trace.text, self._index

        def work(corpus: Corpus) -> LookedUp:
            from lmviz.origins.copies import Copies

            # of a copy: the window may forget it meanwhile
            kept = [copies for of, copies in tuple(known) if of is corpus]
            copies = kept[0] if kept else Copies(corpus, lambda share: _look_up())
            known[:] = [(corpus, copies)]
            return _looked_up(copies, copies.compare([text]), 0)

        return Question(self.key, corpus, work, about=(model, text))

    def _forget_index(self) -> None:
        """Of the text before, which has many times its bytes."""
        self._index.clear()

    def _take(self, asked: Question[Corpus, LookedUp], found: LookedUp) -> None:
        model = self._model_of(asked)
        if model != self._shown:
            self._end_job()
            self._written = self._heart = None
            self._shown, self._side = model, 0
        super()._take(asked, found)

    def _model_of(self, asked: Question[Corpus, LookedUp]) -> OpenedModel:
        about: Any = asked.about
        model: OpenedModel = about[0]
        return model

    def _end_job(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._job = None

    def _write(self) -> None:
        """Have the model write texts as it is shown, and look them up: in a job that can be cancelled."""
        found, moment = self.found, self._moment
        if found is None or moment is None or self._job is not None:
            return
        (model, step), copies = moment, found.copies
        run = model.run

        def work(report: Report) -> Generator[float, None, Copied]:
            from lmviz.origins.written import written_texts
            from lmviz.runs.opening import open_model_of

            texts = []
            for text in written_texts(open_model_of(run, step), TEXTS):
                texts.append(text)
                yield 0.8 * len(texts) / TEXTS
            return copies.compare(texts, lambda share: report(0.8 + 0.2 * share))

        def take(compared: Copied) -> None:
            if self._shown == model:
                self._written = WrittenTexts(moment, compared)
                self._draw()

        self._job = self.start_job(f"Writing {TEXTS} texts", work, take)
        self._job.ended.connect(self._forget_job)
        self._draw()

    def _read_lines(self) -> None:
        """Have lines of the text read at every snapshot, to find those that were learned by heart."""
        model, corpus = self.session.library.model, self.session.text.corpus
        if model is None or corpus is None or self._job is not None:
            return
        run = model.run

        def work(report: Report) -> Memorised:
            from lmviz.origins.memorised import memorised
            from lmviz.runs.opening import open_model_of

            return memorised(run, corpus, lambda step: open_model_of(run, step), progress=report)

        def take(heart: Memorised) -> None:
            if self._shown == model:
                self._heart, self._side = heart, 1
                self._draw()

        self._job = self.start_job("Looking for lines learned by heart", work, take)
        self._job.ended.connect(self._forget_job)
        self._draw()

    def _choose_side(self, place: int) -> None:
        self._side = place
        self._draw()

    def _forget_job(self, job: object) -> None:
        if job is self._job:
            self._job = None
            self._draw()

    def look(self, corpus: Corpus, found: LookedUp) -> Look:
        shown, compared = found.shown, self.written or found.compared
        threshold = compared.threshold
        lines = [
            OccurrenceLine(f"{place.before} ", place.passage, "", place.after) for _, place in found.places
        ]
        left = Stacked(
            parts=(
                Words("copied_sentence", text=sentence(shown, threshold, self.session.reading.noun)),
                replace(TEXT, text=coloured(shown, threshold)),
                replace(LIST, lines=lines, clicked=lambda place: self._go_to(found, place)),
            ),
            share=1,
        )
        right = Stacked(parts=self._right(found), share=1)
        write = replace(
            WRITE,
            text=f"Write {TEXTS} texts",
            tip="Has the model write texts of up to 100 tokens, and compares them with held-out text",
            shown=self._job is None and (self._written is None or self._written.moment != self._moment),
            clicked=self._write,
        )
        return Look(
            (SideBySide(first=left, second=right, shares=(3, 2), share=1),),
            aside=f"{count(compared.searched)} tokens searched, exactly",
            head=(
                replace(SIDE, chosen=self._side, chose=self._choose_side, shown=self._heart is not None),
                write,
                self._heart_button(),
                replace(OPEN, shown=False),
            ),
            arrays={"lengths": shown.lengths},
            units={"lengths": "tokens"},
            names=Names(rows=shown.tokens),
            recipe=self._recipe(),
        )

    def _heart_button(self) -> Button:
        from lmviz.families import FAMILIES

        model = self.session.library.model
        snapshots = () if model is None or FAMILIES[model.family].counts else model.snapshots
        is_known = self._heart is not None and self._heart.steps == snapshots
        return replace(
            HEART,
            text="Learned by heart …",
            tip="Reads lines of the training text and held-out lines at every snapshot",
            shown=len(snapshots) > 2 and self._job is None and not is_known,
            clicked=self._read_lines,
        )

    def _right(self, found: LookedUp) -> tuple[LookPart, ...]:
        """The verdict and its curves, or the lines that were learned by heart."""
        compared, heart = self.written or found.compared, self._heart
        if heart is None or self._side == 0:
            return (
                Words("copied_verdict", text=self._verdict(compared)),
                replace(
                    CURVE,
                    curves=curves(compared, self.written is not None),
                    marks=marks(compared.threshold),
                ),
            )
        said = (
            f"{percentage(heart.share)} of {count(heart.count)} lines fell further after step "
            f"{count(heart.since)} than {nearly_all(heart)} did: by chance, "
            f"{percentage(heart.chance)}. Forgotten again: {percentage(heart.forgotten)}."
        )
        lines = heart.lines
        table = replace(
            LEARNED,
            columns=[
                Column("line of the training text", [each.line.text for each in lines]),
                Column("times", np.array([each.times for each in lines]), count),
                Column("loss", np.array([each.losses[-1] for each in lines]), number, spare=True),
                Column("learned", np.array([each.learned for each in lines]), count),
            ],
            clicked=lambda row: self.session.text.choose_place(lines[row].line.start),
        )
        return Words("learned_by_heart_sentence", text=said), table

    @property
    def _moment(self) -> Moment | None:
        """The model that is shown, at its step."""
        reading = self.session.reading.current
        return None if reading is None else (reading.model, reading.step)

    def _verdict(self, compared: Copied) -> str:
        """What the comparison says; of written texts also when, where another step is shown by now."""
        if self._written is None:
            return compared.sentence(of="this text")
        model, step = self._written.moment
        when = "" if self._written.moment == self._moment else model.when(step)
        return (f"Written {when}: " if when else "") + compared.sentence()

    def _recipe(self) -> str:
        if self.asked is None:
            return ""
        reading = self.session.reading.current
        text = "" if reading is None else reading.trace.text
        given = arguments_of(str(self._model_of(self.asked).folder), text)
        return f"import lmviz\n\nfound = lmviz.copied({given})\nlengths = found.texts[0].lengths\n"

    def _go_to(self, found: LookedUp, place: int) -> None:
        """Show where a passage stands in the text."""
        if 0 <= place < len(found.places):
            self.session.text.choose_place(found.places[place][1].position)


def _look_up() -> None:
    from lmviz.models.interruption import look_up

    look_up()


def _looked_up(copies: Copies, compared: Copied, which: int) -> LookedUp:
    """One of the texts, with the places of its longest passages."""
    shown = compared.texts[which]
    longest = sorted(shown.passages, key=len, reverse=True)[:SHOWN]
    places = tuple((passage, place) for passage in longest for place in copies.places(passage, PLACES))
    return LookedUp(copies, shown, compared, places)
