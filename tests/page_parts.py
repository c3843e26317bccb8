"""A part of a look of each kind, with a word wherever it has one."""

from base64 import b64decode

import numpy as np

from lmviz.looks.answer_column import AnswerColumn
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve
from lmviz.looks.firing import FiringLine
from lmviz.looks.ink import Inked
from lmviz.looks.label_row import LabelRow, TableLabel
from lmviz.looks.live_parts import (
    FixedPicture,
    Frames,
    GraphEdge,
    GraphNode,
    HeadWeights,
    OverText,
    PartsGraph,
    PollQuestion,
    TokenText,
    WhatFollows,
)
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.looks.parts import (
    Answers,
    Bars,
    Curves,
    DotRow,
    Dots,
    Firings,
    Labels,
    LookPart,
    Matrix,
    Occurrences,
    OneLine,
    Points,
    PushedLines,
    Shifts,
    SideBySide,
    Sized,
    Stacked,
    Table,
    WordBars,
    WordCurves,
    Words,
)
from lmviz.looks.pushed import PushedRow
from lmviz.looks.word_curve import WordCurve

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202egnp\u2028'\"&\0"
DOT = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A picture of one pixel, PNG."""

MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3) / 7


def some_of(word: str) -> list[LookPart]:
    """A part of each kind, with a word wherever it has one."""
    matrix = Matrix(values=MATRIX, rows=[word] * 2, columns=[word] * 3, readout=lambda *at: (word, [word]))
    words = Words(text=(Inked(word, True, "accent"), Inked(word)), tip=word)
    curve = PlotCurve(word, [0, 1], [1.0, np.nan], "training")
    weights = np.tril(np.ones((1, 2, 2), dtype=np.float32)) / 2
    column = Column(word, [word, word], tokens=True)
    return [
        Stacked(parts=(words,)),
        SideBySide(first=words, second=OneLine(text=word)),
        words,
        OneLine(text=word),
        matrix,
        Curves(curves=(curve,), x_name=word, marks=((0.5, word),), references=((word, 0.5),)),
        WordCurves(words=[word] * 2, curves=(WordCurve(word, "accent", np.array([np.nan, 1.0])),)),
        Answers(columns=[AnswerColumn(word, 0, np.array([0.5]), [word], word)], prompts=[word], words=[word]),
        WordBars(words=[word] * 2, values=np.array([np.nan, -1.0]), below=[word] * 2),
        Labels(words=[word], rows=[LabelRow(word, 0, (TableLabel(word, 0.5, True),))], gold=[word]),
        Occurrences(lines=[OccurrenceLine(word, word, word, word)]),
        Dots(rows=[DotRow(word, np.array([0.5]), [0])], readout=lambda dot: (word, [])),
        Points(x=np.array([1.0]), y=np.array([2.0]), x_name=word, readout=lambda point: (word, [])),
        Sized(
            values=MATRIX, sizes=MATRIX, rows=[word] * 2, columns=[word] * 3, readout=lambda *at: (word, [])
        ),
        Shifts(labels=[word], before=[0.1], after=[0.2]),
        Table(columns=(column, Column(word, np.array([1.0, 2.0]), write=lambda value: word, bar=True))),
        Bars(labels=[word], values=[0.5], texts=[word], notes=[word]),
        Firings(lines=[FiringLine((word, word), 1, np.array([0.0, 1.0]), word, (word,))]),
        PushedLines(
            heads=(word,) * 5, rows=[PushedRow(label=(word, word), tokens=(word,), pushes=np.array([1.0]))]
        ),
        TokenText(
            tokens=(word, word), values=np.array([np.nan, 3.0]), measure=word, unit=word, ends=(word, word)
        ),
        HeadWeights(tokens=(word, word), weights=weights, places=((0, 0),), of=(1, 1)),
        WhatFollows(
            tokens=(word, word),
            vocabulary=[word] * 3,
            likeliest=np.array([[0, 1], [1, 2]]),
            shares=np.full((2, 2), 0.5),
            places=(0, 1),
            logits=MATRIX,
        ),
        OverText(tokens=(word, word, word), positions=(0, 1, 2), matrix=matrix),
        Frames(title=word, names=[word, word], parts=(words, matrix)),
        PollQuestion(question=word, choices=[("A", word)], right="A", computed=word, because=word),
        PartsGraph(
            nodes=(GraphNode(word, 0, 0, 0.5, said=word), GraphNode(word, 0, 1, -0.5)),
            edges=(GraphEdge(0, 1, 0.5),),
            columns=[word],
            rows=[word, word],
        ),
        FixedPicture(content=DOT, size=(1, 1)),
    ]
