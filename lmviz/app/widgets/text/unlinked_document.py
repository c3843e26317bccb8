"""Markdown as a document in which no word of a stranger names a file for Qt to look at.

Qt loads each picture that a text names, while it lays the text out: a FIFO stops the window for ever, and on
a sharp screen Qt looks first for `name@2x`, wherever that may be. So pictures are replaced before a document
is laid out, and what Qt then still asks for is a clear picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QFont,
    QImage,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextImageFormat,
    QTextLength,
    QTextOption,
)

from lmviz.app.workers.overrides import clear_picture
from lmviz.base.plain_text import seen

MOST = 10_000
"""Characters that are set: Qt takes minutes for a table of 30,000 rows."""

MOST_CELLS = 1000
"""Cells of tables, each of which Qt lays out several times."""

FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
WHOLE = QTextLength(QTextLength.Type.PercentageLength, 100)
IMAGE = QTextDocument.ResourceType.ImageResource

Brought = Callable[[str], QImage | str]
"""What stands for the picture of a name: the picture, or words."""


CLEAR = clear_picture()


class UnlinkedDocument(QTextDocument):
    """A document that shows plain words, or what `markdown_document` makes of Markdown."""

    def __init__(self, font: QFont) -> None:
        super().__init__()
        self.setDocumentMargin(0)
        wrapping = QTextOption()
        wrapping.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setDefaultTextOption(wrapping)
        self.setDefaultFont(font)

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        """A clear picture: in place of nothing, Qt would load the file of this name."""
        return CLEAR if kind == IMAGE.value else None


def markdown_document(
    text: str, font: QFont, picture: Brought, *, says_addresses: bool = True, most: int = MOST
) -> UnlinkedDocument:
    """A document of at most so many characters of Markdown, with HTML as it is written.

    `picture(name)` stands in the place of each picture, and the address of a link behind its words where
    `says_addresses`.
    """
    document = UnlinkedDocument(font)
    document.setMarkdown(_cut(seen(text), most), FEATURES)
    cursor = QTextCursor(document)
    cursor.beginEditBlock()  # or the cursor has the document laid out where it stands
    for part in reversed([*_parts(document)]):  # from the end, so that places stay what they are
        cursor.setPosition(part.begin)
        cursor.setPosition(part.end, QTextCursor.MoveMode.KeepAnchor)
        if part.picture is not None:
            _put(picture(part.picture), cursor)
        elif says_addresses and part.address:
            is_said = part.address == part.words
            cursor.insertText(part.words if is_said else f"{part.words} ({part.address})", QTextCharFormat())
    cursor.endEditBlock()
    _wrap_code(document)
    return document


def _cut(text: str, most: int) -> str:
    """The text, or as much of it as Qt can set while somebody waits."""
    cells = text[:most].split("|", MOST_CELLS)
    length = most if len(cells) <= MOST_CELLS else min(most, len(text[:most]) - len(cells[-1]))
    return text if len(text) <= length else f"{text[:length]} …"


class _Part(NamedTuple):
    """Words of one look in a document: where they stand, the picture that they are, where they lead.

    A fragment of Qt's is one only until the document is changed.
    """

    begin: int
    end: int
    words: str
    picture: str | None
    address: str


def _put(found: QImage | str, cursor: QTextCursor) -> None:
    """Put what was brought in the place of a picture."""
    if isinstance(found, QImage):
        brought = QTextImageFormat()
        brought.setName(f"picture:{cursor.selectionStart()}")
        brought.setMaximumWidth(WHOLE)
        cursor.document().addResource(IMAGE, QUrl(brought.name()), found)
        cursor.insertImage(brought)
    else:
        words = QTextCharFormat()
        words.setFontItalic(True)
        cursor.insertText(found, words)


def _parts(document: QTextDocument) -> Iterator[_Part]:
    for block in _blocks(document):
        fragments = block.begin()
        while not fragments.atEnd():
            fragment = fragments.fragment()
            look = fragment.charFormat()
            name = (look.toImageFormat().name() or " ") if look.isImageFormat() else None
            begin = fragment.position()
            end = begin + fragment.length()  # of UTF-16
            yield _Part(begin, end, fragment.text(), name, look.anchorHref())
            fragments += 1


def _blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def _wrap_code(document: QTextDocument) -> None:
    """Have lines of code wrap as all others do: what is beyond the edge could not be read."""
    for block in _blocks(document):
        look = block.blockFormat()
        if look.nonBreakableLines():
            look.setNonBreakableLines(False)
            QTextCursor(block).setBlockFormat(look)
