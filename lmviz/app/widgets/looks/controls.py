"""Buttons and pickers of a look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QPushButton, QWidget

from lmviz.app.widgets.base.building import named, picker
from lmviz.app.widgets.base.plain import caption, paragraph
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.looks.parts import Button, Picker


class ButtonDrawing(PartDrawing[Button, QPushButton]):
    """A button."""

    def make(self, part: Button, inner: Sequence[QWidget]) -> QPushButton:
        button = named(QPushButton(), role=part.role)
        button.clicked.connect(lambda: self.part.clicked())
        return button

    def put(self, part: Button) -> None:
        self.widget.setText(caption(part.text))
        self.widget.setToolTip(paragraph(part.tip))
        self.widget.setEnabled(part.enabled)


class PickerDrawing(PartDrawing[Picker, QComboBox]):
    """A box that opens."""

    def make(self, part: Picker, inner: Sequence[QWidget]) -> QComboBox:
        box = picker(part.name, part.says)
        box.activated.connect(lambda place: self.part.chose(place))
        return box

    def put(self, part: Picker) -> None:
        with QSignalBlocker(self.widget):
            if self.changed("choices"):
                self.widget.clear()
                self.widget.addItems(list(part.choices))
            self.widget.setCurrentIndex(part.chosen)
