"""The words after the text whose probability rose and fell from one model to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.difference.pair_panel import PairPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.pair import Two
from lmviz.app.widgets.base.figures import percentage
from lmviz.differences.recipes import next_word_recipe
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Shifts, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.differences.pair import ModelPair
    from lmviz.differences.word_shift import WordShift

ROSE, FELL = 4, 6
"""So many words that rose and fell are shown."""

SENTENCE = Words("changed_words_sentence")
SHIFTS = Shifts("changed_words_arrows", says="probabilities that rose and fell", share=1)


class ChangedWordsPanel(PairPanel["WordShift"]):
    """An arrow from A to B for each word, in points; a click appends the word to the text."""

    title = "Next word"
    shows = "which next words became likelier"
    key = Key("changed words")
    follows = (*PairPanel.follows, "focus.position_changed")
    parts = (SENTENCE, SHIFTS)

    def question(self) -> Question[Two, WordShift] | Look:
        if self.obstacle is not None:
            return self.obstacle
        text, position = self.text, self.session.focus.position
        encoding = self.session.reading.encoding
        if encoding is None or not len(encoding):
            return Look(self.parts, instead=self.no_text)
        ids = np.asarray(encoding.ids[: position + 1], dtype=np.int64)

        def work(pair: ModelPair) -> WordShift:
            from lmviz.differences.documents import last_tokens
            from lmviz.differences.word_shift import word_shift

            return word_shift(pair, last_tokens(pair, ids, len(ids)))

        return self.asked_of(work, (text, position, tuple(ids.tolist())))

    def look(self, two: Two, found: WordShift) -> Look:
        rose, fell = found.words(ROSE), found.words(FELL, rose=False)
        words = [*rose, *fell]
        if not words:
            return Look((SENTENCE, SHIFTS), instead="Both models expect the same after this text.")
        first = (rose or fell)[0]
        ink = "rose" if first.change > 0 else "fell"
        said = (
            Inked("“"),
            Inked(visible(first.word), True, ink),
            Inked(f"” from {percentage(first.before)} to "),
            Inked(percentage(first.after), True, ink),
            Inked("."),
        )
        encoding = self.session.reading.encoding
        ids = () if encoding is None else encoding.ids[: self.session.focus.position + 1].tolist()

        def append(row: int) -> None:
            reading = self.session.reading
            if reading.tokenizer is not None:
                reading.set_prefix(reading.tokenizer.continue_text(reading.prefix, words[row].id))
                self.session.focus.follow_end()

        return Look(
            (
                Words("changed_words_sentence", text=said),
                Shifts(
                    SHIFTS.name,
                    says=SHIFTS.says,
                    share=1,
                    labels=[visible(word.word) for word in words],
                    before=[word.before for word in words],
                    after=[word.after for word in words],
                    clicked=append,
                ),
            ),
            aside="A ○ → ● B · points",
            arrays={"before": found.before, "after": found.after},
            names=Names(found.tokens, ["A", "B"]),
            recipe=next_word_recipe(two[0].reads(self.text), two[1].reads(self.text), list(ids)),
        )
