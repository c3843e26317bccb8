"""Dims cells that are not related to the explained one: the weaker the relation, the more."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QColor, QImage

from lmviz.app.look.roles import Theme

FADES = (0.62, 0.45, 0.25, 0.0)
"""How much of the background covers a cell of strength 0, 1, 2 and 3."""
LIT, WITH_IT = 3, 2
"""The strengths of the cell under the pointer, and of its row and its column."""


def veil(strengths: np.ndarray, theme: Theme) -> QImage:
    """Strengths (row, column) from 0 to 3 as a picture of one pixel per cell, to be drawn over them."""
    strengths = np.ascontiguousarray(strengths, dtype=np.uint8)
    rows, columns = strengths.shape
    image = QImage(strengths.data, columns, rows, columns, QImage.Format.Format_Indexed8)
    image.setColorTable([_covering(theme.surface, share) for share in FADES])
    return image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)  # a copy, which owns its pixels


def _covering(color: QColor, share: float) -> int:
    covering = QColor(color)
    covering.setAlphaF(share)
    return covering.rgba()
