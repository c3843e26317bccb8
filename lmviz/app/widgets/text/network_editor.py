"""An editor for the few lines that describe a small network: numbered, wrapped, coloured, with faults."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from lmviz.app.look.theme import current_theme, give_font, theme_switch
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.kit.painted import Painted
from lmviz.app.widgets.kit.painter import AT_RIGHT, Painter

SIZE = 12.5
PATIENCE = 250  # milliseconds after a key before the text is read


class NetworkEditor(QPlainTextEdit):
    """`NetworkEditor(words)`: `words` are the modules of the language, which are coloured.

    `set_text(text)` emits nothing; `set_faults({line: sentence})`; `set_lit(line)` lights a line, and
    `set_marks({line: mark})` writes a mark at the end of lines. Lines count from 1. `hand_over()` waits no
    longer for another key.
    Signals: `text_written(str)` a moment after a person has typed; `line_hovered(int)`, 0 on leaving.
    """

    text_written = Signal(str)
    line_hovered = Signal(int)

    def __init__(self, words: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._faults: dict[int, str] = {}
        self._marks: dict[int, str] = {}
        self._lit = 0
        self._numbers = _LineNumbers(self)
        self._colors = _Colors(self.document(), words)
        self._soon = QTimer(self, singleShot=True, interval=PATIENCE)
        self._soon.timeout.connect(self._hand_over)
        self._known = ""
        self._wanted = ""  # the name whose line is to be in sight as soon as it is there
        self._shared = ""  # the text that was last set or handed over; another one is being typed
        self.setTabChangesFocus(True)
        self.setAccessibleName("the network as text")
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.textChanged.connect(self._notice)
        self.updateRequest.connect(lambda *_: self._numbers.update())
        theme_switch().theme_changed.connect(self.adopt_theme)
        self.adopt_theme()

    def set_text(self, text: str) -> None:
        """Show a text; where the cursor stands and how far one has scrolled stays as it was.

        The text that was shown before says nothing new, and takes nothing back of what is being typed.
        """
        if text in (self._shared, self.toPlainText()):
            self._shared = text
            return
        self._soon.stop()
        self._shared = text
        at, scrolled = self.textCursor().position(), self.verticalScrollBar().value()
        self._known = text
        self.setPlainText(text)
        cursor = self.textCursor()
        cursor.setPosition(min(at, len(text)))
        self.setTextCursor(cursor)
        self.verticalScrollBar().setValue(scrolled)
        self._mark()
        self.show_definition(self._wanted)

    def show_definition(self, name: str) -> None:
        """Scroll to the line that says what a name is, now or as soon as there is one."""
        self._wanted = name
        if not name:
            return
        defines = re.compile(rf"\s*(?:\w+\s+)?{re.escape(name)}\s*=")
        block = self.document().begin()
        while block.isValid() and not defines.match(block.text()):
            block = block.next()
        if block.isValid():
            self._wanted = ""
            cursor = self.textCursor()
            cursor.setPosition(block.position() + block.length() - 1)
            self.setTextCursor(cursor)
            self.centerCursor()

    def set_faults(self, faults: Mapping[int, str]) -> None:
        """Underline lines, each with the sentence that says what is wrong."""
        self._faults = dict(faults)
        self._mark()

    def set_marks(self, marks: Mapping[int, str]) -> None:
        """What stands beside the numbers of lines, such as "‹" where the sweep has passed."""
        if dict(marks) != self._marks:
            self._marks = dict(marks)
            self._numbers.update()

    def set_lit(self, line: int) -> None:
        """Light a line; 0 for none."""
        if line != self._lit:
            self._lit = line
            self._mark()

    def hand_over(self) -> None:
        """Have what has been typed read now, where that waits for another key."""
        if self._soon.isActive():
            self._soon.stop()
            self._hand_over()

    @property
    def faults(self) -> dict[int, str]:
        """The lines that are underlined, and what is said of them."""
        return dict(self._faults)

    @property
    def lit(self) -> int:
        """The line that is lit."""
        return self._lit

    def adopt_theme(self) -> None:
        """Take over colours and type."""
        theme = current_theme()
        give_font(self, theme.token_font(SIZE))
        self._colors.rehighlight()
        self._mark()
        self._make_room()

    def mark_of(self, line: int) -> str:
        """The mark beside a line."""
        return "●" if line in self._faults else self._marks.get(line, "")

    @property
    def number_width(self) -> int:
        """The room for numbers and marks, in pixels."""
        return round(self.fontMetrics().horizontalAdvance("000‹") + 12 * current_theme().scale)

    def _make_room(self) -> None:
        self.setViewportMargins(self.number_width, 0, 0, 0)
        area = self.contentsRect()
        self._numbers.setGeometry(area.left(), area.top(), self.number_width, area.height())

    def _notice(self) -> None:
        if self.toPlainText() != self._known:  # colours change it as well
            self._known = self.toPlainText()
            self._soon.start()

    def _hand_over(self) -> None:
        self._shared = self.toPlainText()
        self.text_written.emit(self._shared)

    def _mark(self) -> None:
        theme, found = current_theme(), []
        for line in self._faults:
            found.append(self._selection(line, under=theme.warning))
        if self._lit:
            found.append(self._selection(self._lit, behind=theme.accent_wash))
        self.setExtraSelections(found)
        self._numbers.update()

    def _selection(
        self, line: int, behind: QColor | None = None, under: QColor | None = None
    ) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        look = QTextCharFormat()
        cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        if behind is not None:
            look.setBackground(behind)
            look.setProperty(QTextCharFormat.Property.FullWidthSelection, True)
        if under is not None:
            look.setUnderlineColor(under)
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
        selection.cursor, selection.format = cursor, look
        return selection

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        line = self.cursorForPosition(event.position().toPoint()).blockNumber() + 1
        self.line_hovered.emit(line)
        self.setToolTip(paragraph(self._faults.get(line, "")))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.line_hovered.emit(0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._make_room()

    def draw_numbers(self, painter: Painter) -> None:
        """The numbers of the lines in sight, and their marks."""
        theme, block = current_theme(), self.firstVisibleBlock()
        painter.setFont(theme.token_font(SIZE - 1.5))
        width, mark_width = self._numbers.width(), self.fontMetrics().horizontalAdvance("‹ ")
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if place.top() > self.height():
                break
            line = block.blockNumber() + 1
            height = place.height() / max(1, block.lineCount())  # of the first row of a wrapped line
            row = QRectF(0, place.top(), width - mark_width - 6, height)
            painter.write(row, str(line), theme.faint_text, where=AT_RIGHT)
            ink = theme.warning if line in self._faults else theme.key
            painter.write(row.adjusted(0, 0, mark_width, 0), self.mark_of(line), ink, where=AT_RIGHT)
            block = block.next()


class _LineNumbers(Painted, QWidget):
    """The column on the left of the text."""

    def __init__(self, editor: NetworkEditor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.number_width, 0)

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        self._editor.draw_numbers(painter)


class _Colors(QSyntaxHighlighter):
    """Words of the language in the accent, comments muted."""

    def __init__(self, document: QTextDocument, words: Sequence[str]) -> None:
        super().__init__(document)
        self._words = re.compile(rf"\b(?:{'|'.join(map(re.escape, words)) or '(?!)'})(?=\()")
        self._keywords = re.compile(r"^\s*(?:input|parameter|for)\b|\bin\b(?=\s*\d)")

    def highlightBlock(self, text: str) -> None:
        theme = current_theme()
        for pattern, color in ((self._words, theme.accent), (self._keywords, theme.key)):
            for found in pattern.finditer(text):
                self._color(found.start(), found.end(), color)
        comment = text.find("#")
        if comment >= 0:
            self._color(comment, len(text), theme.muted_text)

    def _color(self, first: int, last: int, color: QColor) -> None:
        look = QTextCharFormat()
        look.setForeground(color)
        self.setFormat(first, last - first, look)
