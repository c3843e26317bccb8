"""Controls that keep their value while a wheel passes over them: what lies around them scrolls instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QSlider, QSpinBox, QWidget

if TYPE_CHECKING:
    _Control = QWidget
else:
    _Control = object


class _Steady(_Control):
    """Before a control of Qt's among the bases of a class: the wheel turns it only while it has the focus."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # and the wheel does not give it the focus

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ComboBox(_Steady, QComboBox):
    """`ComboBox(parent=None)`: one of several values. Its list is as wide as the longest of them.

    Qt cuts what is longer than the control in its middle, where the names of a family differ.
    """

    def showPopup(self) -> None:
        from PySide6.QtWidgets import QStyle  # not before the first paint: it has 400 names

        view = self.view()
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, view)
        view.setMinimumWidth(view.sizeHintForColumn(0) + 2 * view.frameWidth() + bar)
        super().showPopup()


UNKNOWN = "…"


class SpinBox(_Steady, QSpinBox):
    """`SpinBox(parent=None)`: a whole number; `set_known(False)` shows none until somebody wants to type one.

    Its value is the same either way.
    """

    _is_known = True

    @property
    def is_known(self) -> bool:
        """Whether the number can be read."""
        return self._is_known

    def set_known(self, known: bool) -> None:
        """Show the number, or that it is not known yet."""
        if known != self._is_known:
            self._is_known = known
            self._show_number()

    def textFromValue(self, value: int) -> str:
        return super().textFromValue(value) if self._is_known or self.hasFocus() else UNKNOWN

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self._is_known:
            self._show_number()
            self.selectAll()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if not self._is_known:
            self._show_number()

    def _show_number(self) -> None:
        self.lineEdit().setText(self.textFromValue(self.value()))


class DoubleSpinBox(_Steady, QDoubleSpinBox):
    """`DoubleSpinBox(parent=None)`: a number with decimals."""


class Slider(_Steady, QSlider):
    """`Slider(orientation, parent=None)`: a place on a line."""
