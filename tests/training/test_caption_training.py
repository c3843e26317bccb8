"""From pictures with captions to a model that writes them: training, resuming, asking, measuring."""

import json

import pytest
import torch
from click.testing import CliRunner

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.cli.entry import commands
from lmviz.runs.evaluating import evaluate_corpus
from lmviz.text.catalogue import corpus_path
from lmviz.training.run import Run

CROSS = "......./......./..#.#../...#.../..#.#../......./......."
SETTINGS = {"width": 32, "batch": 32, "learning_rate": 0.02, "warmup": 0}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The pictures of one shape alone, and a spoilt line."""
    lines = corpus_path("pictures").read_text(encoding="utf-8").splitlines()
    path = tmp_path_factory.mktemp("text") / "shapes.tsv"
    path.write_text("\n".join(["spoilt", *(line for line in lines if " " not in line)]) + "\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def corpus(path):
    return lmviz.load_corpus(path)


@pytest.fixture(scope="module")
def run(corpus, tmp_path_factory):
    return lmviz.train("gru", corpus, tmp_path_factory.mktemp("runs") / "run", steps=150, **SETTINGS)


@pytest.fixture(scope="module")
def model(run):
    return lmviz.open_model(run.folder)


def test_captions_are_learned(model, corpus, path):
    assert corpus.complaints == ("Line 1 has not a picture and a caption with one tab between them.",)
    score = lmviz.evaluate(model, path)
    assert score.sentences == 100
    assert score.exact_match >= 0.9
    assert score.by_length == {}
    assert evaluate_corpus(model, corpus, "training").exact_match >= 0.98
    answer = lmviz.predict(model, CROSS)
    assert (answer.text, answer.alignment) == ("cross", None)
    assert answer.source_tokens == tuple(CROSS.replace("/", ""))
    assert lmviz.predict(model, CROSS.replace("#", "1").replace(".", "0")).text == "cross"


def test_a_caption_is_sampled_forced_and_searched_for(model):
    distribution = lmviz.next_token(model, "", source=CROSS)
    assert distribution.token(int(distribution.probabilities.argmax())) == "cross"
    assert lmviz.beam_search(model, "", source=CROSS, width=3, length=3).best.text == "cross"
    assert [step.token for step in lmviz.sample(model, "", 1, source=CROSS, top_k=1)] == ["cross"]
    forced = lmviz.trace(model, "square", source=CROSS)
    assert forced.tokens == ("⟨start⟩", "square")


@pytest.mark.slow
def test_all_pictures_of_two_shapes_are_learned(tmp_path):
    corpus = lmviz.load_corpus("pictures")
    settings = {"width": 64, "batch": 64, "learning_rate": 0.005}
    run = lmviz.train("gru", corpus, tmp_path / "run", steps=2000, **settings)
    assert evaluate_corpus(lmviz.open_model(run.folder), corpus).exact_match >= 0.9


def test_a_run_remembers_what_it_read(run, corpus):
    again = Run.open(run.folder)
    assert again.description.task == "captioning"
    assert again.source_tokenizer().content == corpus.tokenizer.content
    assert again.description.longest_source is None
    from lmviz.api.training import corpus_of

    assert corpus_of(again).fingerprint == corpus.fingerprint


def test_resuming_equals_training_at_once(corpus, tmp_path):
    settings = SETTINGS | {"width": 8, "length": 4}
    lmviz.train("lstm", corpus, tmp_path / "whole", steps=6, schedule="constant", **settings)
    lmviz.train("lstm", corpus, tmp_path / "parts", steps=3, schedule="constant", **settings)
    lmviz.train("lstm", corpus, tmp_path / "parts", steps=6, resume=True)
    whole, parts = (lmviz.open_model(tmp_path / name).state() for name in ("whole", "parts"))
    for name, value in whole.items():
        assert torch.equal(value, parts[name]), name


def test_families_that_write_no_captions_say_so(corpus, tmp_path):
    with pytest.raises(LmvizError, match=r"cannot do captioning: choose one that can \(rnn, lstm, gru\)"):
        lmviz.train("transformer", corpus, tmp_path / "run", steps=1)


def test_a_captioner_is_judged_on_pictures_alone(model):
    with pytest.raises(LmvizError, match="judged on pictures with captions"):
        evaluate_corpus(model, lmviz.load_corpus("dates"))


def test_the_command_line_writes_captions(path, tmp_path):
    def ask(*words):
        done = CliRunner().invoke(commands, [*words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    run = str(tmp_path / "run")
    settings = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    ask("train", "--corpus", str(path), "--family", "rnn", "--steps", "60", *settings, "--out", run)
    answer = json.loads(ask("predict", run, "--source", CROSS, "--json"))
    assert answer["text"] == ask("predict", run, "--text", CROSS).strip()
    assert len(answer["source_tokens"]) == 49
    assert json.loads(ask("evaluate", run, str(path), "--json"))["sentences"] == 100
    assert "source tokens" not in ask("evaluate", run, str(path))
    out = str(tmp_path / "trace.npz")
    arrays = json.loads(ask("trace", run, "--text", "cross", "--source", CROSS, "--out", out, "--json"))[
        "arrays"
    ]
    assert arrays["picture"] == {"axes": ["pixel"], "shape": [49]}
