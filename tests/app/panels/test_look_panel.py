"""A panel that asks shows one answer, wholly: its look, its numbers and its code, or nothing of it."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QComboBox, QPushButton
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.labels import KEY as BESIDE
from lmviz.app.panels.inside.lens import KEY
from lmviz.app.panels.look_panel import AskingPanel, ShowingPanel
from lmviz.app.panels.question import Question
from lmviz.app.session.session import Session
from lmviz.base.errors import LmvizError
from lmviz.looks.look import Look
from lmviz.looks.parts import Button, Curves, Picker, SliderLine, Words

WHOLE = 3


class CountingPanel(AskingPanel[str, tuple[int, ...]]):
    """Finds 1, 2, 3 for a word, a number with each question."""

    title = "Counting"
    key = KEY  # any that there is
    word = "cow"
    fails = False
    begun: list[str]
    gate: threading.Event | None = None

    def question(self) -> Question[str, tuple[int, ...]] | Look:
        if not self.word:
            return Look(instead="Type a word.")
        fails, begun, gate = self.fails, self.begun, self.gate

        def work(word: str) -> tuple[int, ...]:
            begun.append(word)
            if gate is not None:
                gate.wait()
            if fails:
                raise LmvizError("It cannot be counted.")
            return (1,)

        return Question(self.key, self.word, work)

    def goes_on(self, subject: str, found: tuple[int, ...]) -> Question[str, tuple[int, ...]] | None:
        if len(found) == WHOLE:
            return None
        return Question(self.key, subject, lambda word: (*found, len(found) + 1))

    def look(self, subject: str, found: tuple[int, ...]) -> Look:
        numbers = np.array(found)
        return Look(
            (Words(text=f"{subject} {len(found)}"),), arrays={subject: numbers}, recipe=f"# {subject}"
        )


class ChoosingPanel(AskingPanel[str, str]):
    """Says a letter of a word, and beside it which one was chosen."""

    title = "Choosing"
    key = KEY  # any that there is
    chosen = 0
    begun: list[int]
    gate: threading.Event
    seen: list[str]

    def question(self) -> Question[str, str] | Look:
        chosen, begun, gate = self.chosen, self.begun, self.gate

        def work(word: str) -> str:
            begun.append(chosen)
            gate.wait()
            return word[chosen]

        return Question(self.key, "cow", work, about=chosen)

    def look(self, subject: str, found: str) -> Look:
        self.seen.append(f"{self.chosen} {found}")
        return Look((Words(text=self.seen[-1]),))


@pytest.fixture
def panel(session: Session, qtbot: QtBot) -> CountingPanel:
    session.start()
    panel = CountingPanel(session)
    panel.begun = []
    qtbot.addWidget(panel)
    return panel


def said(panel: CountingPanel) -> list[str]:
    """What its parts, its numbers and its code say."""
    texts = [part.text for part in panel.shown_look.parts if isinstance(part, Words)]
    return [*map(str, texts), *panel.exported_arrays(), panel.recipe()]


def test_an_answer_that_grows_is_whole_in_the_end_and_asked_once(panel: CountingPanel, qtbot: QtBot) -> None:
    panel.show()
    qtbot.waitUntil(lambda: said(panel) == ["cow 3", "cow", "# cow"])
    panel.refresh()
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.is_behind)
    assert panel.begun == ["cow"]
    panel.word = "hen"
    panel.refresh()
    assert said(panel) == ["cow 3", "cow", "# cow"], "until the answer has come"
    qtbot.waitUntil(lambda: said(panel) == ["hen 3", "hen", "# hen"])


def test_it_stops_where_it_is_hidden_and_goes_on_where_it_is_seen_again(
    panel: CountingPanel, gate: threading.Event, qtbot: QtBot
) -> None:
    panel.gate = gate
    panel.show()
    qtbot.waitUntil(lambda: bool(panel.begun))
    panel.hide()
    gate.set()
    qtbot.waitUntil(lambda: said(panel)[0] == "cow 1")
    qtbot.waitUntil(lambda: not panel.session.work.is_busy(panel.key))
    assert said(panel)[0] == "cow 1"
    panel.show()
    qtbot.waitUntil(lambda: said(panel)[0] == "cow 3")
    assert panel.begun == ["cow"], "it does not begin again"


def test_an_answer_that_comes_after_another_choice_is_not_drawn(
    session: Session, gate: threading.Event, qtbot: QtBot
) -> None:
    session.start()
    panel = ChoosingPanel(session)
    panel.begun, panel.gate, panel.seen = [], gate, []
    qtbot.addWidget(panel)
    panel.show()
    qtbot.waitUntil(lambda: panel.begun == [0])
    panel.chosen = 2  # and it is drawn again soon, but after the answer
    gate.set()
    qtbot.waitUntil(lambda: bool(panel.seen))
    assert panel.begun == [0, 2]
    assert panel.seen == ["2 w"]
    assert [part.text for part in panel.shown_look.parts if isinstance(part, Words)] == ["2 w"]
    panel.refresh()
    qtbot.waitUntil(lambda: not panel.is_behind)
    assert panel.begun == [0, 2], "it has not to be asked again"


def test_after_a_failure_nothing_is_shown_and_it_is_asked_again(panel: CountingPanel, qtbot: QtBot) -> None:
    panel.show()
    qtbot.waitUntil(lambda: said(panel)[0] == "cow 3")
    panel.word, panel.fails = "hen", True
    panel.refresh()
    qtbot.waitUntil(lambda: panel.complaint == "It cannot be counted.")
    assert said(panel) == [""]
    panel.fails = False
    panel.refresh()
    qtbot.waitUntil(lambda: said(panel)[0] == "hen 3")
    assert not panel.complaint


def test_where_another_question_fails_what_was_found_stays(panel: CountingPanel, qtbot: QtBot) -> None:
    """The sentence is said, and the answer beside it is as good as it was."""

    def fail(word: str) -> None:
        raise LmvizError("Beside it nothing is known.")

    panel.show()
    qtbot.waitUntil(lambda: said(panel)[0] == "cow 3")
    panel.ask(Question(BESIDE, "cow", fail, grows=True), said)
    qtbot.waitUntil(lambda: panel.complaint == "Beside it nothing is known.")
    assert said(panel) == ["cow 3", "cow", "# cow"]
    panel.refresh()
    assert panel.begun == ["cow"], "it has not to be asked again"


def test_what_failed_is_said_though_the_question_is_taken_back_then(
    panel: CountingPanel, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    failed: list[str] = []

    def take_back(key: str) -> None:
        panel.silence(key)
        failed.append(key)

    monkeypatch.setattr(panel, "handle_failure", take_back)
    panel.fails = True
    panel.show()
    qtbot.waitUntil(lambda: bool(failed))
    assert panel.complaint == "It cannot be counted."


def test_where_nothing_is_to_be_asked_nothing_is_handed_out(panel: CountingPanel, qtbot: QtBot) -> None:
    panel.show()
    qtbot.waitUntil(lambda: said(panel)[0] == "cow 3")
    panel.word = ""
    panel.refresh()
    assert said(panel) == [""]
    assert panel.card is not None
    assert panel.look_card.placeholder == "Type a word."
    panel.word = "cow"
    panel.refresh()
    qtbot.waitUntil(lambda: said(panel)[0] == "cow 3")


class BarePanel(CountingPanel):
    """The same with a control that has its place beside the answer."""

    parts = (Button("count_button", text="count", says="count on"),)
    begins_bare = True


def test_controls_that_belong_beside_an_answer_are_out_of_sight_before_it(
    session: Session, qtbot: QtBot
) -> None:
    panel = BarePanel(session)
    qtbot.addWidget(panel)
    button = panel.findChild(QPushButton, "count_button")
    assert button is not None, "lessons find it"
    assert button.isHidden()
    panel.handle_failure(panel.key)
    assert not button.isHidden(), "what was chosen can be chosen otherwise"


class SpeakingPanel(ShowingPanel):
    """Says what it is about in all ways, and asks nothing."""

    title = "Words"

    def look(self) -> Look:
        return Look(
            (
                SliderLine("slider", title="words", says="how many words"),
                Picker("picker", choices=("each word",), tips=("a word",), says="which words"),
                Curves("plot", x_name="words", y_name="a word"),
            ),
            aside="by word",
        )


def test_a_panel_says_it_all_again_where_a_text_of_other_tokens_is_opened(
    session: Session, text_file: Path, qtbot: QtBot
) -> None:
    session.start()
    panel = SpeakingPanel(session)
    qtbot.addWidget(panel)
    panel.show()
    for tokenizer, noun in (("characters", "character"), ("words", "word")):
        session.text.open(text_file, tokenizer=tokenizer, documents="line")
        qtbot.waitUntil(lambda noun=noun: panel.look_card.title == f"{noun.capitalize()}s")
        assert panel.look_card.aside == f"by {noun}"
        picker = panel.findChild(QComboBox, "picker")
        assert picker.itemText(0) == f"each {noun}"
        assert picker.accessibleName() == f"which {noun}s"
        spoken = panel.look_card.widget_of("slider")
        assert spoken.slider.accessibleName() == f"how many {noun}s"
