"""The numbers of backpropagation through time: 34 steps to the tickets, what is left of them, and pairs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSlider, QSpinBox
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.through_time import ThroughTimePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.hover_card import HoverCard
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.window.main_window import MainWindow
from lmviz.training.run import Run

ONLY_PANELS = ("through_time",)

TICKETS = 34
"""Steps from “tickets” to the word before the blank that wants it again."""
SENTENCE = " ".join(("the cows eat grass and the hens eat corn . " * 4).split()[: TICKETS + 1])
"""As many words after the beginning, and the one that is predicted."""

Weights = dict[str, torch.Tensor]


@pytest.fixture
def through_time(
    window: MainWindow, session: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> Callable[[str, Callable[[Weights], None]], ThroughTimePanel]:
    """through_time(family, change, **settings): the panel, with changed weights over the sentence."""

    def show(family: str, change: Callable[[Weights], None], **settings: object) -> ThroughTimePanel:
        folder = make_run(family, 1, width=4, **settings)
        run = Run.open(folder)
        step = run.snapshots()[-1]
        weights = run.load_snapshot(step)
        change(weights)
        run.save_snapshot(step, weights)
        window.show_perspective("inside")
        [panel] = [item for item in window.perspective.panels if isinstance(item, ThroughTimePanel)]
        panel.parentWidget().raise_()
        session.library.open(folder)
        qtbot.waitUntil(lambda: session.library.model is not None and session.library.model.folder == folder)
        session.reading.set_prefix(SENTENCE)
        qtbot.waitUntil(
            lambda: bool(panel.reaches) and len(next(iter(panel.reaches.values())).norms) == TICKETS + 2
        )
        qtbot.waitUntil(lambda: panel.losses is not None and len(panel.losses.targets) == TICKETS + 1)
        return panel

    return show


def recurrence(u: float) -> Callable[[Weights], None]:
    """Each state is u times the one before, and more: a recurrence whose states never fall to 0."""

    def change(weights: Weights) -> None:
        weights["recurrence.weight_hh_l0"] = u * torch.eye(4)
        weights["recurrence.weight_ih_l0"].zero_()
        weights["recurrence.bias_ih_l0"].fill_(0.01)
        weights["recurrence.bias_hh_l0"].zero_()

    return change


@pytest.mark.slow
@pytest.mark.parametrize(("u", "left"), [(0.9, "0.028"), (0.95, "0.175"), (0.99, "0.711"), (1.1, "25.548")])
def test_what_a_factor_leaves_of_the_tickets_is_said_and_drawn(through_time, u: float, left: str) -> None:
    panel = through_time("rnn", recurrence(u), activation="relu")
    assert panel.said == f"Size over steps back: ×{left} over {TICKETS}"
    [points] = panel.plot.points().values()
    assert points[TICKETS].tolist() == pytest.approx([TICKETS, u**TICKETS], rel=1e-4)
    assert f"state ×{u:.2f} a step" in panel.wave.accessibleDescription()


@pytest.mark.slow
def test_an_exploding_recurrence_whose_loss_leaves_float32_is_drawn_all_the_same(
    through_time, qtbot: QtBot
) -> None:
    """Its states grow to hundreds, so that the probability of the last word is 0 in float32."""

    def change(weights: Weights) -> None:
        recurrence(1.1)(weights)
        weights["recurrence.bias_ih_l0"].fill_(1.0)

    panel = through_time("rnn", change, activation="relu")
    assert panel.complaint == ""
    assert panel.said == f"Size over steps back: ×25.548 over {TICKETS}"
    assert panel.losses.values[-1] > 104, "nats, beyond −ln of the smallest number of float32"
    assert np.isfinite(panel.losses.norms).all()
    assert panel.losses.norms[-1, 0] / panel.losses.norms[-1, TICKETS] == pytest.approx(
        1.1**TICKETS, rel=1e-3
    )
    slider = panel.findChild(QSlider)
    slider.setFocus()
    for _ in range(2):
        QTest.keyClick(slider, Qt.Key.Key_Right)  # U × 1.10 of 1.1
    qtbot.waitUntil(lambda: "U × 1.10: ×1.21 a step" in panel.said)
    assert panel.plot.points()["with U scaled"][TICKETS, 1] == pytest.approx(1.21**TICKETS, rel=1e-3)


def test_a_sigmoid_leaves_a_quarter_of_each_step_at_most(through_time) -> None:
    def change(weights: Weights) -> None:
        recurrence(1.0)(weights)
        weights["recurrence.bias_ih_l0"].fill_(-0.5)  # states of one half, at which the slope is a quarter

    panel = through_time("rnn", change, activation="sigmoid")
    assert panel.said == f"Size over steps back: ×3.4e−21 over {TICKETS}"


@pytest.mark.slow
@pytest.mark.parametrize(("activation", "slope"), [("tanh", 1.0), ("sigmoid", 0.25)])
def test_no_step_stretches_by_more_than_its_slope_times_the_norm_of_u(
    through_time, qtbot: QtBot, activation: str, slope: float
) -> None:
    """‖∂h_T/∂h_k‖ ≤ (γ‖U‖)^(T−k)."""
    u = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    most = slope * float(torch.linalg.matrix_norm(u, ord=2))

    def change(weights: Weights) -> None:
        weights["recurrence.weight_hh_l0"] = u

    panel = through_time("rnn", change, activation=activation)
    qtbot.waitUntil(lambda: panel.stretch.norms is not None and len(panel.stretch.norms) == TICKETS + 2)
    assert (panel.stretch.norms <= most * (1 + 1e-5)).all()
    assert panel.stretch.norms[1:].max() > most / 10
    [points] = panel.plot.points().values()
    assert len(points) == TICKETS + 1
    assert (points[:, 1] <= most ** points[:, 0] * (1 + 1e-4)).all()


def test_a_truncation_at_twenty_does_not_reach_the_tickets_and_cuts_a_band_of_pairs(
    through_time, qtbot: QtBot
) -> None:
    panel = through_time("rnn", recurrence(0.95), activation="relu")
    spin = panel.findChild(QSpinBox, "truncation_spin")
    assert spin.value() == 20
    losses = TICKETS + 1
    every = losses * (losses + 1) // 2
    band = 20 * 21 // 2 + (losses - 20) * 20
    assert f"{band} of {every} pairs" in panel.sums.title
    lights = panel.sums.findChild(HeatmapView).lights
    assert np.count_nonzero(lights) == band
    assert lights[-1].nonzero()[0].tolist() == list(range(TICKETS - 19, TICKETS + 1)), "not the tickets at 0"
    spin.setValue(losses)
    assert f", {every} pairs" in panel.sums.title
    assert panel.sums.findChild(HeatmapView).lights is None


def test_a_forget_gate_of_95_percent_keeps_175_thousandths_for_34_steps(
    through_time, session: Session, qtbot: QtBot
) -> None:
    def change(weights: Weights) -> None:
        for name in ("weight_hh_l0", "weight_ih_l0", "bias_hh_l0"):
            weights[f"recurrence.{name}"].zero_()
        gates = torch.tensor([0.0, np.log(0.95 / 0.05), 0.3, 0.0])  # input, forget, candidate, output
        weights["recurrence.bias_ih_l0"] = gates.repeat_interleave(4).float()

    panel = through_time("lstm", change)
    assert panel.said == f"Size over steps back: ×0.175 over {TICKETS}"
    session.focus.choose_position(TICKETS)
    held = panel.sums.held
    widths = [held.stretch(position).width() for position in range(TICKETS + 1)]
    assert widths[0] / widths[TICKETS] == pytest.approx(0.95**TICKETS, rel=0.02)
    assert widths[0] / widths[TICKETS] == pytest.approx(0.175, abs=0.004)


def test_the_card_at_a_pair_says_how_far_apart_they_are(through_time) -> None:
    panel = through_time("rnn", recurrence(0.9), activation="relu")
    heatmap = panel.sums.findChild(HeatmapView)
    QTest.mouseMove(heatmap, QPoint(1, 1))
    QTest.mouseMove(heatmap, heatmap.cell_rectangle(TICKETS, 0).center().toPoint())
    card = panel.window().findChild(HoverCard)
    assert card is not None
    assert any(f"{TICKETS} steps back" in line for line in card.lines)
