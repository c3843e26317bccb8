"""Two heads that work together on a text, and since when the model knows the word that they find."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from told import words_of

import lmviz
from lmviz.app.panels.circuits.head_pair import HeadPairPanel
from lmviz.app.session.session import Session
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("head_pair",)
TEXT = "chair apple queen map chair apple egg rope queen"


@pytest.fixture
def panel(window: MainWindow, session: Session, qtbot: QtBot) -> HeadPairPanel:
    """The panel with the sample that has learned to repeat, and a text that says its last word again."""
    [found] = [item for item in window.perspective.panels if isinstance(item, HeadPairPanel)]
    session.library.open("echo-transformer")
    qtbot.waitUntil(lambda: session.library.model is not None)
    session.reading.set_prefix(TEXT)
    qtbot.waitUntil(lambda: found.pair is not None and found.is_whole and found.is_up_to_date)
    return found


def test_they_are_drawn_on_the_text_and_said_with_their_shares(panel: HeadPairPanel) -> None:
    trace = lmviz.trace(lmviz.open_model("echo-transformer"), TEXT)
    (layer, head), (later, other) = panel.pair.before, panel.pair.follows
    before = trace[f"layers/{layer}/attention/weights"].array[head, 4, 3]
    follows = trace[f"layers/{later}/attention/weights"].array[other, 9, 4]
    assert layer < later
    before_said, follows_said = (words_of(panel, f"head_{name}_sentence") for name in ("before", "follows"))
    assert f"“map” looks at the word before it, “queen⁴”, with {100 * before:.1f} %" in before_said
    assert f"looks at “map”, which followed it last time, with {100 * follows:.1f} %" in follows_said
    assert "“map” is what the model says next" in follows_said
    assert [view.shape for view in panel.findChildren(HeatmapView)] == [(10, 10)] * 2


@pytest.mark.slow
def test_the_word_is_known_at_each_step_as_python_says_it(
    panel: HeadPairPanel, session: Session, qtbot: QtBot
):
    known: dict[str, np.ndarray] = {}
    exec(panel.recipe(), known)
    assert panel.exported_arrays()["probability"] == pytest.approx(known["values"], rel=1e-4)
    assert panel.exported_arrays()["step"].tolist() == known["steps"]
    bars = panel.findChild(BarsView)
    panel.window().resize(1280, 720)
    qtbot.waitUntil(lambda: bars.amount() >= 4 and bars.left_out == 0)
    bars.part_clicked.emit(0)
    assert session.library.step in known["steps"][:-1]
    session.library.choose_step(0)
    qtbot.waitUntil(lambda: "no two heads work together" in panel.card.placeholder)


@pytest.mark.slow
def test_a_bar_goes_to_the_step_that_stands_at_it_also_before_another_one_is_drawn(
    panel: HeadPairPanel, session: Session
) -> None:
    bars, known = panel.findChild(BarsView), panel.exported_arrays()["step"].tolist()

    def step_of(bar: int) -> int:
        bars.part_clicked.emit(bar)  # nothing is drawn meanwhile
        return session.library.step

    drawn = [step_of(bar) for bar in range(bars.amount())]
    assert drawn == sorted(set(drawn))
    for step in set(known) - set(drawn):
        session.library.choose_step(step)
        assert step_of(len(drawn) - 1) == drawn[-1]


@pytest.mark.slow
def test_a_word_that_is_new_is_said_to_be_so(panel: HeadPairPanel, session: Session, qtbot: QtBot) -> None:
    session.reading.set_prefix("chair apple queen")
    qtbot.waitUntil(lambda: "“queen”, occurs for the first time" in panel.card.placeholder)
    session.library.open("stories-lstm")
    qtbot.waitUntil(lambda: session.library.model.name == "stories-lstm")
    assert "has no heads" in panel.out_of_place(session.library.model)
