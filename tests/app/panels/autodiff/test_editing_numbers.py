"""Numbers of the graph are typed and dragged, by pointer and by keys, and all that follows is new."""

import pytest
from covering import parametrize_few
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.diagrams.network_values import ValueCell
from lmviz.app.widgets.text.network_editor import NetworkEditor
from tests.app.panels.autodiff.conftest import Scene


def test_a_number_that_is_typed_changes_all_that_follows(scene: Scene) -> None:
    scene.click("tape_run_backward")
    before = scene.read("ŷ", (1,), gradient=True)
    QTest.mouseDClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("x", (0,), False))
    edit = scene.picture.findChild(QLineEdit, "number_edit")
    edit.setText("5")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    scene.settle()
    assert scene.read("x", (0,)) == 5
    assert scene.read("a", (0,)) == 2
    assert scene.read("ŷ", (1,), gradient=True) != before
    assert "x = [5; 2]" in scene.find(NetworkEditor).toPlainText()


def test_a_number_that_is_dragged_changes(scene: Scene) -> None:
    start = scene.place("z", (1,), False)
    QTest.mousePress(scene.picture, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(scene.picture, start - QPoint(0, 30))
    QTest.mouseRelease(scene.picture, Qt.MouseButton.LeftButton, pos=start - QPoint(0, 30))
    scene.settle()
    assert scene.read("z", (1,)) == pytest.approx(0.622459 + 0.3, abs=1e-6)
    assert scene.session.network.current["z"].held is not None
    assert scene.read("J") != pytest.approx(0.325054, abs=1e-6)


@pytest.mark.slow
def test_typing_nothing_has_a_value_computed_again(scene: Scene) -> None:
    for text, expected in (("0.9", 0.9), ("", 0.622459)):
        QTest.mouseDClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("z", (1,), False))
        edit = scene.picture.findChild(QLineEdit, "number_edit")
        edit.setText(text)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        scene.settle()
        assert scene.read("z", (1,)) == pytest.approx(expected, abs=5e-7)


@pytest.mark.slow
def test_a_weight_can_be_typed_on_any_of_its_arrows(scene: Scene) -> None:
    scene.session.network.open_shipped("summation")
    scene.settle()
    field = scene.picture.field_rectangle("h[3]·1", "U").center().toPoint()
    QTest.mouseDClick(scene.picture, Qt.MouseButton.LeftButton, pos=field)
    edit = scene.picture.findChild(QLineEdit, "number_edit")
    edit.setText("0.9")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    scene.settle()
    assert scene.session.network.current["U"].value == 0.9
    assert scene.read("y") == pytest.approx(2.953)


@pytest.mark.slow
def test_escape_leaves_a_number_as_it_was(scene: Scene) -> None:
    QTest.mouseDClick(scene.picture, Qt.MouseButton.LeftButton, pos=scene.place("x", (0,), False))
    edit = scene.picture.findChild(QLineEdit, "number_edit")
    edit.setText("7")
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert not edit.isVisible()
    assert scene.read("x", (0,)) == 1


@pytest.mark.slow
@parametrize_few("typed", ["", "7"])
def test_a_click_elsewhere_ends_the_typing_and_has_the_focus(scene: Scene, typed: str, qtbot: QtBot) -> None:
    editor, picture = scene.find(NetworkEditor), scene.picture
    qtbot.waitUntil(picture.isActiveWindow)
    QTest.mouseDClick(picture, Qt.MouseButton.LeftButton, pos=scene.place("x", (0,), False))
    edit = picture.findChild(QLineEdit, "number_edit")
    QTest.keyClicks(edit, typed)
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(60, 20))
    assert not edit.isVisible()
    assert QApplication.focusWidget() is editor
    assert scene.read("x", (0,)) == 1
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
        picture.edit_cell(ValueCell("x", (0,), False))
        QTest.keyClick(QApplication.focusWidget(), key)
        assert QApplication.focusWidget() is picture


def test_the_keyboard_goes_from_cell_to_cell_and_types(scene: Scene) -> None:
    picture = scene.picture
    picture.setFocus()
    for _ in range(40):
        if scene.session.network_focus.pinned is not None and scene.session.network_focus.pinned[0] == "x":
            break
        QTest.keyClick(picture, Qt.Key.Key_Right)
        scene.settle()
    QTest.keyClick(picture, Qt.Key.Key_Return)
    edit = picture.findChild(QLineEdit, "number_edit")
    edit.setText("not a number")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    assert not edit.isVisible()
    assert not any(each.isVisible() for each in picture.findChildren(QLineEdit))
    QTest.mouseMove(picture, QPoint(3, 3))
    assert scene.read("x", (0,)) == 1
    assert "x: 1, 2" in picture.accessibleDescription()


@pytest.mark.slow
def test_what_is_being_typed_is_not_taken_back_by_the_tape(scene: Scene, qtbot: QtBot) -> None:
    editor = scene.find(NetworkEditor)
    editor.setPlainText(editor.toPlainText().replace("x = [1; 2]", "x = [5; 2]"))
    scene.session.network.rewind()  # before the text is read
    scene.settle()
    assert "x = [5; 2]" in editor.toPlainText()
    qtbot.waitUntil(lambda: scene.session.network.current["x"].value[0] == 5)
