"""Which lines of its own text taught the model a word, when, and how far to trust what says so."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.inside.taught_parts import (
    DOWN,
    UP,
    counts_parts,
    curve_parts,
    measured_in_words,
    sentence_parts,
    times,
    when_parts,
)
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import count, percentage
from lmviz.app.workers.job import Job
from lmviz.base.durations import in_words
from lmviz.base.reporting import Report
from lmviz.inspection.recipes.recipe import arguments_of
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import (
    Bars,
    Button,
    LookPart,
    Picker,
    PushedLines,
    SideBySide,
    Space,
    Stacked,
    Words,
)
from lmviz.looks.pushed import PushedRow
from lmviz.models.sequences import SOURCE
from lmviz.text.corpus import Corpus
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.origins.influences import Influences, LineForm, Method, TaughtLine
    from lmviz.origins.teaching import Teaching, TeachingPlan
    from lmviz.runs.removal import Removal

NOTHING = "Open a run and type a text to see which lines of its own text taught it the next word."
FOREIGN = "It is not known what {name} learned from: open a run of lmviz to see what taught it a word."
FORMS, AGAINST, CHOICES = 8, 6, 6
MOST_REMOVED = 100
METHODS: tuple[tuple[Method, str], ...] = (("gradients", "gradients"), ("overlap", "n-grams"))

WORD = Picker("taught_word_picker", says="which word was taught", given=True)
METHOD = Picker(
    "taught_method_picker", says="by what lines are ordered", choices=[said for _, said in METHODS]
)
METHOD_AWAY = replace(METHOD, shown=False)
ONLY_GRADIENTS = (
    "A label of a whole text has no words before it to compare: only gradients say what taught it."
)
READ = Button("taught_read_button", shown=False)
OPEN = Button("open_taught_text_button", shown=False)
REMOVE = Button("taught_remove_button", shown=False)
LINES = PushedLines("taught_lines", says="lines that taught the word", share=1)
TRUST = Bars("taught_trust", says="rank correlation of each estimate with the truth")


@dataclass(frozen=True)
class TaughtSoFar:
    """The search, what it has found so far, and what the rest of it would take."""

    teaching: Teaching = field(repr=False)
    answer: Influences
    plan: TeachingPlan
    removal: Removal | None = None


class TaughtPanel(AskingPanel[Corpus, TaughtSoFar]):
    """n-gram overlap and exact counts come at once; a button has the text read for the gradients.

    The word is the one that stands in the text behind the position that is looked at, or a likely one.
    """

    title = "Who taught it this?"
    key = Key("who taught it this")
    draws = ("reading",)
    begins_bare = True
    follows = ("reading.changed", "focus.position_changed", "text.changed", "library.model_changed")
    parts = (WORD, METHOD, READ, OPEN, REMOVE)

    def __init__(self, session: Session) -> None:
        self._choice = 0
        self._chosen_at: tuple[str, int] | None = None
        self._method = 0
        self._open_form: tuple[str, str] | None = None
        self._job: Job | None = None
        self._job_of: object = None
        super().__init__(session)

    def out_of_place(self, model: OpenedModel) -> str:
        return "" if not model.run.was_trained_elsewhere else FOREIGN.format(name=model.name)

    def question(self) -> Question[Corpus, TaughtSoFar] | Look:
        reading, corpus = self.session.reading.current, self.session.text.corpus
        if reading is None:
            return Look(instead=NOTHING)
        model, position = reading.model, self.session.reading.position
        description = model.description
        if corpus is None or corpus.fingerprint != description.fingerprint:
            name = description.corpus.get("name", "its text")
            offer = replace(
                OPEN,
                text=f"Open “{name}” to see what taught it",
                shown=True,
                clicked=lambda: self.session.text.open_text_of(model),
            )
            return Look((offer, Space()), aside=f"learned from {name}")
        ids, _ = self._words()
        if not ids:
            return Look(instead=NOTHING)
        if self._chosen_at != (reading.trace.text, position):
            self._chosen_at, self._choice = (reading.trace.text, position), 0
        wanted = ids[min(self._choice, len(ids) - 1)]
        run, of_labels = model.run, not model.predicts.continues
        text = reading.trace.text if of_labels else _up_to(reading, position)
        source = reading.trace.beside.get(SOURCE)
        place = position if of_labels and model.predicts.per == "position" else None

        def work(corpus: Corpus) -> TaughtSoFar:
            from lmviz.origins.teaching import Teaching
            from lmviz.runs.opening import open_model_of

            teaching = Teaching(
                run,
                corpus,
                lambda step: open_model_of(run, step),
                text,
                wanted,
                source=source,
                position=place,
            )
            answer, _ = next(teaching.growing())
            return TaughtSoFar(teaching, answer, teaching.plan())

        return Question(self.key, corpus, work, about=(model, model.snapshots, text, source, place, wanted))

    def _words(self) -> tuple[list[int], list[str]]:
        """What can be asked about, by id and as displayed: the word that stands next, and the likeliest."""
        reading = self.session.reading.current
        if reading is None:
            return [], []
        trace, position = reading.trace, self.session.reading.position
        model = reading.model
        probabilities = trace["probabilities"].array
        row = probabilities[position] if probabilities.ndim == 2 else probabilities
        likeliest = np.argsort(-row, kind="stable")[:CHOICES].tolist()
        if not model.predicts.continues:
            return likeliest, [str(model.predicts.names[index]) for index in likeliest]
        following = [int(trace.ids[position + 1])] if position + 1 < len(trace.tokens) else []
        ids = list(dict.fromkeys([*following, *likeliest]))
        return ids, [visible(model.tokenizer.token(index)) for index in ids]

    # What is done

    def _choose_word(self, place: int) -> None:
        self._choice = place
        self.refresh_soon()

    def _choose_method(self, place: int) -> None:
        self._method = place
        self._draw()

    def _end_other_job(self) -> None:
        """Cancel what is computed of a question that is no longer asked."""
        if self._job is not None and self._job_of is not self.asked:
            self._job.cancel()
            self._job = None

    def _forget(self, look: Look) -> None:
        super()._forget(look)
        self._end_other_job()

    def _take(self, asked: Question[Corpus, TaughtSoFar], found: TaughtSoFar) -> None:
        self.asked = asked
        self._end_other_job()
        super()._take(asked, found)

    def _read_on(self) -> None:
        """Have the text read at each snapshot, in a job of its own that can be cancelled."""
        found = self.found
        if found is None or self._job is not None:
            return
        asked, teaching, before = self.asked, found.teaching, found.answer

        def work(report: Report) -> Generator[object, None, Influences]:
            if before.done:
                teaching.widen()
            answers = teaching.growing(before)
            answer, _ = next(answers)
            for answer, done in answers:
                yield done
                yield answer
            return answer

        def take(answer: Influences) -> None:
            if self.found is not None and self.asked is asked:
                self.found = replace(self.found, answer=answer)
                self._draw()

        self._job = self.start_job(f"What taught it “{visible(before.word)}”", work, take, take)
        self._job_of = asked
        self._job.ended.connect(self._forget_job)
        self._draw()

    def _forget_job(self, job: object) -> None:
        if job is self._job:
            self._job = None
            self._draw()

    def _remove(self, lines: tuple[int, ...]) -> None:
        """Train again without these lines, and without others, from before the steepest rise."""
        found, asked, corpus = self.found, self.asked, self.session.text.corpus
        model = self.session.library.model
        if found is None or corpus is None or model is None or self._job is not None:
            return
        run, teaching = model.run, found.teaching
        step, until = _stretch(found.answer)

        def work(report: Report) -> Generator[object, None, Removal]:
            from lmviz.runs.removal import remove

            answers = remove(run, corpus, teaching.text, teaching.asked, lines, step=step, until=until)
            removal, _ = next(answers)
            for removal, done in answers:
                yield done
                yield removal
            return removal

        def take(removal: Removal) -> None:
            if self.found is not None and self.asked is asked:
                self.found = replace(self.found, removal=removal)
                self._draw()

        self._job = self.start_job(f"Training without {count(len(lines))} lines", work, take, take)
        self._job_of = asked
        self._job.ended.connect(self._forget_job)
        self._draw()

    def _click(self, rows: list[tuple[PushedRow, Any]], place: int) -> None:
        """Show or hide the lines of a form; of a line, the place in the text."""
        if not 0 <= place < len(rows):
            return
        about = rows[place][1]
        if isinstance(about, tuple):
            self._open_form = None if self._open_form == about else about
            self._draw()
        elif isinstance(about, int):
            self.session.text.choose_place(about)

    # How it looks

    def look(self, corpus: Corpus, found: TaughtSoFar) -> Look:
        answer = found.answer
        ids, names = self._words()
        chosen = ids.index(answer.wanted) if answer.wanted in ids else 0
        word = replace(WORD, choices=names, chosen=chosen, chose=self._choose_word)
        title = f"Who taught it “{visible(answer.word)}”?"
        if not answer.methods:
            head = (word, METHOD_AWAY, self._read_button(found), replace(OPEN, shown=False))
            return Look((Words(text=ONLY_GRADIENTS, role="muted"), Space()), title=title, head=head)
        method: Method = METHODS[self._method][0]
        by: Method = method if method in answer.methods else answer.methods[0]
        rows = self._rows(answer, by)
        lines = replace(
            LINES,
            heads=(
                "form",
                "times",
                "the line that pushed most",
                _span(answer) if by == "gradients" else "",
                "of all",
            ),
            rows=[row for row, _ in rows],
            clicked=lambda place: self._click(rows, place),
        )
        centre = Stacked(parts=(*sentence_parts(answer, by), lines), share=1)
        left = Stacked(parts=(*curve_parts(answer), *counts_parts(answer)), share=1)
        right = Stacked(parts=(*when_parts(answer), *self._trust(found, by)), share=1)
        body = SideBySide(
            first=left,
            second=SideBySide(first=centre, second=right, shares=(5, 2), share=1),
            shares=(2, 7),
            share=1,
        )
        return Look(
            (body,),
            title=title,
            aside=self._aside(found),
            head=(
                word,
                replace(
                    METHOD, chosen=self._method, chose=self._choose_method, shown=len(answer.methods) > 1
                ),
                self._read_button(found),
                replace(OPEN, shown=False),
            ),
            arrays={"lines": answer.table(by)},
            names=Names(columns=("line", "share", "text")),
            recipe=self._recipe(answer, by),
        )

    def _aside(self, found: TaughtSoFar) -> str:
        answer = found.answer
        if answer.products is None:
            return "n-gram overlap, over the whole text"
        read = f"{count(answer.lines_read)} of {count(len(answer.text.line_starts) - 1)} lines"
        scaled = ", Adam's scale" if answer.scaled else ""
        return f"{read} at {count(len(answer.steps))} of {count(found.plan.snapshots)} snapshots{scaled}"

    def _read_button(self, found: TaughtSoFar) -> Button:
        answer, plan = found.answer, found.plan
        is_whole = answer.products is None or bool(answer.read[answer.text.asked].all())
        if self._job is not None or (answer.done and is_whole):
            return READ
        seconds = plan.seconds
        if answer.done:
            seconds *= plan.of / max(1, plan.tokens) - 1
        what = "Read the rest" if answer.done else "Go on" if answer.steps else "Ask the gradients"
        return replace(
            READ,
            text=f"{what} · {in_words(seconds)}",
            tip=(
                f"Reads {count(plan.tokens)} of {count(plan.of)} tokens twice at each of {plan.snapshots} "
                f"snapshots, and holds {plan.bytes / 1e6:,.0f} MB"
            ),
            shown=True,
            clicked=self._read_on,
        )

    def _rows(self, answer: Influences, by: Method) -> list[tuple[PushedRow, Any]]:
        """The forms for and against with their lines, each with what a click on it is about."""
        rows: list[tuple[PushedRow, Any]] = []
        for form in answer.forms(FORMS, by):
            rows += self._rows_of(answer, form, UP)
        against = answer.forms(AGAINST, by, against=True)
        if against:
            said = "shares of all push against it"
            rows.append((PushedRow(label=("", "Against"), said=said, heading=True), None))
        for form in against:
            rows += self._rows_of(answer, form, DOWN)
        return rows

    def _rows_of(self, answer: Influences, form: LineForm, ink: str) -> list[tuple[PushedRow, Any]]:
        key = (form.before, form.learned)
        is_open = self._open_form == key
        mark = "generalised" if form.only_gradients else ""
        first = form.lines[0] if form.lines else None
        rows: list[tuple[PushedRow, Any]] = [
            (
                PushedRow(
                    label=(form.before, form.learned),
                    times=count(form.times),
                    tokens=_shown(first)[0] if first else (),
                    pushes=_shown(first)[1] if first else np.zeros(0),
                    bars=form.by_step,
                    said=_percent(form.share),
                    ink=ink,
                    opens=True,
                    is_open=is_open,
                    mark=mark,
                    tip=_tip(answer, form, mark),
                ),
                key,
            )
        ]
        for line in form.lines if is_open else ():
            tokens, pushes = _shown(line)
            rows.append(
                (
                    PushedRow(
                        times=count(line.line.document + 1),
                        tokens=tokens,
                        pushes=pushes,
                        bars=line.by_step,
                        said=_percent(line.share),
                        ink="muted_text",
                        inner=True,
                        tip=(f"line {count(line.number + 1)} of document {count(line.line.document + 1)}",),
                    ),
                    line.line.start,
                )
            )
        return rows

    def _trust(self, found: TaughtSoFar, by: Method) -> tuple[LookPart, ...]:
        from lmviz.origins.trust import figures_for

        title = Words(text=[Inked("How far to trust it", is_bold=True)])
        model = self.session.library.model
        figures = figures_for(model.family if model is not None else "")
        parts: list[LookPart] = [title]
        if figures is not None:
            parts.append(Words("taught_trust_sentence", text=figures.sentence, role="muted"))
            parts.append(
                replace(
                    TRUST,
                    labels=[self.of_units(label) for label in figures.labels],
                    values=[max(0.0, value) for value in figures.values],
                    texts=[f"{value:.2f}" for value in figures.values],
                    limit=1.0,
                    highlighted=frozenset({len(figures.values) - 1}),
                )
            )
        parts += self._removal(found, by)
        return tuple(parts)

    def _removal(self, found: TaughtSoFar, by: Method) -> tuple[LookPart, ...]:
        """The proof: the button, or what was measured beside what was estimated."""
        answer, removal = found.answer, found.removal
        if removal is not None:
            return (Words("taught_removal", text=measured_in_words(answer, removal, by)),)
        model = self.session.library.model
        lines = _to_remove(answer, by)
        stretch = _stretch(answer)
        can = bool(lines) and stretch[0] < stretch[1] and model is not None and answer.probabilities.size > 1
        if not can or self._counts_text:
            return ()
        button = replace(
            REMOVE,
            text=f"Train without these {count(len(lines))} lines …",
            tip=(
                f"From step {count(stretch[0])} to {count(stretch[1])}, two seeds: with all lines, without "
                "these, and without as many others"
            ),
            shown=True,
            enabled=self._job is None,
            clicked=lambda: self._remove(lines),
        )
        return (button,)

    @property
    def _counts_text(self) -> bool:
        from lmviz.families import FAMILIES

        model = self.session.library.model
        return model is not None and FAMILIES[model.family].counts

    def _recipe(self, answer: Influences, by: Method) -> str:
        if self.asked is None:
            return ""
        about: Any = self.asked.about
        model, _, text, source, place, wanted = about
        given = arguments_of(str(model.folder), text, int(wanted), source=source, position=place)
        if answer.products is None or answer.read[answer.text.asked].all():
            given += f", tokens={None if by == 'gradients' else 1}"
        return "\n".join(
            ["import lmviz", "", f"taught = lmviz.influences({given})", f"lines = taught.table({by!r})", ""]
        )


def _up_to(reading: Any, position: int) -> str:
    """The text up to a position, as it was typed."""
    trace = reading.trace
    if position + 1 >= len(trace.tokens):
        return str(trace.text)
    return str(reading.model.tokenizer.decode(trace.ids[: position + 1]))


def _stretch(answer: Influences) -> tuple[int, int]:
    """From the snapshot before the steepest rise to the one behind it; the whole training without one."""
    from lmviz.origins.influences import steepest

    rise = steepest(answer.history, answer.probabilities)
    return (answer.history[0], answer.history[-1]) if rise is None else rise


def _to_remove(answer: Influences, by: Method) -> tuple[int, ...]:
    """The lines that pushed the word most, so many that they gave half of what the first hundred gave."""
    return tuple(line.number for line in answer.lines(30, by))


def _shown(line: TaughtLine) -> tuple[tuple[str, ...], np.ndarray]:
    """The tokens of a line as they are shown, and their pushes as shares of the strongest."""
    strongest = float(np.abs(line.pushes).max()) or 1.0
    return tuple(map(visible, line.line.tokens)), (line.pushes / strongest).astype(np.float32)


def _span(answer: Influences) -> str:
    return "" if not answer.steps else f"at step {count(answer.steps[0])} … {count(answer.steps[-1])}"


def _percent(share: float) -> str:
    """A share with its sign, in as many figures as one of the other sign has."""
    if abs(share) < 0.0005:
        return "0 %"
    return f"{'−' if share < 0 else ''}{percentage(abs(share))}"


def _tip(answer: Influences, form: LineForm, mark: str) -> tuple[str, ...]:
    steps = [f"step {count(s)}: {_percent(v)}" for s, v in zip(answer.steps, form.by_step, strict=False)]
    why = ("n-grams in common do not find it: this was generalised",) if mark else ()
    return (f"{times(form.times)} in what was read", *why, *steps)
