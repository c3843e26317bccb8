"""Spin boxes within a line show their whole value, whatever the type is like."""

import pytest
from PySide6.QtWidgets import QLineEdit, QSpinBox

from lmviz.app.widgets.controls.inline_spin import fit_width
from lmviz.app.widgets.controls.sampling_controls import SamplingControls
from lmviz.decoding.options import SamplingOptions


def room(spin) -> int:
    return spin.findChild(QLineEdit).width() - spin.fontMetrics().horizontalAdvance(spin.text())


@pytest.mark.parametrize("size", [9, 24])
def test_the_longest_value_has_room(shown, size):
    spin = shown(QSpinBox(), 200, 40)
    spin.setStyleSheet(f"font-size: {size}px")
    spin.setRange(1, 1000)
    spin.setSuffix(" tokens")
    fit_width(spin)
    spin.setValue(1000)
    assert room(spin) >= 0


def test_a_long_seed_makes_its_own_room(shown):
    controls = shown(SamplingControls(), 700, 200)
    controls.set_options(SamplingOptions(seed=1_234_567_890, top_k=50_257, temperature=100.0))
    for spin in (controls.seed, controls.top_k, controls.temperature):
        assert room(spin) >= 0, spin.text()
    wide = controls.seed.width()
    controls.set_options(SamplingOptions(seed=1))
    assert controls.seed.width() < wide
