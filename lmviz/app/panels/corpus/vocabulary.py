"""The vocabulary: every token with its rank, count and share; Zipf's curve; how long documents are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QLineEdit, QWidget

from lmviz.app.panels.corpus.side_picker import SidePicker
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, sheet
from lmviz.app.widgets.base.figures import count, percentage
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.plots.histogram import Histogram
from lmviz.app.widgets.plots.log_log_plot import LogLogPlot
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.inspection.recipes.text import settings_of, vocabulary_recipe
from lmviz.looks.columns import Column
from lmviz.looks.names import Names
from lmviz.text.tag_counts import tag_counts
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.text.corpus import Corpus

TABLE = 120  # pixels that the table keeps above the curves
NOTHING = "The tokens of an open text are listed here, the most frequent first. Choose one from the list."
WHAT = {
    "next-token": "documents",
    "tagging": "sentences",
    "classification": "texts",
    "translation": "sources",
    "captioning": "pictures",
}


class VocabularyPanel(Panel):
    """A table that sorts and filters, and two curves; a point on the curve finds its word.

    Of tagged text the table says in place of the share how often a word has each tag.
    """

    gives_way = 33  # a large text has many words, and the other panels show it as well

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        session.text.offer_changed.connect(self.need_changed)
        self._filter = named(QLineEdit(), "vocabulary_filter", "filter the vocabulary", role="search")
        self._filter.setPlaceholderText("filter…")
        self._filter.setClearButtonEnabled(True)
        self._table = named(TableView(), description="vocabulary")
        self._table.setMinimumHeight(TABLE)
        self._plot = LogLogPlot("rank", "count")
        self._lengths = Histogram("documents", "tokens")
        self._length_title = Label(role="title")
        self._side = SidePicker("vocabulary_side")
        self._side.activated.connect(lambda _: self.refresh_soon())
        self._ranks = Label("Rank and frequency", role="title")
        aside = FittingRow((self._side, self._filter), ())
        self._card = self.add_card("Vocabulary", aside, self._lay_out())
        self._filter.textChanged.connect(self._table.set_filter)
        self._plot.part_clicked.connect(self._show_row)
        self._table.row_clicked.connect(self._plot.set_current)
        self.follow(session.text.changed)

    def _lay_out(self) -> QWidget:
        curves = (self._ranks, (self._plot, 5), self._length_title, (self._lengths, 3))
        return sheet(column((self._table, 4), *curves))

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The table as texts (rank, 2): token and count, the most frequent first."""
        corpus = self.session.text.corpus
        if corpus is None:
            return {}
        statistics, tokens = corpus.statistics(self._side.side), corpus.tokenizer_of(self._side.side).tokens()
        counted = zip(statistics.by_rank, statistics.rank_frequency, strict=True)
        return {"vocabulary": np.array([(tokens[id], str(times)) for id, times in counted], dtype=np.str_)}

    def exported_names(self) -> Names:
        return Names(columns=("token", "count"))

    def recipe(self) -> str:
        corpus = self.session.text.corpus
        if corpus is None or not corpus.sources:
            return ""
        return vocabulary_recipe(corpus.sources, settings_of(corpus), self._side.side)

    @property
    def is_needed(self) -> bool:
        return self.session.text.offer is None

    def refresh(self) -> None:
        corpus = self.session.text.corpus
        self._filter.setEnabled(corpus is not None)
        self._card.set_placeholder(NOTHING if corpus is None else "")
        if corpus is None:
            return
        self._side.offer(corpus)
        part = " in training" if len(corpus.validation_documents) else ""
        self._ranks.setText(f"Rank and frequency{part}")
        self._show_table(corpus)
        self._show_lengths(corpus)

    def _show_table(self, corpus: Corpus) -> None:
        side = self._side.side
        statistics, tokenizer = corpus.statistics(side), corpus.tokenizer_of(side)
        tokens = tokenizer.tokens()
        names = [visible(tokens[index]) for index in statistics.by_rank]
        is_tagged = corpus.task == "tagging"
        self._table.set_columns(
            [
                Column("#", np.arange(1, len(names) + 1), count, spare=is_tagged),
                Column(tokenizer.noun, names, tokens=True),
                Column("count", statistics.rank_frequency, count),
                Column("tags", _tags_by_rank(corpus))
                if is_tagged
                else Column("share", statistics.rank_share, percentage, spare=True),
            ]
        )
        self._plot.set_values(statistics.rank_frequency, names)

    def _show_lengths(self, corpus: Corpus) -> None:
        edges, counts = corpus.statistics(self._side.side).length_histogram()
        several = corpus.marks_boundaries or corpus.training_examples is not None
        documents = len(corpus.training_documents)
        what = "targets" if self._side.side == "target" else WHAT[corpus.task]
        part = "training " if len(corpus.validation_documents) else ""
        self._length_title.setText(f"Lengths of {count(documents)} {part}{what}")
        for widget in (self._length_title, self._lengths):
            widget.setVisible(several)
        self._lengths.set_columns(edges, counts)

    def _show_row(self, rank: int) -> None:
        self._filter.clear()
        self._table.set_current(rank)
        self._plot.set_current(rank)


def _tags_by_rank(corpus: Corpus) -> list[str]:
    """The tags of each word with how often it has them, the most frequent word first."""
    assert corpus.training_examples is not None, "tagged text has examples"
    found = tag_counts(corpus.training_examples, len(corpus.labels))
    return [
        " · ".join(f"{corpus.labels[label]} {count(times)}" for label, times in found[int(id)])
        for id in corpus.statistics().by_rank
    ]
