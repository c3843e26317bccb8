"""Any value of the model over the whole text: units by positions, or queries by keys."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QResizeEvent

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.shared.cells_panel import EDIT_VALUES, CellsPanel
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.reading import NAMED, Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import picker
from lmviz.app.widgets.base.canvas import metrics
from lmviz.app.widgets.base.figures import figure_of
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.inspection.color_floor import color_floor
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import replace
from lmviz.inspection.names import POSITIONAL, coordinate, number_of, title_of, told_apart
from lmviz.inspection.recipes.recipe import view_recipe
from lmviz.inspection.similarity import similarity_order
from lmviz.inspection.trace import Trace
from lmviz.inspection.view_names import names_along
from lmviz.inspection.views import View, likeliest_answers, matrix
from lmviz.looks.names import Names
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

STAGE = "stage"
NO_MODEL = "Open or train a model to see its values."
NO_READING = "Type a text above to see what the model computes of it."
ORDERS = ("in order", "by similarity")
HEADS = ("head", "group")
SQUARES = ("query", "source_query")  # axes of rows where attention looks at its own sequence
TAP_LENGTH, SHORT_TAP_LENGTH = 22, 10  # characters of the name of a tap
AROUND = 40  # pixels at scale 1 around the title of the card
LEAST_TAP = 60  # pixels at scale 1 to which the choice of the tap can be narrowed
ROOMY = 640  # pixels at scale 1 from which on all names have room


class StatePanel(CellsPanel):
    """A heatmap of one tap, the stage's result unless another is chosen; rows can be sorted by similarity."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "drag_values_button", EDIT_VALUES)
        self._tap = picker("tap_picker", "which value", least=TAP_LENGTH)
        self.order_picker = picker("", "order of the rows", ORDERS)
        leave_arrow_keys(self, self.matrix)
        self._reading: Reading | None = None  # of which the view is
        self._addresses: tuple[str, ...] = ()
        controls = (self._edit, self._switch, self._tap, self.order_picker)
        head = self._head = FittingRow(controls, giving_way=(self.order_picker, self._edit))
        self._card = self.add_card("Values over the text", head, self.matrix)
        self._card.layout_below.insertWidget(1, self._switch.choice)
        self._tap.activated.connect(lambda _: self.refresh_soon())
        self.order_picker.currentIndexChanged.connect(lambda _: self.refresh_soon())
        self.follow(session.focus.stage_changed, session.focus.position_changed)

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
            self._reading = None
            self._draw_nothing()
            self._card.set_title(self._longest_that_fits("Values over the text", "Values"))
            self._card.set_placeholder(NO_READING if self.session.library.model else NO_MODEL)
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
        self._edit.setVisible(not is_gradient)
        self.matrix.set_editable(self._edit.isChecked() and not is_gradient)
        walked = self.view is not None and self.view.address != view.address
        walked = walked or (self.session.reading.has_stepped and reading is not self._reading)
        self.view, self.shown, self._reading = view, view.values, reading
        size = (
            f"{view.values.shape[0]} × {view.values.shape[1]}"
            if view.row_axis or view.folded
            else f"{view.values.shape[1]}"
        )
        named = "".join(f"{coordinate(axis, view.fixed[axis])}, " for axis in HEADS if axis in view.fixed)
        title, numbers = title_of(view.address), f"{named}{size}"
        title = f"{title[0].upper()}{title[1:]}"
        self._card.set_title(self._longest_that_fits(f"{title} · {numbers}", title, numbers, size))
        self.matrix.set_style(square=view.row_axis in SQUARES or view.folded > 0, values="hovered row")
        self.matrix.set_matrix(
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

    def _changed(self, row: int, column: int, value: float) -> Intervention | None:
        view = self.view
        if view is None:
            return None
        return replace(view.address, value, **dict(zip(view.axes, view.index(row, column), strict=True)))

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


def _word(reading: Reading, id: float) -> str:
    """The token that a cell of ids stands for; nothing where it holds none."""
    return visible(reading.model.tokenizer.token(int(id))) if id >= 0 else ""


def _words(reading: Reading, view: View) -> list[list[str]]:
    return [[_word(reading, id) for id in row] for row in view.values]


def _labels(reading: Reading, axis: str, indices: tuple[int, ...]) -> list[str]:
    if axis in POSITIONAL:
        names = told_apart(reading.names(axis))
        return [names[index] for index in indices]
    if axis in NAMED:
        return [reading.word(axis, index) for index in indices]
    if axis == "order":  # the words of a context, the newest last
        return [f"{len(indices) - place} back" for place in range(len(indices))]
    return [str(number_of(axis, index)) for index in indices] if axis else []
