"""Surgery: buttons that change what the model computes, and the list of changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.attention_heads import CROSS
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named, row
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.base.steady import DoubleSpinBox
from lmviz.app.widgets.controls.change_list import ChangeList, ListedChange
from lmviz.decoding.glance import glance
from lmviz.inspection.alignment import source_attentions
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.names import title_of
from lmviz.inspection.recipes.recipe import array_recipe
from lmviz.inspection.trace import Trace
from lmviz.inspection.views import answer_at
from lmviz.models.sequences import SOURCE
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

POSITIONS = Key("positions")

EFFECTS = Key("effects")

HINT = "Pin a head, a cell or a token, and change it."
SWAPPING = (
    "Swaps the two words of the pinned attention weight; if none is pinned,\n"
    "the current word and the one before it."
)
UNIT_AXES = ("unit", "channel")
WIDE_COLUMNS = 3  # how many buttons stand side by side where they fit, one fewer elsewhere
AROUND = 56  # pixels at scale 1 between the panel's edges and the buttons, a scroll bar among them


class SurgeryPanel(Panel):
    """Buttons that act on the head, the cell or the words one has pinned; the list of what is in force."""

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._undo, self._redo = QPushButton("undo"), QPushButton("redo")
        self._value = DoubleSpinBox()
        self._list = ChangeList()
        self._said = Label()
        self._pinned = Label(name="pinned_cell")
        self._buttons: dict[str, QPushButton] = {}
        self._grid = QGridLayout()
        self._card = self.add_card(
            "Surgery", row(named(self._undo, role="link"), named(self._redo, role="link")), self._body()
        )
        self._undo.clicked.connect(session.surgery.undo)
        self._redo.clicked.connect(session.surgery.redo)
        self._list.toggled.connect(session.surgery.toggle)
        self._list.removed.connect(session.surgery.remove)
        self.follow(
            session.surgery.changed,
            session.reading.changed,
            session.focus.cell_changed,
            session.attention.head_changed,
            session.focus.position_changed,
        )

    def recipe(self) -> str:
        reading = self.session.reading.current
        return array_recipe(reading.moment, "probabilities") if reading and reading.baseline else ""

    def refresh(self) -> None:
        session, reading = self.session, self.session.reading.current
        self._undo.setEnabled(session.surgery.can_undo)
        self._redo.setEnabled(session.surgery.can_redo)
        changes = session.surgery.interventions
        self._list.set_changes([ListedChange(item.describe(), item.enabled) for item in changes])
        self._measure_effects()
        cell = session.explanation.pinned_cell
        traced = reading.trace.arrays[cell[0]] if reading is not None and cell is not None else None
        has_heads = reading is not None and "layers/0/attention/mixed" in reading.trace.arrays
        has_any = has_heads or (reading is not None and _has_source_heads(reading.trace))
        enabled = {
            "zero head": has_any,
            "scale head": has_any,
            "set cell": traced is not None and traced.scale != "token",
            "zero unit": traced is not None and traced.axes[-1] in UNIT_AXES,
            "swap words": reading is not None and min(self._swapped()) >= 0,
            "no positions": has_heads,
        }
        for name, button in self._buttons.items():
            button.setEnabled(enabled[name])
        swap = self._buttons["swap words"]
        of_words = self.of_units("words") == "words"
        swap.setText("swap words" if of_words else "swap both")  # "characters" has no room in large type
        swap.setToolTip(paragraph(self.of_units(SWAPPING)))
        self._pinned.setText(self._name_of_pinned())
        self._pinned.setVisible(bool(self._pinned.text()))
        if not changes:
            self._say(HINT)
        elif self._said.text() == HINT:
            self._say("")

    def _name_of_pinned(self) -> str:
        """The cell that "set cell" would change, numbered as everywhere; empty where none is pinned."""
        reading, cell = self.session.reading.current, self.session.explanation.pinned_cell
        if reading is None or cell is None:
            return ""
        traced = reading.trace[cell[0]]
        return f"Pinned: {title_of(cell[0])}, {reading.cell_name(traced.axes, cell[1])}"

    def _body(self) -> QWidget:
        self._value.setRange(-100.0, 100.0)
        self._value.setSingleStep(0.1)
        self._value.setDecimals(3)
        self._value.setAccessibleName("value or factor")
        actions = {
            "zero head": (self._zero_head, "Sets the output of the chosen head to zero."),
            "scale head": (self._scale_head, "Multiplies the output of the chosen head by the value."),
            "set cell": (
                self._set_cell,
                "Sets the pinned cell to the value; all later values are recomputed.",
            ),
            "zero unit": (self._zero_unit, "Sets the unit of the pinned cell to zero at every position."),
            "swap words": (
                self._swap,
                SWAPPING,
            ),
            "no positions": (self._no_positions, "Removes position information from the model."),
        }
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        for name, (action, help_text) in actions.items():
            button = self._buttons[name] = QPushButton(name)
            button.setObjectName(f"{name.replace(' ', '_')}_button")
            button.setToolTip(paragraph(help_text))
            button.clicked.connect(action)
        self._arrange(WIDE_COLUMNS - 1)
        self._list.setAccessibleName("changes to the model")
        grid.addWidget(self._list, 0, 0, 1, 3)
        grid.addLayout(self._grid, 1, 0, 1, 3)
        label = Label("value", role="muted")
        grid.addWidget(label, 3, 0, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self._value, 3, 1)
        for line in (self._pinned, self._said):
            line.setProperty("role", "muted")
            line.setWordWrap(True)
        grid.addWidget(self._pinned, 2, 0, 1, 3)
        grid.addWidget(self._said, 4, 0, 1, 3)
        grid.setRowStretch(5, 1)
        body = _Body(self._needed)
        body.setLayout(grid)
        return scrolling(body)

    def _arrange(self, columns: int) -> None:
        """The buttons in so many columns."""
        for place, button in enumerate(self._buttons.values()):
            self._grid.addWidget(button, place // columns, place % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = event.size().width() - AROUND * current_theme().scale
        self._arrange(WIDE_COLUMNS if self._needed(WIDE_COLUMNS) <= room else WIDE_COLUMNS - 1)

    def _needed(self, columns: int) -> int:
        """The width that the buttons need in so many columns."""
        widths = [button.sizeHint().width() for button in self._buttons.values()]
        gaps = (columns - 1) * self._grid.horizontalSpacing()
        return gaps + sum(max(widths[column::columns], default=0) for column in range(columns))

    def _measure_effects(self) -> None:
        """Ask what each change does alone to the word that all together moved most."""
        reading, position = self.session.reading.current, self.session.reading.position
        changes = self.session.surgery.interventions
        if reading is None or reading.baseline is None or not changes:
            self.silence(EFFECTS)
            self._list.set_effects("", 0.0, (), 0.0)
            return
        from lmviz.decoding.shift import largest_shifts  # not before the first paint

        before, after = (answer_at(found, position, "logits") for found in (reading.baseline, reading.trace))
        shift = largest_shifts(before, after, 1)
        word = int(shift.ids[0])
        name, ids = reading.answer(word), reading.baseline.ids
        read = reading.baseline.further.get(SOURCE)
        source = None if read is None else read.ids

        def work(model: Model) -> list[float]:
            from lmviz.inspection.effects import each_alone

            return [
                glance(logits, 1).probability_of(word)
                for logits in each_alone(model, ids, changes, position, source)
            ]

        def show(alone: list[float]) -> None:
            if changes == self.session.surgery.interventions:
                self._list.set_effects(name, float(shift.before[0]), alone, float(shift.after[0]))

        self.ask(Question(EFFECTS, reading, work), show)

    def _say(self, sentence: str) -> None:
        self._said.setText(sentence)
        self._said.setVisible(bool(sentence))

    def _do(self, *interventions: Intervention) -> None:
        self._say("")
        for item in interventions:
            self.session.surgery.add(item)

    def _zero_head(self) -> None:
        self._multiply_head(0.0)

    def _scale_head(self) -> None:
        self._multiply_head(self._value.value())

    def _multiply_head(self, factor: float) -> None:
        """What the chosen head contributes, of a model that translates one that looks at the source."""
        from lmviz.inspection.interventions import scale_head
        from lmviz.inspection.source_surgery import scale_source_head

        reading, attention = self.session.reading.current, self.session.attention
        layer, head = attention.head
        if reading is not None and attention.side == CROSS:
            self._do(scale_source_head(reading.trace, layer, head, factor))
        else:
            self._do(scale_head(layer, head, factor, attention.side))

    def _set_cell(self) -> None:
        from lmviz.inspection.interventions import replace

        reading, cell = self.session.reading.current, self.session.explanation.pinned_cell
        if reading is None or cell is None:
            return  # unpinned between the last drawing and the click
        (address, index), axes = cell, reading.trace[cell[0]].axes
        self._do(replace(address, self._value.value(), **dict(zip(axes, index, strict=True))))

    def _zero_unit(self) -> None:
        from lmviz.inspection.interventions import zero

        reading, cell = self.session.reading.current, self.session.explanation.pinned_cell
        if reading is None or cell is None:
            return
        (address, index), axis = cell, reading.trace[cell[0]].axes[-1]
        self._do(zero(address, **{axis: index[-1]}))

    def _swapped(self) -> tuple[int, int]:
        """The positions of the two words that would change places."""
        reading, cell = self.session.reading.current, self.session.explanation.pinned_cell
        if reading is not None and cell is not None:
            query, key = cell[1][-2:] if reading.trace[cell[0]].axes[-2:] == ("query", "key") else (0, 0)
            if query != key:
                return min(query, key), max(query, key)
        return self.session.reading.position - 1, self.session.reading.position

    def _swap(self) -> None:
        from lmviz.inspection.interventions import swap_tokens

        reading = self.session.reading.current
        if reading is None:
            return
        names = [visible(token) for token in reading.trace.tokens]
        self._do(swap_tokens(*self._swapped(), names))

    def _no_positions(self) -> None:
        of, shown = self.session.library.model, self.session.comparison.shown
        if shown is None:
            return

        def work(model: Model) -> tuple[Intervention, ...]:
            from lmviz.inspection.interventions import remove_positions

            return remove_positions(model)

        def take(found: tuple[Intervention, ...]) -> None:
            if self.session.library.model == of:  # another one has other positions, and nobody asked it
                self._do(*found)

        self.ask(Question(POSITIONS, shown, work), take)


def _has_source_heads(trace: Trace) -> bool:
    """Whether heads look at a source."""
    return any("head" in trace[found.context].axes for found in source_attentions(trace))


class _Body(QWidget):
    """It can be narrower than it is now: its buttons stand in as many columns as there is room for."""

    def __init__(self, needed: Callable[[int], int]) -> None:
        super().__init__()
        self._needed = needed

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return QSize(min(least.width(), self._needed(WIDE_COLUMNS - 1)), least.height())
