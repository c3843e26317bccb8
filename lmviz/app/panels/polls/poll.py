"""A poll on the projector: the question, its choices, and the answers once they are to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QComboBox, QFileDialog, QPushButton, QSpinBox, QWidget

from lmviz.app.look.theme import current_theme, give_font, theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row, sheet
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.flow import FlowLayout, labelled
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.steady import SpinBox
from lmviz.app.widgets.base.toast import Toast
from lmviz.app.widgets.plots.poll_choices import LIKELIEST, RIGHT, ChoiceRow, PollChoices
from lmviz.base.plain_text import on_one_line
from lmviz.looks.names import Names
from lmviz.polls.poll import Poll, Right

KEY = Key("poll")

FILES = "Polls (*.poll *.txt);;All files (*)"
QUESTION = 22.0  # the size of its type
USUAL_HEIGHT, MOST_GROWTH = 620, 2.0  # pixels at scale 1 of the panel for which that is; and how much larger
MOST = 9_999
KEPT = "Only the counts are kept, on this computer."
LETTERS = "ABCDE"
KEYS = "A to E count an answer, Backspace takes it back, space shows them."


class PollPanel(Panel):
    """Answers are collected by keys, clicks or figures; nobody sees them before they are shown."""

    can_play = True

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.right: Right | None = None  # what was found to be right; None while it is being computed
        self._asked: object = None
        self._picker = picker("poll_picker", "poll")
        self._picker.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._open = LinkButton("open_poll_button", "open…", "open a poll from a text file")
        self._question = Label(name="poll_question", wraps=True)
        self._choices = named(PollChoices(), "poll_choices")
        self._answer = Label(name="poll_answer", wraps=True)
        self._total = Label(name="poll_total")
        self._show = named(QPushButton(), "show_answers_button", role="primary")
        self._clear = named(QPushButton("start again"), "clear_poll_button")
        self._type = named(QPushButton("type counts"), "type_counts_button")
        self._type.setCheckable(True)
        self._save = LinkButton("save_counts_button", "save as CSV…", "the answers to all polls as a table")
        self._notes = (MutedLine(KEYS), MutedLine(KEPT))
        self._counts = QWidget()
        self._spins: dict[str, QSpinBox] = {}
        self._typed: dict[str, QWidget] = {}
        self._card = self.add_card("Poll", row(self._picker, self._open), self._lay_out())
        self._connect()
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()
        self._fill_picker()

    def page_results(self) -> Sequence[Any]:
        return (self.session.polls.current,)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The count of every choice, (choice,); nothing before anybody has answered."""
        polls = self.session.polls
        if not any(polls.counts.values()):
            return {}
        return {"answers": np.array([polls.counts.get(each.letter, 0) for each in polls.current.filled])}

    def exported_names(self) -> Names:
        return Names([f"{each.letter}: {each.text}" for each in self.session.polls.current.filled])

    def toggle_play(self) -> None:
        """Show the answers, or hide them: what the space bar does here."""
        self.session.polls.show_answers(not self.session.polls.is_shown)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A space is no part of a count: from a field of those it shows the answers, too."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and _is_space(event):
            self.toggle_play()
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A space that what has the focus had no use for: a button, to which Tab leads, is pressed by it."""
        if _is_space(event):
            self.toggle_play()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._choices.setFocus(Qt.FocusReason.OtherFocusReason)

    def refresh(self) -> None:
        polls = self.session.polls
        poll = polls.current
        self._fill_picker()
        self._question.setText(poll.question)
        self._ask(poll)
        rows = [ChoiceRow(each.letter, each.text, polls.counts.get(each.letter, 0)) for each in poll.filled]
        self._choices.set_choices(rows)
        right = self.right or Right(())
        self._choices.show_answers(polls.is_shown, right.letter, LIKELIEST if right.said_by else RIGHT)
        self._total.setText("1 answer" if polls.total == 1 else f"{count(polls.total)} answers")
        self._show.setText("hide the answers" if polls.is_shown else "show the answers")
        self._clear.setEnabled(bool(polls.total) or polls.is_shown)
        self._save.setEnabled(bool(polls.total))
        self._counts.setVisible(self._type.isChecked())
        for letter, spin in self._spins.items():
            self._typed[letter].setVisible(letter in (each.letter for each in poll.filled))
            with QSignalBlocker(spin):
                spin.setValue(polls.counts.get(letter, 0))
        self._say_right()

    def _choose(self, index: int) -> None:
        """Ask another poll, and let space show its answers, not the list of polls again."""
        self.session.polls.choose(index)
        self._choices.setFocus(Qt.FocusReason.OtherFocusReason)

    def _offer_to_type(self, wanted: bool) -> None:
        """Show the fields for counts, ready for the first, or take them away."""
        self._counts.setVisible(wanted)
        if wanted:
            first = self._spins[LETTERS[0]]
            first.setFocus(Qt.FocusReason.OtherFocusReason)
            first.selectAll()

    def _lay_out(self) -> QWidget:
        for letter in LETTERS:
            spin = named(SpinBox(), f"count_{letter}", f"answers to {letter}")
            spin.setRange(0, MOST)
            spin.setKeyboardTracking(False)
            self._spins[letter] = spin
            self._typed[letter] = labelled(letter, spin)
        row(*self._typed.values(), STRETCH, on=self._counts)
        self._buttons = FlowLayout()
        for control in (self._show, self._clear, self._type, self._total, self._save):
            self._buttons.addWidget(control)
        asked = (self._question, (self._choices, 20), self._answer)
        return sheet(column(*asked, STRETCH, self._counts, self._buttons, *self._notes))

    def _connect(self) -> None:
        polls, session = self.session.polls, self.session
        self._choices.letter_chosen.connect(polls.collect)
        self._choices.letter_taken_back.connect(polls.take_back)
        self._picker.activated.connect(self._choose)
        self._open.clicked.connect(self._open_file)
        self._show.clicked.connect(self.toggle_play)
        self._clear.clicked.connect(polls.clear)
        self._save.clicked.connect(self._save_counts)
        self._type.toggled.connect(self._offer_to_type)
        for letter in LETTERS:  # wherever the focus is, but in a field: no answer of the room gets lost
            key = QShortcut(QKeySequence(letter), self)
            key.activated.connect(lambda letter=letter: polls.collect(letter))
        QShortcut(QKeySequence(Qt.Key.Key_Backspace), self).activated.connect(polls.take_back)
        for control in (self._show, self._clear, self._type, self._open, self._save, self._picker):
            control.setFocusPolicy(
                Qt.FocusPolicy.TabFocus
            )  # space is for the answers, not for the last click
        for spin in self._spins.values():
            spin.installEventFilter(self)
        for letter, spin in self._spins.items():
            spin.valueChanged.connect(lambda number, letter=letter: polls.set_count(letter, number))
        self.show_failures(polls)
        self.follow(polls.changed, polls.counted, polls.shown)
        self.follow(session.library.model_changed, session.library.step_changed, session.surgery.changed)

    def minimumSizeHint(self) -> QSize:
        """With the lines into which the buttons are broken in its width."""
        lines = self._buttons.heightForWidth(self._question.width()) - self._buttons.minimumSize().height()
        return super().minimumSizeHint() + QSize(0, max(0, lines))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_question()

    def _fit_question(self) -> None:
        """In a large window the question is written larger, as its choices are."""
        theme = current_theme()
        growth = min(max(1.0, self.height() / (USUAL_HEIGHT * theme.scale)), MOST_GROWTH)
        self._choices.set_most_growth(growth)
        font = theme.font(QUESTION * growth)
        if font != self._question.font():
            give_font(self._question, font)

    def _adopt_theme(self) -> None:
        self._fit_question()
        give_font(self._answer, current_theme().font(15))
        for line in self._notes:  # the lecturer has read them by then, and the room is the choices'
            line.setVisible(not theme_switch().projector)

    def _fill_picker(self) -> None:
        polls = self.session.polls
        set_choices(self._picker, dict(enumerate(on_one_line(poll.title) for poll in polls.all)), polls.index)

    def _ask(self, poll: Poll) -> None:
        """Have the right choice computed; where that takes a model, of the one that is shown."""
        session = self.session
        state = (session.library.model, session.library.step, session.surgery.in_force)
        asked = (poll, state if poll.needs_model else None)
        if asked == self._asked:
            return
        self._asked, self.right = asked, None
        self.silence(KEY)
        if not poll.needs_model:
            self.right = poll.find_right()
        elif session.library.model is None:
            self.complain("The answer to this poll is the open model's: open a language model.", KEY)
        else:
            self.ask(Question(KEY, session.comparison.shown, poll.find_right), self._show_right)

    def _show_right(self, right: Right) -> None:
        self.right = right
        self.refresh_soon()

    def handle_failure(self, key: str) -> None:
        self._asked = None  # it is asked again with the next change
        self._say_right()

    def _say_right(self) -> None:
        """Say which choice is right, where the answers are shown, or why that is not said."""
        polls = self.session.polls
        sentence = "The right choice could not be computed."
        if self.right is not None:
            sentence = _answer(polls.current, self.right)
        elif self.session.work.is_busy("poll"):
            sentence = "The right choice is still being computed."
        self._answer.setText(sentence if polls.is_shown else "")
        self._answer.setVisible(polls.is_shown)

    def _save_counts(self) -> None:
        """Ask for a file, and write how many chose what in every poll that was answered."""
        name, _ = QFileDialog.getSaveFileName(self, "Save the answers", "polls.csv", "Tables (*.csv)")
        if not name:
            return

        def confirm(path: Path) -> None:
            self.complain("", "export")
            Toast.show_over(self, f"Saved {path.name} in {path.parent}.")

        self.session.polls.save_csv(
            Path(name).with_suffix(".csv"), confirm, lambda sentence: self.complain(sentence, "export")
        )

    def _open_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Open a poll", "", FILES)
        if name:
            self.session.polls.open_file(Path(name))


def _is_space(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Space and event.modifiers() == Qt.KeyboardModifier.NoModifier


def _answer(poll: Poll, right: Right) -> str:
    """What is said once the answers are shown: what is right, or which model says what."""
    if not right.letters:
        return f"None of these: {right.computed}."
    *others, last = right.letters
    named = f"{', '.join(others)} and {last}" if others else last
    if not right.said_by:
        verdict = f"{named} {'are' if others else 'is'} right."
    elif others:
        verdict = f"{right.said_by} finds {named} about equally likely."
    else:
        verdict = f"{right.said_by} finds {named} the likeliest."
    chosen = next(choice.text for choice in poll.filled if choice.letter == last)
    is_said = not right.computed or right.computed == chosen
    computed = "" if is_said else f"Computed: {right.computed}."
    return " ".join(part for part in (verdict, poll.because, computed) if part)
