"""What a feature writes and reads as words, and the features most like it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.features.asked_features import FOLLOWS, asked_feature, name_in_words
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.widgets.base.figures import count, number, signed_figure
from lmviz.features.recipes import over_texts_recipe
from lmviz.looks.columns import Column
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Bars, Table, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.features.written_words import WrittenWords
    from lmviz.models.model import Model

SHOWN = 20
SENTENCE = Words("feature_words_sentence")
BARS = Bars("feature_words_bars", says="by how much the logit of each next word rises", share=3)
READ = Words("feature_words_read", role="muted")
NEAR = Table("feature_neighbours", says="the features most like it", share=2)
READS_TIP = "By the embedding of each word alone, as if no layer stood before: what it reads most of."


@dataclass(frozen=True, eq=False)
class WordsOfFeature:
    """What a feature writes and reads, and its neighbours with their cosines."""

    written: WrittenWords
    read: tuple[tuple[str, float], ...]
    neighbours: tuple[tuple[int, float], ...]


class FeatureWordsPanel(AskingPanel[Moment, WordsOfFeature]):
    """Bars of the next words that rise most, measured; those that rise together are stronger."""

    title = "What it writes"
    key = Key("words of a feature")
    follows = (*FOLLOWS, "library.step_changed", "text.changed")
    parts = (SENTENCE, BARS, READ, NEAR)

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def question(self) -> Question[Moment, WordsOfFeature] | Look:
        asked = asked_feature(self.session)
        if isinstance(asked, str):
            return Look(self.parts, instead=asked)
        feature, reading, dictionary = asked.number, asked.reading, asked.opened.dictionary

        def work(model: Model) -> WordsOfFeature:
            from lmviz.features.written_words import neighbours, read_words, written_words

            return WordsOfFeature(
                written_words(model, reading, feature),
                read_words(model, dictionary, feature),
                neighbours(dictionary, feature),
            )

        return Question(self.key, asked.moment, work, about=asked.key)

    def look(self, moment: Moment, found: WordsOfFeature) -> Look:
        asked, corpus = asked_feature(self.session), self.session.text.corpus
        if isinstance(asked, str) or corpus is None:
            return Look(self.parts, instead=asked if isinstance(asked, str) else "")
        written = found.written
        top = written.top(SHOWN)
        bars = replace(
            BARS,
            labels=[visible(word) for word, _ in top],
            values=[max(rise, 0.0) for _, rise in top],
            texts=[signed_figure(rise) for _, rise in top],
            highlighted=range(written.group),
            faded=range(written.group, len(top)),
            clicked=lambda bar: self.session.features.choose(
                next(map(int, asked.reading.find(top[bar][0])), asked.number)
            ),
        )
        read = ", ".join(visible(word) for word, _ in found.read[:6])
        cosines = np.array([cosine for _, cosine in found.neighbours])
        near = replace(
            NEAR,
            columns=(
                Column("most like it", np.array([at for at, _ in found.neighbours]), count),
                Column("", [name_in_words(asked.opened, asked.reading, at) for at, _ in found.neighbours]),
                Column("cosine", cosines, lambda value: number(float(value), 2)),
            ),
            clicked=lambda row: self.session.features.choose(found.neighbours[row][0]),
        )
        return Look(
            (
                replace(SENTENCE, text=_sentence(written)),
                bars,
                replace(READ, text=f"It reads {read}." if read else "", shown=bool(read), tip=READS_TIP),
                near,
            ),
            aside="logits, with it − without",
            arrays={"rises": written.rises, "together": np.array([written.group])},
            units={"rises": "logits"},
            names=Names(written.names),
            recipe=over_texts_recipe(
                moment[0].reading("", moment[1]),
                str(asked.opened.file),
                corpus,
                "reading = lmviz.read_features(model, dictionary, corpus)",
                f"values = lmviz.written_words(model, reading, {asked.number}).rises",
            ),
        )


def _sentence(written: WrittenWords) -> str:
    if not written.places:
        return "It never fires in the text that was read."
    top = written.top(written.group + 1)
    words = f"{count(written.group)} words rise" if written.group > 1 else f"“{visible(top[0][0])}” rises"
    least, after = top[written.group - 1][1], top[-1][1]
    return (
        f"{words} by {number(least, 2)} or more, the next by {number(after, 2)}. Measured, as the mean of "
        f"{count(written.places)} places."
    )
