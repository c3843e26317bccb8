"""A form made from a configuration's fields: their labels, help, limits and errors."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLineEdit, QPushButton, QSpinBox, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.building import column, name_with, named
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.base.steady import ComboBox, SpinBox
from lmviz.base.configuration import Configuration, Setting
from lmviz.base.errors import LmvizError, SettingError

C = TypeVar("C", bound=Configuration)

UNFOLD, FOLD = "more settings", "fewer settings"
LARGEST = 2**31 - 1
WIDTH = 104
CHECK_WIDTH = 17
WIDEST = 150
Control = QComboBox | QCheckBox | QSpinBox | QLineEdit


class ConfigurationForm(QWidget, Generic[C]):
    """`ConfigurationForm(configuration)`: one row for each setting; the advanced ones fold away.

    `configuration` is the newest valid one; `set_configuration(configuration)` shows another, of any
    class; `set_editable(names)` locks all others (None unlocks all).
    Signals: `configuration_changed(object)` with each valid configuration, `refused(str)` with the
    sentence that is also shown below the field that caused it.
    """

    configuration_changed = Signal(object)
    refused = Signal(str)

    def __init__(self, configuration: C) -> None:
        super().__init__()
        self._configuration = configuration
        self._fields: dict[str, SettingField] = {}
        self._used = configuration.names()
        self._page = QWidget()
        self._more = named(QPushButton(UNFOLD), role="link")
        self._more.setCheckable(True)
        self._more.toggled.connect(self._unfold)
        self._grid = QGridLayout(self._page)
        self._column = column(self._page, on=self)
        self.setAccessibleName("settings")
        self._build()
        theme_switch().theme_changed.connect(self._measure)

    @property
    def configuration(self) -> C:
        """The newest configuration that could be."""
        return self._configuration

    @property
    def complaint(self) -> str:
        """What is wrong with the values in the form now; "" when nothing is."""
        return next((field.complaint.text() for field in self._fields.values() if field.complaint.text()), "")

    def set_configuration(self, configuration: C) -> None:
        """Show a configuration; nothing is emitted."""
        rebuilt = type(configuration) is not type(self._configuration)
        self._configuration = configuration
        if rebuilt:
            self._build()
        for name, field in self._fields.items():
            field.set_value(getattr(configuration, name))
            field.complain("")

    def complain(self, name: str, sentence: str) -> None:
        """Say below a field what is wrong with it beside settings of another form; "" takes it away."""
        self._fields[name].complain(sentence)

    def set_editable(self, names: Collection[str] | None) -> None:
        """Let only these settings be changed, such as the learning rate while training; None for all."""
        for name, field in self._fields.items():
            field.control.setEnabled(names is None or name in names)

    def set_shown(self, names: Collection[str]) -> None:
        """Show only the fields of these settings; the others keep their values."""
        self._used = frozenset(names)
        self._unfold(self._more.isChecked())

    def set_known(self, name: str, known: bool) -> None:
        """Show the whole number of a setting, or that it is not known yet."""
        control = self._fields[name].control
        assert isinstance(control, SpinBox), "only whole numbers are awaited"
        control.set_known(known)

    def field(self, name: str) -> SettingField:
        """The field of a setting."""
        return self._fields[name]

    def _build(self) -> None:
        settings = [setting for setting in self._configuration.settings() if not setting.of_others]
        self._used = self._configuration.names()
        self._more.setParent(None)
        old, self._page, self._fields = self._page, QWidget(), {}
        self._column.replaceWidget(old, self._page)
        old.deleteLater()
        grid = self._grid = QGridLayout(self._page)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(0, 1)
        self._add_rows(grid, (setting for setting in settings if not setting.advanced))
        if any(setting.advanced for setting in settings):
            grid.addWidget(self._more, grid.rowCount(), 0, Qt.AlignmentFlag.AlignLeft)
            self._add_rows(grid, (setting for setting in settings if setting.advanced))
        grid.setRowStretch(grid.rowCount(), 1)
        self._unfold(self._more.isChecked())
        self._measure()

    def _add_rows(self, grid: QGridLayout, settings: Iterable[Setting]) -> None:
        for setting in settings:
            field = self._fields[setting.name] = SettingField(setting, self._page)
            field.set_value(getattr(self._configuration, setting.name))
            field.value_changed.connect(self._read)
            row = grid.rowCount()
            grid.addWidget(field.label, row, 0)
            grid.addWidget(field.control, row, 1, Qt.AlignmentFlag.AlignRight)
            grid.addWidget(field.complaint, row + 1, 0, 1, 2)

    def _unfold(self, unfolded: bool) -> None:
        self._more.setText(FOLD if unfolded else UNFOLD)
        for field in self._fields.values():
            is_used = field.setting.name in self._used
            field.set_shown(is_used and (unfolded or not field.setting.advanced))
        advanced = (name for name, field in self._fields.items() if field.setting.advanced)
        self._more.setVisible(any(name in self._used for name in advanced))

    def _measure(self) -> None:
        self._grid.setVerticalSpacing(round(3 * current_theme().scale))
        self._grid.setHorizontalSpacing(round(10 * current_theme().scale))
        for field in self._fields.values():
            field.adopt_theme()

    def _read(self) -> None:
        """Take the form's values; complain below the field that an error is about."""
        changed, complaints, values = self.sender(), {}, {}
        assert isinstance(changed, SettingField), "only fields are connected to this"
        for name, field in self._fields.items():
            try:
                values[name] = field.value()
            except LmvizError as error:
                complaints[name] = str(error)
        if not complaints:
            try:
                self._configuration = replace(self._configuration, **values)
            except LmvizError as error:
                complaints[self._meant(error, changed)] = str(error)
        for name, field in self._fields.items():
            field.complain(complaints.get(name, ""))
        if complaints:
            self.refused.emit(next(iter(complaints.values())))
        else:
            self.configuration_changed.emit(self._configuration)

    def _meant(self, error: LmvizError, changed: SettingField) -> str:
        """The setting an error is about: the one just changed if it is among them, else the first."""
        about = error.settings if isinstance(error, SettingError) else ()
        named = [name for name in about if name in self._fields]
        return changed.setting.name if not named or changed.setting.name in named else named[0]


class SettingField(QObject):
    """One row of a form: `label`, `control` and `complaint`, an error below them, are widgets to lay out.

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
        name_with(self.label, self.control)
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
        typed = control.text()  # of a text, every blank counts
        held = typed.strip().replace(",", ".") if self.setting.kind is float else typed
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
