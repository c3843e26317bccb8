"""A story in the window: the feature that knows where one puts things, from the list to surgery and back."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

import lmviz
from lmviz.app.session.session import Session
from lmviz.app.widgets.tables.table_view import TableView
from lmviz.app.window.main_window import MainWindow
from lmviz.base.places import shipped

ONLY_PANELS = ("features", "feature", "feature_words", "feature_turn")
TEXT = "Maya owned a brown stone. She put it in the barrel. Later, Maya opened the"
PATIENCE = 300_000


@pytest.mark.slow
def test_the_feature_of_containers_is_found_turned_and_taken_out(
    window: MainWindow, session: Session, qtbot: QtBot
):
    with qtbot.waitSignal(session.text.changed, timeout=PATIENCE):
        session.text.open("stories")
    with qtbot.waitSignal(session.library.model_changed):
        session.library.open(shipped("sample_models") / "stories-transformer")
    session.reading.set_prefix(TEXT)
    offered = window.findChild(QPushButton, "shipped_features_button")
    qtbot.waitUntil(offered.isVisible)
    qtbot.mouseClick(offered, Qt.MouseButton.LeftButton)
    features = session.features
    qtbot.waitUntil(lambda: features.reading is not None and features.reading.is_complete, timeout=PATIENCE)
    head = window.findChild(QLabel, "features_sentence").text()
    assert "75.5 %" in head  # the loss stands between the model's own and the mean's, never alone
    assert all(loss in head for loss in ("0.853", "1.161", "8.779"))

    search, table = (
        window.findChild(QLineEdit, "features_search"),
        window.findChild(TableView, "features_list"),
    )
    search.setText("barrel")
    qtbot.waitUntil(lambda: 0 < table.model().rowCount() < 200)
    search.setText("443")
    qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    table.row_clicked.emit(0)
    assert features.chosen == 443
    told = window.findChild(QLabel, "feature_turn_sentence")
    qtbot.waitUntil(lambda: "from 98.5 % to 3.2 %" in told.text(), timeout=PATIENCE)
    written = window.findChild(QLabel, "feature_words_sentence")
    qtbot.waitUntil(lambda: written.text().startswith("14 words rise"), timeout=PATIENCE)

    before = session.reading.current.trace["probabilities"].array[-1]
    window.findChild(QPushButton, "feature_off_button").click()
    dictionary = lmviz.open_features(features.opened.file)
    off = lmviz.next_token(
        "stories-transformer", TEXT, interventions=[lmviz.change_feature(dictionary, 443, to=0)]
    )

    def is_as(expected: np.ndarray) -> bool:
        found = session.reading.current.trace["probabilities"].array[-1]
        return np.allclose(found, expected, atol=1e-5)

    qtbot.waitUntil(lambda: is_as(off.probabilities))
    assert off.tokens[off.best] == "golden"
    session.surgery.undo()
    qtbot.waitUntil(lambda: is_as(before))
