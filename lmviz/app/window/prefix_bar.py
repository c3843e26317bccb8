"""The prefix: a line to type in, its tokens, and notes about them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, name_with, named, reach_by_tab, row
from lmviz.app.widgets.base.figures import whole_percentage
from lmviz.app.widgets.base.plain import InkedLabel, Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.text.answered_strip import AnsweredStrip, TokenAnswer
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.app.window.text_line import TextLine
from lmviz.base.plain_text import on_one_line
from lmviz.looks.ink import Inked
from lmviz.text.tokenizer import END, START, Encoding, token_name, visible

if TYPE_CHECKING:  # what the model of the first paint has nothing of
    from lmviz.app.session.reading import Reading
    from lmviz.app.window.chat_lines import ChatLines
    from lmviz.app.window.source_picture import SourcePicture

ROWS, LOW_WINDOW = 2, 760
"""Rows of tokens that can be seen at once; one alone in a window of fewer pixels at scale 1."""

NAMED_UNKNOWNS = 2
TOP = Qt.AlignmentFlag.AlignTop
INFO = 250  # pixels at scale 1 for what is said of the tokens
LATE = 250  # milliseconds after which a reading that takes long says how far it is, and as often again
OF_TEXT = "Type a prefix to see what could come next"
OF_TRANSLATION = "Type the translation so far, to see what could come next"
OF_PICTURE = "Type the description of the picture so far; paint it with the mouse"


class PrefixEdit(TextLine):
    """A line in which Return writes a line break, since texts have them.

    While it is empty it shows what could be typed, and the right arrow types the words that it proposes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._proposed = ""

    def propose(self, hint: str, words: str) -> None:
        """Show a hint while nothing is typed, with words that can be taken over, or none."""
        self._proposed = words
        self.setPlaceholderText(f"{hint}, such as “{on_one_line(words)}” (→ types it)" if words else hint)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Right and self._proposed and not self.text():
            self.insert(self._proposed)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.insert("\n")
        else:
            super().keyPressEvent(event)


class PrefixBar(QFrame):
    """Shows and changes the session's prefix and position."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._examples_read = 0
        self._window_height = 10 * LOW_WINDOW  # until it is known
        self._info_height = 0  # that what is said of the tokens has at least
        self._told: list[Inked] = []  # what is said of them
        self._words_typed: tuple[Encoding | None, str, tuple[str, ...]] = (None, "", ())
        self._is_changed = False  # whether surgery has put other words there than are typed
        self.setObjectName("prefix_bar")
        self.edit = named(PrefixEdit(), "prefix_edit", "prefix")
        self.source = named(TextLine(), "source_edit", "source")
        self.source.setPlaceholderText("Type what should be translated; its translation so far is below")
        self._names = _name_of(self.source, "source"), _name_of(self.edit, "translation")
        self.strip = named(AnsweredStrip(), "prefix_tokens", "tokens of the prefix")
        self._area = _RowsArea(self.strip)
        self._info = named(InkedLabel(), "prefix_info", role="muted")
        self._info.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._info.setWordWrap(True)
        self._example = QuietButton("example_button", "Example from the text", "link")
        self._example.setToolTip("Read the next example of the open text, and what is right beside it")
        self._blank = QuietButton("blank_button", "Clear", "link")
        self._blank.setToolTip("Make every pixel of the picture blank")
        offered = ((part, 0, TOP) for part in (self._blank, self._example))
        self._below = row((self._area, 1), *offered, gap=16)
        lines = self._lines = QGridLayout()
        lines.setVerticalSpacing(6)
        lines.setHorizontalSpacing(10)
        for number, (name, line) in enumerate(zip(self._names, (self.source, self.edit), strict=True)):
            lines.addWidget(name, number, 0)
            lines.addWidget(line, number, 1)
        self._chat: ChatLines | None = None
        lines.setColumnStretch(1, 1)
        session.chat.changed.connect(self._show_chat)
        typed = row((lines, 1), (self._info, 0, Qt.AlignmentFlag.AlignVCenter), gap=10)
        texts = column(typed, self._below, gap=6)  # so that the tokens have the whole width
        texts.addStretch()
        self._beside = row((texts, 1), on=self, gap=14, margins=(16, 10, 16, 8))
        self._connect()
        self._reading_late = QTimer(self, interval=LATE)
        self._reading_late.timeout.connect(self._show_info)
        session.reading.late_changed.connect(self._follow_reading)
        theme_switch().theme_changed.connect(self._adopt_theme)
        self._adopt_theme()
        self._show_source()
        self._show_chat()
        self._show_tokens()
        self._offer_example()

    def _connect(self) -> None:
        session = self._session
        self.edit.textChanged.connect(session.reading.set_prefix)
        self.source.textChanged.connect(session.reading.set_source)
        for line in (self.edit, self.source):
            line.shortened.connect(session.say)
        session.reading.source_changed.connect(self._show_source)
        session.library.model_changed.connect(self._show_source)
        session.text.changed.connect(self._show_source)
        session.reading.prefix_changed.connect(self._show_prefix)
        session.reading.encoding_changed.connect(self._show_tokens)
        session.reading.encoding_changed.connect(self._offer_what_others_have)
        session.reading.changed.connect(self._show_reading)
        for changed in (session.library.model_changed, session.text.changed):
            changed.connect(self._offer_example)
        self._example.clicked.connect(self._read_example)
        self._blank.clicked.connect(lambda: self.picture.clear())
        session.focus.position_changed.connect(self._show_position)
        session.focus.hovered_position_changed.connect(self._show_position)
        self._area.verticalScrollBar().rangeChanged.connect(self._bring_into_sight)
        self.strip.part_clicked.connect(session.focus.choose_position)
        self.strip.part_hovered.connect(session.focus.hover_position)

    def fit_window(self, height: int) -> None:
        """Have the room for tokens that a window of this height leaves."""
        self._window_height = height
        self._area.set_rows(1 if height < LOW_WINDOW * current_theme().scale else ROWS)

    def _adopt_theme(self) -> None:
        """What is said of the tokens has two lines of a fixed width, so that it moves nothing."""
        self._info.setFixedWidth(round(INFO * current_theme().scale))
        self._told = []  # its inks are others
        self._info_height = 2 * self._info.fontMetrics().lineSpacing()
        self.fit_window(self._window_height)
        self._show_info()

    def _show_prefix(self) -> None:
        if self.edit.text() != self._session.reading.prefix:
            self.edit.setText(self._session.reading.prefix)
            self._session.reading.set_prefix(self.edit.text())  # what was cut may be what stood there

    @cached_property
    def picture(self) -> SourcePicture:
        """The picture that the shown model describes."""
        from lmviz.app.window.source_picture import SourcePicture

        picture = SourcePicture(self._session, self)
        self._beside.insertWidget(0, picture, 0, TOP)
        reach_by_tab(self, picture)
        return picture

    def _offer_what_others_have(self) -> None:
        """Models of other programs can have chats, and special tokens: what these need is made with the first
        such model."""
        model = self._session.library.model
        if self._chat is None and model is not None and model.run.began_elsewhere:
            self._make_what_others_have()

    def make_all(self) -> None:
        """Make what else is made when it is first needed: for a list of all controls."""
        self.picture  # noqa: B018
        if self._chat is None:
            self._make_what_others_have()

    def _make_what_others_have(self) -> None:
        from lmviz.app.window.chat_lines import ChatLines, ChatSwitch
        from lmviz.app.window.special_tokens import SpecialTokensSwitch, TokenById

        session = self._session
        self._chat = ChatLines(session, self.edit)
        self._lines.addWidget(self._chat, 2, 1)  # spanning two columns it would push the line aside, hidden
        switches = ChatSwitch(session, self), SpecialTokensSwitch(session, self)
        for number, switch in enumerate(switches, start=2):
            self._lines.addWidget(switch, 1, number, 2, 1, TOP)
        by_id = TokenById(session, self.edit, self)
        self._below.addWidget(by_id, 0, TOP)
        by_id.inserted.connect(self.edit.setCursorPosition)
        for before, part in ((self.edit, switches[1]), (self.edit, switches[0]), (self._example, by_id)):
            reach_by_tab(before, part)
        self._chat.show_chat()

    def _show_chat(self) -> None:
        """In a chat there is a line for each who speaks in the place of one for the whole text."""
        is_chat, types = self._session.chat.is_on, self.edit.hasFocus()
        self._offer_what_others_have()
        if self._chat is not None:
            self._chat.show_chat()
        self.edit.setVisible(not is_chat)
        if is_chat and types and self._chat is not None:
            self._chat.user.setFocus()

    def _show_source(self) -> None:
        """The source stands above the prefix where the shown model reads one, a picture beside it."""
        reading = self._session.reading
        translates = reading.has_source and not reading.has_picture
        for widget in (self.source, *self._names):
            widget.setVisible(translates)
        self._blank.setVisible(reading.has_picture)
        if reading.has_picture:
            self.picture  # noqa: B018 - from now on it is there
        of_source = OF_PICTURE if reading.has_picture else OF_TRANSLATION
        self.edit.propose(of_source if reading.has_source else OF_TEXT, self._proposed_words())
        if self.source.text() != reading.source:
            self.source.setText(reading.source)
            if translates:
                reading.set_source(self.source.text())

    def _proposed_words(self) -> str:
        """The first words of what the open text holds out, where the shown model can read them."""
        model, corpus = self._session.library.model, self._session.text.corpus
        continues = model is None or (model.predicts.continues and not model.reads_source)
        if corpus is None or corpus.task != "next-token" or not continues:
            return ""
        from lmviz.text.first_example import beginning_of  # nothing is open at the first paint

        words = beginning_of(corpus)
        return "" if model is not None and any(model.tokenizer.encode_prefix(words).unknown) else words

    def _offer_example(self) -> None:
        """Where the open text has examples of what the shown model does."""
        model, corpus = self._session.library.model, self._session.text.corpus
        has_examples = corpus is not None and corpus.training_examples is not None
        fits = model is not None and corpus is not None and corpus.task == model.task.name
        self._example.setVisible(has_examples and fits)
        self._examples_read = 0
        self._show_answers()

    def _read_example(self) -> None:
        """The next one: those that were held out first, for they are new to the model."""
        corpus = self._session.text.corpus
        if corpus is None:
            return
        held_out, learned = len(corpus.validation_documents), len(corpus.training_documents)
        number = self._examples_read % max(1, held_out + learned)
        self._examples_read += 1
        if number < held_out:
            self._session.reading.read_example(number, "validation")
        else:
            self._session.reading.read_example(number - held_out)

    def _show_answers(self) -> None:
        """The tags of the shown model under their tokens, and what is right where the open text knows it."""
        reading, model = self._session.reading.current, self._session.library.model
        if model is None or model.predicts.continues or model.predicts.per == "text":
            self.strip.set_answers(())
        elif reading is None or len(reading.trace) != len(self.strip.tokens):
            before = self.strip.answers  # which stay until the new are known, so that nothing jumps
            blank = TokenAnswer()
            places = range(len(self.strip.tokens))
            self.strip.set_answers([before[place] if place < len(before) else blank for place in places])
        elif reading.model == model:
            from lmviz.app.session.gold import gold_of
            from lmviz.app.window.prefix_answers import answers_of  # as below: not before the first paint

            self.strip.set_answers(answers_of(reading, gold_of(reading, self._session.text.corpus)))
        self._area.fit_rows()
        self._show_info()

    def _show_reading(self) -> None:
        """What is read may have other words than what is typed: surgery swaps some."""
        if self._words_read() != self.strip.tokens:
            self._show_tokens()
        else:
            self._show_answers()

    def _words_read(self) -> tuple[str, ...]:
        """The tokens as they are read: for each that surgery changes the one in its place."""
        encoding, current, typed = self._session.reading.encoding, self._read_as_typed, self._typed
        if encoding is None or current is None:
            return typed
        ids, tokens = current.trace.ids.tolist(), current.trace.tokens
        if len(ids) != len(typed):
            return typed
        moved = {id: at for at, id in enumerate(encoding.ids.tolist()) if id != ids[at]}
        return tuple(
            word if id == given else typed[moved[id]] if id in moved else visible(tokens[at])
            for at, (word, id, given) in enumerate(zip(typed, ids, encoding.ids.tolist(), strict=True))
        )

    @property
    def _read_as_typed(self) -> Reading | None:
        """The reading of what is typed by the shown model; None while there is another, whose ids mean other
        words."""
        current, shown = self._session.reading.current, self._session.library.model
        if current is None or current.model != shown or current.trace.text != self._session.reading.prefix:
            return None
        return current

    def _are_special(self) -> tuple[bool, ...]:
        """Which of the tokens that are read are special tokens of another program."""
        encoding, current = self._session.reading.encoding, self._read_as_typed
        if encoding is None or not any(encoding.special):
            return ()
        if current is None:
            return encoding.special
        ids, model = current.trace.ids, current.model
        return model.tokenizer.are_special(ids) if len(ids) == len(encoding) else encoding.special

    @property
    def _typed(self) -> tuple[str, ...]:
        """The tokens of what is typed, to be read: an unknown word as it was typed."""
        encoding, prefix = self._session.reading.encoding, self._session.reading.prefix
        if self._words_typed[0] is not encoding or self._words_typed[1] != prefix:  # a keystroke asks often
            count = 0 if encoding is None else len(encoding)
            words = tuple(_shown(encoding, at, prefix) for at in range(count) if encoding is not None)
            self._words_typed = encoding, prefix, words
        return self._words_typed[2]

    def _show_tokens(self) -> None:
        encoding = self._session.reading.encoding
        if encoding is None:
            self.strip.set_tokens(())
        else:
            words = self._words_read()
            self._is_changed = words != self._typed
            unknown = {word for word, is_new in zip(self._typed, encoding.unknown, strict=True) if is_new}
            self.strip.set_tokens(
                words,
                unknown=[at for at, word in enumerate(words) if word in unknown],
                special=[at for at, special in enumerate(self._are_special()) if special],
                boundaries=[at for at, word in enumerate(words) if word in (START, END)],
                quiet=[
                    at for at, span in enumerate(encoding.offsets) if self._session.chat.is_of_template(*span)
                ],
            )
        self._show_answers()
        self._show_position()

    def _show_position(self) -> None:
        position = self._session.focus.position
        self.strip.set_current(position)
        hovered = self._session.focus.hovered_position
        self.strip.set_hovered(-1 if hovered is None else hovered)
        self._bring_into_sight()
        self._show_info()

    def _bring_into_sight(self) -> None:
        """Scroll to the position one looks at; again where other widths need other numbers of rows."""
        position = self._session.focus.position
        if 0 <= position < len(self.strip.tokens):
            area = self.strip.token_rectangle(position)
            self._area.ensureVisible(
                round(area.center().x()), round(area.center().y()), 0, round(0.6 * area.height())
            )

    def _follow_reading(self) -> None:
        """Say how far a reading is that takes long, for as long as it takes."""
        if not self._session.reading.is_late:
            self._reading_late.stop()
            self._show_info()
        elif not self._reading_late.isActive():
            self._reading_late.start()

    def _how_far(self) -> list[Inked]:
        """How much of the text has been read, and how to leave it; empty where that takes no time."""
        reading = self._session.reading
        if not (self._reading_late.isActive() and reading.is_busy and reading.encoding is not None):
            return []
        amount, done = _amount(len(reading.encoding), "token"), self._session.work.progress("reading")
        told = f"reading {amount}" + ("" if done is None else f" … {whole_percentage(done)}")
        leave = Inked(" · Esc: back to the text before") if reading.can_go_back else Inked("")
        return [Inked(told, ink="accent"), leave]

    def _show_info(self) -> None:
        said = self._said()
        if said == self._told:  # a keystroke looks several times
            return
        self._told = said
        self._info.set_pieces(said)
        if self._info.minimumHeight() > self._info_height:  # Qt asks for no less than was set before
            self._info.setMinimumHeight(0)
        # Of a fixed size, it has nothing laid out with each position that one looks at.
        needed = self._info.heightForWidth(self._info.width())
        self._info.setFixedHeight(max(self._info_height, needed))

    def _said(self) -> list[Inked]:
        """What is said of the tokens, or how far their reading is."""
        if how_far := self._how_far():
            return how_far
        encoding = self._session.reading.encoding
        if encoding is None:
            return [Inked("open a text or a model to see its tokens")]
        parts = [
            Inked(_amount(len(encoding), "token")),
            _unknown_words(encoding, self._session.reading.prefix),
        ]
        if self._session.reading.dropped:
            dropped = _amount(self._session.reading.dropped, "earlier token")
            parts.append(Inked(f"{dropped} beyond the context"))
        if len(encoding):
            parts.append(Inked(f"position {self._session.focus.shown_position + 1} of {len(encoding)}"))
        at = 1 if self.strip.answers else 0
        parts[at:at] = self._answered()
        if self._is_changed:
            parts.append(Inked("as surgery has them", ink="accent"))
        told = [part for part in parts if part.text]
        between = Inked("\N{NO-BREAK SPACE}· ")  # no line begins with the dot
        return [piece for part in told for piece in (between, part)][1:]

    def _answered(self) -> Sequence[Inked]:
        """How many of its labels are right, or which label the whole text has."""
        reading = self._session.reading.current
        is_labelled = reading is not None and reading.trace.predicts.per == "text"
        if not self.strip.answers and not is_labelled:
            return ()
        from lmviz.app.window.prefix_answers import how_many_are_right, label_of_text

        if self.strip.answers:
            return (Inked(how_many_are_right(self.strip.answers)),)
        return label_of_text(reading, self._session.text.corpus)


def _name_of(line: QLineEdit, name: str) -> Label:
    """What a line of a translation holds, in the colour that its words have in the panels."""
    label = Label(name, role=name)
    name_with(label, line)
    return label


class _RowsArea(QScrollArea):
    """Holds the strip. It has room for its rows, whatever is typed, and scrolls: typing moves nothing."""

    def __init__(self, strip: TokenStrip) -> None:
        super().__init__()
        self._strip = strip
        self._rows, self._height = ROWS, 0
        self.setViewport(QWidget())  # as in QuietScrollArea
        self.setWidget(strip)
        strip.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> QSize:
        return QSize(240, self._rows * self._strip.minimumSizeHint().height())

    def set_rows(self, rows: int) -> None:
        """Have room for so many rows."""
        self._rows = rows
        self.fit_rows()

    def fit_rows(self) -> None:
        """Have the room that the rows need as they are now: mostly what they have."""
        height = self.sizeHint().height()
        if height != self._height:
            self._height = height
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())


def _shown(encoding: Encoding, at: int, text: str) -> str:
    """A token to be read: an unknown word as it was typed."""
    first, last = encoding.offsets[at]
    if encoding.unknown[at]:
        return visible(text[first:last])
    return token_name(encoding.tokens[at], encoding.special[at])


def _unknown_words(encoding: Encoding, text: str) -> Inked:
    offsets = zip(encoding.offsets, encoding.unknown, strict=True)
    words = list(dict.fromkeys(visible(text[first:last]) for (first, last), unknown in offsets if unknown))
    if not words:
        return Inked("all known" if len(encoding) else "")
    named = ", ".join(f"“{word}”" for word in words[:NAMED_UNKNOWNS])
    more = " …" if len(words) > NAMED_UNKNOWNS else ""
    return Inked(f"unknown: {named}{more}", ink="warning")


def _amount(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
