"""What is handed out: words, questions, room to write, and drawings of widgets as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QApplication,
    QCheckBox,
    QLineEdit,
    QRadioButton,
    QWidget,
)

from lmviz.app.widgets.base.export import svg_of
from lmviz.app.widgets.text.unlinked_document import UnlinkedDocument, markdown_document

WIDEST = 3.2  # times its height, of a row of drawings: what is wider has a row of its own
LONGEST = 20_000  # characters of one text
OWN_LANGUAGE = "en"  # of what lmviz writes


@dataclass(frozen=True)
class PrintedDrawing:
    """What a widget shows, `width` by `height` pixels, as SVG, and said in words."""

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
        return cls(svg_of(widget, _of_no_use_on_paper(widget)), widget.width(), widget.height(), said)


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


def rows_of(drawings: Sequence[PrintedDrawing]) -> list[list[PrintedDrawing]]:
    """What stands side by side: as many as can still be read."""
    rows: list[list[PrintedDrawing]] = []
    for each in drawings:
        if rows and sum(other.aspect for other in rows[-1]) + each.aspect <= WIDEST:
            rows[-1].append(each)
        else:
            rows.append([each])
    return rows


def words_of(markdown: str) -> UnlinkedDocument:
    """Words in Markdown, without their pictures and the addresses of links."""
    font = QFont(QApplication.font().family())
    return markdown_document(markdown, font, lambda name: "", says_addresses=False, most=LONGEST)
