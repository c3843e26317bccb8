"""The rail of perspectives: words stand below all icons or below none."""

from covering import parametrize_few
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.window.perspective_rail import PerspectiveRail, RailButton


@parametrize_few("projector", [False, True])
def test_words_stand_below_all_icons_or_none(qtbot: QtBot, projector: bool) -> None:
    theme_switch().set_projector(projector)
    rail = PerspectiveRail(PERSPECTIVES)
    qtbot.addWidget(rail)
    rail.show()
    seen = set()
    for height in range(420, 1200, 3):
        rail.resize(rail.sizeHint().width(), height)
        QApplication.processEvents()
        wordy = {button.is_wordy for button in rail.findChildren(RailButton)}
        assert len(wordy) == 1, height
        seen |= wordy
    assert seen == {True, False}
    wide = rail.sizeHint().width()
    rail.resize(wide, 420)
    qtbot.waitUntil(lambda: rail.sizeHint().width() < 0.6 * wide)  # icons alone need no room for words
