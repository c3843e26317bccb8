"""The panel of lessons: where it leads, what it remembers, and lessons of one's own."""

import shutil
from pathlib import Path

import pytest
from covering import parametrize_few
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QScrollArea
from pytestqt.qtbot import QtBot

from lmviz.app.opening.settings import Settings
from lmviz.app.session.lesson import LessonProgress
from lmviz.app.session.session import Session
from lmviz.app.widgets.controls.task_list import TaskList
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.window.lessons import Lessons, perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.lesson import Lesson
from lmviz.lessons.reading import open_lesson, read_lesson
from lmviz.lessons.shipped import shipped_files
from lmviz.runs.race_folder import open_race
from lmviz.training.run import Run
from tests.app.lessons.person import Driver

CLEARED = 30  # pixels for the button that empties a field, and for its edge
OWN = """# Own

## Type
perspective: sample
control: prefix_edit
open: prefix the cows
do: type two words
until: prefix contains eat corn
question: How many words?
answer: 2
check: prefix contains corn
hint: Count them.

Type something.

## Look
perspective: corpus
control: concordance_edit
question: What do cows eat?
choice: corn
choice: stones
answer: corn

Think.

## Rest

Nothing more.
"""


@pytest.fixture
def lesson() -> Lesson:
    return read_lesson(OWN, perspective_names(), "own")


@pytest.fixture
def driver(window: MainWindow, qtbot: QtBot) -> Driver:
    return Driver(window, qtbot)


@pytest.fixture
def begun(driver: Driver, lesson: Lesson) -> Driver:
    """The window with the panel shown and the lesson begun."""
    driver.press("lessons_button")
    driver.session.lesson.open(lesson)
    driver.control("lesson_next")
    return driver


def said(driver: Driver, name: str) -> str:
    label = driver.control(name)
    assert isinstance(label, QLabel)
    return label.text()


@pytest.mark.slow
def test_the_button_of_the_rail_shows_every_lesson_and_sends_the_panel_away(driver: Driver) -> None:
    driver.press("lessons_button")
    for number, path in enumerate(shipped_files()):
        assert driver.control(f"lesson_open_{number}").isEnabled(), path
    assert not driver.window.beginning.strip.isVisible()
    driver.press("lessons_button")
    assert driver.window.find_control("lesson_panel") is None


def test_the_welcome_begins_the_tour(driver: Driver) -> None:
    driver.window.beginning.strip.tour_wanted.emit()
    driver.wait(lambda: driver.window.find_control("lesson_next") is not None)
    assert driver.session.lesson.lesson.name == "tour"
    assert driver.window.perspective_name == "attention"


def test_a_step_opens_goes_and_outlines(begun: Driver) -> None:
    session, window = begun.session, begun.window
    assert session.reading.prefix == "the cows"
    assert window.perspective_name == "sample"
    begun.wait(lambda: window.lessons.control is begun.control("prefix_edit"))
    assert said(begun, "lesson_sentence") == "Type something."
    begun.press("lesson_next")
    assert window.perspective_name == "corpus"
    begun.wait(lambda: window.lessons.control is begun.control("concordance_edit"))
    begun.press("lesson_next")
    begun.wait(lambda: window.lessons.control is None)
    begun.press("lesson_next")
    assert session.lesson.lesson is None, "after the last step the lesson is over"


def test_a_question_waits_until_its_task_is_done(begun: Driver, qtbot: QtBot) -> None:
    current = begun.session.lesson
    field = begun.control("lesson_answer")
    begun.wait(lambda: begun.control("lesson_panel").is_up_to_date)
    assert not field.isEnabled()
    current.answer("2")
    assert current.answered.verdict is None, "it is not taken otherwise either"
    qtbot.keyClicks(begun.control("prefix_edit"), " eat")
    assert current.tasks_done == 0
    qtbot.keyClicks(begun.control("prefix_edit"), " corn")
    begun.wait(field.isEnabled)
    assert begun.control("lesson_panel").findChild(TaskList).done == 1
    begun.type("lesson_answer", "3")
    begun.press("lesson_check")
    begun.wait(lambda: "Not yet" in said(begun, "lesson_verdict"))
    begun.press("lesson_hint")
    begun.wait(lambda: begun.window.find_control("lesson_hint_words") is not None)
    begun.type("lesson_answer", "4/2")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    begun.wait(lambda: "Right: 2" in said(begun, "lesson_verdict"))
    assert current.is_step_done


@pytest.mark.slow
def test_an_answer_that_does_not_hold_now_is_not_judged(begun: Driver) -> None:
    begun.type("prefix_edit", "they eat corn")
    begun.wait(lambda: begun.session.lesson.may_answer)
    begun.type("prefix_edit", "they eat")
    begun.type("lesson_answer", "2")
    begun.press("lesson_check")
    assert begun.session.lesson.answered.verdict is None
    begun.wait(lambda: "not about what is open now" in said(begun, "lesson_verdict"))


@pytest.mark.slow
@parametrize_few(
    ("answer", "said"),
    [("corn", "Right: corn."), ("It is corn.", "Right: It is corn."), (".", "Right: “.”.")],
)
def test_the_verdict_is_one_sentence(driver: Driver, answer: str, said: str) -> None:
    text = OWN.replace("choice: corn", f"choice: {answer}").replace("answer: corn", f"answer: {answer}")
    current = driver.session.lesson
    current.open(read_lesson(text, perspective_names(), "own"), 1)
    current.answer(answer)
    assert current.answered.sentence == said


@pytest.mark.slow
def test_what_is_no_number_is_said_to_be_none(begun: Driver) -> None:
    begun.type("prefix_edit", "they eat corn")
    begun.type("lesson_answer", "two")
    begun.press("lesson_check")
    begun.wait(lambda: "Type a number" in said(begun, "lesson_verdict"))


def test_leaving_and_coming_back_is_free(begun: Driver, lesson: Lesson, qtbot: QtBot) -> None:
    current = begun.session.lesson
    begun.press("lesson_next")
    begun.press("lesson_choice_0")
    begun.press("lesson_check")
    assert current.progress["own"] == LessonProgress(1, frozenset({1}))
    begun.press("lesson_back")
    begun.press("lesson_next")
    begun.press("lesson_leave")
    assert current.lesson is None
    begun.wait(lambda: begun.window.find_control("lesson_open_0") is not None)
    assert begun.window.lessons.control is None
    begun.type("prefix_edit", "hens")
    current.open(lesson)
    assert current.number == 1
    assert begun.session.reading.prefix == "the cows", "what the steps before had opened is opened again"


@pytest.mark.slow
def test_a_step_begins_with_no_position_pinned(begun: Driver) -> None:
    focus = begun.session.focus
    begun.wait(lambda: begun.session.reading.current is None or not begun.session.reading.is_busy)
    begun.window.prefix_bar.edit.setText("the cows eat")
    begun.session.library.open("stories-rnn")
    begun.wait(lambda: begun.session.reading.current is not None)
    focus.choose_position(1)
    assert focus.is_position_pinned
    begun.press("lesson_next")
    assert not focus.is_position_pinned
    focus.choose_position(1)
    begun.press("lesson_back")
    assert focus.is_position_pinned, "going back leaves everything as it is"


@pytest.mark.slow
def test_a_way_back_for_whoever_went_elsewhere(begun: Driver) -> None:
    begun.type("prefix_edit", "they eat corn")
    begun.wait(lambda: begun.session.lesson.tasks_done == 1)
    begun.press("perspective_train")
    begun.press("lesson_where")
    assert begun.window.perspective_name == "sample"
    assert begun.session.reading.prefix == "they eat corn"
    assert begun.session.lesson.tasks_done == 1
    begun.press("lesson_prepare")
    assert begun.session.reading.prefix == "the cows"
    assert begun.session.lesson.tasks_done == 0, "the step begins anew"


@pytest.mark.slow
def test_what_was_done_is_still_done_for_whoever_goes_on_and_back(begun: Driver) -> None:
    current = begun.session.lesson
    begun.type("prefix_edit", "they eat corn")
    begun.wait(lambda: current.tasks_done == 1)
    begun.type("lesson_answer", "2")
    begun.press("lesson_check")
    begun.press("lesson_next")
    assert current.tasks_done == 0
    assert current.answered.verdict is None
    begun.press("lesson_back")
    assert current.tasks_done == 1
    assert current.answered.verdict is True
    begun.wait(lambda: "Right: 2" in said(begun, "lesson_verdict"))


@pytest.mark.slow
def test_what_is_so_already_counts_once_it_has_been_otherwise(begun: Driver) -> None:
    current = begun.session.lesson
    begun.type("prefix_edit", "they eat corn")
    begun.wait(lambda: current.tasks_done == 1)
    current.go_to(1)
    text = OWN.replace("open: prefix the cows\n", "")
    current.open(read_lesson(text, perspective_names(), "own"), 0)
    begun.session.reading.changed.emit()
    assert current.tasks_done == 0, "it was typed before the step began"
    begun.type("prefix_edit", "they eat")
    begun.wait(lambda: begun.session.reading.prefix == "they eat")
    begun.session.reading.changed.emit()
    assert current.tasks_done == 0
    begun.type("prefix_edit", "they eat corn")
    begun.wait(lambda: current.tasks_done == 1)


@pytest.mark.slow
def test_what_is_so_in_a_panel_behind_another_is_no_deed_either(driver: Driver) -> None:
    text = "# Own\n\n## Weigh\nperspective: corpus\ncontrol: simplex_view\nopen: text farm\ndo: type it\n"
    text += 'until: control("simplex_context") is "hens eat"\n\nLook.\n'
    lesson, current = read_lesson(text, perspective_names(), "own"), driver.session.lesson
    driver.press("lessons_button")
    current.open(lesson)
    driver.type("simplex_context", "hens eat")
    driver.wait(lambda: current.tasks_done == 1)
    current.leave()
    driver.window.bring_forward("concordance_view")
    driver.wait(lambda: driver.window.find_control("simplex_context") is None)
    current.open(lesson, 0)
    driver.wait(lambda: driver.window.find_control("simplex_context") is not None)
    driver.session.reading.changed.emit()
    assert current.tasks_done == 0


@pytest.mark.slow
def test_a_task_may_wait_for_a_button_to_be_pressed(driver: Driver) -> None:
    text = OWN.replace("prefix contains eat corn", 'pressed("perspective_corpus") changes')
    driver.press("lessons_button")
    driver.press("perspective_corpus")
    driver.session.lesson.open(read_lesson(text, perspective_names(), "own"))
    driver.session.reading.changed.emit()
    assert driver.session.lesson.tasks_done == 0, "it was pressed before the step began"
    driver.press("perspective_corpus")
    driver.wait(lambda: driver.session.lesson.tasks_done == 1)


@pytest.mark.slow
def test_going_on_to_what_is_begun_takes_nothing_back(driver: Driver) -> None:
    text = "# Nets\n\n## First\nopen: network lecture\nopen: tape forward\n\nLook.\n\n## Second\n"
    text += "open: tape forward\ndo: pop\nuntil: popped = 1\n\nLook.\n"
    current = driver.session.lesson
    driver.press("lessons_button")
    current.open(read_lesson(text, (), "nets"), 1)
    assert current.tasks_done == 0
    driver.session.network.pop()
    driver.wait(lambda: current.tasks_done == 1)
    driver.press("lesson_back")
    driver.press("lesson_next")
    assert current.tasks_done == driver.session.network.current.tape.popped == 1
    driver.press("lesson_prepare")
    assert current.tasks_done == driver.session.network.current.tape.popped == 0


@pytest.mark.slow
def test_whoever_goes_back_finds_what_the_step_works_on(driver: Driver) -> None:
    nets = "".join(f"\n## {name}\nopen: network {name}\n\nLook.\n" for name in ("lecture", "diamond"))
    driver.press("lessons_button")
    driver.session.lesson.open(read_lesson(f"# Nets\n{nets}\n## Last\n\nThink.\n", (), "nets"))
    driver.press("lesson_next")
    driver.press("lesson_next")
    assert "β" not in driver.session.network.text
    driver.press("lesson_back")
    assert "β" not in driver.session.network.text
    driver.press("lesson_back")
    assert "β" in driver.session.network.text
    driver.press("lesson_next")
    assert "β" not in driver.session.network.text


@pytest.mark.slow
def test_whoever_comes_back_finds_what_was_read_as_it_was_left(driver: Driver) -> None:
    text = "# Words\n\n## First\nopen: prefix the cows\n\nLook.\n\n## Second\n\nLook.\n"
    current, reading = driver.session.lesson, driver.session.reading
    driver.press("lessons_button")
    current.open(read_lesson(text, (), "words"))
    reading.set_prefix("the hens")
    driver.press("lesson_next")
    reading.set_prefix("the dog")
    driver.press("lesson_back")
    assert reading.prefix == "the hens"
    driver.press("lesson_next")
    assert reading.prefix == "the dog"
    driver.press("lesson_back")
    driver.press("lesson_prepare")
    assert reading.prefix == "the cows"


@pytest.mark.slow
def test_the_list_offers_the_unfinished_lesson_and_after_it_the_next(driver: Driver) -> None:
    current, second = driver.session.lesson, open_lesson(shipped_files()[1], perspective_names())
    driver.press("lessons_button")
    assert driver.window.find_control("lesson_offer") is None, "nothing was begun"
    driver.press("lesson_open_1")
    assert current.lesson.title == second.title
    current.go_to(2)
    driver.press("lesson_leave")
    driver.wait(lambda: driver.window.find_control("lesson_offer") is not None)
    assert driver.control("lesson_offer").text() == "1 · Counting"
    driver.press("lesson_offer")
    assert (current.lesson.name, current.number) == ("counting", 2)
    current.go_to(len(second.steps) - 1)
    driver.press("lesson_next")
    driver.wait(lambda: driver.window.find_control("lesson_offer") is not None)
    driver.press("lesson_offer")
    assert (current.lesson.name, current.number) == ("chain-rule", 0)


def test_progress_is_remembered_in_the_settings(begun: Driver, settings: Settings, tmp_path: Path) -> None:
    first = begun.window.lessons
    begun.session.lesson.open(read_lesson(OWN, perspective_names(), "tour"), 2)
    settings.write()
    kept = Settings(tmp_path / "settings.json")
    assert LessonProgress.from_text(kept.text("lessons/tour")) == LessonProgress(2, frozenset({2}))
    assert first.is_shown
    for damaged in ("", "x", "1: y", "-1", "1: 2 ²", "99999"):
        assert LessonProgress.from_text(damaged) == LessonProgress()


def test_a_dropped_lesson_is_opened_with_what_it_brings(driver: Driver, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "mine.txt").write_text("the hens eat corn\n" * 40, encoding="utf-8")
    (folder / "lesson.md").write_text(OWN.replace("prefix the cows", "text ./mine.txt"), encoding="utf-8")
    drop(driver.window, folder)
    assert driver.session.lesson.lesson.title == "Own"
    driver.wait(lambda: driver.session.text.corpus is not None)
    assert driver.session.text.corpus.name == "mine"


@pytest.mark.slow
def test_a_lesson_of_ones_own_stays_in_the_list(driver: Driver, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "mine.md"
    path.write_text(OWN, encoding="utf-8")
    drop(driver.window, path)
    driver.session.lesson.leave()

    def listed() -> list[str]:
        """As in the window after the next start."""
        lessons = Lessons(driver.window, driver.window)
        qtbot.addWidget(lessons.side)
        lessons.toggle()
        qtbot.waitUntil(lambda: lessons.side.findChild(QAbstractButton, "lesson_open_0") is not None)
        return [button.accessibleName() for button in lessons.side.findChildren(QAbstractButton)]

    assert "Own, 0 of 3 steps done" in listed()
    path.unlink()
    assert not any(name.startswith("Own") for name in listed())


@pytest.mark.slow
def test_a_text_is_opened_with_its_options(driver: Driver) -> None:
    driver.press("lessons_button")
    current, text = driver.session.lesson, driver.session.text
    for options, tokenizer in (("", "words"), (" tokenizer=characters", "characters"), ("", "words")):
        current.open(
            read_lesson(OWN.replace("prefix the cows", f"text farm{options}"), perspective_names(), "own"), 0
        )
        driver.wait(
            lambda tokenizer=tokenizer: text.corpus is not None and text.corpus.options.tokenizer == tokenizer
        )
        before = text.corpus
        current.prepare()
        driver.wait(driver.is_quiet)
        assert text.corpus is before, "it is open already"


def test_a_broken_lesson_is_said_to_be_broken_at_its_line(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "broken.md"
    path.write_text(OWN.replace("perspective: sample", "perspective: simple"), encoding="utf-8")
    drop(driver.window, path)
    assert driver.window.notice.sentence.startswith("Line 4: there is no perspective 'simple'")
    assert driver.session.lesson.lesson is None


@pytest.mark.slow
def test_a_dropped_lesson_without_steps_is_told_what_it_lacks(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "stepless.md"
    path.write_text("# Mine\nabout: What cows eat.\n\nThe cows eat corn.\n", encoding="utf-8")
    drop(driver.window, path)
    assert "at least one part: begin it with “## ” and its title" in driver.window.notice.sentence
    assert driver.session.lesson.lesson is None
    assert driver.session.text.corpus is None


@pytest.mark.slow
def test_the_ring_goes_to_what_the_next_task_is_done_with(driver: Driver) -> None:
    text = OWN.replace("do: type two words\n", "do: type two words\ncontrol: prefix_edit\n")
    text = text.replace("control: prefix_edit\nopen", "control: roll_view\nopen", 1)
    driver.press("lessons_button")
    driver.session.lesson.open(read_lesson(text, perspective_names(), "own"))
    driver.wait(lambda: driver.window.lessons.control is driver.control("prefix_edit"))
    driver.type("prefix_edit", "the cows eat corn")
    driver.wait(lambda: driver.window.lessons.control is driver.control("roll_view"))


@pytest.mark.slow
def test_the_panel_that_a_step_is_about_is_in_front_from_its_beginning(driver: Driver) -> None:
    text = "# Own\n\n## Look\nperspective: inside\ncontrol: picture_view\nopen: model stories-lstm\n"
    text += "do: go on\ncontrol: stage_next\nuntil: stage contains logits\n\nLook at “Picture”.\n"
    window = driver.window
    window.show_perspective("inside")
    window.bring_forward("through_time_view")
    driver.wait(lambda: window.find_control("picture_view") is None)
    driver.press("lessons_button")
    driver.session.lesson.open(read_lesson(text, perspective_names(), "own"))
    driver.wait(lambda: window.find_control("picture_view") is not None)
    driver.wait(lambda: window.lessons.control is window.find_control("stage_next") is not None)


@pytest.mark.slow
def test_a_folder_carries_a_text_a_run_and_a_network(
    driver: Driver, lstm_run: Path, text_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(lstm_run, folder / "my-run")
    shutil.copy(text_file, folder / "my-text.txt")
    (folder / "my.net").write_text("v = 3\nu = square(v)\n", encoding="utf-8")
    opened = "open: text ./my-text.txt\nopen: model ./my-run\nopen: network ./my.net"
    (folder / "lesson.md").write_text(OWN.replace("open: prefix the cows", opened), encoding="utf-8")
    drop(driver.window, folder)
    session = driver.session
    driver.wait(lambda: session.text.corpus is not None and session.library.model is not None)
    assert session.text.corpus.name == "my-text"
    assert session.library.model.folder == folder / "my-run"
    assert session.network.current["u"].value == 9


@pytest.mark.slow
def test_an_ordinary_text_in_markdown_is_a_text(driver: Driver, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Notes\n\n## Monday\n\nThe cows eat corn.\n" * 20, encoding="utf-8")
    drop(driver.window, path)
    driver.wait(lambda: driver.session.text.corpus is not None)
    assert driver.session.lesson.lesson is None


@pytest.mark.slow
def test_what_controls_say_of_themselves(window: MainWindow, session: Session) -> None:
    window.show_perspective("corpus")
    window.prefix_bar.edit.setText("the cows")
    assert window.control_state("prefix_edit") == "the cows"
    assert window.control_state("corpus_text_view") == 1.0
    assert window.control_state("no such control") is None


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), copy, data, left, none))


@pytest.mark.slow
def test_a_step_begins_at_its_top(driver: Driver) -> None:
    """In a low window the question is scrolled into sight once it may be answered."""
    text = OWN.replace("Type something.", "Type something.\n\n" * 60).replace("Think.", "Think.\n\n" * 60)
    driver.press("lessons_button")
    driver.session.lesson.open(read_lesson(text, perspective_names(), "own"), 1)
    sentence = driver.control("lesson_sentence")
    area = next(a for a in driver.window.findChildren(QScrollArea) if a.isAncestorOf(sentence))
    driver.wait(lambda: area.verticalScrollBar().value() > 0)
    driver.session.lesson.go_to(driver.session.lesson.number - 1)
    driver.wait(lambda: said(driver, "lesson_sentence").startswith("Type"))
    bar = area.verticalScrollBar()
    driver.wait(lambda: bar.value() == 0 < bar.maximum())  # both steps have more text than room


@pytest.mark.slow
def test_phrases_and_bars_can_be_read_beside_a_lesson(driver: Driver) -> None:
    window = driver.window
    window.resize(1280, 720)
    window.show_perspective("corpus")
    driver.press("lessons_button")
    driver.session.text.open("farm")
    driver.wait(lambda: driver.session.text.corpus is not None)
    for name in ("concordance_edit", "simplex_context"):
        window.bring_forward(name)
        driver.type(name, "cows eat")
        field = driver.control(name)
        room = field.width() - CLEARED
        assert field.fontMetrics().horizontalAdvance("cows eat") <= room
    bars = driver.control("simplex_bars")
    driver.qtbot.waitUntil(
        lambda: bars.visibleRegion().boundingRect().height() >= bars.minimumSizeHint().height(), timeout=5000
    )


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "done"), [((1, 0), 1), ((0, 1), 0)], ids=["a weight", "a masked cell"])
def test_the_tour_counts_no_masked_cell_as_a_weight(driver: Driver, cell: tuple[int, int], done: int) -> None:
    tour = open_lesson(shipped_files()[0], perspective_names())
    number = next(place for place, step in enumerate(tour.steps) if step.title == "A weight")
    driver.press("lessons_button")
    driver.session.lesson.open(tour, number)
    driver.wait(driver.is_quiet)
    driver.wait(lambda: driver.control("attention_view").findChild(HeatmapView) is not None)
    driver.control("attention_view").findChild(HeatmapView).cell_hovered.emit(*cell)
    focus, current = driver.session.focus, driver.session.lesson
    driver.wait(lambda: focus.shown_cell is not None and focus.shown_cell[1][-2:] == cell)
    assert current.value("cell", []).endswith("attention/weights")
    assert (current.value("cell_value", []) > 0) == bool(done)
    driver.session.reading.changed.emit()  # the lesson looks once more
    assert current.tasks_done == done


@pytest.mark.slow
def test_a_step_that_names_no_place_is_where_the_one_before_is(driver: Driver, lesson: Lesson) -> None:
    """Also for whoever comes back to it after a restart."""
    driver.press("lessons_button")
    assert driver.window.perspective_name not in ("sample", "corpus")
    driver.session.lesson.open(lesson, 2)
    assert driver.window.perspective_name == "corpus"
    driver.press("perspective_train")
    driver.press("lesson_where")
    assert driver.window.perspective_name == "corpus"


@pytest.mark.slow
def test_what_is_said_about_a_second_answer_is_in_sight_to_its_end(driver: Driver) -> None:
    said_then = "hint: Look it up.\nexplanation: " + "Cows eat corn. " * 40
    text = OWN.replace("answer: corn", f"answer: corn\n{said_then}")
    text = text.replace("Think.", "Think.\n\n" * 20)
    driver.window.resize(1000, 640)
    driver.press("lessons_button")
    driver.session.lesson.open(read_lesson(text, perspective_names(), "own"), 1)
    driver.press("lesson_choice_1")
    driver.press("lesson_check")
    driver.press("lesson_hint")
    driver.press("lesson_choice_0")
    driver.press("lesson_check")
    question = driver.control("lesson_question")
    area = next(a for a in driver.window.findChildren(QScrollArea) if a.isAncestorOf(question))
    driver.wait(lambda: "Cows eat corn." in said(driver, "lesson_verdict"))

    def is_in_sight() -> bool:
        end = question.mapTo(area.viewport(), question.rect().bottomLeft()).y()
        return question.height() > area.viewport().height() and end <= area.viewport().height()

    driver.wait(is_in_sight)


@pytest.mark.slow
def test_the_measure_that_a_step_states_is_that_of_the_model_it_opens(driver: Driver) -> None:
    """Of another model it would be proposed anew, as that has other words."""
    session, path = driver.session, next(path for path in shipped_files() if path.stem == "15-which-part")
    session.library.open("reviews-lstm")
    driver.wait(lambda: session.library.model is not None and session.library.model.name == "reviews-lstm")
    session.contrast.set_measure("logit:good-bad")
    session.lesson.open(open_lesson(path, perspective_names()), 3)
    driver.wait(lambda: session.contrast.found is not None and session.contrast.found.others)
    assert session.library.model.name == "echo-transformer"
    assert session.contrast.measure == "logit:map-hat"
    assert session.contrast.found.contrast.measure == "logit:map-hat@9"
    session.lesson.go_to(5)
    driver.wait(lambda: session.contrast.measure == "")


@pytest.mark.slow
def test_whoever_has_answered_goes_on_with_next_at_hand(driver: Driver, lesson: Lesson) -> None:
    """The field or choices go: the focus would move to “Back”, and scroll the words of the step away."""
    driver.window.lessons.open(lesson, 1)
    driver.press("lesson_choice_1")
    driver.press("lesson_check")
    driver.control("lesson_check").setFocus()
    driver.press("lesson_next")
    driver.wait(lambda: driver.window.focusWidget() is driver.control("lesson_next"))


@pytest.mark.slow
def test_a_step_that_is_set_up_again_stops_what_is_being_trained(driver: Driver, tmp_path: Path) -> None:
    """The button that it outlines would be dead until the training has ended."""
    own = read_lesson(
        "# Own\n## Train\nperspective: train\ncontrol: loss_view\nopen: text farm\n"
        "open: plan gru width=8 steps=100000\ndo: press Train\ncontrol: new_run_button\n"
        "until: training is running\n\nTrain.\n",
        perspective_names(),
        "own",
    )
    driver.window.lessons.open(own)
    driver.wait(lambda: driver.session.text.corpus is not None)
    driver.press("new_run_button")
    driver.wait(lambda: driver.session.lesson.tasks_done == 1)
    driver.press("lesson_prepare")
    driver.wait(lambda: driver.window.lessons.control is driver.control("new_run_button"))
    driver.wait(driver.control("new_run_button").isEnabled, "it is outlined and dead")
    driver.wait(lambda: "is stopped, because this step begins one" in driver.window.notice.sentence)
    driver.session.lesson.changed.emit()
    driver.session.library.model_changed.emit()  # the run's last snapshot, which may come after the sentence
    assert "is stopped" in driver.window.notice.sentence
    assert not driver.session.lesson.tasks_done


@pytest.mark.slow
def test_a_race_step_that_is_set_up_again_ends_its_race_and_keeps_the_runs(driver: Driver) -> None:
    own = read_lesson(
        "# Own\n## Race\nperspective: race\ncontrol: lanes_view\nopen: text farm\n"
        "open: plan gru width=4 steps=100000 batch=2 length=4\nopen: race seed=0,1\ndo: press “Start all”\n"
        "control: race_all_button\nuntil: race is running\n\nTrain.\n",
        perspective_names(),
        "own",
    )
    race = driver.session.race

    def train() -> None:
        driver.press("race_all_button")
        driver.wait(lambda: all(lane.step > 1 for lane in race.lanes), "the lanes do not train")

    driver.window.lessons.open(own)
    driver.wait(lambda: driver.session.text.corpus is not None)
    train()
    before = race.folder
    driver.press("lesson_prepare")
    assert [lane.phase for lane in race.lanes] == ["waiting"] * 2
    driver.wait(lambda: "is stopped, because this step begins one" in driver.window.notice.sentence)
    assert not driver.session.lesson.tasks_done
    assert driver.window.lessons.control is driver.control("race_all_button")
    train()
    assert race.folder != before
    assert all(run.is_resumable for run in map(Run.open, open_race(before).lanes.values()))
    race.stop()
    driver.wait(lambda: not race.is_active)


@pytest.mark.slow
def test_what_is_so_when_a_step_is_set_up_again_is_done_by_using_its_control(driver: Driver) -> None:
    """A choice that is made already cannot be made otherwise first."""
    text = (
        "# Own\n## Type\nperspective: corpus\nopen: text farm\ndo: type “cows”\ncontrol: concordance_edit\n"
        'until: control("concordance_edit") is cows\n\nType.\n'
    )
    driver.window.lessons.open(read_lesson(text, perspective_names(), "own"))
    driver.type("concordance_edit", "cows")
    lesson = driver.session.lesson
    driver.wait(lambda: lesson.tasks_done == 1)
    driver.press("lesson_prepare")
    field = driver.control("concordance_edit")
    driver.wait(lambda: driver.window.lessons.control is field)
    assert (field.text(), lesson.tasks_done) == ("cows", 0)
    handle = driver.window.windowHandle()
    for used, done in ((driver.control("lesson_prepare").parentWidget(), 0), (field, 1)):
        place = used.mapTo(driver.window, used.rect().center() + QPoint(0, 2))
        QTest.mouseClick(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
        driver.wait(lambda done=done: lesson.tasks_done == done)


@pytest.mark.slow
def test_before_a_class_the_arrows_that_are_spoken_of_stand_beside_the_tape(driver: Driver) -> None:
    driver.window.resize(1280, 720)
    driver.window.set_projector(True)
    driver.window.lessons.open(
        open_lesson(next(p for p in shipped_files() if "memory" in p.stem), perspective_names()), 0
    )
    driver.wait(lambda: driver.window.lessons.control is driver.control("tape_forward"))
    driver.wait(lambda: driver.window.find_control("graph_view") is not None, "the graph is behind the tape")


@pytest.mark.slow
def test_before_a_class_the_curves_of_heads_have_room_for_several(driver: Driver) -> None:
    """Beside another panel there was room for one of eight."""
    driver.window.resize(1280, 720)
    driver.window.set_projector(True)
    lesson = next(path for path in shipped_files() if "which-part" in path.stem)
    driver.window.lessons.open(open_lesson(lesson, perspective_names()), 4)
    curves = driver.control("heads_curves")
    panel = driver.control("heads_over_time_view")
    driver.wait(lambda: any("Around step" in label.text() for label in panel.findChildren(QLabel)))
    third = curves.part_rectangle(2).toRect()
    driver.wait(lambda: curves.visibleRegion().contains(third), "the third of them is out of sight")
