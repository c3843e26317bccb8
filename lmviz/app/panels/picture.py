"""Where in the model one is: the network unrolled over the text, or its stages as they are wired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.widgets.card import Card
from lmviz.app.widgets.figures import percentage
from lmviz.app.widgets.scrolling import scrolling
from lmviz.app.widgets.unrolled import UnrolledLayer, UnrolledView
from lmviz.app.widgets.wiring import WiringNode, WiringView
from lmviz.inspection.names import title_of
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.reading import Reading
    from lmviz.app.session import Session
    from lmviz.inspection.trace import Trace

KEYS_OF_A_RECURRENCE = "← → positions   ↑ ↓ layers"
KEYS = "click a box to go to its stage"


class PicturePanel(Panel):
    """A recurrence is unrolled over positions; everything else is drawn as a wiring of stages."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setObjectName("picture_view")
        self._unrolled = UnrolledView()
        self._wiring = WiringView()
        self._pages = QStackedWidget()
        self._areas = [scrolling(self._unrolled, sideways=True), scrolling(self._wiring, sideways=True)]
        for area in self._areas:
            self._pages.addWidget(area)
        self._card = Card("Picture", "", self._pages)
        self.column.addWidget(self._card)
        self._unrolled.cell_clicked.connect(self._choose_cell)
        self._unrolled.cell_hovered.connect(lambda n, _: session.hover_position(n if n >= 0 else None))
        self._wiring.node_clicked.connect(session.choose_stage)
        self.follow(
            session.reading_changed,
            session.position_changed,
            session.hovered_position_changed,
            session.stage_changed,
        )

    @property
    def unrolled(self) -> UnrolledView:
        """The picture of a recurrence."""
        return self._unrolled

    @property
    def wiring(self) -> WiringView:
        """The picture of everything else."""
        return self._wiring

    def refresh(self) -> None:
        reading = self.session.reading
        if reading is None:
            self._card.set_title("Picture")
            self._card.set_aside("Open a model and type a prefix to look inside")
            self._unrolled.set_network([], [])
            self._wiring.set_nodes([])
        elif _layers(reading.trace):
            self._unroll(reading)
        else:
            self._wire(reading.trace)

    def _unroll(self, reading: Reading) -> None:
        from lmviz.inspection.views import likeliest_tokens

        trace, layers = reading.trace, _layers(reading.trace)
        predictions = []
        for position in range(len(trace.tokens)):
            (likeliest,) = likeliest_tokens(trace, position, 1)
            share = float(trace["probabilities"].array[position, likeliest])
            predictions.append(f"{visible(reading.model.tokenizer.token(likeliest))} {percentage(share)}")
        names = ["h"] if len(layers) == 1 else [f"h{number}" for number in "¹²³⁴⁵⁶⁷⁸⁹"[: len(layers)]]
        names += ["h"] * (len(layers) - len(names))
        self._unrolled.set_network(
            [visible(token) for token in trace.tokens],
            [
                UnrolledLayer(name, trace[address].array, trace[address].scale)
                for name, address in zip(names, layers, strict=True)
            ],
            predictions,
        )
        stage, position = trace.stages[self.session.stage], self.session.reading_position
        lit = [n for n, address in enumerate(layers) if address.startswith(stage.place + "/")]
        layer = lit[0] if lit else (len(layers) - 1 if stage.place == "output" else -1)
        self._unrolled.set_current(position, layer)
        self._pages.setCurrentIndex(0)
        self._card.set_title("Unrolled over the prefix")
        self._card.set_aside(KEYS_OF_A_RECURRENCE)
        place = self._unrolled.cell_rectangle(position, max(0, layer)).center()
        self._areas[0].ensureVisible(round(place.x()), round(place.y()), 180, 60)

    def _wire(self, trace: Trace) -> None:
        made = {address: n for n, stage in enumerate(trace.stages) for address in stage.results}
        nodes = [
            WiringNode(
                title=stage.title,
                place=title_of(stage.place),
                sources=tuple(dict.fromkeys(made[address] for address in stage.operands if address in made)),
            )
            for stage in trace.stages
        ]
        self._wiring.set_nodes(nodes)
        self._wiring.set_current(self.session.stage)
        self._pages.setCurrentIndex(1)
        self._card.set_title("As it is wired")
        self._card.set_aside(KEYS)
        place = self._wiring.node_rectangle(self.session.stage).center()
        self._areas[1].ensureVisible(round(place.x()), round(place.y()), 220, 80)

    def _choose_cell(self, position: int, layer: int) -> None:
        """A cell of the unrolled network: its position, and the stage that makes its hidden state."""
        self.session.choose_position(position)
        reading = self.session.reading
        address = _layers(reading.trace)[layer] if reading is not None else ""
        stages = [n for n, stage in enumerate(reading.trace.stages) if address in stage.results]
        place = reading.trace.stages[self.session.stage].place
        if stages and not address.startswith(place + "/"):
            self.session.choose_stage(stages[0])


def _layers(trace: Trace) -> list[str]:
    """The hidden states of a recurrence, lowest layer first; none for other models."""
    return [
        address
        for stage in trace.stages
        if stage.by_position and stage.place.startswith("layers/")
        for address in stage.results
        if address.endswith("/hidden") and address in trace.arrays
    ]
