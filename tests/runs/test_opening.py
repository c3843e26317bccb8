"""What holds a model, and how it is seen as a run."""

import gzip

import pytest
from foreign_models import add_tokenizer, as_torch_save, saved

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.runs.opening import find_model, open_model_of, open_recorded


@pytest.fixture
def folder(tmp_path):
    return add_tokenizer(saved("gpt2", tmp_path / "small gpt"))


def test_a_checkpoint_is_found_by_its_folder_or_any_of_its_files(folder):
    for name in (
        "",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "generation_config.json",
        "merges.txt",
    ):
        assert find_model(folder / name) == folder
    (folder / "README.md").write_text("what it is for")
    assert find_model(folder / "README.md") is None
    as_torch_save(folder)
    assert find_model(folder / "pytorch_model.bin") == folder
    (folder / "pytorch_model.bin").rename(folder / "ckpt.pt")
    assert find_model(folder / "tokenizer.json") == folder


def test_a_text_is_no_model(tmp_path):
    (tmp_path / "a.txt").write_text("a text")
    (tmp_path / "config.json").write_text("{}")
    for path in (tmp_path, tmp_path / "a.txt", tmp_path / "config.json", tmp_path / "nothing"):
        assert find_model(path) is None


def test_a_checkpoint_is_seen_as_a_run_of_one_step(folder):
    run = open_recorded(folder)
    assert (run.description.family, run.description.name) == ("transformer", "small gpt")
    assert run.description.configuration["heads"] == 3
    assert run.snapshots() == [0]
    assert run.metrics() == []
    assert not run.is_resumable
    assert run.tokenizer().vocabulary_size == 50
    model = open_model_of(run, 0)
    assert model.step == 0
    assert set(run.load_snapshot(0)) == set(model.state())
    with pytest.raises(LmvizError, match="was not trained here, and has no step 5"):
        open_model_of(run, 5)
    with pytest.raises(LmvizError, match="not lmviz's own"):
        run.rename("mine")
    assert open_recorded(folder / "model.safetensors").folder == folder


def test_without_a_tokenizer_ids_can_be_read_and_texts_not(folder):
    (folder / "tokenizer.json").unlink()
    model = lmviz.open_model(folder)
    assert len(lmviz.trace(model, [1, 2, 3])) == 3
    with pytest.raises(LmvizError, match="no tokenizer"):
        lmviz.trace(model, "w1 w2")
    with pytest.raises(LmvizError, match=r"there is no tokenizer\.json, nor vocab\.json"):
        open_recorded(folder).tokenizer()


def test_an_arpa_file_is_opened_as_an_ngram(tmp_path):
    corpus = tmp_path / "text.txt"
    corpus.write_text("the cows eat corn .\nthe cows sleep at night .\nbats eat at night !\n" * 8)
    text = lmviz.load_corpus(corpus, tokenizer="words", documents="line")
    run = lmviz.train("ngram", text, out=tmp_path / "run", order=3)
    model = lmviz.open_model(run.folder)
    from lmviz.interchange.arpa import write_arpa

    write_arpa(tmp_path / "cows.arpa", model, model.tokenizer)
    assert find_model(tmp_path / "cows.arpa") == tmp_path / "cows.arpa"
    again = lmviz.open_model(tmp_path / "cows.arpa")
    (tmp_path / "cows.ARPA.gz").write_bytes(gzip.compress((tmp_path / "cows.arpa").read_bytes()))
    assert find_model(tmp_path / "cows.ARPA.gz") == tmp_path / "cows.ARPA.gz"
    assert lmviz.open_model(tmp_path / "cows.ARPA.gz").words == again.words
    for prefix in ("", "the cows", "The dogs eat at"):
        ours, theirs = (lmviz.trace(each, prefix) for each in (model, again))
        assert len(ours.tokens) == len(theirs.tokens)
        before = dict(zip(model.tokenizer.tokens(), ours["probabilities"].array[-1], strict=True))
        after = dict(zip(again.tokenizer.tokens(), theirs["probabilities"].array[-1], strict=True))
        assert before == pytest.approx(after, abs=1e-4)
