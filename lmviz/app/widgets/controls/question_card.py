"""A question with a field or choices, a hint, and what is said about the answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLineEdit, QRadioButton, QVBoxLayout, QWidget

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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lesson_question")
        caption = Label("Question")
        caption.setProperty("role", "muted")
        self._question = MarkdownLabel("lesson_question_words")
        self._choices = QButtonGroup(self)
        self._rows: list[_Choice] = []
        self._choice_column = QVBoxLayout()
        self._choice_column.setSpacing(6)
        self._answer = QLineEdit()
        self._answer.setObjectName("lesson_answer")
        self._answer.setAccessibleName("your answer")
        self._answer.returnPressed.connect(self._check)
        self._button = QuietButton("lesson_check", "Check")
        self._button.clicked.connect(self._check)
        self._hint_button = QuietButton("lesson_hint", "hint", "link")
        self._hint_button.clicked.connect(self.hint_wanted)
        self._hint = MarkdownLabel("lesson_hint_words")
        self._hint.setProperty("role", "muted")
        self._said = MarkdownLabel("lesson_verdict")
        self._lay_out(caption)

    @property
    def said(self) -> str:
        """What is said about the answer."""
        return self._said.text()

    def set_question(self, question: str, choices: Sequence[str], hint: str) -> None:
        """Show another question, unanswered."""
        self._question.setText(question)
        for row in self._rows:
            self._choices.removeButton(row.button)
            self._choice_column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self._rows = [_Choice(words, number) for number, words in enumerate(choices)]
        for number, row in enumerate(self._rows):
            self._choices.addButton(row.button, number)
            self._choice_column.addWidget(row)
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

    def _lay_out(self, caption: Label) -> None:
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self._answer, 1)
        row.addWidget(self._button)
        row.addStretch()  # takes room only where there is no field
        head = QHBoxLayout()
        head.addWidget(caption, 1)
        head.addWidget(self._hint_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self._question)
        column.addLayout(self._choice_column)
        column.addLayout(row)
        column.addWidget(self._hint)
        column.addWidget(self._said)


class _Choice(QWidget):
    """A button with words that may take several lines; a click on them chooses as well."""

    def __init__(self, words: str, number: int) -> None:
        super().__init__()
        self.choice = words
        self.button = QRadioButton()
        self.button.setObjectName(f"lesson_choice_{number}")
        self.button.setAccessibleName(words)
        label = Label(words)
        label.setWordWrap(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label, 1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.button.isEnabled():
            self.button.setChecked(True)
