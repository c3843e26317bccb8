"""The pixels of a picture of Qt's, as an array that outlives it."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage


def pixels_of(image: QImage, kind: QImage.Format = QImage.Format.Format_RGB32) -> NDArray[np.uint8]:
    """A copy, (rows, columns, bytes): blue, green, red and 255, if no other kind of pixel is asked for.

    What Qt's `constBits` gives keeps no picture alive: of one that has no name it is memory given back.
    """
    plain = image.convertToFormat(kind)
    rows = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine())
    depth = plain.depth() // 8
    return rows[:, : plain.width() * depth].reshape(plain.height(), plain.width(), depth).copy()
