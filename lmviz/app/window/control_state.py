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
    if isinstance(control, QAbstractButton) and control.isCheckable():
        return float(control.isChecked())
    return 1.0
