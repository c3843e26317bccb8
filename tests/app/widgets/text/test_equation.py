"""Equations: set in proper type, in the theme's colours; what is not LaTeX is shown as it is."""

import threading

import pytest
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest

from lmviz.app.look.roles import DARK, LIGHT
from lmviz.app.widgets.text import typesetting
from lmviz.app.widgets.text.equation import EquationView


@pytest.fixture(autouse=True, scope="module")
def loaded():
    typesetting.load()


@pytest.fixture
def view(shown):
    view = EquationView()
    view.set_equation(r"\textcolor{query}{q} \cdot k")
    return shown(view, 300, 120)


def test_the_picture_is_one_that_qt_can_draw(view):
    svg = typesetting.equation_picture(r"\frac{q \cdot k}{\sqrt{d}}", 20, "#000000")
    assert QSvgRenderer(QByteArray(svg)).isValid()
    assert view.is_set


def test_roles_become_the_colours_of_the_theme():
    latex = r"\textcolor{query}{q} \color{key} k \textcolor{red}{x}"
    assert LIGHT.query.name() in typesetting.with_roles(latex, LIGHT)
    assert DARK.key.name() in typesetting.with_roles(latex, DARK)
    assert r"\textcolor{red}{x}" in typesetting.with_roles(latex, DARK)


@pytest.mark.parametrize("broken", [r"\frac{q", "}", "\\", "{" * 50])
def test_what_is_not_latex_is_shown_as_it_is(view, broken):
    view.set_equation(broken)
    view.grab()
    assert view.height() > 0


def test_a_broken_fraction_is_not_a_picture(view):
    view.set_equation(r"\frac{q")
    assert not view.is_set
    view.set_equation("q")
    assert view.is_set


def test_n_shows_and_hides_the_numbers(view, qtbot):
    view.set_numbers("0.62 · 1.80 = 1.12")
    tall = view.heightForWidth(300)
    with qtbot.waitSignal(view.numbers_toggled) as signal:
        QTest.keyClick(view, Qt.Key.Key_N)
    assert signal.args == [False]
    assert view.heightForWidth(300) < tall


def test_a_narrow_view_shrinks_a_long_equation(view):
    view.set_equation(r"a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p")
    assert view.heightForWidth(100) < view.heightForWidth(2000)


def test_an_equation_asked_for_early_appears_when_the_type_is_loaded(shown, qtbot, monkeypatch):
    event = threading.Event()
    monkeypatch.setattr(typesetting, "_ready", event)
    monkeypatch.setattr(typesetting, "load_in_background", lambda: None)
    view = EquationView()
    view.set_equation("y")
    shown(view, 200, 80)
    view.grab()
    assert not view.is_set
    event.set()
    qtbot.waitUntil(lambda: view.is_set)
