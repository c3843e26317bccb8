"""What a control says of itself: the words or the number that a person has put into it."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QComboBox,
    QDoubleSpinBox,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label


def state_of(control: QWidget) -> str | float | None:
    """What is typed, chosen or set; 1 for what only can be seen, None for a panel behind another."""
    from lmviz.app.widgets.controls.slider_row import SliderRow  # not needed for the first paint

    if isinstance(control, Panel):
        return 1.0 if control.is_in_sight else None
    if isinstance(control, QLineEdit | Label):
        return control.text()
    if isinstance(control, MutedLine):
        return control.text
    if isinstance(control, QPlainTextEdit):
        return control.toPlainText()
    if isinstance(control, QComboBox):
        return control.currentText()
    if isinstance(control, QSpinBox | QDoubleSpinBox | QAbstractSlider):
        return float(control.value())
    if isinstance(control, SliderRow):
        return float(control.value)
    if isinstance(control, QAbstractButton) and control.isCheckable():
        return float(control.isChecked())
    return 1.0


class Presses:
    """How often buttons were pressed, each counted from when it was first asked for."""

    def __init__(self) -> None:
        self._found: dict[QAbstractButton, int] = {}

    def of(self, control: QWidget | None) -> int | None:
        """How often it was pressed; None for what is no button."""
        if not isinstance(control, QAbstractButton):
            return None
        if control not in self._found:
            self._found[control] = 0
            control.clicked.connect(lambda: self._count(control))
            control.destroyed.connect(lambda: self._found.pop(control, None))
        return self._found[control]

    def _count(self, control: QAbstractButton) -> None:
        self._found[control] += 1
