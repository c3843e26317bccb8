"""One field of a form: the control for a setting, its help, and an error message below it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSpinBox, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.base.steady import ComboBox, SpinBox
from lmviz.base.configuration import Setting
from lmviz.base.errors import LmvizError

LARGEST = 2**31 - 1
WIDTH = 104
CHECK_WIDTH = 17
WIDEST = 150
Control = QComboBox | QCheckBox | QSpinBox | QLineEdit


class SettingField(QObject):
    """`SettingField(setting, parent)`: `label`, `control` and `complaint` are widgets to lay out.

    `value()` is the checked value, or LmvizError; `set_value(value)`; `complain(sentence)` shows what
    is wrong below the control, "" takes it away. Signal `value_changed()`.
    """

    value_changed = Signal()

    def __init__(self, setting: Setting, parent: QWidget) -> None:
        super().__init__(parent)
        self.setting = setting
        self.control = named(self._make_control(parent), f"{setting.name}_field", setting.label)
        self.control.setAccessibleDescription(setting.help)
        self.control.setToolTip(paragraph(_help(setting)))
        self.control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.control.installEventFilter(self)
        self.label = Label(setting.label, parent, wraps=True)
        self.label.setBuddy(self.control)
        self.label.setToolTip(paragraph(_help(setting)))
        self.complaint = Label("", parent, role="warning", wraps=True)
        self.complaint.hide()
        self.adopt_theme()

    def _make_control(self, parent: QWidget) -> Control:
        setting = self.setting
        if setting.choices:
            picker = ComboBox(parent)
            for choice in setting.choices:
                picker.addItem(str(choice), choice)
            picker.currentIndexChanged.connect(self.value_changed)
            return picker
        if setting.kind is bool:
            box = QCheckBox(parent)
            box.toggled.connect(self.value_changed)
            return box
        if setting.kind is int:
            spin = SpinBox(parent)
            least = -LARGEST if setting.minimum is None else int(setting.minimum)
            most = LARGEST if setting.maximum is None else int(setting.maximum)
            spin.setRange(least, min(LARGEST, most))
            spin.setGroupSeparatorShown(True)
            if setting.minimum == 0:
                spin.setSpecialValueText(setting.zero)  # which Qt shows for the smallest value
            spin.setAlignment(Qt.AlignmentFlag.AlignRight)
            spin.valueChanged.connect(self.value_changed)
            return spin
        edit = QLineEdit(parent)
        right = setting.kind is float
        edit.setAlignment(Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
        edit.textChanged.connect(self.value_changed)
        return edit

    def value(self) -> Any:
        """The value of the control, checked; raises LmvizError when it is invalid."""
        control = self.control
        if isinstance(control, QComboBox):
            return control.currentData()
        if isinstance(control, QCheckBox):
            return control.isChecked()
        if isinstance(control, QSpinBox):
            return self.setting.check(control.value())
        typed = control.text().strip()
        held = typed.replace(",", ".") if self.setting.kind is float else typed
        return self.setting.check(held)

    def set_value(self, value: Any) -> None:
        """Put a value into the control without saying that it changed."""
        control = self.control
        blocked = self.blockSignals(True)
        if isinstance(control, QComboBox):
            control.setCurrentIndex(self.setting.choices.index(value))
        elif isinstance(control, QCheckBox):
            control.setChecked(value)
        elif isinstance(control, QSpinBox):
            control.setValue(value)
        elif self._differs(value):
            control.setText(f"{value:g}" if self.setting.kind is float else value)
        self.blockSignals(blocked)

    def _differs(self, value: Any) -> bool:
        """Whether the text says another value; "3e-4" must not be rewritten under the cursor."""
        try:
            return self.value() != value
        except LmvizError:
            return True

    def complain(self, sentence: str) -> None:
        """Show an error below this field; an empty sentence removes it."""
        self.complaint.setText(sentence)
        self.complaint.setVisible(bool(sentence) and not self.control.isHidden())
        set_role(self.control, bool(sentence), of="invalid")

    def set_shown(self, shown: bool) -> None:
        """Show or hide the whole field."""
        for part in (self.label, self.control):
            part.setVisible(shown)
        self.complaint.setVisible(shown and bool(self.complaint.text()))

    def adopt_theme(self) -> None:
        """Measure again, in the new theme's scale."""
        scale = current_theme().scale
        wide = round((CHECK_WIDTH if isinstance(self.control, QCheckBox) else WIDTH) * scale)
        if isinstance(self.control, QComboBox):  # its longest word is to be read in full
            wide = max(wide, min(self.control.sizeHint().width(), round(WIDEST * scale)))
        self.control.setFixedWidth(wide)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and not self.control.hasFocus():
            # A form scrolls by the wheel; what it scrolls past must not change.
            event.ignore()
            return True
        return super().eventFilter(watched, event)


def _help(setting: Setting) -> str:
    """The help, with the limits."""
    limits = ""
    if setting.minimum is not None and setting.maximum is not None and setting.kind is not bool:
        limits = f" From {setting.minimum:,g} to {setting.maximum:,g}."
    elif setting.minimum is not None:
        limits = f" At least {setting.minimum:,g}."
    return setting.help + limits
