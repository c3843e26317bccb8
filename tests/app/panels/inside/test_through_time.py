"""Back through time: the wave, every loss by every state, and the recurrent weights scaled."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSlider, QSpinBox
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.reach_curves import ReachCurves
from lmviz.app.panels.inside.through_time import ThroughTimePanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.held_words import held_words
from lmviz.inspection.losses_by_state import losses_by_state
from lmviz.inspection.reach import Reach, reach, reach_with, recurrent_weights
from lmviz.inspection.step_jacobians import spectral_norms, step_jacobians
from lmviz.inspection.tracing import trace
from lmviz.training.run import Run

ONLY_PANELS = ("through_time", "state")

WORDS = "the cows eat grass the hens eat corn"


@pytest.fixture
def panel(window: MainWindow, read: Session, qtbot: QtBot) -> ThroughTimePanel:
    """The panel in front, with a longer text read."""
    window.show_perspective("inside")
    [found] = [item for item in window.perspective.panels if isinstance(item, ThroughTimePanel)]
    _raise(found)
    read.reading.set_prefix(WORDS)
    qtbot.waitUntil(lambda: bool(found.reaches) and len(next(iter(found.reaches.values())).norms) == 9)
    qtbot.waitUntil(lambda: found.losses is not None and len(found.losses.targets) == 8)
    return found


def _raise(panel: ThroughTimePanel) -> None:
    panel.parentWidget().raise_()


def model_of(session: Session):
    return open_run_model(Run.open(session.library.model.folder))


def test_it_shows_how_far_the_last_loss_reaches(panel: ThroughTimePanel, read: Session) -> None:
    expected = reach(gradient(model_of(read), WORDS, "loss@-1"), "layers/0/cell")
    np.testing.assert_allclose(panel.reaches["LSTM"].norms, expected.norms, rtol=1e-4, atol=1e-8)
    points = panel.plot.points()["LSTM"]
    np.testing.assert_allclose(points[:, 1], expected.relative[7::-1], rtol=1e-4, atol=1e-8)
    assert panel.wave.steps == 7


@pytest.mark.slow
def test_every_loss_by_every_state_and_what_the_steps_add(
    panel: ThroughTimePanel, read: Session, qtbot: QtBot
) -> None:
    expected = losses_by_state(model_of(read), WORDS, "layers/0/cell")
    np.testing.assert_allclose(panel.losses.norms, expected.norms, rtol=1e-4, atol=1e-8)
    whole = gradient(model_of(read), WORDS, "loss@-1").parameters["recurrence.weight_hh_l0"]
    assert panel.parameter.along.sum() == pytest.approx(np.linalg.norm(whole), rel=1e-4)
    shown = [panel.sums.parts.stretch(at).width() for at in range(9)]
    np.testing.assert_allclose(
        np.array(shown) / sum(shown),
        np.abs(panel.parameter.along) / np.abs(panel.parameter.along).sum(),
        atol=1e-3,
    )
    assert panel.sums.parts.total == pytest.approx(np.linalg.norm(whole), rel=1e-4)
    expected_names = {
        "norms/LSTM",
        "spectral norms",
        "losses by states",
        "losses",
        "steps/recurrence.weight_hh_l0",
    }
    qtbot.waitUntil(lambda: set(panel.exported_arrays()) == expected_names)  # each is asked for by itself


def test_a_click_on_a_loss_takes_the_gradient_of_that_one(
    panel: ThroughTimePanel, read: Session, qtbot: QtBot
) -> None:
    heatmap = panel.sums.findChild(HeatmapView)
    place = heatmap.cell_rectangle(2, 1).center().toPoint()
    qtbot.mouseClick(heatmap, Qt.MouseButton.LeftButton, pos=place)
    assert read.gradients.of == "loss@3"
    assert read.gradients.is_shown
    qtbot.waitUntil(lambda: panel.wave.steps == 2)


@pytest.mark.slow
def test_truncation_cuts_a_band_and_says_what_is_left(panel: ThroughTimePanel) -> None:
    spin = panel.findChild(QSpinBox, "truncation_spin")
    assert panel.sums.findChild(HeatmapView).lights is None
    spin.setValue(2)
    lights = panel.sums.findChild(HeatmapView).lights
    assert lights[7].tolist() == [0, 0, 0, 0, 0, 0, 3, 3, 0]
    share = panel.parameter.kept(2)
    assert 0 < share < 1
    assert panel.sums.parts.kept.tolist() == [False] * 6 + [True] * 3


@pytest.mark.slow
def test_each_step_can_stretch_a_gradient_by_the_norm_of_its_jacobian(
    panel: ThroughTimePanel, read: Session, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: panel.stretch.norms is not None and len(panel.stretch.norms) == 9)
    model = model_of(read)
    expected = spectral_norms(step_jacobians(model, trace(model, WORDS)))
    np.testing.assert_allclose(panel.stretch.norms, expected, rtol=1e-3)
    assert panel.stretch.isVisible()
    curve = panel.stretch.curve
    qtbot.mouseClick(curve, Qt.MouseButton.LeftButton, pos=curve.point(3).toPoint())
    assert read.focus.position == 3
    assert panel.stretch.title.startswith(f"Stretch at most ×{expected[3]:.2f} here")


@pytest.mark.slow
def test_what_the_cell_holds_of_each_word_is_stacked_to_all_of_it(
    panel: ThroughTimePanel, read: Session
) -> None:
    read.focus.choose_position(4)
    model = model_of(read)
    held = held_words(trace(model, WORDS), "layers/0", 4)
    widths = np.array([panel.sums.held.stretch(at).width() for at in range(9)])
    np.testing.assert_allclose(widths[:5] / widths.sum(), held.shares, atol=1e-3)
    assert not widths[5:].any()
    assert panel.sums.held.total == pytest.approx(1)


@pytest.mark.slow
def test_of_a_translator_nothing_is_said_to_be_held(
    panel: ThroughTimePanel, read_pair: Callable[..., Session], translator_run: Path, qtbot: QtBot
) -> None:
    """Its encoder holds words of the source, and its decoder begins with what that holds."""
    assert panel.sums.held.isVisible()
    read_pair(translator_run)
    qtbot.waitUntil(lambda: not panel.sums.held.isVisible())


@pytest.mark.slow
def test_scaling_u_draws_how_far_the_gradient_would_reach(
    panel: ThroughTimePanel, read: Session, qtbot: QtBot
) -> None:
    panel.findChild(QSlider).setValue(50)  # 2.5 times as large
    qtbot.waitUntil(lambda: "with U scaled" in panel.plot.points())
    model = model_of(read)
    scales = dict.fromkeys(recurrent_weights(model), 2.5)
    expected = reach_with(model, WORDS, "loss@-1", "layers/0/cell", scales=scales)
    found = panel.plot.points()["with U scaled"][:, 1]
    np.testing.assert_allclose(found, expected.relative[7::-1], rtol=1e-3, atol=1e-8)
    panel.findChild(QSlider).setValue(20)
    qtbot.waitUntil(lambda: "with U scaled" not in panel.plot.points())


FAMILIES = {
    "rnn": ("RNN", "layers/0/hidden", "state", {"width": 6}),
    "gru": ("GRU", "layers/0/hidden", "state", {"width": 6}),
    "transformer": ("Transformer", "embedding/token", "embedding", {"width": 8, "heads": 2, "layers": 1}),
    "ngram": ("", "", "", {}),
}
"""What a gradient goes back along in each family, and what that is called; what counts has none."""


@pytest.mark.slow
def test_four_families_stand_side_by_side_on_the_same_text_with_their_factors(
    panel: ThroughTimePanel, read: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    shown = read.library.model
    expected = {"LSTM": ("cell", reach(gradient(model_of(read), WORDS, "loss@-1"), "layers/0/cell"))}
    for family, (title, address, along, settings) in FAMILIES.items():
        read.library.open(make_run(family, 3, **settings))
        qtbot.waitUntil(lambda family=family: read.library.model.family == family)
        if title:
            expected[title] = along, reach(gradient(model_of(read), WORDS, "loss@-1"), address)
    others = [model for model in read.library.models if model.folder != shown.folder]
    read.library.choose(shown)
    qtbot.waitUntil(lambda: read.library.model.folder == shown.folder)
    read.comparison.choose([(model, model.snapshots[-1]) for model in others])
    qtbot.waitUntil(lambda: panel.reaches.keys() == expected.keys())
    curves, said = panel.plot.points(), panel.wave.accessibleDescription()
    assert curves.keys() == expected.keys()
    for name, (along, found) in expected.items():
        np.testing.assert_allclose(panel.reaches[name].norms, found.norms, rtol=1e-3, atol=1e-8)
        np.testing.assert_allclose(curves[name][:, 1], found.relative[7::-1], rtol=1e-3, atol=1e-8)
        assert f"{name}, {along} ×{number(found.factor, 2)} a step: " in said
    assert panel.complaint == ""


@pytest.mark.slow
def test_an_ngram_alone_says_why_there_is_nothing(
    panel: ThroughTimePanel, read: Session, make_run: Callable[..., Path], qtbot: QtBot
) -> None:
    read.library.open(make_run("ngram", 2))
    qtbot.waitUntil(lambda: "counts and has no parameters" in panel.complaint)
    assert panel.reaches == {}


@pytest.mark.slow
def test_playing_goes_back_step_by_step_to_the_beginning(panel: ThroughTimePanel, qtbot: QtBot) -> None:
    seen = []
    panel.wave.reached_changed.connect(lambda: seen.append(panel.wave.reached))
    panel.findChild(object, "through_time_play").click()
    qtbot.waitUntil(lambda: bool(seen) and seen[-1] is None)
    assert seen == [*range(7), None]


def test_python_gives_the_norms_that_are_drawn(panel: ThroughTimePanel, read: Session) -> None:
    scope: dict[str, object] = {}
    exec(panel.recipe(), scope)
    assert set(scope["norms"]) == set(panel.reaches)
    for name, found in panel.reaches.items():
        np.testing.assert_allclose(scope["norms"][name], found.norms, rtol=1e-4, atol=1e-8)


@pytest.mark.slow
def test_of_a_translator_losses_steps_and_a_scaled_u_are_shown_as_well(
    panel: ThroughTimePanel, read_pair: Callable[..., Session], attending_run: Path, qtbot: QtBot
) -> None:
    session = read_pair(attending_run, "abca", "acba")
    qtbot.waitUntil(lambda: panel.losses is not None and panel.losses.address.startswith("decoder"))
    trace_of_both = session.reading.current.trace
    model = model_of(session)
    whole = gradient(model, "acba", "loss@-1", **trace_of_both.beside)
    np.testing.assert_allclose(
        panel.losses.norms[-1], reach(whole, "decoder/layers/0/hidden").norms, rtol=1e-3, atol=1e-8
    )
    size = np.linalg.norm(whole.parameters["decoder.weight_hh_l0"])
    assert panel.sums.parts.isVisible()
    assert panel.sums.parts.total == pytest.approx(size, rel=1e-3)
    slider = panel.findChild(QSlider)
    slider.setValue(40)
    qtbot.waitUntil(lambda: "with U scaled" in panel.plot.points())
    expected = reach_with(
        model,
        "acba",
        "loss@-1",
        "decoder/layers/0/hidden",
        scales={"decoder.weight_hh_l0": 2.0},
        **trace_of_both.beside,
    )
    found = panel.plot.points()["with U scaled"][:, 1]
    np.testing.assert_allclose(found, expected.relative[: expected.last + 1][::-1], rtol=1e-3, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "text"), [("tagger", "time flies like an arrow"), ("classifier", "so good")]
)
def test_of_labels_the_steps_are_shown_and_it_is_said_why_there_are_no_losses(
    panel: ThroughTimePanel,
    read: Session,
    label_runs: dict[str, Path],
    qtbot: QtBot,
    kind: str,
    text: str,
) -> None:
    read.library.open(label_runs[kind])
    qtbot.waitUntil(lambda: read.library.model.folder == label_runs[kind])
    read.reading.set_prefix(text)
    qtbot.waitUntil(
        lambda: panel.losses is None and panel.parameter is not None and panel.sums.parts.isVisible()
    )
    assert panel.sums.title == "A text does not give its labels, so it has no losses."
    assert not panel.sums.findChild(HeatmapView).isVisible()
    found = read.reading.current
    whole = gradient(model_of(read), text, read.gradients.of_reading(found))
    assert panel.sums.parts.total == pytest.approx(
        np.linalg.norm(whole.parameters[panel.parameter.name]), rel=1e-3
    )
    assert panel.complaint == ""


def test_a_scaled_u_stands_beside_the_curve_that_it_is_of_and_beside_no_other(qtbot: QtBot) -> None:
    curves = ReachCurves()
    qtbot.addWidget(curves)
    first, second, scaled = (Reach("layers/0/hidden", np.array(norms)) for norms in ((1, 2), (1, 4), (1, 8)))
    color = "#000000"
    curves.set_reaches({"RNN": (first, color)}, "of the RNN")
    curves.set_scaled(scaled, 2.0, "of the RNN")
    assert "U × 2.00" in curves.said
    curves.set_reaches({"LSTM": (second, color)}, "of the LSTM")
    assert "U" not in curves.said
    assert set(curves.plot.points()) == {"LSTM"}
    curves.set_scaled(scaled, 3.0, "of the RNN")  # answered late
    assert "U" not in curves.said
    curves.set_scaled(scaled, 3.0, "of the LSTM")
    assert "U × 3.00" in curves.said
