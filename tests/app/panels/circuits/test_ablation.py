"""What becomes of the answer, and of the loss over the open text, without each part."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot
from told import words_of

import lmviz
from lmviz.app.panels.circuits.ablation import AblationPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("ablation",)
SENTENCE = "ablation_sentence"


@pytest.fixture
def panel(window: MainWindow, session: Session, transformer_run: Path, qtbot: QtBot) -> AblationPanel:
    """The panel with a small Transformer and a text."""
    [found] = [item for item in window.perspective.panels if isinstance(item, AblationPanel)]
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(transformer_run)
    session.reading.set_prefix("the cows eat")
    qtbot.waitUntil(lambda: found.is_whole)
    return found


def picker(panel: AblationPanel, name: str) -> QComboBox:
    return panel.findChild(QComboBox, name)


def choose(panel: AblationPanel, name: str, place: int) -> None:
    picker(panel, name).setCurrentIndex(place)
    picker(panel, name).activated.emit(place)


def test_the_map_is_what_python_gives_for_zero_and_for_the_mean(
    panel: AblationPanel, session: Session, transformer_run: Path, qtbot: QtBot
):
    contrast = session.contrast.found.contrast
    wanted = lmviz.ablate(transformer_run, contrast)
    assert panel.found.array == pytest.approx(wanted.array, abs=1e-5)
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["values"] == pytest.approx(wanted.array, abs=1e-5)
    choose(panel, "ablation_picker", 1)
    qtbot.waitUntil(lambda: panel.is_whole and panel.found.by == "mean")
    assert panel.found.array == pytest.approx(
        lmviz.ablate(transformer_run, contrast, by="mean").array, abs=1e-5
    )


@pytest.mark.slow
def test_the_map_grows_and_says_how_much_of_it_is_known(
    panel: AblationPanel, make_run, monkeypatch: pytest.MonkeyPatch, session: Session, qtbot: QtBot
):
    monkeypatch.setattr("lmviz.circuits.growing.AT_A_TIME", 0.0)  # each layer is shown as it comes
    seen: list[tuple[int, str]] = []
    draw = AblationPanel._draw

    def note(self: AblationPanel) -> None:
        draw(self)
        if self.found is not None and len(self.found.array) == 3:
            seen.append((int(np.isfinite(self.found.array).all(axis=1).sum()), words_of(self, SENTENCE)))

    monkeypatch.setattr(AblationPanel, "_draw", note)
    session.library.open(make_run("transformer", 2, width=8, heads=2, layers=3, context=16))
    qtbot.waitUntil(lambda: bool(seen) and panel.is_whole and len(panel.found.array) == 3)
    assert {(known, f"{known} of 3 layers so far" in said) for known, said in seen} >= {(1, True), (2, True)}
    assert seen[-1][0] == 3
    assert "so far" not in seen[-1][1]


@pytest.mark.slow
def test_without_a_text_there_is_no_loss_to_choose_and_with_one_there_is_a_band_and_a_ghost(
    panel: AblationPanel, session: Session, text_file: Path, qtbot: QtBot
):
    item = picker(panel, "ablated_number_picker").model().item(1)
    assert not item.isEnabled()
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    qtbot.waitUntil(item.isEnabled)
    choose(panel, "ablated_number_picker", 1)
    qtbot.waitUntil(lambda: panel.is_whole and panel.found.measure == "loss")
    assert (panel.found.low <= panel.found.array).all()
    assert "tokens of the open text" in words_of(panel, "ablation_sentence")
    snapshots = session.library.model.snapshots
    qtbot.waitUntil(lambda: set(panel.ghost) == set(snapshots))
    wanted = panel.ghost[snapshots[-1]]
    cell = np.unravel_index(np.abs(panel.found.array).argmax(), panel.found.array.shape)
    assert wanted.intact == pytest.approx(panel.found.intact, abs=1e-6)
    assert wanted.array[0, cell[1]] == pytest.approx(panel.found.array[cell], abs=1e-6)
    curves = panel.findChild(LinePlot, "ghost_plot").curves
    assert curves["loss"].y[-1] == pytest.approx(wanted.intact)
    ghost = curves[f"without head {cell[0] + 1}·{cell[1] + 1}"]
    assert ghost.y[-1] == pytest.approx(wanted.intact + wanted.array[0, cell[1]])
    low, high = ghost.band
    assert low[-1] == pytest.approx(wanted.intact + wanted.low[0, cell[1]])
    assert high[-1] == pytest.approx(wanted.intact + wanted.high[0, cell[1]])
    qtbot.waitUntil(lambda: "certain that the model needs it" in words_of(panel, "ablation_sentence"))


@pytest.mark.slow
def test_the_ghost_is_of_the_part_that_is_chosen_while_another_is_measured(
    panel: AblationPanel, session: Session, make_run: Callable[..., Path], text_file: Path, qtbot: QtBot
):
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(make_run("transformer", 2, width=8, heads=2, layers=2, context=8))
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    choose(panel, "ablated_number_picker", 1)
    qtbot.waitUntil(lambda: session.work.is_busy("loss without a part"))
    strongest = np.abs(panel.found.array).max(axis=1).argmax()
    grid, row = panel.findChild(HeatmapView, "ablation_map"), int(strongest)  # layers count from the bottom
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=grid.cell_rectangle(row, 1).center().toPoint())
    qtbot.waitUntil(lambda: set(panel.ghost) == set(session.library.model.snapshots))
    for found in panel.ghost.values():
        assert found.addresses == (panel.found.addresses[1 - strongest],)
    plot = panel.findChild(LinePlot, "ghost_plot")
    before = set(plot.curves)
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=grid.cell_rectangle(1 - row, 1).center().toPoint())
    assert set(plot.curves) == before, "what is drawn of the other layer keeps its name"
    assert plot.isVisible()
    qtbot.waitUntil(lambda: set(plot.curves) != before)


@pytest.mark.slow
def test_while_a_training_goes_on_the_ghost_goes_on_with_it(
    panel: AblationPanel,
    session: Session,
    transformer_run: Path,
    text_file: Path,
    qtbot: QtBot,
    tmp_path: Path,
):
    folder = shutil.copytree(transformer_run, tmp_path / "run")
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(folder)
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    choose(panel, "ablated_number_picker", 1)
    snapshots = session.library.model.snapshots
    qtbot.waitUntil(lambda: set(panel.ghost) == set(snapshots))
    known = dict(panel.ghost)
    newest = folder / "snapshots" / f"{snapshots[-1] + 5:06d}.safetensors"
    shutil.copy(folder / "snapshots" / f"{snapshots[-1]:06d}.safetensors", newest)
    session.library.refresh_snapshots(folder)
    qtbot.waitUntil(lambda: len(panel.ghost) == len(snapshots) + 1)
    assert panel.ghost[snapshots[-1] + 5].array == pytest.approx(known[snapshots[-1]].array)
    assert all(panel.ghost[step] is found for step, found in known.items())


@pytest.mark.slow
def test_the_loss_over_the_text_needs_no_pair_that_lines_up(
    panel: AblationPanel, session: Session, text_file: Path, qtbot: QtBot
):
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    session.contrast.set_other("the cows eat and eat and eat")
    qtbot.waitUntil(lambda: panel.is_whole)  # of the text alone
    choose(panel, "ablated_number_picker", 1)
    qtbot.waitUntil(lambda: panel.is_whole and panel.found.measure == "loss")


@pytest.mark.slow
def test_a_click_chooses_a_head(panel: AblationPanel, session: Session, qtbot: QtBot):
    grid = panel.findChild(HeatmapView, "ablation_map")
    last = len(panel.found.array) - 1
    qtbot.mouseClick(grid, Qt.MouseButton.LeftButton, pos=grid.cell_rectangle(last, 1).center().toPoint())
    assert session.attention.head == (0, 1)
    assert words_of(panel, "ablation_sentence").startswith("Without head 1·2, ")
    assert words_of(panel, "ablation_sentence").endswith("It is set to zero.")


@pytest.mark.slow
def test_of_an_n_gram_each_order_is_left_to_the_one_below(
    panel: AblationPanel, session: Session, qtbot: QtBot
):
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open("stories-5-gram")
    session.reading.set_prefix("Maya owned a brown")
    qtbot.waitUntil(lambda: panel.is_whole and panel.found.axes == ("order",))
    wanted = lmviz.ablate("stories-5-gram", session.contrast.found.contrast)
    assert panel.found.array == pytest.approx(wanted.array, abs=1e-5)
    ways = picker(panel, "ablation_picker")
    assert [ways.itemText(at) for at in range(ways.count())] == ["left to the order below"]
    assert words_of(panel, "ablation_sentence").startswith(
        f"Without order {1 + np.abs(wanted.array).argmax()}, "
    )
    assert words_of(panel, "ablation_sentence").endswith("It is left to the order below.")


@pytest.mark.slow
def test_of_a_recurrent_network_whole_layers_are_switched_off(
    panel: AblationPanel, session: Session, lstm_run: Path, qtbot: QtBot
):
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(lstm_run)
    qtbot.waitUntil(lambda: panel.is_whole and panel.found.axes == ("layer",))
    assert "the states of layer" in words_of(panel, "ablation_sentence")
