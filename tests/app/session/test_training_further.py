"""An open model is trained further, by the steps that are missing or by one; what is in the way is said."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.families import FAMILIES
from lmviz.training.options import TrainingOptions
from lmviz.training.run import Run

LONG = 30_000
SMALL = {"batch": 2, "length": 8, "validate_every": 0}


@pytest.fixture
def trained(session: Session, make_run: Callable[..., Path], qtbot: QtBot) -> Session:
    """A session into which a finished run of six steps was opened, and no text."""
    open_run(session, make_run("gru", 6, width=8), qtbot)
    return session


def open_run(session: Session, folder: Path | str, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.library.model_changed, timeout=LONG):
        session.library.open(folder)


def wait_for_the_end(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(
        lambda: session.training.state.folder is not None and not session.training.state.is_active,
        timeout=LONG,
    )
    assert session.training.state.sentence == ""


def runs_in(session: Session) -> list[Path]:
    folder = session.training.runs_folder
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.mark.slow
def test_a_finished_run_goes_on_to_the_steps_that_were_raised(trained: Session, qtbot: QtBot) -> None:
    model = trained.library.model
    trained.plan.set("gru", FAMILIES["gru"].configuration(width=8), TrainingOptions(steps=10, **SMALL))
    assert trained.training.further_steps == 4
    trained.training.resume()
    wait_for_the_end(trained, qtbot)
    assert Run.open(model.folder).snapshots()[-1] == 10
    assert list(trained.training.state.history.loss.steps) == list(range(1, 11))


def test_a_finished_run_is_offered_as_many_steps_again(trained: Session, qtbot: QtBot) -> None:
    assert trained.training.can_resume
    assert trained.training.further_steps == 6
    trained.training.resume()
    wait_for_the_end(trained, qtbot)
    assert trained.library.model.snapshots[-1] == 12
    assert Run.open(trained.library.model.folder).description.options.steps == 12


def test_a_plan_for_another_text_says_nothing_about_how_far_a_run_goes(
    trained: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    trained.plan.set("gru", FAMILIES["gru"].configuration(width=8), TrainingOptions(steps=10, **SMALL))
    assert trained.training.further_steps == 4
    other = tmp_path / "other.txt"
    other.write_text("another text\n" * 40, encoding="utf-8")
    with qtbot.waitSignal(trained.text.changed, timeout=LONG):
        trained.text.open(other, documents="line")
    assert trained.training.further_steps == 6, "as many again as it had"


def test_one_step_trains_the_model_that_is_open(trained: Session, qtbot: QtBot) -> None:
    model = trained.library.model
    for step in (7, 8):
        trained.training.step()
        wait_for_the_end(trained, qtbot)
        qtbot.waitUntil(lambda step=step: trained.library.model.snapshots[-1] == step, timeout=LONG)
    assert trained.library.models == (model,)
    assert runs_in(trained) == []
    assert trained.training.further_steps == 8


@pytest.fixture
def sample(session: Session, make_run: Callable[..., Path], qtbot: QtBot) -> Session:
    """A session with a model that keeps no state to go on from, as sample models do."""
    folder = make_run("gru", 6, width=8)
    (folder / "resume" / "state.safetensors").unlink()
    open_run(session, folder, qtbot)
    return session


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["step", "resume"])
def test_a_model_that_keeps_no_state_is_not_replaced_by_another(
    sample: Session, text_file: Path, verb: str, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(sample.text.changed, timeout=LONG):
        sample.text.open(text_file, documents="line")
    with qtbot.waitSignal(sample.training.failed) as failure:
        getattr(sample.training, verb)()
    assert "keeps no state to train on from" in failure.args[0]
    assert not sample.training.can_resume
    assert sample.training.state.phase == "idle"
    assert runs_in(sample) == []


def test_a_run_whose_text_is_not_known_says_so(trained: Session, qtbot: QtBot) -> None:
    trained.library.model.description.corpus["sources"].clear()
    with qtbot.waitSignal(trained.training.failed) as failure:
        trained.training.step()
    assert "open it under Corpus" in failure.args[0]


def test_an_n_gram_that_has_counted_everything_says_so(
    session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    open_run(session, make_run("ngram", 6), qtbot)
    with qtbot.waitSignal(session.training.failed) as failure:
        session.training.step()
    assert "counted its whole text" in failure.args[0]


@pytest.mark.slow
def test_going_on_makes_the_plan_that_of_the_run_and_follows_it_live(trained: Session, qtbot: QtBot) -> None:
    trained.reading.set_prefix("the cows")
    trained.library.choose_step(0)
    assert trained.plan.current.family == "transformer"
    trained.training.resume()
    assert trained.plan.current.family == "gru"
    assert trained.plan.current.configuration == FAMILIES["gru"].configuration(width=8)
    assert trained.plan.current.training_options.steps == 12
    assert trained.training.is_following
    wait_for_the_end(trained, qtbot)
    assert trained.library.step == 12


@pytest.mark.slow
def test_the_history_is_that_of_the_model_that_is_shown(
    trained: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    first = trained.library.model
    trained.training.resume()
    wait_for_the_end(trained, qtbot)
    assert len(trained.training.shown.history.loss) == 12
    open_run(trained, lstm_run, qtbot)
    assert len(trained.training.shown.history.loss) == 6
    assert trained.training.shown.phase == "finished"
    trained.library.choose(first)
    assert len(trained.training.shown.history.loss) == 12


@pytest.mark.slow
def test_training_waits_for_a_text_that_is_being_read(
    session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.plan.set("gru", FAMILIES["gru"].configuration(width=8), TrainingOptions(steps=3, **SMALL))
    session.text.open(text_file, documents="line")
    session.training.start()
    assert session.training.state.phase == "preparing"
    assert session.training.state.doing == "preparing the text…"
    wait_for_the_end(session, qtbot)
    qtbot.waitUntil(lambda: session.library.model is not None, timeout=LONG)
    assert session.library.model.snapshots[-1] == 3


def test_training_gives_up_with_a_text_that_cannot_be_read(
    session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    session.text.open(tmp_path / "missing.txt")
    session.training.start()
    with qtbot.waitSignal(session.text.failed, timeout=LONG):
        assert session.training.state.is_active
    qtbot.waitUntil(lambda: session.training.state.phase == "idle")


@pytest.mark.slow
def test_the_duration_is_known_once_it_was_measured(session: Session, text_file: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        session.text.open(text_file, documents="line")
    plan = ("gru", FAMILIES["gru"].configuration(width=8), TrainingOptions(steps=1_000_000, **SMALL))
    session.plan.set(*plan)
    assert session.plan.expected_seconds is None
    session.training.start()
    qtbot.waitUntil(lambda: session.plan.expected_seconds is not None, timeout=LONG)
    progress = session.training.state.progress
    assert session.plan.expected_seconds == pytest.approx(
        progress.seconds / progress.step * 1_000_000, rel=0.5
    )
    session.training.stop()
    wait_for_the_end_of_a_stopped(session, qtbot)
    expected = session.plan.expected_seconds
    session.plan.set(*plan[:2], TrainingOptions(steps=500_000, **SMALL))
    assert session.plan.expected_seconds == pytest.approx(expected / 2)
    session.plan.set("gru", FAMILIES["gru"].configuration(width=9), plan[2])
    assert session.plan.expected_seconds is None, "another model takes another time"


def wait_for_the_end_of_a_stopped(session: Session, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: session.training.state.phase == "stopped", timeout=LONG)
