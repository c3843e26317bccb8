"""How a file would be read, before it is: in a sentence, in its rows, and which of its columns is what."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from lmviz.app.look.roles import TEXT_SIZE
from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, empty, named, picker, row, sheet
from lmviz.app.widgets.base.canvas import Canvas, metrics
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import count, percentage
from lmviz.app.widgets.base.flow import FlowLayout, labelled
from lmviz.app.widgets.base.plain import InkedLabel, Label, caption, paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.kit.painter import Painter, cut
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.base.plain_text import on_one_line
from lmviz.looks.ink import Inked
from lmviz.tasks import find_task
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.document_marks import NONE
from lmviz.text.encodings import AS_WINDOWS, DROPPED, RECOGNISED, SHOWN, title_of
from lmviz.text.layout import BOTH

if TYPE_CHECKING:
    from lmviz.text.preview import EncodedRow, Preview, PreviewRow

NOTHING = "If something about a file has to be guessed, it is shown here before it is read."
UNUSED = "unused"
MOST_COLUMNS = 24
MOST_LABELS = 6
NARROW = 84  # pixels of a column that has little to say
SEPARATORS = {"comma": "comma", "semicolon": "semicolon", "tab": "tab", "bar": "bar  |"}
SEVERAL_LABELS = {"first": "only the first", "single": "only texts with one", "set": "each set a class"}
WRONG = {SHOWN: "shown as \ufffd", DROPPED: "leave such bytes out", AS_WINDOWS: "read as Windows-1252"}
QUOTES = {"double": '"', "single": "'", "none": "none"}


INKS = {
    "text": "query",
    "word": "query",
    "source": "query",
    "picture": "query",
    "sentence": "key",
    "label": "accent",
    "tag": "accent",
    "target": "key",
    "caption": "key",
}
"""The colours of the roles of columns: what is read, and what is answered."""


class PreviewPanel(Panel):
    """A file that is offered: what it is taken for, corrected where one sees it, and what reads it."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("table_preview")
        self._sentence = InkedLabel(name="preview_sentence", wraps=True)
        self._read = named(QPushButton("Read it"), "read_offer_button", role="primary")
        self._read.clicked.connect(lambda: session.text.read_offer())
        self._leave = named(QPushButton("Cancel"), "leave_offer_button")
        self._leave.clicked.connect(session.text.leave_offer)
        self._task = self._picker("preview_task", "task", "What a model is asked about it")
        self._encoding = self._picker("preview_encoding", "encoding", "How the file writes its characters")
        self._separator = self._picker("preview_separator", "separator", "What separates two columns")
        self._quotes = self._picker("preview_quotes", "quotes", "What encloses a cell with a separator")
        self._several = self._picker(
            "preview_several", "several", "What becomes of a text with several labels"
        )
        self._heading = named(QCheckBox("first row is a heading"), "preview_heading")
        self._heading.clicked.connect(lambda on: self._change(heading="yes" if on else "no"))
        self._marks = named(QCheckBox(), "preview_marks")
        self._marks.clicked.connect(lambda on: self._change_reading(boundary=RECOGNISED if on else NONE))
        self._boundary = named(QLineEdit(), "preview_boundary", "a line that ends a document")
        self._boundary.setPlaceholderText("a line of your own")
        self._boundary.editingFinished.connect(self._choose_boundary)
        self._settings = {
            "task": labelled("task", self._task),
            "encoding": labelled("encoding", self._encoding),
            "separator": labelled("between columns", self._separator),
            "quotes": labelled("quotes", self._quotes),
            "heading": self._heading,
            "several": labelled("several labels", self._several),
            "marks": self._marks,
            "boundary": labelled("ends a document", self._boundary),
        }
        self._rows = QWidget()
        self._grid = QGridLayout(self._rows)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(6)
        self._bars = named(BarsView(), description="labels")
        self._always = Label(wraps=True)
        self._left_out = Label(name="preview_left_out", wraps=True)
        self._encodings = QWidget()
        self._encoding_row = FlowLayout(self._encodings)
        self._left_out.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._form_card = Card("How it is read", "", self._lay_out_form())
        self._rows_card = Card("Its rows", "choose above a column what it is", scrolling(self._rows))
        self._labels_card = Card("Labels", "", self._bars)
        self._labels_card.layout_below.addWidget(self._always)
        self._joined = named(QCheckBox("join it to the text"), "preview_joined")
        self._joined.clicked.connect(lambda on: self._change_reading(joined=on))
        self._repeated = Label(name="preview_repeated", wraps=True)
        self._unrepeated = named(QCheckBox("keep the first of each"), "preview_unrepeated")
        self._unrepeated.clicked.connect(lambda on: self._change_reading(unrepeated=on))
        self._wrong = picker("preview_wrong_bytes", "what becomes of bytes that are no UTF-8")
        self._wrong.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_choices(self._wrong, WRONG, SHOWN)
        self._wrong.activated.connect(lambda _: self._change_reading(wrong_bytes=self._wrong.currentData()))
        choices = (row(self._wrong, STRETCH), self._joined, self._repeated, self._unrepeated)
        left = column(self._left_out, *choices, STRETCH, gap=8)
        self._left_card = Card("Left out", "", scrolling(sheet(left)))
        self._encodings_card = Card("In other encodings", "", self._encodings)
        beside = column(self._labels_card, (self._left_card, 1))
        self.column.addWidget(self._form_card)
        self.column.addWidget(sheet(row((self._rows_card, 7), (beside, 3))), 1)
        self.column.addWidget(self._encodings_card)
        session.text.offer_changed.connect(self.need_changed)
        self.show_failures(session.text)
        self.follow(session.text.offer_changed)

    @property
    def is_needed(self) -> bool:
        return self.session.text.offer is not None

    def refresh(self) -> None:
        offer = self.session.text.offer
        self._form_card.set_placeholder("" if offer else NOTHING)
        self._left_card.set_aside("")
        for card in (self._rows_card, self._labels_card, self._left_card, self._encodings_card):
            card.setVisible(offer is not None)
        if offer is None:
            return
        self._form_card.set_title(on_one_line(offer.name))
        self._form_card.complain(offer.complaint)
        self._read.setEnabled(not offer.complaint and (offer.layout is None or bool(offer.layout.roles)))
        self._sentence.set_pieces(
            [Inked(text, bool(role), INKS.get(role)) for text, role in offer.sentence], 16
        )
        self._show_settings(offer)
        self._show_rows(offer)
        self._show_labels(offer)
        self._show_encodings(offer)
        self._left_out.setText("\n\n".join(offer.left_out) or "Nothing: all of it is read.")
        if offer.layout is not None:
            self._left_card.set_aside(f"of {count(offer.count)}")
        self._show_choices(offer)

    def _picker(self, name: str, label: str, help: str) -> QComboBox:
        made = picker(name, label)
        made.setToolTip(paragraph(f"{help}."))
        made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        made.activated.connect(lambda _: self._change(**{label: made.currentData()}))
        return made

    def _lay_out_form(self) -> QWidget:
        settings = FlowLayout()
        for control in self._settings.values():
            settings.addWidget(control)
        return sheet(column(row((self._sentence, 1), self._leave, self._read), sheet(settings)))

    def _change(self, **settings: str) -> None:
        """Look at the file again with another setting."""
        offer = self.session.text.offer
        if offer is None:
            return
        if "several" in settings:
            self._look(replace(offer.options, several=settings["several"]))
            return
        if "task" in settings:
            self.session.text.consider(*offer.with_task(settings["task"]))
            return
        form = {} if offer.layout is None or "encoding" in settings else {"form": offer.layout.form}
        from lmviz.text.preview import changed_file  # much of the package, of which the first look needs none

        self._look(changed_file(offer.options, **{**form, **settings}))

    def _look(self, options: CorpusOptions) -> None:
        """Look at the same file with other options."""
        offer = self.session.text.offer
        if offer is not None:
            self.session.text.consider(offer.source, options, offer.target)

    def _choose_boundary(self) -> None:
        """Another line, or none of one's own, ends a document."""
        offer = self.session.text.offer
        chosen = self._boundary.text().strip()
        if offer is not None and chosen != _own_boundary(offer):
            self._change_reading(boundary=chosen or RECOGNISED)

    def _change_reading(self, **settings: bool | str) -> None:
        """Look at the file again, read alike but for what is done with some of its rows."""
        offer = self.session.text.offer
        if offer is not None:
            options = CorpusOptions.from_values(offer.options.to_values() | settings)
            self._look(options)

    def _show_choices(self, offer: Preview) -> None:
        """What goes on in further columns and what repeats: both are a person's choice."""
        last = list(offer.layout.roles)[-1] if offer.layout is not None and offer.layout.roles else "text"
        self._joined.setText(f"join it to the {last}")
        self._joined.setVisible(bool(offer.beyond))
        self._joined.setChecked(offer.options.joined)
        repeated = offer.repeated
        for part in (self._repeated, self._unrepeated):
            part.setVisible(repeated is not None)
        self._unrepeated.setEnabled(bool(repeated))
        self._unrepeated.setChecked(offer.options.unrepeated)
        if repeated is not None:
            said = "1 row repeats" if repeated == 1 else f"{count(repeated)} rows repeat"
            example = f": {offer.repetition}" if offer.repetition else ""
            self._repeated.setText(f"{said} an earlier one{example}.")
        self._wrong.setVisible(bool(offer.wrong))
        set_choices(self._wrong, WRONG, offer.options.wrong_bytes)

    def _choose_column(self, place: int, picker: QComboBox, _: int) -> None:
        """Another use of a column."""
        offer = self.session.text.offer
        if offer is not None:
            self._look(offer.with_role(place, picker.currentData()))

    def _choose_encoding(self, row: EncodedRow) -> None:
        self._change(encoding=row.encoding)

    def _show_settings(self, offer: Preview) -> None:
        layout = offer.layout
        told = offer.options.task if offer.options.task in offer.tasks else "next-token"
        task = layout.task if layout is not None else told
        tasks = {name: find_task(name).title.lower() for name in offer.tasks}
        set_choices(self._task, {"": "choose…", **tasks} if not task else tasks, task)
        from lmviz.text.preview import offered_encodings  # as above

        set_choices(self._encoding, offered_encodings(offer.options.encoding), offer.options.encoding)
        dialect = None if layout is None else layout.dialect
        if dialect is not None and layout is not None:
            set_choices(self._separator, SEPARATORS, dialect.separator)
            set_choices(self._quotes, QUOTES, dialect.quotes)
            self._heading.setChecked(layout.heading)
        set_choices(self._several, SEVERAL_LABELS, offer.options.several)
        self._settings["several"].setVisible(bool(offer.several))
        for name in ("separator", "quotes", "heading"):
            self._settings[name].setVisible(dialect is not None)
        is_divided = task == "next-token"
        ends = "ends" if len(offer.marks) == 1 else "end"
        self._marks.setText(f"{' and '.join(offer.marks)} {ends} a document")
        self._marks.setChecked(offer.options.boundary != NONE)
        self._settings["marks"].setVisible(is_divided and bool(offer.marks))
        self._boundary.setText(_own_boundary(offer))
        self._settings["boundary"].setVisible(is_divided and not offer.marks)

    def _show_rows(self, offer: Preview) -> None:
        empty(self._grid)
        for line in range(self._grid.rowCount()):  # a grid remembers the stretch of rows that it had
            self._grid.setRowStretch(line, 0)
        for place in range(self._grid.columnCount()):
            self._grid.setColumnStretch(place, 0)
        layout = offer.layout
        self._rows_card.setVisible(bool(layout is not None or offer.rows))
        self._rows_card.set_title("Its rows" if layout is not None else "Its first lines")
        self._rows_card.set_aside("choose above a column what it is" if layout is not None else "")
        if layout is None:
            self._show_lines(offer)
            return
        shown = min(len(layout.names), MOST_COLUMNS)
        roles = {place: offer.role_of(place) for place in sorted(layout.used)}
        for place in range(shown):
            self._grid.addWidget(self._head(offer, place, roles.get(place, "")), 0, place + 1)
            self._grid.setColumnStretch(place + 1, int(roles.get(place, "").removesuffix(BOTH) in _LONG))
        for line, shown_row in enumerate(offer.rows, start=1):
            self._show_row(offer, shown_row, line, shown, roles)
        self._grid.setRowStretch(len(offer.rows) + 1, 1)

    def _show_lines(self, offer: Preview) -> None:
        """The first lines of a plain text."""
        for line, shown_row in enumerate(offer.rows):
            self._show_row(offer, shown_row, line, 1, {0: "text"})
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(len(offer.rows), 1)

    def _show_row(
        self,
        offer: Preview,
        row: PreviewRow,
        line: int,
        shown: int,
        roles: dict[int, str],
    ) -> None:
        self._grid.addWidget(Label(count(row.number), role="muted"), line, 0)
        for place, cell in enumerate(row.cells[:shown]):
            if not cell.strip():
                continue
            is_odd = row.fault or (place not in roles and _is_nameless(offer, place))
            self._grid.addWidget(_Cell(cell, row.fault, is_odd=bool(is_odd)), line, place + 1)

    def _head(self, offer: Preview, place: int, role: str) -> QWidget:
        """The head of a column: its name, and what it is, to be chosen."""
        layout = offer.layout
        assert layout is not None, "a file with columns has a layout"
        name = InkedLabel()
        ink = INKS.get(role.removesuffix(BOTH))
        name.set_pieces([Inked(on_one_line(layout.names[place]) or "no name", bool(role), ink)])
        use = picker(f"column_{place + 1}_picker", f"what column {place + 1} is")
        use.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_choices(use, {**offer.roles, "": UNUSED}, role)
        use.activated.connect(partial(self._choose_column, place, use))
        head = QFrame()
        column(name, use, on=head, margins=(0, 0, 0, 4))
        head.setMinimumWidth(round(NARROW * current_theme().scale))
        return head

    def _show_labels(self, offer: Preview) -> None:
        self._labels_card.setVisible(bool(offer.labels))
        if not offer.labels:
            return
        total = sum(times for _, times in offer.labels)
        shown = offer.labels[:MOST_LABELS]
        kind = "tags" if offer.layout is not None and offer.layout.task == "tagging" else "labels"
        self._labels_card.set_title(f"{count(len(offer.labels))} {kind}")
        self._bars.set_bars(
            [on_one_line(name) for name, _ in shown],
            [times / total for _, times in shown],
            texts=[f"{count(times)} · {percentage(times / total)}" for _, times in shown],
        )
        name, most = offer.labels[0]
        self._always.setText(
            f"Always saying {on_one_line(name)} would be right in {percentage(most / total)}."
        )

    def _show_encodings(self, offer: Preview) -> None:
        empty(self._encoding_row)
        self._encodings_card.setVisible(bool(offer.encodings))
        if not offer.encodings:
            return
        self._encodings_card.set_title(f"Line {count(offer.telling)} in other encodings")
        for encoded in offer.encodings:
            said = "reads all" if encoded.stops is None else f"stops at line {count(encoded.stops)}"
            button = named(
                QPushButton(caption(f"{title_of(encoded.encoding)}: {said}") + f"\n{caption(encoded.text)}"),
                f"encoding_{encoded.encoding}_button",
            )
            button.setCheckable(True)
            button.setChecked(encoded.encoding == offer.options.encoding)
            button.setEnabled(encoded.stops is None)
            button.clicked.connect(partial(self._choose_encoding, encoded))
            self._encoding_row.addWidget(button)


def _own_boundary(offer: Preview) -> str:
    """The line of a person's own that ends a document, "" where there is none."""
    boundary = offer.options.boundary
    return "" if boundary in (RECOGNISED, NONE) or set(boundary.split()) <= set(offer.marks) else boundary


_LONG = ("text", "source", "target", "caption")


class _Cell(Canvas):
    """A cell on one line, cut where it has no room; all of it on hover."""

    def __init__(self, text: str, fault: str, *, is_odd: bool) -> None:
        super().__init__()
        self._text, self._is_odd = on_one_line(text), is_odd
        self.setToolTip(paragraph(text, f"This line {fault}." if fault else ""))
        self.setAccessibleName(self._text)

    def sizeHint(self) -> QSize:
        return QSize(round(self.length(NARROW)), round(self.length(20)))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paint(self, painter: Painter, event: QPaintEvent) -> None:
        painter.setFont(self.theme.font(TEXT_SIZE))
        painter.setPen(self.theme.warning if self._is_odd else self.theme.text)
        shown = cut(self._text, self.width(), metrics(TEXT_SIZE))
        painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignVCenter, shown)


def _is_nameless(offer: Preview, place: int) -> bool:
    layout = offer.layout
    return layout is not None and layout.heading and not layout.names[place]
