"""The theme: the design's colours, maps that mean what they say, and a switch that tells everyone."""

import re
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from covering import others_slow
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from lmviz.app.look import theme, typefaces
from lmviz.app.look.color_maps import color_map, contrast
from lmviz.app.look.roles import DARK, LIGHT, PROJECTOR_SCALE
from lmviz.app.look.stylesheet import stylesheet
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.opening.settings import Settings
from lmviz.app.panels.table import PERSPECTIVES
from lmviz.app.session.library import COLORS
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.network_editor import NetworkEditor
from lmviz.app.window.main_window import MainWindow


@pytest.fixture
def switch(qapp):
    return theme_switch()


class System(QObject):
    """What Qt's style hints say of the system's theme; no platform lets a program set it."""

    colorSchemeChanged = Signal(Qt.ColorScheme)

    def __init__(self):
        super().__init__()
        self._scheme = Qt.ColorScheme.Light

    def colorScheme(self):
        return self._scheme

    def turn(self, scheme):
        self._scheme = scheme
        self.colorSchemeChanged.emit(scheme)


@pytest.fixture
def system(qapp, monkeypatch):
    system = System()
    monkeypatch.setattr(theme, "QGuiApplication", SimpleNamespace(styleHints=lambda: system))
    return system


@pytest.fixture
def follower(system, qapp):
    """A switch of its own, made while the system is light."""
    switch = theme.ThemeSwitch(qapp)
    yield switch
    switch.deleteLater()


def test_the_system_is_followed_until_a_theme_is_chosen(system, follower, qtbot):
    assert current_theme().name == "light"
    with qtbot.waitSignal(follower.theme_changed):
        system.turn(Qt.ColorScheme.Dark)
    assert current_theme().name == "dark"
    assert QApplication.palette().window().color() == DARK.background
    follower.set_choice("dark")
    with qtbot.assertNotEmitted(follower.theme_changed):
        system.turn(Qt.ColorScheme.Light)
    assert current_theme().name == "dark"
    follower.set_choice("system")
    assert current_theme().name == "light"


def test_a_system_without_a_theme_is_light_and_projector_mode_outlasts_its_changes(system, follower):
    follower.set_projector(True)
    system.turn(Qt.ColorScheme.Dark)
    system.turn(Qt.ColorScheme.Unknown)
    assert current_theme().name == "light"
    assert current_theme().scale == PROJECTOR_SCALE


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_series_have_colours_of_their_own_that_are_seen(theme):
    colors = [theme.series_color(index) for index in range(COLORS)]
    assert len({color.name() for color in colors}) == COLORS
    assert min(contrast(color, theme.surface) for color in colors) >= 3
    apart = [sum(abs(a - b) for a, b in zip(one.getRgb(), other.getRgb(), strict=True))
             for one, other in combinations(colors, 2)]  # fmt: skip
    assert min(apart) >= 20
    assert theme.series_color(COLORS).name() == colors[0].name()


def test_choosing_a_theme_changes_palette_and_says_so(switch, qtbot):
    switch.set_choice("light")
    with qtbot.waitSignal(switch.theme_changed):
        switch.set_choice("dark")
    assert current_theme().name == "dark"
    assert QApplication.palette().window().color() == DARK.background


def test_what_is_chosen_already_is_not_applied_again(switch, qtbot):
    switch.set_choice("dark")
    with qtbot.assertNotEmitted(switch.theme_changed):
        switch.set_choice("dark")
        switch.set_projector(False)


def test_projector_enlarges_type(switch):
    switch.set_choice("light")
    usual = current_theme().font().pixelSize()
    switch.set_projector(True)
    assert current_theme().scale == PROJECTOR_SCALE
    assert current_theme().font().pixelSize() == round(usual * PROJECTOR_SCALE)


@pytest.mark.slow
def test_a_window_that_begins_in_projector_mode_is_as_large_as_one_that_enters_it(
    session: Session, settings: Settings, qtbot: QtBot
) -> None:
    settings.keep("view/projector", True)
    window = MainWindow(session, settings)
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.painted):
        window.show()
    controls = [control for control in window.findChildren(QAbstractButton) if control.isVisible()]
    sizes = [control.font().pixelSize() for control in controls]
    window.set_projector(False)
    window.set_projector(True)
    again = [control.font().pixelSize() for control in controls]
    window.set_projector(False)
    assert sizes == again


@pytest.mark.slow
@pytest.mark.parametrize("perspective", others_slow([row.name for row in PERSPECTIVES], "autodiff"))
def test_what_was_made_in_projector_mode_has_smaller_type_after_it(
    window: MainWindow, qtbot: QtBot, perspective: str
) -> None:
    window.set_projector(True)
    window.show_perspective(perspective)
    widgets = (each for each in window.perspective.findChildren(QWidget) if "qt_" not in each.objectName())
    projected = {each: each.font().pixelSize() for each in widgets}
    window.set_projector(False)
    for name in ("race", perspective):  # every panel is put into its place
        window.show_perspective(name)

    def is_as_large(each: QWidget) -> bool:
        return isValid(each) and each.isVisible() and each.font().pixelSize() >= projected[each]

    qtbot.waitUntil(lambda: not any(map(is_as_large, projected)))


def test_a_font_of_its_own_stays_wherever_a_widget_is_put(switch: theme.ThemeSwitch, qtbot: QtBot) -> None:
    first, second = QWidget(), QWidget()
    editor = NetworkEditor(parent=first)
    for window in (first, second):
        qtbot.addWidget(window)
        window.show()
    for projector in (True, False):
        switch.set_projector(projector)
        for window in (second, first):
            editor.setParent(window)
            editor.show()
            assert editor.font().pixelSize() == current_theme().token_font(12.5).pixelSize()


def test_there_is_one_switch(switch):
    assert theme_switch() is theme_switch()


def test_an_unknown_choice_is_refused(switch):
    with pytest.raises(ValueError, match="sepia"):
        switch.set_choice("sepia")


@pytest.mark.parametrize("roles", [LIGHT, DARK], ids=lambda roles: roles.name)
def test_maps_run_from_role_to_role(roles):
    def color(row):
        return QColor(*(int(part) for part in row[:3]))

    assert color(roles.signed_map[0]) == roles.signed_negative
    assert color(roles.signed_map[-1]) == roles.signed_positive
    assert color(roles.share_map[0]) == roles.share_none
    assert color(roles.share_map[-1]) == roles.share_all
    middle = roles.signed_map[127:129, :3].mean(axis=0)
    zero = [roles.signed_zero.red(), roles.signed_zero.green(), roles.signed_zero.blue()]
    assert np.abs(middle - zero).max() <= 2


@pytest.mark.parametrize("roles", [LIGHT, DARK], ids=lambda roles: roles.name)
def test_text_can_be_read_on_everything(roles):
    assert contrast(roles.text, roles.surface) >= 7
    assert contrast(roles.muted_text, roles.surface) >= 4.5
    assert contrast(roles.warning, roles.surface) >= 4.5
    for table in (roles.signed_map, roles.share_map, roles.count_map):
        for row in table[::16]:
            cell = QColor(*(int(part) for part in row[:3]))
            assert contrast(roles.on(cell), cell) >= 4


def test_a_map_is_even_to_the_eye():
    table = color_map(QColor("#000000"), QColor("#FFFFFF"))
    assert (np.diff(table[:, 0].astype(int)) >= 0).all()
    assert table.dtype == np.uint8
    assert table.shape == (256, 4)


@pytest.mark.parametrize("roles", [LIGHT, DARK], ids=lambda roles: roles.name)
def test_the_style_sheet_names_only_existing_pictures(roles):
    pictures = re.findall(r'url\("([^"]+)"\)', stylesheet(roles))
    assert pictures
    for picture in pictures:
        with open(picture, encoding="utf-8") as file:
            assert file.read().startswith("<svg")


def test_no_rule_is_for_widgets_of_every_kind() -> None:
    """Qt would style every widget of the window again wherever it is put."""
    heads = re.findall(r"([^{}]+)\{", stylesheet(LIGHT))
    selectors = [selector.strip() for head in heads for selector in head.split(",")]
    assert "QToolTip" in selectors
    assert not [selector for selector in selectors if selector.split()[-1][0] in "*:."]


@pytest.mark.parametrize("role", ["", "link"])
def test_the_list_of_a_narrow_picker_shows_every_choice_in_full(role: str, switch, qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    picker = QComboBox(page)
    picker.setProperty("role", role)
    picker.addItems(["sampling", "greedy"])
    picker.setFixedWidth(60)
    page.show()
    picker.showPopup()
    shown = picker.view()
    qtbot.waitUntil(shown.isVisible)
    for row in range(2):
        place = shown.visualRect(picker.model().index(row, 0))
        assert shown.viewport().rect().contains(place)
        assert place.width() >= shown.sizeHintForColumn(0)
    picker.hidePopup()


@pytest.mark.parametrize(
    ("platform", "points", "percent"),
    [("linux", 9, 100), ("linux", 11, 100), ("linux", 16, 150), ("linux", 30, 200), ("win32", 9, 100),
     ("win32", 13.5, 150), ("darwin", 9.75, 100)],
)  # fmt: skip
def test_type_is_as_large_as_the_system_has_it(
    switch: theme.ThemeSwitch, monkeypatch: pytest.MonkeyPatch, platform: str, points: float, percent: int
) -> None:
    font = QFont()
    font.setPointSizeF(points)
    monkeypatch.setattr(typefaces.sys, "platform", platform)
    monkeypatch.setattr(typefaces.QFontDatabase, "systemFont", lambda kind: font)
    switch.set_type_size(theme.SYSTEM_SIZE)
    assert current_theme().scale == percent / 100
    assert current_theme().font().pixelSize() == round(13 * percent / 100)
    switch.set_type_size(175)  # what a person chose here counts more
    assert current_theme().scale == 1.75


def test_the_type_of_a_projector_is_never_smaller_than_before(switch: theme.ThemeSwitch) -> None:
    switch.set_projector(True)
    assert current_theme().scale == PROJECTOR_SCALE
    switch.set_type_size(200)
    assert current_theme().scale == 2
