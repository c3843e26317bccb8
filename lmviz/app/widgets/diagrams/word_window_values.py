"""What is drawn of a model over a fixed window of words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmviz.app.widgets.kit.picture import Miniature


@dataclass(frozen=True)
class UnseenWord:
    """A word before the window."""

    key: str
    word: str


@dataclass(frozen=True, eq=False)
class WindowWord:
    """A word in the window: where it stands, its embedding, and what it adds to each unit, (unit,)."""

    key: str
    word: str
    place: str
    embedding: Miniature
    products: np.ndarray


@dataclass(frozen=True, eq=False)
class VotedWord:
    """A likely word, and what each hidden unit adds to its logit."""

    key: str
    word: str
    probability: float
    votes: Miniature


@dataclass(frozen=True, eq=False)
class WindowPicture:
    """All that is drawn. `earlier` words before the unseen ones are only counted.

    `change` is what replacing an unseen word changed most, NaN where there is none. `hidden` (unit,) are the
    units' values, and `layer` what they are called.
    """

    unseen: tuple[UnseenWord, ...] = ()
    earlier: int = 0
    change: float = float("nan")
    words: tuple[WindowWord, ...] = ()
    joined: Miniature | None = None
    hidden: Miniature | None = None
    layer: str = ""
    likely: tuple[VotedWord, ...] = ()
