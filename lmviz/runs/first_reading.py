"""How a text of one's own is read at first: by words, or by characters where words would take too long here.

The score of every word of the vocabulary is computed at every place of every batch. A novel has some fifteen
thousand words and eighty characters, so a step by words takes many times as long, and each word is seen
too seldom for much to be learned of it in a minute. Which of the two it is, is measured on this machine.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lmviz.base.durations import in_words
from lmviz.base.reporting import Report
from lmviz.families import FAMILIES
from lmviz.runs.preparation import rehearse
from lmviz.training.options import TrainingOptions
from lmviz.training.presets import PRESETS, QUICK_SECONDS
from lmviz.training.rehearsal import measured_pace

if TYPE_CHECKING:
    from lmviz.models.model_configuration import ModelConfiguration
    from lmviz.text.corpus import Corpus

WORDS, CHARACTERS = "words", "characters"
MANY_WORDS = 4_000
"""Of a vocabulary. With fewer, a step by words takes at most some three times as long as by characters."""

SAMPLE = 2_000_000
"""Characters of a long text by which it is judged; all of it has more words."""

FAMILY = "transformer"
LEARNING = 300
"""Steps of a first training in which something is seen to be learned; with fewer a smaller model begins."""

SMALL = {"layers": 2, "width": 64}


@dataclass(frozen=True)
class FirstReading:
    """A choice of tokens, with the seconds that a quick training would take by each, on this machine.

    `words` is the size of the vocabulary of words, at least. `configuration` is of the model to begin with.
    """

    tokenizer: str
    words: int
    seconds_by_words: float
    seconds_by_characters: float
    configuration: ModelConfiguration

    @property
    def other(self) -> str:
        """The choice that was not made."""
        return WORDS if self.tokenizer == CHARACTERS else CHARACTERS

    @property
    def is_usual(self) -> bool:
        """Whether it is what a person would expect who was not told."""
        return self.tokenizer == WORDS

    @property
    def sentence(self) -> str:
        """What was chosen, and why."""
        times = (
            f"{PRESETS['quick']:,} steps by words, {self.words:,} of them, would take "
            f"{in_words(self.seconds_by_words)} here, by characters {in_words(self.seconds_by_characters)}"
        )
        return f"The text was read by {self.tokenizer}: {times}."


def first_reading(text: str, report: Report) -> FirstReading | None:
    """How a text for a model of the next token is read at first; None where nothing speaks against words.

    It makes some steps of training by each, which takes seconds. `report` may raise to cancel.
    """
    from lmviz.text.corpus import text_corpus

    sample = text[:SAMPLE]
    by_words = text_corpus(sample, tokenizer=WORDS)
    words = by_words.tokenizer.vocabulary_size
    if words < MANY_WORDS:
        return None
    usual = FAMILIES[FAMILY].configuration.beginning_for(by_words.task)
    pace_by_words = _pace(by_words, usual, report)
    by_characters = text_corpus(sample, tokenizer=CHARACTERS)
    pace_by_characters = _pace(by_characters, usual, report)
    if pace_by_words is None or pace_by_characters is None:
        return None
    steps = PRESETS["quick"]
    is_slow = pace_by_words * steps > QUICK_SECONDS and pace_by_words > 2 * pace_by_characters
    pace = pace_by_characters if is_slow else pace_by_words
    small = pace * LEARNING > QUICK_SECONDS
    return FirstReading(
        CHARACTERS if is_slow else WORDS,
        words,
        pace_by_words * steps,
        pace_by_characters * steps,
        type(usual).beginning_for(by_words.task, SMALL) if small else usual,
    )


def _pace(corpus: Corpus, configuration: ModelConfiguration, report: Report) -> float | None:
    """Seconds a step of this thread's own work, so that what else the machine does counts for nothing.

    None where there are too few steps to tell.
    """
    options = replace(TrainingOptions(), device="cpu", validate_every=0, validation_batches=1)
    steps = rehearse(FAMILY, configuration, options, corpus)
    for seconds in measured_pace(steps, options, time.thread_time):
        report(0.0)
        if seconds is not None:
            return seconds
    return None
