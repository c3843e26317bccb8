"""What erasing each painted pixel would do, by the gradient, and what it does: two small pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.matrix.pixel_grid import PixelGrid
from lmviz.app.widgets.text.word_effects import MEASURED, PREDICTED
from lmviz.text.pictures import SIDE


class EffectPictures(QWidget):
    """`EffectPictures()`: `set_effects(pixels, predicted, measured)`, each number of a pixel."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("effect_pictures")
        self.predicted, self.measured = PixelGrid(SIDE), PixelGrid(SIDE)
        grid = QGridLayout(self)
        grid.setContentsMargins(4, 0, 4, 8)
        grid.setHorizontalSpacing(24)
        for column, (title, picture) in enumerate(((PREDICTED, self.predicted), (MEASURED, self.measured))):
            name = Label(title)
            name.setProperty("role", "muted")
            picture.setAccessibleName(f"without each painted pixel: {title}")
            grid.addWidget(name, 0, column)
            grid.addWidget(picture, 1, column, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(2, 1)
        self.hide()

    def set_effects(self, pixels: Sequence[bool], predicted: np.ndarray, measured: np.ndarray) -> None:
        """Show a picture (pixel,) twice; the strongest colour is that of the largest number in both."""
        limit = float(max(np.abs(predicted).max(), np.abs(measured).max()))
        for picture, values in ((self.predicted, predicted), (self.measured, measured)):
            picture.set_pixels(pixels)
            picture.set_values(values, limit)
