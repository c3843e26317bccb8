"""The circuit kept alone: its parts, how much they keep, and the paths of the one that is chosen."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpinBox
from pytestqt.qtbot import QtBot
from told import words_of

import lmviz
from lmviz.app.panels.circuits.circuit import CircuitPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.export import fits_csv
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.widgets.diagrams.circuit_picture import CircuitPicture
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("contrast", "circuit")


@pytest.fixture
def panel(window: MainWindow, session: Session, qtbot: QtBot) -> CircuitPanel:
    """The panel in front, with the question about the stone answered."""
    [found] = [item for item in window.perspective.panels if isinstance(item, CircuitPanel)]
    found.parentWidget().raise_()
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-transformer")
    qtbot.waitUntil(lambda: session.reading.current is not None and bool(session.contrast.offers()))
    session.contrast.open(session.contrast.offers()[0])
    qtbot.waitUntil(lambda: found.is_whole)
    return found


def expected(session: Session, keep: int):
    asked = lmviz.contrast(session.reading.prefix, session.contrast.other, measure="logit:stone-bell")
    return lmviz.circuit("stories-transformer", asked, keep)


def test_its_parts_and_paths_are_what_python_gives(panel: CircuitPanel, session: Session):
    wanted = expected(session, 8)
    assert panel.found.parts == wanted.parts
    assert panel.found.kept == pytest.approx(wanted.kept, abs=1e-3)
    assert words_of(panel, "circuit_sentence").startswith(
        f"These 8 parts of {wanted.of} alone keep {100 * wanted.kept:.0f} %"
    )
    picture = panel.findChild(CircuitPicture, "circuit_picture")
    assert [node.label for node in picture.nodes][:2] == ["1", "brown²⁶"]
    strongest = picture.paths[0]
    assert picture.nodes[strongest.start].label == "stone/bell"
    assert picture.nodes[strongest.end].label == "1"
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(panel.found.array, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "says_why"), [(1.013, True), (1.004, False), (0.87, False)])
def test_more_than_all_of_the_difference_says_why(
    panel: CircuitPanel, monkeypatch: pytest.MonkeyPatch, kept: float, says_why: bool
):
    monkeypatch.setattr(panel, "found", replace(panel.found, kept=kept))
    panel._draw()
    said = words_of(panel, "circuit_sentence")
    assert f"{100 * kept:.0f} % of the difference" in said
    assert ("the parts that are left out work against it." in said) == says_why


@pytest.mark.slow
def test_the_sentence_names_the_strongest_part_and_the_legend_what_is_drawn(panel: CircuitPanel):
    said = words_of(panel, "circuit_sentence")
    lost = f"{100 * panel.found.array[0]:.0f} %"
    assert f"The strongest is head 1·1 at “brown²⁶”: without it alone {lost} is lost." in said
    signs = panel.findChild(InkedLabel, "circuit_signs").accessibleName()
    assert signs.startswith("○ head, by number · ▭ feed-forward network (ff) · — path")
    assert ("for the answer" in signs) == (panel.found.array.max() > 0)


@pytest.mark.slow
def test_every_column_has_its_word(panel: CircuitPanel):
    picture = panel.findChild(CircuitPicture, "circuit_picture")
    assert all(picture.columns)
    assert len(picture.columns) == len(
        {part.position for part in panel.found.parts} | {edge.sender.position for edge in panel.found.edges}
    )


@pytest.mark.slow
def test_fewer_parts_keep_less(panel: CircuitPanel, session: Session, qtbot: QtBot):
    before = panel.found.kept
    panel.findChild(QSpinBox, "keep_spin").setValue(2)
    qtbot.waitUntil(lambda: panel.is_whole and len(panel.found.parts) == 2)
    assert panel.found.kept < before
    assert panel.found.kept == pytest.approx(expected(session, 2).kept, abs=1e-3)


@pytest.mark.slow
def test_its_parts_are_exported_as_one_table(panel: CircuitPanel):
    arrays = panel.exported_arrays()
    assert fits_csv(arrays)
    assert arrays["kept_by_all"] == pytest.approx([panel.found.kept] * 8)
    assert len(panel.exported_names().rows) == 8


@pytest.mark.slow
def test_a_click_marks_a_part_and_its_card_names_its_paths(panel: CircuitPanel, qtbot: QtBot):
    picture = panel.findChild(CircuitPicture, "circuit_picture")
    place = picture.part_rectangle(0).center().toPoint()
    qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=place)
    assert picture.current == 0
    title, lines = picture.readout(0)
    assert title == "head 1·1 at “brown²⁶”"
    assert any(line.startswith("from the token “stone/bell”: ") for line in lines)
    assert any(line.startswith("to feed-forward 1 at “brown²⁶”: ") for line in lines)
    qtbot.mouseClick(picture, Qt.MouseButton.LeftButton, pos=place)
    assert picture.current == -1


@pytest.mark.slow
def test_what_counts_has_no_circuit_and_says_so(panel: CircuitPanel, session: Session, qtbot: QtBot):
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-5-gram")
    assert "counts and has no parts" in panel.out_of_place(session.library.model)


@pytest.mark.slow
def test_half_a_circuit_is_drawn_and_goes_on_when_one_has_left(
    panel: CircuitPanel, window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
):
    whole = panel.found
    monkeypatch.setattr("lmviz.circuits.growing.AT_A_TIME", 0.001)
    monkeypatch.setattr("lmviz.circuits.circuit.AT_A_TIME", 0.0)
    halves = []
    draw = panel._draw
    monkeypatch.setattr(panel, "_draw", lambda: (halves.append(panel.found), draw()))
    panel.findChild(QSpinBox, "keep_spin").setValue(9)
    qtbot.waitUntil(lambda: any(half is not None and half.of < whole.of for half in halves))
    window.show_perspective("attention")
    qtbot.waitUntil(lambda: len(panel.found.parts) == 9 and panel.found.kept > 0 and bool(panel.found.edges))
    window.show_perspective("circuits")
    qtbot.waitUntil(lambda: panel.is_whole)
    assert words_of(panel, "circuit_sentence").startswith(f"These 9 parts of {whole.of} alone keep")
