"""The parts of a picture of a whole model as values, and its rows from top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from PySide6.QtCore import QRectF

from lmviz.app.widgets.kit.picture import Miniature
from lmviz.app.widgets.kit.rows import Extent


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

    `share` is that word's probability.
    """

    key: str
    miniature: Miniature
    word: str
    share: float


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


EXTENTS = {
    "head": Extent(13, 18, 20),
    "line": Extent(8, 17, 44),
    "squares": Extent(20, 80, 180),
    "mark": Extent(12, 21, 50),
    "title": Extent(14, 21, 26),
    "edge": Extent(2, 7, 12),
    "folded": Extent(18, 46, 90),
    "folded line": Extent(0, 17, 24),
    "end": Extent(20, 30, 34),
}
"""Heights of the kinds of rows, in pixels at scale 1."""


@dataclass(frozen=True, eq=False)
class PictureRow:
    """One row of the picture, and what stands in it."""

    kind: str
    part: ModelPart | None = None
    lines: tuple[ModelLine, ...] = ()
    block: ModelBlock | None = None
    area: QRectF = field(default_factory=QRectF)

    @property
    def shown(self) -> tuple[ModelLine, ...]:
        """Its lines, where it shows any: several of a folded block, or one."""
        return self.lines or ((self.part,) if isinstance(self.part, ModelLine) else ())


def listed(parts: Sequence[ModelPart], unfolded: str) -> list[PictureRow]:
    """The rows from top to bottom, without their places; `unfolded` is the key of the open block."""
    if not parts:
        return []
    rows = [PictureRow("head")]
    for part in parts:
        rows += _of_block(part, unfolded) if isinstance(part, ModelBlock) else [_of_part(part)]
    return [*rows, PictureRow("end")]


def _of_block(block: ModelBlock, unfolded: str) -> list[PictureRow]:
    edge = PictureRow("edge", block=block)
    if block.key == unfolded:
        inside = [_of_part(part, block) for part in block.parts]
        return [edge, PictureRow("title", block=block), *inside, edge, PictureRow("edge")]
    inside = []
    for number, lines in enumerate(block.summary):
        is_high = any(line.is_square for line in lines)
        kind = "folded" if is_high else "title" if number == 0 else "folded line"
        inside.append(PictureRow(kind, lines=lines, block=block))
    return [edge, *inside, edge, PictureRow("edge")]


def _of_part(part: ModelLine | StreamMark, block: ModelBlock | None = None) -> PictureRow:
    kind = "mark" if isinstance(part, StreamMark) else "squares" if part.is_square else "line"
    return PictureRow(kind, part, block=block)
