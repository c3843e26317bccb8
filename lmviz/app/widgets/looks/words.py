"""Words of a look in a label."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import InkedLabel, paragraph
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.looks.parts import OneLine, Words

CENTRED = Qt.AlignmentFlag.AlignCenter
USUAL = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class WordsDrawing(PartDrawing[Words, InkedLabel]):
    """A label of several lines."""

    def make(self, part: Words, inner: Sequence[QWidget]) -> InkedLabel:
        return InkedLabel(wraps=True)

    def put(self, part: Words) -> None:
        if isinstance(part.text, str):
            self.widget.setText(part.text)
        else:
            self.widget.set_pieces(part.text)
        self.widget.setAlignment(CENTRED if part.centred else USUAL)
        if part.says:
            self.widget.setAccessibleName(part.says)
        self.widget.setToolTip(paragraph(part.tip))
        set_role(self.widget, part.role)


class OneLineDrawing(PartDrawing[OneLine, MutedLine]):
    """A muted line."""

    def make(self, part: OneLine, inner: Sequence[QWidget]) -> MutedLine:
        return MutedLine()

    def put(self, part: OneLine) -> None:
        self.widget.set_text(part.text)
