"""One question asked as a chat, as plain text and with special tokens as letters, in the window."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import foreign_tokenizers
import pytest
from foreign_tokenizers import CHAT
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.panels.sample.asked_ways import AskedWaysPanel, in_words
from lmviz.app.session.session import Session
from lmviz.app.widgets.text.answer_rows import AnswerRows
from lmviz.app.window.main_window import MainWindow
from lmviz.decoding.asked_ways import AS_CHAT, AS_LETTERS, AS_PLAIN_TEXT, WrittenAnswer, answers, asked_ways
from lmviz.inspection.interventions import scale_head

ONLY_PANELS = ("asked_ways",)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A random model with a template for chats."""
    pytest.importorskip("transformers")
    return foreign_tokenizers.chat_folder(tmp_path / "little-chat")


@pytest.fixture
def panel(window: MainWindow, session: Session, folder: Path, qtbot: QtBot) -> AskedWaysPanel:
    """The panel with that model, which was asked a question in a chat."""
    [found] = [item for item in window.perspective.panels if isinstance(item, AskedWaysPanel)]
    session.library.open(folder)
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.chat.begin("Who asks?")
    qtbot.waitUntil(lambda: not session.chat.is_writing)
    wait_for_answers(found, qtbot)
    return found


def wait_for_answers(panel: AskedWaysPanel, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: panel.is_up_to_date and panel.is_whole and not panel.is_behind)


def expected(folder: Path, chat: str, question: str) -> dict[str, WrittenAnswer]:
    model = lmviz.open_model(folder)
    *_, found = answers(model, asked_ways(model.tokenizer, chat, question))
    return found


def ids_of(found: dict[str, WrittenAnswer]) -> dict[str, tuple[int, ...]]:
    return {way: answer.ids for way, answer in found.items()}


def test_each_way_is_answered_as_the_core_answers_it(panel: AskedWaysPanel, folder: Path) -> None:
    wanted = expected(folder, CHAT, "Who asks?")
    assert ids_of(panel.found) == ids_of(wanted)
    assert set(panel.found) == {AS_CHAT, AS_PLAIN_TEXT, AS_LETTERS}
    assert panel.said == {way: in_words(answer) for way, answer in wanted.items()}
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert ids_of(known["found"]) == ids_of(panel.found)
    arrays = panel.exported_arrays()
    assert arrays[f"{AS_LETTERS}/ids"].tolist() == list(wanted[AS_LETTERS].ids)
    assert arrays[f"{AS_CHAT}/probabilities"].tolist() == pytest.approx(
        wanted[AS_CHAT].probabilities, rel=1e-5
    )


@pytest.mark.slow
def test_what_is_asked_is_the_same_however_the_prefix_is_read(
    panel: AskedWaysPanel, session: Session, folder: Path, qtbot: QtBot
) -> None:
    before = ids_of(panel.found)
    session.library.spell_out(True)
    wait_for_answers(panel, qtbot)
    assert ids_of(panel.found) == before
    session.library.spell_out(False)
    session.chat.turn_on(False)
    assert session.reading.prefix == "Who asks?"
    wait_for_answers(panel, qtbot)
    assert ids_of(panel.found) == before


@pytest.mark.slow
def test_another_question_or_a_change_of_the_model_is_answered_anew(
    panel: AskedWaysPanel, session: Session, folder: Path, qtbot: QtBot
) -> None:
    session.chat.say(1, "The bat?")
    wanted = expected(folder, CHAT.replace("Who asks?", "The bat?"), "The bat?")
    qtbot.waitUntil(lambda: ids_of(panel.found) == ids_of(wanted))  # its template runs beside everything
    chances = panel.found[AS_CHAT].probabilities
    session.surgery.add(scale_head(0, 0))
    wait_for_answers(panel, qtbot)
    assert panel.found[AS_CHAT].probabilities != chances


@pytest.mark.slow
def test_without_a_question_or_a_template_it_says_what_is_missing(
    panel: AskedWaysPanel, session: Session, lstm_run: Path, qtbot: QtBot
) -> None:
    session.chat.say(1, "")
    qtbot.waitUntil(lambda: "Type a question above" in panel.card.placeholder)
    assert panel.found == {}
    session.library.open(lstm_run)
    qtbot.waitUntil(lambda: session.library.model.folder == lstm_run)
    assert "has no template for chats" in panel.out_of_place(session.library.model)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (WrittenAnswer(ids=(1,), has_ended=True, is_whole=True), "says nothing at all"),
        (WrittenAnswer(ids=(5, 6, 1), has_ended=True, is_whole=True), "says by itself that its turn is over"),
        (WrittenAnswer(ids=(5, 6, 7, 8) * 4, is_whole=True), "the same 4 tokens again and again"),
        (WrittenAnswer(ids=tuple(range(5, 37)), is_whole=True), "after 32 tokens there is no end yet"),
        (WrittenAnswer(ids=(5, 6)), "It writes"),
    ],
)
def test_the_sentence_says_what_happened(answer: WrittenAnswer, sentence: str) -> None:
    assert sentence in in_words(answer)


@pytest.mark.slow
def test_an_answer_that_comes_when_its_model_is_closed_has_its_own_tokens(
    panel: AskedWaysPanel,
    window: MainWindow,
    session: Session,
    gate: threading.Event,
    answered: Callable[[], None],
    qtbot: QtBot,
) -> None:
    session.work.ask("held", gate.wait, lambda _: None, pytest.fail)
    session.chat.say(1, "The bat?")
    qtbot.waitUntil(lambda: session.work.is_busy("asked ways"))
    window.show_perspective("polls")  # where it is told of nothing
    session.library.close(session.library.model)
    gate.set()
    answered()
    rows = panel.findChild(AnswerRows).rows
    assert [len(row.tokens) for row in rows] == [32, 32, 32]  # those of before: nobody waits for the answer


@pytest.mark.slow
def test_answers_stop_behind_another_tab_and_go_on_where_they_are_seen_again(
    panel: AskedWaysPanel,
    window: MainWindow,
    session: Session,
    gate: threading.Event,
    answered: Callable[[], None],
    qtbot: QtBot,
) -> None:
    session.work.ask("held", gate.wait, lambda _: None, pytest.fail)
    session.chat.say(1, "The bat?")
    qtbot.waitUntil(lambda: session.work.is_busy("asked ways"))
    window.show_perspective("polls")
    gate.set()
    qtbot.waitUntil(lambda: len(panel.found[AS_CHAT].ids) == 1)
    answered()
    assert not panel.is_whole
    window.show_perspective("sample")
    wait_for_answers(panel, qtbot)
