"""Public corpora with tags and with pairs: fetched from a server of the test's own, and opened by name."""

from __future__ import annotations

import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from lmviz.base.errors import LmvizError
from lmviz.cli import run
from lmviz.text.catalogue import Entry, corpus_path, find_entry
from lmviz.text.corpus import load_corpus
from lmviz.text.download import download
from lmviz.text.first_example import first_example

SOURCES = ["A dog\truns .", "Two dogs run .", "", "A man sings ."] * 10
TARGETS = ["Ein Hund läuft .", "Zwei Hunde laufen .", "", "Ein Mann singt ."] * 10
TREEBANK = "# sent_id = 1\n" + "".join(
    f"{number}\t{word}\t_\t{tag}\t_\t_\t0\troot\t_\t_\n"
    for number, (word, tag) in enumerate([("time", "NOUN"), ("flies", "VERB")], start=1)
)


def packed(**files: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name.replace("_", "."))
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return stream.getvalue()


PAIRS = packed(train_de="\r\n".join(TARGETS), train_en="\n".join(SOURCES))
SENT = {"english-web": (TREEBANK + "\n").encode() * 20, "multi30k": PAIRS}


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(SENT[self.path[1:]])

    def log_message(self, *arguments: object) -> None:
        """Keep the tests quiet."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def served(monkeypatch, tmp_path, address) -> dict[str, Entry]:
    """The entries of the catalogue, with what the server has in the place of the real files."""
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    entries = {
        name: replace(
            find_entry(name),
            address=f"{address}/{name}",
            sent=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
        )
        for name, data in SENT.items()
    }
    monkeypatch.setattr("lmviz.text.catalogue.CATALOGUE", tuple(entries.values()))
    return entries


def test_a_treebank_is_fetched_and_opens_as_tagged_text(served):
    assert download(served["english-web"])
    corpus = load_corpus("english-web")
    assert corpus.task == "tagging"
    assert set(corpus.labels) == {"NOUN", "VERB"}
    assert len(corpus.training_examples) + len(corpus.validation_examples) == 20
    assert "CoNLL-U" in corpus.recognised


def test_pairs_are_fetched_in_one_archive_and_open_as_translation(served):
    entry = served["multi30k"]
    assert download(entry) == corpus_path("multi30k") == entry.path
    assert entry.path.read_bytes() == PAIRS
    corpus = load_corpus("multi30k")
    assert corpus.task == "translation"
    examples, held_out = corpus.training_examples, corpus.validation_examples
    assert len(examples) + len(held_out) == 30
    sides = {
        (corpus.tokenizer.decode(source.tolist()), corpus.target_tokenizer.decode(target.tolist()))
        for source, target in zip(examples.source, examples.target, strict=True)
    }
    assert any("Two dogs run" in source and "Zwei Hunde laufen" in target for source, target in sides)
    assert all(("Hund" in target) == ("dog" in source) for source, target in sides)
    assert [path.name for path in entry.path.parent.iterdir()] == ["multi30k.tar.gz"]
    example = first_example([entry.name], corpus.options)
    assert (example.source, example.text) in set(zip(SOURCES, TARGETS, strict=True))


def test_pairs_can_be_read_as_plain_text_too(served):
    download(served["multi30k"])
    assert load_corpus("multi30k", task="next-token").task == "next-token"


@pytest.mark.parametrize("name", SENT)
def test_what_was_not_fetched_or_was_spoilt_is_said(served, name):
    with pytest.raises(LmvizError, match="download it from the catalogue first"):
        load_corpus(name)
    path = download(served[name])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LmvizError, match="download it from the catalogue first"):
        load_corpus(name)


@pytest.mark.parametrize(
    "sent", [b"not an archive", packed(train_en="a\n")], ids=["not an archive", "another"]
)
def test_an_archive_that_holds_something_else_is_one_sentence(monkeypatch, served, sent):
    monkeypatch.setitem(SENT, "multi30k", sent)
    entry = replace(served["multi30k"], sha256=hashlib.sha256(sent).hexdigest(), sent=len(sent))
    monkeypatch.setattr("lmviz.text.catalogue.CATALOGUE", (entry,))
    download(entry)
    with pytest.raises(LmvizError, match=r"cannot be read \(it .*\): delete it and download it again\.$"):
        load_corpus("multi30k")


def test_a_file_in_the_archive_that_is_no_text_is_named(monkeypatch, served):
    sent = packed(train_en="a\n", train_de="\0\0")
    monkeypatch.setitem(SENT, "multi30k", sent)
    entry = replace(served["multi30k"], sha256=hashlib.sha256(sent).hexdigest(), sent=len(sent))
    monkeypatch.setattr("lmviz.text.catalogue.CATALOGUE", (entry,))
    download(entry)
    with pytest.raises(LmvizError, match=r"multi30k\.tar\.gz/train\.de is not a text"):
        load_corpus("multi30k")


def test_the_command_line_tells_licence_and_size_and_fetches(served, capsys):
    assert run(["corpora", "--download", "multi30k"]) == 0
    said = capsys.readouterr().out
    assert "Multi30k (CC BY-NC-SA 4.0, Elliott et al. 2016) is on this computer." in said
    assert "English treebank (CC BY-SA 4.0" in said
    assert "`lmviz corpora --download english-web`, 0.0 MB." in said
    assert "None" not in said
