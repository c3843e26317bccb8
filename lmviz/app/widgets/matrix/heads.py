"""The base of pictures of heads, each a thumbnail of its attention, one of them chosen."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from lmviz.app.widgets.kit.pointing import ARROWS, Pointed, Words, step

Head = tuple[int, int]
"""A layer and a head of it."""


class Heads(Pointed[Head | None]):
    """`set_readout(function)` gives the hover card's words for (layer, head). Arrow keys walk, as clicks do.

    Signal: `head_clicked(int, int)`. The height follows from the width.
    """

    head_clicked = Signal(int, int)
    nowhere = None

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._levels: np.ndarray = np.zeros((0, 0, 1, 1), dtype=np.uint8)  # (layer, head, row, column)
        self._image: QImage | None = None
        self._current: Head | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @abstractmethod
    def tile_rectangle(self, layer: int, head: int) -> QRectF:
        """Where a head is drawn."""

    @abstractmethod
    def set_current(self, layer: int, head: int) -> None:
        """Mark a head."""

    def readout(self, index: Head | None) -> Words | None:
        return None if self._readout is None or index is None else self._readout(*index)

    def part_rectangle(self, index: Head | None) -> QRectF | None:
        return None if index is None else self.tile_rectangle(*index)

    def hasHeightForWidth(self) -> bool:
        return True

    def clicked_on(self, index: Head | None) -> None:
        if index is not None:
            self.set_current(*index)
            self.head_clicked.emit(*index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        layers, heads = self._levels.shape[:2]
        if event.key() in ARROWS and layers and heads:
            self.clicked_on(step(self._current, event.key(), layers, heads) if self._current else (0, 0))
        else:
            super().keyPressEvent(event)
