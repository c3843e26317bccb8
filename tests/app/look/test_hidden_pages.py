"""Pages out of sight: a change of theme passes them over, and once shown nobody can tell."""

from collections.abc import Callable

import pytest
from covering import parametrize_few
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QLabel, QStackedWidget, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.board.page import PanelPage
from lmviz.app.look.hidden_pages import POLISHED, style_now
from lmviz.app.look.roles import DARK
from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.table import projected_rows
from lmviz.app.window.main_window import MainWindow

ROLES = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


class Styled(QObject):
    """Notes which widgets are styled anew; one that was never shown is only told of it."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[QWidget] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        was_shown = isinstance(watched, QWidget) and watched.testAttribute(POLISHED)
        if event.type() == QEvent.Type.StyleChange and was_shown:
            self.told.append(watched)
        return False


def look_of(page: QWidget) -> dict[QWidget, tuple[str, ...]]:
    """The fonts and colours of all that is seen on a page."""
    return {
        each: (each.font().toString(), *(each.palette().color(role).name() for role in ROLES))
        for each in (page, *page.findChildren(QWidget))
        if each.isVisible()
    }


@parametrize_few("projector", [False, True], ids=["dark", "projector"])
def test_a_perspective_out_of_sight_looks_once_shown_as_if_it_had_been_seen(
    window: MainWindow, drawn: Callable[[], None], projector: bool
) -> None:
    def change(back: bool = False) -> None:
        if projector:
            window.set_projector(not back)
        else:
            window.set_theme("light" if back else "dark")

    def at_rest() -> dict[QWidget, tuple[str, ...]]:
        """How the board looks when its panels have been measured and drawn, one after the other."""
        drawn()
        looks = [look_of(board)]
        while len(looks) < 4 or looks[-4:] != looks[-1:] * 4:
            QApplication.processEvents()
            looks.append(look_of(board))
        return looks[-1]

    first = window.perspective_name
    window.show_perspective("sample")
    board = window.perspective
    window.show_perspective(first)
    styled = Styled()
    QApplication.instance().installEventFilter(styled)
    change()
    QApplication.instance().removeEventFilter(styled)
    assert styled.told
    assert not any(board.isAncestorOf(each) for each in styled.told)
    window.show_perspective("sample")
    passed_over = at_rest()
    change(back=True)
    change()
    seen = at_rest()
    both = passed_over.keys() & seen.keys()  # what large type leaves no room for comes and goes
    assert len(both) > 20
    assert {each: passed_over[each] for each in both} == {each: seen[each] for each in both}


def styled_by(change: Callable[[], None]) -> list[QWidget]:
    """What a change styles anew."""
    styled = Styled()
    QApplication.instance().installEventFilter(styled)
    change()
    QApplication.instance().removeEventFilter(styled)
    return styled.told


def pages_of(window: MainWindow) -> list[PanelPage]:
    return window.perspective.findChildren(PanelPage)


def test_a_panel_behind_others_is_styled_when_it_comes_in_front(
    window: MainWindow, drawn: Callable[[], None]
) -> None:
    window.show_perspective("difference")
    drawn()
    before = {page for page in pages_of(window) if page.isVisible()}
    behind = next(page for page in pages_of(window) if page.isHidden() and page.row.tabbed)
    behind.raise_()  # it has been seen
    drawn()
    first = next(page for page in before if page.isHidden())
    first.raise_()
    drawn()
    told = styled_by(lambda: window.set_theme("dark"))
    assert any(first.isAncestorOf(each) for each in told)
    assert not any(behind.isAncestorOf(each) for each in told)
    behind.raise_()
    drawn()
    late = look_of(behind)
    window.set_theme("light")
    window.set_theme("dark")
    drawn()
    assert late == look_of(behind)
    assert len(late) > 3


@pytest.mark.slow
def test_what_a_perspective_of_hidden_tabs_passes_over_waits_for_its_own_turn(
    window: MainWindow, drawn: Callable[[], None]
) -> None:
    window.show_perspective("difference")
    drawn()
    behind = next(page for page in pages_of(window) if page.isHidden() and page.row.tabbed)
    first = next(page for page in pages_of(window) if page.isVisible() and page.row.tabbed is False)
    behind.raise_()
    drawn()
    window.reset_arrangement()
    drawn()
    other = window.perspective_name
    window.show_perspective("sample")
    window.set_theme("dark")
    told = styled_by(lambda: window.show_perspective(other))
    assert any(first.isAncestorOf(each) for each in told)
    assert behind.isHidden()
    assert not any(behind.isAncestorOf(each) for each in told)
    told = styled_by(behind.raise_)
    assert any(behind.isAncestorOf(each) for each in told)


@pytest.mark.slow
def test_what_a_projector_has_no_room_for_is_not_styled_for_it(
    window: MainWindow, drawn: Callable[[], None]
) -> None:
    window.show_perspective("difference")
    drawn()
    left = {row.name for row in projected_rows("difference")}
    away = [page for page in pages_of(window) if page.row.name not in left and page.isVisible()]
    told = styled_by(lambda: window.set_projector(True))
    drawn()
    assert away
    assert not any(page.isVisible() for page in away)
    assert not any(page.isAncestorOf(each) for page in away for each in told)
    window.set_projector(False)
    QApplication.processEvents()
    drawn()
    assert all(page.isVisible() for page in away)


class Page(QWidget):
    def setVisible(self, visible: bool) -> None:
        if visible:
            style_now(self)
        super().setVisible(visible)


def test_what_was_passed_over_keeps_nothing_of_a_role_that_it_had(qtbot: QtBot) -> None:
    stack, page = QStackedWidget(), Page()
    qtbot.addWidget(stack)
    words = QLabel("words", page)
    words.setProperty("role", "muted")
    plain = words.font().pixelSize()
    stack.addWidget(page)
    stack.addWidget(QWidget())
    switch = theme_switch()
    switch.style_when_shown(page)
    stack.show()
    switch.set_choice("light")
    muted = words.palette().color(ROLES[0])
    stack.setCurrentIndex(1)
    switch.set_choice("dark")
    assert words.palette().color(ROLES[0]) == muted, "nobody sees it"
    stack.setCurrentIndex(0)
    assert words.palette().color(ROLES[0]) == DARK.muted_text
    words.setProperty("role", "")
    words.style().unpolish(words)
    words.style().polish(words)
    assert words.palette().color(ROLES[0]) == DARK.text
    assert words.font().pixelSize() == plain
