"""Nats, accuracy and confusion of labels, against counting by hand; from Python and the command line."""

import json

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.cli import run
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.intervention import Intervention
from lmviz.tasks import TASKS
from lmviz.text.corpus import text_corpus
from lmviz.training.label_evaluation import LabelEvaluation, LabelScore, evaluate_examples

TAGGED = "the/d cat/n runs/v\nthe/d old/n man/v the/d boats/n\nthe/d old/a man/n runs/v\ncats/n run/v\n"
REVIEWS = "good\ta fine film\nbad\ta dull film\ngood\tnot dull at all\nbad\tnot fine\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    (folder / "tagged.txt").write_text(TAGGED, encoding="utf-8")
    (folder / "reviews.tsv").write_text(REVIEWS, encoding="utf-8")
    settings = {"steps": 25, "batch": 2, "width": 8, "direction": "both", "learning_rate": 0.02}
    for name, source in (("tagger", "tagged.txt"), ("classifier", "reviews.tsv")):
        corpus = lmviz.load_corpus(folder / source, validation=0.0)
        lmviz.train("gru", corpus, folder / name, **settings)
    return folder


@pytest.fixture(scope="module")
def tagger(folder):
    return lmviz.open_model(folder / "tagger")


def by_hand(model, lines):
    """Right labels, given labels and nats of every word."""
    right, given, nats = [], [], []
    for line in lines.splitlines():
        words, tags = zip(*(pair.split("/") for pair in line.split()), strict=True)
        answer = lmviz.predict(model, " ".join(words))
        assert answer.tokens == words
        for place, tag in enumerate(tags):
            right.append(tag)
            given.append(answer.labels[place])
            nats.append(-np.log(answer.probabilities[place, answer.names.index(tag)]))
    return right, given, nats


def test_a_taggers_figures_are_those_counted_by_hand(folder, tagger):
    score = lmviz.evaluate(tagger, folder / "tagged.txt")
    right, given, nats = by_hand(tagger, TAGGED)
    assert score.tokens == len(right) == 14
    assert score.negative_log_likelihood == pytest.approx(np.mean(nats), rel=1e-5)
    assert score.perplexity == pytest.approx(np.exp(np.mean(nats)), rel=1e-5)
    assert score.accuracy == np.mean([one == other for one, other in zip(right, given, strict=True)])
    for row, one in enumerate(score.labels):
        for column, other in enumerate(score.labels):
            pairs = zip(right, given, strict=True)
            assert score.confusion[row, column] == sum(pair == (one, other) for pair in pairs)
    nouns = score.by_label["n"]
    assert nouns.count == 5
    assert nouns.accuracy == score.confusion[score.labels.index("n"), score.labels.index("n")] / 5
    said = [answer == "n" for answer in given]
    assert nouns.precision == sum(np.array(right)[said] == "n") / sum(said)
    for label, item in score.by_label.items():
        wanted, taken = right.count(label), given.count(label)
        found = sum(one == other == label for one, other in zip(right, given, strict=True))
        assert item.f1 == pytest.approx(2 * found / (wanted + taken))
    assert score.macro_f1 == pytest.approx(np.mean([item.f1 for item in score.by_label.values()]))
    assert score.known.count == 14
    assert score.known.accuracy == score.accuracy
    assert (score.unknown, score.spans, score.by_span) == (None, None, {})  # none to be measured
    assert score.by_word["the"].count == 4
    words = [pair.split("/")[0] for pair in TAGGED.split()]
    assert 0 < score.accuracy < 1
    for word, scored in score.by_word.items():
        places = [place for place, other in enumerate(words) if other == word]
        assert scored.accuracy == np.mean([right[place] == given[place] for place in places])
        assert scored.negative_log_likelihood == pytest.approx(
            np.mean([nats[place] for place in places]), rel=1e-5
        )
    assert sum(item.count for item in score.by_word.values()) == 14


def test_each_confusion_names_the_first_example_that_has_it(folder, tagger):
    corpus = lmviz.load_corpus(folder / "tagged.txt", validation=0.0)
    examples = corpus.training_examples
    score = evaluate_examples(tagger, examples)
    given = [lmviz.predict(tagger, corpus.training_documents[number]).labels for number in range(4)]
    wanted = {}
    for number, answers in enumerate(given):
        for place, answer in enumerate(answers):
            right = corpus.labels[int(examples.target[number][place])]
            wanted.setdefault((right, answer), (number, place))
    for row, right in enumerate(score.labels):
        for column, answer in enumerate(score.labels):
            assert tuple(score.first_of[row, column]) == wanted.get((right, answer), (-1, -1))
    assert len(wanted) > len(score.labels)  # it confuses something


def test_an_example_that_is_read_in_pieces_is_found_again():
    corpus = text_corpus("a/x b/y c/x d/y e/x\na/x e/z\n", task="tagging", validation=0.0)
    predicts = TASKS["tagging"].predicts(corpus.labels)
    configuration = FAMILIES["transformer"].configuration(layers=1, heads=1, width=4, context=2)
    model = build_model("transformer", configuration, corpus.tokenizer.vocabulary_size, 0, predicts)
    score = evaluate_examples(model, corpus.training_examples)
    found = {tuple(at) for at in score.first_of.reshape(-1, 2).tolist()} - {(-1, -1)}
    z = corpus.labels.index("z")
    assert (1, 1) in found
    assert score.confusion[z].sum() == 1
    assert all(place < (5, 2)[number] for number, place in found)


@pytest.mark.parametrize(("at_once", "parts"), [(1, 4), (10, 2), (2**14, 1)])
def test_as_many_examples_are_read_together_as_there_is_room_for(folder, tagger, monkeypatch, at_once, parts):
    """Of 2, 3, 4 and 5 words, each padded to the longest beside it."""
    monkeypatch.setattr("lmviz.training.label_evaluation.AT_ONCE", at_once)
    examples = lmviz.load_corpus(folder / "tagged.txt", task="tagging", validation=0.0).training_examples
    done = []
    evaluate_examples(tagger, examples, done.append)
    assert len(done) == parts
    assert done == sorted(done)
    assert done[-1] == 1


def test_a_long_example_lets_short_ones_be_read_together(monkeypatch):
    corpus = text_corpus("a/x b/y\n" * 50 + "a/x " * 39 + "a/x\n", task="tagging", validation=0.0)
    predicts = TASKS["tagging"].predicts(corpus.labels)
    model = build_model("gru", FAMILIES["gru"].configuration(width=4), 5, 0, predicts)
    monkeypatch.setattr("lmviz.training.label_evaluation.AT_ONCE", 40)
    heard: list[float] = []
    assert evaluate_examples(model, corpus.training_examples, heard.append).tokens == 140
    assert heard == [20 / 51, 40 / 51, 50 / 51, 1.0]


def test_the_words_most_often_missed_come_first(tagger):
    def scored(count, accuracy):
        return LabelScore(count, accuracy, 1.0)

    words = {"the": scored(9, 1.0), "old": scored(8, 0.5), "man": scored(2, 0.0), "run": scored(3, 0.0)}
    none = np.zeros((1, 1))
    score = LabelEvaluation(22, 1.0, 1.0, 0.5, ("x",), none, none, {}, words)
    assert [word for word, _ in score.most_missed(5)] == ["old", "run", "man"]
    assert [word for word, _ in score.most_missed(1)] == ["old"]


def test_a_classifier_is_judged_once_for_each_text(folder):
    model = lmviz.open_model(folder / "classifier")
    score = lmviz.evaluate(model, folder / "reviews.tsv")
    assert score.tokens == 4
    assert score.by_word == {}
    assert (score.known, score.unknown) == (None, None)
    lines = [line.split("\t") for line in REVIEWS.splitlines()]
    answers = [lmviz.predict(model, text) for _, text in lines]
    assert all(answer.probabilities.shape == (2,) and len(answer.labels) == 1 for answer in answers)
    right = [
        answer.labels[0] == line.split("\t")[0]
        for answer, line in zip(answers, REVIEWS.splitlines(), strict=True)
    ]
    assert score.accuracy == np.mean(right)


def test_silencing_a_direction_costs_nats(folder, tagger):
    silent = [Intervention("layers/0/backward/hidden", "replace", 0.0)]
    before = lmviz.evaluate(tagger, folder / "tagged.txt")
    after = lmviz.evaluate(tagger, folder / "tagged.txt", interventions=silent)
    assert after.tokens == before.tokens
    assert after.negative_log_likelihood > before.negative_log_likelihood
    answer = lmviz.predict(tagger, "the old man the boats", interventions=silent)
    traced = lmviz.trace(tagger, "the old man the boats", interventions=silent)
    np.testing.assert_allclose(answer.probabilities, traced["probabilities"].array, atol=1e-6)


def test_a_language_model_gives_no_labels_and_a_tagger_no_next_word(tagger):
    with pytest.raises(LmvizError, match="predicts the next token and gives no labels"):
        lmviz.predict("stories-lstm", "the cat")
    with pytest.raises(LmvizError, match="continues no text"):
        lmviz.next_token(tagger, "the cat")


def said(capsys, *words):
    assert run(list(map(str, words))) == 0
    return capsys.readouterr().out


def test_the_command_line_predicts_evaluates_and_traces(folder, tmp_path, capsys):
    values = json.loads(said(capsys, "predict", folder / "tagger", "--text", "the old man", "--json"))
    assert values["tokens"] == ["the", "old", "man"]
    assert len(values["labels"]) == 3
    assert np.allclose(np.sum(values["probabilities"], axis=1), 1)
    assert "label" in said(capsys, "predict", folder / "classifier", "--text", "a dull film")
    score = json.loads(said(capsys, "evaluate", folder / "tagger", folder / "tagged.txt", "--json"))
    assert score["by_word"]["the"]["count"] == 4
    assert sum(item["count"] for item in score["by_word"].values()) == score["tokens"]
    assert score["tokens"] == np.sum(score["confusion"]) == score["known"]["count"] == 14
    assert (score["unknown"], score["spans"], score["by_span"]) == (None, None, {})
    assert score["macro_f1"] == np.mean([item["f1"] for item in score["by_label"].values()])
    assert "accuracy" in said(capsys, "evaluate", folder / "classifier", folder / "reviews.tsv")
    (tmp_path / "names.txt").write_text("Ada/B-PER Byron/I-PER left/O\nAda/B-PER met/O Bea/B-PER\n" * 3)
    corpus = lmviz.load_corpus(tmp_path / "names.txt", validation=0.0)
    lmviz.train("gru", corpus, tmp_path / "names", steps=30, batch=2, width=6, learning_rate=0.05)
    (tmp_path / "others.txt").write_text("Ada/B-PER Byron/I-PER met/O Cleo/B-PER\n")
    told = said(capsys, "evaluate", tmp_path / "names", tmp_path / "others.txt")
    assert "unknown words" in told
    assert "F1, mean of all labels" in told
    assert "span" in told
    spans = json.loads(said(capsys, "evaluate", tmp_path / "names", tmp_path / "others.txt", "--json"))[
        "spans"
    ]
    assert spans["wanted"] == 2
    assert spans["f1"] == 2 * spans["found"] / (2 + spans["given"])
    said(capsys, "trace", folder / "tagger", "--text", "the old man", "--out", tmp_path / "t.npz")
    with np.load(tmp_path / "t.npz") as file:
        assert file["layers/0/joined"].shape == (3, 16)


def test_the_command_line_trains_a_tagger_and_warns_of_a_reader_of_answers(folder, tmp_path, capsys):
    settings = ["--set", "direction=both", "--set", "width=4", "--steps", "2", "--json"]
    out = tmp_path / "tags"
    assert (
        run(
            ["train", "--corpus", str(folder / "tagged.txt"), "--family", "rnn", "--out", str(out), *settings]
        )
        == 0
    )
    told = capsys.readouterr()
    assert json.loads(told.out)["validation_accuracy"] >= 0
    assert "4 sentences" in told.err
    plain = ["--corpus", "farm", "--family", "rnn", "--out", str(tmp_path / "plain"), *settings]
    assert run(["train", *plain]) == 0
    assert "the very token that it should predict" in capsys.readouterr().err
