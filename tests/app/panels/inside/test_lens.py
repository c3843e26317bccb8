"""The Lens panel: what each layer would predict."""

from pathlib import Path

import numpy as np
import pytest
from covering import in_families
from pytestqt.qtbot import QtBot

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.families import open_run_model
from lmviz.inspection.logit_lens import logit_lens, residual_norms
from lmviz.training.run import Run

ONLY_PANELS = ("lens",)


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
