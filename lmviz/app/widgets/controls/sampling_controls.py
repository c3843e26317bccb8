"""Temperature, top-k, top-p, min-p and the seed, each with its name, wrapped over several lines."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QSpinBox, QWidget

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.flow import FlowLayout, labelled
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.base.steady import DoubleSpinBox, Slider, SpinBox
from lmviz.app.widgets.controls.inline_spin import fit_width
from lmviz.base.configuration import Setting
from lmviz.decoding.options import SamplingOptions

Spin = TypeVar("Spin", QSpinBox, QDoubleSpinBox)

MOST_K = 1_000_000
LARGEST_SEED = 2**31 - 1
HUNDREDTH = 100  # slider steps in one unit of temperature
HOTTEST = 2 * HUNDREDTH
SLIDER = 72
USUAL = {"temperature": 9.99, "top_k": 9_999, "seed": 9_999}
"""The largest values for which there is always room; larger ones make their own."""


class SamplingControls(QWidget):
    """`SamplingControls()`: `set_options(options)` shows them and emits nothing.

    Signal: `changed(str, object)`, the name of an option and its new value.
    """

    changed = Signal(str, object)

    def __init__(self) -> None:
        super().__init__()
        self._settings = {setting.name: setting for setting in SamplingOptions.settings()}
        self._flow = FlowLayout(self)
        self.temperature = self._decimal("temperature", 100.0, 0.05)
        self.slider = named(Slider(Qt.Orientation.Horizontal), "temperature_slider", "temperature, roughly")
        self.slider.setRange(0, HOTTEST)
        self.slider.valueChanged.connect(lambda value: self.changed.emit("temperature", value / HUNDREDTH))
        self.top_k = self._whole("top_k", MOST_K)
        self.top_p = self._decimal("top_p", 1.0, 0.05)
        self.min_p = self._decimal("min_p", 1.0, 0.01)
        self.seed = self._whole("seed", LARGEST_SEED)
        self.top_k.setSpecialValueText("off")
        self.min_p.setSpecialValueText("off")
        self.lock = named(QCheckBox("lock"), "seed_lock", "lock the seed")
        self.lock.setToolTip(paragraph(self._settings["seed_locked"].help))
        self.lock.toggled.connect(lambda on: self.changed.emit("seed_locked", on))
        self._flow.addWidget(labelled("temperature", self.temperature, self.slider))
        for name, control in (("top-k", self.top_k), ("top-p", self.top_p), ("min-p", self.min_p)):
            self._flow.addWidget(labelled(name, control))
        self._flow.addWidget(labelled("seed", self.seed, self.lock))
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()

    def set_options(self, options: SamplingOptions) -> None:
        """Show options that were chosen elsewhere."""
        shown = (
            (self.temperature, options.temperature),
            (self.slider, min(HOTTEST, round(options.temperature * HUNDREDTH))),
            (self.top_k, options.top_k),
            (self.top_p, options.top_p),
            (self.min_p, options.min_p),
            (self.seed, min(options.seed, LARGEST_SEED)),
        )
        for control, value in shown:
            with QSignalBlocker(control):
                if control.value() == value:
                    continue
                if isinstance(control, DoubleSpinBox):
                    control.setValue(value)
                else:
                    control.setValue(int(value))
        with QSignalBlocker(self.lock):
            self.lock.setChecked(options.seed_locked)
        self._fit()

    def _whole(self, name: str, most: int) -> QSpinBox:
        spin = SpinBox()
        spin.setRange(0, most)
        spin.setGroupSeparatorShown(True)
        return self._connected(spin, self._settings[name])

    def _decimal(self, name: str, most: float, step: float) -> QDoubleSpinBox:
        spin = DoubleSpinBox()
        spin.setRange(0.0, most)
        spin.setSingleStep(step)
        return self._connected(spin, self._settings[name])

    def _connected(self, spin: Spin, setting: Setting) -> Spin:
        spin.valueChanged.connect(lambda value: self.changed.emit(setting.name, value))
        spin.textChanged.connect(lambda _: fit_width(spin, USUAL.get(setting.name)))
        spin.setToolTip(paragraph(setting.help))
        return named(spin, f"{setting.name}_spin", setting.label)

    def _adopt_theme(self) -> None:
        self._fit()
        self.slider.setFixedWidth(round(SLIDER * current_theme().scale))

    def _fit(self) -> None:
        for name in ("temperature", "top_k", "top_p", "min_p", "seed"):
            fit_width(getattr(self, name), USUAL.get(name))
