"""Controls under a wheel that passes over them."""

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionComboBox, QWidget
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.widgets.base.steady import ComboBox, DoubleSpinBox, Slider, SpinBox


def chosen_number() -> ComboBox:
    made = ComboBox()
    made.addItems([str(value) for value in range(100)])
    return made


@pytest.mark.parametrize(
    "make", [chosen_number, SpinBox, DoubleSpinBox, lambda: Slider(Qt.Orientation.Horizontal)]
)
def test_the_wheel_turns_only_what_has_the_focus(make, qtbot: QtBot) -> None:
    sheet = QWidget()
    qtbot.addWidget(sheet)
    control = make()
    control.setParent(sheet)
    value, put = (
        (control.currentIndex, control.setCurrentIndex)
        if isinstance(control, ComboBox)
        else (control.value, control.setValue)
    )
    put(50)
    sheet.show()
    sheet.activateWindow()
    sheet.setFocus()

    def turn() -> bool:
        place = QPointF(control.rect().center())
        event = QWheelEvent(
            place,
            control.mapToGlobal(place),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(control, event)
        return event.isAccepted()

    assert not turn(), "it is left to what scrolls"
    assert value() == 50
    assert not control.hasFocus()
    control.setFocus()
    qtbot.waitUntil(control.hasFocus)
    turn()
    assert value() != 50


OF_QT = ("QComboBox", "QSpinBox", "QDoubleSpinBox", "QSlider")


def test_every_control_is_one_of_these() -> None:
    """None of Qt's own is made anywhere else."""
    made = re.compile("|".join(rf"\b{kind}\(" for kind in OF_QT))
    sources = Path(lmviz.__file__).parent.rglob("*.py")
    found = {path.name for path in sources if made.search(path.read_text("utf-8"))}
    assert not found


def test_the_list_of_a_narrow_control_shows_its_names_whole(qtbot: QtBot) -> None:
    control = ComboBox()
    control.addItems(["GPT-3 2.7 bn", "GPT-3 6.7 bn and a good deal more"])
    control.setFixedWidth(60)
    qtbot.addWidget(control)
    control.show()
    control.showPopup()
    view = control.view()
    qtbot.waitUntil(view.isVisible)
    assert view.viewport().width() >= view.sizeHintForColumn(0) > 60
    control.hidePopup()


@pytest.mark.parametrize("size", [9, 13, 20, 27, 36])
def test_a_picker_has_room_for_its_longest_value_in_any_type(qtbot: QtBot, size: int) -> None:
    for values in (["il"], ["A  step 3", "B  step 12"], ["gradient × value"]):
        box = ComboBox()
        qtbot.addWidget(box)
        font = box.font()
        font.setPixelSize(size)
        box.setFont(font)
        box.addItems(values)
        option = QStyleOptionComboBox()
        box.initStyleOption(option)
        for hint in (box.sizeHint(), box.minimumSizeHint()):
            option.rect = QRect(QPoint(0, 0), hint)
            edit = QStyle.SubControl.SC_ComboBoxEditField
            room = box.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, edit, box)
            assert room.width() >= max(map(box.fontMetrics().horizontalAdvance, values))
