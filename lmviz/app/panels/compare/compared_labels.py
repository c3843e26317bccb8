"""The labels that several models give one text, under its words, with their disagreements marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel, names_of_compared
from lmviz.app.session.gold import gold_of
from lmviz.app.session.opened_model import OpenedModel
from lmviz.base.errors import LmvizError
from lmviz.inspection.recipes.decoding import labels_recipe
from lmviz.looks.label_row import LabelRow, TableLabel
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Labels
from lmviz.models.prefix import read_prefix
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

TABLE = Labels(says="labels of several models", share=1)
Models = tuple[ComparedModel, ...]


@dataclass(frozen=True, eq=False)
class Labelled:
    """What a model says of a text: `probabilities` (position, label), and where its tokens end.

    For a classifier a position's are those of the text up to there. `sentence` says why there are none.
    """

    names: tuple[str, ...] = ()
    probabilities: np.ndarray | None = None
    ends: tuple[int, ...] = ()
    sentence: str = ""


@dataclass(frozen=True, eq=False)
class ComparedLabels:
    """What several models say of a text, with the words of the shown one and where they end."""

    text: str
    words: tuple[str, ...]
    ends: tuple[int, ...]
    models: tuple[Labelled, ...]


class ComparedLabelsPanel(AskingPanel[Models, ComparedLabels]):
    """A row for each compared model, a column for each token of the shown one."""

    title = "Labels"
    key = Key("compared labels")
    follows = (
        "comparison.changed",
        "reading.encoding_changed",
        "reading.changed",
        "text.changed",
        "work.ready_changed",
        "focus.position_changed",
    )
    parts = (TABLE,)

    def out_of_place(self, model: OpenedModel) -> str:
        if not model.predicts.continues:
            return ""
        said = f"{model.name} {model.does}: Surprisal compares what it expects."
        return f"{said} Open a tagger or a classifier for labels."

    def question(self) -> Question[Models, ComparedLabels] | Look:
        models, encoding = self.session.comparison.models, self.session.reading.encoding
        if not models or encoding is None or not len(encoding):
            return Look(instead="Type a text above." if models else "Open or train a tagger or a classifier.")
        text = self.session.reading.prefix
        words, ends = tuple(map(visible, encoding.tokens)), tuple(end for _, end in encoding.offsets)

        def work(found: Iterator[Model]) -> ComparedLabels:
            return ComparedLabels(text, words, ends, tuple(_label(model, text) for model in found))

        return Question(self.key, models, work, about=(text, words, ends))

    def look(self, models: Models, found: ComparedLabels) -> Look:
        refused = next((item.sentence for item in found.models if item.sentence), "")
        if refused:
            return Look((TABLE,), instead=refused)
        gold, names = self._gold(found), names_of_compared(models)
        rows = [
            LabelRow(name, item.model.color_index, _row(one, found.ends, gold))
            for name, item, one in zip(names, models, found.models, strict=True)
        ]
        columns = zip(*(row.labels for row in rows), strict=True)
        many, words = sum(len({each.label for each in column}) > 1 for column in columns), len(found.words)
        agreeing = f"they disagree at {many} of {words} words" if many else "they agree"
        per_text = models[0].model.predicts.per == "text"
        table = replace(
            TABLE,
            words=found.words,
            rows=rows,
            gold=[" or ".join(sorted(right)) for right in gold],
            current=self.session.focus.position,
            pointed=self.session.focus.hover_position,
            clicked=self.session.focus.choose_position,
        )
        shares = {name: one.probabilities for name, one in zip(names, found.models, strict=True)}
        return Look(
            (table,),
            title="Label of the text up to each word" if per_text else "Tags",
            aside=agreeing if len(rows) > 1 else "",
            arrays={name: each for name, each in shares.items() if each is not None},
            names=Names(found.words, found.models[0].names),
            recipe=labels_recipe([item.reads(found.text) for item in models], per_text),
        )

    def _gold(self, found: ComparedLabels) -> list[frozenset[str]]:
        """The names of what is right at each word, for a text only at its end; empty where none is known."""
        reading = self.session.reading.current
        if reading is None or len(reading.trace) != len(found.words):
            return []
        gold = [frozenset(map(reading.answer, right)) for right in gold_of(reading, self.session.text.corpus)]
        if gold and reading.trace.predicts.per == "text":
            return [frozenset()] * (len(found.words) - 1) + gold
        return gold


def _row(found: Labelled, ends: Sequence[int], gold: Sequence[frozenset[str]]) -> tuple[TableLabel, ...]:
    """The likeliest label at each word of the shown model."""
    labels = []
    for place, end in enumerate(ends):
        own = next((at for at, last in enumerate(found.ends) if last >= end), len(found.ends) - 1)
        assert found.probabilities is not None, "it would have said why"
        shares = found.probabilities[own]
        if not np.isfinite(shares).all():
            labels.append(TableLabel())
            continue
        best = int(shares.argmax())
        right = gold[place] if gold else frozenset()
        wrong = bool(right) and visible(found.names[best]) not in right
        labels.append(TableLabel(visible(found.names[best]), float(shares[best]), wrong))
    return tuple(labels)


def _label(model: Model, text: str) -> Labelled:
    """The labels of one model. For the reading thread."""
    from lmviz.decoding.labels import label
    from lmviz.inspection.class_readings import read_beginnings

    try:
        read = read_prefix(model, text).last(model.context)
        per_text = model.predicts.per == "text"
        shares = read_beginnings(model, read.ids) if per_text else label(model, text).probabilities
    except LmvizError as sentence:
        return Labelled(sentence=str(sentence))
    return Labelled(model.predicts.names, shares, tuple(end for _, end in read.offsets))
