"""A folder of checkpoints in the window: a run with a time slider, watched while another program trains."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from benches.exporting import choose
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot
from trained_series import transformers_series

import lmviz
from lmviz.app.board.exporting import choose_numbers
from lmviz.app.opening.scenes import scene_of
from lmviz.app.session.session import Session
from lmviz.app.window.dialogs import DoctorReport
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.snapshot_slider import SnapshotSlider
from lmviz.desktop.scene import ENDING, save_scene
from lmviz.series.keeping import place_of_copies

LONG = 30_000
TEXT = "w1 w2 w1 w2"


@pytest.fixture(scope="module")
def trained_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    transformers_series(folder)
    return folder


@pytest.fixture
def opened(window: MainWindow, session: Session, trained_once: Path, tmp_path: Path, qtbot: QtBot) -> Path:
    """The folder of a training that is open, with the checkpoints of the steps 0, 2 and 4."""
    folder = tmp_path / "training"
    for step in (0, 2, 4):
        shutil.copytree(trained_once / f"checkpoint-{step}", folder / f"checkpoint-{step}")
    window.resize(1440, 900)
    window.open_paths([folder])
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    session.reading.set_prefix(TEXT)
    return folder


def wait_for_step(session: Session, step: int, qtbot: QtBot) -> np.ndarray:
    """The logits of what is typed, once they are those of a step."""
    qtbot.waitUntil(
        lambda: (now := session.reading.current) is not None and (now.step, now.trace.text) == (step, TEXT),
        timeout=LONG,
    )
    return session.reading.current.trace["probabilities"].array


def test_a_folder_of_checkpoints_opens_as_a_run_with_a_time_slider(
    window: MainWindow, session: Session, opened: Path, qtbot: QtBot
) -> None:
    slider = window.findChild(SnapshotSlider)
    assert slider.snapshots == (0, 2, 4)
    for step in (4, 0, 2):
        session.library.choose_step(step)
        shown = wait_for_step(session, step, qtbot)
        alone = lmviz.trace(str(opened / f"checkpoint-{step}"), TEXT)
        assert np.abs(shown - alone["probabilities"].array).max() < 1e-5
    assert window.findChild(QPushButton, "live_button").text() == "step 2 of 6"  # so many will be made


@pytest.mark.slow
def test_a_checkpoint_is_a_tick_once_it_is_whole(
    window: MainWindow, session: Session, opened: Path, trained_once: Path, qtbot: QtBot
) -> None:
    slider = window.findChild(SnapshotSlider)
    whole = trained_once / "checkpoint-6"
    growing = opened / "checkpoint-6"
    growing.mkdir()
    shutil.copy(whole / "config.json", growing)
    content = (whole / "model.safetensors").read_bytes()
    (growing / "model.safetensors").write_bytes(content[: len(content) // 2])
    shutil.rmtree(opened / "checkpoint-0")  # so that one knows when it has been looked
    qtbot.waitUntil(lambda: slider.gone == (0,), timeout=LONG)
    assert slider.snapshots == (2, 4)
    (growing / "model.safetensors").write_bytes(content)
    qtbot.waitUntil(lambda: slider.snapshots == (2, 4, 6), timeout=LONG)
    session.library.choose_step(6)
    shown = wait_for_step(session, 6, qtbot)
    assert np.abs(shown - lmviz.trace(str(whole), TEXT)["probabilities"].array).max() < 1e-5


@pytest.mark.slow
def test_a_deleted_checkpoint_keeps_its_tick_marked_gone(
    window: MainWindow, session: Session, opened: Path, qtbot: QtBot
) -> None:
    slider = window.findChild(SnapshotSlider)
    session.library.choose_step(2)
    wait_for_step(session, 2, qtbot)
    shutil.rmtree(opened / "checkpoint-2")
    qtbot.waitUntil(lambda: slider.gone == (2,), timeout=LONG)
    assert (slider.snapshots, slider.value()) == ((0, 4), 0)
    assert "1 more deleted" in slider.accessibleDescription()
    assert session.reading.current.step == 2, "what was measured of it stays"
    session.reading.set_prefix("w3")
    qtbot.waitUntil(lambda: session.reading.current.trace.text == "w3", timeout=LONG)


def test_the_newest_is_followed_on_demand_and_the_transport_says_how_old_it_is(
    window: MainWindow, session: Session, opened: Path, trained_once: Path, qtbot: QtBot
) -> None:
    (opened / "checkpoint-4" / "model.safetensors").touch()
    said = window.findChild(QLabel, "training_step")
    qtbot.waitUntil(lambda: said.text().startswith("watching · newest "), timeout=LONG)
    session.library.follow_live(True)
    shutil.copytree(trained_once / "checkpoint-6", opened / "checkpoint-6")
    qtbot.waitUntil(lambda: session.library.step == 6, timeout=LONG)
    qtbot.waitUntil(lambda: said.text() == "trained by another program", timeout=LONG)  # 6 of 6 steps


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="this system cannot be told what will be read")
def test_neighbours_of_a_step_are_read_ahead(
    session: Session, opened: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system is told so of these files alone: how the training stands is looked up beside it."""
    known = {os.stat(path).st_ino: path.parent.name for path in opened.rglob("*.safetensors")}
    told: list[str | None] = []

    def note(descriptor: int, *span: int) -> None:
        told.append(known.get(os.fstat(descriptor).st_ino))

    qtbot.waitUntil(lambda: session.library.step == 4, timeout=LONG)
    monkeypatch.setattr(os, "posix_fadvise", note)
    session.library.choose_step(2)
    qtbot.waitUntil(lambda: {"checkpoint-4", "checkpoint-0"} <= set(told), timeout=LONG)


@pytest.mark.slow
def test_copies_are_kept_of_what_the_program_deletes(
    window: MainWindow, session: Session, opened: Path, trained_once: Path, qtbot: QtBot
) -> None:
    slider = window.findChild(SnapshotSlider)
    [keep] = [action for action in window.commands.all() if action.text().startswith("Keep a copy")]
    qtbot.waitUntil(keep.isEnabled, timeout=LONG)
    keep.trigger()
    qtbot.waitUntil(lambda: "MB)" in keep.text(), timeout=LONG)
    assert keep.isChecked()
    shutil.copytree(trained_once / "checkpoint-6", opened / "checkpoint-6")
    copies = place_of_copies(opened)
    qtbot.waitUntil(lambda: (copies / "checkpoint-6").exists(), timeout=LONG)
    for step in (2, 6):
        shutil.rmtree(opened / f"checkpoint-{step}")
    qtbot.waitUntil(lambda: session.library.model.run.copies == (2, 6), timeout=LONG)
    assert (slider.snapshots, slider.gone) == ((0, 2, 4, 6), ())
    for step in (2, 6):
        session.library.choose_step(step)
        shown = wait_for_step(session, step, qtbot)
        whole = lmviz.trace(str(trained_once / f"checkpoint-{step}"), TEXT)["probabilities"].array
        assert np.abs(shown - whole).max() < 1e-5
    keep.trigger()
    assert not keep.isChecked()
    assert lmviz.open_model(opened, 2).step == 2, "copies are a part of the series from then on"


TRAINING = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], str(Path(sys.argv[2]) / "series")]
from test_trainers import fresh, train_by_trainer
train_by_trainer(fresh("gpt2"), Path(sys.argv[1]), steps=8, every=2)
"""


@pytest.mark.slow
def test_a_training_in_another_process_is_watched_live(
    window: MainWindow, session: Session, trained_once: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    """Each tick can be shown as soon as it is there; the folder begins with what the model was before."""
    out, script = tmp_path / "out", tmp_path / "train.py"
    shutil.copytree(trained_once / "checkpoint-0", out / "checkpoint-0")
    script.write_text(TRAINING)
    window.open_paths([out])
    slider = window.findChild(SnapshotSlider)
    qtbot.waitUntil(lambda: slider.snapshots == (0,), timeout=LONG)
    session.reading.set_prefix(TEXT)
    session.library.follow_live(True)
    tests = str(Path(__file__).parents[2])
    training = subprocess.Popen([sys.executable, str(script), str(out), tests], stderr=subprocess.DEVNULL)
    qtbot.waitUntil(lambda: slider.snapshots == (0, 2, 4, 6, 8), timeout=10 * LONG)
    assert training.wait() == 0
    shown = wait_for_step(session, 8, qtbot)
    expected = lmviz.trace(lmviz.open_model(out, 8), TEXT)["probabilities"].array
    assert np.abs(shown - expected).max() < 1e-5


@pytest.mark.slow
def test_the_doctor_says_what_there_is_to_say_before_a_series_is_opened(
    window: MainWindow, session: Session, trained_once: Path, tmp_path: Path, monkeypatch, qtbot: QtBot
) -> None:
    folder = tmp_path / "training"
    for step, of in ((0, 0), (2, 2), (4, 2)):  # as in public series, step 4 holds the weights of step 2
        shutil.copytree(trained_once / f"checkpoint-{of}", folder / f"checkpoint-{step}")
    state = folder / "checkpoint-4" / "trainer_state.json"
    state.write_text(state.read_text().replace('"global_step": 2', '"global_step": 4'))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
    title = "Open the checkpoints of a training…"
    next(action for action in window.commands.all() if action.text() == title).trigger()
    [report] = window.findChildren(DoctorReport)
    lines = report.findChild(QLabel, "doctor_lines")
    same = "The steps 2 and 4 hold the same weights, number for number."
    qtbot.waitUntil(lambda: same in lines.text(), timeout=LONG)
    qtbot.mouseClick(report.findChild(QPushButton, "open_examined_button"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert session.library.model.snapshots == (0, 2, 4)


def test_what_was_recorded_is_listed_and_what_changed_beside_it(
    window: MainWindow, session: Session, opened: Path, qtbot: QtBot
) -> None:
    window.show_perspective("train")
    session.library.choose_step(4)
    recorded, changed = (
        next(panel for panel in window.perspective.panels if panel.objectName() == name)
        for name in ("recorded_view", "changed_weights_view")
    )
    recorded.parentWidget().raise_()
    qtbot.waitUntil(lambda: list(recorded.exported_arrays().get("weights", ())) == [0, 2, 4], timeout=LONG)
    said = [label.text() for label in recorded.findChildren(QLabel)]
    assert any("3 checkpoints" in text for text in said)
    lacking = recorded.findChild(QWidget, "recorded_lacking")
    assert "learning rate" in lacking.text, "of which this training has written nothing down"
    changed.parentWidget().raise_()
    session.pair.choose_before((session.library.model, 2))
    qtbot.waitUntil(lambda: "relative" in changed.exported_arrays() and not changed.is_behind, timeout=LONG)
    change = lmviz.difference(lmviz.open_model(opened, 2), lmviz.open_model(opened, 4))
    wanted = [matrix.relative for matrix in change.matrices]
    qtbot.waitUntil(
        lambda: np.allclose(changed.exported_arrays()["relative"], wanted, equal_nan=True), timeout=LONG
    )


@pytest.mark.slow
def test_two_steps_of_a_series_are_compared_inside_and_exported(
    window: MainWindow, session: Session, opened: Path, tmp_path: Path, monkeypatch, qtbot: QtBot
) -> None:
    """Difference, Compare and Circuits take them as they take two steps of a run; scenes remember them."""
    model = session.library.model
    session.library.choose_step(4)
    wait_for_step(session, 4, qtbot)
    one, other = (lmviz.open_model(opened, step) for step in (0, 4))

    window.show_perspective("compare")
    session.comparison.choose([(model, 0)])
    compare = next(panel for panel in window.perspective.panels if panel.objectName() == "compare_view")
    qtbot.waitUntil(lambda: len(compare.found) == 2 and not compare.is_behind, timeout=LONG)
    shown = {item.step: compare.found[place] for place, item in enumerate(compare.models)}
    for step, alone in ((0, one), (4, other)):
        wanted = lmviz.next_token(alone, TEXT).probabilities
        assert np.allclose(shown[step].distribution.probabilities, wanted, atol=1e-5)

    window.show_perspective("difference")
    session.pair.choose_before((model, 0))
    words = next(p for p in window.perspective.panels if p.objectName() == "changed_words_view")
    qtbot.waitUntil(lambda: "after" in words.exported_arrays() and not words.is_behind, timeout=LONG)
    choose(tmp_path / "words.csv", monkeypatch)
    choose_numbers(words)
    with (tmp_path / "words.csv").open(encoding="utf-8") as file:
        table = np.array([row[1:] for row in list(csv.reader(file))[1:]], dtype=float)
    wanted = [lmviz.next_token(alone, TEXT).probabilities for alone in (one, other)]
    assert np.allclose(table.T, wanted, atol=1e-5)

    scene = tmp_path / f"scene{ENDING}"
    save_scene(scene_of(session, "difference").beside(tmp_path), scene)
    session.library.choose_step(2)
    session.comparison.choose([])
    window.open_paths([scene])
    qtbot.waitUntil(lambda: session.library.step == 4 and session.pair.before[1] == 0, timeout=LONG)
    assert session.library.model.folder == opened


@pytest.mark.slow
def test_a_circuit_is_patched_at_two_steps_of_a_series(
    window: MainWindow, session: Session, opened: Path, qtbot: QtBot
) -> None:
    window.show_perspective("circuits")
    session.contrast.set_other("w1 w2 w1 w3")
    patching = next(p for p in window.perspective.panels if p.objectName() == "patching_view")
    contrast = lmviz.contrast(TEXT, "w1 w2 w1 w3", measure="logit:w4-w5")
    session.contrast.set_measure("logit:w4-w5")
    for step in (2, 4):
        session.library.choose_step(step)
        wait_for_step(session, step, qtbot)
        wanted = lmviz.patch(lmviz.open_model(opened, step), contrast).array

        def is_drawn(wanted=wanted) -> bool:
            found = patching.exported_arrays().get("share")
            return found is not None and found.shape == wanted.shape and np.allclose(found, wanted, atol=1e-3)

        qtbot.waitUntil(is_drawn, timeout=LONG)
