"""A poll in the window: answers by keys, clicks and figures, hidden until shown, the right one computed."""

import csv
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from layout_faults import faults_of
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
)
from pytestqt.qtbot import QtBot

from lmviz.app.board.board import Board
from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.polls.order import HIDDEN, OrderPanel
from lmviz.app.panels.polls.poll import PollPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.diagrams.order_picture import OrderPicture
from lmviz.app.widgets.plots.poll_choices import PollChoices
from lmviz.app.window.main_window import MainWindow
from lmviz.base.errors import LmvizError
from lmviz.polls.counts import MOST, counts_path

ONLY_PANELS = ("poll", "order")


@pytest.fixture(autouse=True)
def _own_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test counts on with the answers of another one."""
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))


@pytest.fixture
def poll(window: MainWindow, drawn: Callable[[], None]) -> PollPanel:
    """The position poll, as it is asked at first."""
    drawn()
    return next(panel for panel in window.perspective.panels if isinstance(panel, PollPanel))


@pytest.fixture
def order(window: MainWindow, poll: PollPanel) -> OrderPanel:
    return next(panel for panel in window.perspective.panels if isinstance(panel, OrderPanel))


def choices(poll: PollPanel) -> PollChoices:
    return poll.findChild(PollChoices)


def counts(poll: PollPanel) -> list[int]:
    poll.catch_up()
    return [row.count for row in choices(poll).rows]


def text(panel: PollPanel | OrderPanel, name: str) -> str:
    panel.catch_up()
    return panel.findChild(QLabel, name).text()


def click(poll: PollPanel, name: str, qtbot: QtBot) -> None:
    qtbot.mouseClick(poll.findChild(QPushButton, name), Qt.MouseButton.LeftButton)


def choose(picker: QComboBox, index: int) -> None:
    picker.setCurrentIndex(index)
    picker.activated.emit(index)


@pytest.mark.slow
def test_the_position_poll_is_asked_first(poll: PollPanel) -> None:
    assert text(poll, "poll_question") == "x₂ and x₃ change places. What is x′₄ now?"
    assert choices(poll).rows[0].text == "0.1, 0.2, 1.2, 0.1"
    assert choices(poll).marked == ""


def test_answers_are_collected_by_keys_and_taken_back(poll: PollPanel, qtbot: QtBot) -> None:
    qtbot.keyClicks(choices(poll), "aabcAe")
    assert counts(poll) == [3, 1, 1]
    assert text(poll, "poll_total") == "5 answers"
    qtbot.keyClick(choices(poll), Qt.Key.Key_Backspace)
    assert counts(poll) == [2, 1, 1]
    place = choices(poll).part_rectangle(1).center().toPoint()
    qtbot.mouseClick(choices(poll), Qt.MouseButton.LeftButton, pos=place)
    assert counts(poll) == [2, 2, 1]


@pytest.mark.slow
def test_answers_count_wherever_the_focus_is_but_in_a_field(
    poll: PollPanel, order: OrderPanel, window: MainWindow, qtbot: QtBot
) -> None:
    """After a poll was chosen, a vector changed or a button pressed, the room's next answer counts."""
    picker = poll.findChild(QComboBox, "poll_picker")
    picker.setFocus()
    choose(picker, 1)
    assert window.focusWidget() is choices(poll), "space shows the answers, not the list of polls"
    picker.setFocus()
    qtbot.keyClicks(picker, "ab")
    assert counts(poll) == [1, 1, 0, 0]
    qtbot.keyClick(picker, Qt.Key.Key_Backspace)
    assert counts(poll) == [1, 0, 0, 0]
    assert picker.currentIndex() == 1
    choose(picker, 0)
    field = order.findChild(QLineEdit, "order_field_1_2")
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "a3")
    assert counts(poll) == [0, 0, 0]
    field.setText("3")
    field.setModified(True)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert not field.hasFocus()
    qtbot.keyClicks(window, "ac")
    assert counts(poll) == [1, 0, 1]
    assert field.text() == "3"


@pytest.mark.slow
def test_counts_are_typed_at_once(poll: PollPanel, qtbot: QtBot) -> None:
    click(poll, "type_counts_button", qtbot)
    first = poll.findChild(QSpinBox, "count_A")
    assert first.isVisible()
    assert first.hasFocus()
    qtbot.keyClicks(first, "12")
    qtbot.keyClick(first, Qt.Key.Key_Return)
    assert counts(poll) == [12, 0, 0]


@pytest.mark.slow
def test_counts_can_be_typed_in(poll: PollPanel, qtbot: QtBot) -> None:
    assert not poll.findChild(QSpinBox, "count_A").isVisible()
    click(poll, "type_counts_button", qtbot)
    poll.catch_up()
    for letter, number in (("A", 16), ("B", 6), ("C", 4)):
        poll.findChild(QSpinBox, f"count_{letter}").setValue(number)
    assert counts(poll) == [16, 6, 4]
    assert not poll.findChild(QSpinBox, "count_D").isVisible()


def test_answers_are_hidden_until_they_are_shown(poll: PollPanel, qtbot: QtBot) -> None:
    qtbot.keyClicks(choices(poll), "ab")
    poll.catch_up()
    assert "right" not in choices(poll).accessibleDescription()
    qtbot.keyClick(choices(poll), Qt.Key.Key_Space)
    assert text(poll, "poll_answer").startswith("A is right. Keys move with their words")
    assert choices(poll).marked == "A"
    click(poll, "clear_poll_button", qtbot)
    assert counts(poll) == [0, 0, 0]
    assert choices(poll).marked == ""
    assert not poll.findChild(QLabel, "poll_answer").isVisible()


def test_only_the_counts_are_kept(poll: PollPanel, session: Session, qtbot: QtBot) -> None:
    qtbot.keyClicks(choices(poll), "abb")
    session.polls.close()
    kept = counts_path().read_text(encoding="utf-8")
    assert '"A": 1' in kept
    assert '"B": 2' in kept
    assert "places" not in kept
    again = Session()
    try:
        assert again.polls.counts == {"A": 1, "B": 2}
    finally:
        again.close()


@pytest.mark.slow
def test_the_answers_to_all_polls_are_saved_as_a_table(
    poll: PollPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    poll.catch_up()
    assert not poll.findChild(QPushButton, "save_counts_button").isEnabled()
    qtbot.keyClicks(choices(poll), "abb")
    choose(poll.findChild(QComboBox, "poll_picker"), 1)
    qtbot.keyClicks(choices(poll), "c")
    poll.catch_up()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "week 3"), ""))
    click(poll, "save_counts_button", qtbot)
    with (tmp_path / "week 3.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["answers"] for row in rows] == ["1", "2", "0", "0", "0", "1", "0"]
    assert {row["letter"] for row in rows if row["right"] == "yes"} == {"A", "C"}
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(tmp_path / "file" / "a"), ""))
    click(poll, "save_counts_button", qtbot)
    assert "cannot be written" in poll.complaint


@pytest.mark.slow
def test_another_poll_begins_hidden_with_counts_of_its_own(poll: PollPanel, qtbot: QtBot) -> None:
    qtbot.keyClicks(choices(poll), "a ")
    choose(poll.findChild(QComboBox, "poll_picker"), 1)
    assert counts(poll) == [0, 0, 0, 0]
    assert choices(poll).marked == ""
    qtbot.keyClick(choices(poll), Qt.Key.Key_Space)
    assert text(poll, "poll_answer").startswith("C is right.")
    assert "2.953" in text(poll, "poll_answer")
    choose(poll.findChild(QComboBox, "poll_picker"), 0)
    assert counts(poll) == [1, 0, 0]


@pytest.mark.slow
def test_with_two_layers_order_shows_and_without_the_mask_it_does_not(
    poll: PollPanel, order: OrderPanel, qtbot: QtBot
) -> None:
    qtbot.keyClick(choices(poll), Qt.Key.Key_Space)
    assert text(order, "order_verdict").startswith("x′₄ is the same")
    choose(order.findChild(QComboBox, "order_layers_picker"), 1)
    assert text(order, "order_verdict") == HIDDEN, "it is another question, and the room is to think again"
    assert choices(poll).marked == ""
    qtbot.keyClick(choices(poll), Qt.Key.Key_Space)
    assert text(order, "order_verdict").startswith("x′₄ is different")
    before, after = order.findChild(OrderPicture).lines
    assert before.output == "0.3839, 0.4427, 2.0226, 0.1621"
    assert after.output == "0.4691, 0.268, 2.2411, 0.1424"
    assert "D is right" in text(poll, "poll_answer")
    order.findChild(QCheckBox, "order_mask_box").click()
    qtbot.keyClick(choices(poll), Qt.Key.Key_Space)
    assert text(order, "order_verdict").startswith("x′₄ is the same")
    assert "A is right" in text(poll, "poll_answer")


@pytest.mark.slow
def test_the_exchange_is_not_given_away(order: OrderPanel, session: Session) -> None:
    order.catch_up()
    assert [line.title for line in order.findChild(OrderPicture).lines] == ["before"]
    session.polls.show_answers(True)
    order.catch_up()
    assert [line.title for line in order.findChild(OrderPicture).lines] == ["before", "after"]
    assert order.findChild(OrderPicture).lines[1].names[1:3] == ["x₃", "x₂"]


def write(order: OrderPanel, row: int, column: int, typed: str, qtbot: QtBot) -> None:
    field = order.findChild(QLineEdit, f"order_field_{row}_{column}")
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, typed)
    qtbot.keyClick(field, Qt.Key.Key_Return)


@pytest.mark.slow
@pytest.mark.parametrize("projector", [False, True])
def test_no_number_of_the_vectors_is_cut(order: OrderPanel, projector: bool, qtbot: QtBot) -> None:
    theme_switch().set_projector(projector)
    order.catch_up()
    fields = [
        field for field in order.findChildren(QLineEdit) if field.objectName().startswith("order_field")
    ]
    assert any(len(field.text()) > 5 for field in fields), "there is no long one"
    qtbot.waitUntil(lambda: not any("order_field" in fault for fault in faults_of(order)))


def test_a_number_is_changed_and_everything_follows(
    poll: PollPanel, order: OrderPanel, session: Session, qtbot: QtBot
) -> None:
    write(order, 2, 2, "3", qtbot)
    assert session.polls.current.experiment.vectors[2, 2] == 3
    poll.catch_up()
    assert choices(poll).rows[0].text != "0.1, 0.2, 1.2, 0.1"
    write(order, 2, 2, "three", qtbot)
    assert order.complaint.startswith("“three” is not a number")
    order.catch_up()
    assert order.findChild(QLineEdit, "order_field_2_2").text() == "3"
    choose(poll.findChild(QComboBox, "poll_picker"), 1)
    assert order.complaint == "", "it is about the poll before"
    choose(poll.findChild(QComboBox, "poll_picker"), 0)
    for column in range(4):
        write(order, 3, column, "0", qtbot)
    assert order.complaint.startswith("The last vector is 0")
    qtbot.mouseClick(order.findChild(QPushButton, "order_reset_button"), Qt.MouseButton.LeftButton)
    poll.catch_up()
    assert choices(poll).rows[0].text == "0.1, 0.2, 1.2, 0.1"
    assert order.complaint == ""


@pytest.mark.slow
def test_its_python_gives_the_same_numbers(order: OrderPanel) -> None:
    found: dict[str, object] = {}
    exec(order.recipe(), found)
    assert found["before"] == pytest.approx(order.exported_arrays()["before"])


@pytest.mark.slow
def test_a_poll_of_one_s_own_is_opened_or_refused_with_its_line(
    window: MainWindow, poll: PollPanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    path = tmp_path / "mine.poll"
    path.write_text("question: One or two?\nA: one\nB: two\nright: C\n", encoding="utf-8")
    window.show_perspective("corpus")
    window.open_paths([path])
    assert window.perspective_name == "polls"
    qtbot.waitUntil(lambda: poll.complaint == "mine.poll: Line 4: “C” is none of the choices A, B.")
    path.write_text("question: One or two?\nA: one\nB: two\nright: B\n", encoding="utf-8")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *given: (str(path), ""))
    next(action for action in window.commands.all() if action.text() == "Open a poll…").trigger()
    assert text(poll, "poll_question") == "One or two?"
    assert poll.complaint == ""
    assert poll.findChild(QComboBox, "poll_picker").currentText() == "mine"
    qtbot.keyClick(choices(poll), Qt.Key.Key_Space)
    poll.catch_up()
    assert choices(poll).marked == "B"


def test_a_poll_about_the_model_is_answered_by_the_model(
    poll: PollPanel, session: Session, make_run: Callable[..., Path], tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "next.poll"
    told = "question: What do cows eat?\nA: corn\nB: grass\nlikeliest after: the cows eat\n"
    path.write_text(told, encoding="utf-8")
    session.polls.open_file(path)
    qtbot.waitUntil(lambda: "open a language model" in poll.complaint)
    session.library.open(make_run("ngram", 2, order=4))
    qtbot.waitUntil(lambda: poll.right is not None)
    assert poll.right.letter == "B"
    assert poll.complaint == ""


@pytest.mark.slow
def test_two_layers_are_readable_from_the_last_row(
    window: MainWindow, poll: PollPanel, order: OrderPanel, qtbot: QtBot
) -> None:
    """No choice is written smaller than 20 pixels, and what the exchange does is in sight at once."""
    window.set_projector(True)
    window.resize(1280, 720)
    choose(order.findChild(QComboBox, "order_layers_picker"), 1)
    qtbot.keyClick(choices(poll), Qt.Key.Key_Space)
    order.catch_up()
    poll.catch_up()
    assert len(choices(poll).rows) == 4
    assert [row.text for row in choices(poll).rows][3] == "0.4691, 0.268, 2.2411, 0.1424"
    assert "Computed" not in text(poll, "poll_answer"), "the choice says it already"
    qtbot.waitUntil(lambda: choices(poll).text_size * current_theme().scale >= 20)
    picture = order.findChild(OrderPicture)
    assert len(picture.lines) == 2
    qtbot.waitUntil(lambda: picture.visibleRegion().boundingRect().height() >= picture.height())


@pytest.mark.slow
def test_in_a_larger_window_the_choices_and_their_type_are_larger(
    poll: PollPanel, window: MainWindow, qtbot: QtBot
) -> None:
    rows = choices(poll)
    sizes = []
    for size in ((1000, 640), (1440, 900), (1920, 1080)):
        window.resize(*size)
        qtbot.waitUntil(lambda size=size: window.size().toTuple() == size)
        QApplication.processEvents()
        sizes.append((rows.part_rectangle(0).height(), rows.text_size))
    heights, types = zip(*sizes, strict=True)
    assert heights[0] < heights[-1]
    assert heights == tuple(sorted(heights))
    assert types == tuple(sorted(types))
    assert types[-1] > 1.3 * 21
    assert poll.findChild(QLabel, "poll_question").font().pixelSize() > types[-1]


@pytest.mark.slow
def test_a_poll_without_vectors_has_the_room_of_both_panels(
    poll: PollPanel,
    order: OrderPanel,
    window: MainWindow,
    session: Session,
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    def ask(title: str) -> None:
        session.polls.choose([each.title for each in session.polls.all].index(title))
        drawn()

    beside = poll.width()
    ask("Forgetting")
    qtbot.waitUntil(lambda: not order.isVisible() and poll.width() > 1.3 * beside)
    ask("Order")
    qtbot.waitUntil(lambda: order.isVisible() and poll.width() == beside)
    ask("Forgetting")
    arrangement = window.perspective.arrangement()
    window.set_projector(True)
    qtbot.waitUntil(lambda: not order.isVisible())
    assert not order.isVisible()
    window.set_projector(False)
    ask("Order")
    qtbot.waitUntil(lambda: order.isVisible())
    other = Board("polls", session, arrangement, window)
    other.resize(window.perspective.size())
    other.show()
    qtbot.waitUntil(lambda: {panel.objectName() for panel in other.panels} == {"poll_view", "order_view"})


def test_what_was_not_counted_is_not_taken_back(session: Session) -> None:
    session.polls.set_count("A", MOST - 1)
    for _ in range(3):
        session.polls.collect("A")
    assert session.polls.counts["A"] == MOST
    session.polls.take_back()
    session.polls.take_back()
    assert session.polls.counts["A"] == MOST - 1


@pytest.mark.slow
def test_a_right_choice_that_could_not_be_computed_is_not_waited_for(
    poll: PollPanel,
    session: Session,
    make_run: Callable[..., Path],
    gate: threading.Event,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> None:
    def fail(*given: object) -> None:
        gate.wait()
        raise LmvizError("It cannot be computed.")

    path = tmp_path / "next.poll"
    told = "question: What do cows eat?\nA: corn\nB: grass\nlikeliest after: the cows eat\n"
    path.write_text(told, encoding="utf-8")
    session.polls.open_file(path)
    poll.toggle_play()
    qtbot.waitUntil(lambda: text(poll, "poll_answer") == "The right choice could not be computed.")
    with monkeypatch.context() as patch:
        patch.setattr("lmviz.decoding.likelihood.text_log_probabilities", fail)
        session.library.open(make_run("ngram", 2, order=4))
        qtbot.waitUntil(lambda: text(poll, "poll_answer") == "The right choice is still being computed.")
        gate.set()
        qtbot.waitUntil(lambda: poll.complaint == "It cannot be computed.")
        assert text(poll, "poll_answer") == "The right choice could not be computed."
    session.polls.collect("A")
    qtbot.waitUntil(lambda: text(poll, "poll_answer").startswith("ngram finds B the likeliest."))
    assert poll.complaint == ""


@pytest.mark.slow
def test_space_shows_the_answers_wherever_the_focus_is(
    poll: PollPanel, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    def press_space() -> bool:
        before = session.polls.is_shown
        qtbot.keyClick(window.focusWidget() or window, Qt.Key.Key_Space)
        return session.polls.is_shown != before

    click(poll, "type_counts_button", qtbot)
    assert press_space(), "from a field of counts"
    click(poll, "clear_poll_button", qtbot)
    assert press_space(), "after a click on a button"
    window.rail.setFocus()
    assert press_space(), "from another part of the window"
    poll.findChild(QPushButton, "show_answers_button").setFocus(Qt.FocusReason.TabFocusReason)
    assert press_space(), "by the button itself"


@pytest.mark.slow
def test_no_click_beside_a_poll_leaves_the_space_to_a_button(poll: PollPanel, window: MainWindow) -> None:
    window.lessons.toggle()
    takes_space = (*window.findChildren(QAbstractButton), *window.findChildren(QComboBox))
    seen = [each for each in takes_space if each.isVisible()]
    assert len(seen) > 10
    assert [
        each.objectName() or each.text() for each in seen if each.focusPolicy() & Qt.FocusPolicy.ClickFocus
    ] == []


@pytest.mark.slow
def test_a_button_beside_a_poll_that_tab_leads_to_is_pressed_by_space(
    poll: PollPanel, window: MainWindow, session: Session, qtbot: QtBot
) -> None:
    window.lessons.toggle(by_keys=True)
    close = window.find_control("lesson_list_close")
    close.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(close, Qt.Key.Key_Space)
    assert not window.lessons.is_shown
    assert not session.polls.is_shown
