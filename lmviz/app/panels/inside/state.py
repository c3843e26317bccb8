"""Any value of the model over the whole text: units by positions, or queries by keys."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QPushButton

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.panels.shared.gradient_switch import GradientSwitch
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.reading import NAMED, Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, picker
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.export import Names
from lmviz.app.widgets.base.figures import figure_of
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.inspection.color_floor import color_floor
from lmviz.inspection.interventions import replace
from lmviz.inspection.names import POSITIONAL, coordinate, number_of, title_of
from lmviz.inspection.recipes.recipe import view_recipe
from lmviz.inspection.similarity import similarity_order
from lmviz.inspection.strongest import strongest_cell
from lmviz.inspection.trace import Trace
from lmviz.inspection.view_names import names_along
from lmviz.inspection.views import OVER_SOURCE, OVER_TEXT, View, likeliest_answers, matrix
from lmviz.models.address import Address
from lmviz.models.sequences import ALONG, TEXT
from lmviz.text.tokenizer import visible

STAGE = "stage"
NO_MODEL = "Open or train a model to see its values."
NO_READING = "Type a text above to see what the model computes of it."
NOTHING = np.zeros((0, 0), dtype=np.float32)
ORDERS = ("in order", "by similarity")
HEADS = ("head", "group")
SQUARES = ("query", "source_query")  # axes of rows where attention looks at its own sequence
TAP_LENGTH, SHORT_TAP_LENGTH = 22, 10  # characters of the name of a tap
AROUND = 40  # pixels at scale 1 around the title of the card
LEAST_TAP = 60  # pixels at scale 1 to which the choice of the tap can be narrowed
ROOMY = 640  # pixels at scale 1 from which on all names have room


class StatePanel(Panel):
    """A heatmap of one tap, the stage's result unless another is chosen; rows can be sorted by similarity."""

    draws = ("reading", "gradients")

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._tap = picker("tap_picker", "which value", least=TAP_LENGTH)
        self.order_picker = picker("", "order of the rows", ORDERS)
        self._heatmap = HeatmapView()
        leave_arrow_keys(self, self._heatmap)
        self.view: View | None = None  # what is drawn
        self._reading: Reading | None = None  # of which the view is
        self._addresses: tuple[str, ...] = ()
        self._drag = named(QPushButton("edit"), "drag_values_button", role="link")
        self._drag.setCheckable(True)
        self._drag.setToolTip("Edit values: drag a cell up or down; all later values are recomputed.")
        self._dragging = False
        self._switch = GradientSwitch(session)
        controls = (self._drag, self._switch, self._tap, self.order_picker)
        head = self._head = FittingRow(controls, giving_way=(self.order_picker, self._drag))
        self._card = self.add_card("Values over the text", head, self._heatmap)
        self._card.layout_below.insertWidget(1, self._switch.choice)
        self._tap.activated.connect(lambda _: self.refresh_soon())
        self.order_picker.currentIndexChanged.connect(lambda _: self.refresh_soon())
        self._heatmap.cell_hovered.connect(self._hover)
        self._heatmap.left.connect(self._leave)
        self._heatmap.cell_clicked.connect(self._choose)
        self._heatmap.set_readout(self._read_out)
        self._drag.toggled.connect(self._heatmap.set_editable)
        self._heatmap.cell_dragged.connect(self._replace)
        self._heatmap.drag_finished.connect(self._end_of_drag)
        session.focus.hovered_position_changed.connect(self._mark)
        session.focus.source_changed.connect(self._mark)
        session.focus.source_changed.connect(self._suggest)
        session.focus.cell_changed.connect(self._mark)
        session.explanation.suggestion_changed.connect(self._mark_suggested)
        session.explanation.changed.connect(self._light)
        self.follow(
            session.reading.changed,
            session.focus.stage_changed,
            session.focus.position_changed,
            session.attention.head_changed,
            session.gradients.changed,
        )
        self.show_failures(
            session.gradients.failed, session.gradients.changed, session.gradients.shown_changed
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measure_tap()
        self.refresh_soon()

    def _measure_tap(self) -> None:
        """Where there is little room, the choice of the tap leaves to the title what its own words spare."""
        longest = TAP_LENGTH if self._is_roomy else min(SHORT_TAP_LENGTH, len(self._tap.currentText()))
        self._tap.setMinimumContentsLength(longest)
        self._tap.setMinimumWidth(round(LEAST_TAP * current_theme().scale))  # and not what its names need

    @property
    def _is_roomy(self) -> bool:
        return self.width() >= ROOMY * current_theme().scale

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {} if self.view is None else {self.view.address: self.view.values}

    def exported_names(self) -> Names:
        if self._reading is None or self.view is None or self.view.folded:
            return Names()
        view, trace = self.view, self._reading.trace
        return Names(
            names_along(trace, view.row_axis, view.rows), names_along(trace, view.column_axis, view.columns)
        )

    def recipe(self) -> str:
        if self._reading is None or self.view is None or Address.parse(self.view.address).is_gradient:
            return ""
        return view_recipe(self._reading.moment, self.view)

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None:
            self.view = self._reading = None
            self._heatmap.set_matrix(NOTHING)
            self._card.set_title(self._longest_that_fits("Values over the text", "Values"))
            self._card.set_placeholder(NO_READING if self.session.library.model else NO_MODEL)
            self.session.explanation.suggest(None)
            return
        self._card.set_placeholder("")
        self._list_taps(reading.trace)
        self._measure_tap()
        address = self._tap.currentData() or reading.trace.stages[self.session.focus.stage].results[0]
        self._draw(reading, address)
        self._mark()
        self._suggest()

    def _list_taps(self, trace: Trace) -> None:
        addresses = tuple(trace.arrays)
        if addresses == self._addresses:
            return
        self._addresses = addresses
        set_choices(self._tap, {None: STAGE} | {address: title_of(address) for address in addresses})

    def _draw(self, reading: Reading, address: str) -> None:
        trace, position = reading.trace, self.session.reading.position
        tokens, head = likeliest_answers(trace, position), self.session.attention.head[1]
        view = matrix(trace, address, head, position, tokens)
        sortable = view.row_axis in ("unit", "channel")
        self.order_picker.setVisible(sortable)
        if sortable and self.order_picker.currentText() == ORDERS[1]:
            order = tuple(int(unit) for unit in similarity_order(view.values.T))
            view = matrix(trace, address, head, position, tokens, order)
        view = self.session.gradients.view(view)
        is_gradient = Address.parse(view.address).is_gradient
        self._drag.setVisible(not is_gradient)
        self._heatmap.set_editable(self._drag.isChecked() and not is_gradient)
        walked = self.view is not None and self.view.address != view.address
        walked = walked or (self.session.reading.has_stepped and reading is not self._reading)
        self.view, self._reading = view, reading
        size = (
            f"{view.values.shape[0]} × {view.values.shape[1]}"
            if view.row_axis or view.folded
            else f"{view.values.shape[1]}"
        )
        named = "".join(f"{coordinate(axis, view.fixed[axis])}, " for axis in HEADS if axis in view.fixed)
        title, numbers = title_of(view.address), f"{named}{size}"
        title = f"{title[0].upper()}{title[1:]}"
        self._card.set_title(self._longest_that_fits(f"{title} · {numbers}", title, numbers, size))
        self._heatmap.set_style(square=view.row_axis in SQUARES or view.folded > 0, values="hovered row")
        self._heatmap.set_matrix(
            view.values,
            scale=view.scale,
            rows=_labels(reading, view.row_axis, view.rows),
            columns=() if view.folded else _labels(reading, view.column_axis, view.columns),
            words=_words(reading, view) if view.scale == "token" else (),
            floor=color_floor(trace, view),
            crossfade=walked,
        )

    def _longest_that_fits(self, *titles: str) -> str:
        """The first of these titles of the card that there is room for beside the pickers.

        Where there is none for any of them, the order of the rows gives way.
        """
        room = self._card.width() - self._card.length(AROUND)
        words = metrics(bold=True)
        for taken in (self._head.full_width, self._head.next_width):
            for title in titles:
                if words.horizontalAdvance(title) <= room - taken:
                    return title
        return ""

    def _mark(self) -> None:
        view = self.view
        if view is None or self.awaits_answer:
            return
        position = source_position(self.session) if self._is_of_source else self.session.reading.position
        if view.row_axis in ALONG:
            self._heatmap.set_selection(row=position)
        elif view.folded:
            self._heatmap.set_selection()
        else:
            self._heatmap.set_selection(column=position)
        cell = self.session.focus.cell
        pinned = view.cell(cell[1]) if cell is not None and cell[0] == view.address else None
        self._heatmap.set_pinned(pinned)
        self._light()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._suggest()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not self.is_put_away:  # what is explained stays, where the explanation is enlarged
            self.session.explanation.suggest(None)

    def _suggest(self) -> None:
        """Have the strongest cell of the position explained, as long as none is pinned."""
        if self.view is not None and (self.is_in_sight or self.is_put_away):
            is_source = self._is_of_source and not self.view.folded
            at = source_position(self.session) if is_source else self.session.reading.position
            place = strongest_cell(self.view, at, OVER_SOURCE if is_source else OVER_TEXT)
            is_number = (
                place is not None and self.view.scale != "token"
            )  # of a word there is nothing to explain
            cell = (self.view.address, self.view.index(*place)) if place is not None and is_number else None
            self.session.explanation.suggest(cell)
        self._mark_suggested()

    def _mark_suggested(self) -> None:
        view, suggestion = self.view, self.session.explanation.suggestion
        is_drawn = view is not None and suggestion is not None and suggestion[0] == view.address
        self._heatmap.set_suggested(view.cell(suggestion[1]) if view and suggestion and is_drawn else None)

    def _light(self) -> None:
        """Dim the cells that are not operands of the explained cell."""
        if self.view is not None and self.is_in_sight:
            self._heatmap.set_lights(self.session.explanation.lights(self.view))

    def _hover(self, row: int, column: int) -> None:
        if self.view is not None:
            place, focus = _position_of(self.view, row, column), self.session.focus
            focus.hover_position(None if self._is_of_source else place)  # a place there is none of the text
            focus.hover_source(place if self._is_of_source and not self.view.folded else None)
            self.session.focus.hover_cell((self.view.address, self.view.index(row, column)))

    def _leave(self) -> None:
        self.session.focus.hover_position(None)
        self.session.focus.hover_source(None)
        self.session.focus.hover_cell(None)

    @property
    def _is_of_source(self) -> bool:
        """Whether what is drawn runs along the source, or is a picture."""
        if self.view is None:
            return False
        axis = self.view.row_axis if self.view.row_axis in ALONG else self.view.column_axis
        return ALONG.get(axis) != TEXT

    def _choose(self, row: int, column: int) -> None:
        if self.view is not None:
            place, focus = _position_of(self.view, row, column), self.session.focus
            if not self.view.folded:
                (focus.choose_source if self._is_of_source else focus.choose_position)(place)
            self.session.focus.choose_cell((self.view.address, self.view.index(row, column)))

    def _replace(self, row: int, column: int, value: float) -> None:
        """Put a dragged value in force; a whole drag is one step of undo."""
        view = self.view
        if view is None:
            return
        where = dict(zip(view.axes, view.index(row, column), strict=True))
        change = replace(view.address, value, **where)
        self.session.surgery.add(change, dragging=self._dragging)
        self._dragging = True

    def _end_of_drag(self) -> None:
        self._dragging = False

    def _read_out(self, row: int, column: int) -> tuple[str, list[str]]:
        view, reading = self.view, self._reading
        if view is None or reading is None:
            return "", []
        value = view.values[row, column]
        read = (
            (_word(reading, value) or "none")
            if view.scale == "token"
            else figure_of(view.address, float(value))
        )
        return read, [title_of(view.address), reading.cell_name(view.axes, view.index(row, column))]


def _position_of(view: View, row: int, column: int) -> int:
    return row if view.row_axis in ALONG else column


def _word(reading: Reading, id: float) -> str:
    """The token that a cell of ids stands for; nothing where it holds none."""
    return visible(reading.model.tokenizer.token(int(id))) if id >= 0 else ""


def _words(reading: Reading, view: View) -> list[list[str]]:
    return [[_word(reading, id) for id in row] for row in view.values]


def _labels(reading: Reading, axis: str, indices: tuple[int, ...]) -> list[str]:
    if axis in POSITIONAL:
        names = reading.names(axis)
        return [names[index] for index in indices]
    if axis in NAMED:
        return [reading.word(axis, index) for index in indices]
    if axis == "order":  # the words of a context, the newest last
        return [f"{len(indices) - place} back" for place in range(len(indices))]
    return [str(number_of(axis, index)) for index in indices] if axis else []
