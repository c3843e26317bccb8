"""A larger window gives its room to the pictures: none is smaller there than in a smaller window.

Unless panels stand behind others in the smaller one, so that its pictures have their room.
"""

from collections.abc import Callable
from itertools import pairwise

import pytest
from covering import others_slow, parametrize_few
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from lmviz.app.board.lengths import Lengths
from lmviz.app.board.page import PanelPage
from lmviz.app.panels.table import PERSPECTIVES, projected_rows, rows_of
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.growing_canvas import GrowingCanvas
from lmviz.app.widgets.diagrams.whole_model import WholeModelView
from lmviz.app.widgets.plots.cumulative_bar import CumulativeBar
from lmviz.app.widgets.plots.size_plot import SizePlot
from lmviz.app.window.main_window import MainWindow

SIZES = ((1000, 640), (1280, 720), (1440, 900), (1920, 1080), (2560, 1440))
NAMES = [perspective.name for perspective in PERSPECTIVES]


@pytest.mark.parametrize("perspective", others_slow(NAMES, "inside"))
def test_pictures_grow_with_the_window(
    window: MainWindow, read: Session, drawn: Callable[[], None], perspective: str
) -> None:
    window.show_perspective(perspective)
    drawn()
    before: dict[str, QSize] = {}
    lengths, joined_before = Lengths(rows_of(perspective)), dict[str, str]()
    for size in SIZES:
        window.resize(*size)
        drawn()
        for _ in range(5):  # sizes are shared out at the end of the turn
            QApplication.processEvents()
        drawn()
        sizes = {row.name: size_of(window, row.name) for row in projected_rows(perspective)}
        pictures = {name: found for name, found in sizes.items() if found is not None}
        assert pictures
        joined = lengths.joining(window.perspective.size(), in_lesson=False)
        for name, least in before.items() if joined == joined_before else ():
            found = pictures[name]
            assert found.width() >= least.width(), f"{name} at {size}"
            assert found.height() >= least.height(), f"{name} at {size}"
        if size == SIZES[-1]:
            main = max(pictures.values(), key=lambda found: found.width() * found.height())
            view = window.perspective
            assert main.width() * main.height() >= 0.2 * view.width() * view.height()
        before, joined_before = pictures, joined


def size_of(window: MainWindow, name: str) -> QSize | None:
    """The size of a panel, by its name in the table; None where it stands behind another."""
    page = window.perspective.findChild(PanelPage, f"page_{name}")
    return QSize(page.panel.size()) if page.isVisible() else None


@pytest.mark.slow
@parametrize_few(
    ("perspective", "kind"),
    [
        ("inside", WholeModelView),
        ("sample", CumulativeBar),
        ("scale", SizePlot),
    ],
)
def test_on_a_large_screen_a_picture_s_own_type_is_larger(
    window: MainWindow,
    read: Session,
    drawn: Callable[[], None],
    perspective: str,
    kind: type[GrowingCanvas],
    qtbot: QtBot,
) -> None:
    def growth() -> float:
        return max((found.growth for found in window.findChildren(kind) if found.isVisible()), default=0)

    window.show_perspective(perspective)
    for size, fits in ((SIZES[0], lambda: growth() == 1), (SIZES[-1], lambda: growth() > 1.1)):
        window.resize(*size)
        drawn()
        qtbot.waitUntil(fits)


@pytest.mark.parametrize(("width", "in_lesson"), [(840, True), (840, False), (1166, True)])
@pytest.mark.parametrize("perspective", NAMES)
def test_tabs_go_where_the_panel_goes_that_they_stand_behind(
    qapp: QApplication, perspective: str, width: int, *, in_lesson: bool
) -> None:
    rows = rows_of(perspective)
    joined = Lengths(rows).joining(QSize(width, 620), in_lesson=in_lesson)
    assert {row.name for row in rows if row.joins} <= set(joined)
    for before, row in pairwise(rows):
        if row.tabbed and not row.joins:
            assert joined.get(row.name) == joined.get(before.name)


def test_without_a_lesson_panels_stand_together_only_in_a_small_window(qapp: QApplication) -> None:
    assert Lengths(rows_of("autodiff")).joining(QSize(1166, 620), in_lesson=False) == {}
