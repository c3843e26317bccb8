"""A painter's words: smaller where there is little room, then with dots, never without their beginning."""

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

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
