"""The programs in docs/gallery: together they show every widget, and each shows its own in every theme."""

import importlib
import inspect
import pkgutil
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from covering import others_slow
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtWidgets import QApplication, QWidget

import lmviz.app.widgets
from lmviz.app.look.theme import theme_switch
from lmviz.app.widgets.base.spoken_role import install_roles

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
    pixels = np.frombuffer(image.convertToFormat(QImage.Format.Format_RGB32).constBits(), dtype=np.uint32)
    return len(np.unique(pixels))


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


def widgets():
    """The public classes of widgets, by name."""
    found = {}
    for module in pkgutil.walk_packages(lmviz.app.widgets.__path__, "lmviz.app.widgets."):
        for name, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, QWidget) and kind.__module__ == module.name and not name.startswith("_"):
                found[name] = kind
    return found
