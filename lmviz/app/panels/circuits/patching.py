"""Activation patching: one state after the other carried from one text into the other, as a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.circuits.answering_panel import AnsweringPanel, briefly
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, row, sheet
from lmviz.app.widgets.base.figures import brief_percentage, count, signed_figure, whole_percentage
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.quiet_button import QuietButton
from lmviz.app.widgets.base.steady import ComboBox
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.scatter_plot import ScatterPlot
from lmviz.base.counting import head_name, numbered
from lmviz.circuits.recipes import patching_recipe
from lmviz.inspection.interventions import scale_head
from lmviz.inspection.names import told_apart
from lmviz.looks.names import COUNTED, Names
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.circuits.patching import GrowingPatches, Patches
    from lmviz.models.model import Model

NO_PAIR = "Type a changed text under “Two texts”: then each state is carried from one into the other."
NO_MODEL = "Open or train a model to see on which of its states an answer depends."
DIRECTIONS = {"changed": "into the changed text", "clean": "into the text above"}
WRITTEN = 0.015
"""Smaller shares are not written into cells."""

ROOM = 300
"""Pixels of height at scale 1 below which the fast estimate is left out."""

WHAT = {
    "stream": "the stream",
    "attention": "what attention wrote",
    "cross-attention": "what attention to the source wrote",
    "feed-forward": "what the feed-forward network wrote",
    "hidden": "the hidden state",
    "cell": "the memory cell",
    "order": "what the order said",
}


Asked = tuple[Reading, "MeasuredContrast", str, str]
"""Of which reading and two texts, what is carried over, and into which text."""


class PatchingPanel(AnsweringPanel["GrowingPatches", Asked]):
    """The share of the difference that each state brings along, layer by position or layer by head."""

    gives_way = 60
    key = Key("patching")
    needs_pair = True

    def __init__(self, session: Session) -> None:
        super().__init__(session, "patching_sentence")
        self._pinned: tuple[int, ...] | None = None
        self._kind = picker("carry_picker", "what is carried over")
        self._kind.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self._into = picker("direction_picker", "which text it is carried into", DIRECTIONS.values())
        self._off = QuietButton("switch_head_off", "", "link", "switch this head off")
        self._off.hide()
        self._agrees = Label(name="patching_estimate", role="muted", wraps=True)
        self._scatter = named(ScatterPlot("exact", "fast estimate"), "patching_scatter")
        self._scatter.set_readout(self._read_out_point)
        self._check = sheet(
            column(Label("fast estimate over exact", role="muted"), (self._scatter, 1), gap=2)
        )
        self._compared: list[tuple[int, ...]] = []  # the cell of each point
        self._is_checked = False  # whether there are points
        self._grid = named(HeatmapView(), "patching_grid", "share of the answer that comes back")
        self._grid.set_style(values="none", labels_below=True, unit="%")
        self._grid.set_readout(self._read_out)
        self._controls = FittingRow((self._kind, self._into), (self._into,))
        self._answer_in(self.add_card("What brings the answer back", self._controls, self._lay_out()))
        for each in (self._kind, self._into):
            each.activated.connect(self._choose)
        self._grid.cell_clicked.connect(self._pin)
        self._scatter.part_clicked.connect(self._pin_point)
        self._off.clicked.connect(self._switch_off)
        self.follow(session.contrast.changed, session.library.model_changed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room it is the grid's: the fast estimate is left out."""
        super().resizeEvent(event)
        self._show_check()

    @property
    def patches(self) -> Patches | None:
        """What is drawn."""
        return None if self.found is None else self.found.found

    @property
    def is_whole(self) -> bool:
        """Whether all cells are known, of what is asked now."""
        return self._has_all and not self.is_behind

    def exported_arrays(self) -> dict[str, np.ndarray]:
        found = self.patches
        if found is None:
            return {}
        arrays = {"share": found.array, "measure": found.measured}
        return arrays if found.estimate is None else arrays | {"estimate": found.estimate}

    def exported_names(self) -> Names:
        found = self.patches
        return COUNTED if found is None else Names(self._row_names(found), self._column_names(found))

    def page_results(self) -> Sequence[Any]:
        return () if self.patches is None else (self.patches,)

    def recipe(self) -> str:
        found = self.patches
        if found is None or self._of is None:
            return ""
        reading, measured, *_ = self._of
        return patching_recipe(reading.moment, measured.contrast, found.addresses, found.into)

    def _missing(self) -> str:
        return NO_PAIR if self.session.library.model is not None else NO_MODEL

    def _show_instead(self, sentence: str) -> None:
        self._pinned = None
        super()._show_instead(sentence)

    def _asks(self, reading: Reading, measured: MeasuredContrast) -> Asked:
        into = list(DIRECTIONS)[max(self._into.currentIndex(), 0)]
        return reading, measured, self._kind.currentText(), into

    def _lay_out(self) -> QWidget:
        said = row((self._said, 1), self._off)
        return sheet(column(said, (row((self._grid, 1), self._check, gap=10), 1), self._agrees))

    def _choose(self) -> None:
        self._give_up()  # its answer would put the kind before back into the picker
        self.refresh_soon()

    def _question(self, asked: Asked) -> Question[Reading, GrowingPatches]:
        reading, measured, kind, into = asked
        changes, contrast = reading.question.interventions, measured.contrast

        def begin(model: Model) -> GrowingPatches:
            from lmviz.circuits.patching import GrowingPatches

            growing = GrowingPatches(model, contrast, kind, into=into, interventions=changes)
            growing.go_on(model)
            return growing

        return Question(self.key, reading, begin, about=asked)

    def _take(self, asked: Asked, growing: GrowingPatches) -> None:
        reading, measured, _, into = asked
        same = self.found is not None and self.found.kind == growing.kind
        self._pinned = self._pinned if same and self._fits(growing) else None
        self.found = self._growing = growing
        self._has_all = False
        set_choices(self._kind, growing.kinds, growing.kind)
        self._of = (reading, measured, growing.kind, into)
        self.must_ask(self._question(self._of))  # of the kind that was found, where none was chosen
        self._go_on(reading, growing)

    def _fits(self, growing: GrowingPatches) -> bool:
        found = growing.found.array.shape
        return self._pinned is not None and all(
            at < size for at, size in zip(self._pinned, found, strict=True)
        )

    def _draw(self) -> None:
        found = self.patches
        if found is None:
            self._grid.set_matrix(np.zeros((0, 0)))
            self._is_checked = False
            self._show_check()
            for label in (self._said, self._agrees):
                label.setText("")
            self._off.hide()
            self._controls.hide()
            return
        self._controls.show()
        shares = found.array.reshape(len(found.array), -1)[::-1]  # the first layer lies at the bottom
        words = [
            ["" if np.isnan(share) or abs(share) < WRITTEN else brief_percentage(share) for share in row]
            for row in shares
        ]
        self._grid.set_matrix(
            100 * shares,  # in per cent, as the words of the cells
            limit=100.0,
            rows=[_drawn_name(address) for address in found.addresses][::-1],
            columns=self._column_names(found),
            words=words,
            crossfade=self.session.reading.has_stepped,
        )
        cell = self._pinned or self._strongest(found)
        place = self._drawn_at(found, cell)
        self._grid.set_pinned(place if self._pinned is not None else None)
        self._grid.set_suggested(place if self._pinned is None else None)
        self._said.setText(self._sentence(found, cell))
        self._agrees.setText(_agreement(found))
        self._draw_check(found, cell)
        layer = Address.parse(found.addresses[cell[0]]).layer
        is_head = self.found is not None and self.found.kind == "head"
        self._off.setVisible(is_head and self._pinned is not None)
        self._off.setText(f"switch head {head_name(layer or 0, cell[-1])} off")

    def _draw_check(self, found: Patches, cell: tuple[int, ...]) -> None:
        """The fast estimate of each cell over what was measured, once all is."""
        is_known = found.estimate is not None and not np.isnan(found.array).any()
        self._is_checked = is_known and bool(found.compared.any())
        self._show_check()
        if not is_known or found.estimate is None:
            return
        self._compared = [tuple(int(at) for at in place) for place in np.argwhere(found.compared)]
        self._scatter.set_points(found.array[found.compared], found.estimate[found.compared])
        self._scatter.set_current(self._compared.index(cell) if cell in self._compared else -1)

    def _show_check(self) -> None:
        has_room = self.height() >= ROOM * current_theme().scale
        self._check.setVisible(self._is_checked and has_room)
        self._agrees.setVisible(has_room)

    def _strongest(self, found: Patches) -> tuple[int, ...]:
        """The cell to say something of: where what matters has just moved, or the largest."""
        from lmviz.circuits.patching import where_it_sits

        sits = where_it_sits(found)
        if sits is not None:
            return min(sits[3], len(found.array) - 1), sits[2]
        known = np.nan_to_num(np.abs(found.array))
        return tuple(int(at) for at in np.unravel_index(known.argmax(), known.shape))

    def _drawn_at(self, found: Patches, cell: tuple[int, ...]) -> tuple[int, int]:
        columns = found.array.reshape(len(found.array), -1).shape[1]
        column = int(np.ravel_multi_index(cell[1:], found.array.shape[1:])) if len(cell) > 1 else 0
        assert column < columns
        return len(found.array) - 1 - cell[0], column

    def _cell_at(self, found: Patches, row: int, column: int) -> tuple[int, ...]:
        inner = np.unravel_index(column, found.array.shape[1:]) if found.array.ndim > 1 else ()
        return (len(found.array) - 1 - row, *(int(at) for at in inner))

    def _pin_point(self, index: int) -> None:
        found = self.patches
        if found is not None and index < len(self._compared):
            self._pin(*self._drawn_at(found, self._compared[index]))

    def _pin(self, row: int, column: int) -> None:
        found = self.patches
        if found is None:
            return
        self._pinned = self._cell_at(found, row, column)
        if found.axes[1:] == ("position",):
            self.session.focus.choose_position(self._pinned[1])
        if found.axes[1:] == ("head",):
            self.session.attention.choose_head_of(found.addresses[self._pinned[0]], self._pinned[1])
        self._draw()

    def _switch_off(self) -> None:
        found, cell = self.patches, self._pinned
        at = None if found is None or cell is None else Address.parse(found.addresses[cell[0]])
        if at is not None and cell is not None and at.layer is not None:
            self.session.surgery.add(scale_head(at.layer, cell[1], side=at.side))

    def _row_names(self, found: Patches) -> list[str]:
        return [_layer_name(address) for address in found.addresses]

    def _column_names(self, found: Patches) -> list[str]:
        if found.axes[1:] == ("head",):
            return [str(numbered(head)) for head in range(found.array.shape[1])]
        if len(found.axes) == 2 and found.axes[1] in found.names:
            return list(told_apart(map(visible, found.names[found.axes[1]])))
        return [""] * int(np.prod(found.array.shape[1:], dtype=int))

    def _read_out_point(self, index: int) -> tuple[str, Sequence[str]]:
        found = self.patches
        if found is None or index >= len(self._compared):
            return "", ()
        return self._read_out(*self._drawn_at(found, self._compared[index]))

    def _read_out(self, row: int, column: int) -> tuple[str, Sequence[str]]:
        found = self.patches
        if found is None or self._of is None:
            return "", ()
        cell = self._cell_at(found, row, column)
        share = float(found.array[cell])
        if np.isnan(share):
            return f"{self._place(found, cell)}: not measured yet", ()
        other = "text" if found.into == "changed" else "changed text"
        lines = [f"{briefly(self._of[1].said)} = {signed_figure(float(found.measured[cell]), 3)}"]
        lines.append(
            f"from {signed_figure(found.changed)} in the changed text to {signed_figure(found.clean)}"
        )
        if found.estimate is not None:
            lines.append(f"difference × gradient says {whole_percentage(float(found.estimate[cell]))}")
        return f"{self._place(found, cell)}: {whole_percentage(share)} towards the {other}", lines

    def _place(self, found: Patches, cell: tuple[int, ...]) -> str:
        """What is carried over, in words."""
        address, kind = found.addresses[cell[0]], "" if self.found is None else self.found.kind
        layer = Address.parse(address).layer
        if found.axes[1:] == ("head",):
            return f"head {head_name(layer or 0, cell[1])}"
        plain = kind.removeprefix("source ")
        what = "the token" if layer is None and plain == "stream" else WHAT.get(plain, plain)
        of = ""
        if len(cell) > 1 and found.axes[1] in found.names:
            of = f" of “{self._column_names(found)[cell[1]]}”"
        if layer is None:
            return f"{what}{of}"
        return f"{what}{of} {'after' if plain == 'stream' else 'in'} layer {numbered(layer)}"

    def _sentence(self, found: Patches, cell: tuple[int, ...]) -> str:
        from lmviz.circuits.patching import where_it_sits

        share = float(found.array[cell])
        if np.isnan(share):
            return "Each state is carried over in turn …"
        place = self._place(found, cell)
        brings = "brings back" if found.into == "changed" else "takes away"
        said = f"Carried over alone, {place} {brings} {whole_percentage(share)} of the difference."
        sits = where_it_sits(found) if self._pinned is None else None
        if sits is None or found.into != "changed":
            return said
        names = self._column_names(found)
        rows = self._row_names(found)
        low, leaves, high, arrives = sits
        at_first = "as it enters" if leaves == 0 and rows[0] == "tokens" else f"up to layer {rows[leaves]}"
        moves = f"at “{names[low]}” {at_first}, and at “{names[high]}” from layer {rows[arrives]} on"
        return f"What tells them apart is {moves}. {said}"


def _layer_name(address: str) -> str:
    at = Address.parse(address)
    number = at.layer if at.layer is not None else None
    if number is None:
        return str(at.order) if at.order is not None else "tokens" if "embedding" in address else at.name
    return f"{numbered(number)}" + (f" {at.direction}" if at.direction else "")


def _drawn_name(address: str) -> str:
    """The same as it stands beside the map, where a bare number would not say what it counts."""
    at = Address.parse(address)
    what = "layer " if at.layer is not None else "order " if at.order is not None else ""
    return f"{what}{_layer_name(address)}"


def _agreement(found: Patches) -> str:
    """How right the fast estimate is; until all is measured, how much is."""
    measured = float((~np.isnan(found.array)).mean())
    if measured < 1:
        return f"{whole_percentage(measured)} of {count(found.array.size)} cells are measured."
    if np.isnan(found.error):
        return ""
    by = brief_percentage(found.error)
    said = f"is wrong by {by} percentage points on average"
    if not np.isnan(found.agreement):
        said += f", with a correlation of {found.agreement:.2f}".replace("-", "−")
    return f"The fast estimate, difference × gradient in two passes, {said}."
