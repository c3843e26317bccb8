"""What a model said before it was trained further, and what it says now, to the same beginnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.train.tuned_runs import names_of, runs_of_one_base
from lmviz.app.session.comparison import ComparedModel
from lmviz.app.widgets.base.figures import percentage
from lmviz.differences.recipes import before_after_recipe
from lmviz.looks.answer_column import AnswerColumn
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Answers, Button, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.differences.before_after import BeforeAfter
    from lmviz.models.model import Model

EMPTY = "Train an opened model further: what it said before stands here beside what it says then."
NO_WORDS = "The model wrote no text before: type a text above, and keep it as a beginning."
PROMPTS, COLUMNS, TOKENS = 6, 4, 24
"""So many beginnings and models are shown, and so many tokens written."""

SENTENCE = Words("before_after_sentence")
ANSWERS = Answers("before_after_answers", says="answers before and after", share=1)
KEEP = Button("keep_prompt_button", text="Keep the typed text", role="link")
USUAL = Button("usual_prompts_button", text="Usual beginnings", role="link")

Asked = tuple[ComparedModel, ...]


class BeforeAfterPanel(AskingPanel[Asked, "BeforeAfter | None"]):
    """A column for the base and for each run that began with it, a row for each beginning."""

    title = "Before and after"
    key = Key("before and after")
    follows = (
        "library.models_changed",
        "library.model_changed",
        "library.step_changed",
        "reading.encoding_changed",
        "work.ready_changed",
    )
    needs_next_word = "Open a language model, and train it further."
    parts = (SENTENCE, ANSWERS)

    _kept: tuple[str, ...] = ()
    """Beginnings that a person has kept, the newest first; where there are none, the usual ones are asked."""

    def question(self) -> Question[Asked, BeforeAfter | None] | Look:
        library = self.session.library
        runs = runs_of_one_base(library)
        if not runs or runs[0] != library.model or library.step is None:
            return Look(self.parts, instead=EMPTY)
        shown, kept = runs[0], self._kept
        others = [(run, run.snapshots[-1]) for run in runs[1 : COLUMNS - 1] if run.snapshots]
        first = shown.snapshots[0]
        folder, size = shown.folder, shown.description.vocabulary_size

        def work(models: Iterator[Model]) -> BeforeAfter | None:
            from lmviz.differences.before_after import first_answers, usual_beginnings

            base = next(models)
            prompts = kept or usual_beginnings(base, folder, size)[:PROMPTS]
            if not prompts:
                return None
            found = first_answers(base, prompts)
            for model in models:
                found = found.with_model(model)
            return found

        moments = ((shown, first), (shown, library.step), *others)
        asked = tuple(map(ComparedModel, moments))
        return Question(self.key, asked, work, about=(kept, self._text))

    @property
    def _text(self) -> str:
        """What the models go on with."""
        encoding = self.session.reading.encoding
        return self.session.reading.prefix if encoding is not None and len(encoding) else ""

    def goes_on(self, subject: Asked, found: BeforeAfter | None) -> Question[Any, BeforeAfter | None] | None:
        asked = self.asked
        if found is None or asked is None or len(found.texts) == len(subject):
            return None
        text: str = asked.about[1]  # type: ignore[index]  # as it was asked
        if not text:
            return None

        def work(models: Iterator[Model]) -> BeforeAfter:
            return found.with_text(next(models), text, TOKENS)

        return Question(self.key, (subject[len(found.texts)],), work)

    def look(self, subject: Asked, found: BeforeAfter | None) -> Look:
        head = [replace(KEEP, enabled=bool(self._text), clicked=self._keep)]
        head += [replace(USUAL, clicked=self._ask_usual)] if self._kept else []
        if found is None:
            return Look(self.parts, instead=NO_WORDS, head=head)
        base, *others = subject
        names = ["before", *names_of([one.model for one in others])]
        columns = [
            AnswerColumn(
                name,
                "muted_text" if place == 0 else place - 1,
                found.shares[place],
                [visible(word) for word in found.expected[place]],
                f"…{found.texts[place]}" if place < len(found.texts) else "",
            )
            for place, name in enumerate(names)
        ]
        words = [visible(word) for word in found.words]
        sentence = _sentence(found, words, names[1])
        prompts = list(found.prompts)
        answers = replace(ANSWERS, columns=columns, prompts=prompts, words=words, clicked=self._type)
        return Look(
            (replace(SENTENCE, text=sentence), answers),
            aside="temperature 0.8 · top p 0.95 · the same draws" if found.texts else "",
            head=head,
            arrays={"probabilities": found.shares},
            names=Names(names, prompts),
            recipe=before_after_recipe(base.reads(""), [one.reads("") for one in others], prompts),
        )

    def _keep(self) -> None:
        """Ask what is typed as well, in place of the oldest that was kept."""
        text = self._text
        if text:
            self._kept = tuple(dict.fromkeys([text, *self._kept]))[:PROMPTS]
            self.refresh_soon()

    def _ask_usual(self) -> None:
        self._kept = ()
        self.refresh_soon()

    def _type(self, row: int) -> None:
        """Have the text above be a beginning, so that every panel shows what both models do with it."""
        if self.found is not None:
            self.session.reading.set_prefix(self.found.prompts[row])
            self.session.focus.follow_end()


def _sentence(found: BeforeAfter, words: Sequence[str], name: str) -> tuple[Inked, ...]:
    """The word whose probability changed most in the shown model."""
    change = found.shares[1] - found.shares[0]
    row = int(np.argmax(np.abs(change)))
    was, now = percentage(float(found.shares[0, row])), percentage(float(found.shares[1, row]))
    if was == now:
        return (Inked("Nothing has changed so far: both find these words as likely."),)
    rose = change[row] > 0
    ink = "rose" if rose else "fell"
    return (
        Inked(f"“{found.prompts[row].strip()}”: "),
        Inked(words[row], True),
        Inked(f" {'rises' if rose else 'falls'} from {was} to "),
        Inked(now, True, ink),
        Inked(f" with {name}."),
    )
