"""The parts of a picture of a whole model, as values: lines, marks on the stream, and blocks of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lmviz.app.widgets.kit.picture import Miniature


@dataclass(frozen=True, eq=False)
class ModelLine:
    """A row of miniatures side by side; `role` is "query", "key", "value" or "", and colours the name."""

    key: str
    name: str
    miniatures: tuple[Miniature, ...]
    role: str = ""

    @property
    def is_square(self) -> bool:
        """Whether its miniatures have rows as well as columns."""
        return any(miniature.values.shape[0] > 1 for miniature in self.miniatures)


@dataclass(frozen=True, eq=False)
class StreamMark:
    """A place of the stream: its strip, and the word that the model would say if it stopped here.

    `share` is that word's probability; `is_sum` where a block adds to the stream rather than replacing it.
    """

    key: str
    miniature: Miniature
    word: str
    share: float
    is_sum: bool = False


@dataclass(frozen=True, eq=False)
class ModelBlock:
    """A layer, and `summary`, its rows when it is folded.

    `notes` (label, word, figure) stand beside it, under `notes_title`; the word is a token where there is a
    label. `where` is said after the title while it is open, where there is room.
    """

    ADDS: ClassVar[str] = "adds"
    """The name of the lines that are added to the stream."""

    key: str
    title: str
    parts: tuple[ModelLine | StreamMark, ...]
    summary: tuple[tuple[ModelLine, ...], ...]
    notes: tuple[tuple[str, str, str], ...] = ()
    notes_title: str = ""
    where: str = ""

    @property
    def is_residual(self) -> bool:
        """Whether the stream passes it by."""
        return any(isinstance(part, StreamMark) for part in self.parts)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its parts."""
        return tuple(part.key for part in self.parts)


ModelPart = ModelLine | StreamMark | ModelBlock
