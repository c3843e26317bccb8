"""A painter's words: smaller where there is little room, then with dots, never without their beginning.

And its curves, which have gaps.
"""

import ast
import base64
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QBuffer, QIODevice, QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QTransform
from PySide6.QtSvg import QSvgGenerator

import lmviz
from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.kit.painter import Painter


@pytest.mark.parametrize(
    ("room", "is_smaller", "is_cut"), [(300, False, False), (62, True, False), (30, True, True)]
)
def test_words_that_do_not_fit_are_written_smaller_and_then_end_in_dots(
    qapp, monkeypatch, room, is_smaller, is_cut
):
    written = []
    monkeypatch.setattr(
        QPainter, "drawText", lambda painter, *given: written.append((given[-1], painter.font()))
    )
    image = QImage(400, 40, QImage.Format.Format_RGB32)
    painter = Painter(image)
    painter.fit(QRectF(0, 0, room, 20), "a few words", size=12)
    painter.end()
    [(text, font)] = written
    assert (font.pixelSize() < 12) == is_smaller
    assert text.endswith("…") == is_cut
    assert text.startswith("a")


def test_a_curve_is_interrupted_where_a_value_is_missing_and_a_lone_value_is_a_dot(qapp):
    image = QImage(60, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    values = np.array([1.0, 1.0, np.nan, 1.0, np.inf, 1.0, 1.0])
    painter = Painter(image)
    painter.curve(values, lambda index: QPointF(5 + 8 * index, 10), QColor("black"), 3)
    painter.end()
    drawn = [image.pixelColor(x, 10).lightness() < 128 for x in (5, 9, 13, 21, 29, 37, 45, 49, 53)]
    assert drawn == [True, True, True, False, True, False, True, True, True]


def test_what_is_scaled_as_a_whole_is_as_large_in_a_larger_theme(qapp):
    image = QImage(60, 20, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = Painter(image, replace(current_theme(), scale=2.0))
    with painter.scaled(QTransform.fromScale(5, 5)):
        painter.dot(QPointF(2, 2), 1, QColor("black"))
    painter.dot(QPointF(45, 10), 3, QColor("black"))  # now twice as large again
    painter.end()
    drawn = [x for x in range(60) if image.pixelColor(x, 10).lightness() < 128]
    assert drawn == [*range(5, 15), *range(39, 51)]


def test_a_part_of_an_image_is_drawn_alone_also_as_svg(qapp):
    """All tiles of “All heads” were the same in a file: Qt writes the whole image in place of a part."""
    image = QImage(4, 1, QImage.Format.Format_RGB32)
    for place, color in enumerate((0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFF000000)):
        image.setPixel(place, 0, color)
    content, generator, page = QBuffer(), QSvgGenerator(), QImage(10, 10, QImage.Format.Format_RGB32)
    content.open(QIODevice.OpenModeFlag.WriteOnly)
    generator.setOutputDevice(content)
    for device in (generator, page):
        with Painter(device) as painter:
            painter.draw_part(QRectF(0, 0, 10, 10), image, QRect(2, 0, 1, 1))
    [written] = re.findall(rb"base64,([^\"]*)\"", bytes(content.data().data()))
    alone = QImage.fromData(base64.b64decode(written))
    assert (alone.width(), alone.pixel(0, 0)) == (1, 0xFF0000FF)
    assert page.pixel(5, 5) == 0xFF0000FF


def test_no_other_call_draws_a_part_of_an_image():
    found = []
    for path in (Path(lmviz.__file__).parent / "app").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            is_one = isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "drawImage"
            if is_one and len(call.args) > 2 and path.name != "painter.py":
                found.append(ast.unparse(call.args[2]))
    assert found
    assert [part for part in found if not part.endswith(".rect())")] == []
