"""The options of a beam search: what is kept, what is taken of each, how far it goes."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QHBoxLayout, QSpinBox, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.flow import labelled
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.controls.inline_spin import fit_width
from lmviz.base.configuration import Setting
from lmviz.decoding.options import BeamOptions

SHOWN = {"width": "k", "continuations": "m", "length": "length", "length_penalty": "α"}
"""The options with a box of their own, and the name beside it."""

AS_WIDTH = "as k"


class BeamControls(QWidget):
    """`BeamControls()`: `set_options(options)` emits nothing; `option_changed(name, value)` by a person."""

    option_changed = Signal(str, object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        settings = {item.name: item for item in BeamOptions.settings()}
        self._spins = {name: _spin(settings[name]) for name in SHOWN}
        self._choice = QComboBox()
        self._choice.setObjectName("beam_choice_picker")
        self._choice.setAccessibleName("which continuations are taken")
        self._choice.setToolTip(paragraph(settings["choice"].help))
        self._choice.addItems([str(choice) for choice in settings["choice"].choices])
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for name, spin in self._spins.items():
            beside = (self._choice,) if name == "continuations" else ()
            row.addWidget(labelled(SHOWN[name], spin, *beside))
            spin.valueChanged.connect(lambda value, name=name: self.option_changed.emit(name, value))
        self._choice.textActivated.connect(lambda words: self.option_changed.emit("choice", words))
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()

    def set_options(self, options: BeamOptions) -> None:
        """Show other options."""
        for name, spin in self._spins.items():
            with QSignalBlocker(spin):
                spin.setValue(getattr(options, name))
        self._choice.setCurrentText(options.choice)

    def _adopt_theme(self) -> None:
        for spin in self._spins.values():
            fit_width(spin)


def _spin(setting: Setting) -> QSpinBox | QDoubleSpinBox:
    """A box for an option, with its name and limits."""
    assert setting.minimum is not None, "each option of the search has both limits"
    assert setting.maximum is not None, "each option of the search has both limits"
    spin: QSpinBox | QDoubleSpinBox
    if isinstance(setting.default, int):
        spin = QSpinBox()
        spin.setRange(int(setting.minimum), int(setting.maximum))
    else:
        spin = QDoubleSpinBox()
        spin.setRange(setting.minimum, setting.maximum)
        spin.setSingleStep(0.1)
    if setting.zero:
        spin.setSpecialValueText(AS_WIDTH)
    spin.setObjectName(f"beam_{setting.name}_spin")
    spin.setAccessibleName(f"beam {setting.label.lower()}")
    spin.setToolTip(paragraph(setting.help))
    return spin
