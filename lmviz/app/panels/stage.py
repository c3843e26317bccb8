"""The stepper: one stage of the computation with its equation, what it reads and what it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.card import Card
from lmviz.app.widgets.equation import EquationView
from lmviz.app.widgets.figures import number
from lmviz.app.widgets.scrolling import scrolling
from lmviz.app.widgets.stage_timeline import StageTimeline
from lmviz.app.widgets.strips import Strip, StripList
from lmviz.inspection.names import coordinate, title_of
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.session import Session
    from lmviz.inspection.trace import Trace
    from lmviz.inspection.views import View

LAYING_OUT = 40  # milliseconds within which everything has its new height


class StagePanel(Panel):
    """Arrow keys, the timeline or play walk the stages; a cell of a strip is explained on hover."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("stage_view")
        self._timeline = StageTimeline()
        self._equation = EquationView()
        self._strips = StripList()
        self._area = scrolling(self._sheet())
        self._views: list[View] = []
        self._titles: tuple[str, ...] = ()
        self._result = -1
        self._follow_result = QTimer(self, singleShot=True, interval=LAYING_OUT)
        self._follow_result.timeout.connect(self._show_result)
        self._previous = self._step_button("stage_previous", "←", -1)
        self._next = self._step_button("stage_next", "→", 1)
        self._card = Card("Stages", "", self._lay_out())
        self.column.addWidget(self._card)
        self._timeline.stage_chosen.connect(session.choose_stage)
        self._strips.cell_hovered.connect(lambda *cell: session.hover_cell(self._address_of(cell)))
        self._strips.cell_clicked.connect(lambda *cell: session.choose_cell(self._address_of(cell)))
        self._strips.set_readout(self._read_out)
        for changed in (session.cell_changed, session.hovered_cell_changed):
            changed.connect(self._mark)
        session.cell_changed.connect(self._ask_for_numbers)
        session.arithmetic_changed.connect(self._light)
        self.follow(
            session.reading_changed,
            session.position_changed,
            session.hovered_position_changed,
            session.stage_changed,
            session.head_changed,
        )

    @property
    def views(self) -> list[View]:
        """What the strips show, one view each."""
        return self._views

    @property
    def strips(self) -> StripList:
        """The strips themselves."""
        return self._strips

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {f"{n:02d} {view.address}": view.values[0] for n, view in enumerate(self._views)}

    def toggle_play(self) -> None:
        """Walk on by itself, or stop."""
        if self._timeline.playing:
            self._timeline.pause()
        else:
            self._timeline.play()

    def refresh(self) -> None:
        reading = self.session.reading
        if reading is None:
            self._card.set_title("Stages")
            self._card.set_aside("Open a model and type a prefix")
            self._timeline.set_stages([])
            self._equation.set_equation("")
            self._views, self._result = [], -1
            self._strips.set_strips([])
            return
        trace, number_of_stage = reading.trace, self.session.stage
        stage = trace.stages[number_of_stage]
        titles = tuple(item.title for item in trace.stages)
        if titles != self._titles:
            self._titles = titles
            self._timeline.set_stages(titles, [item.place for item in trace.stages])
        self._timeline.set_stage(number_of_stage)
        self._card.set_title(f"Stage {number_of_stage + 1} of {len(titles)} · {stage.title}")
        self._card.set_aside(self._where(trace, stage.place))
        self._equation.set_equation(stage.equation)
        self._draw_strips(trace)
        self._ask_for_numbers()

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
        button.clicked.connect(lambda: self.session.choose_stage(self.session.stage + step))
        return button

    def _where(self, trace: Trace, place: str) -> str:
        position = self.session.reading_position
        parts = [
            title_of(place).split(",")[0],
            coordinate("position", position, [visible(t) for t in trace.tokens]),
        ]
        if place.endswith("/attention"):
            parts.insert(1, coordinate("head", self.session.head[1]))
        return " · ".join(parts)

    def _draw_strips(self, trace: Trace) -> None:
        from lmviz.inspection.views import likeliest_tokens, stage_parts, strip

        position = self.session.reading_position
        tokens = likeliest_tokens(trace, position)
        parts = stage_parts(trace, self.session.stage, position)
        head = self.session.head[1]
        self._views = [strip(trace, part.address, part.position, head, tokens) for part in parts]
        self._strips.set_strips(
            [
                Strip(
                    _label(part.address, part.is_previous),
                    view.values[0],
                    view.scale,
                    role=part.role,
                    texts=self._texts(view),
                )
                for part, view in zip(parts, self._views, strict=True)
            ]
        )
        self._mark()
        results = [number_of_strip for number_of_strip, part in enumerate(parts) if part.role == "result"]
        self._result = results[0] if results else -1
        self._follow_result.start()

    def _show_result(self) -> None:
        """Bring what the stage makes into sight."""
        if 0 <= self._result < len(self._views):
            place = self._strips.pos().y() + self._strips.cell_rectangle(self._result, 0).center().y()
            self._area.ensureVisible(0, round(place), 0, round(self._strips.length(16)))

    def _texts(self, view: View) -> tuple[str, ...]:
        """The words of a strip of token ids, such as a matched context."""
        if view.scale != "token":
            return ()
        tokenizer = self.session.reading.model.tokenizer
        return tuple(visible(tokenizer.token(int(i))) if i >= 0 else "–" for i in view.values[0])

    def _address_of(self, cell: tuple[int, int]) -> tuple[str, tuple[int, ...]] | None:
        if cell[0] < 0:
            return None
        view = self._views[cell[0]]
        return view.address, view.index(0, cell[1])

    def _mark(self) -> None:
        """Outline the pinned cell, and the cells at its place in the other strips of equal length."""
        cell = self.session.cell
        marks = []
        for number_of_strip, view in enumerate(self._views) if cell is not None else ():
            place = view.cell(cell[1]) if view.address == cell[0] else None
            if place is not None:
                marks.insert(0, (number_of_strip, place[1]))
        if marks:
            length, place = len(self._strips.strips[marks[0][0]].values), marks[0][1]
            others = range(len(self._views))
            marks += [
                (n, place)
                for n in others
                if n != marks[0][0] and len(self._strips.strips[n].values) == length
            ]
        self._strips.set_marks(marks)
        self._light()

    def _light(self) -> None:
        """Let what has no part in the explained cell step back."""
        if self.is_in_sight:
            self._strips.set_lights([self.session.lights(view) for view in self._views])

    def _read_out(self, strip: int, cell: int) -> tuple[str, list[str]]:
        view = self._views[strip]
        value = float(view.values[0, cell])
        trace = self.session.reading.trace
        names = [visible(token) for token in trace.tokens]
        index = view.index(0, cell)
        words = []
        for axis, place in zip(view.axes, index, strict=True):
            if axis == "token":
                words.append(f"“{visible(self.session.model.tokenizer.token(place))}”")
            elif axis == "order" and value >= 0:
                words.append(f"“{visible(self.session.model.tokenizer.token(int(value)))}”")
            else:
                words.append(coordinate(axis, place, names))
        return f"{number(value)}", [title_of(view.address), ", ".join(words)]

    def _ask_for_numbers(self) -> None:
        """The equation of the pinned cell, with its numbers."""
        reading, cell = self.session.reading, self.session.cell
        if reading is None or cell is None:
            self._equation.set_numbers("")
            return

        def work(model: object) -> str:
            from lmviz.inspection.equations import one_line
            from lmviz.inspection.explain import explain

            return one_line(explain(model, reading.trace, *cell))

        self.session.ask_of((reading.model, reading.step), "numbers", work, self._take_numbers)

    def _take_numbers(self, numbers: str) -> None:
        self._equation.set_numbers(numbers)
        self._follow_result.start()


def _label(address: str, is_previous: bool) -> str:
    words = address.rsplit("/", 1)[-1].replace("_", " ")
    return f"{words}, before" if is_previous else words
