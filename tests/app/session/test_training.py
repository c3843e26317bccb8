import shutil
import threading
import time
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from lmviz.api.training import find_run
from lmviz.app.session.session import Session
from lmviz.app.session.training import LOOK_EVERY
from lmviz.app.workers import closing
from lmviz.families import FAMILIES
from lmviz.runs import preparation
from lmviz.training.lock import holding
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

LONG = 20_000  # milliseconds: torch may have to be loaded first


@pytest.fixture
def ready(session: Session, text_file: Path, qtbot: QtBot) -> Session:
    """A session with a text to learn from."""
    with qtbot.waitSignal(session.text.changed):
        session.text.open(text_file, documents="line")
    return session


def begin(session: Session, options: TrainingOptions, qtbot: QtBot, family: str = "lstm") -> None:
    settings = {} if family == "ngram" else {"width": 8}
    session.training.start(family, FAMILIES[family].configuration(**settings), options)
    qtbot.waitUntil(lambda: session.training.state.progress is not None, timeout=LONG)
    assert session.training.state.phase == "running", session.training.state.sentence


def step_of(session: Session) -> int:
    return session.training.state.progress.step if session.training.state.progress is not None else -1


def step_when_paused(session: Session, qtbot: QtBot) -> int:
    """The step in which the training waits."""
    qtbot.waitUntil(lambda: session.training.state.phase == "paused")
    session.training.pause()  # which has the window look at all the steps there are
    assert session.training.state.phase == "paused"
    return step_of(session)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["lstm", "ngram"])
def test_train_pause_step_resume_stop(
    ready: Session, options: TrainingOptions, text_file: Path, tmp_path: Path, qtbot: QtBot, family: str
) -> None:
    long = tmp_path / "long.txt"  # an n-gram counts a short text to its end before anybody can pause it
    long.write_text(text_file.read_text(encoding="utf-8") * 100, encoding="utf-8")
    with qtbot.waitSignal(ready.text.changed):
        ready.text.open(long, documents="line")
    begin(ready, options, qtbot, family)
    qtbot.waitUntil(lambda: step_of(ready) > 3, timeout=LONG)
    ready.training.pause()
    held = step_when_paused(ready, qtbot)
    ready.training.step()
    qtbot.waitUntil(lambda: step_of(ready) > held)
    assert step_when_paused(ready, qtbot) == held + 1
    ready.training.resume()
    qtbot.waitUntil(lambda: step_of(ready) > held + 3)
    ready.training.stop()
    qtbot.waitUntil(lambda: ready.training.state.phase == "stopped")
    run = Run.open(ready.training.state.folder)
    assert run.is_resumable
    assert run.snapshots()[-1] == step_of(ready) == ready.library.model.snapshots[-1]
    assert list(ready.training.state.history.loss.steps) == list(range(1, step_of(ready) + 1))


@pytest.mark.slow
def test_the_model_being_trained_is_looked_into_and_followed(
    ready: Session, options: TrainingOptions, qtbot: QtBot
) -> None:
    ready.reading.set_prefix("the cows")
    begin(ready, options, qtbot)
    qtbot.waitUntil(lambda: ready.reading.current is not None, timeout=LONG)
    assert ready.library.live
    assert ready.library.model.folder == ready.training.state.folder
    seen = ready.reading.current.step
    qtbot.waitUntil(lambda: ready.reading.current.step > seen + 5, timeout=LONG)


def test_between_two_snapshots_live_shows_the_weights_of_the_moment(
    ready: Session, options: TrainingOptions, qtbot: QtBot
) -> None:
    ready.reading.set_prefix("the cows")
    begin(ready, options, qtbot)
    qtbot.waitUntil(
        lambda: (
            ready.reading.current is not None
            and ready.reading.current.step not in ready.library.model.snapshots
        ),
        timeout=LONG,
    )


def test_scrubbing_back_holds_while_training_goes_on(
    ready: Session, options: TrainingOptions, qtbot: QtBot
) -> None:
    ready.reading.set_prefix("the cows")
    begin(ready, options, qtbot)
    qtbot.waitUntil(
        lambda: ready.library.model is not None and len(ready.library.model.snapshots) > 3, timeout=LONG
    )
    ready.library.choose_step(1)
    assert not ready.library.live
    before = step_of(ready)
    qtbot.waitUntil(lambda: step_of(ready) > before + 20, timeout=LONG)
    qtbot.waitUntil(lambda: not ready.reading.is_busy)
    assert ready.library.step == ready.reading.current.step == 1
    ready.library.follow_live(True)
    qtbot.waitUntil(lambda: ready.reading.current.step > 1)


def test_closing_in_mid_training_leaves_a_run_that_goes_on_where_it_stopped(
    ready: Session, options: TrainingOptions, text_file: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(ready, options, qtbot)
    qtbot.waitUntil(lambda: ready.library.model is not None and step_of(ready) > 5, timeout=LONG)
    folder = ready.training.state.folder
    ready.close()
    stopped = Run.open(folder).snapshots()[-1]
    assert stopped > 5

    later = Session(tmp_path / "runs")
    later.start()
    try:
        later.library.open(folder)
        qtbot.waitUntil(lambda: later.library.model is not None, timeout=LONG)
        later.training.resume()
        qtbot.waitUntil(lambda: step_of(later) > stopped, timeout=LONG)
        steps = list(later.training.state.history.loss.steps)
        assert steps[:stopped] == list(range(1, stopped + 1)), "the curve goes on from the old one"
    finally:
        later.close()


def test_a_run_that_is_trained_elsewhere_is_not_trained_here_too(
    ready: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    ready.library.open(lstm_run)
    qtbot.waitUntil(lambda: ready.library.model is not None, timeout=LONG)
    with holding(lstm_run), qtbot.waitSignal(ready.training.failed, timeout=LONG) as caught:
        ready.training.resume()
    [sentence] = caught.args
    assert "being trained already" in sentence
    assert ready.training.state.phase == "failed"


def test_one_step_from_nothing_begins_a_run_and_waits(
    ready: Session, options: TrainingOptions, qtbot: QtBot
) -> None:
    ready.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), options)
    ready.training.step()
    qtbot.waitUntil(lambda: step_of(ready) > 0, timeout=LONG)
    assert step_when_paused(ready, qtbot) == 1


@pytest.mark.slow
def test_a_training_that_comes_to_its_end_is_finished(ready: Session, qtbot: QtBot) -> None:
    begin_options = TrainingOptions(steps=5, batch=2, length=8, validate_every=0)
    ready.training.start("lstm", FAMILIES["lstm"].configuration(width=8), begin_options)
    qtbot.waitUntil(lambda: ready.training.state.phase == "finished", timeout=LONG)
    qtbot.waitUntil(lambda: ready.library.model is not None, timeout=LONG)
    assert ready.library.model.snapshots[-1] == 5


@pytest.mark.slow
def test_a_loss_that_is_not_finite_is_one_sentence(ready: Session, qtbot: QtBot) -> None:
    wild = TrainingOptions(
        steps=500, batch=2, length=8, optimizer="sgd", learning_rate=100.0, clip=0.0, schedule="constant"
    )
    with qtbot.waitSignal(ready.training.failed, timeout=LONG) as caught:
        ready.training.start(
            "transformer", FAMILIES["transformer"].configuration(width=8, heads=1, layers=1), wild
        )
    [sentence] = caught.args
    assert "finite" in sentence
    assert "\n" not in sentence
    assert ready.training.state.phase == "failed"


@pytest.mark.slow
def test_a_run_that_vanishes_while_it_is_trained_is_one_sentence(
    ready: Session, options: TrainingOptions, tmp_path: Path, qtbot: QtBot
) -> None:
    begin(ready, options, qtbot)
    qtbot.waitUntil(lambda: ready.library.model is not None and step_of(ready) > 5, timeout=LONG)
    said: list[str] = []
    ready.training.failed.connect(said.append)
    ready.training.state.folder.rename(
        tmp_path / "moved"
    )  # at once: removing file by file races with the training
    qtbot.waitUntil(lambda: not ready.training.state.is_active, timeout=LONG)
    assert ready.training.state.phase == "failed"
    assert len(said) == 1
    assert "was deleted" in said[0]
    ready.library.choose_step(ready.library.model.snapshots[0])  # what was open stays open


def test_a_training_that_could_not_begin_is_said_once(
    ready: Session, options: TrainingOptions, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "file").write_text("not a folder")
    ready.training.runs_folder = tmp_path / "file" / "runs"
    said: list[str] = []
    ready.training.failed.connect(said.append)
    ready.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    qtbot.waitUntil(lambda: ready.training.state.phase == "failed", timeout=LONG)
    [sentence] = said
    assert "could not be made" in sentence


def test_what_is_missing_is_said(session: Session, options: TrainingOptions, qtbot: QtBot) -> None:
    said: list[str] = []
    session.training.failed.connect(said.append)
    session.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    session.training.resume()
    assert len(said) == 2
    assert "no text" in said[0]
    assert "no run" in said[1]


def test_only_one_training_at_a_time(ready: Session, options: TrainingOptions, qtbot: QtBot) -> None:
    begin(ready, options, qtbot)
    with qtbot.waitSignal(ready.training.failed) as caught:
        ready.training.start()
    assert "already" in caught.args[0]


@pytest.mark.slow
def test_the_learning_rate_can_be_changed_on_the_way(
    ready: Session, options: TrainingOptions, qtbot: QtBot
) -> None:
    begin(ready, options, qtbot)
    ready.training.set_learning_rate(0.0123)
    qtbot.waitUntil(lambda: ready.training.state.progress.learning_rate == 0.0123, timeout=LONG)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.0123, 0.0])
def test_a_training_goes_on_with_the_rate_that_was_chosen_on_the_way(
    ready: Session, options: TrainingOptions, rate: float, qtbot: QtBot
) -> None:
    begin(ready, options, qtbot)
    ready.training.set_learning_rate(rate)
    qtbot.waitUntil(lambda: ready.training.state.progress.learning_rate == rate, timeout=LONG)
    ready.training.stop()
    qtbot.waitUntil(lambda: not ready.training.state.is_active, timeout=LONG)
    ready.training.resume()
    assert ready.plan.current.training_options.learning_rate == rate


@pytest.mark.slow
def test_training_changes_are_told_at_the_pace_of_an_eye(
    ready: Session, options: TrainingOptions, qtbot: QtBot
) -> None:
    begin(ready, options, qtbot)
    told: list[int] = []
    first, began = step_of(ready), time.monotonic()
    ready.training.changed.connect(lambda: told.append(step_of(ready)))
    qtbot.waitUntil(lambda: len(told) >= 4)
    assert len(told) <= 1 + 1000 * (time.monotonic() - began) / (0.9 * LOOK_EVERY)
    assert step_of(ready) - first > len(told), "several steps are one change"


def test_a_session_closes_at_once_when_nothing_was_started(qapp: QCoreApplication, tmp_path: Path) -> None:
    Session(tmp_path).close()


def test_two_trainings_of_one_second_are_two_runs(
    ready: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Noon(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime(2026, 1, 1, 12)

    monkeypatch.setattr("lmviz.runs.new_folder.datetime", Noon)
    folders = []
    for _ in range(2):
        ready.training.start(
            "ngram", FAMILIES["ngram"].configuration(), TrainingOptions(steps=1, validate_every=0)
        )
        qtbot.waitUntil(lambda: not ready.training.state.is_active, timeout=LONG)
        assert ready.training.state.phase == "finished", ready.training.state.sentence
        folders.append(ready.training.state.folder)
    assert folders[0] != folders[1]


def test_runs_lie_in_the_data_folder_that_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QCoreApplication
) -> None:
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "elsewhere"))
    session = Session()
    assert session.training.runs_folder == tmp_path / "elsewhere" / "runs"
    session.close()


@pytest.mark.slow
def test_a_training_that_does_not_come_round_is_given_up_when_the_session_closes(
    ready: Session,
    options: TrainingOptions,
    gate: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(closing, "LONGEST_WAIT", 0.3)
    begun = threading.Event()
    monkeypatch.setattr(preparation, "begin_run", lambda *_: begun.set() or gate.wait())
    ready.training.start("lstm", FAMILIES["lstm"].configuration(width=8), options)
    begun.wait()
    ready.close()
    assert "“training”" in capsys.readouterr().err


def test_curves_that_cannot_be_read_are_said_once_and_are_none(
    session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    run = tmp_path / "lstm"
    shutil.copytree(find_run("stories-lstm"), run)
    (run / "metrics.jsonl").unlink()
    (run / "metrics.jsonl").mkdir()
    with qtbot.waitSignal(session.library.model_changed, timeout=20_000):
        session.library.open(str(run))
    said: list[str] = []
    session.training.failed.connect(said.append)
    assert not session.training.shown.history.curves
    assert not session.training.shown.history.curves
    assert len(said) == 1
    assert "metrics.jsonl" in said[0]
