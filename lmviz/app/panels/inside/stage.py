"""One stage of the computation: its equation, its operands and its result."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.explained_strips import ExplainedStrips, NamedView
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.stage_timeline import StageTimeline
from lmviz.app.widgets.text.equation import EquationView
from lmviz.inspection.names import coordinate, title_of, word_of
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from lmviz.app.session.focus import Cell
    from lmviz.app.session.reading import Reading
    from lmviz.app.session.session import Session
    from lmviz.inspection.trace import Trace
    from lmviz.inspection.views import Part, View
    from lmviz.models.model import Model

LAYING_OUT = 40  # milliseconds within which everything has its new height
TITLE_SHARE = 0.72  # of the card's width
FROM = {-1: ", before", 1: ", after"}  # what another position of a recurrence has handed on


class StagePanel(Panel):
    """Arrow keys, the timeline or play walk the stages; a cell of a strip is explained on hover."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("stage_view")
        self._timeline = StageTimeline()
        self._equation = EquationView()
        self._strips = ExplainedStrips(session)
        self._area = scrolling(self._sheet())
        self._titles: tuple[str, ...] = ()
        self._drawn = -1
        self._result = -1
        self._follow_result = QTimer(self, singleShot=True, interval=LAYING_OUT)
        self._follow_result.timeout.connect(self._show_result)
        self._previous = self._step_button("stage_previous", "←", -1)
        self._next = self._step_button("stage_next", "→", 1)
        self._card = Card("Stages", "", self._lay_out())
        self.column.addWidget(self._card)
        self._timeline.stage_chosen.connect(session.focus.choose_stage)
        numbers = QShortcut(QKeySequence(Qt.Key.Key_N), self)  # wherever no text is typed
        numbers.activated.connect(lambda: self._equation.set_numbers_shown(not self._equation.numbers_shown))
        session.focus.cell_changed.connect(self._ask_for_numbers)
        self.follow(
            session.reading.changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.focus.stage_changed,
            session.attention.head_changed,
        )

    @property
    def views(self) -> tuple[View, ...]:
        """What the strips show, one view each."""
        return self._strips.views

    @property
    def strips(self) -> ExplainedStrips:
        """What the stage reads and makes."""
        return self._strips

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {name: view.values[0] for name, view in self._named_views().items()}

    def recipe(self) -> str:
        from lmviz.inspection.recipes.recipe import views_recipe

        reading = self.session.reading.current
        return views_recipe(reading.moment, self._named_views()) if reading is not None and self.views else ""

    def _named_views(self) -> dict[str, View]:
        return {f"{n:02d} {view.address}": view for n, view in enumerate(self.views)}

    def toggle_play(self) -> None:
        """Play the stages, or stop."""
        if self._timeline.playing:
            self._timeline.pause()
        else:
            self._timeline.play()

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None:
            self._card.set_title("Stages")
            self._card.set_aside("Open a model and type a prefix")
            self._timeline.set_stages([])
            self._equation.set_equation("")
            self._drawn = self._result = -1
            self._strips.set_views([])
            return
        trace, number_of_stage = reading.trace, self.session.focus.stage
        stage = trace.stages[number_of_stage]
        titles = tuple(item.title for item in trace.stages)
        if titles != self._titles:
            self._titles = titles
            self._timeline.set_stages(titles, [item.place for item in trace.stages])
        self._timeline.set_stage(number_of_stage)
        self._card.set_title(self._title(f"Stage {number_of_stage + 1} of {len(titles)}", stage.title))
        self._card.set_aside(self._where(trace, stage.place))
        self._equation.set_equation(stage.equation)
        self._draw_strips(reading)
        self._ask_for_numbers()

    def _title(self, number: str, name: str) -> str:
        """Number and name of the stage; a long name is only shown at the timeline."""
        whole = f"{number} · {name}"
        return whole if metrics(bold=True).horizontalAdvance(whole) <= TITLE_SHARE * self.width() else number

    def _lay_out(self) -> QWidget:
        row = QHBoxLayout()
        row.addWidget(self._timeline, 1)
        row.addWidget(self._previous)
        row.addWidget(self._next)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        column.addWidget(self._area, 1)
        return body

    def _sheet(self) -> QWidget:
        """The equation, and what it reads and makes."""
        sheet = QWidget()
        column = QVBoxLayout(sheet)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._equation)
        column.addWidget(self._strips)
        column.addStretch()
        return sheet

    def _step_button(self, name: str, text: str, step: int) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName("next stage" if step > 0 else "previous stage")
        button.setProperty("role", "link")
        button.clicked.connect(lambda: self.session.focus.choose_stage(self.session.focus.stage + step))
        return button

    def _where(self, trace: Trace, place: str) -> str:
        position = self.session.reading.position
        parts = [
            title_of(place).split(",")[0],
            coordinate("position", position, [visible(t) for t in trace.tokens]),
        ]
        if place.endswith("/attention"):
            parts.insert(1, coordinate("head", self.session.attention.head[1]))
        return " · ".join(parts)

    def _draw_strips(self, reading: Reading) -> None:
        from lmviz.inspection.views import likeliest_answers, stage_parts, strip

        trace = reading.trace
        position = self.session.reading.position
        tokens = likeliest_answers(trace, position)
        parts = stage_parts(trace, self.session.focus.stage, position)
        head = self.session.attention.head[1]
        names = _labels(parts, trace, trace.stages[self.session.focus.stage].results[0])
        walked = self._drawn not in (-1, self.session.focus.stage)
        self._drawn = self.session.focus.stage
        self._strips.set_views(
            [
                NamedView(
                    names[number_of_part],
                    strip(trace, part.address, part.position, head, tokens),
                    part.role,
                )
                for number_of_part, part in enumerate(parts)
            ],
            reading,
            crossfade=walked,
        )
        results = [number_of_strip for number_of_strip, part in enumerate(parts) if part.role == "result"]
        self._result = results[0] if results else -1
        self._follow_result.start()

    def _show_result(self) -> None:
        """Bring what the stage makes into sight."""
        if 0 <= self._result < len(self._strips.views):
            place = self._strips.pos().y() + self._strips.cell_rectangle(self._result, 0).center().y()
            self._area.ensureVisible(0, round(place), 0, round(self._strips.length(16)))

    def _cell_of_stage(self, reading: Reading) -> Cell | None:
        """The pinned cell, where this stage makes it; or the cell at the same place of what it makes."""
        cell = self.session.focus.cell
        if cell is None or not reading.has_cell(*cell):
            return None
        results, arrays = reading.trace.stages[self.session.focus.stage].results, reading.trace.arrays
        if cell[0] in results:
            return cell
        made, pinned = arrays[results[0]], arrays[cell[0]]
        alike = (made.axes, made.array.shape) == (pinned.axes, pinned.array.shape)
        return (results[0], cell[1]) if alike else None

    def _ask_for_numbers(self) -> None:
        """The equation with the numbers of the cell that this stage makes."""
        reading = self.session.reading.current
        cell = self._cell_of_stage(reading) if reading is not None else None
        if reading is None or cell is None:
            self.silence("numbers")
            self._equation.set_numbers("")
            return
        place = _short_place(reading, reading.trace[cell[0]].axes, cell[1])

        def work(model: Model) -> str:
            from lmviz.inspection.equations import one_line
            from lmviz.inspection.explain import explain

            return f"{place}:  {one_line(explain(model, reading.trace, *cell))}"

        self.ask_about(reading, "numbers", work, self._take_numbers)

    def handle_failure(self, key: str) -> None:
        self._equation.set_numbers("")

    def _take_numbers(self, numbers: str) -> None:
        self._equation.set_numbers(numbers)
        self._follow_result.start()


def _short_place(reading: Reading, axes: tuple[str, ...], index: tuple[int, ...]) -> str:
    """Which of a vector's cells it is, such as "unit 17"."""
    if axes[-1] == "token":
        return f"“{visible(reading.model.tokenizer.token(index[-1]))}”"
    return coordinate(axes[-1], index[-1], [visible(token) for token in reading.trace.tokens])


def _labels(parts: Sequence[Part], trace: Trace, result: str) -> list[str]:
    """A short name for each line; where two taps share it, that of another layer or order says which."""
    addresses = {part.address for part in parts}
    shared = Counter(address.rpartition("/")[2] for address in addresses)
    here = result.rpartition("/")[0]
    labels = []
    for part in parts:
        place, _, name = part.address.rpartition("/")
        elsewhere = shared[name] > 1 and place != here
        words = title_of(part.address).replace(",", "") if elsewhere else word_of(name)
        if part.is_one_of_several:
            words += f" “{visible(trace.tokens[part.position])}”"
        labels.append(words + FROM.get(part.shift, ""))
    return labels
