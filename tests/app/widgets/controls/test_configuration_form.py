"""Forms: every setting has a control, and what cannot be is said beside the control that caused it."""

from dataclasses import dataclass

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton, QSpinBox

from lmviz.app.widgets.controls.configuration_form import ConfigurationForm
from lmviz.base.configuration import Configuration, setting
from lmviz.base.errors import SettingError


@dataclass(frozen=True)
class Toy(Configuration):
    layers: int = setting(2, "How many layers.", minimum=1, maximum=9)
    width: int = setting(8, "Numbers per word.", minimum=1, maximum=64)
    rate: float = setting(3e-4, "Step size.", minimum=0.0, maximum=1.0)
    norm: str = setting("pre", "Where.", choices=("pre", "post"))
    tied: bool = setting(True, "Share.")
    extra: int = setting(0, "Rarely needed.", minimum=0, maximum=5, zero="as many", advanced=True)
    offset: int = setting(0, "Only elsewhere.", minimum=0, maximum=5, of_others=True)

    def check(self) -> None:
        if self.width % self.layers:
            raise SettingError(
                f"width {self.width} cannot be shared by {self.layers} layers: choose a multiple.",
                "width",
                "layers",
            )


@pytest.fixture
def form(shown):
    return shown(ConfigurationForm(Toy()), 320, 400)


def control(form, name, kind):
    found = form.findChild(kind, f"{name}_field")
    assert found is not None
    return found


def test_each_kind_has_its_control_with_limits_help_and_name(form):
    layers = control(form, "layers", QSpinBox)
    assert (layers.minimum(), layers.maximum(), layers.value()) == (1, 9, 2)
    assert "How many layers." in layers.toolTip()
    assert layers.accessibleName() == "Layers"
    assert control(form, "rate", QLineEdit).text() == "0.0003"
    assert control(form, "norm", QComboBox).count() == 2
    assert control(form, "tied", QCheckBox).isChecked()


def test_a_zero_that_stands_for_something_says_for_what(form):
    extra = control(form, "extra", QSpinBox)
    assert extra.text() == "as many"
    extra.setValue(2)
    assert extra.text() == "2"
    extra.setValue(0)
    assert form.configuration.extra == 0


def test_a_change_gives_the_whole_new_configuration(form, qtbot):
    with qtbot.waitSignal(form.configuration_changed) as signal:
        control(form, "norm", QComboBox).setCurrentIndex(1)
    assert signal.args == [Toy(norm="post")]
    assert form.configuration == Toy(norm="post")


def test_text_that_is_no_number_is_refused_beside_its_field_and_can_be_mended(form, qtbot):
    rate = control(form, "rate", QLineEdit)
    with qtbot.waitSignal(form.refused) as signal:
        rate.setText("fast")
    assert "Rate must be a number, and not 'fast'" in signal.args[0]
    assert form.field("rate").complaint.isVisible()
    assert form.complaint == signal.args[0]
    assert form.configuration == Toy()
    with qtbot.waitSignal(form.configuration_changed):
        rate.setText("1e-3")
    assert not form.field("rate").complaint.isVisible()
    assert form.configuration.rate == 1e-3
    assert rate.text() == "1e-3"


def test_settings_that_do_not_fit_one_another_complain_at_the_one_changed(form):
    control(form, "layers", QSpinBox).setValue(3)
    assert "width 8 cannot be shared by 3" in form.field("layers").complaint.text()
    control(form, "width", QSpinBox).setValue(10)
    assert form.field("layers").complaint.text() == ""
    assert "width 10" in form.field("width").complaint.text()
    control(form, "width", QSpinBox).setValue(9)
    assert form.complaint == ""
    assert form.configuration == Toy(layers=3, width=9)


def test_advanced_settings_unfold(form):
    extra = control(form, "extra", QSpinBox)
    assert not extra.isVisible()
    QTest.mouseClick(form.findChild(QPushButton), Qt.MouseButton.LeftButton)
    assert extra.isVisible()


def test_setting_a_configuration_says_nothing_and_clears_complaints(form):
    said = []
    control(form, "layers", QSpinBox).setValue(3)
    form.configuration_changed.connect(said.append)
    form.refused.connect(said.append)
    form.set_configuration(Toy(width=64, tied=False))
    assert said == []
    assert form.complaint == ""
    assert control(form, "width", QSpinBox).value() == 64


def test_another_class_builds_another_form(form, qtbot):
    @dataclass(frozen=True)
    class Other(Configuration):
        order: int = setting(3, "How many words.", minimum=1, maximum=7)

    form.set_configuration(Other())
    qtbot.waitUntil(lambda: form.findChild(QSpinBox, "layers_field") is None)
    with qtbot.waitSignal(form.configuration_changed) as signal:
        control(form, "order", QSpinBox).setValue(5)
    assert signal.args == [Other(order=5)]
    assert "Order" in [label.text() for label in form.findChildren(QLabel)]


def test_only_some_settings_may_be_changed(form):
    form.set_editable({"rate"})
    assert control(form, "rate", QLineEdit).isEnabled()
    assert not control(form, "layers", QSpinBox).isEnabled()
    form.set_editable(None)
    assert control(form, "layers", QSpinBox).isEnabled()


def test_what_only_other_models_have_is_in_no_form_and_stays(form):
    form.set_configuration(Toy(offset=3))
    assert form.findChild(QSpinBox, "offset_field") is None
    control(form, "layers", QSpinBox).setValue(4)
    assert form.configuration == Toy(layers=4, offset=3)
