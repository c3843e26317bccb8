"""One stage of the computation: a sentence, its equation, its operation in numbers, operands and result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QBoxLayout, QPushButton, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.explained_strips import ExplainedStrips, NamedView
from lmviz.app.panels.shared.offered_numbers import number_in_words
from lmviz.app.panels.shared.operands import follow_operand, hover_operand, name_of_operand
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.focus import Cell
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, row, sheet
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.growing_canvas import growth_of
from lmviz.app.widgets.base.plain import InkedLabel, paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.stage_timeline import StageTimeline
from lmviz.app.widgets.matrix.operation_view import OperationView
from lmviz.app.widgets.text.equation import EquationView
from lmviz.inspection.at_position import place_along
from lmviz.inspection.backward_sentence import backward_sentence
from lmviz.inspection.equations import one_line
from lmviz.inspection.names import coordinate, title_of, word_of
from lmviz.inspection.operation_picture import OperationPicture, operation_picture
from lmviz.inspection.recipes.recipe import views_recipe
from lmviz.inspection.stage_sentence import Piece, stage_sentence
from lmviz.inspection.strongest import strongest_cell
from lmviz.inspection.trace import Trace
from lmviz.inspection.views import StagePart, View, likeliest_answers, stage_parts, strip
from lmviz.looks.ink import Inked
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

NUMBERS = Key("numbers")

AT_MOST = 60  # milliseconds that the drawing of a stage waits for the numbers of a cell
TITLE_SHARE = 0.6  # of the card's width
WIDE = 480  # pixels at scale 1 from which on the operation stands beside the equation
USUAL_SIZE = (560, 330)  # pixels at scale 1 of the panel; in a larger one everything is drawn larger
FROM = {-1: ", before", 1: ", after"}  # what another position of a recurrence has handed on


class StagePanel(Panel):
    """Arrow keys, the timeline or play walk the stages; a cell of a strip is explained on hover.

    The operation is drawn for the pinned cell, or where the stage makes none such, for its strongest. While
    gradients are shown the strips are theirs, and playing walks back from the last stage.
    """

    can_play = True
    draws = ("reading", "gradients")

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._timeline = StageTimeline()
        self._sentence = named(InkedLabel(), "stage_sentence")
        self._sentence.setWordWrap(True)
        self._equation = EquationView()
        self.operation = OperationView()  # the operation that makes the chosen cell
        self._upper = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self.strips = ExplainedStrips(session)  # what the stage reads and makes
        leave_arrow_keys(self, self.strips)
        self._area = scrolling(self._sheet())
        self._titles: tuple[str, ...] = ()
        self._reading: Reading | None = None  # which is drawn
        self._without_numbers = QTimer(self, singleShot=True, interval=AT_MOST)
        self._without_numbers.timeout.connect(self._draw_without_numbers)
        self._drawn = -1
        self._walked: Cell | None = None  # the cell whose operation was run through last
        self._previous = self._step_button("stage_previous", "←", -1)
        self._next = self._step_button("stage_next", "→", 1)
        self._card = self.add_card("Stages", "", self._lay_out())
        self._timeline.stage_chosen.connect(session.focus.choose_stage)
        numbers = QShortcut(QKeySequence(Qt.Key.Key_N), self)  # wherever no text is typed
        numbers.activated.connect(lambda: self._equation.set_numbers_shown(not self._equation.numbers_shown))
        session.focus.cell_changed.connect(self._follow_cell)
        self.operation.set_naming(lambda source, index: name_of_operand(self._reading, source, index))
        self.operation.operand_hovered.connect(lambda *cell: hover_operand(session, *cell))
        self.operation.left.connect(lambda: session.focus.hover_cell(None))
        self.operation.operand_clicked.connect(lambda *cell: follow_operand(session, *cell))
        self.follow(
            session.reading.changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.focus.source_changed,
            session.focus.stage_changed,
            session.attention.head_changed,
            session.gradients.changed,
            session.gradients.shown_changed,
        )

    @property
    def views(self) -> tuple[View, ...]:
        """What the strips show, one view each."""
        return self.strips.views

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {name: view.values[0] for name, view in self._named_views().items()}

    def recipe(self) -> str:
        reading = self.session.reading.current
        if reading is None or not self.views or self.session.gradients.current is not None:
            return ""
        return views_recipe(reading.moment, self._named_views())

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
            self._show_sentence(())
            self._equation.set_equation("")
            self._drawn, self._reading = -1, None
            self.strips.set_views([])
            self.silence(NUMBERS)
            self._show_numbers("", None)
            return
        self._ask(reading)

    def _draw(self, reading: Reading) -> None:
        """All but the numbers of a cell, of what is looked at now."""
        self._reading = reading
        trace, number_of_stage = reading.trace, self.session.focus.stage
        stage = trace.stages[number_of_stage]
        titles = tuple(item.title for item in trace.stages)
        if titles != self._titles:
            self._titles = titles
            self._timeline.set_stages(titles, [item.place for item in trace.stages])
        self._timeline.set_stage(number_of_stage)
        self._timeline.set_backward(self.session.gradients.is_shown)
        number = f"stage {number_of_stage + 1} of {len(titles)}"
        self._card.set_title(self._title(stage.title, number.capitalize()))
        self._card.set_aside(f"{self._where(stage.place)} · {number}")
        self._describe(reading)
        self._equation.set_equation(stage.equation)
        self._draw_strips(reading)

    def _describe(self, reading: Reading) -> None:
        """Say what the stage does to the word."""

        def token(id: int) -> str:
            return reading.model.tokenizer.token(id)

        stage, head = self.session.focus.stage, self.session.attention.head[1]
        position, gradients = self.session.reading.position, self.session.gradients
        if gradients.current is not None:
            of = number_in_words(gradients.of_reading(reading), reading)
            self._show_sentence(backward_sentence(gradients.current, stage, position, of))
            return
        noun = self.session.reading.noun
        self._show_sentence(stage_sentence(reading.trace, stage, position, head, token, noun))

    def _show_sentence(self, pieces: Sequence[Piece]) -> None:
        """A sentence, what is filled in in bold."""
        self._sentence.set_pieces([Inked(*piece) for piece in pieces])
        self._sentence.setVisible(bool(pieces))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= WIDE * current_theme().scale
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if direction != self._upper.direction():
            self._upper.setDirection(direction)
        growth = growth_of(self.size(), USUAL_SIZE)
        for view in (self._equation, self.operation, self.strips):
            view.set_growth(growth)

    def _title(self, name: str, number: str) -> str:
        """The name of the stage; a long one is only shown at the timeline."""
        fits = metrics(bold=True).horizontalAdvance(name) <= TITLE_SHARE * self.width()
        return name if fits else number

    def _lay_out(self) -> QWidget:
        walk = row((self._timeline, 1), self._previous, self._next)
        return sheet(column(walk, self._sentence, (self._area, 1)))

    def _sheet(self) -> QWidget:
        """The equation, the operation that makes the cell, and what the stage reads and makes."""
        self._upper.addWidget(self._equation, 2, Qt.AlignmentFlag.AlignTop)
        self._upper.addWidget(self.operation, 3, Qt.AlignmentFlag.AlignTop)
        page = column(self._upper, self.strips)
        page.addStretch()
        return sheet(page)

    def _step_button(self, name: str, text: str, step: int) -> QPushButton:
        button = named(QPushButton(text), name, "next stage" if step > 0 else "previous stage", role="link")
        button.setToolTip(paragraph(f"{'Next' if step > 0 else 'Previous'} stage (key {text})"))
        button.clicked.connect(lambda: self.session.focus.choose_stage(self.session.focus.stage + step))
        return button

    def _where(self, place: str) -> str:
        parts = [title_of(place).split(",")[0]]
        if Address.parse(place).name == "attention":
            parts.append(coordinate("head", self.session.attention.head[1]))
        return " · ".join(parts)

    def _draw_strips(self, reading: Reading) -> None:
        trace = reading.trace
        position, stage = self.session.reading.position, trace.stages[self.session.focus.stage]
        of_source, at_source = self._is_of_source(trace), source_position(self.session)
        tokens = likeliest_answers(trace, position)
        # Gates are shown together, so that one sees them fill; elsewhere what the stage is about is enough.
        parts = [
            part
            for part in stage_parts(trace, self.session.focus.stage, at_source if of_source else position)
            if stage.by_position or part.role != "other"
        ]
        head = self.session.attention.head[1]
        words = trace.names("source") if of_source else trace.tokens
        names = _labels(parts, words, stage.results[0])

        def at(part: StagePart) -> int:
            here = part.position
            return here if of_source else place_along(trace, part.address, here, at_source)

        walked = self._drawn not in (-1, self.session.focus.stage)
        self._drawn = self.session.focus.stage
        self.strips.set_views(
            [
                NamedView(
                    names[number_of_part],
                    self.session.gradients.view(strip(trace, part.address, at(part), head, tokens)),
                    part.role,
                )
                for number_of_part, part in enumerate(parts)
            ],
            reading,
            crossfade=walked,
        )

    def _is_of_source(self, trace: Trace) -> bool:
        """Whether the stage runs along the source alone, as all of an encoder do."""
        result = trace.stages[self.session.focus.stage].results[0]
        return place_along(trace, result, 0, 1) == 1

    def _cell_of_stage(self, reading: Reading) -> Cell | None:
        """The pinned cell where this stage makes it, or the cell at the same place of what it makes.

        None where the stage makes no such cell, or none is pinned.
        """
        cell = self.session.focus.value_cell
        if cell is None or not reading.has_cell(*cell):
            return None
        results, arrays = reading.trace.stages[self.session.focus.stage].results, reading.trace.arrays
        if cell[0] in results:
            return cell
        made, pinned = arrays[results[0]], arrays[cell[0]]
        alike = (made.axes, made.shape) == (pinned.axes, pinned.shape)
        return (results[0], cell[1]) if alike else None

    def _strongest_of_stage(self, reading: Reading) -> Cell | None:
        """The strongest cell that this stage makes at the position, and in the head, that is shown."""
        trace, position = reading.trace, self.session.reading.position
        address, head = trace.stages[self.session.focus.stage].results[0], self.session.attention.head[1]
        if trace[address].scale == "token":
            return None  # words that were copied from the text: there is nothing to calculate
        at = place_along(trace, address, position, source_position(self.session))
        view = strip(trace, address, at, head, likeliest_answers(trace, position))
        place = strongest_cell(self.session.gradients.view(view), position)
        return None if place is None else (address, view.index(*place))

    def _follow_cell(self) -> None:
        """Another cell is pinned; a newer reading that waits to be drawn asks when it is drawn."""
        reading = self.session.reading.current
        if reading is not None and self._reading is reading and not self.awaits_answer:
            self._ask(reading)

    def _ask(self, reading: Reading) -> None:
        """Draw the stage once the numbers of a cell are known that it makes."""
        chosen = self._cell_of_stage(reading)
        cell = chosen or self._strongest_of_stage(reading)
        if cell is None:
            self.silence(NUMBERS)
            self._draw(reading)
            self._show_numbers("", None)
            return
        place = reading.coordinate(reading.trace[cell[0]].axes[-1], cell[1][-1])  # such as "unit 18"
        found = self.session.gradients.current
        gradient = found if found is not None and cell[0] in found else None

        def work(model: Model) -> tuple[str, OperationPicture | None]:
            from lmviz.inspection.explain import explain
            from lmviz.inspection.explain_gradient import explain_gradient

            if gradient is not None:
                return f"∂ {place}:  {one_line(explain_gradient(model, gradient, *cell))}", None
            found = explain(model, reading.trace, *cell)
            return f"{place}:  {one_line(found)}", operation_picture(found, reading.trace)

        def take(answer: tuple[str, OperationPicture | None]) -> None:
            if looked_at != self._looked_at:
                self.refresh_soon()  # what is drawn is of the present place
                return
            self._draw(reading)
            self._show_numbers(*answer, dashed=chosen is None)
            if self._timeline.playing or chosen not in (None, self._walked):
                self.operation.walk()
            self._walked = chosen

        looked_at = self._looked_at
        self._without_numbers.start()
        self.ask(Question(NUMBERS, reading, work), take)

    def _draw_without_numbers(self) -> None:
        """The numbers take long: the stage is drawn, and they follow."""
        reading = self.session.reading.current
        if reading is not None and not self.awaits_answer:
            self._draw(reading)
            self._show_numbers("", None)

    @property
    def _looked_at(self) -> tuple[object, ...]:
        """What the picture is of, in one reading."""
        session = self.session
        gradients = (session.gradients.current, session.gradients.is_shown)
        at = session.reading.position, source_position(session)
        return session.focus.stage, at, session.attention.head, *map(id, gradients)

    def _show_numbers(self, numbers: str, picture: OperationPicture | None, *, dashed: bool = False) -> None:
        """The equation and the operation with the numbers of a cell."""
        self._without_numbers.stop()
        self._equation.set_numbers(numbers)
        self.operation.set_picture(picture, dashed=dashed)

    def handle_failure(self, key: str) -> None:
        self._draw_without_numbers()


def _labels(parts: Sequence[StagePart], tokens: Sequence[str], result: str) -> list[str]:
    """A short name for each line; where two taps share it, that of another layer or order says which."""
    addresses = {part.address for part in parts}
    shared = Counter(Address.parse(address).name for address in addresses)
    here = Address.parse(result).place
    labels = []
    for part in parts:
        at = Address.parse(part.address)
        elsewhere = shared[at.name] > 1 and at.place != here
        words = title_of(part.address).replace(",", "") if elsewhere else word_of(at.name)
        if part.is_one_of_several:
            words += f" “{visible(tokens[part.position])}”"
        labels.append(words + FROM.get(part.shift, ""))
    return labels
