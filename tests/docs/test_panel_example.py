"""The panel of docs/adding-a-panel.md, in the real window."""

from __future__ import annotations

import gc

from examples import install

import lmviz
from lmviz.app.panels import table
from lmviz.app.widgets.plots.bars import BarsView

TEXT = "the cows eat grass\nthe hens eat corn\n" * 20


def test_the_panel_counts_and_goes_to_a_place(tmp_path, monkeypatch, qtbot):
    from lmviz.app.opening.settings import Settings
    from lmviz.app.session.session import Session
    from lmviz.app.window.main_window import MainWindow

    gc.disable()  # as in the program: a worker must not destroy Qt objects
    (tmp_path / "farm.txt").write_text(TEXT, encoding="utf-8")
    corpus = lmviz.load_corpus(tmp_path / "farm.txt", documents="line")
    lmviz.train("ngram", corpus, out=tmp_path / "run", steps=2, order=2)
    [row] = install("adding-a-panel.md", monkeypatch).values()
    monkeypatch.setattr(table, "PANELS", (*table.PANELS, eval(row, vars(table))))

    session = Session(tmp_path / "runs")
    window = MainWindow(session, Settings(tmp_path / "settings.json"))
    qtbot.addWidget(window)
    try:
        window.show()
        window.show_perspective("inside")
        session.start()
        session.library.open(tmp_path / "run")
        session.reading.set_prefix("the cows and the hens eat the corn")
        qtbot.waitUntil(lambda: session.reading.current is not None, timeout=20_000)
        panel = next(found for found in window.perspective.panels if found.objectName() == "counts_view")
        panel.parentWidget().raise_()
        qtbot.waitUntil(lambda: panel.is_in_sight and bool(panel.exported_arrays()))
        assert panel.exported_arrays()["counts"].tolist() == [3, 1, 1, 1, 1, 1, 1]
        found: dict[str, list[tuple[str, int]]] = {}
        exec(panel.recipe(), found)
        assert [number for _, number in found["values"]] == [3, 1, 1, 1, 1, 1, 1]
        panel.findChild(BarsView).part_clicked.emit(0)
        assert session.reading.encoding.tokens[session.focus.position] == "the"
        assert session.focus.position == len(session.reading.encoding) - 2
    finally:
        window.close()
        gc.enable()
