from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QByteArray

from lmviz.app.opening.settings import LastSession, Settings


def test_what_is_kept_is_there_in_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "lmviz.ini"
    settings = Settings(path)
    settings.keep("view/theme", "dark")
    settings.keep("view/projector", True)
    settings.keep("last/step", 1240)
    settings.keep("arrangement/train", QByteArray(b"\x00\xff\x10"))
    settings.write()
    again = Settings(path)
    assert again.text("view/theme") == "dark"
    assert again.is_on("view/projector")
    assert again.number("last/step") == 1240
    assert again.arrangement("arrangement/train").data() == b"\x00\xff\x10"
    assert again.arrangement("arrangement/inside").isEmpty()


def test_recent_files_are_the_newest_first_without_those_that_have_gone(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "lmviz.ini")
    paths = [tmp_path / f"text, number {number}.txt" for number in range(14)]
    for path in paths:
        path.touch()
        settings.add_recent(path)
    settings.add_recent(paths[10])
    paths[13].unlink()
    assert settings.recent == [paths[10], paths[12], paths[11], *reversed(paths[4:10])]


def test_a_path_that_the_system_refuses_is_no_reason_not_to_start(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "lmviz.ini")
    endless = "x" * 5000  # asking for it is an error of its own, as where one may not look
    settings.keep("recent", endless)
    settings.keep("last/run", endless)
    assert settings.recent == []
    assert not settings.last_session.is_worth_going_on


def test_nothing_open_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    assert not LastSession().is_worth_going_on
    assert not LastSession(run=str(tmp_path / "gone")).is_worth_going_on
    assert LastSession(run=str(tmp_path)).is_worth_going_on
    assert LastSession(sources=("farm",)).is_worth_going_on


@pytest.mark.parametrize(("phase", "is_kept"), [("stopped", True), ("running", True), ("finished", False)])
def test_only_a_training_that_has_not_come_to_its_end_is_gone_on_with(
    tmp_path: Path, phase: str, is_kept: bool
) -> None:
    session = SimpleNamespace(
        text=SimpleNamespace(corpus=None),
        library=SimpleNamespace(model=None, step=0, live=True),
        reading=SimpleNamespace(prefix=""),
        training=SimpleNamespace(state=SimpleNamespace(folder=tmp_path, phase=phase)),
    )
    settings = Settings(tmp_path / "lmviz.ini")
    settings.keep_session(session, "train")
    assert settings.last_session.training == (str(tmp_path) if is_kept else "")


@given(st.binary(max_size=300))
def test_a_damaged_file_is_no_reason_not_to_start(
    tmp_path_factory: pytest.TempPathFactory, damage: bytes
) -> None:
    path = tmp_path_factory.mktemp("settings") / "lmviz.ini"
    path.write_bytes(b"[last]\nstep=" + damage + b"\ncorpus_options=" + damage + b"\n[view]\ntheme=" + damage)
    last = Settings(path).last_session
    assert isinstance(last.step, int)
    assert isinstance(dict(last.corpus_options), dict)
    assert isinstance(Settings(path).recent, list)
