"""Where the window stands when it is first shown: within what the screen has to give."""

from __future__ import annotations

from PySide6.QtCore import QMargins, QRect, QSize

USUAL = QSize(1440, 900)
LEAST = QSize(860, 560)
FRAME = QMargins(4, 36, 4, 4)
"""What the system draws around a window, a title bar on top: before it is shown nobody knows how much."""


def first_place(available: QRect, frame: QMargins = FRAME, usual: QSize = USUAL) -> QRect:
    """The inside of a window of the usual size, in the middle of a screen's available room or filling it."""
    room = available.marginsRemoved(frame)
    place = QRect(room.topLeft(), usual.boundedTo(room.size()))
    place.moveCenter(room.center())
    return place


def least_size(available: QRect, frame: QMargins = FRAME) -> QSize:
    """The smallest size of the window: never more than the screen has room for."""
    return LEAST.boundedTo(available.marginsRemoved(frame).size())
