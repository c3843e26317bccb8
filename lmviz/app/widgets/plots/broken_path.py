"""A curve that is broken where there is no value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath

DOT = QPointF(0.01, 0)  # as long as a lone value's stroke has to be for a round pen to draw it


def broken_path(values: np.ndarray, point: Callable[[int], QPointF]) -> QPainterPath:
    """The path through the finite values, (index,), at the points given; a lone value is a dot."""
    path, pen_down = QPainterPath(), False
    for index, finite in enumerate(np.isfinite(values).tolist()):
        if finite:
            place = point(index)
            if pen_down:
                path.lineTo(place)
            else:
                path.moveTo(place)
                path.lineTo(place + DOT)
        pen_down = finite
    return path
