"""The labels that one model gives the words of a text."""

from __future__ import annotations

from dataclasses import dataclass

from lmviz.looks.ink import Ink


@dataclass(frozen=True)
class TableLabel:
    """The likeliest label of a word, "" where there is none, and its probability; `wrong` if known to be."""

    label: str = ""
    probability: float = 0.0
    wrong: bool = False


@dataclass(frozen=True)
class LabelRow:
    """One model: its name, its ink, and its labels, one for each word."""

    name: str
    ink: Ink
    labels: tuple[TableLabel, ...]
