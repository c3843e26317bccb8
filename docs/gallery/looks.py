"""Looks: a card that draws a value, and what can be part of it."""

from __future__ import annotations

import numpy as np
from gallery import Exhibit, show
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.looks.look_card import LookCard
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Inked
from lmviz.looks.label_row import LabelRow, TableLabel
from lmviz.looks.look import Look
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.looks.parts import (
    Bars,
    Button,
    CurveNames,
    Curves,
    Labels,
    LookPart,
    Matrix,
    Occurrences,
    OneLine,
    Picker,
    SideBySide,
    Space,
    Stacked,
    Table,
    WordCurves,
    Words,
)
from lmviz.looks.word_curve import WordCurve

WORDS = ("the", "cows", "eat")
STEPS = np.arange(1, 60)


def card(title: str, *parts: LookPart, aside: str = "", head: tuple[LookPart, ...] = ()) -> QWidget:
    """A card with some parts."""
    drawn = LookCard(title, lambda: "word")
    drawn.show_look(Look(parts, aside=aside, head=head))
    return drawn


def words_and_matrix() -> QWidget:
    """A sentence in inks over cells with words, one column outlined."""
    said = (Inked("“eat”", is_bold=True, ink="accent"), Inked(" is the likeliest word from layer 2 on."))
    shares = np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.8]])
    grid = Matrix(
        says="shares",
        share=1,
        values=shares,
        scale="share",
        limit=1.0,
        rows=("1", "2"),
        columns=WORDS,
        words=(("cows", "and", "the"), ("cows", "eat", "grass")),
        column=2,
        stairs=(1, 1, 1),
        stairs_mean="from here on it is the final word",
    )
    return card("Words and a matrix", Words(text=said), grid, aside="probability")


def curves() -> QWidget:
    """A curve beside words and a button."""
    plot = Curves(says="loss", curves=[PlotCurve("loss", STEPS, 4 / np.sqrt(STEPS))], cursor=30.0)
    said = Stacked(parts=(Space(), Words(text="It falls.", role="muted"), Button(text="Again"), Space()))
    return card("A curve", SideBySide(first=plot, second=said, shares=(3, 1)))


def bars_and_table() -> QWidget:
    """Bars, a table, and a choice in the head."""
    shares = np.array([0.5, 0.3, 0.2])
    bars = Bars(says="shares", labels=WORDS, values=shares, current=1)
    table = Table(
        says="counts", columns=[Column("word", WORDS, tokens=True), Column("share", shares)], share=1
    )
    which = Picker("gallery_choice", says="which", choices=("here", "there"))
    return card("Bars and a table", bars, table, head=(which,))


def word_curves() -> QWidget:
    """Curves over words, with their names, and a line below."""
    bits = np.array([6.2, 13.4, 8.3])
    drawn = (WordCurve("5-gram", 4, bits), WordCurve("LSTM", 1, bits * 0.8, turn=1))
    plot = WordCurves(says="surprisal", share=1, words=WORDS, curves=drawn, below=bits / 13, current=1)
    return card("Bits", plot, OneLine(text="in bits"), head=(CurveNames(curves=drawn),))


def occurrences() -> QWidget:
    """Places in a text."""
    lines = [OccurrenceLine("in the yard", "cows eat", "corn", "at night")] * 3
    return card("Places", Occurrences(says="places", share=1, lines=lines))


def labels() -> QWidget:
    """Labels of a model under words."""
    row = LabelRow("tagger", 1, tuple(TableLabel(label, 0.8) for label in ("d", "n", "v")))
    return card("Labels", Labels(says="labels", share=1, words=WORDS, rows=(row,), current=1))


EXHIBITS = (
    Exhibit("Words and a matrix", "", words_and_matrix, (420, 220)),
    Exhibit("A curve", "beside words", curves, (460, 220)),
    Exhibit("Bars and a table", "", bars_and_table, (420, 300)),
    Exhibit("Occurrences", "", occurrences, (420, 160)),
    Exhibit("Labels", "", labels, (320, 160)),
    Exhibit("Word curves", "", word_curves, (420, 220)),
)

if __name__ == "__main__":
    show(EXHIBITS)
