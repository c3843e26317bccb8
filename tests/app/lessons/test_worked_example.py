"""The lesson of docs/writing-a-lesson.md, done in the real window; and its table of values."""

import re
from pathlib import Path

from pytestqt.qtbot import QtBot

from lmviz.app.session.session import Session
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.openings import OPENINGS
from lmviz.lessons.reading import ENTRIES, HEAD, read_lesson
from lmviz.lessons.values import VALUES
from tests.app.lessons.driver import drive

PAGE = (Path(__file__).parents[3] / "docs" / "writing-a-lesson.md").read_text(encoding="utf-8")


def test_the_lesson_on_the_page_can_be_done(window: MainWindow, qtbot: QtBot) -> None:
    text = re.search(r"```markdown\n(.*?)```", PAGE, flags=re.DOTALL)[1]
    assert drive(window, qtbot, read_lesson(text, perspective_names())) == 3


def test_the_page_lists_every_value_entry_and_kind_of_opening(session: Session) -> None:
    rows = re.findall(r"^\| `(.+?)` \| (.+?) \|$", PAGE, flags=re.MULTILINE)
    told = dict(rows)
    assert [told[value.written] for value in VALUES] == [value.meaning for value in VALUES]
    assert set(ENTRIES) <= set(told)
    assert all(f"`{name}`" in PAGE for name in HEAD)
    assert {written.split()[0] for written, _ in rows} >= set(OPENINGS)
