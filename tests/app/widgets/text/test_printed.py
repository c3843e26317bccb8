"""Pages that are handed out: drawings stay vectors, words stay words, and no page cuts anything."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
import typst
from pixels import pixels_of
from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QCheckBox,
    QGraphicsScene,
    QGraphicsView,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from lmviz.app.widgets.text.printed import Printed, PrintedDrawing, PrintedPart
from lmviz.app.widgets.text.printed_files import write_printed
from lmviz.app.widgets.text.printed_pages import document_of
from lmviz.base.errors import LmvizError
from lmviz.pages.typesetting import typeset

PAGE, MARGIN = QRectF(0, 0, 595, 842), 52


@pytest.fixture
def drawing(shown) -> PrintedDrawing:
    return PrintedDrawing.of(shown(QLabel("forty-two"), 300, 100))


def printed(*parts: PrintedPart) -> Printed:
    return Printed("A <b>title</b>", "What it is & more", parts)


@pytest.fixture
def pages_of(tmp_path: Path) -> Callable[[Printed], list[QImage]]:
    """What gives the pages, a pixel for each point."""

    def made(content: Printed) -> list[QImage]:
        pages = typeset(document_of(content), str(tmp_path), "png")
        drawn = [QImage.fromData(page) for page in (pages if isinstance(pages, list) else [pages])]
        return [page.convertToFormat(QImage.Format.Format_Grayscale8) for page in drawn]

    return made


def ink(page: QImage, part: QRectF) -> int:
    area, pixels = part.toRect(), pixels_of(page, QImage.Format.Format_Grayscale8)
    return int((pixels[area.top() : area.bottom(), area.left() : area.right()] < 245).sum())


def test_a_drawing_is_vectors_in_both_kinds_of_file(drawing: PrintedDrawing, tmp_path: Path) -> None:
    content = printed(PrintedPart("One", drawings=(drawing, drawing)))
    write_printed(content, tmp_path / "a.pdf")
    write_printed(content, tmp_path / "a.html")
    pdf = (tmp_path / "a.pdf").read_bytes()
    assert pdf.startswith(b"%PDF-")
    assert b"/Subtype /Image" not in pdf
    assert b"forty-two</text>" in drawing.svg
    assert (tmp_path / "a.html").read_text("utf-8").count("data:image/svg+xml") == 2


def test_a_page_takes_the_place_of_drawings_on_a_screen_and_nothing_else_runs(
    drawing: PrintedDrawing, tmp_path: Path
) -> None:
    page = "<p>numbers</p><script>page()</script>"
    parts = (
        PrintedPart("</script><b>Live", drawings=(drawing,), live=page),
        PrintedPart("Still", drawings=(drawing,)),
    )
    write_printed(printed(*parts), tmp_path / "a.html")
    said = (tmp_path / "a.html").read_text("utf-8")
    first, second = said.split("<section>")[1:]
    assert said.count("<script>") == said.count("</script>") == 1
    assert '<div id="drawn-1"><div class="drawings"><img' in first
    assert "page()\\u003c/script\\u003e" in first
    assert "drawn-" not in second
    write_printed(printed(*parts), tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-")


def test_a_file_says_its_language_and_marks_what_is_in_another(
    drawing: PrintedDrawing, tmp_path: Path
) -> None:
    own = PrintedPart("Eins", "Worte.", (drawing,), "stories-lstm, step 1")
    other = PrintedPart("Zwei", "Words.", question="Why?", language="en")
    content = Printed("Ein Titel", "Ein Satz.", (own, other), "de")
    write_printed(content, tmp_path / "a.html")
    said = (tmp_path / "a.html").read_text("utf-8")
    assert '<html lang="de">' in said
    first, second = said.split("<section>")[1:]
    assert '<figure lang="en">' in first
    assert first.count("lang=") == 1, "what is written in the language of the whole needs no mark"
    assert re.search(r'(?s)<h2>Zwei</h2><div lang="en">.*Words\..*Why\?.*</div></section>', second)
    write_printed(printed(PrintedPart("One", "Words.", (drawing,))), tmp_path / "b.html")
    assert (tmp_path / "b.html").read_text("utf-8").count("lang=") == 1


def test_html_says_words_as_they_are_written_and_keeps_what_is_stressed(tmp_path: Path) -> None:
    part = PrintedPart(
        "<script>one</script>",
        "Some **bold** and *slanted* words, [a link](https://example.org) ![a picture](secret.png) <u>x</u>.",
        tasks=("do <this>",),
        question="Is 1 < 2?",
        choices=("yes & no", "no"),
        lines=2,
    )
    write_printed(printed(part), tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text("utf-8")
    body = text[text.index("<body>") :]
    assert not re.search(r"<script|<u>|<img|<a |http", body)
    assert "<b>bold</b>" in body
    assert "<i>slanted</i>" in body
    assert body.count("☐") == 3
    assert body.count('class="line"') == 2
    plain = unescape(re.sub(r"<[^>]*>", "", body))
    for words in ("A <b>title</b>", "<script>one</script>", "do <this>", "Is 1 < 2?", "yes & no", "<u>x</u>"):
        assert words in plain


def test_what_does_not_fit_goes_on_with_the_next_page(drawing: PrintedDrawing, pages_of) -> None:
    parts = [
        PrintedPart(f"Part {number}", "Words. " * 60, (drawing,), question="Why?", lines=5)
        for number in range(9)
    ]
    pages = pages_of(printed(*parts))
    assert len(pages) > 3
    inside = QRectF(MARGIN, MARGIN, PAGE.width() - 2 * MARGIN, PAGE.height() - 2 * MARGIN)
    for page in pages:
        assert ink(page, inside)
        assert not ink(page, QRectF(0, 0, PAGE.width(), MARGIN - 2)), "above"
        assert not ink(page, QRectF(0, 0, MARGIN - 2, PAGE.height())), "at the left"
        right = QRectF(PAGE.width() - MARGIN + 2, 0, MARGIN - 2, PAGE.height())
        assert not ink(page, right), "at the right"


def test_a_small_drawing_is_not_drawn_larger_than_the_words_beside_it(
    drawing: PrintedDrawing, pages_of
) -> None:
    [page] = pages_of(printed(PrintedPart("One", drawings=(drawing,))))
    assert not ink(page, QRectF(MARGIN, MARGIN + 80 + 0.7 * drawing.height, 480, 200))


def test_the_frames_of_all_rows_of_drawings_are_as_wide_as_the_text(shown, pages_of) -> None:
    wide, small = (
        PrintedDrawing.of(shown(QLabel("wide"), 900, 200)),
        PrintedDrawing.of(shown(QLabel("s"), 90, 90)),
    )
    [page] = pages_of(printed(PrintedPart("One", drawings=(wide, small, small))))
    left, right = (
        {y for y in range(page.height()) if ink(page, QRectF(edge - 3, y, 6, 2))}
        for edge in (MARGIN, PAGE.width() - MARGIN)
    )
    assert len(right) > 150, "beside the wide one, and beside the small ones below it"
    assert right <= left, "and from the left on"


def test_what_a_drawing_shows_stands_on_its_page(drawing: PrintedDrawing, pages_of) -> None:
    """The caption went over to the next page where the drawing ended at the foot of one."""
    for lines in range(18, 26):
        above = PrintedPart("One", lines=lines)
        below = PrintedPart("Two", drawings=(drawing,), caption="what it is of")
        with_caption = pages_of(printed(above, below))
        if len(with_caption) == 1:
            continue
        foot = with_caption[-1].height() - MARGIN
        assert ink(with_caption[-1], QRectF(MARGIN, MARGIN + 60, 400, foot - MARGIN - 60)) > 300
        return
    raise AssertionError("there is no second page")


def test_html_says_its_language_and_what_each_drawing_shows(shown, tmp_path: Path) -> None:
    drawing = PrintedDrawing.of(shown(QLabel("forty-two")), 'Layer 1, head 1 (softmax, < 1 & "large")')
    write_printed(printed(PrintedPart("One", drawings=(drawing,), caption="of what")), tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text("utf-8")
    assert '<html lang="en">' in text
    [alternative] = re.findall(r'<img alt="([^"]*)"', text)
    assert unescape(alternative) == drawing.said
    assert "<figcaption>of what</figcaption></figure>" in text


def test_a_plot_is_drawn_as_well(shown) -> None:
    """The handout of a lesson with a curve in it never came to its end."""
    scene = QGraphicsScene()
    scene.addText("forty-two")
    drawing = PrintedDrawing.of(shown(QGraphicsView(scene)))
    assert b"forty-two</text>" in drawing.svg


def test_what_only_a_screen_has_a_use_for_is_not_drawn(shown) -> None:
    panel, area = QWidget(), QScrollArea()
    area.setWidget(QLabel("\n".join(f"line {number}" for number in range(99))))
    typed, empty = QLineEdit("typed"), QLineEdit(placeholderText="search")
    parts = (QLabel("words"), QPushButton("press"), QCheckBox("ticked"), typed, empty, area)
    column = QVBoxLayout(panel)
    for part in parts:
        column.addWidget(part)
    shown(panel, 300, 400)
    drawing = PrintedDrawing.of(panel)
    said = re.findall(r">([^<>]+)</text>", drawing.svg.decode())
    assert {"words", "ticked", "typed", "line 0"} <= set(said)
    assert not {"press", "search"} & set(said)
    layout = (
        b"#set page(width: 300pt, height: 400pt, margin: 0pt)\n#image(bytes(sys.inputs.svg), width: 300pt)"
    )
    drawn = typst.compile(layout, sys_inputs={"svg": drawing.svg.decode()}, format="png", ppi=72)
    page = QImage.fromData(drawn)
    for away in (parts[1], area.verticalScrollBar()):
        place = QRect(away.mapTo(panel, QPoint()), away.size())
        colors = {page.pixel(x, place.center().y()) for x in range(place.left(), place.right())}
        assert len(colors) == 1, "only the ground"


def test_type_of_a_drawing_falls_back_on_its_kind(shown) -> None:
    """Students may not have the family that the lecturer's machine draws with."""
    families = re.findall(r'font-family="([^"]*)"', PrintedDrawing.of(shown(QLabel("words"))).svg.decode())
    assert families
    assert all(family.endswith(", sans-serif") for family in families)


def test_wide_drawings_stand_below_one_another(shown, pages_of) -> None:
    wide = PrintedDrawing.of(shown(QLabel("wide"), 900, 200))
    square = PrintedDrawing.of(shown(QLabel("square"), 500, 500))
    [page] = pages_of(printed(PrintedPart("One", drawings=(wide, square, square))))
    rows = [y for y in range(page.height()) if ink(page, QRectF(MARGIN, y, 460, 2)) > 400]
    assert max(rows) - min(rows) > 300, "the squares stand below the wide one"


def test_another_ending_and_a_place_that_is_refused_are_said(tmp_path: Path) -> None:
    with pytest.raises(LmvizError, match="neither PDF nor HTML"):
        write_printed(printed(), tmp_path / "a.docx")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LmvizError, match="cannot be written"):
        write_printed(printed(), tmp_path / "file" / "a.pdf")
