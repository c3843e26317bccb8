"""At the entry of a step, no text that can be seen contains the answer to its question."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.kit.painter import Painter
from lmviz.app.window.lessons import perspective_names
from lmviz.app.window.main_window import MainWindow
from lmviz.lessons.answers import right_answer
from lmviz.lessons.expression import Result
from lmviz.lessons.faults import NotKnown
from lmviz.lessons.reading import open_lesson
from lmviz.lessons.shipped import shipped_files
from tests.app.lessons.driver import bring_about
from tests.app.lessons.person import Driver

QUICK = "03-memory"
FIGURES = 3  # a number of fewer says too little: a 2 stands everywhere
NUMBER = re.compile(r"[-−]?\d+(?:[,.]\d+)*(?:e[-−]?\d+)?(?: %)?")

UNCHANGED = {("03-memory", "Another order"), ("11-two-sequences", "From lesson 9")}
"""Steps whose answer is that a number stays what it is, or is the same as another one."""

BEGUN_WITH = {("14-scale", "How large is GPT-3?"), ("14-scale", "Find the mistake")}
"""Steps about the model with which the calculator begins: whoever has not touched it sees it at once."""


@pytest.fixture(autouse=True)
def _as_when_lessons_are_driven(lessons_in_short: None) -> None:
    """What takes long is measured briefly, and the hidden fault is always the same."""


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All words that widgets paint from now on."""
    found: list[str] = []
    write = Painter.write

    def note(self: Painter, area: object, text: str, *given: object, **named: object) -> object:
        found.append(text)
        return write(self, area, text, *given, **named)

    monkeypatch.setattr(Painter, "write", note)
    return found


def said(window: MainWindow, painted: list[str]) -> Iterator[str]:
    """All that can be read in the window, but for what the lesson itself says."""
    painted.clear()
    window.grab()
    yield from painted
    for widget in window.findChildren(QWidget):
        if widget.visibleRegion().isEmpty() or window.lessons.side.isAncestorOf(widget):
            continue
        if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
            yield widget.text()
        elif isinstance(widget, QAbstractItemView) and (model := widget.model()) is not None:
            for row in range(min(model.rowCount(), 60)):
                for column in range(model.columnCount()):
                    yield str(model.index(row, column).data() or "")


def states(text: str, answer: float) -> bool:
    """Whether a text has the number, to its last decimal and with so many figures that it says something."""
    for written in NUMBER.findall(text):
        percent = written.endswith(" %")
        plain = written.removesuffix(" %").replace("−", "-").replace(",", "")
        mantissa, _, power = plain.partition("e")
        if mantissa.count(".") > 1:
            continue
        digits = mantissa.replace(".", "").replace("-", "").lstrip("0")
        decimals = len(mantissa.partition(".")[2]) - int(power or 0) + (2 if percent else 0)
        value = float(plain) / (100 if percent else 1)
        if len(digits) >= FIGURES and abs(value - answer) <= 0.5 * 10.0**-decimals * (1 + 1e-9):
            return True
    return False


def given_away(texts: list[str], answer: Result) -> str:
    """The text that has the answer; "" where none has."""
    if isinstance(answer, str):
        return next((text for text in texts if text.strip() == answer), "")
    if float(answer).is_integer():
        return ""
    return next((text for text in texts if states(text, answer)), "")


@pytest.mark.parametrize(
    ("text", "answer", "is_so"),
    [
        ("J 0.3251 → 0.3066", 0.306588, True),
        ("J 0.3251", 0.306588, False),
        ("36.4 %", 4 / 11, True),
        ("0.4", 4 / 11, False),
        ("−0.1388", -0.138756, True),
        ("3.4e−21", 3.4e-21, False),
        ("1,234.5", 1234.5, True),
        ("version 1.2.3", 1.2, False),
    ],
)
def test_a_number_is_known_to_its_last_decimal(text: str, answer: float, is_so: bool) -> None:
    assert states(text, answer) is is_so


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[] if path.stem == QUICK else pytest.mark.slow) for path in shipped_files()],
    ids=lambda path: path.stem,
)
def test_at_the_entry_of_a_step_its_answer_cannot_be_read(
    path: Path, window: MainWindow, painted: list[str], qtbot: QtBot
) -> None:
    driver, lesson = Driver(window, qtbot), open_lesson(path, perspective_names())
    window.resize(1440, 900)
    current, faults, asked = window.session.lesson, [], 0
    driver.press("lessons_button")
    for number, step in enumerate(lesson.steps):
        question = step.question
        if question is None or question.choices or not step.tasks:
            continue
        current.leave()
        current.open(lesson, number)
        driver.rest()
        texts = list(said(window, painted))
        assert texts
        for place, task in enumerate(step.tasks):
            bring_about(driver, task, place)
            driver.wait(lambda place=place: current.tasks_done > place, f"{step.title}: {task.words}")
        driver.wait(driver.is_quiet)
        window.session.training.stop()
        driver.wait(lambda: not window.session.training.state.is_active)
        try:
            answer = right_answer(question, current.value)
        except NotKnown:
            continue
        asked += 1
        model = window.session.library.model
        if isinstance(answer, str) and model is not None and not model.predicts.continues:
            continue  # a label, which stands beside all others
        if (path.stem, step.title) in UNCHANGED | BEGUN_WITH:
            continue
        if found := given_away(texts, answer):
            faults.append(f"{number + 1} {step.title}: {answer} stands in “{found}”")
    assert faults == []
    assert asked or path.stem.startswith("00")
