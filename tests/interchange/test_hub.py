"""Models are downloaded from a hub: one on this machine, which speaks as the real one does."""

import hashlib
import json
import os
import subprocess
import sys
from http.client import BadStatusLine
from pathlib import Path

import pytest
from foreign_models import add_tokenizer, saved
from foreign_tokenizers import END_OF_TURN, chat_folder
from hub_server import REVISION, serving

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.base.reporting import unheard
from lmviz.interchange.hub import UNFINISHED, download_model
from lmviz.interchange.tokenizer_files import SMALL_FILES, read_tokenizer

pytest.importorskip("huggingface_hub")


@pytest.fixture
def hub(tmp_path):
    folder = add_tokenizer(saved("gpt2", tmp_path / "there"))
    (folder / "README.md").write_text("of no use here")
    with serving(folder) as server:
        yield server


@pytest.fixture
def logged_in(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")


def fetch(hub, tmp_path, progress=unheard, name="someone/small"):
    return download_model(name, progress, cache=tmp_path / "cache", address=hub.address)


def test_a_model_is_downloaded_into_the_cache_of_the_hub(hub, tmp_path):
    shares = []
    folder = fetch(hub, tmp_path, shares.append)
    assert folder.parts[-4:] == ("cache", "models--someone--small", "snapshots", REVISION)
    hub_library = pytest.importorskip("huggingface_hub")
    theirs = hub_library.hf_hub_download(
        "someone/small", "config.json", revision=REVISION, cache_dir=tmp_path / "cache", local_files_only=True
    )
    assert theirs == str(folder / "config.json")  # the hub's own library finds it there
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
    }
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    model = lmviz.open_model(folder)
    assert model.name == "someone/small"
    assert lmviz.trace(model, "w3 w4").ids.tolist() == [3, 4]
    before = len(hub.asked)
    assert fetch(hub, tmp_path) == folder
    assert len(hub.asked) == before  # it is there already


def test_a_model_for_chats_arrives_with_all_that_is_said_of_it(hub, tmp_path):
    pytest.importorskip("transformers")
    there = hub.folder = chat_folder(tmp_path / "chats")
    (there / "special_tokens_map.json").write_text(json.dumps({"eos_token": END_OF_TURN}))
    settings = json.loads((there / "generation_config.json").read_text())
    (there / "generation_config.json").write_text(json.dumps(settings | {"eos_token_id": [2, 5]}))
    here = fetch(hub, tmp_path)
    assert {path.name for path in here.iterdir()} == {path.name for path in there.iterdir()}
    theirs, ours = (lmviz.open_model(folder).tokenizer for folder in (there, here))
    assert ours.chat_template == theirs.chat_template != ""
    assert ours.end_ids == theirs.end_ids == (2, 5)


@pytest.mark.parametrize("without", ["", "tokenizer.json"])
def test_whatever_is_read_of_a_tokenizer_is_downloaded(without, tmp_path, monkeypatch):
    folder = add_tokenizer(tmp_path)
    (folder / "vocab.json").write_text('{"a": 0}')
    (folder / "merges.txt").write_text("")
    (folder / without).unlink() if without else None
    asked, exists = [], os.path.exists
    monkeypatch.setattr("os.path.exists", lambda path: asked.append(Path(path)) or exists(path))
    assert read_tokenizer(folder, 50) is not None
    looked_for = {path.name for path in asked if path.parent == folder}
    assert {"tokenizer_config.json", "generation_config.json", "chat_template.jinja"} <= looked_for
    assert looked_for <= set(SMALL_FILES)


@pytest.mark.slow
def test_a_program_that_has_loaded_nothing_of_the_hub_downloads_as_well(hub, tmp_path):
    program = (
        "import sys; from pathlib import Path; from lmviz.interchange.hub import download_model; "
        "print(download_model('someone/small', cache=Path(sys.argv[1]), address=sys.argv[2]))"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "cache"), hub.address]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout.strip().endswith(REVISION), done.stderr


def test_a_download_that_was_given_up_goes_on_where_it_was(hub, tmp_path, monkeypatch):
    monkeypatch.setattr("lmviz.interchange.hub.STEP", 10_000)

    class GivenUp(Exception):
        pass

    def cancel(share):
        if share > 0.6:
            raise GivenUp

    with pytest.raises(GivenUp):
        fetch(hub, tmp_path, cancel)
    assert not list((tmp_path / "cache").glob("**/model.safetensors"))
    folder = fetch(hub, tmp_path)
    again = [first for name, first in hub.asked if name == "model.safetensors"]
    assert len(again) == 2
    assert again[1] > 0
    assert (folder / "model.safetensors").read_bytes() == (hub.folder / "model.safetensors").read_bytes()


def test_what_arrives_damaged_is_refused_and_removed(hub, tmp_path):
    hub.lies = True
    with pytest.raises(LmvizError, match="damaged"):
        fetch(hub, tmp_path)
    hub.lies = False
    assert lmviz.open_model(fetch(hub, tmp_path)).vocabulary_size == 50


@pytest.mark.parametrize("states_sizes", [True, False])
def test_a_file_that_was_cut_is_none(states_sizes, hub, tmp_path):
    hub.cuts, hub.states_sizes = 3, states_sizes
    with pytest.raises(LmvizError, match="bytes arrived"):
        fetch(hub, tmp_path)
    assert not list((tmp_path / "cache").glob("**/config.json"))
    hub.cuts = 0
    assert lmviz.open_model(fetch(hub, tmp_path)).vocabulary_size == 50


def test_more_than_there_should_be_is_not_kept(hub, tmp_path, monkeypatch):
    monkeypatch.setattr("lmviz.interchange.hub.STEP", 1000)
    hub.repeats = 1000
    with pytest.raises(LmvizError, match="bytes arrived"):
        fetch(hub, tmp_path)
    left = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert not left
    hub.repeats = 1
    assert lmviz.open_model(fetch(hub, tmp_path)).vocabulary_size == 50


def test_a_part_that_is_too_long_is_fetched_anew(hub, tmp_path):
    for file in hub.folder.iterdir():
        name = hashlib.sha256(file.read_bytes()).hexdigest()
        part = tmp_path / "cache" / "models--someone--small" / "blobs" / f"{name}{UNFINISHED}"
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(file.read_bytes() * 2)
    assert lmviz.open_model(fetch(hub, tmp_path)).vocabulary_size == 50


def test_an_answer_that_is_none_is_a_sentence(hub, tmp_path, monkeypatch):
    def nonsense(*_, **__):
        raise BadStatusLine("nonsense")

    monkeypatch.setattr("lmviz.interchange.hub.urlopen", nonsense)
    with pytest.raises(LmvizError, match=r"could not be downloaded \(nonsense\): check the connection"):
        fetch(hub, tmp_path)


def test_a_gated_model_arrives_where_one_is_logged_in(hub, tmp_path, logged_in):
    hub.token = "hf_secret"
    assert lmviz.open_model(fetch(hub, tmp_path)).vocabulary_size == 50
    assert set(hub.told) == {"Bearer hf_secret"}


@pytest.mark.parametrize("leads_on", ["at once", "when it is to send"])
def test_no_other_host_is_told_the_token(leads_on, hub, tmp_path, logged_in):
    hub.token, hub.leads_on = "hf_secret", leads_on
    with serving(hub.folder) as other:
        hub.elsewhere = other.address
        assert lmviz.open_model(fetch(hub, tmp_path)).vocabulary_size == 50
        assert other.asked
        assert set(other.told) == {None}


@pytest.mark.parametrize("says_why", [True, False])
def test_a_gated_model_says_that_it_is(says_why, hub, tmp_path, logged_in):
    hub.token, hub.says_why = "hf_other", says_why
    with pytest.raises(LmvizError, match=r"gated or private: accept its terms .* `hf auth login`"):
        fetch(hub, tmp_path)


def test_whoever_is_not_logged_in_hears_how_to(hub, tmp_path, monkeypatch):
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_IMPLICIT_TOKEN", True)
    for hub.token, hub.says_why in (("hf_secret", True), ("hf_secret", False)):
        with pytest.raises(LmvizError, match=r"private.* `hf auth login`"):
            fetch(hub, tmp_path)


def test_what_cannot_be_had_is_said_in_a_sentence(hub, tmp_path):
    with pytest.raises(LmvizError, match="no model 'someone/else'"):
        fetch(hub, tmp_path, name="someone/else")
    for name in ("", "a b", "../../etc", "..", "a/b/c", "https://x.y/z"):
        with pytest.raises(LmvizError, match="is not the name of a model"):
            fetch(hub, tmp_path, name=name)
    (hub.folder / "model.safetensors").rename(hub.folder / "model.gguf")
    with pytest.raises(LmvizError, match="in a form that lmviz does not open"):
        fetch(hub, tmp_path)
    (hub.folder / "config.json").unlink()
    with pytest.raises(LmvizError, match=r"has no config\.json"):
        fetch(hub, tmp_path)


def test_without_a_connection_it_says_so(tmp_path):
    with pytest.raises(LmvizError, match=r"could not be downloaded .*: check the connection"):
        download_model("someone/small", cache=tmp_path, address="http://127.0.0.1:9")


def test_without_the_extra_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(LmvizError, match="pip install huggingface_hub"):
        download_model("someone/small")
