"""A matrix and the product of two thin ones: each shape is read whole below its matrix."""

from __future__ import annotations

import pytest
from layout_faults import faults_of
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.diagrams.thin_product import ThinProduct


@pytest.mark.parametrize(
    "shape",
    [(32, 8, 8), (96, 24, 8), (24, 96, 8), (8, 8, 1), (3072, 768, 8), (768, 3072, 64), (4096, 4096, 256)],
    ids="{0[0]}x{0[1]} by {0[2]}".format,
)
@pytest.mark.parametrize("size", [(210, 110), (700, 150)], ids="{0[0]}x{0[1]}".format)
def test_captions_keep_apart_and_matrices_their_scale(
    shape: tuple[int, int, int], size: tuple[int, int], qtbot: QtBot
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(*size)
    picture = ThinProduct(window)
    picture.resize(*size)
    picture.set_shape(*shape)
    window.show()
    assert faults_of(window) == []
    rows, columns, rank = shape
    kept, second, first = picture.areas()
    assert kept.width() / kept.height() == pytest.approx(columns / rows)
    assert (second.width(), second.height()) == pytest.approx((rank * kept.width() / columns, kept.height()))
    assert (first.width(), first.height()) == pytest.approx((kept.width(), second.width()))
    assert kept.right() < second.left()
    assert second.right() < first.left()
    assert first.right() <= picture.width()
