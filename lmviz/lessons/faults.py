"""What is wrong with a lesson file, and what a lesson asks for that is not there now."""

from __future__ import annotations

from lmviz.base.errors import LmvizError
from lmviz.base.faults import FaultyText


class LessonFault(FaultyText):
    """A text that is no lesson."""


class NotKnown(LmvizError):
    """A value that does not exist now: no model is open, a word is not in the vocabulary, the log of 0."""


class StillComing(NotKnown):
    """A value of which nothing can be said yet: what it is read off is on its way."""
