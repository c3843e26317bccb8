"""Where the panels are: remembered, put back, shared out anew in another window, and never drifting."""

from collections.abc import Callable

import pytest
from covering import parametrize_few
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSplitter, QSplitterHandle, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.board.board import Board
from lmviz.app.board.page import PanelPage
from lmviz.app.board.panel_windows import PanelWindow
from lmviz.app.board.place import Place
from lmviz.app.opening.settings import Settings
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

Places = dict[str, QRect]
OLD = "AAAA/wAAAAD9AAAAAgAAAAEAAAFUAAACuvwCAAAAA/sAAAAgAGQAbwBjAGs="  # as Qt wrote it for docks


def places(window: MainWindow) -> Places:
    """Where the panels in sight stand in the window."""
    for _ in range(4):
        QApplication.processEvents()
    return {
        panel.objectName(): QRect(panel.mapTo(window, QPoint()), panel.size())
        for panel in window.perspective.panels
        if panel.is_in_sight
    }


def page(window: MainWindow, name: str) -> PanelPage:
    return window.perspective.findChild(PanelPage, f"page_{name}")


def drag(window: MainWindow, left: str, pixels: int) -> None:
    """Move the line at the right of a panel's column."""
    beside = page(window, left).mapTo(window, QPoint(page(window, left).width(), 40))
    handles = [handle for handle in window.perspective.findChildren(QSplitterHandle) if handle.isVisible()]
    [handle] = [
        each
        for each in handles
        if each.orientation() == Qt.Orientation.Horizontal
        and abs(each.mapTo(window, QPoint()).x() - beside.x()) <= 2
        and each.height() > window.perspective.height() // 3
    ]
    middle = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=middle)
    QTest.mouseMove(handle, middle + QPoint(pixels, 0))
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=middle + QPoint(pixels, 0))


def click_tab(window: MainWindow, title: str) -> None:
    bars = [bar for bar in window.perspective.findChildren(QTabBar) if bar.isVisible()]
    [(bar, at)] = [(bar, at) for bar in bars for at in range(bar.count()) if bar.tabText(at) == title]
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(at).center())


def panel_of(window: MainWindow, name: str) -> Panel:
    return next(panel for panel in window.perspective.panels if panel.objectName() == name)


def toggle(window: MainWindow, title: str) -> None:
    [action] = [action for action in window.perspective.toggle_actions if action.text() == title]
    action.trigger()


@pytest.fixture
def again(session: Session, settings: Settings, qtbot: QtBot) -> Callable[[MainWindow], MainWindow]:
    """Call it with a window to close that and open another one with its settings."""

    def restart(window: MainWindow) -> MainWindow:
        name, size = window.perspective_name, window.size()
        session.close = lambda: None  # which the next window goes on with
        window.close()
        del session.close
        later = MainWindow(session, settings)
        qtbot.addWidget(later)
        later.resize(size)
        later.show()
        later.show_perspective(name)
        return later

    return restart


@pytest.mark.slow
@pytest.mark.parametrize(
    ("perspective", "rounds"),
    [
        ("sample", 2),
        *(pytest.param(name, 10, marks=pytest.mark.slow) for name in ("attention", "inside", "sample")),
    ],
)
def test_nothing_drifts_over_many_rounds(
    window: MainWindow,
    read: Session,
    again: Callable[[MainWindow], MainWindow],
    drawn: Callable[[], None],
    perspective: str,
    rounds: int,
    qtbot: QtBot,
) -> None:
    """Of what enlarges, narrows or hides panels for a time, and of closing the window."""
    window.resize(1280, 760)
    window.show_perspective(perspective)
    drawn()
    drag(window, {"attention": "heads", "inside": "picture", "sample": "distribution"}[perspective], -30)
    if perspective != "attention":  # whose other tabs have nothing to show of this model
        click_tab(window, {"inside": "Surgery", "sample": "Beam search"}[perspective])
    drawn()
    before, model = places(window), read.library.model
    for _ in range(rounds):
        window.toggle_enlarged()
        assert len(places(window)) == 1
        window.toggle_enlarged()
        qtbot.waitUntil(lambda: places(window) == before)
        window.lessons.toggle()
        assert places(window) != before
        window.lessons.close()
        qtbot.waitUntil(lambda: places(window) == before)
        window.lessons.start_tour()
        read.lesson.go_on()
        drawn()  # or what the tour opens comes later than what is chosen below
        window.lessons.close()
        read.library.choose(model)  # the tour shows others, for which other panels have room
        window.show_perspective(perspective)
        qtbot.waitUntil(lambda: places(window) == before)
        window.set_projector(True)
        assert len(places(window)) <= 2
        window.set_projector(False)
        qtbot.waitUntil(lambda: places(window) == before)
        drawn()
        assert places(window) == before
    window = again(window)
    drawn()
    qtbot.waitUntil(lambda: places(window) == before)


@pytest.mark.slow
def test_what_is_arranged_in_a_lesson_or_in_projector_mode_is_for_that_time(
    window: MainWindow, read: Session, drawn: Callable[[], None]
) -> None:
    window.resize(1440, 900)
    window.show_perspective("attention")
    drawn()
    before, remembered = places(window), window.perspective.arrangement()
    window.lessons.toggle()
    drag(window, "heads", 40)
    click_tab(window, "Context")
    assert "context_view" in places(window)
    assert window.perspective.arrangement() == remembered
    window.lessons.close()
    assert places(window) == before
    window.set_projector(True)
    drawn()
    assert window.perspective.arrangement() == remembered
    window.set_projector(False)
    drawn()
    assert places(window) == before


def test_the_arrangement_is_remembered_and_can_be_reset(
    window: MainWindow, again: Callable[[MainWindow], MainWindow], drawn: Callable[[], None]
) -> None:
    window.resize(1440, 900)
    window.show_perspective("train")
    drawn()
    usual = places(window)
    toggle(window, "Next word")
    drag(window, "plan", 60)
    click_tab(window, "Noise")
    drawn()
    before = places(window)
    assert "next_word_view" not in before
    assert "noise_view" in before
    assert before["plan_view"].width() > usual["plan_view"].width() + 40
    window = again(window)
    drawn()
    assert places(window) == before
    window.reset_arrangement()
    assert places(window) == usual


@pytest.mark.slow
@parametrize_few(
    "kept",
    [OLD, "[1, 2]", "{", '{"lengths": {"columns": [1], "left": {"heads": -5, "x": "y"}}, "fronts": 3}',
     '{"hidden": ["nobody", 4], "windows": {"heads": 3, "nobody": ""}, "fronts": {"heads": "nobody"}}'],
)  # fmt: skip
def test_what_settings_hold_that_is_no_arrangement_is_dropped(
    session: Session,
    settings: Settings,
    window: MainWindow,
    drawn: Callable[[], None],
    qtbot: QtBot,
    kept: str,
) -> None:
    window.resize(1280, 760)
    window.show_perspective("attention")
    drawn()
    usual = places(window)
    board = Board("attention", session, kept)
    qtbot.addWidget(board)
    board.resize(window.perspective.size())
    board.show()
    qtbot.waitUntil(lambda: len([panel for panel in board.panels if panel.is_in_sight]) == len(usual))
    drawn()
    sizes = {panel.objectName(): panel.size() for panel in board.panels if panel.is_in_sight}
    assert sizes == {name: place.size() for name, place in usual.items()}


@pytest.mark.slow
def test_more_room_goes_to_the_panels_in_the_middle(window: MainWindow, qtbot: QtBot) -> None:
    def widths() -> dict[str, int]:
        return {panel.objectName(): panel.width() for panel in window.perspective.panels}

    window.show_perspective("train")
    window.resize(1000, 640)
    qtbot.waitUntil(lambda: widths()["loss_view"] < 400)
    window.resize(2200, 1200)
    qtbot.waitUntil(lambda: widths()["loss_view"] > 1200)
    assert 340 < widths()["plan_view"] < 400, "at the sides the panels grow, but less"


def test_a_panel_in_a_window_of_its_own_leaves_its_room_and_comes_back_when_that_is_closed(
    window: MainWindow,
    read: Session,
    drawn: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    window.resize(1440, 900)
    window.show_perspective("attention")
    drawn()
    before = places(window)
    panel = panel_of(window, "surgery_view")
    middle = panel.mapToGlobal(panel.rect().center())
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: middle))
    QTest.keyClick(window, Qt.Key.Key_F9, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: isinstance(panel.window(), PanelWindow) and panel.isVisible())
    assert panel.window().windowTitle() == "Surgery – lmviz"
    assert places(window)["next_word_view"].height() > before["next_word_view"].height() + 100
    window.show_perspective("train")
    assert panel.isVisible(), "on a second screen it stays"
    window.show_perspective("attention")
    panel.window().close()
    assert panel.window() is window
    assert places(window) == before


@pytest.mark.slow
def test_a_window_of_a_panel_is_remembered_with_its_place(
    window: MainWindow, again: Callable[[MainWindow], MainWindow], drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.show_perspective("train")
    drawn()
    window.perspective.toggle_window("health")
    own = panel_of(window, "health_view").window()
    own.setGeometry(60, 80, 420, 330)
    qtbot.waitUntil(lambda: own.geometry() == QRect(60, 80, 420, 330))
    window = again(window)
    assert not own.isVisible()
    qtbot.waitUntil(lambda: bool(window.findChildren(PanelWindow)))
    assert panel_of(window, "health_view").window().geometry() == QRect(60, 80, 420, 330)
    toggle(window, "Health")
    assert panel_of(window, "health_view").window() is window


@pytest.mark.slow
def test_the_panel_under_the_pointer_is_the_one_in_front(
    window: MainWindow, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.show_perspective("train")
    drawn()
    window.perspective.toggle_window("health")
    own, loss = panel_of(window, "health_view").window(), panel_of(window, "loss_view")
    own.setGeometry(QRect(loss.mapToGlobal(QPoint(20, 20)), own.minimumSizeHint()))
    qtbot.waitUntil(lambda: QApplication.topLevelAt(own.geometry().center()) is own)
    assert window.perspective.name_at(own.geometry().center()) == "health"
    assert window.perspective.name_at(loss.mapToGlobal(QPoint(5, 5))) == "loss"
    own.close()
    assert window.perspective.name_at(loss.mapToGlobal(QPoint(40, 40))) == "loss"


@pytest.mark.slow
def test_keys_of_the_main_window_act_in_the_window_of_a_panel(
    window: MainWindow, read: Session, drawn: Callable[[], None], qtbot: QtBot
) -> None:
    window.show_perspective("attention")
    drawn()
    window.perspective.toggle_window("surgery")
    own = panel_of(window, "surgery_view").window()
    position = read.focus.position
    QTest.keyClick(own, Qt.Key.Key_Left)
    assert read.focus.position == position - 1
    assert {action.text() for action in window.actions()} <= {action.text() for action in own.actions()}


def test_panels_are_parted_by_lines_that_can_be_dragged_and_no_panel_can_be_dragged_away(
    window: MainWindow, drawn: Callable[[], None]
) -> None:
    window.show_perspective("train")
    drawn()
    drag(window, "plan", -400)
    assert panel_of(window, "plan_view").width() >= panel_of(window, "plan_view").minimumWidth()
    assert not any(split.childrenCollapsible() for split in window.perspective.findChildren(QSplitter))


def test_what_is_made_ready_stands_in_its_places_before_it_is_shown(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qt styles a panel when it is put into the window, and that takes long."""
    while window.make_ready("train"):
        pass
    [board] = [view for view in window.findChildren(Board) if view.name == "train"]
    assert not board.isVisible()
    held = set(board.panels)
    assert held
    assert all(board.isAncestorOf(panel) for panel in held)
    put: list[str] = []
    insert = Place.insertTab

    def note(self: Place, at: int, page: QWidget, title: str) -> int:
        put.append(title)
        return insert(self, at, page, title)

    monkeypatch.setattr(Place, "insertTab", note)
    window.show_perspective("train")
    assert put == []
    assert set(board.panels) == held
    assert not window.make_ready("train")


@pytest.fixture
def put_in_place(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of places, each time that pages are put into one."""
    named: list[str] = []
    show_pages = Place.show_pages

    def note(place: Place, *given: object) -> None:
        named.append(place.name)
        show_pages(place, *given)

    monkeypatch.setattr(Place, "show_pages", note)
    return named


def test_a_step_in_another_perspective_puts_each_panel_in_its_place_once(
    window: MainWindow, put_in_place: list[str]
) -> None:
    window.show_perspective("autodiff")
    window.show_perspective("corpus")
    put_in_place.clear()
    window.show_step("autodiff", frozenset({"network_picture"}))
    assert put_in_place
    assert len(put_in_place) == len(set(put_in_place))
    assert [panel.objectName() for panel in window.perspective.panels if panel.is_in_sight] == ["graph_view"]


def test_what_is_in_front_already_moves_nothing_when_it_is_brought_there(
    window: MainWindow, put_in_place: list[str]
) -> None:
    window.show_perspective("autodiff")
    put_in_place.clear()
    window.bring_forward("network_picture")
    assert not put_in_place


def test_a_perspective_that_is_made_ahead_leaves_the_shown_one_as_it_is_painted(window: MainWindow) -> None:
    class Paints(QObject):
        count = 0

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            self.count += event.type() == QEvent.Type.Paint
            return False

    places(window)
    paints = Paints()
    window.perspective.installEventFilter(paints)
    window.make_ready("scale")
    places(window)
    assert paints.count == 0
