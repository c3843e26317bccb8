"""What a translator makes of its source alone stands under the words of the source."""

from collections.abc import Callable
from pathlib import Path

from pytestqt.qtbot import QtBot

from lmviz.app.panels.inside.state import StatePanel
from lmviz.app.panels.inside.unit import UnitPanel
from lmviz.app.session.session import Session
from lmviz.app.window.main_window import MainWindow

ONLY_PANELS = ("state", "unit")

SOURCE = ["a", "b", "c", "⟨end⟩"]


def test_inside_names_the_words_of_the_source(
    window: MainWindow, read_pair: Callable[..., Session], attending_run: Path, qtbot: QtBot
) -> None:
    session = read_pair(attending_run, "abc", "cb")
    window.show_perspective("inside")
    panels = {type(panel): panel for panel in window.perspective.panels}
    state, unit = panels[StatePanel], panels[UnitPanel]
    stages = session.reading.current.trace.stages
    session.focus.choose_stage(
        next(at for at, stage in enumerate(stages) if "encoder/layers/0/hidden" in stage.results)
    )
    qtbot.waitUntil(lambda: state.view is not None and state.view.address == "encoder/layers/0/hidden")
    assert list(state.exported_names().columns) == SOURCE
    session.focus.choose_cell(("encoder/layers/0/hidden", (1, 3)))
    unit.catch_up()
    assert unit.unit == ("encoder/layers/0/hidden", 3)
    assert list(unit.exported_names().rows) == SOURCE
    values = session.reading.current.trace["encoder/layers/0/hidden"].array[:, 3]
    assert unit.exported_arrays()["encoder/layers/0/hidden[:, 3]"].tolist() == values.tolist()
    session.focus.choose_cell(("decoder/layers/0/hidden", (1, 3)))
    unit.catch_up()
    assert list(unit.exported_names().rows) == ["⟨start⟩", "c", "b"]
