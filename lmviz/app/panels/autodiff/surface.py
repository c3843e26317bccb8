"""The training of the small network: the loss over two of its parameters, and the path across it."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QPushButton

from lmviz.app.look.theme import current_theme, theme_switch
from lmviz.app.panels.autodiff.network_panel import NetworkPanel
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import STRETCH, column, named, picker, row
from lmviz.app.widgets.base.figures import number, plain
from lmviz.app.widgets.base.flow import labelled
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.plots.loss_surface import LossSurface
from lmviz.autodiff.learning import Direction
from lmviz.autodiff.names import label
from lmviz.models.tap import place_of

STEPS = 50
NOTHING = "A surface needs two numbers that learn."


class SurfacePanel(NetworkPanel):
    """Fifty steps at a time, the surface over any two parameters, and the slider along the path."""

    gives_way = 60

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.surface = LossSurface()  # the drawing itself
        self._pickers = (picker("across_picker", "parameter across"), picker("up_picker", "parameter up"))
        for each in self._pickers:
            each.setMinimumContentsLength(6)
            each.activated.connect(lambda _: self._choose())
        self._train = named(QPushButton(f"train {STEPS} steps"), "train_network_button", role="primary")
        self._time = SliderRow("step", "step of the training")
        self._time.slider.setObjectName("descent_slider")
        self._said = Label(role="muted", wraps=True)
        left = column(
            labelled("across", self._pickers[0]),
            labelled("up", self._pickers[1]),
            self._said,
            STRETCH,
            self._time,
            self._train,
        )
        body = row((left, 4), (self.surface, 6))
        self._card = self.add_card("Training", "", body)
        self._say_scale()
        theme_switch().theme_changed.connect(self._say_scale)
        descent = session.descent
        self._train.clicked.connect(lambda: descent.descend(STEPS))
        self._time.value_changed.connect(descent.go_to)
        self.show_failures(descent)
        self.follow(descent.changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The losses, (up, across), and the path, (step, 2)."""
        if not self.surface.losses.size:
            return {}
        return {"losses": self.surface.losses, "path": self.surface.path}

    def recipe(self) -> str:
        """The same training from Python."""
        return (
            f'import lmviz\n\nnet = lmviz.autodiff.read("""\n{self.session.network.current.text}\n""")\n'
            f"for step in lmviz.autodiff.train(net, {self.session.descent.rate:g}, {STEPS}):\n"
            "    print(step.after)\n"
        )

    def refresh(self) -> None:
        descent = self.session.descent
        chosen, choices = descent.chosen, descent.directions
        for each in self._pickers:
            set_choices(each, dict(enumerate(map(_name, choices))))
        self._time.set_range(max(0, len(descent.path) - 1), descent.place)
        self._time.show_value(descent.place, f"{descent.place}")
        self._time.setEnabled(len(descent.path) > 1)
        self._train.setEnabled(bool(choices))
        found = descent.surface
        if chosen is None or found is None:
            self._said.setText(NOTHING)
            self.surface.set_surface(np.zeros(0), np.zeros(0), np.zeros((0, 0)), ("", ""))
            self.surface.set_path(np.zeros((0, 2)), 0)
            return
        for each, direction in zip(self._pickers, chosen, strict=True):
            with QSignalBlocker(each):
                each.setCurrentIndex(choices.index(direction))
        self.surface.set_surface(found.first, found.second, found.losses, tuple(map(_name, chosen)))
        path = np.array([[each.of(place) for each in chosen] for place in descent.path]).reshape(-1, 2)
        self.surface.set_path(path, descent.place)
        loss = descent.loss
        self._said.setText(f"loss {number(loss, 4)} · η {plain(descent.rate)}")

    def _say_scale(self) -> None:
        """What the colours mean; in a dark theme they begin at its dark surface."""
        far = "lighter" if current_theme().name == "dark" else "darker"
        self._card.set_aside(f"the {far}, the larger the loss")

    def _choose(self) -> None:
        choices = self.session.descent.directions
        across, up = (choices[each.currentIndex()] for each in self._pickers)
        self.session.descent.choose_directions(across, up)
        self.refresh_soon()


def _name(direction: Direction) -> str:
    place = f" {place_of(direction.index)}" if direction.index else ""
    return f"{label(direction.name)}{place}"
