"""A folder of checkpoints in the window: a run with a time slider, watched while another program trains."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot
from trained_series import transformers_series

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.app.window.snapshot_slider import SnapshotSlider
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


def test_neighbours_of_a_step_are_read_ahead(
    session: Session, opened: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def note(place: Path) -> list[Path]:
        read.append(place)
        return []

    monkeypatch.setattr("lmviz.series.standing.files_of", note)
    session.library.choose_step(2)
    qtbot.waitUntil(
        lambda: [place.name for place in read][-2:] == ["checkpoint-4", "checkpoint-0"], timeout=LONG
    )


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
