"""The picture that a model begins with, painted with the mouse."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.pixel_grid import PixelGrid
from lmviz.text.pictures import SIDE, picture_of, pixels_of

PIXEL = 12  # pixels of the screen for one of the picture, at scale 1
TAP = "picture"


class SourcePicture(PixelGrid):
    """The session's source where it is a picture; while gradients are shown, in their colours."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(SIDE, side=PIXEL, parent=parent)
        self._session = session
        self.setObjectName("picture_edit")
        self.setAccessibleName("picture, to be painted")
        self.setToolTip("Paint: a click changes a pixel, and the caption is read again")
        self.set_editable()
        self.painted.connect(self._read)
        for changed in (session.reading.source_changed, session.library.model_changed):
            changed.connect(self._show)
        for changed in (session.gradients.changed, session.gradients.shown_changed):
            changed.connect(self._show_gradient)
        self._show()

    def _read(self) -> None:
        self._session.reading.set_source(picture_of(self.pixels))

    def _show(self) -> None:
        reading = self._session.reading
        self.setVisible(reading.has_picture)
        if reading.has_picture:
            self.set_pixels(pixels_of(reading.source))
        self._show_gradient()

    def _show_gradient(self) -> None:
        """The derivative of the chosen number by each pixel, where gradients are shown and known."""
        found = self._session.gradients.current
        if found is None or TAP not in found:
            self.set_values(None)
            return
        values = found[TAP].array
        self.set_values(values, float(np.abs(values).max()))
