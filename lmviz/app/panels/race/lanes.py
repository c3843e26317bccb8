"""The lanes of the race as a table, what can be done with one of them, and how others are made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QWidget

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.race.adding import AddingForm
from lmviz.app.panels.race.forking import ForkingForm
from lmviz.app.panels.race.sentences import differing_names
from lmviz.app.panels.race.steering import SteeringForm
from lmviz.app.session.race_lane import RaceLane
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, row, sheet, stack
from lmviz.app.widgets.base.figures import number, short
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.inspection.recipes.run import lanes_recipe
from lmviz.looks.columns import Column
from lmviz.looks.names import Names

ADDING, FORKING, STEERING = range(3)
MEASURED = ("step", "training loss", "lowest validation loss", "tokens per second")


class LanesPanel(Panel):
    """A row for each lane: only what differs names it. The chosen one is looked into."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._race = session.race
        self._table = named(TableView(), "race_table", "lanes of the race")
        steering = SteeringForm(session)
        steering.refused.connect(lambda sentence: self.complain(sentence, "rate"))
        self._forms = AddingForm(session), ForkingForm(session), steering
        self._pages = stack(*self._forms)
        self._tabs = (
            LinkButton("adding_tab", "Add lanes", "make lanes of what is planned in Train"),
            LinkButton("forking_tab", "Fork", "go on from a snapshot with other settings"),
            LinkButton("steering_tab", "This lane", "pause, stop or hide the chosen lane"),
        )
        self._new = LinkButton("new_race_button", "New race", "begin another race; its runs stay")
        self._card = self.add_card("Lanes", self._new, self._lay_out())
        self._was_waiting = True
        self._marked = ("", 0)  # the chosen lane, and of how many
        self._connect()

    def _lay_out(self) -> QWidget:
        for tab in self._tabs:
            tab.setCheckable(True)
        tabs = row(*self._tabs, STRETCH, gap=6)
        return scrolling(sheet(column(self._table, tabs, self._pages, STRETCH, gap=6)))

    def _connect(self) -> None:
        for page, tab in enumerate(self._tabs):
            tab.clicked.connect(lambda _=False, page=page: self._turn_to(page))
        self._turn_to(ADDING)
        self._table.row_clicked.connect(self._choose)
        self._new.clicked.connect(self._race.clear)
        self.show_failures(self._race)
        session = self.session
        self._race.changed.connect(self.refresh_now_and_then)
        self.follow(session.library.model_changed, session.library.models_changed)
        self.follow(session.plan.changed, session.text.changed, session.work.ready_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        rows = [(lane.step, lane.loss, lane.best, lane.speed) for lane in self._race.lanes]
        return {"lanes": np.array(rows, dtype=np.float64)} if rows else {}

    def exported_names(self) -> Names:
        return Names(tuple(lane.label for lane in self._race.lanes), MEASURED)

    def recipe(self) -> str:
        folder = self._race.folder
        return "" if folder is None or not self._race.lanes else lanes_recipe(str(folder))

    def refresh(self) -> None:
        lanes, chosen = self._race.lanes, self._race.chosen
        self._show_table(lanes, chosen)
        self._new.setVisible(bool(lanes))
        self._new.setEnabled(not self._race.is_active)
        waits = not lanes or any(lane.phase == "waiting" for lane in lanes)
        if waits != self._was_waiting:  # what comes next is to add and to start, or to watch and to steer
            self._was_waiting = waits
            self._turn_to(ADDING if waits else STEERING)
        for form in self._forms:
            form.show_race()
        bold = QFontMetrics(current_theme().font(weight=current_theme().font().Weight.DemiBold))
        for tab in self._tabs:
            tab.setMinimumWidth(bold.horizontalAdvance(tab.text()) + 12)

    def _show_table(self, lanes: Sequence[RaceLane], chosen: RaceLane | None) -> None:
        self._table.setVisible(bool(lanes))
        self._table.set_columns(_columns(lanes))
        height = self._table.horizontalHeader().sizeHint().height()
        self._table.setFixedHeight(height + sum(map(self._table.rowHeight, range(len(lanes)))) + 4)
        self._table.set_faded([place for place, lane in enumerate(lanes) if lane.name in self._race.hidden])
        shown = (chosen.name if chosen is not None else "", len(lanes))
        if shown != self._marked:  # else a row that keys have come to would be left while lanes train
            self._marked = shown
            self._table.set_current(next((at for at, lane in enumerate(lanes) if lane is chosen), -1))

    def _turn_to(self, page: int) -> None:
        self._pages.setCurrentIndex(page)
        for at, tab in enumerate(self._tabs):
            tab.setChecked(at == page)

    def _choose(self, place: int) -> None:
        if 0 <= place < len(self._race.lanes):
            self._race.choose(self._race.lanes[place].name)


def _columns(lanes: Sequence[RaceLane]) -> list[Column]:
    labels = [f"↳ {lane.label}" if lane.parent else lane.label for lane in lanes]
    speeds = ["–" if lane.speed is None else short(lane.speed) for lane in lanes]
    return [
        Column(" · ".join(differing_names(lanes)) or "lane", labels, colors=[lane.color for lane in lanes]),
        Column("state", [lane.state for lane in lanes]),
        Column("training", [_figure(lane.loss) for lane in lanes]),
        Column("best valid.", [_figure(lane.best) for lane in lanes]),
        Column("tok/s", speeds, spare=True),
    ]


def _figure(loss: float | None) -> str:
    return "–" if loss is None else number(loss, 2)
