"""A question with a field or choices, a hint, and what is said about the answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QLineEdit, QRadioButton, QWidget

from lmviz.app.widgets.base.building import column, named, row
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.role import set_role
from lmviz.app.widgets.text.markdown_label import MarkdownLabel

FIRST = "after the tasks"
_KIND = {True: "right", False: "wrong", None: ""}


class QuestionCard(QFrame):
    """`set_question(question, choices, hint)` for another, `allow(may_answer)`, `tell(...)` after that.

    Signals: `answered(text)` and `hint_wanted`.
    """

    answered = Signal(str)
    hint_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("lesson_question")
        self._question = MarkdownLabel("lesson_question_words")
        self._choices = QButtonGroup(self)
        self._rows: list[_Choice] = []
        self._choice_column = column(gap=6)
        self._answer = named(QLineEdit(), "lesson_answer", "your answer")
        self._answer.returnPressed.connect(self._check)
        self._button = QuietButton("lesson_check", "Check")
        self._button.clicked.connect(self._check)
        self._hint_button = QuietButton("lesson_hint", "hint", "link")
        self._hint_button.clicked.connect(self.hint_wanted)
        self._hint = named(MarkdownLabel("lesson_hint_words"), role="muted")
        self._said = MarkdownLabel("lesson_verdict")
        head = row((Label("Question", role="muted"), 1), self._hint_button)
        answer = row((self._answer, 1), self._button, gap=10)
        answer.addStretch()  # takes room only where there is no field
        column(
            head,
            self._question,
            self._choice_column,
            answer,
            self._hint,
            self._said,
            on=self,
            gap=8,
            margins=(14, 12, 14, 12),
        )

    @property
    def said(self) -> str:
        """What is said about the answer."""
        return self._said.text()

    def set_question(self, question: str, choices: Sequence[str], hint: str) -> None:
        """Show another question, unanswered."""
        self._question.setText(question)
        for gone in self._rows:
            self._choices.removeButton(gone.button)
            self._choice_column.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        self._rows = [_Choice(words, number) for number, words in enumerate(choices)]
        for number, added in enumerate(self._rows):
            self._choices.addButton(added.button, number)
            self._choice_column.addWidget(added)
        self._answer.setVisible(not choices)
        self._answer.clear()
        self._hint.setText(hint)
        self._hint_button.setVisible(bool(hint))
        self.tell(None, "", is_hint_shown=False)

    def allow(self, may_answer: bool) -> None:
        """Take answers, or wait until the tasks are done."""
        self._answer.setPlaceholderText("" if may_answer else FIRST)
        for control in (self._answer, self._button, *self._choices.buttons()):
            control.setEnabled(may_answer)

    def tell(self, verdict: bool | None, sentence: str, *, is_hint_shown: bool) -> None:
        """Say whether the answer is right, as Markdown, and show the hint where it was asked for."""
        self._said.setText(sentence)
        self._said.setVisible(bool(sentence))
        for widget in (self._said, self._answer):
            set_role(widget, _KIND[verdict], of="verdict")
        self._hint.setVisible(is_hint_shown and bool(self._hint.text()))

    def _check(self) -> None:
        if self._rows:
            chosen = self._choices.checkedButton()
            if chosen is not None:
                self.answered.emit(self._rows[self._choices.id(chosen)].choice)
        else:
            self.answered.emit(self._answer.text())


class _Choice(QWidget):
    """A button with words that may take several lines; a click on them chooses as well."""

    def __init__(self, words: str, number: int) -> None:
        super().__init__()
        self.choice = words
        self.button = named(QRadioButton(), f"lesson_choice_{number}", words)
        row((self.button, 0, Qt.AlignmentFlag.AlignTop), (Label(words, wraps=True), 1), on=self, gap=4)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.button.isEnabled():
            self.button.setChecked(True)
