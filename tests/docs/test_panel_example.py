"""The panel of docs/adding-a-panel.md, in the real window."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from examples import install

import lmviz
from lmviz.app.panels import table
from lmviz.app.panels.question import Key
from lmviz.app.widgets.plots.bars import BarsView
from lmviz.looks import parts
from lmviz.looks.parts import LookPart

TEXT = "the cows eat grass\nthe hens eat corn\n" * 20


@pytest.fixture
def opened(tmp_path, monkeypatch, qtbot):
    """The session and the panels of the page, with a model that has read a text, in the window."""
    from lmviz.app.opening.settings import Settings
    from lmviz.app.session.session import Session
    from lmviz.app.window.main_window import MainWindow

    (tmp_path / "farm.txt").write_text(TEXT, encoding="utf-8")
    corpus = lmviz.load_corpus(tmp_path / "farm.txt", documents="line")
    lmviz.train("ngram", corpus, out=tmp_path / "run", steps=2, order=2)
    monkeypatch.setattr(Key, "known", set(Key.known))  # the page's is none of the program's
    [row] = install("adding-a-panel.md", monkeypatch).values()
    asking = table.PanelRow("beginning", "Beginning", "inside", "centre", tabbed=True)
    monkeypatch.setattr(table, "PANELS", (*table.PANELS, eval(row, vars(table)), asking))

    session = Session(tmp_path / "runs")
    window = MainWindow(session, Settings(tmp_path / "settings.json"))
    qtbot.addWidget(window)
    window.show()
    window.show_perspective("inside")
    session.start()
    session.library.open(tmp_path / "run")
    session.reading.set_prefix("the cows and the hens eat the corn")
    qtbot.waitUntil(lambda: session.reading.current is not None, timeout=20_000)

    def panel_of(name):
        panel = next(found for found in window.perspective.panels if found.objectName() == name)
        panel.parentWidget().raise_()
        qtbot.waitUntil(lambda: panel.is_in_sight and bool(panel.exported_arrays()), timeout=20_000)
        return panel

    yield session, panel_of
    window.close()


def test_the_panel_counts_and_goes_to_a_place(opened):
    session, panel_of = opened
    panel = panel_of("counts_view")
    assert panel.exported_arrays()["counts"].tolist() == [3, 1, 1, 1, 1, 1, 1]
    found: dict[str, list[tuple[str, int]]] = {}
    exec(panel.recipe(), found)
    assert [number for _, number in found["values"]] == [3, 1, 1, 1, 1, 1, 1]
    panel.findChild(BarsView).part_clicked.emit(0)
    assert session.reading.encoding.tokens[session.focus.position] == "the"
    assert session.focus.position == len(session.reading.encoding) - 2


def test_the_panel_that_asks_shows_the_untrained_model(opened):
    session, panel_of = opened
    panel = panel_of("beginning_view")
    first = session.library.model.snapshots[0]
    assert panel.card.aside == f"step {first}"
    found: dict[str, np.ndarray] = {}
    exec(panel.recipe(), found)
    assert np.allclose(found["values"], panel.exported_arrays()["probabilities"])
    assert not np.allclose(found["values"], session.reading.current.trace["probabilities"].array)


def test_the_page_names_every_part_and_no_other():
    page = (Path(__file__).parents[2] / "docs" / "adding-a-panel.md").read_text(encoding="utf-8")
    rows = page.partition("| part | what it shows |")[2].partition("A colour is")[0]
    named = {
        name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1] if row else "")
    }
    made = [value for value in vars(parts).values() if isinstance(value, type)]
    assert named == {part.__name__ for part in made if issubclass(part, LookPart) and part is not LookPart}
