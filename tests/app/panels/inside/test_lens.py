"""The Lens panel: what each layer would predict."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from covering import in_families
from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.lens import LensPanel
from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.window.main_window import MainWindow
from lmviz.families import open_run_model
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.stream import residual_norms
from lmviz.models.address import Address
from lmviz.training.run import Run
from tests.app.conftest import wait_for_reading

ONLY_PANELS = ("lens",)


@pytest.mark.slow
def test_of_a_deep_model_it_shows_the_end_of_each_layer(
    window: MainWindow,
    session: Session,
    make_run: Callable[..., Path],
    qtbot: QtBot,
    answered: Callable[[], None],
) -> None:
    session.library.open(make_run("transformer", 1, width=4, heads=1, layers=9, context=8))
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix("the cows eat")
    wait_for_reading(session, qtbot)
    [panel] = window.findChildren(LensPanel)
    qtbot.waitUntil(lambda: panel.lens is not None)
    answered()
    layers = [Address.parse(place).layer for place in panel.lens.places]
    assert layers == [None, *range(9)]
    assert tuple(panel.norms) == panel.lens.places
    known: dict[str, object] = {}
    exec(panel.recipe(), known)
    assert known["lens"].places == panel.lens.places  # type: ignore[attr-defined]


@in_families("gru", "transformer")
def test_the_lens_says_what_each_layer_would_predict_and_leads_to_its_stage(
    inside: dict[str, Panel], session: Session, run: Path, qtbot: QtBot
) -> None:
    lens, trace = inside["lens_view"], session.reading.current.trace
    session.focus.choose_position(2)
    lens.refresh()
    qtbot.waitUntil(lambda: lens.lens is not None and lens.lens.positions == (2,))
    expected = logit_lens(open_run_model(Run.open(run)), trace, 3, [2])
    assert lens.lens.places == expected.places
    np.testing.assert_array_equal(lens.lens.ids, expected.ids)
    np.testing.assert_allclose(lens.lens.probabilities, expected.probabilities, atol=1e-5)
    places, norms = residual_norms(trace)
    assert lens.norms == pytest.approx(dict(zip(places, norms[:, 2], strict=True)))
    lens.findChild(HeatmapView).cell_clicked.emit(0, 0)
    assert expected.places[0] in trace.stages[session.focus.stage].results
