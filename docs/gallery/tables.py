"""Tables: columns that sort and filter, and a pipeline of figures over very many lines."""

from __future__ import annotations

import numpy as np
from gallery import Exhibit, show
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.figures import count, percentage
from lmviz.app.widgets.tables.figure_columns import FigureColumn, FigureLine
from lmviz.app.widgets.tables.figures_table import FiguresTable
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.widgets.tables.tape_list import TapeEntry, TapeList
from lmviz.looks.columns import Column

WORDS = ("king", "queen", "night", "world", "people", "lord", "house", "other", "day", "duke", "rest")
TOKENS = (",", "⏎", ":", ".", "the", "I", "to", "and", "of", "my", "you")
COUNTS = np.array([19846, 18214, 10316, 7885, 5437, 4403, 3923, 3678, 3275, 2746, 2730])
PIPELINE = (
    FigureColumn("token", "token", "token", 90, 2),
    FigureColumn("logit", "logit"),
    FigureColumn("scaled", "÷ 0.80", sources=("logit",)),
    FigureColumn("top_k", "top-k", "mark", sources=("scaled",)),
    FigureColumn("probability", "probability", "bar", 110, 3, sources=("scaled",)),
    FigureColumn("cumulative", "cumulative", sources=("probability",), runs=True),
)


def figures_table() -> QWidget:
    """From logits to probabilities, some of them cut."""

    def line(number: int) -> FigureLine:
        share, cut = 0.299 * 0.8**number, number > 7
        texts = [
            WORDS[number],
            f"{7.65 - number / 3:.2f}",
            f"{9.56 - number / 2.4:.2f}",
            "cut" if cut else "✓",
        ]
        texts += ["", ""] if cut else [percentage(share), f"{0.299 + number / 11:.3f}"]
        return FigureLine(texts, 0 if cut else 0.8**number, cut)

    table = FiguresTable()
    table.set_columns(PIPELINE)
    table.set_lines(len(WORDS), line)
    table.set_marked(1)
    table.set_sorted_by("probability", descending=True)
    return table


def table_view() -> QWidget:
    """A vocabulary with its counts."""
    table = TableView()
    table.set_columns(
        [
            Column("#", np.arange(1, 12)),
            Column("token", TOKENS, tokens=True),
            Column("count", COUNTS, count),
            Column("share", COUNTS / 262_927, percentage, bar=True),
        ]
    )
    table.set_current(4)
    table.set_faded({9, 10})
    return table


def tape_list() -> QWidget:
    """A backward sweep half done."""
    tape = TapeList()
    tape.set_entries(
        [
            TapeEntry("a", "linear", "a", "on"),
            TapeEntry("z", "sigmoid", "z", "on", words="next to pop", is_next=True),
            TapeEntry("b", "linear", "b", "popped", "g β, g z"),
            TapeEntry("ŷ", "softmax", "ŷ", "popped", "g b"),
        ]
    )
    return tape


EXHIBITS = (
    Exhibit("Tape", "4 pushed · 2 popped", tape_list, (320, 150)),
    Exhibit("From logits to a word", "temperature 0.80", figures_table, (620, 380)),
    Exhibit("Vocabulary", "filter…", table_view, (380, 380)),
)

if __name__ == "__main__":
    show(EXHIBITS)
