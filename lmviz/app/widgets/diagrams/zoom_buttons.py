"""The buttons in the corner of a picture that is drawn larger or smaller by hand."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QScrollArea, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.building import row
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.diagrams.editable_numbers import A_NOTCH, EditableNumbers

MARGIN = 4


class ZoomButtons(QWidget):
    """`ZoomButtons(picture, area)` stand in the lower left corner of the scroll area, below its picture."""

    def __init__(self, picture: EditableNumbers, area: QScrollArea) -> None:
        super().__init__(area)
        self._picture, self._area = picture, area
        self.setObjectName("zoom_buttons")
        name = picture.objectName()
        self.setAutoFillBackground(True)  # what they lie over is not read through them
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._smaller = _button(f"{name}_smaller", "−", "draw it smaller (Ctrl and the wheel, or −)")
        larger = _button(f"{name}_larger", "+", "draw it larger (Ctrl and the wheel, or +)")
        self._fit = _button(f"{name}_fit", "fit", "bring all of it into sight (0)")
        self._smaller.clicked.connect(lambda: picture.magnify(1 / A_NOTCH))
        larger.clicked.connect(lambda: picture.magnify(A_NOTCH))
        self._fit.clicked.connect(picture.fit)
        row(self._smaller, larger, self._fit, on=self, gap=2)
        picture.magnified.connect(self._update)
        theme_switch().theme_changed.connect(self._settle)
        area.installEventFilter(self)
        area.horizontalScrollBar().rangeChanged.connect(self._settle)
        area.horizontalScrollBar().rangeChanged.connect(self._update)
        self._settle()
        self._update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._settle()
        return False

    def _update(self) -> None:
        more = not self._picture.is_fitted or self._picture.is_part
        self._smaller.setEnabled(more)
        self._fit.setEnabled(more)

    def _settle(self) -> None:
        """Stand in the corner, above the scroll bar."""
        self.adjustSize()
        across = self._area.horizontalScrollBar()
        bar = across.sizeHint().height() if across.maximum() else 0
        self._area.setViewportMargins(0, 0, 0, self.height() + MARGIN)  # so that they cover nothing
        self.move(MARGIN, self._area.height() - self.height() - MARGIN // 2 - bar)
        self.raise_()


def _button(name: str, words: str, description: str) -> LinkButton:
    button = LinkButton(name, words, description)
    button.setToolTip(paragraph(description))
    return button
