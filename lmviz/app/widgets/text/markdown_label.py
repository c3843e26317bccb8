"""The Markdown of a lesson. It loads nothing by itself, and its links lead nowhere.

HTML in it is shown as it is written.
"""

from __future__ import annotations

from math import ceil
from pathlib import Path

from PySide6.QtCore import QEvent, QRectF, QSize
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFont,
    QFontMetricsF,
    QImage,
    QPaintEvent,
    QPalette,
)

from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.widgets.text.unlinked_document import UnlinkedDocument, markdown_document
from lmviz.app.workers.delivery import deliver_to
from lmviz.app.workers.pictures import Found, read_pictures

USUAL, LEAST = 60, 16
"""Characters of a line that has the room it wants, and of the narrowest."""

RESTYLED = (QEvent.Type.FontChange, QEvent.Type.StyleChange)


class MarkdownLabel(Painted, Label):
    """`MarkdownLabel(name)`: `setText(markdown)`; `set_folder(folder)` before it.

    Pictures are those that lie in the folder. Where one may not be shown, a sentence stands in its place.
    """

    def __init__(self, name: str) -> None:
        self._folder: Path | None = None
        self._found: Found = {}
        self._asked: tuple[str, ...] = ()
        self._document = UnlinkedDocument(QFont())
        super().__init__()
        self.setObjectName(name)
        self.setWordWrap(True)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        self._found, self._asked = {}, ()
        self._write()

    def set_folder(self, folder: Path | None) -> None:
        """Where the pictures of the next text lie."""
        self._folder = folder

    @property
    def shown(self) -> str:
        """The words as a person reads them; U+FFFC stands for a picture."""
        return self._document.toRawText().replace("\u2029", "\n")

    def _write(self) -> None:
        """Set the text, with the pictures that are known by now."""
        wanted: dict[str, None] = {}

        def brought(name: str) -> QImage | str:
            wanted[name] = None
            return self._found.get(name, "…")

        self._document = markdown_document(self.text(), self.font(), brought)
        self.setAccessibleName(self.shown)
        self.updateGeometry()
        self.update()
        names = tuple(reversed(wanted))  # pictures are settled from the last to the first
        if names and names != self._asked:
            self._asked = names
            read_pictures(names, self._folder, deliver_to(self._take))

    def _take(self, found: Found) -> None:
        if tuple(found) == self._asked:  # of this text, and not of the one before
            self._found = found
            self._write()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in RESTYLED and self._document.defaultFont() != self.font():
            self._document.setDefaultFont(self.font())
            self.updateGeometry()

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        self._document.setTextWidth(max(1, width))
        return ceil(self._document.size().height())

    def sizeHint(self) -> QSize:
        self._document.setTextWidth(-1)
        width = ceil(min(self._document.idealWidth(), self._width_of(USUAL)))
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        self._document.setTextWidth(-1)
        width = ceil(min(self._document.idealWidth(), self._width_of(LEAST)))
        return QSize(width, ceil(QFontMetricsF(self.font()).height()) if self.text() else 0)

    def _width_of(self, characters: int) -> float:
        return characters * QFontMetricsF(self.font()).averageCharWidth()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self._document.setTextWidth(self.width())
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = self.palette()
        palette.setColor(QPalette.ColorRole.Text, palette.color(self.foregroundRole()))
        context.palette = palette
        above = max(0, (self.height() - self._document.size().height()) // 2)  # in the middle, as in a QLabel
        painter.translate(0, above)
        context.clip = QRectF(event.rect()).translated(0, -above)
        self._document.documentLayout().draw(painter, context)
