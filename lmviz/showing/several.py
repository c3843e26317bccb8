"""ResultList results of one question: a list with one for each text, a dictionary with one for each step."""

from __future__ import annotations

from typing import TypeVar

from lmviz.looks.shown import Shown

One = TypeVar("One")


class ResultList(Shown, list[One]):
    """A list with one result for each text, in their order."""


class ResultsByStep(Shown, dict[int, One]):
    """A dictionary with one result for each step."""
