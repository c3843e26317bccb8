"""Probes in the switch of lenses: the labels they read in each cell, and the way to where they are fitted."""

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.circuits.probe import ProbePanel
from lmviz.app.panels.inside.lens import LensPanel
from lmviz.app.panels.inside.lens_choice import CHOICES, FORMULAS
from lmviz.app.panels.inside.lens_over_text import LensOverTextPanel
from lmviz.app.panels.inside.probe_over_text import ReadByProbes, explained
from lmviz.app.session.probes import FittedProbes
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.base.figures import brief_percentage, percentage, signed_figure, whole_percentage
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("lens_over_text", "lens", "probe")
TAGGED = "the\tD\ncows\tN\neat\tV\n\nthe\tD\nhens\tN\nsee\tV\n\nthe\tD\ndog\tN\n\n" * 12


def choose(box: QComboBox, at: int) -> None:
    """Choose as a person does."""
    box.setCurrentIndex(at)
    box.activated.emit(at)


@pytest.fixture
def panel(
    window: MainWindow, session: Session, own_run: Path, tmp_path: Path, qtbot: QtBot
) -> LensOverTextPanel:
    """The lens over the text of a small Transformer, with a tagged text open."""
    path = tmp_path / "tagged.tsv"
    path.write_text(TAGGED, encoding="utf-8")
    session.text.open(path, task="tagging")
    session.library.open(own_run)
    qtbot.waitUntil(lambda: session.library.model is not None and session.text.corpus is not None)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)
    window.show_perspective("inside")
    window.perspective.bring_forward("lens_over_text_view")
    [found] = window.findChildren(LensOverTextPanel)
    qtbot.waitUntil(lambda: found.lens is not None)
    return found


def test_each_cell_is_what_the_probe_of_its_layer_reads(
    window: MainWindow, session: Session, panel: LensOverTextPanel, own_run: Path, qtbot: QtBot
) -> None:
    picker = panel.findChild(QComboBox, "lens_kind_picker")
    choose(picker, list(CHOICES).index("probe"))
    show = panel.findChild(QPushButton, "show_probe_panel")
    qtbot.waitUntil(lambda: show.isVisible())
    assert "panel Probe" in panel.findChild(QLabel, "no_probe_sentence").text()
    qtbot.mouseClick(show, Qt.MouseButton.LeftButton)
    [probing] = window.findChildren(ProbePanel)
    qtbot.waitUntil(lambda: probing.is_in_sight)
    assert window.perspective.name == "circuits"
    button = probing.findChild(QPushButton, "probe_button")
    qtbot.waitUntil(button.isEnabled)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: probing.probes is not None)

    window.show_perspective("inside")
    window.perspective.bring_forward("lens_over_text_view")
    qtbot.waitUntil(lambda: isinstance(panel.found, ReadByProbes))
    expected = lmviz.probe(own_run, session.text.corpus)
    trace = session.reading.current.trace
    exported = panel.exported_arrays()
    for row, (address, one) in enumerate(zip(expected.addresses, expected.probes, strict=True)):
        scores = trace[address].array.astype(np.float64) @ one.weights.T + one.biases
        powers = np.exp(scores)
        assert exported["shares"][row] == pytest.approx(powers / powers.sum(-1, keepdims=True), abs=1e-6)
    read = panel.shown_look
    [grid] = [part for part in read.parts if part.name == "lens_grid"]
    assert grid.words[-1] == [
        f"{expected.names[share.argmax()]} {brief_percentage(float(share.max()))}"
        for share in exported["shares"][-1]
    ]
    assert grid.values == pytest.approx(exported["shares"].max(-1))
    assert grid.notes == [whole_percentage(float(share)) for share in expected.accuracy]

    said = panel.findChild(QLabel, "lens_over_text_sentence").accessibleName()
    best = int(expected.gap.argmax())
    assert f"{whole_percentage(float(expected.accuracy[best]))} of {expected.tested} places held out" in said
    assert f"the commonest label {whole_percentage(expected.majority)}" in said
    assert f"random labels {whole_percentage(float(expected.shuffled[best]))}" in said
    assert expected.gap[best] <= 0
    assert said.endswith("no better than a control.")
    assert panel.card.aside == f"probe for the labels of tagged, fitted on {expected.fitted} places"
    assert read.aside_tip.startswith(FORMULAS["probe"])

    head, lines = grid.readout(1, 2)
    label, scores = int(exported["labels"][1, 2]), exported["scores"][1, 2]
    bias = float(expected.probes[1].biases[label])
    assert head == f"{expected.names[label]}  {percentage(float(exported['shares'][1, 2, label]))}"
    told = f"{signed_figure(scores[label] - bias)} {signed_figure(bias)} = {signed_figure(scores[label])}"
    assert any(line.endswith(told) for line in lines)
    assert (head, lines) == explained(panel.found, 1, 2, label)
    grid.clicked(1, 0)
    assert session.reading.position == 0

    known: dict[str, object] = {}
    exec(panel.recipe(), known)  # - what the window hands out to be run
    assert known["read"].shares == pytest.approx(exported["shares"], abs=1e-6)  # type: ignore[attr-defined]

    session.library.choose_step(0)  # fitted to that step is nothing
    qtbot.waitUntil(lambda: show.isVisible())


def test_the_panel_lens_reads_by_the_same_probe(
    window: MainWindow, session: Session, panel: LensOverTextPanel, qtbot: QtBot
) -> None:
    [lens] = window.findChildren(LensPanel)
    window.perspective.bring_forward("lens_view")
    qtbot.waitUntil(lambda: lens.lens is not None)
    picker = lens.findChild(QComboBox, "lens_kind_choice")
    choose(picker, list(CHOICES).index("probe"))
    show = lens.findChild(QPushButton, "show_probe_from_lens")
    qtbot.waitUntil(lambda: show.isVisible())
    assert lens.lens is not None  # read directly until then
    told = lens.findChild(QLabel, "lens_fitted")
    assert "panel Probe" in told.text()

    probes = lmviz.probe(session.library.model.folder, session.text.corpus)
    reading = session.reading.current
    fitted = FittedProbes(probes, "the labels of tagged", "at the last token of a word")
    session.lenses.probes.keep((reading.model, reading.step), fitted)
    qtbot.waitUntil(lambda: "shares" in lens.exported_arrays())
    assert not show.isVisible()
    expected = probes.read(session.reading.current.trace, [session.reading.position])
    assert lens.exported_arrays()["shares"] == pytest.approx(expected.shares[:, 0])
    assert "the commonest label" in told.text()


def test_each_kind_says_its_formula_on_hover(panel: LensOverTextPanel) -> None:
    picker = panel.findChild(QComboBox, "lens_kind_picker")
    tips = [picker.itemData(at, Qt.ItemDataRole.ToolTipRole) for at in range(picker.count())]
    assert len(tips) == len(FORMULAS) == 4
    for tip, start in zip(tips, ("W norm(h)", "W norm(A (h", "W norm(J (h", "softmax(W h"), strict=True):
        assert start in tip
    assert FORMULAS["logit"] in picker.toolTip()
    assert panel.shown_look.aside_tip == FORMULAS["logit"]
