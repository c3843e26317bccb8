"""A model that was trained to answer, opened in the window: a chat by its template, seen on Attention."""

from __future__ import annotations

import json
from pathlib import Path

import foreign_tokenizers
import pytest
from foreign_models import add_tokenizer, saved
from foreign_tokenizers import CHAT, TEMPLATE
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.session.fitting_text import QUESTION, SENTENCE
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import beside_by_tab, takes_tab
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.window.main_window import MainWindow
from lmviz.base.side_process import SideProcess
from tests.app.conftest import wait_for_reading

SYSTEM = "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}"


@pytest.fixture
def first_perspective() -> str:
    """Where nothing is seen of a model without a text."""
    return "corpus"


def folder_with(tmp_path: Path, template: str) -> Path:
    pytest.importorskip("transformers")
    folder = foreign_tokenizers.chat_folder(tmp_path / "little-chat")
    settings = folder / "tokenizer_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"chat_template": template}))
    return folder


def opened(window: MainWindow, session: Session, folder: Path, qtbot: QtBot) -> None:
    window.open_paths([folder])
    qtbot.waitUntil(lambda: session.library.model is not None)
    written(session, qtbot)
    wait_for_reading(session, qtbot)


def written(session: Session, qtbot: QtBot) -> None:
    """Until the template has made a text of what is said."""
    qtbot.waitUntil(lambda: not session.chat.is_writing)


def line(window: MainWindow, role: str) -> QLineEdit:
    found = window.findChild(QLineEdit, f"{role}_edit")
    assert found is not None
    return found


def test_it_opens_with_a_question_on_attention(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, SYSTEM + TEMPLATE), qtbot)
    assert window.perspective_name == "attention"
    system = "<|im_start|>system\nBe kind.<|im_end|>\n"
    assert session.reading.prefix == system + CHAT.replace("Who asks?", QUESTION)
    assert line(window, "user").text() == QUESTION
    assert line(window, "system").placeholderText() == "Be kind."
    assert not window.prefix_bar.edit.isVisibleTo(window)
    header = window.findChild(QPushButton, "model_picker")
    assert header is not None
    assert header.text().startswith("little-chat · 2 layers")


def test_what_is_said_is_put_together_by_the_template(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    line(window, "user").setText("Who asks?")
    written(session, qtbot)
    assert session.reading.prefix == CHAT
    line(window, "assistant").setText("The bat")
    written(session, qtbot)
    assert session.reading.prefix == f"{CHAT}The bat"
    line(window, "system").setText("Be brief.")
    written(session, qtbot)
    assert session.reading.prefix == f"<|im_start|>system\nBe brief.<|im_end|>\n{CHAT}The bat"


@pytest.mark.slow
def test_what_is_said_elsewhere_is_shown_in_its_line(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    for number, role in enumerate(("system", "user", "assistant")):
        session.chat.say(number, f"The {role}")
        assert line(window, role).text() == f"The {role}"
    session.chat.add_turn("user")
    session.chat.say(3, "Who?")
    written(session, qtbot)
    assert line(window, "user_2").text() == "Who?"


@pytest.mark.slow
def test_what_is_typed_stays_where_the_cursor_is(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    edit = line(window, "user")
    edit.setText("Who asks?")
    edit.setCursorPosition(3)
    qtbot.keyClicks(edit, " now")
    written(session, qtbot)
    assert (edit.text(), edit.cursorPosition()) == ("Who now asks?", 7)
    edit.undo()
    written(session, qtbot)
    assert edit.text() == "Who asks?"


@pytest.mark.slow
def test_what_the_template_wrote_is_told_from_what_was_said(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    line(window, "user").setText("user assistant")
    line(window, "assistant").setText("The bat")
    written(session, qtbot)
    encoding, chat = session.reading.encoding, session.chat
    own = "".join(
        session.reading.prefix[slice(*span)] for span in encoding.offsets if not chat.is_of_template(*span)
    )
    assert own == "user assistantThe bat"


ALTERNATES = (
    "{% for turn in messages %}{% if turn['role'] != ['user', 'assistant'][loop.index0 % 2] %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{{ turn['content'] }};{% endfor %}"
)


def next_turn(window: MainWindow, role: str, qtbot: QtBot) -> None:
    """Choose who speaks next."""
    written(window.session, qtbot)
    menu = window.findChild(QPushButton, "add_turn_button").menu()
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text() == role).trigger()


@pytest.mark.slow
def test_of_many_lines_it_is_said_how_many_are_out_of_sight(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    above, below = (window.findChild(QPushButton, f"lines_{side}_button") for side in ("above", "below"))
    qtbot.waitUntil(lambda: not above.isVisible())
    window.activateWindow()
    for _ in range(3):
        next_turn(window, "user", qtbot)
    # the line that is new has the keys, and what follows it is seen: 2 of 6 lines are not
    qtbot.waitUntil(lambda: (above.text(), below.text()) == ("↑ 2 more", ""))
    seen = [name for name in ("system", "user", "user_4", "assistant") if is_seen(line(window, name))]
    assert seen == ["user_4", "assistant"]
    above.click()
    qtbot.waitUntil(lambda: (above.text(), below.text()) == ("", "↓ 2 more"))
    assert is_seen(line(window, "system"))
    below.click()
    assert is_seen(line(window, "assistant"))


def by_tab(widget: QWidget) -> list[str]:
    """The names of what Tab stops at one after the other, from a widget to the switch of the chat."""
    found: list[str] = []
    one: QWidget | None = widget
    while one is not None and found[-1:] != ["chat_switch"]:
        if takes_tab(one) and not one.objectName().startswith("lines_"):  # as what is scrolled has it
            found.append(one.objectName())
        one = beside_by_tab(one, forward=True)
    return found


def is_seen(widget: QWidget) -> bool:
    return widget.visibleRegion().contains(widget.rect().center())


def test_a_chat_goes_on_for_further_turns(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    line(window, "user").setText("user")
    line(window, "assistant").setText("The bat")
    next_turn(window, "user", qtbot)
    line(window, "user_2").setText("assistant")
    answered = "<|im_start|>user\nuser<|im_end|>\n<|im_start|>assistant\nThe bat<|im_end|>\n"
    asked = "<|im_start|>user\nassistant<|im_end|>\n<|im_start|>assistant\n"
    written(session, qtbot)
    assert session.reading.prefix == answered + asked
    assert line(window, "assistant_1").text() == "The bat"
    assert by_tab(line(window, "system")) == [
        "system_edit",
        "user_edit",
        "assistant_1_edit",
        "remove_assistant_1_button",
        "user_2_edit",
        "remove_user_2_button",
        "assistant_edit",
        "add_turn_button",
        "chat_switch",
    ]
    own = [
        session.reading.prefix[slice(*span)]
        for span in session.reading.encoding.offsets
        if not session.chat.is_of_template(*span)
    ]
    assert "".join(own) == "userThe batassistant"
    window.findChild(QPushButton, "remove_assistant_1_button").click()
    window.findChild(QPushButton, "remove_user_2_button").click()
    written(session, qtbot)
    assert session.reading.prefix == CHAT.replace("Who asks?", "user")
    switch = window.findChild(QAbstractButton, "chat_switch")
    next_turn(window, "system", qtbot)
    next_turn(window, "user", qtbot)
    line(window, "user_2").setText("Who?")
    switch.click()
    written(session, qtbot)
    assert session.reading.prefix == "Who?"


@pytest.mark.slow
def test_those_speak_next_whom_the_template_lets_speak(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, ALTERNATES), qtbot)
    assert session.chat.roles_to_add() == ("assistant",)
    line(window, "assistant").setText("The bat")
    written(session, qtbot)
    assert session.chat.roles_to_add() == ("user",)
    next_turn(window, "user", qtbot)
    written(session, qtbot)
    assert session.chat.is_on
    assert session.reading.prefix.endswith(";The bat;;")


@pytest.mark.slow
def test_the_switch_and_texts_from_elsewhere_end_it(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    switch = window.findChild(QAbstractButton, "chat_switch")
    assert switch is not None
    assert switch.isChecked()
    switch.click()
    written(session, qtbot)
    assert session.reading.prefix == QUESTION
    assert window.prefix_bar.edit.isVisibleTo(window)
    switch.click()
    written(session, qtbot)
    assert session.chat.is_on
    session.reading.set_prefix("The bat made noise")
    assert not session.chat.is_on
    assert not switch.isChecked()
    assert window.prefix_bar.edit.text() == "The bat made noise"


@pytest.mark.slow
def test_a_template_without_a_system_has_no_line_for_it(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, "{{ messages[-1]['content'] }}"), qtbot)
    assert session.reading.prefix == QUESTION
    assert not line(window, "system").isVisibleTo(window)


@pytest.mark.slow
def test_a_template_that_fails_is_said_and_ends_the_chat(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(session.chat.failed) as said:
        opened(window, session, folder_with(tmp_path, "{{ raise_exception('not today') }}"), qtbot)
    assert "not today" in said.args[0]
    assert not session.chat.is_on
    assert session.reading.prefix == SENTENCE
    window.notice.clear()
    switch = window.findChild(QAbstractButton, "chat_switch")
    assert switch is not None
    switch.click()
    written(session, qtbot)
    assert "not today" in window.notice.sentence
    assert not switch.isChecked()


NEVER_ENDS = (
    "{% set n = namespace(a=[], b=[]) %}{% for _ in range(60) %}{% set n.a = [n.a, n.a] %}"
    "{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}"
)


@pytest.mark.slow
def test_the_window_goes_on_while_a_template_never_ends(
    window: MainWindow, session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    beside = SideProcess("lmviz.text.template_running", 0.5)
    monkeypatch.setattr("lmviz.text.chat.TEMPLATES", beside)
    turns: list[bool] = []
    timer = QTimer(window, interval=5)
    timer.timeout.connect(lambda: turns.append(session.chat.is_writing))
    timer.start()
    opened(window, session, folder_with(tmp_path, NEVER_ENDS), qtbot)
    assert sum(turns) > 5
    assert "longer than 0.5 seconds" in window.notice.sentence
    assert not session.chat.is_on
    assert session.reading.prefix == SENTENCE
    beside.close()


@pytest.mark.slow
def test_why_a_turn_cannot_be_written_stays_until_one_can(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    fails = "{% if messages[-1]['content'] == 'no' %}{{ raise_exception('not that') }}{% endif %}"
    opened(window, session, folder_with(tmp_path, fails + TEMPLATE), qtbot)
    line(window, "user").setText("no")
    written(session, qtbot)
    assert not session.chat.is_on
    assert "not that" in window.notice.sentence
    session.chat.begin("Who asks?")
    written(session, qtbot)
    assert session.chat.is_on
    assert not window.notice.sentence


@pytest.mark.slow
def test_what_was_typed_stays(window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot) -> None:
    session.reading.set_prefix("The bat made noise")
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    assert session.reading.prefix == "The bat made noise"
    assert not session.chat.is_on


@pytest.mark.slow
def test_a_model_without_a_template_reads_plain_text(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    window.open_paths([add_tokenizer(saved("llama", tmp_path / "plain"))])
    qtbot.waitUntil(lambda: session.library.model is not None)
    assert not session.chat.is_possible
    assert session.reading.prefix == ""  # its vocabulary knows none of the example's words
    assert window.perspective_name == "attention"


@pytest.mark.slow
def test_a_click_on_a_next_word_is_said_by_the_assistant(
    window: MainWindow, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(window, session, folder_with(tmp_path, TEMPLATE), qtbot)
    line(window, "user").setText("Who asks?")
    line(window, "assistant").setText("The bat")
    written(session, qtbot)
    wait_for_reading(session, qtbot)
    before = session.reading.prefix
    panel = window.perspective.findChild(QWidget, "next_word_view")
    bars = panel.findChild(BarsView)
    qtbot.waitUntil(lambda: bars.amount() > 0 and bars.isVisible())
    qtbot.mouseClick(bars, Qt.MouseButton.LeftButton, pos=bars.part_rectangle(0).center().toPoint())
    written(session, qtbot)
    assert session.chat.is_on
    assert session.reading.prefix.startswith(before)
    added = session.reading.prefix.removeprefix(before)
    assert added
    assert line(window, "user").text() == "Who asks?"
    assert session.chat.lines[-1] == ("assistant", "The bat" + added)
    assert line(window, "assistant").text() == "The bat" + added
