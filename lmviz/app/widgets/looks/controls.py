"""Buttons, pickers, lines to type in and sliders of a look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QWidget

from lmviz.app.widgets.base.building import explain_choices, named, picker
from lmviz.app.widgets.base.plain import caption, paragraph
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.base.plain_text import on_one_line
from lmviz.looks.parts import Button, Field, Picker, SliderLine


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
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.activated.connect(lambda place: self.part.chose(place))
        return box

    def put(self, part: Picker) -> None:
        with QSignalBlocker(self.widget):
            if self.changed("choices", "tips"):
                self.widget.clear()
                self.widget.addItems([on_one_line(choice) for choice in part.choices])
                explain_choices(self.widget, part.tips)
            self.widget.setCurrentIndex(part.chosen)
        if part.tips:
            self.widget.setToolTip(paragraph(part.tips[part.chosen]))


class FieldDrawing(PartDrawing[Field, QLineEdit]):
    """A line to type in."""

    def make(self, part: Field, inner: Sequence[QWidget]) -> QLineEdit:
        line = QLineEdit()
        line.returnPressed.connect(self._enter)
        line.editingFinished.connect(self._leave)
        return line

    def put(self, part: Field) -> None:
        self.widget.setPlaceholderText(part.hint)
        self.widget.setEnabled(part.enabled)
        if self.changed("text"):
            self.widget.setText(part.text)

    def _enter(self) -> None:
        if not self.part.keeps and self.widget.text().strip():
            typed = self.widget.text()
            self.widget.clear()
            self.part.entered(typed)

    def _leave(self) -> None:
        if self.part.keeps and self.widget.text() != self.part.text:
            self.part.entered(self.widget.text())


class SliderLineDrawing(PartDrawing[SliderLine, SliderRow]):
    """A slider between its name and what its place means."""

    def make(self, part: SliderLine, inner: Sequence[QWidget]) -> SliderRow:
        row = SliderRow(part.title, part.says)
        named(row.slider, part.name)
        row.value_changed.connect(lambda place: self.part.moved(place))
        return row

    @property
    def speaker(self) -> QWidget:
        return self.widget.slider

    def put(self, part: SliderLine) -> None:
        self.widget.set_name(part.title)
        if self.changed("count"):
            self.widget.set_range(part.count - 1, part.place)
        self.widget.show_value(part.place, part.written)
