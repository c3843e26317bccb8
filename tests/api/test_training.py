"""What `import lmviz` offers, as the design states it."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import lmviz
from lmviz.api.training import corpus_of, find_run, prepare_training, sources_elsewhere, split_settings
from lmviz.base.errors import LmvizError
from lmviz.training.controls import Controls
from lmviz.training.description import RunDescription, describe_corpus
from lmviz.training.run import Run


@pytest.fixture(scope="module")
def corpus(small_text):
    return lmviz.load_corpus(small_text, tokenizer="words")


@pytest.fixture(scope="module")
def run(corpus, tmp_path_factory) -> Run:
    return lmviz.train(
        "lstm", corpus, out=tmp_path_factory.mktemp("runs") / "first", steps=20, seed=0, width=16, layers=2
    )


@pytest.fixture(scope="module")
def model(run):
    return lmviz.open_model(run.folder)


def test_settings_reach_the_model_and_its_training(run):
    assert run.description.configuration["width"] == 16
    assert run.description.configuration["layers"] == 2
    assert run.description.options.steps == 20
    assert run.description.name == "first"
    assert run.snapshots()[-1] == 20


def test_every_step_is_told(corpus, tmp_path):
    told = []
    lmviz.train("rnn", corpus, tmp_path / "run", steps=3, width=4, progress=told.append)
    assert [progress.step for progress in told] == [0, 1, 2, 3]
    assert told[-1].finished


def test_a_trace_has_arrays_with_axes_under_tap_addresses(model):
    trace = lmviz.trace(model, "The cow eats")
    assert trace["layers/0/hidden"].axes == ("position", "unit")
    assert trace["layers/0/hidden"].array.shape == (3, 16)
    assert trace.tokens == ("The", "cow", "eats")


def test_the_next_token_is_a_distribution_under_the_options(model):
    distribution = lmviz.next_token(model, "The cow", temperature=0.8, top_k=4)
    assert distribution.probabilities.sum() == pytest.approx(1)
    assert np.count_nonzero(distribution.probabilities) == 4


def test_samples_repeat_with_their_seed_and_show_the_draw(model):
    first, again, other = (list(lmviz.sample(model, "The", tokens=8, seed=seed)) for seed in (0, 0, 1))
    assert [step.token for step in first] == [step.token for step in again]
    assert [step.draw for step in first] != [step.draw for step in other]
    assert len(first) == 8
    assert first[-1].text.startswith("The")


def test_evaluating_the_text_it_learned_from_gives_a_finite_score(model, small_text):
    score = lmviz.evaluate(model, small_text)
    assert score.tokens > 900
    assert score.perplexity == pytest.approx(np.exp(score.negative_log_likelihood))
    assert 0 < score.bits_per_character < 8


def test_a_held_out_text_is_divided_as_the_one_that_was_learned(small_text, tmp_path):
    lines = lmviz.load_corpus(small_text, documents="line")
    run = lmviz.train("ngram", lines, tmp_path / "run", steps=1, order=2)
    held_out = tmp_path / "held_out.txt"
    held_out.write_text("The cow eats corn.\nThe bat sees hay.\n", encoding="utf-8")
    score = lmviz.evaluate(lmviz.open_model(run.folder), held_out)
    assert score.tokens == 2 * (5 + 1)  # five tokens and END for each line, and no START


def test_a_misspelt_setting_names_the_one_that_was_meant(corpus, tmp_path):
    with pytest.raises(LmvizError, match=r"'widht': did you mean width\?"):
        lmviz.train("lstm", corpus, tmp_path / "run", widht=3)
    assert not (tmp_path / "run").exists()


def test_settings_are_sorted_by_where_they_belong():
    configuration, options = split_settings("gru", {"width": "8", "steps": "7"})
    assert (configuration.width, options.steps) == (8, 7)


def test_a_stopped_training_resumes_to_the_weights_of_an_undisturbed_one(corpus, tmp_path):
    settings = {"steps": 12, "width": 8, "dropout": 0.2, "layers": 2, "sampling": "streams"}
    whole = lmviz.train("gru", corpus, tmp_path / "whole", **settings)
    controls = Controls()

    def stop_in_the_middle(progress):
        controls.stop = progress.step == 5

    lmviz.train(
        "gru", corpus, tmp_path / "halves", controls=controls, progress=stop_in_the_middle, **settings
    )
    halves = lmviz.train("gru", corpus, tmp_path / "halves", resume=True)
    undisturbed, resumed = whole.load_snapshot(12), halves.load_snapshot(12)
    assert all((undisturbed[name] == resumed[name]).all() for name in undisturbed)


def test_resuming_where_nothing_is_begins(corpus, tmp_path):
    assert lmviz.train("rnn", corpus, tmp_path / "run", resume=True, steps=2, width=4).snapshots()[-1] == 2


def test_resuming_with_more_steps_goes_on_from_the_last_one(corpus, tmp_path):
    lmviz.train("rnn", corpus, tmp_path / "run", steps=2, width=4)
    told = []
    run = lmviz.train("rnn", corpus, tmp_path / "run", resume=True, steps=4, progress=told.append)
    assert [progress.step for progress in told] == [2, 3, 4]
    assert run.description.options.steps == 4


@pytest.mark.parametrize(
    ("family", "settings", "sentence"),
    [
        ("lstm", {}, "holds a run of the family rnn, not lstm: resume it as that"),
        ("rnn", {"width": 5}, "begun with width=4, which cannot become 5"),
        ("rnn", {"batch": 5}, "batch cannot change"),
    ],
)
def test_resuming_as_something_else_is_refused(corpus, tmp_path, family, settings, sentence):
    lmviz.train("rnn", corpus, tmp_path / "run", steps=2, width=4)
    with pytest.raises(LmvizError, match=sentence):
        lmviz.train(family, corpus, tmp_path / "run", resume=True, **settings)


def test_resuming_on_another_text_is_refused(corpus, run, tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("Another text altogether. " * 40, encoding="utf-8")
    with pytest.raises(LmvizError, match="learned from small"):
        prepare_training("lstm", lmviz.load_corpus(path), run.folder, resume=True)


@pytest.mark.parametrize(
    ("family", "settings", "sentence"),
    [
        ("transformer", {"context": 8, "length": 9}, "at most 8 positions, and not 9"),
        ("rnn", {"sampling": "streams", "batch": 60_000}, "too short for 60000 streams"),
        ("rnn", {"device": "mps" if sys.platform != "darwin" else "cuda"}, "torch finds no device"),
    ],
)
def test_a_training_that_cannot_be_leaves_no_run_behind(corpus, tmp_path, family, settings, sentence):
    with pytest.raises(LmvizError, match=sentence):
        lmviz.train(family, corpus, tmp_path / "run", steps=1, width=4, **settings)
    assert not (tmp_path / "run").exists()


def test_training_twice_into_one_folder_is_refused(corpus, run):
    with pytest.raises(LmvizError, match="already holds a run"):
        lmviz.train("lstm", corpus, run.folder, steps=2)


def test_a_diverging_training_is_an_error_in_python(corpus, tmp_path):
    with pytest.raises(LmvizError, match="not a finite number at step"):
        lmviz.train(
            "rnn",
            corpus,
            tmp_path / "run",
            steps=200,
            learning_rate=100,
            optimizer="sgd",
            clip=0,
            schedule="constant",
            activation="relu",
        )


def test_the_corpus_of_a_run_can_be_read_again(run, corpus):
    again = corpus_of(run)
    assert again.fingerprint == corpus.fingerprint
    with pytest.raises(LmvizError, match="lower_case=False, which cannot become True"):
        corpus_of(run, lower_case=True)


def test_the_corpus_of_a_run_is_found_from_everywhere(small_text, tmp_path, monkeypatch):
    (tmp_path / "farm").write_bytes(small_text.read_bytes())  # named like a text of the catalogue
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    corpus = lmviz.load_corpus([Path("farm")])
    run = lmviz.train("ngram", corpus, tmp_path / "run", steps=1, order=2)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert corpus_of(run).fingerprint == corpus.fingerprint


def test_no_model_there_names_the_place():
    with pytest.raises(LmvizError, match="no run at nowhere"):
        find_run("nowhere")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_a_name_that_no_file_can_have_is_told(corpus, name):
    with pytest.raises(LmvizError, match="There is no run"):
        lmviz.open_model(name)
    with pytest.raises(LmvizError, match="could not be made"):
        lmviz.train("rnn", corpus, name, steps=1, width=4)
    with pytest.raises(LmvizError):
        lmviz.load_corpus(name)


@pytest.mark.parametrize("tokens", [-1, "5", 1.5, None])
def test_a_sample_of_no_possible_length_is_refused(model, tokens):
    with pytest.raises(LmvizError, match="tokens must be"):
        lmviz.sample(model, "The", tokens=tokens)


def test_every_promised_name_is_there_and_no_other():
    assert set(lmviz.__all__) <= set(dir(lmviz))
    assert all(callable(getattr(lmviz, name)) for name in lmviz.__all__)
    with pytest.raises(AttributeError):
        _ = lmviz.nonsense


def test_the_sentence_of_a_folder_that_holds_a_run_names_both_ways_out(corpus, tmp_path):
    settings = {"steps": 3, "width": 4, "seed": 0}
    lmviz.train("rnn", corpus, tmp_path / "run", **settings)
    with pytest.raises(LmvizError, match=r"already holds a run.*resume=True.*overwrite=True"):
        lmviz.train("rnn", corpus, tmp_path / "run", **settings)
    assert lmviz.train("rnn", corpus, tmp_path / "run", resume=True, **settings).snapshots()[-1] == 3
    again = lmviz.train("lstm", corpus, tmp_path / "run", overwrite=True, steps=2, width=6)
    assert again.snapshots()[-1] == 2
    assert again.description.family == "lstm"
    assert max(line["step"] for line in again.metrics()) == 2
    assert lmviz.open_model(tmp_path / "run").family == "lstm"


def test_overwriting_removes_the_files_of_a_run_alone(corpus, tmp_path):
    lmviz.train("rnn", corpus, tmp_path / "run", steps=9, width=4)
    (tmp_path / "run" / "notes.txt").write_text("mine")
    lmviz.train("rnn", corpus, tmp_path / "run", overwrite=True, steps=2, width=4)
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"
    assert Run.open(tmp_path / "run").snapshots()[-1] == 2


def test_overwriting_where_nothing_is_begins(corpus, tmp_path):
    assert lmviz.train("rnn", corpus, tmp_path / "run", overwrite=True, steps=2, width=4).snapshots()[-1] == 2


def test_a_training_that_cannot_be_leaves_the_run_that_was_to_be_overwritten(corpus, tmp_path):
    lmviz.train("rnn", corpus, tmp_path / "run", steps=2, width=4)
    with pytest.raises(LmvizError, match="too short"):
        lmviz.train("rnn", corpus, tmp_path / "run", overwrite=True, sampling="streams", batch=60_000)
    assert Run.open(tmp_path / "run").snapshots()[-1] == 2


def test_a_run_that_is_being_trained_is_not_overwritten(corpus, tmp_path):
    prepared = prepare_training("rnn", corpus, tmp_path / "run", steps=5, width=4)
    next(prepared.progress)
    with pytest.raises(LmvizError, match="being trained already"):
        lmviz.train("rnn", corpus, tmp_path / "run", overwrite=True, steps=2, width=4)
    assert Run.open(tmp_path / "run").snapshots() == [0], "it must not even begin to remove it"
    assert Run.open(tmp_path / "run").description.options.steps == 5
    prepared.progress.close()


def test_resuming_and_overwriting_exclude_each_other(corpus, tmp_path):
    with pytest.raises(LmvizError, match="either resumed or overwritten"):
        lmviz.train("rnn", corpus, tmp_path / "run", resume=True, overwrite=True)


def test_several_processes_overwrite_nothing(corpus, tmp_path, monkeypatch):
    lmviz.train("rnn", corpus, tmp_path / "run", steps=2, width=4)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(LmvizError, match="Several processes"):
        lmviz.train("rnn", corpus, tmp_path / "run", overwrite=True, steps=2, width=4)


def test_a_run_on_the_tokenizer_of_another_corpus_is_resumed_on_either(small_text, corpus, tmp_path):
    same = lmviz.load_corpus(small_text, corpus.tokenizer)
    lmviz.train("rnn", same, tmp_path / "run", steps=2, width=4)
    assert lmviz.train("rnn", corpus, tmp_path / "run", resume=True, steps=3).snapshots()[-1] == 3
    again = corpus_of(Run.open(tmp_path / "run"), tokenizer="words")
    assert lmviz.train("rnn", again, tmp_path / "run", resume=True, steps=4).snapshots()[-1] == 4


def test_the_pairs_of_a_run_are_read_again_from_both_files(tmp_path):
    for name, text in (("x.en", "a cat\na dog\nyes\n"), ("x.de", "eine Katze\nein Hund\nja\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    corpus = lmviz.load_corpus(tmp_path / "x.en", target=tmp_path / "x.de")
    described = RunDescription(
        "pairs", "rnn", {}, corpus.tokenizer.vocabulary_size, corpus=describe_corpus(corpus)
    )
    found = Run.create(tmp_path / "run", described, corpus.tokenizer)
    again = corpus_of(found)
    assert again.task == "translation"
    assert again.fingerprint == corpus.fingerprint
    assert sources_elsewhere(found) == (str(tmp_path / "x.en"), str(tmp_path / "x.de"))


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (
            lambda run, corpus: lmviz.train("rnn", "the cat", run.folder),
            "'the cat' is not a corpus: give what",
        ),
        (lambda run, corpus: lmviz.train("rnn", corpus, None), "There is no folder to write the run into"),
        (lambda run, corpus: lmviz.Run.open(None), "None names no run: give the folder"),
        (lambda run, corpus: run.load_snapshot("1"), "'1' is not a step: give a whole number"),
        (lambda run, corpus: lmviz.open_model(run.folder, "1"), "'1' is not a step: give a whole number"),
        (lambda run, corpus: lmviz.convert(None, "out"), "None names no model: give"),
        (lambda run, corpus: lmviz.save_pretrained(None, "out"), "None is not a model: give"),
        (lambda run, corpus: lmviz.save_pretrained(lmviz.open_model(run.folder), None), "There is no folder"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_in_a_sentence(run, corpus, ask, sentence):
    with pytest.raises(LmvizError, match=re.escape(sentence)):
        ask(run, corpus)


def test_a_run_says_what_it_is(run):
    told = repr(run)
    assert told.startswith(f"Run first  (lstm, trained to step {run.snapshots()[-1]})")
    assert "nats per token" in told


def test_interventions_stand_beside_the_short_names():
    assert lmviz.interventions.zero is lmviz.zero
    assert "interventions" in dir(lmviz)
