"""What a widget looks like may fail as anything may: a sentence stands in its place."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import lmviz
from lmviz.app.widgets.base.canvas import Canvas

APP = Path(lmviz.__file__).parent / "app"
WITH_A_PICTURE_OF_QT = {
    "painted.py",
    "card.py",
    "empty_text.py",
    "figures_table.py",
    "main_window.py",
    "board.py",
}
"""Where a paintEvent stands: in the base, and where Qt draws as well, which has a painter of its own, or
alone: the window and a board only notice that they have been painted."""


class Moody(Canvas):
    """Fails while it is told to."""

    fault: Exception | None = None
    usual = least = (400, 60)

    def paint(self, painter, event):
        painter.save()
        painter.translate(1000, 1000)
        if self.fault is not None:
            raise self.fault
        painter.restore()


@pytest.fixture
def reported(monkeypatch):
    """What came to the hook for faults."""
    kinds = []
    monkeypatch.setattr(sys, "excepthook", lambda kind, fault, trace: kinds.append(kind))
    return kinds


def test_a_picture_that_cannot_be_drawn_is_replaced_by_a_sentence(shown, reported):
    view = shown(Moody(), 400, 60)
    view.grab()
    assert view.painting_fault == ""
    before = view.grab().toImage()
    view.fault = IndexError("no such cell")
    view.grab()
    assert "no such cell" in view.painting_fault
    assert view.grab().toImage() != before
    view.fault = None
    view.grab()
    assert (view.painting_fault, view.grab().toImage()) == ("", before)


def test_a_fault_is_reported_once_however_often_the_widget_is_painted(shown, reported):
    view = shown(Moody(), 400, 60)
    for fault in (KeyError("one"), KeyError("one"), KeyError("another"), ValueError("another")):
        view.fault = fault
        view.grab()
    assert reported == [KeyError, KeyError, ValueError]


def test_no_painter_outlives_a_block() -> None:
    """A painter in a frame that an exception keeps is destroyed after its surface, which ends the process."""
    left = [place for path in APP.rglob("*.py") for place in _left_to_chance(path)]
    assert left == []


def test_widgets_are_painted_in_one_place() -> None:
    defining = {
        path.name
        for path in APP.rglob("*.py")
        if "def paintEvent" in (text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == "paintEvent"
    }
    assert defining == WITH_A_PICTURE_OF_QT


@pytest.mark.parametrize(
    "line",
    [
        "painter = QPainter(self)",
        "QPainter(self).drawRect(0, 0, 1, 1)",
        "painter, row = self.begin(), 3",
        "painter = QStylePainter(self)",
        "painter.begin(image)",
    ],
)
def test_the_reading_of_the_source_finds_each_way_to_leave_one(line: str, tmp_path: Path) -> None:
    path = tmp_path / "widget.py"
    path.write_text(f"def paintEvent(self, event):\n    {line}\n", encoding="utf-8")
    assert list(_left_to_chance(path)) == ["widget.py:2"]
    path.write_text("with self.begin() as one, QPainter(image) as other:\n    pass\n", encoding="utf-8")
    assert list(_left_to_chance(path)) == []


def _left_to_chance(path: Path) -> Iterator[str]:
    """The places at which a painter begins that no `with` ends; `begin` itself hands one on."""
    text = path.read_text("utf-8")
    if "Painter" not in text and "begin" not in text:  # most files, which need not be parsed
        return
    nodes = list(ast.walk(ast.parse(text)))
    ended = {item.context_expr for node in nodes if isinstance(node, ast.With) for item in node.items}
    handed_on = {
        inner
        for node in nodes
        if isinstance(node, ast.FunctionDef) and node.name == "begin"
        for inner in ast.walk(node)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and _begins(node) and node not in ended | handed_on:
            yield f"{path.name}:{node.lineno}"


def _begins(call: ast.Call) -> bool:
    """Whether a call makes a painter, or lets one begin."""
    made = call.func.id if isinstance(call.func, ast.Name) else ""
    begun = ast.unparse(call.func) if isinstance(call.func, ast.Attribute) else ""
    is_begun = begun in ("self.begin", "super().begin") and not call.args
    return made in ("QPainter", "Painter", "QStylePainter") or is_begun or begun == "painter.begin"
