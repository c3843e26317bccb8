"""Pages to be handed out: words, questions, room to write, and drawings of widgets, as PDF or HTML.

Drawings stay vectors in both: lines and letters, which no printer makes coarse.
"""

from __future__ import annotations

import base64
import html
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPointF, QRectF
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QPen,
    QPicture,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QApplication,
    QCheckBox,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from lmviz.app.widgets.base.export import paint_clipped, svg_of
from lmviz.app.widgets.text.pdf_catalog import with_language
from lmviz.app.widgets.text.unlinked_document import UnlinkedDocument, markdown_document
from lmviz.base.errors import LmvizError
from lmviz.base.files import write_atomically
from lmviz.base.plain_text import on_one_line, seen
from lmviz.pages.frame import in_frame

PAGE = QRectF(0, 0, 595, 842)  # points: A4
MARGIN, FOOT = 52.0, 26.0
BODY, HEADING, TITLE, SMALL = 11, 15, 22, 9  # sizes of type, in points
GAP, LINE = 9.0, 24.0  # points between blocks, and between lines to write on
HIGHEST = 0.32  # of a page, of a row of drawings
LARGEST = 0.6  # points for a pixel of a drawing: its type is then as large as that of the text
BETWEEN = 10.0  # points between two drawings side by side
WIDEST = 3.2  # times its height, of a row of drawings: what is wider has a row of its own
RESOLUTION = 600  # dots per inch, to which places are rounded
INK, FAINT, RULE = QColor(20, 20, 20), QColor(110, 110, 110), QColor(170, 170, 170)
LONGEST = 20_000  # characters of one text
OWN_LANGUAGE = "en"  # of what lmviz writes

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1em; color: #141414 }
h2 { margin-top: 2.2em } figure { margin: 1em 0 } figcaption { font-size: .8em; color: #555 }
.drawings { display: flex; align-items: flex-start; gap: 1em; margin-bottom: .6em }
.drawings img { min-width: 0; width: 100%; height: auto }
.question { font-weight: bold } ul { list-style: none; padding-left: 0 }
.line { border-bottom: 1px solid #aaa; height: 2.2em }
@media (max-width: 36em) { .drawings { flex-direction: column } }
@media screen { .in-print { display: none } }
@page { margin: 16mm } @media print { .on-screen { display: none }
body { font-size: 10.5pt; max-width: none; margin: 0; padding: 0 } h1 { margin-top: 0 }
h2 { margin-top: 1.4em } h2, .question { break-after: avoid } section, figure { break-inside: avoid } }
"""
LINE_TO_WRITE_ON = '<div class="line"></div>'


@dataclass(frozen=True)
class PrintedDrawing:
    """What a widget shows, `width` by `height` pixels, as a picture to play, as SVG, and said in words."""

    picture: QPicture
    svg: bytes
    width: float
    height: float
    said: str = ""

    @property
    def aspect(self) -> float:
        """Its width, as many times its height."""
        return self.width / max(self.height, 1)

    @classmethod
    def of(cls, widget: QWidget, said: str = "") -> PrintedDrawing:
        """What a widget shows now, without what only a screen has a use for: buttons, sliders, scroll bars,
        and lines in which nothing is typed. `said` is for those who do not see it."""
        picture, without = QPicture(), _of_no_use_on_paper(widget)
        with QPainter(picture) as painter:
            paint_clipped(widget, painter, without)
        return cls(picture, svg_of(widget, without), widget.width(), widget.height(), said)


def _of_no_use_on_paper(widget: QWidget) -> list[QWidget]:
    """The controls within a widget that say nothing of what it shows, as boxes that are ticked do."""
    found: list[QWidget] = [
        each
        for each in widget.findChildren(QAbstractButton)
        if not isinstance(each, QCheckBox | QRadioButton)
    ]
    found += widget.findChildren(QAbstractSlider)
    return found + [line for line in widget.findChildren(QLineEdit) if not line.text()]


@dataclass(frozen=True)
class PrintedPart:
    """One item: `words` in Markdown, drawings, `tasks` and `choices` with boxes, and lines to write on.

    `answer` and why it is so, `because`, are for a sheet that no student gets.
    `language` is that of the words, tasks, question and choices, where it is another than that of the title.
    `live` is the HTML of a page with what the drawings show, which takes their place on a screen, "" without.
    """

    title: str
    words: str = ""
    drawings: tuple[PrintedDrawing, ...] = ()
    caption: str = ""
    tasks: tuple[str, ...] = ()
    question: str = ""
    choices: tuple[str, ...] = ()
    lines: int = 0
    language: str = ""
    live: str = ""
    answer: str = ""
    because: str = ""


@dataclass(frozen=True)
class Printed:
    """All of it, with its title, a sentence that says what it is about, and the tag of its language.

    Drawings and their captions are lmviz's own, and English.
    """

    title: str
    about: str
    parts: tuple[PrintedPart, ...]
    language: str = OWN_LANGUAGE


def write_printed(printed: Printed, path: Path) -> None:
    """Write a PDF or HTML file, by its ending; LmvizError for another, or where it cannot be written."""
    writers = {".pdf": _pdf, ".html": _html}
    if path.suffix.lower() not in writers:
        raise LmvizError(f"{path.name} is neither PDF nor HTML: end the name with .pdf or .html.")
    write_atomically(path, writers[path.suffix.lower()](printed))


def _pdf(printed: Printed) -> bytes:
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setTitle(on_one_line(printed.title))
    writer.setCreator("lmviz")
    writer.setDocumentXmpMetadata(_about_itself(printed))
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    writer.setResolution(RESOLUTION)
    with QPainter(writer) as painter:
        painter.scale(RESOLUTION / 72, RESOLUTION / 72)
        paint_pages(printed, painter, writer.newPage)
    return with_language(bytes(content.data()), printed.language)


def _about_itself(printed: Printed) -> bytes:
    """What a PDF says of itself as XMP, ISO 16684-1."""
    title = html.escape(on_one_line(printed.title))
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n<x:xmpmeta xmlns:x="adobe:ns:meta/">\n'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n'
        '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
        f'<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{title}</rdf:li></rdf:Alt></dc:title>\n'
        f"<dc:language><rdf:Bag><rdf:li>{printed.language}</rdf:li></rdf:Bag></dc:language>\n"
        '</rdf:Description>\n</rdf:RDF>\n</x:xmpmeta>\n<?xpacket end="r"?>'
    ).encode()


def paint_pages(printed: Printed, painter: QPainter, new_page: Callable[[], object]) -> None:
    """Paint every page, in points; `new_page` is called between two."""
    pages = _Pages(painter, new_page, on_one_line(printed.title))
    pages.add([_Words(printed.title, TITLE, bold=True), _Words(printed.about, BODY, color=FAINT)])
    for part in printed.parts:
        pages.gap(GAP)
        for blocks in _groups(part):
            pages.add(blocks)
    pages.end()


def _groups(part: PrintedPart) -> Iterator[list[_Block]]:
    """What stays together on a page: the title with drawings and caption, and a question with its room."""
    told: list[_Block]
    rows: list[_Block] = [_Drawings(row) for row in _rows(part.drawings)]
    caption: list[_Block] = [_Words(part.caption, SMALL, color=FAINT)] if part.caption else []
    words: list[_Block] = [_Words(part.words, BODY, markdown=True)] if part.words else []
    asked: list[_Block] = [_Words(part.question, BODY, bold=True)] if part.question else []
    asked += [*map(_Boxed, part.choices), *(_Line() for _ in range(part.lines))]
    asked += [_Words(part.answer, BODY)] if part.answer else []
    asked += [_Words(part.because, BODY, color=FAINT)] if part.because else []
    told = [*words, *map(_Boxed, part.tasks)]
    first = [_Words(part.title, HEADING, bold=True), *rows, *caption]
    if len(first) == 1:
        first += told[:1] or asked
        asked, told = asked if told else [], told[1:]
    yield first
    yield from ([block] for block in told)
    if asked:
        yield asked


def _rows(drawings: Sequence[PrintedDrawing]) -> list[list[PrintedDrawing]]:
    """What stands side by side: as many as can still be read."""
    rows: list[list[PrintedDrawing]] = []
    for each in drawings:
        if rows and sum(other.aspect for other in rows[-1]) + each.aspect <= WIDEST:
            rows[-1].append(each)
        else:
            rows.append([each])
    return rows


class _Block(ABC):
    """Something on a page that is not parted."""

    @abstractmethod
    def height(self, width: float) -> float:
        """Points that it takes, where it has so much width."""

    @abstractmethod
    def paint(self, painter: QPainter, width: float) -> None:
        """Paint it with its top left corner at (0, 0)."""


class _Words(_Block):
    def __init__(
        self, text: str, size: int, *, bold: bool = False, color: QColor = INK, markdown: bool = False
    ) -> None:
        self._document, self._color = _document(text, size, bold=bold, markdown=markdown), color

    def height(self, width: float) -> float:
        self._document.setTextWidth(width)
        return self._document.size().height()

    def paint(self, painter: QPainter, width: float) -> None:
        self._document.setTextWidth(width)
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.Text, self._color)
        context.palette = palette
        self._document.documentLayout().draw(painter, context)


class _Boxed(_Block):
    """A box to be ticked, and words behind it."""

    SIDE, INDENT = 9.0, 18.0

    def __init__(self, text: str) -> None:
        self._words = _Words(text, BODY)

    def height(self, width: float) -> float:
        return self._words.height(width - self.INDENT)

    def paint(self, painter: QPainter, width: float) -> None:
        painter.setPen(QPen(FAINT, 0.8))
        painter.drawRect(QRectF(0.5, 2.5, self.SIDE, self.SIDE))
        painter.translate(self.INDENT, 0)
        self._words.paint(painter, width - self.INDENT)


class _Line(_Block):
    def height(self, width: float) -> float:
        return LINE

    def paint(self, painter: QPainter, width: float) -> None:
        painter.setPen(QPen(RULE, 0.6))
        painter.drawLine(QPointF(0, LINE - 3), QPointF(width, LINE - 3))


class _Drawings(_Block):
    """Drawings side by side, equally high, within a part of the page; frames are as wide as the text."""

    def __init__(self, drawings: Sequence[PrintedDrawing]) -> None:
        self._drawings = tuple(drawings)

    def height(self, width: float) -> float:
        room = width - BETWEEN * (len(self._drawings) - 1)
        high = room / sum(each.aspect for each in self._drawings)
        return min(high, HIGHEST * PAGE.height(), LARGEST * max(each.height for each in self._drawings))

    def paint(self, painter: QPainter, width: float) -> None:
        high, many = self.height(width), len(self._drawings)
        drawn = high * sum(each.aspect for each in self._drawings) + BETWEEN * (many - 1)
        beside = max(0.0, width - drawn) / many
        for each in self._drawings:
            scale = high / max(each.height, 1)
            finer = painter.device().logicalDpiX() / each.picture.logicalDpiX()  # Qt plays it as much larger
            painter.save()
            painter.translate(beside / 2, 0)
            painter.scale(scale / finer, scale / finer)
            painter.drawPicture(0, 0, each.picture)
            painter.restore()
            frame = QRectF(0, 0, each.width * scale + beside, high)
            painter.setPen(QPen(RULE, 0.5))
            painter.drawRect(frame)
            painter.translate(frame.width() + BETWEEN, 0)


class _Pages:
    """Puts blocks below one another, on as many pages as they take."""

    def __init__(self, painter: QPainter, new_page: Callable[[], object], title: str) -> None:
        self._painter, self._new_page, self._title = painter, new_page, title
        self._width = PAGE.width() - 2 * MARGIN
        self._bottom = PAGE.height() - MARGIN
        self._place, self._number = MARGIN, 1

    def gap(self, length: float) -> None:
        """Leave room."""
        self._place += length

    def add(self, blocks: Sequence[_Block]) -> None:
        """Put blocks on a page, all on the same one where one holds them."""
        high = sum(block.height(self._width) + GAP for block in blocks) - GAP
        if self._place + high > self._bottom and self._place > MARGIN:
            self._turn()
        for block in blocks:
            high = block.height(self._width)
            if self._place + high > self._bottom and self._place > MARGIN:
                self._turn()
            self._painter.save()
            self._painter.translate(MARGIN, self._place)
            block.paint(self._painter, self._width)
            self._painter.restore()
            self._place += high + (0 if isinstance(block, _Line) else GAP * 0.6)

    def end(self) -> None:
        """Finish the last page."""
        foot = _Words(f"{self._title} · {self._number}", SMALL, color=FAINT)
        self._painter.save()
        self._painter.translate(MARGIN, PAGE.height() - FOOT - SMALL)
        foot.paint(self._painter, self._width)
        self._painter.restore()

    def _turn(self) -> None:
        self.end()
        self._new_page()
        self._place, self._number = MARGIN, self._number + 1


def _document(text: str, size: int, *, bold: bool = False, markdown: bool = False) -> QTextDocument:
    """A text as it is written, or Markdown without its pictures, in a type of so many points."""
    font = QFont(QApplication.font().family())
    font.setPixelSize(size)  # a pixel of these pages is a point
    font.setBold(bold)
    if markdown:
        document = markdown_document(text, font, lambda name: "", says_addresses=False, most=LONGEST)
    else:
        document = UnlinkedDocument(font)
        document.setPlainText(seen(text[:LONGEST]))
    document.setUseDesignMetrics(True)
    return document


def _html(printed: Printed) -> bytes:
    title = html.escape(on_one_line(printed.title))
    about = html.escape(seen(printed.about))
    body = "\n".join(_section(part, printed.language, at) for at, part in enumerate(printed.parts, 1))
    return (
        f'<!DOCTYPE html>\n<html lang="{printed.language}"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>{f'<p>{about}</p>' if about else ''}\n{body}\n</body></html>\n"
    ).encode()


def _section(part: PrintedPart, around: str, number: int) -> str:
    """An item as HTML, between others in the language `around`; what it draws answers the pointer."""
    figure = "".join(f'<div class="drawings">{"".join(map(_img, row))}</div>' for row in _rows(part.drawings))
    if part.live:
        id = f"drawn-{number}"
        live = in_frame(id, on_one_line(part.title), part.live, keeps_print=True)
        figure = f'<div id="{id}">{figure}</div>{live}'
    figure += f"<figcaption>{_said(part.caption)}</figcaption>" if part.caption else ""
    told = [
        _fragment(part.words) if part.words else "",
        _boxes(part.tasks),
        f'<p class="question">{_said(part.question)}</p>' if part.question else "",
        _boxes(part.choices),
        f"<p>{_said(part.answer)}</p>" if part.answer else "",
        f"<p>{_said(part.because)}</p>" if part.because else "",
    ]
    pieces = [
        f"<h2>{_said(part.title)}</h2>",
        f"<figure{_spoken(OWN_LANGUAGE, around)}>{figure}</figure>" if figure else "",
        f"<div{_spoken(part.language or around, around)}>{''.join(told)}</div>" if any(told) else "",
        f'<div class="answer">{LINE_TO_WRITE_ON * part.lines}</div>' if part.lines else "",
    ]
    return f"<section>{''.join(pieces)}</section>"


def _spoken(language: str, around: str) -> str:
    """What a tag says of the language, where it is another than that around it."""
    return "" if language == around else f' lang="{language}"'


def _img(drawing: PrintedDrawing) -> str:
    source = f"data:image/svg+xml;base64,{base64.b64encode(drawing.svg).decode()}"
    said = html.escape(on_one_line(drawing.said))
    style = f"flex: {drawing.aspect:.3f}; max-width: {0.8 * drawing.width:.0f}px"
    return f'<img alt="{said}" style="{style}" src="{source}">'


def _fragment(markdown: str) -> str:
    """Markdown as HTML, as Qt writes it, but without its sizes and colours, and with no links."""
    written = _document(markdown, BODY, markdown=True).toHtml()
    body = re.sub(r"(?s).*<body[^>]*>(.*)</body>.*", r"\1", written)
    for style, tag in (("font-weight:[67]00", "b"), ("font-style:italic", "i")):
        body = re.sub(rf'(?s)<span style="[^"]*{style}[^"]*">(.*?)</span>', rf"<{tag}>\1</{tag}>", body)
    return re.sub(r'(?s)</?a\b[^>]*>| style="[^"]*"', "", body)


def _boxes(words: Sequence[str]) -> str:
    items = "".join(f"<li>☐ {_said(each)}</li>" for each in words)
    return f"<ul>{items}</ul>" if items else ""


def _said(text: str) -> str:
    return html.escape(seen(text[:LONGEST]), quote=False)
