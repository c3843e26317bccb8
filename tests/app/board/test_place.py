"""Panels that share a place can all be reached: each has its tab."""

import numpy as np
import pytest
from covering import parametrize_few, walk_through
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDoubleSpinBox,
    QPushButton,
    QTabBar,
    QWidget,
)

from lmviz.app.board.page import PanelPage
from lmviz.app.board.place import Place
from lmviz.app.panels.table import rows_of, shown_perspectives
from lmviz.app.widgets.base.building import beside_by_tab, takes_tab
from lmviz.app.window.main_window import MainWindow


@parametrize_few("perspective", ["inside", "compare"])
def test_every_tabbed_panel_has_a_tab_that_can_be_seen(window, qtbot, perspective):
    def shown() -> set[str]:
        bars = [bar for bar in window.perspective.findChildren(QTabBar) if bar.isVisible()]
        return {bar.tabText(index) for bar in bars for index in range(bar.count())}

    window.show_perspective(perspective)
    titles = {row.title for row in rows_of(perspective) if row.tabbed}
    qtbot.waitUntil(lambda: titles <= shown(), timeout=5000)
    window.reset_arrangement()
    qtbot.waitUntil(lambda: titles <= shown(), timeout=5000)


@pytest.mark.slow
def test_tabs_move_closer_together_before_some_go_into_the_menu(window, qtbot):
    """How many pixels their words take depends on the typeface of this machine."""

    def tabs() -> QTabBar:
        return next(bar for bar in window.perspective.findChildren(QTabBar) if bar.tabText(0) == "Why?")

    def is_whole(*, crowded: bool) -> bool:
        bar = tabs()
        return (
            bar.tabRect(bar.count() - 1).right() <= bar.width() and bool(bar.property("crowded")) == crowded
        )

    window.resize(1920, 1080)
    window.show_perspective("inside")
    qtbot.waitUntil(lambda: is_whole(crowded=False), timeout=5000)
    room = tabs().tabRect(tabs().count() - 1).right()
    for width in range(1920, 1000, -40):
        window.resize(width, 800)
        qtbot.waitUntil(lambda width=width: window.width() == width, timeout=5000)
        if tabs().width() < room:
            break
    qtbot.waitUntil(lambda: is_whole(crowded=True), timeout=5000)


def test_tabs_can_be_chosen_with_the_keys(window, qtbot):
    window.show_perspective("inside")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    qtbot.waitUntil(lambda: panels["why_view"].is_in_sight, timeout=5000)
    window.activateWindow()
    bar = tabs_with(window, "Why?")
    bar.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(bar, Qt.Key.Key_Right)
    assert panels["unit_view"].is_in_sight
    assert not panels["why_view"].is_in_sight


def unread_tabs(window: MainWindow) -> list[str]:
    """The titles of panels that stand neither whole on a tab in sight nor in the menu that names the rest."""
    found = []
    for place in window.perspective.findChildren(Place):
        bar = place.tabBar()
        if not bar.isVisible():
            continue
        sign = place.findChild(QPushButton, "tabs_put_away")
        names = in_menu(sign) if sign is not None and sign.isVisible() else []
        on_top = [tab for tab in range(bar.count()) if bar.isTabVisible(tab)]
        whole = [bar.tabText(tab) for tab in on_top if bar.rect().contains(bar.tabRect(tab))]
        found += [title for title in titles(bar) if title not in (*whole, *names)]
        if bar.currentIndex() not in on_top or len(whole) + len(names) != bar.count():
            found.append(f"{place.name}: {whole}, {names}")
    return found


def in_menu(sign: QPushButton) -> list[str]:
    """What the menu of a button says when it opens."""
    sign.menu().aboutToShow.emit()
    return [action.text() for action in sign.menu().actions()]


@pytest.mark.parametrize(
    ("size", "percent"),
    [
        ((1440, 900), 100),
        pytest.param((1280, 720), 150, marks=pytest.mark.slow),
        pytest.param((860, 560), 200, marks=pytest.mark.slow),
    ],
)
@walk_through("inside")
def test_the_title_of_every_panel_is_read_whole_on_its_tab_or_in_a_menu(
    window, read, drawn, qtbot, size, percent, perspectives
):
    window.resize(*size)
    window.set_type_size(percent)
    for name in perspectives:
        window.show_perspective(name)
        drawn()
        qtbot.waitUntil(lambda: unread_tabs(window) == [], timeout=5000)


def shown_tabs(bar: QTabBar) -> list[str]:
    return [bar.tabText(tab) for tab in range(bar.count()) if bar.isTabVisible(tab)]


def test_a_panel_whose_tab_has_no_room_comes_in_sight_from_the_menu_and_by_the_keys(
    window, read, drawn, qtbot
):
    window.resize(1000, 700)
    window.show_perspective("inside")
    drawn()
    place = tabs_with(window, "Picture").parent()
    bar = place.tabBar()
    qtbot.waitUntil(lambda: place.findChild(QPushButton, "tabs_put_away") is not None)
    sign = place.findChild(QPushButton, "tabs_put_away")
    assert takes_tab(sign)
    *_, last = in_menu(sign)
    assert sign.text() == f"{len(in_menu(sign))} more"
    sign.menu().actions()[-1].trigger()
    qtbot.waitUntil(lambda: last in shown_tabs(bar) and unread_tabs(window) == [])
    assert place.front.title == last
    assert place.front.panel.is_in_sight

    before = shown_tabs(bar)
    QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(0).center())
    drawn()
    assert shown_tabs(bar) == before, "a tab went away under the pointer"

    bar.setFocus(Qt.FocusReason.TabFocusReason)
    for title in titles(bar)[1:]:
        QTest.keyClick(bar, Qt.Key.Key_Right)
        qtbot.waitUntil(lambda title=title: title in shown_tabs(bar) and unread_tabs(window) == [])
        assert place.front.title == title


def tabs_with(window, title) -> QTabBar:
    """The visible bar that has a tab of this title."""
    bars = [bar for bar in window.perspective.findChildren(QTabBar) if bar.isVisible()]
    [bar] = [bar for bar in bars if title in [bar.tabText(at) for at in range(bar.count())]]
    return bar


def titles(bar) -> list[str]:
    return [bar.tabText(at) for at in range(bar.count())]


def ink(bar, title) -> int:
    """How dark the words of a tab are: the darkest of their pixels."""
    area = bar.tabRect(titles(bar).index(title))
    picture = bar.window().grab(QRect(bar.mapTo(bar.window(), area.topLeft()), area.size())).toImage()
    pixels = (picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height()))
    return min(pixel.lightness() for pixel in pixels)


@pytest.mark.slow
def test_tabs_of_panels_that_say_nothing_of_the_model_are_last_and_fainter_and_say_why(
    window, read, drawn, qtbot
):
    window.resize(1440, 900)
    window.show_perspective("compare")
    drawn()
    bar = tabs_with(window, "Surprisal")
    qtbot.waitUntil(lambda: titles(bar)[-1] == "Labels", timeout=5000)
    assert titles(bar)[:2] == ["Surprisal", "Samples"]
    assert ink(bar, "Labels") > ink(bar, "Samples") + 10
    assert "predicts the next token" in bar.tabToolTip(titles(bar).index("Labels"))
    assert "Samples" in bar.tabToolTip(1)


@pytest.mark.slow
def test_no_tab_changes_its_place_under_the_pointer(window, read, drawn, label_runs, monkeypatch, qtbot):
    window.resize(1440, 900)
    window.show_perspective("compare")
    drawn()
    bar = tabs_with(window, "Surprisal")
    qtbot.waitUntil(lambda: titles(bar)[-1] == "Labels", timeout=5000)
    before = titles(bar)
    monkeypatch.setattr(type(bar), "underMouse", lambda self: True)
    read.library.open(label_runs["tagger"])
    qtbot.waitUntil(lambda: read.reading.current.model.predicts.continues is False, timeout=20000)
    drawn()
    assert titles(bar) == before
    monkeypatch.undo()
    QApplication.sendEvent(bar, QEvent(QEvent.Type.Leave))
    qtbot.waitUntil(lambda: titles(bar)[-1] != "Labels", timeout=5000)


@pytest.mark.slow
@parametrize_few("lose", ["disable", "hide"])
def test_a_control_that_can_no_longer_have_the_keyboard_raises_no_other_tab(window, qtbot, lose):
    """Qt hands the keyboard on to the next control, which may stand behind another tab."""
    window.show_perspective("inside")
    panels = {panel.objectName(): panel for panel in window.perspective.panels}
    behind = panels["surgery_view"].findChild(QDoubleSpinBox)
    qtbot.waitUntil(lambda: panels["why_view"].is_in_sight and not panels["surgery_view"].is_in_sight)
    window.activateWindow()
    button = QPushButton("go", panels["why_view"])
    button.show()
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    QWidget.setTabOrder(button, behind)
    button.setEnabled(False) if lose == "disable" else button.hide()
    QApplication.processEvents()
    assert not button.hasFocus()
    assert panels["why_view"].is_in_sight
    assert not panels["surgery_view"].is_in_sight


@pytest.mark.slow
def test_a_panel_is_brought_forward_in_a_perspective_that_has_just_been_shown(window, qtbot, drawn):
    window.show_perspective("compare")
    window.perspective.bring_forward("quality_by_length_view")
    qtbot.waitUntil(
        lambda: (
            [panel.objectName() for panel in seen(window)][-2:] == ["quality_by_length_view", "guess_view"]
        )
    )
    drawn()
    drawn()
    assert "quality_by_length_view" in [panel.objectName() for panel in seen(window)]


def seen(window):
    return [panel for panel in window.perspective.panels if panel.is_in_sight]


def unmade(window):
    """The panels that have not been made, by the names of their pages."""
    pages = window.perspective.findChildren(PanelPage)
    return {page.objectName() for page in pages if not page.has_panel}


def whereabouts(page) -> QRect:
    return QRect(page.mapTo(page.window(), QPoint()), page.size())


def corners(place, before):
    return (place.topLeft(), before.topLeft()), (place.bottomRight(), before.bottomRight())


def by_tab(window):
    """The controls that take the keys, seen or not, in the order of Tab."""
    found, one = [], beside_by_tab(window, forward=True)
    while one is not window:
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus:
            found.append(one)
        one = beside_by_tab(one, forward=True)
    return found


@pytest.fixture
def starting(session, settings, qtbot):
    """Call it to have a window that shows itself as the program's first does, in Attention."""

    def start():
        window = MainWindow(session, settings)
        qtbot.addWidget(window)
        window.show_perspective("attention")
        window.show_settled()
        return window

    return start


def test_panels_behind_others_are_made_once_the_window_is_painted(starting, qtbot, drawn):
    window = starting()
    tabbed = {f"page_{row.name}" for row in rows_of("attention") if row.tabbed}
    assert unmade(window) == tabbed
    pages = window.perspective.findChildren(PanelPage)
    places = [whereabouts(page) for page in pages if page.has_panel]
    qtbot.waitUntil(lambda: not unmade(window), timeout=5000)
    drawn()
    later = [whereabouts(page) for page in pages if page.objectName() not in tabbed]
    for place, before in zip(later, places, strict=True):  # with some typefaces Qt rounds otherwise
        moved = [np.subtract(now.toTuple(), then.toTuple()) for now, then in corners(place, before)]
        assert np.abs(moved).max() <= 1
    behind = [panel for panel in window.perspective.panels if panel.parent().objectName() in tabbed]
    assert len(behind) == len(tabbed)
    assert not any(panel.is_in_sight for panel in behind)


@parametrize_few("perspective", ["difference", "inside", "train", "race"])
def test_tabs_of_a_perspective_shown_later_wait_for_its_paint_as_well(starting, perspective, qtbot):
    window = starting()
    window.show_perspective(perspective)
    left, pages = unmade(window), window.perspective.findChildren(PanelPage)
    assert left <= {f"page_{row.name}" for row in rows_of(perspective) if row.tabbed}
    assert {page.objectName() for page in pages if page.isHidden()} >= left
    assert bool(left) == any(row.tabbed for row in rows_of(perspective))
    qtbot.waitUntil(lambda: not unmade(window))


@pytest.mark.slow
@pytest.mark.parametrize("perspective", [row.name for row in shown_perspectives()])
def test_tab_leads_from_panel_to_panel_though_some_were_made_later(starting, perspective, qtbot):
    window = starting()
    window.show_perspective(perspective)
    qtbot.waitUntil(lambda: not unmade(window))
    pages = window.perspective.findChildren(PanelPage)
    led = [at for one in by_tab(window) for at, page in enumerate(pages) if page.isAncestorOf(one)]
    assert led
    names = [pages[at].row.name for at in dict.fromkeys(led)]
    assert names == [row.name for row in rows_of(perspective) if row.name in names]


def test_a_panel_that_a_person_left_in_front_is_there_at_the_first_paint(starting, settings, qtbot, drawn):
    window = starting()
    qtbot.waitUntil(lambda: not unmade(window), timeout=5000)
    window.perspective.bring_forward("context_view")
    drawn()
    qtbot.waitUntil(lambda: "context_view" in [panel.objectName() for panel in seen(window)])
    settings.keep("arrangement/attention", window.perspective.arrangement())
    again = starting()
    assert "page_context" not in unmade(again)
    assert "context_view" in [panel.objectName() for panel in seen(again)]
