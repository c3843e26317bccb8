"""A slider with its name on the left and its value on the right."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.building import named, row
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.steady import Slider


class SliderRow(QWidget):
    """`SliderRow(name, accessible_name)`: whole numbers from 0.

    `set_name(name)`, `set_range(last, value)` and `show_value(value, said)` emit nothing; `value` is its
    position. Signal: `value_changed(int)` when a person moves it.
    """

    value_changed = Signal(int)

    def __init__(self, name: str, accessible_name: str) -> None:
        super().__init__()
        self.slider = named(Slider(Qt.Orientation.Horizontal), description=accessible_name)
        self.slider.valueChanged.connect(self.value_changed)
        self._said = Label(role="muted")
        self._name = Label(name, role="muted")
        row(self._name, (self.slider, 1), self._said, on=self)

    @property
    def value(self) -> int:
        """The position of the slider."""
        return self.slider.value()

    def set_name(self, name: str) -> None:
        """Say otherwise what is dragged."""
        self._name.setText(name)

    def set_range(self, last: int, value: int) -> None:
        """Go from 0 to `last`, standing at `value`."""
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, max(0, last))
            self.slider.setPageStep(max(1, last // 50))
            self.slider.setValue(value)

    def show_value(self, value: int, said: str) -> None:
        """Show a value that was chosen elsewhere, and say what it means."""
        with QSignalBlocker(self.slider):
            self.slider.setValue(value)
        self._said.setText(said)
