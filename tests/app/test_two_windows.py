"""Two windows have one run open: what the one does to it, the other sees or says, and nothing is lost."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.families import FAMILIES
from lmviz.text.corpus import load_corpus
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

SMALL = {"batch": 2, "length": 8, "validate_every": 0}
MANY = 10_000  # steps that nobody waits for


@pytest.fixture
def run(text_file: Path, tmp_path: Path) -> Path:
    """A run of six steps that tests may change."""
    corpus = load_corpus(text_file, documents="line")
    return lmviz.train("lstm", corpus, tmp_path / "run", steps=6, width=8, **SMALL).folder


@pytest.fixture
def pair(session: Session, run: Path, text_file: Path, qtbot: QtBot) -> Iterator[tuple[Session, Session]]:
    """Two sessions that have read a prefix with the same run."""
    other = Session(session.training.runs_folder)
    other.permission.allow([str(text_file)])
    other.start()
    for one in (session, other):
        one.library.open(run)
        one.reading.set_prefix("the cows")
    qtbot.waitUntil(lambda: all(has_read(one) for one in (session, other)))
    yield session, other
    other.close()
    other.deleteLater()


def has_read(session: Session) -> bool:
    current = session.reading.current
    return (
        current is not None and current.trace.text == session.reading.prefix and not session.reading.is_busy
    )


def plan(session: Session, steps: int) -> None:
    session.plan.set("lstm", FAMILIES["lstm"].configuration(width=8), TrainingOptions(steps=steps, **SMALL))


def wait_for_the_end(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: session.training.state.phase in ("finished", "stopped", "failed"))


def test_what_one_window_trains_on_is_seen_in_the_other(
    pair: tuple[Session, Session], run: Path, qtbot: QtBot
) -> None:
    first, second = pair
    second.library.follow_live(True)
    assert len(second.training.shown.history.loss.steps) == 6
    plan(first, 20)
    first.training.resume()
    wait_for_the_end(first, qtbot)
    qtbot.waitUntil(lambda: second.library.model.snapshots[-1] == 20)
    qtbot.waitUntil(lambda: has_read(second) and second.library.step == 20)
    assert second.library.model.snapshots == first.library.model.snapshots == tuple(Run.open(run).snapshots())
    assert second.training.shown.history.loss.steps[-1] == 20
    qtbot.waitUntil(lambda: has_read(first) and first.library.step == 20)
    logits = [one.reading.current.trace["logits"].array for one in pair]
    assert np.array_equal(*logits)


@pytest.mark.slow
def test_a_window_does_not_train_on_what_another_trains(
    pair: tuple[Session, Session], run: Path, qtbot: QtBot
) -> None:
    first, second = pair
    plan(first, MANY)
    first.training.resume()
    qtbot.waitUntil(lambda: first.training.state.phase == "running")
    second.training.resume()
    wait_for_the_end(second, qtbot)
    assert second.training.state.phase == "failed"
    assert "is being trained already in this program" in second.training.state.sentence
    first.training.stop()
    wait_for_the_end(first, qtbot)
    assert first.training.state.phase == "stopped"
    stopped_at = Run.open(run).snapshots()[-1]
    plan(second, stopped_at + 5)
    second.training.resume()
    wait_for_the_end(second, qtbot)
    assert second.training.state.sentence == ""
    assert Run.open(run).snapshots()[-1] == stopped_at + 5


@pytest.mark.slow
def test_the_name_that_one_window_gives_is_kept_and_shown_in_the_other(
    pair: tuple[Session, Session], run: Path, qtbot: QtBot
) -> None:
    first, second = pair
    first.library.rename(run, "Farm of the first")
    qtbot.waitUntil(lambda: second.library.model.name == "Farm of the first")
    plan(second, 12)
    second.training.resume()
    wait_for_the_end(second, qtbot)
    assert Run.open(run).description.name == "Farm of the first"
    assert Run.open(run).description.options.steps == 12


def test_a_snapshot_that_is_removed_is_no_longer_offered(
    pair: tuple[Session, Session], run: Path, qtbot: QtBot
) -> None:
    first, _ = pair
    gone = first.library.model.snapshots[1]
    Run.open(run).snapshot_path(gone).unlink()
    qtbot.waitUntil(lambda: gone not in first.library.model.snapshots)
    first.library.choose_step(gone)
    qtbot.waitUntil(lambda: has_read(first) and first.library.step != gone)


def test_a_run_that_is_deleted_under_a_window_is_said_and_the_window_goes_on(
    pair: tuple[Session, Session], run: Path, lstm_run: Path, qtbot: QtBot
) -> None:
    first, _ = pair
    said: list[str] = []
    first.work.any_failed.connect(said.append)
    shutil.rmtree(run)
    first.library.choose_step(0)
    qtbot.waitUntil(lambda: bool(said))
    assert "There is nothing at" in said[0]
    with qtbot.waitSignal(first.training.failed) as caught:
        first.training.resume()
    assert "was deleted or moved" in caught.args[0]
    first.library.open(lstm_run)
    qtbot.waitUntil(lambda: first.library.model.folder == lstm_run and has_read(first))
    assert not [sentence for sentence in said if "did not expect" in sentence]


@pytest.mark.slow
def test_a_run_that_is_overwritten_under_a_window_is_opened_anew(
    pair: tuple[Session, Session], run: Path, text_file: Path, qtbot: QtBot
) -> None:
    first, second = pair
    said: list[str] = []
    for one in pair:
        one.work.any_failed.connect(said.append)
    corpus = load_corpus(text_file, documents="line")
    lmviz.train("gru", corpus, run, steps=3, width=12, overwrite=True, **SMALL)
    first.library.choose_step(2)  # at once, before anybody can know
    qtbot.waitUntil(lambda: all(one.library.model.family == "gru" for one in pair))
    second.reading.set_prefix("the hens")
    qtbot.waitUntil(
        lambda: has_read(second) and second.reading.current.trace["layers/0/hidden"].shape[1] == 12
    )
    assert not [sentence for sentence in said if "did not expect" in sentence]


@pytest.mark.slow
def test_a_run_that_is_overwritten_by_one_like_it_keeps_nothing_of_the_one_before(
    pair: tuple[Session, Session], run: Path, text_file: Path, qtbot: QtBot
) -> None:
    first, second = pair
    corpus = load_corpus(text_file, documents="line")
    plan(first, 8)
    first.training.resume()  # so that the first window has the curves of its own training
    wait_for_the_end(first, qtbot)
    qtbot.waitUntil(lambda: all(one.library.model.snapshots[-1] == 8 for one in pair))
    for one in pair:
        one.text.open(text_file, documents="line")
        qtbot.waitUntil(lambda one=one: one.text.corpus is not None)
        one.scores.measure([((one.library.model, 0), ())])
        qtbot.waitUntil(lambda one=one: not one.scores.is_measuring)
        assert one.scores.score_of((one.library.model, 0)) is not None
        assert len(one.training.history_of(one.library.model).loss) == 8
    before = second.library.model
    other = lmviz.train("lstm", corpus, run, steps=5, width=8, overwrite=True, seed=7, **SMALL)
    for one in pair:
        qtbot.waitUntil(lambda one=one: one.library.model.snapshots[-1] == 5)
        assert one.library.model != before
        assert one.library.models == (one.library.model,)
        assert one.scores.score_of((one.library.model, 0)) is None
        losses = [line["loss"] for line in other.metrics() if "loss" in line]
        for history in (one.training.history_of(one.library.model), one.training.shown.history):
            assert history.loss.values.tolist() == pytest.approx(losses)


@pytest.mark.slow
def test_a_run_that_is_trained_on_stays_the_same_model(
    pair: tuple[Session, Session], run: Path, qtbot: QtBot
) -> None:
    first, second = pair
    before = second.library.model
    plan(first, 12)
    first.training.resume()
    wait_for_the_end(first, qtbot)
    qtbot.waitUntil(lambda: second.library.model.snapshots[-1] == 12)
    assert second.library.model == before


def test_a_window_that_was_closed_hears_of_nothing(
    pair: tuple[Session, Session], run: Path, qtbot: QtBot
) -> None:
    first, second = pair
    second.close()
    second.library.models_changed.connect(pytest.fail)
    first.library.rename(run, "Farm")
    for _ in range(
        2
    ):  # the watcher's word, for both at the same moment: what is late comes before the second
        with qtbot.waitSignal(first.library.models_changed):
            Run.open(run).snapshot_path(first.library.model.snapshots[1]).unlink()
