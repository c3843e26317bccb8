import hashlib
import threading
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import Entry, corpus_path, find_entry
from lmviz.text.download import download

TEXT = b"To be, or not to be.\n" * 20_000


class Answer(BaseHTTPRequestHandler):
    """Sends the text; without its length, cut short, or an error, as the path wants it."""

    def do_GET(self) -> None:
        if self.path == "/missing":
            self.send_error(404)
            return
        self.send_response(200)
        if self.path not in ("/lengthless", "/endless"):
            self.send_header("Content-Length", str(len(TEXT)))
        self.end_headers()
        sent = {"/short": TEXT[:1000], "/endless": TEXT * 50}.get(self.path, TEXT)
        with suppress(ConnectionError):
            self.wfile.write(sent)

    def log_message(self, *arguments: object) -> None:
        """Keep the tests quiet."""


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def entry(monkeypatch, tmp_path, address) -> Entry:
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    checksum = hashlib.sha256(TEXT).hexdigest()
    return Entry(
        "play", "A play", "A test.", None, "none", checksum, address=f"{address}/play", sent=len(TEXT)
    )


def left_behind(entry: Entry) -> list[str]:
    return [path.name for path in entry.path.parent.iterdir()] if entry.path.parent.exists() else []


@pytest.mark.parametrize("path", ["/play", "/lengthless"])
def test_a_download_arrives_whole_and_tells_its_progress(entry, address, path):
    shares: list[float] = []
    where = download(replace(entry, address=address + path), shares.append)
    assert where == entry.path
    assert where.read_bytes() == TEXT
    assert left_behind(entry) == ["play.txt"]
    assert len(shares) > 2
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_a_download_can_be_cancelled(entry):
    shares: list[float] = []
    assert download(entry, shares.append, cancelled=lambda: len(shares) > 1) is None
    assert left_behind(entry) == []


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/missing", r"could not be downloaded \(Not Found\)"),
        ("/short", "A play"),
        ("/endless", "checksum differs"),
    ],
)
def test_what_goes_wrong_is_said_and_leaves_nothing(entry, address, path, sentence):
    with pytest.raises(LmvizError, match=sentence):
        download(replace(entry, address=address + path))
    assert left_behind(entry) == []


def test_no_more_is_taken_than_the_text_has(entry, address):
    shares: list[float] = []
    with pytest.raises(LmvizError, match="checksum differs"):
        download(replace(entry, address=f"{address}/endless"), shares.append)
    assert len(shares) <= len(TEXT) / (1 << 16) + 1


def test_a_text_of_unknown_size_arrives(entry, address):
    entry = replace(entry, sent=0, address=f"{address}/lengthless")
    download(entry)
    assert entry.path.read_bytes() == TEXT


def test_another_text_than_the_one_meant_is_refused(entry):
    entry.path.parent.mkdir(parents=True)
    entry.path.write_bytes(b"old")
    with pytest.raises(LmvizError, match="checksum differs"):
        download(replace(entry, sha256="0" * 64))
    assert entry.path.read_bytes() == b"old"


def test_no_server_is_said(entry):
    with pytest.raises(LmvizError, match="check the connection"):
        download(replace(entry, address="http://127.0.0.1:9/play"))


def test_our_own_corpora_need_no_download():
    with pytest.raises(LmvizError, match="comes with lmviz"):
        download(find_entry("farm"))


def test_a_downloaded_corpus_opens(monkeypatch, entry):
    monkeypatch.setattr("lmviz.text.catalogue.CATALOGUE", (entry,))
    download(entry)
    assert entry.is_present
    assert corpus_path("play") == entry.path
