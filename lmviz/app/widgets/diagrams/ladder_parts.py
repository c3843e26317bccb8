"""The parts of a picture of back-off, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LadderBar:
    """A word that followed a context: how often it was counted, and what is taken from that count."""

    key: str
    word: str
    count: float
    discount: float


@dataclass(frozen=True)
class LadderRung:
    """One order. `context` are its words, oldest first; `why_not` says why it has counted nothing.

    Of the `arriving` share it keeps `share`, and `falling` goes on. `slots` is the length of a whole context.
    """

    order: int
    slots: int
    context: tuple[str, ...]
    why_not: str
    bars: tuple[LadderBar, ...]
    total: float
    kinds: int
    arriving: float
    share: float
    falling: float


@dataclass(frozen=True)
class MixtureWord:
    """A likely word: its probability, and the `parts` of it that come from each rung and from the ground."""

    key: str
    word: str
    probability: float
    parts: tuple[float, ...]
    is_marked: bool = False


@dataclass(frozen=True)
class MixtureColumn:
    """A position of the text: the longest order whose context was seen, and the share of each order."""

    key: str
    word: str
    longest: int
    parts: tuple[float, ...]


@dataclass(frozen=True)
class LadderPicture:
    """All that is drawn: `ground` is (sentence, share), what is left for all words alike.

    `counted` says what the bars count.
    """

    rungs: tuple[LadderRung, ...] = ()
    ground: tuple[str, float] = ("", 0.0)
    words: tuple[MixtureWord, ...] = ()
    columns: tuple[MixtureColumn, ...] = ()
    counted: str = ""
