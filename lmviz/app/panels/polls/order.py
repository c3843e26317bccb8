"""The experiment of the position poll: its vectors, to be changed, and what attention makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QLineEdit,
    QWidget,
)

from lmviz.app.look.theme import current_theme, give_font, theme_switch
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, sheet, stack
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.order_picture import OrderLine, OrderPicture
from lmviz.base.errors import LmvizError
from lmviz.polls.order import OrderExperiment
from lmviz.polls.poll import written

LEAST_FIELD, GAP = 35, 4  # pixels at scale 1
SIZES = (13.0, 12.0, 11.0, 10.0)
"""The sizes of numbers: the first in which all of them are whole, else the last."""
LETTERS = 17  # for which Qt's hint of a field has room, besides its edge
NOTHING = "This poll has no vectors to change. Choose “Order” for one that has."
HIDDEN = "What the exchange does is shown with the answers."
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class OrderPanel(Panel):
    """Vectors and query as fields, mask and layers, and the weights before and after the exchange."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._first: dict[str, OrderExperiment] = {}
        self._grid = QGridLayout()
        self._grid.setSpacing(GAP)
        self._labels: list[Label] = []
        self._fields: list[list[QLineEdit]] = []
        self._mask = named(QCheckBox("causal mask"), "order_mask_box")
        self._layers = picker("order_layers_picker", "layers", ["one layer", "two layers"])
        self._reset = LinkButton("order_reset_button", "as written", "the numbers of the poll's file again")
        self._picture = named(OrderPicture(), "order_picture")
        self._verdict = Label(name="order_verdict", wraps=True)
        self._area = scrolling(self._lay_out())
        self._area.verticalScrollBar().rangeChanged.connect(lambda: self._show_end())
        self._body = stack(EmptyText(NOTHING), self._area)
        self._card = self.add_card("Two words change places", "keys and values are the vectors", self._body)
        if session.polls.current.experiment is not None:
            self._fill(session.polls.current.experiment)  # so that the perspective knows how wide they are
        for control in (self._mask, self._layers, self._reset):
            control.setFocusPolicy(
                Qt.FocusPolicy.TabFocus
            )  # space is for the answers, not for the last click
        self._mask.toggled.connect(lambda on: self._change(causal=on))
        self._layers.activated.connect(lambda at: self._change(layers=at + 1))
        self._reset.clicked.connect(self._restore)
        theme_switch().theme_changed.connect(self._adopt_theme)
        session.polls.changed.connect(lambda: self.complain("", "order"))
        session.polls.changed.connect(self.need_changed)
        self.follow(session.polls.changed, session.polls.shown)

    @property
    def is_needed(self) -> bool:
        """Whether the poll has vectors: else the poll has the room of both."""
        return self.session.polls.current.experiment is not None

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """What the last word has before and after the exchange (channel,), and its weights (layer, key)."""
        experiment = self.session.polls.current.experiment
        if experiment is None:
            return {}
        before, after = experiment.before, experiment.after
        return {
            "before": before.last,
            "after": after.last,
            "weights_before": before.weights[:, -1],
            "weights_after": after.weights[:, -1],
        }

    def recipe(self) -> str:
        """The same experiment from Python."""
        experiment = self.session.polls.current.experiment
        if experiment is None:
            return ""
        return (
            "import numpy as np\nfrom lmviz.polls.order import OrderExperiment\n\n"
            f"vectors = np.array({experiment.vectors.tolist()})\n"
            f"query = np.array({experiment.query.tolist()})\n"
            f"experiment = OrderExperiment(vectors, query, {experiment.swapped}, {experiment.causal}, "
            f"{experiment.layers})\nbefore, after = experiment.before.last, experiment.after.last\n"
        )

    def refresh(self) -> None:
        polls = self.session.polls
        experiment = polls.current.experiment
        self._body.setCurrentIndex(0 if experiment is None else 1)
        if experiment is None:
            return
        self._first.setdefault(polls.current.title, experiment)
        self._fill(experiment)
        with QSignalBlocker(self._mask):
            self._mask.setChecked(experiment.causal)
        self._layers.setCurrentIndex(experiment.layers - 1)
        self._reset.setEnabled(experiment is not self._first[polls.current.title])
        names = [f"x{number}".translate(SUBSCRIPTS) for number in range(1, len(experiment.vectors) + 1)]
        lines = [_line("before", names, experiment, after=False)]
        if polls.is_shown:
            lines.append(_line("after", names, experiment, after=True))
        self._picture.set_lines(lines)
        self._show_end()
        self._verdict.setText(_verdict(experiment, names[-1]) if polls.is_shown else HIDDEN)

    def _show_end(self) -> None:
        """Once it is shown what the exchange does, go there where it does not fit below the numbers."""
        bar = self._area.verticalScrollBar()
        bar.setValue(bar.maximum() if self.session.polls.is_shown else 0)

    def _lay_out(self) -> QWidget:
        controls = FlowLayout()
        for control in (self._mask, self._layers, self._reset):
            controls.addWidget(control)
        return sheet(column(self._grid, controls, self._verdict, (self._picture, 1)))

    def _fill(self, experiment: OrderExperiment) -> None:
        """Fields for the vectors, and below them for the query."""
        rows = np.vstack([experiment.vectors, experiment.query])
        if (len(self._fields), len(self._fields[0]) if self._fields else 0) != rows.shape:
            self._build(*rows.shape)
        for place, (fields, numbers) in enumerate(zip(self._fields, rows.tolist(), strict=True)):
            is_query = place == len(rows) - 1
            name = f"q{place}" if is_query else f"x{place + 1}"
            self._labels[place].setText(name.translate(SUBSCRIPTS))
            for field, value in zip(fields, numbers, strict=True):
                if not field.hasFocus() or not field.isModified():
                    field.setText(f"{value:g}".replace("-", "−"))
                    field.setCursorPosition(0)  # where it is cut, its beginning counts
        self._adopt_theme()

    def _build(self, rows: int, columns: int) -> None:
        for widget in (*self._labels, *(field for line in self._fields for field in line)):
            self._grid.removeWidget(widget)
            widget.deleteLater()
        self._labels = [Label() for _ in range(rows)]
        self._fields = [[self._field(row, column) for column in range(columns)] for row in range(rows)]
        for row, (label, fields) in enumerate(zip(self._labels, self._fields, strict=True)):
            self._grid.addWidget(label, row, 0)
            for at, field in enumerate(fields, start=1):
                self._grid.addWidget(field, row, at)

    def _field(self, row: int, column: int) -> QLineEdit:
        field = named(QLineEdit(), f"order_field_{row}_{column}", f"row {row + 1}, channel {column + 1}")
        field.setAlignment(Qt.AlignmentFlag.AlignRight)
        field.editingFinished.connect(lambda: self._write(row, column, field))
        field.returnPressed.connect(field.clearFocus)  # the next letter is an answer of the room
        return field

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._adopt_theme()

    def _adopt_theme(self) -> None:
        """Have every number stand whole in its field, in smaller type where it has to be."""
        room = self._area.viewport().width()
        for size in SIZES:
            columns = [self._width_of(column, size) for column in zip(*self._fields, strict=True)]
            labels = max((label.sizeHint().width() for label in self._labels), default=0)
            if sum(columns) + labels + GAP * len(columns) <= room:
                break
        self._area.updateGeometry()  # which its fields do not ask for

    def _width_of(self, column: Sequence[QLineEdit], size: float) -> int:
        """How wide the fields of a column are whose numbers are written in this size."""
        widest = round(LEAST_FIELD * current_theme().scale)
        for field in column:
            field.ensurePolished()  # else its edge is not known yet
            give_font(field, current_theme().token_font(size))
            measure = field.fontMetrics()
            around = field.sizeHint().width() - LETTERS * measure.horizontalAdvance("x")
            widest = max(widest, measure.horizontalAdvance(field.text()) + around)
        for field in column:
            field.setMinimumWidth(widest)
        return widest

    def _write(self, row: int, column: int, field: QLineEdit) -> None:
        experiment = self.session.polls.current.experiment
        if experiment is None or not field.isModified():
            return
        field.setModified(False)
        numbers = np.vstack([experiment.vectors, experiment.query])
        try:
            numbers[row, column] = float(field.text().replace("−", "-").replace(",", "."))
        except ValueError:
            self.complain(f"“{field.text()}” is not a number: write one such as −0.5.", "order")
            self.refresh_soon()
            return
        self._change(vectors=numbers[:-1], query=numbers[-1])

    def _change(self, **numbers: object) -> None:
        experiment = self.session.polls.current.experiment
        if experiment is None:
            return
        try:
            changed = replace(experiment, **numbers)  # type: ignore[arg-type]  # fields of it, by their names
        except LmvizError as error:
            self.complain(str(error), "order")
            self.refresh_soon()
            return
        self.session.polls.set_experiment(changed)

    def _restore(self) -> None:
        first = self._first.get(self.session.polls.current.title)
        if first is not None:
            self.session.polls.set_experiment(first)


def _line(title: str, names: list[str], experiment: OrderExperiment, *, after: bool) -> OrderLine:
    attended = experiment.after if after else experiment.before
    order = experiment.order if after else np.arange(len(names))
    moved = experiment.swapped
    return OrderLine(
        title, [names[at] for at in order], attended.weights[:, -1], written(attended.last), moved
    )


def _verdict(experiment: OrderExperiment, last: str) -> str:
    """What the exchange did, in a sentence."""
    changed = f"{last[:1]}′{last[1:]}"
    if experiment.is_unchanged:
        return f"{changed} is the same: keys and values move together with their words."
    return f"{changed} is different: under the mask, the first layer gave the words different states."
