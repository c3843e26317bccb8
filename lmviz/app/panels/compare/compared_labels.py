"""The labels that several models give one text, under its words, with their disagreements marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.compare.colors import color_of
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel, names_of_compared
from lmviz.app.session.gold import gold_of
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.label_table import LabelRow, LabelTable, TableLabel
from lmviz.base.errors import LmvizError
from lmviz.inspection.recipes.decoding import labels_recipe
from lmviz.looks.names import Names
from lmviz.models.prefix import read_prefix
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("compared labels")


@dataclass(frozen=True, eq=False)
class Labelled:
    """What a model says of a text: `probabilities` (position, label), and where its tokens end.

    For a classifier a position's are those of the text up to there. `sentence` says why there are none.
    """

    names: tuple[str, ...] = ()
    probabilities: np.ndarray | None = None
    ends: tuple[int, ...] = ()
    sentence: str = ""


class ComparedLabelsPanel(Panel):
    """A row for each compared model, a column for each token of the shown one."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._table = LabelTable()
        self._models: tuple[ComparedModel, ...] = ()
        self._found: tuple[Labelled, ...] = ()
        self._words: tuple[str, ...] = ()
        self._text = ""
        self._word_ends: tuple[int, ...] = ()
        self._card = self.add_card("Labels", "", scrolling(self._table))
        self._table.part_clicked.connect(session.focus.choose_position)
        self._table.part_hovered.connect(session.focus.hover_position)
        session.focus.position_changed.connect(self._mark)
        theme_switch().theme_changed.connect(self._draw)
        session.text.changed.connect(self._draw)
        self.follow(
            session.comparison.changed,
            session.reading.encoding_changed,
            session.reading.changed,
            session.work.ready_changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Each model's probabilities (position, label), by its name."""
        pairs = zip(names_of_compared(self._models), self._found, strict=True)
        return {name: item.probabilities for name, item in pairs if item.probabilities is not None}

    def exported_names(self) -> Names:
        return Names(self._words, self._found[0].names if self._found else ())

    def recipe(self) -> str:
        if not any(item.probabilities is not None for item in self._found):
            return ""
        subjects = [model.reads(self._text) for model in self._models]
        return labels_recipe(subjects, self._models[0].model.predicts.per == "text")

    def out_of_place(self, model: OpenedModel) -> str:
        if not model.predicts.continues:
            return ""
        said = f"{model.name} {model.does}: Surprisal compares what it expects."
        return f"{said} Open a tagger or a classifier for labels."

    def refresh(self) -> None:
        models, encoding = self.session.comparison.models, self.session.reading.encoding
        if not models or encoding is None or not len(encoding):
            self.silence(KEY)
            self._models, self._found = (), ()
            self._say("Open or train a tagger or a classifier." if not models else "Type a text above.")
            return
        text = self.session.reading.prefix
        words, ends = tuple(map(visible, encoding.tokens)), tuple(end for _, end in encoding.offsets)

        def take(found: list[Labelled]) -> None:
            self._models, self._found, self._words, self._word_ends = models, tuple(found), words, ends
            self._text = text
            self._draw()

        self.ask(Question(KEY, models, lambda found: [_label(model, text) for model in found]), take)

    def _draw(self) -> None:
        if not self._found:
            return
        refused = [item.sentence for item in self._found if item.sentence]
        if refused:
            self._say(refused[0])
            return
        gold = self._gold()
        shown = zip(names_of_compared(self._models), self._models, self._found, strict=True)
        rows = [
            LabelRow(name, color_of(item.moment), self._labels(found, gold)) for name, item, found in shown
        ]
        self._table.set_rows(self._words, rows, [" or ".join(sorted(right)) for right in gold])
        many, words = len(self._table.disagreements), len(self._words)
        agreeing = f"they disagree at {many} of {words} words" if many else "they agree"
        self._card.set_aside(agreeing if len(rows) > 1 else "")
        per_text = self._models[0].model.predicts.per == "text"
        self._card.set_title("Label of the text up to each word" if per_text else "Tags")
        self._card.set_placeholder("")
        self._mark()

    def _labels(self, found: Labelled, gold: list[frozenset[str]]) -> tuple[TableLabel, ...]:
        """The likeliest label at each word of the shown model."""
        labels = []
        for place, end in enumerate(self._word_ends):
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

    def _gold(self) -> list[frozenset[str]]:
        """The names of what is right at each word, for a text only at its end; empty where none is known."""
        reading = self.session.reading.current
        if reading is None or len(reading.trace) != len(self._words):
            return []
        found = [
            frozenset(map(reading.answer, right)) for right in gold_of(reading, self.session.text.corpus)
        ]
        if found and reading.trace.predicts.per == "text":
            return [frozenset()] * (len(self._words) - 1) + found
        return found

    def _say(self, sentence: str) -> None:
        self._card.set_placeholder(sentence)
        self._card.set_aside("")

    def _mark(self) -> None:
        self._table.set_current(self.session.focus.position)


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
