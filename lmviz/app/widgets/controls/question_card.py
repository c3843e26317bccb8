"""A question with a field or choices, a hint, and what is said about the answer."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

FIRST = "first do what is above"
_KIND = {True: "right", False: "wrong", None: ""}


class QuestionCard(QFrame):
    """`ask(question, choices, hint)` for another question, `allow(may_answer)`, `tell(...)` after an answer.

    Signals: `answered(text)` and `hint_wanted`.
    """

    answered = Signal(str)
    hint_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lesson_question")
        caption = QLabel("Question")
        caption.setProperty("role", "muted")
        self._question = _words("lesson_question_words")
        self._choices = QButtonGroup(self)
        self._choice_column = QVBoxLayout()
        self._choice_column.setSpacing(6)
        self._answer = QLineEdit()
        self._answer.setObjectName("lesson_answer")
        self._answer.setAccessibleName("your answer")
        self._answer.returnPressed.connect(self._check)
        self._button = QPushButton("Check")
        self._button.setObjectName("lesson_check")
        self._button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._button.clicked.connect(self._check)
        self._hint_button = QPushButton("hint")
        self._hint_button.setObjectName("lesson_hint")
        self._hint_button.setProperty("role", "link")
        self._hint_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._hint_button.clicked.connect(self.hint_wanted)
        self._hint = _words("lesson_hint_words")
        self._hint.setProperty("role", "muted")
        self._said = _words("lesson_verdict")
        self._has_choices = False
        self._lay_out(caption)

    @property
    def said(self) -> str:
        """What is said about the answer."""
        return self._said.text()

    def ask(self, question: str, choices: Sequence[str], hint: str) -> None:
        """Show another question, unanswered."""
        self._question.setText(question)
        self._has_choices = bool(choices)
        for button in self._choices.buttons():
            self._choices.removeButton(button)
            self._choice_column.removeWidget(button)
            button.deleteLater()
        for number, words in enumerate(choices):
            button = QRadioButton(words)
            button.setObjectName(f"lesson_choice_{number}")
            self._choices.addButton(button, number)
            self._choice_column.addWidget(button)
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
            widget.setProperty("verdict", _KIND[verdict])
            widget.style().unpolish(widget)
            widget.style().polish(widget)
        self._hint.setVisible(is_hint_shown and bool(self._hint.text()))

    def _check(self) -> None:
        if self._has_choices:
            chosen = self._choices.checkedButton()
            if chosen is not None:
                self.answered.emit(chosen.text())
        else:
            self.answered.emit(self._answer.text())

    def _lay_out(self, caption: QLabel) -> None:
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self._answer, 1)
        row.addWidget(self._button)
        row.addStretch(1)
        row.addWidget(self._hint_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(8)
        column.addWidget(caption)
        column.addWidget(self._question)
        column.addLayout(self._choice_column)
        column.addLayout(row)
        column.addWidget(self._hint)
        column.addWidget(self._said)


def _words(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.MarkdownText)
    return label
