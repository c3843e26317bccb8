"""By how much the loss of each word changed: over the text that is typed, and over all that is held out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.difference.pair_panel import PairPanel, in_short
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.pair import Two
from lmviz.app.widgets.base.figures import count, number, percentage, signed_figure
from lmviz.app.workers.job import Job
from lmviz.base.errors import LmvizError
from lmviz.differences.recipes import difference_recipe, held_out_recipe
from lmviz.inspection.recipes.text import settings_of
from lmviz.looks.columns import Column
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Button, LookPart, Matrix, Picker, Shifts, SideBySide, Table, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from lmviz.base.reporting import Report
    from lmviz.differences.pair import ModelPair
    from lmviz.differences.text_difference import TextDifference
    from lmviz.text.documents import Documents

PASSAGES, ROSE = 12, 3
"""So many passages of either kind, and so many words that rose and fell, are shown."""

SENTENCE = Words("changed_text_sentence")
TOKENS = Matrix("changed_text_tokens", says="the change of each word's loss in nats", scale="signed")
PICKER = Picker(
    "changed_text_picker", says="which text is read", choices=("the text above", "the held-out text")
)
NOTHING_OPEN = "Open a text with a held-out part under Corpus, to see where one model is ahead of the other."
INVITATION = (
    "Measure the change of every held-out token: passages where either model is ahead, words that are "
    "expected more and less, and a band of 95 %."
)
TABLE = Table("changed_passages", says="passages by the change of their mean loss", share=1)
SHIFTS = Shifts("changed_said", says="words that are expected more, or less, over the held-out text", share=1)


class ChangedTextPanel(PairPanel["TextDifference | str"]):
    """The typed words by the change of their loss; a button measures the held-out text of the open corpus."""

    title = "Change by word"
    shows = "which words became easier or harder"
    key = Key("changed text")
    follows = (*PairPanel.follows, "text.changed", "focus.position_changed")
    parts = (SENTENCE, TOKENS)

    _is_on_held_out = False
    _held_out: tuple[tuple[Two, str], TextDifference] | None = None
    _job: Job | None = None

    def question(self) -> Question[Two, TextDifference | str] | Look:
        if self.obstacle is not None:
            return self.obstacle
        text, two = self.text, self.session.pair.models
        if self._is_on_held_out and two is not None:
            return self._look_at_held_out(two)
        if not text:
            return Look(self.parts, head=self._head(), instead=self.no_text)

        def work(pair: ModelPair) -> TextDifference | str:
            from lmviz.differences.documents import judged_text
            from lmviz.differences.text_difference import stretch_difference, text_difference

            try:
                if not pair.read_alike:
                    return stretch_difference(pair, [text])
                judged = judged_text(pair.before, text)
                return text_difference(pair, judged.documents, judged.start)
            except LmvizError as sentence:
                return str(sentence)

        return self.asked_of(work, text)

    def look(self, two: Two, found: TextDifference | str) -> Look:
        if isinstance(found, str):
            return Look(self.parts, head=self._head(), instead=found)
        tokens = [visible(token) for token in found.tokens]
        encoding = self.session.reading.encoding
        shift = 0 if encoding is None or found.unit != "token" else max(0, len(encoding) - len(tokens))

        def read_out(row: int, at: int) -> tuple[str, list[str]]:
            return f"{signed_figure(float(found.changes[at]))} nats", [
                f"“{tokens[at]}”",
                f"A {number(float(found.before[at]))}, B {number(float(found.after[at]))} nats",
                " → ".join(percentage(float(np.exp(-side[at]))) for side in (found.before, found.after)),
            ]

        grid = replace(
            TOKENS,
            values=found.changes[None],
            limit=float(np.abs(found.changes).max()) or 1.0,
            rows=["B − A"],
            columns=tokens,
            column=self.session.focus.position - shift,
            readout=read_out,
            clicked=lambda _, at: self.session.focus.choose_position(at + shift),
        )
        return Look(
            (replace(SENTENCE, text=_typed(found, in_short(two))), grid),
            aside="nats; blue: better in B",
            head=self._head(),
            arrays={"before": found.before, "after": found.after, "change": found.changes},
            units=dict.fromkeys(("before", "after", "change"), "nats"),
            names=Names(found.tokens),
            recipe=difference_recipe(two[0].reads(self.text), two[1].reads(self.text), "change.text.changes"),
        )

    def _look_at_held_out(self, two: Two) -> Look:
        """Passages and words of the held-out text, once they have been measured."""
        found, corpus = self._known(two), self.session.text.corpus
        if found is None or corpus is None:
            said = NOTHING_OPEN if not self._can_measure else INVITATION
            return Look((SENTENCE,), head=self._head(), instead=said)
        rows = [*found.passages(PASSAGES), *found.passages(PASSAGES, better=False)]
        table = replace(
            TABLE,
            columns=[
                Column("nats each", np.array([row.change for row in rows]), signed_figure),
                Column("passage", [row.text for row in rows], tokens=True),
            ],
        )
        words = [*found.words(ROSE), *found.words(ROSE, rose=False)]
        shifts = replace(
            SHIFTS,
            labels=[visible(word.word) for word in words],
            before=[word.before for word in words],
            after=[word.after for word in words],
        )
        body = SideBySide(first=table, second=shifts, shares=(3, 2), share=1) if words else table
        return Look(
            (replace(SENTENCE, text=_held_out_in_words(found)), body),
            title=f"Held-out part of {corpus.name}",
            head=self._head(),
            arrays={"before": found.before, "after": found.after, "change": found.changes},
            units=dict.fromkeys(("before", "after", "change"), "nats"),
            names=Names(found.tokens),
            recipe=held_out_recipe(two[0].reads(""), two[1].reads(""), corpus.sources, settings_of(corpus))
            if corpus.sources
            else "",
        )

    def _known(self, two: Two) -> TextDifference | None:
        """What was measured of these two on the text that is open."""
        if self._held_out is None or self._held_out[0] != (two, self.session.text.fingerprint):
            return None
        return self._held_out[1]

    @property
    def _can_measure(self) -> bool:
        corpus = self.session.text.corpus
        return corpus is not None and corpus.task == "next-token" and len(corpus.validation_documents) > 0

    def _head(self) -> tuple[LookPart, ...]:
        """On what, and the button that measures the held-out text."""
        measure = Button(
            "measure_change_button",
            text="Measure" if self._job is None else "Stop",
            role="link",
            enabled=self._can_measure or self._job is not None,
            shown=self._is_on_held_out,
            clicked=self._start_or_stop,
        )
        return replace(PICKER, chosen=int(self._is_on_held_out), chose=self._choose), measure

    def _choose(self, place: int) -> None:
        self._is_on_held_out = bool(place)
        self.refresh()

    def _start_or_stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
            return
        two, corpus = self.session.pair.models, self.session.text.corpus
        if two is None or corpus is None:
            return
        documents, fingerprint = corpus.validation_documents, corpus.fingerprint

        def take(found: TextDifference) -> None:
            self._held_out = ((two, fingerprint), found)
            self.refresh_soon()

        self._job = self.start_job(
            "Comparing two models on the held-out text", _work_on(two, documents), take
        )
        self._job.ended.connect(self._end)
        self.refresh_soon()

    def _end(self, job: Job) -> None:
        """However it ended, also when it was stopped."""
        self._job = None
        self.refresh_soon()


def _work_on(two: Two, documents: Documents) -> Callable[[Report], TextDifference]:
    """What a job does: both models are opened for it, as the reading thread has its own."""
    opened = [(item.model.folder, item.step) for item in two]

    def work(report: Report) -> TextDifference:
        from lmviz.differences.documents import ids_of_documents
        from lmviz.differences.pair import paired
        from lmviz.differences.text_difference import stretch_difference, text_difference
        from lmviz.models.interruption import interruptible
        from lmviz.runs.opening import open_model_of, open_recorded

        pair = paired(*(open_model_of(open_recorded(folder), step).eval() for folder, step in opened))
        with interruptible(lambda done: report(done or 0.0)):
            if not pair.read_alike:
                return stretch_difference(pair, list(documents))
            judged = ids_of_documents(pair.before, documents)
            return text_difference(pair, judged.documents, judged.start)

    return work


def _typed(found: TextDifference, names: tuple[str, str]) -> tuple[Inked, ...]:
    """The word whose loss changed most, and the mean over the text."""
    at = int(np.abs(found.changes).argmax())
    change = float(found.changes[at])
    ink = "fell" if change < 0 else "rose"
    per = "byte" if found.bytes is not None else "token"
    return (
        Inked("“"),
        Inked(visible(found.tokens[at]), True, ink),
        Inked("” changed most, by "),
        Inked(f"{signed_figure(change)} nats", True, ink),
        Inked(
            f". From {names[0]} to {names[1]} the loss on this text goes from {number(found.losses[0])} to "
        ),
        Inked(f"{number(found.losses[1])}", True),
        Inked(f" nats per {per}."),
    )


def _held_out_in_words(found: TextDifference) -> tuple[Inked, ...]:
    """The change on the held-out text, and whether it is one."""
    per = "byte" if found.bytes is not None else "token"
    one, other = map(number, found.losses)
    if found.low is None or found.high is None:
        band = "too short for a band"
    else:
        low, high = signed_figure(found.low, 4), signed_figure(found.high, 4)
        verdict = "" if found.is_clear else ", which may be chance"
        band = f"95 %: {low} to {high}{verdict}"
    return (
        Inked(f"On {count(found.counted)} held-out {per}s: {one} to {other} nats, "),
        Inked(signed_figure(found.total, 4), True),
        Inked(f" ({band}). Passages where B is most ahead or behind; words expected more, and less."),
    )
