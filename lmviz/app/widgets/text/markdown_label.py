"""The Markdown of a lesson. It loads nothing by itself, and its links lead nowhere.

HTML in it is shown as it is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QRectF, QSize, QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFontMetricsF,
    QImage,
    QPaintEvent,
    QPalette,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFragment,
    QTextImageFormat,
    QTextLength,
    QTextOption,
)

from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.workers.delivery import deliver_to
from lmviz.app.workers.pictures import Found, read_pictures

MOST = 10_000
"""Characters that are set: Qt takes minutes for a table of 30,000 rows."""

USUAL, LEAST = 60, 16
"""Characters of a line that has the room it wants, and of the narrowest."""

FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
WHOLE = QTextLength(QTextLength.Type.PercentageLength, 100)
RESTYLED = (QEvent.Type.FontChange, QEvent.Type.StyleChange)


class UnlinkedDocument(QTextDocument):
    """A document that loads nothing by itself."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """Nothing: Qt would read any file that a text names."""
        return None


class MarkdownLabel(Painted, Label):
    """`MarkdownLabel(name)`: `setText(markdown)`; `set_folder(folder)` before it.

    Pictures are those that lie in the folder. Where one may not be shown, a sentence stands in its place.
    """

    def __init__(self, name: str) -> None:
        self._folder: Path | None = None
        self._found: Found = {}
        self._asked: tuple[str, ...] = ()
        self._document = UnlinkedDocument()
        self._document.setDocumentMargin(0)
        wrapping = QTextOption()
        wrapping.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._document.setDefaultTextOption(wrapping)
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
        text, document = self.text(), self._document
        document.setDefaultFont(self.font())
        document.setMarkdown(text if len(text) <= MOST else f"{text[:MOST]} …", FEATURES)
        wanted = tuple(dict.fromkeys(filter(None, map(_picture_in, _fragments(document)))))
        for fragment in reversed([*_fragments(document)]):
            self._settle(fragment)
        _wrap_code(document)
        self.setAccessibleName(self.shown)
        self.updateGeometry()
        self.update()
        if wanted and wanted != self._asked:
            self._asked = wanted
            read_pictures(wanted, self._folder, deliver_to(self._take))

    def _settle(self, fragment: QTextFragment) -> None:
        """Put a picture, or why there is none, in its place, and the address of a link behind its words."""
        cursor = QTextCursor(self._document)
        cursor.setPosition(fragment.position())
        cursor.setPosition(fragment.position() + fragment.length(), QTextCursor.MoveMode.KeepAnchor)
        words = QTextCharFormat()
        if name := _picture_in(fragment):
            found = self._found.get(name, "…")
            if isinstance(found, QImage):
                picture = QTextImageFormat()
                picture.setName(f"picture:{fragment.position()}")
                picture.setMaximumWidth(WHOLE)
                kind = QTextDocument.ResourceType.ImageResource
                self._document.addResource(kind, QUrl(picture.name()), found)
                cursor.insertImage(picture)
            else:
                words.setFontItalic(True)
                cursor.insertText(found, words)
        elif address := fragment.charFormat().anchorHref():
            is_said = address == fragment.text()
            cursor.insertText(fragment.text() if is_said else f"{fragment.text()} ({address})", words)

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


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def _fragments(document: QTextDocument) -> Iterator[QTextFragment]:
    for block in _blocks(document):
        fragments = block.begin()
        while not fragments.atEnd():
            yield fragments.fragment()
            fragments += 1


def _picture_in(fragment: QTextFragment) -> str:
    """The name of the picture that a fragment is; none where it is words."""
    look = fragment.charFormat()
    return (look.toImageFormat().name() or " ") if look.isImageFormat() else ""


def _wrap_code(document: QTextDocument) -> None:
    """Have lines of code wrap as all others do: what is beyond the edge could not be read."""
    for block in _blocks(document):
        look = block.blockFormat()
        if look.nonBreakableLines():
            look.setNonBreakableLines(False)
            QTextCursor(block).setBlockFormat(look)
