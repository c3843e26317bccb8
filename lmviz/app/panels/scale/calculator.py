"""What a Transformer of given sizes costs: parameters, memory, compute, and time on this machine."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, name_with, named, picker, row, sheet
from lmviz.app.widgets.base.figures import plain, with_unit
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.base.steady import SpinBox
from lmviz.app.widgets.plots.parts_bar import PartsBar
from lmviz.app.widgets.text.big_figure import BigFigure
from lmviz.base.errors import LmvizError
from lmviz.base.plain_text import on_one_line
from lmviz.inspection.recipes.recipe import arguments_of
from lmviz.looks.names import Names
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.scaling.compute import (
    amount_in_words,
    bytes_in_words,
    days_in_words,
    duration_in_words,
    parse_amount,
    petaflop_days,
)
from lmviz.scaling.planned_model import LARGEST_VOCABULARY

FIELDS = (
    ("layers", "Layers", "L"),
    ("width", "Width", "d"),
    ("heads", "Heads", "H"),
    ("context", "Context", "T"),
)
OWN = "own sizes"
LONGEST_NAME = len("GPT-3 125 M")  # of a model that is known
FIELD_WIDTH = 96
MEASURING = "measuring this machine…"
IN_TRAINING, NOT_MEASURED = "not measured while a model is trained", "not measured"


class CalculatorPanel(Panel):
    """Fields for the sizes, and everything that follows from them at once."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._picker = picker("scale_model_picker", "model in the calculator", least=LONGEST_NAME)
        self._fields: dict[str, QSpinBox] = {}
        self._tokens = QLineEdit()
        self._parameters = named(BigFigure(), "parameters_figure")
        self._time = named(BigFigure(washed=True), "time_figure")
        self._bar = PartsBar()
        self._memory = Label(name="memory_lines", wraps=True)
        self._compute = Label(name="compute_lines", wraps=True)
        self._rule = Label(role="muted", wraps=True)
        for label in (self._memory, self._compute, self._rule):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._measure = LinkButton("measure_pace_button", "measure again", "measure the pace of this machine")
        self._train = named(QPushButton("Plan it in Train"), "plan_in_train_button", role="primary")
        self._train.setToolTip("Put these sizes into the form of Train, with the steps that the tokens take")
        self._fit = named(QPushButton("What fits in an hour?"), "fit_button")
        self._card = self.add_card("Calculator", self._picker, self._lay_out())
        scale = session.scale
        self._picker.activated.connect(lambda at: scale.load(self._picker.itemData(at)))
        self._tokens.editingFinished.connect(self._change_tokens)
        self._train.clicked.connect(scale.plan_in_train)
        self._fit.clicked.connect(lambda: scale.fit_into())
        self._measure.clicked.connect(scale.measure_pace)
        self.show_failures(scale)
        self.show_failures(scale.of_pace)
        self.show_failures(scale.of_runs)
        self.follow(scale.planned_changed, scale.pace_changed, scale.runs_changed)
        self.follow(scale.measuring_changed, session.work.ready_changed)
        session.training.changed.connect(self.refresh_now_and_then)

    def _lay_out(self) -> QWidget:
        grid = QGridLayout()
        grid.setVerticalSpacing(3)
        for place, (name, title, symbol) in enumerate((*FIELDS, ("vocabulary", "Vocabulary", "V"))):
            spin = SpinBox()
            spin.setRange(1, _largest(name))
            spin.setKeyboardTracking(False)
            spin.setGroupSeparatorShown(True)
            spin.setAlignment(Qt.AlignmentFlag.AlignRight)
            spin.valueChanged.connect(lambda value, name=name: self._change(name, value))
            self._fields[name] = spin
            self._add_field(grid, place, name, title, symbol, spin)
        self._tokens.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._add_field(grid, len(FIELDS) + 1, "tokens", "Tokens", "N", self._tokens)
        grid.setRowStretch(len(FIELDS) + 2, 1)
        right = column(self._parameters, self._rule, self._bar, STRETCH, gap=4)
        above = row(grid, (right, 1), gap=14)
        buttons = QWidget()
        flow = FlowLayout(buttons, gap=6)
        for button in (self._train, self._fit, self._measure):
            flow.addWidget(button)
        below = (self._memory, self._compute, self._time, buttons)
        return named(scrolling(sheet(column(above, *below, STRETCH, margins=(0, 0, 4, 0)))), "scale_view")

    def _add_field(
        self, grid: QGridLayout, row: int, name: str, title: str, symbol: str, control: QWidget
    ) -> None:
        control.setObjectName(f"scale_{name}")
        control.setAccessibleName(title)
        label, sign = Label(title), Label(symbol)
        name_with(label, control)
        sign.setProperty("role", "muted")
        for place, widget in enumerate((label, sign, control)):
            grid.addWidget(widget, row, place)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        planned = self.session.scale.planned
        memory = planned.memory
        numbers = (
            *planned.parts,
            planned.parameters,
            *(memory.weights, memory.gradients, memory.optimizer, memory.activations, memory.cache),
            planned.compute,
        )
        return {"costs": np.array([numbers], dtype=np.float64)}

    def exported_names(self) -> Names:
        parts = ("12Ld²", "Vd", "Td", "parameters")
        memory = ("weights", "gradients", "optimizer", "activations", "cache")
        return Names((), (*parts, *(f"bytes of {name}" for name in memory), "operations"))

    def recipe(self) -> str:
        """The same from Python."""
        planned = self.session.scale.planned
        default = TransformerConfiguration()
        settings = {
            name: value
            for name, value in planned.configuration.to_values().items()
            if value != getattr(default, name)
        }
        return (
            "from lmviz.models.transformer_configuration import TransformerConfiguration\n"
            "from lmviz.scaling.planned_model import PlannedModel\n\n"
            f"configuration = TransformerConfiguration({arguments_of(**settings)})\n"
            f"planned = PlannedModel(configuration, {planned.vocabulary}, {planned.tokens})\n"
            "print(planned.parameters, planned.approximation, planned.memory, planned.compute)\n"
        )

    def refresh(self) -> None:
        scale = self.session.scale
        scale.want_pace()
        self._show_names()
        planned = scale.planned
        for name, spin in self._fields.items():
            value = planned.vocabulary if name == "vocabulary" else getattr(planned.configuration, name)
            spin.blockSignals(True)
            spin.setValue(value)
            spin.blockSignals(False)
        self._fields["width"].setSingleStep(planned.configuration.heads)
        wide = round(FIELD_WIDTH * current_theme().scale)
        for control in (*self._fields.values(), self._tokens):
            control.setFixedWidth(wide)
        if not self._tokens.hasFocus() or not self._tokens.isModified():
            self._tokens.setText(amount_in_words(planned.tokens))
        self._show_size()
        self._show_cost()

    def _show_names(self) -> None:
        names = [*self.session.scale.names, OWN]
        set_choices(self._picker, {name: on_one_line(name) for name in names}, self.session.scale.name or OWN)

    def _show_size(self) -> None:
        planned = self.session.scale.planned
        layers, vocabulary, positions = planned.parts
        exact = f"{planned.parameters:,} exactly"
        self._parameters.set_figure("parameters", amount_in_words(planned.parameters), exact)
        rule = f"12Ld² + Vd + Td = {amount_in_words(planned.approximation)}"
        if planned.breaks_width:
            heads, width = planned.configuration.heads, planned.configuration.head_width
            rule += f"; {heads} heads × {width} are not the width"
        self._rule.setText(rule)
        self._bar.set_parts(
            [
                (name, value, amount_in_words(value))
                for name, value in (("layers", layers), ("vocabulary", vocabulary), ("positions", positions))
            ]
        )
        names = ("running", "training", "weights", "cache", "gradients", "optimizer", "activations")
        said = {name: bytes_in_words(getattr(planned.memory, name)) for name in names}
        self._memory.setText(
            f"to write {said['running']}: weights {said['weights']}, cache {said['cache']}\n"
            f"to train {said['training']}: besides, gradients {said['gradients']}, optimizer "
            f"{said['optimizer']}, activations of one text {said['activations']}"
        )

    def _show_cost(self) -> None:
        scale = self.session.scale
        planned, pace = scale.planned, scale.pace
        published = ""
        if scale.published is not None:
            published = f" with the published {amount_in_words(scale.published)} parameters"
        self._compute.setText(
            f"compute 6PN = {plain(scale.compute)} FLOP, {days_in_words(petaflop_days(scale.compute))} "
            f"petaflop/s-days{published}; {planned.tokens_per_parameter:,.1f} tokens a parameter"
        )
        if pace is None:
            waiting = scale.is_measuring or not self.session.work.is_ready
            said = MEASURING if waiting else IN_TRAINING if self.session.training.is_taken else NOT_MEASURED
            self._time.set_figure("on this machine", "…", said)
        else:
            size = amount_in_words(pace.parameters)
            note = (
                f"measured: 6 × {size} parameters × {pace.tokens_per_second:,.0f} tokens/s = "
                f"{with_unit(pace.operations, 'FLOP/s')}"
            )
            self._time.set_figure("on this machine", duration_in_words(scale.compute / pace.operations), note)
        self._fit.setEnabled(pace is not None)
        training = self.session.training
        can_measure = self.session.work.is_ready and not scale.is_measuring and not training.is_taken
        self._measure.setEnabled(can_measure)
        self._train.setEnabled(not training.state.is_active)

    def _change(self, name: str, value: int) -> None:
        self.session.scale.change(**{name: value})
        self.refresh_soon()  # also where it was refused: the field goes back to what is in force

    def _change_tokens(self) -> None:
        if not self._tokens.isModified():
            return
        self._tokens.setModified(False)
        try:
            self.session.scale.change(tokens=parse_amount(self._tokens.text()))
        except LmvizError as sentence:
            self.complain(str(sentence), "tokens")
        else:
            self.complain("", "tokens")
            self.refresh_soon()


def _largest(name: str) -> int:
    settings = {setting.name: setting.maximum for setting in TransformerConfiguration.settings()}
    return LARGEST_VOCABULARY if name == "vocabulary" else int(settings[name] or 1)
