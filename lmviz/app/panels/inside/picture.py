"""A picture of the model with the current stage marked: unrolled over the text, or as a diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QStackedWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.session.offers import FIRST_MODEL, MODEL_OFFER
from lmviz.app.widgets.base.card import Card
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.unrolled import UnrolledLayer, UnrolledView
from lmviz.app.widgets.diagrams.wiring import WiringNode, WiringView
from lmviz.inspection.names import title_of
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.session.reading import Reading
    from lmviz.app.session.session import Session
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
        self._lit = (0, 0)
        self._pages = QStackedWidget()
        self._areas = [scrolling(self._unrolled, sideways=True), scrolling(self._wiring, sideways=True)]
        for area in self._areas:
            self._pages.addWidget(area)
        self._areas[0].horizontalScrollBar().rangeChanged.connect(lambda: self._bring_into_sight())
        self._invitation = Invitation("picture_invitation")
        self._invitation.accepted.connect(lambda: session.library.open(FIRST_MODEL))
        self._pages.addWidget(self._invitation)
        self._card = Card("Picture", "", self._pages)
        self.column.addWidget(self._card)
        self._unrolled.cell_clicked.connect(self._choose_cell)
        self._unrolled.cell_hovered.connect(lambda n, _: session.focus.hover_position(n if n >= 0 else None))
        self._wiring.node_clicked.connect(session.focus.choose_stage)
        self.follow(
            session.library.model_changed,
            session.reading.prefix_changed,
            session.reading.changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.focus.stage_changed,
        )

    @property
    def unrolled(self) -> UnrolledView:
        """The picture of a recurrence."""
        return self._unrolled

    @property
    def wiring(self) -> WiringView:
        """The picture of everything else."""
        return self._wiring

    def exported_arrays(self) -> dict[str, np.ndarray]:
        reading = self.session.reading.current
        return {} if reading is None else {name: reading.trace[name].array for name in _layers(reading.trace)}

    def recipe(self) -> str:
        from lmviz.inspection.recipes.recipe import arrays_recipe, stages_recipe

        reading = self.session.reading.current
        if reading is None:
            return ""
        layers = _layers(reading.trace)
        return arrays_recipe(reading.moment, layers) if layers else stages_recipe(reading.moment)

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None:
            self._card.set_title("Picture")
            self._card.set_aside("")
            self._invite()
            self._unrolled.set_network([], [])
            self._wiring.set_nodes([])
        else:
            unrolled = bool(_layers(reading.trace))
            # Before it is drawn: a page out of sight would not learn how large it has become.
            self._pages.setCurrentIndex(0 if unrolled else 1)
            if unrolled:
                self._unroll(reading)
            else:
                self._wire(reading.trace)

    def _invite(self) -> None:
        """Show a sentence that says what to do in place of the picture."""
        self._pages.setCurrentWidget(self._invitation)
        if self.session.library.model is None:
            self._invitation.invite("Open or train a model to look inside.", MODEL_OFFER)
        else:
            is_coming = bool(self.session.reading.prefix)
            self._invitation.invite("" if is_coming else "Type a prefix above to see its computation.")

    def _unroll(self, reading: Reading) -> None:
        from lmviz.inspection.views import likeliest_tokens

        trace, layers = reading.trace, _layers(reading.trace)
        predictions = []
        for position in range(len(trace.tokens)):
            (likeliest,) = likeliest_tokens(trace, position, 1)
            share = float(trace["probabilities"].at(position=position)[likeliest])
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
        stage, position = trace.stages[self.session.focus.stage], self.session.reading.position
        lit = [n for n, address in enumerate(layers) if address.startswith(stage.place + "/")]
        layer = lit[0] if lit else (len(layers) - 1 if stage.place == "output" else -1)
        self._unrolled.set_current(position, layer)
        self._card.set_title("Unrolled over the prefix")
        self._card.set_aside(KEYS_OF_A_RECURRENCE)
        self._lit = position, max(0, layer)
        self._bring_into_sight()

    def _bring_into_sight(self) -> None:
        """Scroll to the lit cell, and again once the picture has the width that it needs."""
        place = self._unrolled.cell_rectangle(*self._lit).center()
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
        self._wiring.set_current(self.session.focus.stage)
        self._card.set_title("Diagram of the model")
        self._card.set_aside(KEYS)
        place = self._wiring.node_rectangle(self.session.focus.stage).center()
        self._areas[1].ensureVisible(round(place.x()), round(place.y()), 220, 80)

    def _choose_cell(self, position: int, layer: int) -> None:
        """A cell of the unrolled network: its position, and the stage that makes its hidden state."""
        self.session.focus.choose_position(position)
        reading = self.session.reading.current
        if reading is None:
            return
        address = _layers(reading.trace)[layer]
        stages = [n for n, stage in enumerate(reading.trace.stages) if address in stage.results]
        place = reading.trace.stages[self.session.focus.stage].place
        if stages and not address.startswith(place + "/"):
            self.session.focus.choose_stage(stages[0])


def _layers(trace: Trace) -> list[str]:
    """The hidden states of a recurrence, lowest layer first; none for other models."""
    return [
        address
        for stage in trace.stages
        if stage.by_position and stage.place.startswith("layers/")
        for address in stage.results
        if address.endswith("/hidden") and address in trace.arrays
    ]
