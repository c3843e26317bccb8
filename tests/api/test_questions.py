"""What a model can be asked from Python, by itself, by its name, and under interventions."""

import math
import re
import warnings

import numpy as np
import pytest
import torch
from family_cases import IDS, beside, every_case, untrained
from foreign_models import add_tokenizer, saved

import lmviz
from lmviz.base.errors import LmvizError, LmvizWarning
from lmviz.models.prefix import read_prefix
from lmviz.training import evaluation

PREFIX = "The cow eats"
FAMILIES = {
    "lstm": {"steps": 10, "width": 8},
    "transformer": {"steps": 10, "width": 8, "heads": 2, "layers": 2, "context": 16, "length": 8},
    "window": {"steps": 10, "width": 8},
    "ngram": {"steps": 10, "order": 3},
}


@pytest.fixture(scope="module")
def folders(small_text, tmp_path_factory):
    corpus = lmviz.load_corpus(small_text)
    folder = tmp_path_factory.mktemp("runs")
    for family, settings in FAMILIES.items():
        lmviz.train(family, corpus, folder / family, seed=0, **settings)
    return {family: folder / family for family in FAMILIES}


@pytest.fixture(scope="module")
def models(folders):
    return {family: lmviz.open_model(path) for family, path in folders.items()}


@pytest.fixture(params=sorted(FAMILIES))
def family(request):
    return request.param


def change_of(family):
    """An intervention that changes what every position predicts."""
    return lmviz.add("logits", [2.0], token=(3,))


def test_a_model_may_be_given_by_its_folder(folders, models, family, small_text):
    path, model = folders[family], models[family]
    found = lmviz.trace(path, PREFIX)
    assert np.array_equal(found["logits"].array, lmviz.trace(model, PREFIX)["logits"].array)
    assert lmviz.next_token(str(path), PREFIX).best == lmviz.next_token(model, PREFIX).best
    drawn = [list(lmviz.sample(each, PREFIX, tokens=3, seed=1)) for each in (path, model)]
    assert [step.id for step in drawn[0]] == [step.id for step in drawn[1]]
    assert lmviz.evaluate(path, small_text) == lmviz.evaluate(model, small_text)
    best = [lmviz.beam_search(each, PREFIX, length=2).best for each in (path, model)]
    assert best[0] == best[1]
    assert lmviz.explain(path, found, "logits", (-1, 2)).value == found["logits"].array[-1, 2]
    assert lmviz.logit_lens(path, found, positions=[-1]).positions == (len(found) - 1,)


def test_a_sample_model_may_be_given_by_its_name():
    assert lmviz.trace("stories-lstm", "the", taps=["logits"]).name == "stories-lstm"


@pytest.mark.parametrize("model", [None, 3, b"stories-lstm"])
def test_what_is_no_model_is_a_sentence(model):
    with pytest.raises(LmvizError, match="is not a model"):
        lmviz.next_token(model, "the")


def test_several_texts_are_traced_in_one_call(models, family):
    texts = ["The cow", "The bat sees grass"]
    found = lmviz.trace(models[family], texts, taps=["logits"], interventions=[change_of(family)])
    assert [each.text for each in found] == texts
    for text, each in zip(texts, found, strict=True):
        alone = lmviz.trace(models[family], text, taps=["logits"], interventions=[change_of(family)])
        np.testing.assert_allclose(each["logits"].array, alone["logits"].array, atol=1e-6)


def test_interventions_mean_the_same_whoever_is_asked(models, family):
    model, changes = models[family], [change_of(family)]
    logits = lmviz.trace(model, PREFIX, interventions=changes)["logits"].array[-1]
    plain = lmviz.next_token(model, PREFIX)
    found = lmviz.next_token(model, PREFIX, interventions=changes)
    assert found.logits == pytest.approx(logits, abs=1e-5)
    assert found.probability_of(3) > plain.probability_of(3)
    [step] = lmviz.sample(model, PREFIX, tokens=1, temperature=0, interventions=changes)
    assert step.distribution.logits == pytest.approx(logits, abs=1e-5)
    tree = lmviz.beam_search(model, PREFIX, length=1, width=2, interventions=changes)
    assert {node.id for node in tree.nodes[1:]} <= {item.id for item in found.top(2)}
    expected = [item.probability for item in found.top(2)]
    assert [node.probability for node in tree.results] == pytest.approx(expected, abs=1e-5)


def test_the_score_under_interventions_is_that_of_the_changed_model(models, family, small_text):
    model = models[family]
    nothing = lmviz.evaluate(model, small_text, interventions=[lmviz.scale("logits", 1.0)])
    plain = lmviz.evaluate(model, small_text)
    assert nothing.tokens == plain.tokens
    assert nothing.negative_log_likelihood == pytest.approx(plain.negative_log_likelihood, abs=1e-5)
    uniform = lmviz.evaluate(model, small_text, interventions=[lmviz.replace("logits", 0.0)])
    assert uniform.perplexity == pytest.approx(model.vocabulary_size, rel=1e-5)


def test_a_long_text_is_read_whole_under_interventions(models, small_text, monkeypatch):
    monkeypatch.setattr(evaluation, "POSITIONS", 64)
    plain = lmviz.evaluate(models["lstm"], small_text)
    found = lmviz.evaluate(models["lstm"], small_text, interventions=[lmviz.scale("logits", 1.0)])
    assert found.negative_log_likelihood == pytest.approx(plain.negative_log_likelihood, abs=1e-5)


def test_shorter_documents_keep_their_last_position_beside_longer_ones(tmp_path, small_text):
    """What is changed at the last position is changed at that of each document."""
    corpus = lmviz.load_corpus(small_text, documents="line")
    run = lmviz.train("rnn", corpus, tmp_path / "run", steps=2, width=4)
    model = lmviz.open_model(run.folder)
    lines = ["The cow eats corn.", "The bat sees grass and hay and corn."]
    change = [lmviz.replace("layers/0/hidden", 0.9, position=-1)]
    scores = []
    for text in (lines[:1], lines[1:], lines):
        (tmp_path / "text.txt").write_text("\n".join(text) + "\n")
        scores.append(lmviz.evaluate(model, tmp_path / "text.txt", interventions=change))
    sums = [score.tokens * score.negative_log_likelihood for score in scores]
    assert sums[2] == pytest.approx(sums[0] + sums[1])


ASKED = [
    lambda model, changes, text: lmviz.trace(model, PREFIX, interventions=changes),
    lambda model, changes, text: lmviz.next_token(model, PREFIX, interventions=changes),
    lambda model, changes, text: list(lmviz.sample(model, PREFIX, tokens=2, interventions=changes)),
    lambda model, changes, text: lmviz.beam_search(model, PREFIX, length=2, interventions=changes),
    lambda model, changes, text: lmviz.evaluate(model, text, interventions=changes),
]


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda: lmviz.zero("logits", position=5000), "There is no position 5000"),
        (lambda: lmviz.zero("logits", token=5000), "There is no token 5000"),
        (lambda: lmviz.zero("nowhere"), "No tap is called 'nowhere'"),
        (lambda: lmviz.add("logits", lambda cells: cells * np.nan), "NaN"),
    ],
)
def test_an_intervention_that_cannot_be_is_never_silent(models, family, ask, change, sentence, small_text):
    with pytest.raises(LmvizError, match=sentence):
        ask(models[family], [change()], small_text)


def test_a_position_that_the_text_will_grow_to_is_there(models):
    model, change = models["lstm"], lmviz.replace("logits", 0.0, position=4)
    with pytest.raises(LmvizError, match="There is no position 4"):
        lmviz.next_token(model, PREFIX, interventions=[change])
    steps = list(lmviz.sample(model, PREFIX, tokens=3, interventions=[change]))
    assert np.ptp(steps[1].distribution.logits) > 0
    assert np.ptp(steps[2].distribution.logits) == 0  # of position 4


def test_tokens_that_are_judged_cannot_be_changed(models, small_text):
    change = lmviz.replace("tokens", 3, position=0)
    with pytest.raises(LmvizError, match="change the text instead"):
        lmviz.evaluate(models["lstm"], small_text, interventions=[change])


def test_models_are_compared_over_one_text(models, folders):
    found = lmviz.compare([models["lstm"], folders["ngram"], folders["window"]], PREFIX)
    assert found.places.tolist() == [3, 7, 12]
    assert (found.divergence >= 0).all()
    assert found.divergence.max() > 0
    assert lmviz.compare([models["lstm"], folders["lstm"]], PREFIX).divergence == pytest.approx(0)
    for few in ([], [models["lstm"]], str(folders["lstm"])):
        with pytest.raises(LmvizError, match="two models at least"):
            lmviz.compare(few, PREFIX)


def test_what_a_training_measured_and_kept_is_in_its_run(folders):
    run = lmviz.Run.open(folders["lstm"])
    assert run.snapshots()[-1] == 10
    assert [line["step"] for line in run.metrics()][-1] == 10
    assert run.metrics()[-1]["loss"] > 0


def test_values_can_be_kept_in_files(models, tmp_path):
    model = models["lstm"]
    found = lmviz.trace(model, PREFIX)
    found.save(tmp_path / "trace.npz")
    again = lmviz.Trace.load(tmp_path / "trace.npz")
    assert np.array_equal(again["logits"].array, found["logits"].array)
    assert lmviz.explain(model, again, "logits", (0, 0)).value == found["logits"].array[0, 0]
    model.tokenizer.save(tmp_path / "tokenizer.json")
    assert lmviz.Tokenizer.load(tmp_path / "tokenizer.json").tokens() == model.tokenizer.tokens()


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda model, found: lmviz.trace(model, PREFIX, taps=[3]), "3 is no pattern of addresses"),
        (lambda model, found: lmviz.trace(model, []), "There is no token id to read"),
        (lambda model, found: lmviz.explain(model, PREFIX, "logits", (0, 0)), "is not a trace: give what"),
        (
            lambda model, found: lmviz.explain(model, found, "logits", 3),
            "3 is not a cell: give one index",
        ),
        (
            lambda model, found: lmviz.explain(model, found, "logits", (0, "corn")),
            "'corn' is no token: give",
        ),
        (
            lambda model, found: lmviz.explain(model, found, "logits", (0, 1.5)),
            "1.5 is no token: give a whole",
        ),
        (lambda model, found: lmviz.explain(model, found, "logits", "ab"), "'ab' is not a cell"),
        (lambda model, found: lmviz.logit_lens(model, found, positions=2), "2 is not a list of positions"),
        (lambda model, found: lmviz.logit_lens(model, found, positions=[0.5]), "0.5 is no position"),
        (lambda model, found: lmviz.gradient(model, PREFIX, of=None), "None names no number: give"),
        (lambda model, found: lmviz.gradient(model, PREFIX, of=("logits",)), "names no number: give"),
        (lambda model, found: lmviz.gradient(model, PREFIX, of=("logits", 3)), "3 is not a cell"),
        (
            lambda model, found: lmviz.next_token(model, PREFIX).probability_of(None),
            "No token has the id None",
        ),
        (lambda model, found: lmviz.next_token(model, PREFIX).probability_of(-1), "No token has the id -1"),
        (lambda model, found: lmviz.next_token(model, PREFIX).probability_of(999), "No token has the id 999"),
        (lambda model, found: lmviz.next_token(model, PREFIX).rank_of(999), "No token has the id 999"),
        (lambda model, found: model.tokenizer.encode(None), "None is not a text: give a string"),
        (lambda model, found: model.tokenizer.token(999), "No token has the id 999"),
        (lambda model, found: model.tokenizer.token(-1), "No token has the id -1"),
        (lambda model, found: model.tokenizer.decode([0, 999]), "No token has the id 999"),
        (lambda model, found: lmviz.open_model(None), "None names no model: give"),
        (lambda model, found: lmviz.trace(3, PREFIX), "3 is not a model: give"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_in_a_sentence(models, ask, sentence):
    with pytest.raises(LmvizError, match=re.escape(sentence)):
        ask(models["lstm"], lmviz.trace(models["lstm"], PREFIX))


@pytest.mark.parametrize(
    "ask", [*ASKED, lambda model, changes, text: lmviz.gradient(model, PREFIX, interventions=changes)]
)
@pytest.mark.parametrize("given", [lmviz.zero("logits"), ["logits"], "logits", 3])
def test_interventions_are_a_list_of_them(models, ask, given, small_text):
    with pytest.raises(LmvizError, match="is not a list of interventions: give one, as in"):
        ask(models["lstm"], given, small_text)


def test_the_total_of_a_beam_is_the_log_probability_of_what_was_added(models):
    model = models["lstm"]
    found = lmviz.beam_search(model, PREFIX, width=2, length=3, stop_at_end=False)
    for result in found.results:
        path = found.path(result)
        ids, total = lmviz.trace(model, PREFIX).ids.tolist(), 0.0
        for node in path:
            total += np.log(lmviz.next_token(model, ids).probability_of(node.id))
            ids.append(node.id)
        assert len(path) == 3
        assert result.total == pytest.approx(total, abs=1e-4)


def broken(model, name):
    """The same model with one NaN among its weights."""
    with torch.no_grad():
        model.get_parameter(name)[0, 3] = math.nan
    return model


def test_a_text_longer_than_the_context_is_told_and_counted(models, family):
    text = "The cow eats the grass " * 8
    model = models[family]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = lmviz.trace(model, text)
    expected = 0 if model.context is None else len(read_prefix(model, text)) - model.context
    assert found.dropped == expected
    assert (model.context is not None) == (family == "transformer")
    sentences = [str(one.message) for one in said if one.category is LmvizWarning]
    if model.context is None:
        assert not sentences
    else:
        assert len(sentences) == 1
        assert f"reads 16 tokens at once, so the first {expected} of this text were left out" in sentences[0]


@every_case
def test_every_model_with_a_context_says_what_it_leaves_out(family, options):
    model = untrained(family, options)
    ids = np.resize(IDS, (model.context or 16) + 5)
    asked = [lmviz.trace, lmviz.gradient] if has_loss(model) else [lmviz.trace]
    for ask in asked:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            found = ask(model, ids, **beside(model))
        assert (found if ask is lmviz.trace else found.trace).dropped == (5 if model.context else 0)
        assert [item.category for item in said] == ([LmvizWarning] if model.context else [])
        assert all("tokens at once, so the first 5 of this text" in str(item.message) for item in said)


def has_loss(model):
    return model.predicts.continues and model.causal and next(model.parameters(), None) is not None


def test_a_weight_of_a_run_that_is_no_number_is_named(folders, family, small_text):
    if family == "ngram":
        pytest.skip("it has no weights")
    name = "embedding.weight" if family == "transformer" else "output.weight"
    model = broken(lmviz.open_model(folders[family]), name)
    sentence = rf"has NaN or infinity in {name}, so .* are not numbers: choose an earlier snapshot"
    for ask in (
        lmviz.next_token,
        lmviz.beam_search,
        lmviz.gradient,
        lambda *asked: next(lmviz.sample(*asked)),
    ):
        with pytest.raises(LmvizError, match=sentence):
            ask(model, PREFIX)
    with pytest.raises(LmvizError, match=sentence):
        lmviz.evaluate(model, small_text)
    with pytest.warns(LmvizWarning, match=f"{sentence}.*; the first is logits"):
        assert np.isnan(lmviz.trace(model, PREFIX)["logits"].array).any()


def test_a_weight_of_a_checkpoint_that_is_no_number_is_named(tmp_path):
    model = broken(
        lmviz.open_model(add_tokenizer(saved("gpt2", tmp_path / "it"))), "layers.1.feedforward.hidden.weight"
    )
    sentence = r"it has NaN or infinity in layers.1.feedforward.hidden.weight, so .* its file is damaged"
    with pytest.raises(LmvizError, match=sentence):
        lmviz.next_token(model, "w1 w2")
    with pytest.warns(LmvizWarning, match=f"{sentence}.*; the first is layers/1/"):
        lmviz.trace(model, "w1 w2")


def test_a_change_that_brings_NaN_is_said_not_to_be_of_the_weights(models):
    change = lmviz.replace("layers/0/hidden", math.inf)
    with pytest.raises(LmvizError, match="has finite weights, but its predictions are NaN or infinite: undo"):
        lmviz.next_token(models["lstm"], PREFIX, interventions=[change])


def test_models_of_numbers_are_traced_without_a_warning(models, family):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lmviz.trace(models[family], PREFIX)
        if family != "ngram":
            lmviz.gradient(models[family], PREFIX)


@pytest.mark.parametrize("name", ["stories-gru", "stories-transformer", "stories-5-gram"])
def test_whatever_takes_a_text_takes_many(name):
    texts = ["The cat found", "She had a red doll and", "Then the shepherd told her a story ."]
    told = []
    model = lmviz.open_model(name)
    for number, one in enumerate(lmviz.next_token(model, texts, progress=told.append)):
        alone = lmviz.next_token(model, texts[number])
        np.testing.assert_allclose(one.probabilities, alone.probabilities, atol=5e-6)
    assert told[0] == 0
    assert told[-1] == 1
    assert told == sorted(told)
    traces = lmviz.trace(model, lmviz.text_set(texts), taps="probabilities", progress=told.append)
    assert [one.text for one in traces] == texts
    if name != "stories-5-gram":
        swept = lmviz.gradient(model, texts, "logit:the", progress=told.append)
        assert [one.value for one in swept] == pytest.approx(
            [lmviz.gradient(model, text, "logit:the").value for text in texts]
        )
