"""A corpus of the catalogue that has to be fetched: by a click, with progress, and with a way back."""

from __future__ import annotations

import hashlib
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from lmviz.app.panels.corpus import texts as texts_panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.controls.row_list import RowList
from lmviz.app.window.main_window import MainWindow
from lmviz.base.errors import LmvizError
from lmviz.text import catalogue
from lmviz.text.catalogue import Entry
from lmviz.text.download import download

ONLY_PANELS = ("texts",)

LONG = 20_000
TEXT = b"To be, or not to be.\n" * 20_000


class Server(ThreadingHTTPServer):
    """Sends the first half of the text, and the rest when it may."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.may_go_on = threading.Event()


class Answer(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(TEXT)))
        self.end_headers()
        half = len(TEXT) // 2
        with suppress(ConnectionError):
            self.wfile.write(TEXT[:half])
            self.server.may_go_on.wait()
            self.wfile.write(TEXT[half:])

    def log_message(self, *arguments: object) -> None:
        """Keep the tests quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    thread = threading.Thread(target=found.serve_forever)
    thread.start()
    yield found
    found.may_go_on.set()
    found.shutdown()
    thread.join()
    found.server_close()


def _said(window: MainWindow) -> list[str]:
    """What stands in the labels of the panel of texts."""
    return [label.text() for label in window.findChild(QWidget, "texts_view").findChildren(QLabel)]


@pytest.fixture
def entry(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Entry:
    """The only text of the catalogue; it is not there yet."""
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("no_proxy", "*")
    checksum, address = hashlib.sha256(TEXT).hexdigest(), f"http://127.0.0.1:{server.server_port}/play"
    found = Entry("play", "A play", "A test.", None, "CC0", checksum, address=address, sent=len(TEXT))
    for module in (catalogue, texts_panel):
        monkeypatch.setattr(module, "CATALOGUE", (found,))
    return found


@pytest.fixture
def half_way(entry: Entry, window: MainWindow, session: Session, qtbot: QtBot) -> MainWindow:
    """The window after the text was chosen and its button clicked, with half of it there."""
    window.show_perspective("corpus")
    texts = window.findChild(RowList, "corpus_picker")
    qtbot.waitUntil(lambda: len(texts.rows) == 1, timeout=LONG)
    assert texts.rows[0].words[1] == "download"
    assert texts.model().index(0, 0).data(Qt.ItemDataRole.ToolTipRole) == paragraph(
        "A test. (CC0) 420 kB are downloaded."
    )
    place = texts.visualRect(texts.model().index(0, 0)).center()
    qtbot.mouseClick(texts.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert "A test. (CC0)" in _said(window)
    assert not window.jobs.findChildren(QProgressBar), "a click on a row says what it is"
    button = window.findChild(QPushButton, "corpus_download_button")
    assert button.text() == "Download 420 kB"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(window.jobs.findChildren(QProgressBar)), timeout=LONG)
    bar = window.jobs.findChild(QProgressBar)
    qtbot.waitUntil(lambda: 0 < bar.value() <= bar.maximum() / 2, timeout=LONG)
    return window


def test_a_click_fetches_a_text_and_opens_it(
    half_way: MainWindow, entry: Entry, server: Server, session: Session, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(session.text.changed, timeout=LONG):
        server.may_go_on.set()
    assert session.text.corpus.name == "play"
    assert entry.path.read_bytes() == TEXT
    texts = half_way.findChild(RowList, "corpus_picker")
    qtbot.waitUntil(lambda: texts.rows[0].words[1] == "420 kB", timeout=LONG)
    assert "A test. (CC0)" in _said(half_way)
    qtbot.waitUntil(lambda: not half_way.jobs.findChildren(QProgressBar), timeout=LONG)


def test_fetching_can_be_cancelled_and_leaves_nothing(
    half_way: MainWindow, entry: Entry, server: Server, session: Session, qtbot: QtBot
) -> None:
    qtbot.mouseClick(half_way.jobs.findChild(QPushButton, "cancel_button"), Qt.MouseButton.LeftButton)
    server.may_go_on.set()
    qtbot.waitUntil(lambda: not half_way.jobs.findChildren(QProgressBar), timeout=LONG)
    qtbot.waitUntil(lambda: not any(entry.path.parent.iterdir()), timeout=LONG)
    assert session.text.corpus is None


@pytest.mark.slow
def test_what_arrives_broken_is_a_sentence(
    entry: Entry, half_way: MainWindow, server: Server, session: Session, qtbot: QtBot
) -> None:
    said: list[str] = []
    session.work.any_failed.connect(said.append)
    server.shutdown()
    object.__setattr__(entry, "sha256", "0" * 64)
    server.may_go_on.set()
    qtbot.waitUntil(lambda: bool(said), timeout=LONG)
    [sentence] = said
    texts = half_way.findChild(QWidget, "texts_view")
    assert texts.complaint == sentence
    assert "checksum differs" in sentence
    assert not any(entry.path.parent.iterdir())
    picker = half_way.findChild(RowList, "corpus_picker")
    qtbot.waitUntil(lambda: not picker.selectedIndexes())  # no text is open, and none is marked
    half_way.show_perspective("train")
    half_way.show_perspective("corpus")
    assert texts.complaint == ""


def test_without_a_connection_no_number_of_an_error_is_said(
    entry: Entry, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise urllib.error.URLError(socket.gaierror(-2, "Name or service not known"))

    monkeypatch.setattr(urllib.request, "urlopen", unreachable)
    with pytest.raises(LmvizError, match=r"^A play could not be downloaded \(Name or service not known\): "):
        download(entry)
