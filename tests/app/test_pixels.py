"""Nobody reads the pixels of a picture that is gone."""

from pathlib import Path

import numpy as np
from pixels import pixels_of
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage

ROOT = Path(__file__).parents[2]
HELD = {"lmviz/app/widgets/matrix/cells.py", "docs/film.py", "tests/pixels.py", "tests/app/test_pixels.py"}
"""Where bits are read: each copies them while it holds the picture."""


def test_pixels_outlive_their_picture() -> None:
    found = []
    for _ in range(50):
        white, black = (QImage(35, 20, QImage.Format.Format_ARGB32) for _ in range(2))
        white.fill(Qt.GlobalColor.white)
        found.append(pixels_of(white.convertToFormat(QImage.Format.Format_RGB888)))
        black.fill(Qt.GlobalColor.black)  # takes the memory of a picture that is gone
    assert all(each.shape == (20, 35, 4) and np.all(each == 255) for each in found)


def test_pixels_stand_where_they_are_seen() -> None:
    image = QImage(3, 2, QImage.Format.Format_RGB888)  # a line of nine bytes is filled up to twelve
    image.fill(QColor(1, 2, 3))
    image.setPixelColor(2, 1, QColor(40, 50, 60))
    assert pixels_of(image)[1, 2].tolist() == [60, 50, 40, 255]
    assert pixels_of(image, QImage.Format.Format_RGB888).tolist() == [
        [[1, 2, 3]] * 3,
        [*[[1, 2, 3]] * 2, [40, 50, 60]],
    ]
    assert pixels_of(image, QImage.Format.Format_Grayscale8).shape == (2, 3, 1)


def test_bits_are_read_nowhere_else() -> None:
    folders = ("lmviz", "tests", "docs", "resources", "benchmarks")
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if any(word in path.read_text("utf-8") for word in (".constBits(", ".bits(", "canLine("))
    }
    assert found <= HELD
