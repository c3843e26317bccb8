"""The models that are open."""

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from lmviz.app.look.theme import current_theme
from lmviz.app.session.session import Session
from lmviz.families import FAMILIES


def test_a_step_between_snapshots_goes_to_the_nearest(read: Session) -> None:
    read.library.choose_step(100)
    assert read.library.step == 6
    read.library.choose_step(-5)
    assert read.library.step == 0


def test_what_cannot_be_opened_is_said_in_a_sentence(session: Session, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "run.json").write_bytes(b"\xff\x00")
    with qtbot.waitSignal(session.library.failed) as caught:
        session.library.open(tmp_path)
    assert "choose another run" in caught.args[0]
    with qtbot.waitSignal(session.text.failed) as caught:
        session.text.open(tmp_path / "nothing.txt")
    assert "nothing.txt" in caught.args[0]


def test_all_who_ask_for_a_model_at_the_same_time_get_it(
    session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    had: list[str] = []
    session.library.open_beside(lstm_run, lambda opened: had.append("first"))
    session.library.open_beside(str(lstm_run), lambda opened: had.append("second"))
    qtbot.waitUntil(lambda: had == ["first", "second"])
    session.library.open_beside(lstm_run, lambda opened: had.append("later"))
    qtbot.waitUntil(lambda: had[2:] == ["later"])
    assert len(session.library.models) == 1


def test_closing_the_last_model_leaves_nothing_to_read(read: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(read.reading.changed):
        read.library.close(read.library.model)
    assert read.library.model is None
    assert read.reading.current is None
    assert read.library.models == ()


def test_nobody_is_told_of_a_model_that_has_been_closed(
    read: Session, transformer_run: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(read.library.model_changed, timeout=10_000):
        read.library.open(transformer_run)
    closing = read.library.model
    read.comparison.choose([(model, 0) for model in read.library.models])
    met = []
    for changed in (
        read.library.model_changed,
        read.comparison.choice_changed,
        read.library.models_changed,
        read.library.step_changed,
    ):
        changed.connect(
            lambda: met.extend([read.library.model, *(model for model, _ in read.comparison.chosen)])
        )
    read.library.close(closing)
    assert closing not in met
    assert len(met) >= 3


def test_a_family_has_its_own_color_however_often_it_is_opened(
    read: Session, lstm_run: Path, transformer_run: Path, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    def colors() -> list[int]:
        return [model.color_index for model in read.library.models]

    [lstm] = colors()
    for folder in (transformer_run, make_run("lstm", 3, width=8)):
        with qtbot.waitSignal(read.library.model_changed):
            read.library.open(folder)
    assert len(set(colors())) == 3, "a second model of a family is told apart from the first"
    assert colors()[-1] == lstm + len(FAMILIES), "by a tint of the family's colour"
    assert len({current_theme().series_color(color).name() for color in colors()}) == 3
    read.library.close(read.library.models[0])
    with qtbot.waitSignal(read.library.model_changed):
        read.library.open(lstm_run)
    assert colors()[-1] == lstm, "its own again"


def test_heads_that_a_run_leaves_to_the_default_are_known(
    session: Session, transformer_run: Path, lstm_run: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    brief = shutil.copytree(transformer_run, tmp_path / "brief")
    written = json.loads((brief / "run.json").read_text(encoding="utf-8"))
    del written["configuration"]["heads"]
    (brief / "run.json").write_text(json.dumps(written), encoding="utf-8")
    for folder, has_heads in ((brief, True), (lstm_run, False)):
        with qtbot.waitSignal(session.library.model_changed):
            session.library.open(folder)
        assert session.library.model.has_heads is has_heads


def test_where_the_newest_snapshot_is_damaged_the_newest_that_can_be_read_is_opened(
    session: Session, lstm_run: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(lstm_run, folder)
    *_, readable, damaged, newest = session_snapshots = sorted((folder / "snapshots").iterdir())
    assert len(session_snapshots) > 3
    newest.write_bytes(newest.read_bytes()[:-10])
    damaged.write_bytes(b"")
    step = int(readable.stem)
    with qtbot.waitSignal(session.library.warned) as caught:
        session.library.open(folder)
    assert newest.name in caught.args[0]
    assert f"that can be read is that of step {step}." in caught.args[0]
    assert (session.library.step, session.library.model.snapshots[-1]) == (step, step)


def test_what_is_prepared_opens_at_once_and_is_not_open_before(
    session: Session, lstm_run: Path, answered: Callable[[], None], gate: threading.Event
) -> None:
    session.library.failed.connect(pytest.fail)
    session.library.prepare([(lstm_run, 1), (lstm_run.parent / "gone", None)])
    answered()
    assert session.library.models == (), "and of what is not there nothing is said"
    session.work.ask("held back", gate.wait, lambda _: None, pytest.fail)
    session.library.open(lstm_run, 1)
    assert session.library.model.folder == lstm_run.resolve()
    session.library.close(session.library.model)
    session.library.open(lstm_run)
    assert session.library.model is None, "once it was opened it is read anew"


def test_preparing_does_not_take_the_place_of_opening(
    session: Session, lstm_run: Path, answered: Callable[[], None], gate: threading.Event
) -> None:
    session.work.ask("held back", gate.wait, lambda _: None, pytest.fail)
    session.library.open(lstm_run)
    session.library.prepare([(lstm_run, None)])
    gate.set()
    answered()
    assert session.library.model.folder == lstm_run.resolve()
