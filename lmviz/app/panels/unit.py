"""One unit: its value over the text, which units fire along a stretch, and where in the corpus it fires."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.card import Card
from lmviz.app.widgets.concordance_list import ConcordanceList, Line
from lmviz.app.widgets.curve import Curve
from lmviz.app.widgets.figures import count
from lmviz.app.widgets.scrolling import scrolling
from lmviz.app.widgets.token_strip import TokenStrip
from lmviz.inspection.names import title_of
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.job_worker import Job
    from lmviz.app.session import Session
    from lmviz.inspection.trace import Trace
    from lmviz.inspection.unit_search import FiringPlace, SearchProgress
    from lmviz.text.concordance import Concordance

UNIT_AXES = ("unit", "channel")
THRESHOLD = 0.5
MOST_UNITS = 12
SEARCHED_TOKENS = 60_000


class UnitPanel(Panel):
    """Pin a cell to see its unit; brush words to find the units that fire on all of them."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("unit_view")
        self._unit: tuple[str, int] | None = None
        self._words = TokenStrip()
        self._words.setAccessibleName("brush a stretch of words")
        self._curve = Curve()
        self._found = QHBoxLayout()
        self._places = ConcordanceList()
        self._places.setAccessibleName("where the unit fires most")
        self._search = QPushButton("Where does it fire most?")
        self._search.setToolTip("Read the opened text with this model, and keep the strongest places")
        self._search.setObjectName("unit_search_button")
        self._search.clicked.connect(self._search_corpus)
        self._of_units = QWidget()
        self._evidence: list[int] | None = None
        self._job: Job | None = None
        self._firing: tuple[FiringPlace, ...] = ()
        self._card = Card("Unit", "", self._lay_out())
        self.column.addWidget(self._card)
        self._words.tokens_brushed.connect(self._find_units)
        self._curve.position_hovered.connect(lambda n: session.hover_position(n if n >= 0 else None))
        self._curve.position_clicked.connect(session.choose_position)
        session.cell_changed.connect(self._take_cell)
        session.model_changed.connect(self._forget)
        self.follow(
            session.reading_changed,
            session.cell_changed,
            session.stage_changed,
            session.position_changed,
            session.corpus_changed,
        )

    @property
    def unit(self) -> tuple[str, int] | None:
        """The tap's address and the unit that is shown."""
        return self._unit

    @property
    def threshold(self) -> float:
        """The size from which on a unit is said to fire."""
        return THRESHOLD

    @property
    def unit_buttons(self) -> list[QPushButton]:
        """The units found for the brushed words, one button each."""
        items = (self._found.itemAt(n).widget() for n in range(self._found.count()))
        return [widget for widget in items if widget is not None]

    @property
    def places(self) -> tuple[FiringPlace, ...]:
        """Where in the corpus it fires most, as far as was searched."""
        return self._firing

    def refresh(self) -> None:
        reading = self.session.reading
        trace = reading.trace if reading is not None else None
        context = f"{trace.stages[self.session.stage].place}/context" if trace is not None else ""
        counted = trace is not None and context in trace.arrays
        self._of_units.setVisible(not counted)
        if counted:
            self._show_evidence(trace.arrays[context].array[self.session.reading_position])
            return
        self._evidence = None
        self._words.set_tokens([visible(token) for token in trace.tokens] if trace else [])
        known = trace is not None and self._unit is not None and self._unit[0] in trace.arrays
        self._search.setEnabled(known and self.session.corpus is not None)
        if not known:
            self._curve.set_values([])
            self._card.set_title("Unit")
            self._card.set_aside("pin a cell, or brush some words")
            return
        address, unit = self._unit
        self._card.set_title(f"Unit {unit}")
        self._card.set_aside(title_of(address))
        values = trace[address].array[:, unit]
        self._curve.set_values(values, [visible(token) for token in trace.tokens])
        self._words.set_shades(values, scale=trace[address].scale)

    def _lay_out(self) -> QWidget:
        hint = QLabel("drag over words to find the units that fire there")
        hint.setProperty("role", "muted")
        hint.setWordWrap(True)
        above = QVBoxLayout(self._of_units)
        above.setContentsMargins(0, 0, 0, 0)
        for widget in (self._curve, self._words, hint):
            above.addWidget(widget)
        above.addLayout(self._found)
        above.addWidget(self._search)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._of_units)
        column.addWidget(self._places)
        column.addStretch(1)
        return scrolling(body)

    def _show_evidence(self, context: np.ndarray) -> None:
        """The lines of the corpus in which the matched context stands, from which the counts came."""
        reading, corpus = self.session.reading, self.session.corpus
        ids = context[context >= 0]
        self._card.set_title("In the corpus")
        if corpus is None or corpus.fingerprint != reading.model.description.fingerprint:
            self._places.set_lines([])
            self._card.set_aside(
                f"open {reading.model.description.corpus.get('name', 'its text')} to see where"
            )
        elif not len(ids):
            self._places.set_lines([])
            self._card.set_aside("the empty context is everywhere")
        elif self._evidence != ids.tolist():
            self._evidence = ids.tolist()

            def work() -> Concordance:
                from lmviz.text.concordance import concordance_of_ids

                return concordance_of_ids(corpus, ids)

            self.session.ask_reader("evidence", work, self._take_evidence)

    def _take_evidence(self, found: Concordance) -> None:
        if self._evidence is not None:
            self._card.set_aside(f"{count(found.total)} places")
            self._places.set_lines(
                [Line(place.before, place.match, visible(place.token), place.after) for place in found.places]
            )

    def _forget(self) -> None:
        self._unit, self._firing = None, ()
        self._show_units(())
        self._places.set_lines([])

    def _take_cell(self) -> None:
        """A pinned cell with a unit is that unit."""
        reading, cell = self.session.reading, self.session.cell
        if reading is None or cell is None or cell[0] not in reading.trace.arrays:
            return
        axes = reading.trace[cell[0]].axes
        if axes[0] == "position" and axes[-1] in UNIT_AXES:
            self._show_unit(cell[0], cell[1][-1])

    def _show_unit(self, address: str, unit: int) -> None:
        if (address, unit) != self._unit:
            self._unit, self._firing = (address, unit), ()
            self._places.set_lines([])
            self.refresh_soon()

    def _tap_to_search(self, trace: Trace) -> str | None:
        """The tap in which units are looked for: the pinned one's, or the stage's."""
        candidates = [self._unit[0]] if self._unit is not None else []
        candidates += list(trace.stages[self.session.stage].results)
        candidates += [address for address in trace.arrays if address.endswith("hidden")]
        known = (address for address in candidates if address in trace.arrays)
        return next((address for address in known if trace[address].axes[-1] in UNIT_AXES), None)

    def _find_units(self, first: int, last: int) -> None:
        from lmviz.inspection.firing_units import firing_units

        trace = self.session.reading.trace if self.session.reading is not None else None
        address = self._tap_to_search(trace) if trace is not None else None
        if address is None:
            return
        found = firing_units(trace, address, (first, last + 1), THRESHOLD)[:MOST_UNITS]
        self._show_units(tuple((address, item.unit, item.sign) for item in found))
        words = " ".join(visible(token) for token in trace.tokens[first : last + 1])
        self._card.set_aside(f"{len(found)} units of {title_of(address)} fire on “{words}”")

    def _show_units(self, units: tuple[tuple[str, int, int], ...]) -> None:
        while self._found.count():
            item = self._found.takeAt(0)
            if item.widget() is not None:
                item.widget().deleteLater()
        for address, unit, sign in units:
            button = QPushButton(f"{'−' if sign < 0 else ''}{unit}")
            button.setProperty("role", "link")
            button.clicked.connect(lambda _=False, place=(address, unit): self._show_unit(*place))
            self._found.addWidget(button)
        self._found.addStretch(1)

    def _search_corpus(self) -> None:
        """Read the corpus with the model as it is shown, in the background, and keep the strongest places."""
        session, unit = self.session, self._unit
        reading, corpus = session.reading, session.corpus
        if reading is None or corpus is None or unit is None:
            return
        if self._job is not None:
            self._job.cancel()
        folder, step, ids = reading.model.folder, reading.step, corpus.training[:SEARCHED_TOKENS]
        position = min(session.reading_position, len(reading.trace.tokens) - 1)
        sign = 1 if reading.trace[unit[0]].array[position, unit[1]] >= 0 else -1

        def work() -> Generator[object, None, tuple[FiringPlace, ...]]:
            from lmviz.families import open_run_model
            from lmviz.inspection.unit_search import search_corpus
            from lmviz.training.run import Run

            model = open_run_model(Run.open(folder), step)
            places: tuple[FiringPlace, ...] = ()
            for progress in search_corpus(model, ids, *unit, sign=sign):
                places = progress.places
                yield progress
                yield progress.done
            return places

        name = f"Searching for unit {unit[1]}"
        self._job = session.start_job(name, work, lambda _: None, self._take_places)

    def _take_places(self, progress: SearchProgress) -> None:
        self._firing = progress.places
        self._places.set_lines(
            [
                Line(place.before, visible(place.token), f"{place.value:.2f}", place.after)
                for place in self._firing
            ]
        )
