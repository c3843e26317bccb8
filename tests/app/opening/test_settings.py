import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QByteArray, QSettings
from pytestqt.qtbot import QtBot

from lmviz.app.opening.settings import LastSession, Settings


def test_what_is_kept_is_there_in_the_next_process(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
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
    settings = Settings(tmp_path / "settings.json")
    paths = [tmp_path / f"text, number {number}.txt" for number in range(14)]
    for path in paths:
        path.touch()
        settings.add_recent(path)
    settings.add_recent(paths[10])
    paths[13].unlink()
    assert settings.recent == [paths[10], paths[12], paths[11], *reversed(paths[4:10])]


def test_lists_are_lists_in_the_file_and_a_name_may_have_two_lines(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "settings.json")
    strange = tmp_path / "two\nlines.txt"
    strange.touch()
    settings.add_recent(strange)
    settings.write()
    written = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert written == {"recent": [str(strange)]}
    assert Settings(tmp_path / "settings.json").recent == [strange]


def test_lists_of_an_earlier_lmviz_are_read_from_the_lines_of_a_word(tmp_path: Path) -> None:
    path, kept = tmp_path / "settings.json", [tmp_path / "one.txt", tmp_path / "two.txt"]
    for text in kept:
        text.touch()
    lines = "\n".join(map(str, kept))
    options = json.dumps({"tokenizer": "characters"})
    path.write_text(json.dumps({"recent": lines, "last/sources": lines, "last/corpus_options": options}))
    last = Settings(path).last_session
    assert Settings(path).recent == kept
    assert last.sources == tuple(map(str, kept))
    assert last.corpus_options == {"tokenizer": "characters"}


def test_a_path_that_the_system_refuses_is_no_reason_not_to_start(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "settings.json")
    endless = "x" * 5000  # asking for it is an error of its own, as where one may not look
    settings.keep("recent", endless)
    settings.keep("last/run", endless)
    assert settings.recent == []
    settings.keep("recent", [endless])
    settings.keep("last/sources", [])
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
        reading=SimpleNamespace(prefix="", source=""),
        special_tokens=SimpleNamespace(are_letters=False),
        training=SimpleNamespace(state=SimpleNamespace(folder=tmp_path, phase=phase)),
    )
    settings = Settings(tmp_path / "settings.json")
    settings.keep_session(session, "train")
    assert settings.last_session.training == (str(tmp_path) if is_kept else "")


class Touching:
    """What makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self._path,)


@pytest.mark.parametrize("name", ["settings.json", "lmviz.ini"])
def test_nothing_that_a_file_of_settings_holds_is_run(tmp_path: Path, name: str) -> None:
    """As QSettings does with what it finds in an INI file."""
    written = QSettings(str(tmp_path / name), QSettings.Format.IniFormat)
    for key in ("view/theme", "last/step", "view/welcome", "arrangement/train"):
        written.setValue(key, Touching(tmp_path / "run"))
    written.sync()
    assert b"PyObject" in (tmp_path / name).read_bytes()
    settings = Settings(tmp_path / "settings.json")
    assert settings.text("view/theme", "system") == "system"
    assert settings.number("last/step") == 0
    assert settings.is_on("view/welcome", True)
    assert settings.arrangement("arrangement/train").isEmpty()
    assert not (tmp_path / "run").exists()


def test_values_of_the_wrong_kind_are_as_if_they_were_not_there(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    wrong = {
        "view/theme": 3,
        "last/step": 10**400,
        "last/live": "true",
        "arrangement/train": "ä",
        "recent": {},
        "last/sources": ["farm", 3],
        "last/corpus_options": {"tokenizer": ["words"]},
    }
    path.write_text(json.dumps(wrong), encoding="utf-8")
    settings = Settings(path)
    assert settings.text("view/theme", "system") == "system"
    assert settings.number("last/step") == 0
    assert not settings.is_on("last/live")
    assert settings.arrangement("arrangement/train").isEmpty()
    assert settings.recent == []
    assert settings.last_session == LastSession()


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500])
def test_what_is_nested_deeply_is_no_reason_not_to_start(tmp_path: Path, deep: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(deep, encoding="utf-8")
    assert Settings(path).last_session == LastSession()
    path.write_text(json.dumps({"last/corpus_options": deep, "last/prefix": "the"}), encoding="utf-8")
    assert Settings(path).last_session == LastSession(prefix="the")
    path.write_text(f'{{"last/prefix": "the", "last/step": {"[" * 500 + "]" * 500}}}', encoding="utf-8")
    assert Settings(path).last_session == LastSession(prefix="the")


def test_two_windows_keep_what_the_other_has_written(tmp_path: Path) -> None:
    first, second = Settings(tmp_path / "settings.json"), Settings(tmp_path / "settings.json")
    first.keep("view/theme", "dark")
    first.keep("arrangement/train", "a")
    first.write()
    second.keep("last/step", 5)
    second.forget("arrangement")
    second.write()
    both = Settings(tmp_path / "settings.json")
    assert (both.text("view/theme"), both.number("last/step")) == ("dark", 5)
    assert both.text("arrangement/train") == ""


def test_a_choice_is_written_when_the_window_has_time(tmp_path: Path, qtbot: QtBot) -> None:
    settings = Settings(tmp_path / "settings.json")
    settings.keep("view/theme", "dark")
    settings.keep("view/projector", True)
    qtbot.waitUntil(lambda: Settings(tmp_path / "settings.json").is_on("view/projector"))
    settings.forget("view")
    qtbot.waitUntil(lambda: not Settings(tmp_path / "settings.json").is_on("view/projector"))


def test_a_folder_that_cannot_be_written_to_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    settings = Settings(tmp_path / "file" / "settings.json")
    settings.keep("view/theme", "dark")
    settings.write()
    assert settings.text("view/theme") == "dark"
    (tmp_path / "file").unlink()
    settings.write()
    assert Settings(tmp_path / "file" / "settings.json").text("view/theme") == "dark"


KEYS = ("view/theme", "last/step", "last/live", "last/sources", "last/corpus_options", "recent", "other")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.binary(max_size=300) | st.dictionaries(st.sampled_from(KEYS), JSON).map(json.dumps))
def test_a_damaged_file_is_no_reason_not_to_start(
    tmp_path_factory: pytest.TempPathFactory, damage: bytes | str
) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.json"
    path.write_bytes(damage if isinstance(damage, bytes) else damage.encode())
    settings = Settings(path)
    last = settings.last_session
    assert isinstance(last.step, int)
    assert isinstance(dict(last.corpus_options), dict)
    assert isinstance(settings.recent, list)
    assert isinstance(settings.text("view/theme"), str)
    settings.keep("last/step", 7)
    settings.write()
    assert Settings(path).number("last/step") == 7
