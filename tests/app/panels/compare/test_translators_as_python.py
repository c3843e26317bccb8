"""The lines of Python behind compared translators read the same source, and the same changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow
from lmviz.inspection.interventions import zero

ONLY_PANELS = ("compared_distributions", "surprisal")


def test_compared_translators_leave_as_python(
    window: MainWindow,
    read_pair: Callable[..., Session],
    translator_run: Path,
    attending_run: Path,
    drawn: Callable[[], None],
    qtbot: QtBot,
) -> None:
    session = read_pair(translator_run, "abc", "cb")
    read_pair(attending_run, "abc", "cb")
    session.comparison.choose([(session.library.models[0], 5)])
    change = zero("encoder/layers/0/hidden", source=1)
    session.surgery.add(change)
    window.show_perspective("compare")
    drawn()
    view = next(panel for panel in window.perspective.panels if panel.objectName() == "surprisal_view")
    qtbot.waitUntil(lambda: view.disagreement is not None and len(view.curves) == 2)
    given: dict[str, Any] = {}
    exec(view.recipe(), given)
    known = view.disagreement[np.isfinite(view.disagreement)]
    assert given["found"].divergence[-len(known) :] == pytest.approx(known, abs=1e-6)
    table = next(panel for panel in window.perspective.panels if panel.objectName() == "compare_view")
    qtbot.waitUntil(lambda: bool(table.recipe()))
    exec(table.recipe(), given)
    wanted = [
        lmviz.next_token(translator_run, "cb", source="abc"),
        lmviz.next_token(attending_run, "cb", source="abc", interventions=[change]),
    ]
    for found, each in zip(given["distributions"], wanted, strict=True):
        assert found.probabilities == pytest.approx(each.probabilities, abs=1e-6)
