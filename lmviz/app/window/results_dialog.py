"""What one has done and answered in lessons, what was wrong at first, and who hands it in."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QLineEdit, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.widgets.base.building import STRETCH, column, named, row
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.base.plain_text import on_one_line
from lmviz.lessons.results import LONGEST, Results, StepResult

WIDE, HIGH = 680, 520  # pixels at scale 1
LONGEST_SHOWN = 60  # characters of an answer
HEADINGS = ("step", "first answered wrongly", "now")


class ResultsDialog(QDialog):
    """`ResultsDialog(results, student, save, parent)`: `save` is called with the name that is typed."""

    def __init__(self, results: Results, student: str, save: Callable[[str], None], parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("results_dialog")
        self.setWindowTitle("My results")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._save = save
        page, self._grid = QWidget(), QGridLayout()
        page.setLayout(self._grid)
        self._grid.setHorizontalSpacing(20)
        self._fill(results)
        self._student = named(QLineEdit(student), "results_student", "your name or number")
        self._student.setMaxLength(LONGEST)
        self._student.setPlaceholderText("your name or number, if your teacher wants it")
        button = QuietButton("results_save_button", "Save…", "primary")
        button.clicked.connect(self._hand_over)
        below = row(Label("handed in by"), (self._student, 1), STRETCH, button, gap=10)
        said = Label(summary_of(results), name="results_summary", wraps=True)
        column(said, (scrolling(page), 1), below, on=self, gap=14, margins=(20, 18, 20, 16))
        scale = current_theme().scale
        self.resize(round(WIDE * scale), round(HIGH * scale))

    def _hand_over(self) -> None:
        self._save(self._student.text().strip())
        self.close()

    def _fill(self, results: Results) -> None:
        for place, heading in enumerate(HEADINGS):
            self._grid.addWidget(Label(heading, role="muted"), 0, place)
        for lesson in results.lessons:
            self._add((on_one_line(lesson.title), "title"))
            for step in lesson.steps:
                if step.answers or step.done:
                    wrong = next((each.words for each in step.answers if not each.is_right), "")
                    shown = on_one_line(wrong)
                    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 1]}…"
                    self._add((on_one_line(step.title), ""), (shown, "warning"), (_state_of(step), "muted"))
        self._grid.setRowStretch(self._grid.rowCount(), 1)
        self._grid.setColumnStretch(1, 1)

    def _add(self, *cells: tuple[str, str]) -> None:
        line = self._grid.rowCount()
        for place, (words, role) in enumerate(cells):
            label = Label(words, wraps=place == 1)
            set_role(label, role)
            self._grid.addWidget(label, line, place)


def summary_of(results: Results) -> str:
    """How many questions were answered, and how, in a sentence."""
    steps = [step for lesson in results.lessons for step in lesson.steps if step.answers]
    at_once, right = sum(step.is_right_at_once for step in steps), sum(step.is_right for step in steps)
    counted = "1 question" if len(steps) == 1 else f"{len(steps)} questions"
    return f"{counted} answered: {at_once} right at once, {right} right in the end."


def _state_of(step: StepResult) -> str:
    if not step.question:
        return "done" if step.is_done else f"{step.done} of {step.tasks} done"
    hint = ", with the hint" if step.hint else ""
    if step.is_right:
        return f"right{hint}" if not step.is_right_at_once else f"right at once{hint}"
    return f"not right yet{hint}" if step.answers else "not answered"
