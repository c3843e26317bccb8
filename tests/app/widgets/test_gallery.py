"""The programs in docs/gallery: together they show every widget, and each shows its own in every theme."""

import importlib
import inspect
import pkgutil
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from covering import others_slow
from pixels import pixels_of
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

import lmviz.app.widgets
from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.canvas import Canvas
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.spoken_role import install_roles
from lmviz.app.widgets.kit.pointing import ACROSS, DOWN, Parts

GALLERY = Path(__file__).parents[3] / "docs" / "gallery"
PROGRAMS = sorted(path.stem for path in GALLERY.glob("*.py") if path.stem != "gallery")
QUICKEST = "base"
SAYS = QAccessible.Text.Description
ONE_NUMBER = {"_Effect"}
"""Pictures of no more than what their name says."""

FEWEST_COLORS = 12
"""So many the smooth edges of one word have; a bare surface has one."""


@pytest.fixture(autouse=True)
def gallery(monkeypatch):
    """The module that the programs share, found as it is when one of them is run."""
    monkeypatch.syspath_prepend(str(GALLERY))
    yield importlib.import_module("gallery")
    del sys.modules["gallery"]


def exhibits_of(program):
    return runpy.run_path(str(GALLERY / f"{program}.py"))["EXHIBITS"]


def colors(image):
    return len(np.unique(pixels_of(image).view(np.uint32)))


@pytest.mark.parametrize("program", others_slow(PROGRAMS, QUICKEST, "controls"))
def test_a_program_draws_each_of_its_widgets_in_every_theme(program, gallery, shown):
    drawn = {}
    for name, (choice, projector) in gallery.THEMES.items():
        theme_switch().set_choice(choice)
        theme_switch().set_projector(projector)
        for exhibit in exhibits_of(program):
            widget = shown(exhibit.build(), *exhibit.size)
            drawn[exhibit.title, name] = widget.grab().toImage()
            widget.close()
    for (title, name), image in drawn.items():
        assert colors(image) >= FEWEST_COLORS, f"{title} in {name}"
        assert name == "light" or image != drawn[title, "light"], f"{title} in {name}"


@pytest.mark.parametrize(
    "program",
    [QUICKEST, *(pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS if name != QUICKEST)],
)
def test_a_program_writes_the_picture_that_it_is_told(program, tmp_path, monkeypatch, qapp):
    monkeypatch.setattr(sys, "argv", [program, str(tmp_path / "picture.png")])
    runpy.run_path(str(GALLERY / f"{program}.py"), run_name="__main__")
    assert colors(QImage(str(tmp_path / "picture.png"))) > 100


def test_the_gallery_shows_every_widget_and_every_picture_says_what_it_shows(gallery, shown):
    install_roles()
    seen, silent = set(), set()
    for program in PROGRAMS:
        page = shown(gallery.page(exhibits_of(program)), gallery.WIDTH, gallery.HEIGHT)
        for widget in page.findChildren(QWidget):
            seen.update(type(widget).__mro__)
            said = QAccessible.queryAccessibleInterface(widget)
            is_picture = said.role() in (QAccessible.Role.Graphic, QAccessible.Role.Chart)
            if is_picture and not all(map(said.text, (QAccessible.Text.Name, SAYS))):
                silent.add(type(widget).__name__)
    assert {name for name, kind in widgets().items() if kind not in seen} == set()
    assert silent <= ONE_NUMBER


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_widget_that_gets_the_keys_shows_it(program, gallery, shown):
    page = shown(gallery.page(exhibits_of(program)), gallery.WIDTH, gallery.HEIGHT)
    page.activateWindow()
    QApplication.processEvents()
    unseen = set()
    for widget in page.findChildren(QWidget):
        is_ours = type(widget).__module__.startswith("lmviz.") and not widget.visibleRegion().isEmpty()
        if is_ours and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            page.setFocus()
            before = widget.grab().toImage()
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            QApplication.processEvents()
            if widget.hasFocus() and widget.grab().toImage() == before:
                unseen.add(type(widget).__name__)
    assert not unseen


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_answers_a_click_answers_a_key(program, gallery, shown, monkeypatch):
    page = shown(gallery.page(exhibits_of(program)), gallery.WIDTH, gallery.HEIGHT)
    page.activateWindow()
    answering, heard = set(), set()
    for widget in page.findChildren(QWidget):
        name, answers = type(widget).__name__, signals(type(widget))
        has_parts = isinstance(widget, Parts)
        if not (answers or has_parts) or name in ELSEWHERE:
            continue
        answering.add(name)
        for answer in answers:
            getattr(widget, answer).connect(lambda *_, name=name: heard.add(name))
        if has_parts:
            monkeypatch.setattr(widget, "clicked_on", lambda _, name=name: heard.add(name))
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        takes = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        for key in KEYS if takes else ():
            QTest.keyClick(widget, key)
    assert answering == heard


KEYS = [key for arrow in (*ACROSS, *DOWN) for key in (arrow, Qt.Key.Key_Return)] + [Qt.Key.Key_A]
ELSEWHERE = {
    "GradientWave": "the position is that of the arrow keys everywhere",
    "Histogram": "nothing follows a click",
    "LadderView": "its numbers are those of the stage beside it",
    "LossSurface": "nothing follows a click",
    "OperationView": "its numbers are those of Why beside it",
    "PixelGrid": "space sets a pixel",
    "ProductStrip": "the position is that of the arrow keys everywhere",
    "ProgressDots": "Back and Next stand beside it",
    "TapeList": "nothing follows a click",
    "WholeModelView": "its numbers are those of the stage beside it",
    "WordWindowView": "its numbers are those of the stage beside it",
}
"""What a click does in these and a key does not, a key does elsewhere."""


def signals(kind):
    """The signals of a picture of ours that say what was clicked, or chosen by a click."""
    return [
        name
        for base in kind.__mro__
        if issubclass(base, Canvas | Parts) and not issubclass(base, Card)
        for name, value in vars(base).items()
        if isinstance(value, Signal) and re.fullmatch("(.+_)?(clicked|chosen)", name)
    ]


def widgets():
    """The public classes of widgets, by name."""
    found = {}
    for module in pkgutil.walk_packages(lmviz.app.widgets.__path__, "lmviz.app.widgets."):
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, QWidget) and kind.__module__ == module.name and not name.startswith("_"):
                found[name] = kind
    return found
