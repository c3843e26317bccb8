"""The picture of a model that is no stack of layers: its stages as boxes and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.wiring import WiringNode, WiringView
from lmviz.inspection.names import title_of
from lmviz.inspection.outline import Block, outline

if TYPE_CHECKING:
    from lmviz.app.panels.panel import Panel
    from lmviz.app.session.reading import Reading
    from lmviz.inspection.trace import Trace


class WiringPage:
    """A click on a box goes to its stage."""

    def __init__(self, panel: Panel) -> None:
        self._session = panel.session
        self.view = WiringView()
        self.view.node_clicked.connect(panel.session.focus.choose_stage)
        self._area = scrolling(self.view, sideways=True)
        self.widget: QWidget = self._area

    def fits(self, trace: Trace) -> bool:
        """Whether it has no layers."""
        return not any(isinstance(part, Block) for part in outline(trace))

    def title(self, reading: Reading, position: int) -> tuple[str, str]:
        return "Diagram of the model", "click a box to go to its stage"

    def addresses(self, trace: Trace) -> list[str]:
        return list(trace.arrays)

    def forget(self) -> None:
        self.view.set_nodes([])

    def show(self, reading: Reading, position: int) -> None:
        trace = reading.trace
        made = {address: n for n, stage in enumerate(trace.stages) for address in stage.results}
        self.view.set_nodes(
            [
                WiringNode(
                    title=stage.title,
                    place=title_of(stage.place),
                    sources=tuple(dict.fromkeys(made[at] for at in stage.operands if at in made)),
                )
                for stage in trace.stages
            ]
        )

    def mark(self, reading: Reading) -> None:
        stage = self._session.focus.stage
        self.view.set_current(stage)
        place = self.view.node_rectangle(stage).center()
        self._area.ensureVisible(round(place.x()), round(place.y()), 220, 80)
