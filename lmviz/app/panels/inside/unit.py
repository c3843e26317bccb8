"""One unit: its value over the text, units active on selected words, and its strongest places."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QDoubleSpinBox, QPushButton, QSizePolicy, QWidget

from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.inside.unit_search import UnitSearch
from lmviz.app.panels.panel import JOBS, Panel
from lmviz.app.panels.shared.gradient_switch import GradientSwitch
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, empty, named, row, sheet
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.flow import FlowLayout
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.base.steady import DoubleSpinBox
from lmviz.app.widgets.plots.position_curve import PositionCurve
from lmviz.app.widgets.text.concordance_list import ConcordanceList
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.inspection.firing_units import firing_units, has_units, usual_threshold
from lmviz.inspection.names import coordinate, number_of, title_of
from lmviz.inspection.recipes.recipe import array_recipe
from lmviz.inspection.strongest import strongest_unit
from lmviz.inspection.trace import Trace
from lmviz.looks.names import Names
from lmviz.looks.occurrence import OccurrenceLine
from lmviz.models.address import Address
from lmviz.models.sequences import SOURCE, is_along
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.workers.job import Job
    from lmviz.inspection.unit_search import FiringPlace

MOST_UNITS = 12
LARGEST = 1e6  # a threshold


class UnitPanel(Panel):
    """Pin a cell to see its unit, until then the strongest; drag over words to find units active on all."""

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.unit: tuple[str, int] | None = None
        """The tap's address and the unit that was chosen; None as long as it is the strongest."""
        self._drawn: tuple[Reading, tuple[str, int]] | None = None  # of which reading, and which unit
        self._words = named(TokenStrip(), description="drag over the text to select a part of it")
        self._curve = PositionCurve()
        leave_arrow_keys(self, self._words, self._curve)
        self._found = FlowLayout()
        self.unit_buttons: list[QPushButton] = []  # the units found for the brushed words, one button each
        self._places = named(ConcordanceList(), description="where the unit fires most")
        self._search = UnitSearch(self)
        self._search.found.connect(self._show_places)
        self._search_button = named(QPushButton("Where does it fire most?"), "unit_search_button")
        self._search_button.clicked.connect(self._search_corpus)
        self._searched = Label(role="muted", wraps=True)
        self._reading_text: Job | None = None  # reads the text in which the chosen unit is looked for then
        self._threshold = named(
            DoubleSpinBox(), "unit_threshold_spin", "activation from which a unit counts as active"
        )
        self._threshold_of = ""
        self._edited: dict[str, float] = {}  # thresholds that a person chose, by the tap's address
        self._brushed: tuple[int, int] | None = None
        self._card = self.add_card("Unit", "", self._lay_out())
        self._words.tokens_brushed.connect(self._brush)
        self._threshold.valueChanged.connect(self._take_threshold)
        self._curve.part_hovered.connect(self._point)
        self._curve.part_clicked.connect(self._pin)
        session.focus.cell_changed.connect(self._take_cell)
        session.library.model_changed.connect(self._forget)
        session.text.changed.connect(self._take_corpus)
        self.follow(
            session.reading.changed,
            session.focus.cell_changed,
            session.focus.stage_changed,
            session.focus.position_changed,
            session.text.changed,
            session.gradients.changed,
        )

    @property
    def threshold(self) -> float:
        """The size from which on a unit is said to fire."""
        return self._threshold.value()

    @property
    def places(self) -> tuple[FiringPlace, ...]:
        """Where in the corpus it fires most, as far as was searched."""
        return self._search.places

    def exported_arrays(self) -> dict[str, np.ndarray]:
        if self._drawn is None:
            return {}
        reading, (address, unit) = self._drawn
        return {f"{address}[:, {unit}]": reading.trace[address].array[:, unit]}

    def exported_names(self) -> Names:
        return Names(_words_along(*self._drawn) if self._drawn is not None else ())

    def recipe(self) -> str:
        if self._drawn is None:
            return ""
        reading, (address, unit) = self._drawn
        return array_recipe(reading.moment, address, **{reading.trace[address].axes[-1]: unit})

    def out_of_place(self, model: OpenedModel) -> str:
        if model.family != "ngram":
            return ""
        return f"{model.name} counts and has no units. Evidence shows where it saw them."

    def refresh(self) -> None:
        reading = self.session.reading.current
        trace = reading.trace if reading is not None else None
        place = self._unit_in(trace) if trace is not None else None
        self._drawn = None if reading is None or place is None else (reading, place)
        names = _words_along(reading, place)
        self._words.set_tokens(names)
        # A text of pairs is read as pairs, and no search goes through them.
        self._search_button.setEnabled(place is not None and not self.session.reading.has_source)
        self._name_search(reading)
        self._suggest_threshold(trace)
        self._card.set_provisional(self.unit is None)
        if trace is None or place is None:
            self._curve.set_values([])
            self._curve.set_threshold(None)
            self._card.set_title("Unit")
            self._card.set_aside("pin a cell, or drag over a part of the text")
            return
        address, unit = place
        self._card.set_title(coordinate(trace[address].axes[-1], unit).capitalize())
        strongest = "" if self.unit is not None else "the strongest of "
        self._card.set_aside(f"{strongest}{title_of(address)}")
        found = self.session.gradients.current
        if found is not None and address in found:
            self._card.set_aside(f"gradient, of {strongest}{title_of(address)}")
            values = found[address].array[:, unit]
            self._curve.set_values(values, names)
            self._curve.set_threshold(None)
            self._words.set_shades(values, scale="signed")
            return
        self._draw_curve(trace[address].array[:, unit], names)
        self._words.set_shades(trace[address].array[:, unit], scale=trace[address].scale)

    @property
    def _is_of_source(self) -> bool:
        """Whether the values are those along the source."""
        if self._drawn is None:
            return False
        reading, (address, _) = self._drawn
        return is_along(reading.trace[address].axes, SOURCE)

    def _point(self, place: int) -> None:
        focus, is_there = self.session.focus, place >= 0
        focus.hover_source(place if is_there and self._is_of_source else None)
        focus.hover_position(place if is_there and not self._is_of_source else None)

    def _pin(self, place: int) -> None:
        focus = self.session.focus
        (focus.choose_source if self._is_of_source else focus.choose_position)(place)

    def handle_failure(self, key: str) -> None:
        if key != JOBS:
            self._card.set_aside("")

    def _unit_in(self, trace: Trace) -> tuple[str, int] | None:
        """The chosen unit where a trace has it, that of another model may be narrower; else the strongest."""
        if self.unit is None:
            tap = self._tap_to_search(trace)
            return None if tap is None else (tap, strongest_unit(trace, tap, self.session.reading.position))
        if self.unit[0] not in trace.arrays:
            return None
        address, unit = self.unit
        has_it = has_units(trace, address) and unit < trace[address].shape[-1]
        return self.unit if has_it else None

    def _draw_curve(self, values: np.ndarray, names: list[str]) -> None:
        """The unit over the text, with the line from which on it fires, on the side it goes to."""
        lowest, highest = float(values.min()), float(values.max())
        line = self.threshold if highest >= -lowest else -self.threshold
        limits = min(lowest, line, 0.0), max(highest, line, 0.0)
        self._curve.set_values(values, names, limits)
        self._curve.set_threshold(line)

    def _lay_out(self) -> QWidget:
        hint = Label("drag over the text to find units active on all of it, above", role="muted", wraps=True)
        self._threshold.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        switch = GradientSwitch(self.session)
        brushing = row((self._threshold, 1), switch)
        self._threshold.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)  # by its largest
        self._searched.hide()
        searched = (self._search_button, self._searched, self._places)
        above = ((self._curve, 1), self._words, hint, brushing, switch.choice, self._found)
        return scrolling(sheet(column(*above, *searched)))

    def _name_search(self, reading: Reading | None) -> None:
        """Say of the button which text will be read, where it has yet to be opened."""
        name = reading.model.description.corpus.get("name", "") if reading is not None else ""
        text = f"Open “{name}”, read it" if name and self.session.text.corpus is None else "Read the text"
        self._search_button.setToolTip(paragraph(f"{text} with this model, and keep the strongest places"))

    def _forget(self) -> None:
        self.unit, self._brushed, self._reading_text = None, None, None
        self._threshold_of = ""
        self._edited.clear()
        self._search.forget()
        self._searched.hide()
        self._show_units(())
        self._places.set_lines([])

    def _take_cell(self) -> None:
        """A pinned cell with a unit is that unit."""
        reading, cell = self.session.reading.current, self.session.explanation.pinned_cell
        if reading is None or cell is None:
            return
        if has_units(reading.trace, cell[0]):
            self._show_unit(cell[0], cell[1][-1])

    def _show_unit(self, address: str, unit: int) -> None:
        if (address, unit) != self.unit:
            self.unit, self._reading_text = (address, unit), None
            self._search.forget()
            self._searched.hide()
            self._places.set_lines([])
            self.refresh_soon()

    def _tap_to_search(self, trace: Trace) -> str | None:
        """The tap in which units are looked for: the pinned one's, or the stage's."""
        candidates = [self.unit[0]] if self.unit is not None else []
        candidates += list(trace.stages[self.session.focus.stage].results)
        candidates += [address for address in trace.arrays if Address.parse(address).name == "hidden"]
        known = (address for address in candidates if address in trace.arrays)
        return next((address for address in known if has_units(trace, address)), None)

    def _brush(self, first: int, last: int) -> None:
        if self.session.reading.current is not None:
            self._suggest_threshold(self.session.reading.current.trace)
        self._brushed = (first, last)
        self._find_units(first, last)

    def _suggest_threshold(self, trace: Trace | None) -> None:
        """Begin in the scale of the tap; what a person chose stays, and so does what was brushed with."""
        if trace is None:
            return
        address = self._tap_to_search(trace)
        if address is None or (address == self._threshold_of and self._brushed is not None):
            return
        self._threshold_of = address
        wanted = self._edited.get(address) or usual_threshold(trace, address)
        self._threshold.blockSignals(True)
        self._threshold.setDecimals(max(2, 1 - math.floor(math.log10(wanted))))
        self._threshold.setRange(10.0 ** -self._threshold.decimals(), LARGEST)
        self._threshold.setValue(wanted)
        self._threshold.blockSignals(False)

    def _take_threshold(self) -> None:
        """Draw it across the curve, and look again for the units of the brushed words."""
        self._edited[self._threshold_of] = self.threshold
        self.refresh_soon()
        if self._brushed is not None:
            self._find_units(*self._brushed)

    def _find_units(self, first: int, last: int) -> None:
        reading = self.session.reading.current
        if reading is None:
            return
        trace, address = reading.trace, self._tap_to_search(reading.trace)
        if address is None or first >= len(trace[address].array):
            return
        found = firing_units(trace, address, (first, last + 1), self.threshold)[:MOST_UNITS]
        self._show_units(tuple((address, item.unit, item.sign) for item in found))
        words = " ".join(reading.names(trace[address].axes[0])[first : last + 1])
        self._card.set_aside(f"{len(found)} units of {title_of(address)} fire on “{words}”")

    def _show_units(self, units: tuple[tuple[str, int, int], ...]) -> None:
        empty(self._found)
        self.unit_buttons.clear()
        for address, unit, sign in units:
            button = named(QPushButton(f"{'−' if sign < 0 else ''}{number_of('unit', unit)}"), role="link")
            button.clicked.connect(lambda _=False, place=(address, unit): self._show_unit(*place))
            self._found.addWidget(button)
            self.unit_buttons.append(button)

    def _search_corpus(self) -> None:
        """Look for the unit in the open text; where none is open, in the one the model learned from."""
        session, reading = self.session, self.session.reading.current
        place = None if reading is None else self._unit_in(reading.trace)
        if reading is None or place is None:
            return
        self._show_unit(*place)  # it stays the chosen one, whatever is the strongest next
        if session.text.corpus is not None:
            self._search.search(*place)
            return

        def begun(job: Job) -> None:
            if self.unit == place:
                self._reading_text = job
                job.ended.connect(self._stop_waiting)

        session.text.open_text_of(reading.model, begun)

    def _take_corpus(self) -> None:
        """Search in the text that was opened for it, and in none that a person has opened instead."""
        job, self._reading_text = self._reading_text, None
        if job is not None and not job.is_cancelled:
            self._search_corpus()

    def _stop_waiting(self, job: Job) -> None:
        """However it ended: what was to be read has been, or it does not come."""
        if job is self._reading_text:
            self._reading_text = None

    def _show_places(self) -> None:
        self._places.set_lines(
            [
                OccurrenceLine(place.before, visible(place.token), f"{place.value:.2f}", place.after)
                for place in self._search.places
            ]
        )
        self._searched.setText(f"the strongest places of {count(self._search.searched)} tokens")
        self._searched.setVisible(bool(self._search.places))


def _words_along(reading: Reading | None, place: tuple[str, int] | None) -> list[str]:
    """The words along which a unit has its values: those of the text, or those of the source."""
    if reading is None:
        return []
    return reading.names("position" if place is None else reading.trace[place[0]].axes[0])
