"""Which lines taught a run a word: products against autograd, overlap against a naive search, shares."""

from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import lmviz
from lmviz.models.model import IGNORED
from lmviz.origins.influences import steepest
from lmviz.origins.learned_text import LearnedText
from lmviz.origins.overlap import AGAINST, overlap
from lmviz.origins.products import in_double
from lmviz.origins.rates import interval_weights
from lmviz.text.corpus import text_corpus

STORIES = "\n".join(
    f"{name} owned a {thing} that had belonged to {whose} {kin}. It was {color}."
    for number, (name, whose) in enumerate(
        [("Mira", "her"), ("Tom", "his"), ("Ida", "her"), ("Leo", "his")] * 3
    )
    for thing, kin, color in [(["horn", "drum", "doll"][number % 3], ["aunt", "uncle"][number % 2], "red")]
)
TAGS = "\n\n".join(["the\tD\nbat\tN\nsings\tV", "a\tD\ncat\tN\nsleeps\tV", "the\tD\ncat\tN\nsings\tV"] * 4)
LABELS = "\n".join(["good\tthe film was good", "bad\tthe film was bad", "good\ta good book"] * 5)
PAIRS = "\n".join(["the cat\tdie Katze", "the dog\tder Hund", "a dog\tein Hund"] * 5)

TASKS = {
    "gru": (STORIES, {"documents": "line"}, ("Ida owned a drum that had belonged to", "her"), {}),
    "transformer": (STORIES, {"documents": "line"}, ("Ida owned a drum that had belonged to", "her"), {}),
    "lstm": (TAGS, {"task": "tagging"}, ("the cat sings", "N"), {"position": 1}),
    "rnn": (LABELS, {"task": "classification"}, ("a bad film", "bad"), {}),
    "gru translator": (PAIRS, {"task": "translation"}, ("die", "Katze"), {"source": "the cat"}),
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory):
    """Small runs, each trained once."""

    @cache
    def train(name: str, **settings):
        text, options, _, _ = TASKS[name]
        corpus = text_corpus(text, tokenizer="words", validation=0.0, **options)
        family = name.split()[0]
        small = {"width": 8, "layers": 1} | ({"heads": 2} if family == "transformer" else {})
        folder = tmp_path_factory.mktemp("runs") / name.replace(" ", "-")
        run = lmviz.train(family, corpus, folder, steps=12, batch=4, snapshots=5, **{**small, **settings})
        return run, corpus

    return train


def losses_by_autograd(model, pieces, piece: int, targets: np.ndarray):
    """The gradient of the loss of each target of a piece, flat, by autograd in float64."""
    tokens, wanted, lengths = pieces.side_by_side([piece])
    beside = {name: torch.from_numpy(array) for name, array in pieces.beside([piece]).items()}
    logits = model(torch.from_numpy(tokens), torch.from_numpy(lengths), **beside)
    rows, flat = logits.reshape(-1, logits.shape[-1]), torch.from_numpy(wanted).flatten()
    losses = torch.nn.functional.cross_entropy(rows, flat, ignore_index=IGNORED, reduction="none")
    parameters = list(model.parameters())
    for loss in losses[: len(targets)]:
        found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        yield torch.cat(
            [
                torch.zeros_like(p).flatten() if g is None else g.flatten()
                for p, g in zip(parameters, found, strict=True)
            ]
        )


@pytest.mark.parametrize("name", TASKS)
def test_products_agree_with_autograd(trained, name):
    run, corpus = trained(name)
    _, _, (text, word), further = TASKS[name]
    step = run.snapshots()[-2]
    taught = lmviz.influences(run, text, word, corpus=corpus, steps=[step], scaled=False, **further)
    model = in_double(lmviz.open_model(run.folder, step))
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    pieces = LearnedText.of(corpus).pieces(model.predicts, model.context)
    asked = asked_by_hand(model, text, word, further)
    parameters = list(model.parameters())
    gradient = torch.autograd.grad(-asked, parameters, retain_graph=True, allow_unused=True)
    question = torch.cat(
        [
            torch.zeros_like(p).flatten() if g is None else g.flatten()
            for p, g in zip(parameters, gradient, strict=True)
        ]
    )
    exact, found = [], []
    for piece in range(0, len(pieces), 4):
        first, last = pieces.target_spans[piece]
        targets = np.arange(first, last)
        exact += [float(one @ question) for one in losses_by_autograd(model, pieces, piece, targets)]
        found += taught.products[0, targets].tolist()
    largest = np.abs(exact).max()
    assert largest > 0
    assert np.abs(np.array(exact) - found).max() / largest < 1e-5


def asked_by_hand(model, text: str, word: str, further: dict):
    """The log-probability of the word, by the model's own forward."""
    ids = torch.from_numpy(model.tokenizer.encode_prefix(text).ids.astype(np.int64))[None]
    beside = {}
    if "source" in further:
        read = model.further_tokenizers["source"]
        source = [*read.encode(further["source"]).tolist(), read.end_id]
        beside = {"source": torch.tensor([source]), "source_lengths": torch.tensor([len(source)])}
    logits = model(ids, **beside).log_softmax(-1)
    if model.predicts.continues:
        return logits[0, -1, model.tokenizer.id_of(word)]
    label = model.predicts.names.index(word)
    return logits[0, label] if logits.ndim == 2 else logits[0, further["position"], label]


@pytest.mark.parametrize("name", ["gru", "transformer"])
def test_scaled_products_are_those_of_gradients_divided_by_roots_of_moments(trained, name):
    run, corpus = trained(name)
    text, word = TASKS[name][2]
    step = run.snapshots()[-2]
    taught = lmviz.influences(run, text, word, corpus=corpus, steps=[step])
    assert taught.scaled  # by default, as its snapshots keep moments
    moments = run.load_moments(step)
    model = in_double(lmviz.open_model(run.folder, step))
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    names, parameters = zip(*model.named_parameters(), strict=True)
    gradient = torch.autograd.grad(-asked_by_hand(model, text, word, {}), parameters)
    direction = torch.cat(
        [(g / (moments[n].double().sqrt() + 1e-8)).flatten() for n, g in zip(names, gradient, strict=True)]
    )
    pieces = LearnedText.of(corpus).pieces(model.predicts, model.context)
    targets = np.arange(*pieces.target_spans[1])
    exact = [float(one @ direction) for one in losses_by_autograd(model, pieces, 1, targets)]
    found = taught.products[0, targets]
    assert np.abs(np.array(exact) - found).max() / np.abs(exact).max() < 1e-5


def test_moments_are_means_of_rows_without_the_bias_of_their_beginning(trained):
    run, _ = trained("gru")
    tensors, _ = run.load_resume()
    last = run.snapshots()[-1]
    decay = run.description.options.second_moment_decay
    for name, mean in run.load_moments(last).items():
        squares = tensors[f"optimizer/{name}/exp_avg_sq"].double() / (1 - decay**last)
        wanted = squares.mean(dim=1, keepdim=True) if squares.ndim == 2 else squares
        torch.testing.assert_close(mean.double(), wanted, rtol=1e-5, atol=1e-12)


def test_a_run_without_moments_is_asked_without_them(trained):
    run, corpus = trained("gru")
    text, word = TASKS["gru"][2]
    for path in (Path(run.folder) / "moments").iterdir():
        path.rename(path.with_suffix(".away"))
    try:
        assert not lmviz.influences(run, text, word, corpus=corpus, tokens=20).scaled
        with pytest.raises(lmviz.LmvizError, match="no second moments"):
            lmviz.influences(run, text, word, corpus=corpus, scaled=True)
    finally:
        for path in (Path(run.folder) / "moments").iterdir():
            path.rename(path.with_suffix(".safetensors"))


def test_weights_are_the_rates_of_the_nearest_updates(trained):
    run, _ = trained("gru")
    steps = run.snapshots()
    rates = {line["step"]: line["learning_rate"] for line in run.metrics() if line.get("learning_rate")}
    wanted = np.zeros(len(steps))
    for update, rate in rates.items():
        wanted[int(np.argmin([abs(step - (update - 1)) for step in steps]))] += rate
    assert len(rates) == 12
    found = interval_weights(run, steps)
    assert found.sum() == pytest.approx(sum(rates.values()))
    # Of two snapshots at the same distance either may have the update.
    assert np.abs(np.cumsum(found) - np.cumsum(wanted)).max() <= max(rates.values()) + 1e-12


WORDS = ("the", "bat", "sings", "at", ".")


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), min_size=2, max_size=4),
    st.lists(st.sampled_from(WORDS), max_size=6),
    st.sampled_from(WORDS),
)
def test_overlap_is_that_of_a_naive_search(documents, context, word):
    corpus = text_corpus(
        "\n".join(map(" ".join, documents)), tokenizer="words", documents="line", validation=0.0
    )
    tokenizer = corpus.tokenizer
    if tokenizer.id_of(word) is None or any(tokenizer.id_of(each) is None for each in context):
        return
    text = LearnedText.of(corpus)
    ids = tokenizer.encode_prefix(" ".join(context)).ids
    found = overlap(text, np.asarray(ids), tokenizer.id_of(word))
    stream = corpus.training.tolist()
    start = tokenizer.start_id
    for target in range(len(stream)):
        length = 0
        if stream[target] != start:
            while (
                length < min(target, len(ids))
                and stream[target - 1 - length] == ids[len(ids) - 1 - length]
                and start not in stream[target - length : target]
            ):
                length += 1
        assert found.lengths[target] == length
        sign = 1 if stream[target] == tokenizer.id_of(word) else -AGAINST
        assert found.values[target] == pytest.approx(sign * length**2)
    for counted in found.counted:
        places = np.flatnonzero(found.lengths >= counted.length)
        assert counted.total == len(places)
        assert counted.count == sum(stream[place] == tokenizer.id_of(word) for place in places)


def test_lines_are_those_that_say_so(trained):
    run, corpus = trained("gru")
    text, word = TASKS["gru"][2]
    taught = lmviz.influences(run, text, word, corpus=corpus, tokens=None)
    assert taught.read.sum() == taught.text.asked.sum()
    first = taught.lines(1, by="overlap")[0]
    assert "drum that had belonged to her" in first.line.text
    by_overlap = taught.forms(by="overlap")[0]
    assert (by_overlap.before, by_overlap.learned, by_overlap.times) == ("to", "her", 6)
    against = taught.forms(by="overlap", against=True)[0]
    assert (against.learned, against.times) == ("his", 6)
    assert against.share == pytest.approx(-1.0)
    for by in taught.methods:
        shares = taught.line_shares(by)
        assert shares[shares > 0].sum() == pytest.approx(1.0)
        assert shares[shares < 0].sum() == pytest.approx(-1.0)
        for line in (*taught.lines(5, by), *taught.lines(5, by, against=True)):
            assert line.pushes.sum() == pytest.approx(line.share, abs=1e-6)
            assert line.share == pytest.approx(shares[line.number])
        lines = taught.lines(5)
    assert lines[0].by_step.sum() == pytest.approx(lines[0].share, abs=1e-6)
    up, down = taught.when()
    assert up.sum() - down.sum() == pytest.approx(1.0)
    counted = taught.overlap.counted
    assert (counted[2].count, counted[2].other_count) == (6, 6)


def test_what_only_gradients_find_is_marked(trained):
    run, corpus = trained("gru")
    text, word = TASKS["gru"][2]
    taught = lmviz.influences(run, text, word, corpus=corpus, tokens=None)
    forms = taught.forms(100)
    assert any(form.only_gradients for form in forms)
    for form in forms:
        assert form.only_gradients is not (form.before == "to" and form.learned == "her")
    against = taught.forms(100, against=True)
    assert {form.only_gradients for form in against if form.before == "to"} == {False}


def test_the_answer_grows_and_the_steepest_rise_comes_first(trained):
    from lmviz.origins.teaching import Teaching

    run, corpus = trained("gru")
    text, word = TASKS["gru"][2]
    teaching = Teaching(run, corpus, lambda step: lmviz.open_model(run.folder, step), text, word, tokens=None)
    answers = [answer for answer, _ in teaching.growing()]
    assert answers[0].products is None
    assert answers[0].overlap is not None
    rise = steepest(answers[0].history, answers[0].probabilities)
    assert rise is not None
    assert set(answers[1].steps) >= set(rise) & set(answers[-1].steps)
    assert [answer.done for answer in answers] == [False] * (len(answers) - 1) + [True]
    plan = teaching.plan()
    assert plan.tokens == teaching.tokens
    assert plan.seconds > 0


def test_a_model_that_counts_has_its_counts_for_an_answer(tmp_path):
    corpus = text_corpus(STORIES, tokenizer="words", documents="line", validation=0.0)
    run = lmviz.train("ngram", corpus, tmp_path / "run", order=3)
    taught = lmviz.influences(run, "Ida owned a drum that had belonged to", "her", corpus=corpus)
    assert taught.products is None
    assert taught.methods == ("overlap",)
    assert taught.lines(1, by="overlap")[0].share > 0


def test_words_that_cannot_be_said_are_named(trained):
    run, corpus = trained("gru")
    for word in ("zebra", "her aunt"):
        with pytest.raises(lmviz.LmvizError, match="give one token"):
            lmviz.influences(run, "Ida owned", word, corpus=corpus)
    with pytest.raises(lmviz.LmvizError, match="no snapshot"):
        lmviz.influences(run, "Ida owned", "a", corpus=corpus, steps=[999])
    tagger, tagged = trained("lstm")
    with pytest.raises(lmviz.LmvizError, match="no label"):
        lmviz.influences(tagger, "the cat", "X", corpus=tagged)
    with pytest.raises(lmviz.LmvizError, match="none at 5"):
        lmviz.influences(tagger, "the cat", "N", corpus=tagged, position=5)


@pytest.mark.parametrize("name", TASKS)
def test_a_text_in_other_tokens_is_refused(trained, name):
    run, corpus = trained(name)
    text, options, (asked, word), further = TASKS[name]
    other = text_corpus(text.replace(text.split()[0], "zebra"), tokenizer="words", validation=0.0, **options)
    assert other.fingerprint != corpus.fingerprint
    with pytest.raises(lmviz.LmvizError, match="other tokens"):
        lmviz.influences(run, asked, word, corpus=other, **further)


def test_the_plan_goes_by_what_was_read_and_not_by_what_was_asked_for(monkeypatch):
    """Where one piece takes longer than may be tried, it is one piece that was timed."""
    from lmviz.origins import products, teaching

    class Slow:
        def __init__(self, *given):
            pass

        def products(self, pieces, chosen, done):
            for _ in chosen:
                now[0] += 0.6
                done(512)
                yield np.zeros(1), np.zeros(1), np.zeros(1)

    now = [0.0]
    monkeypatch.setattr(products, "Moved", Slow)
    monkeypatch.setattr(teaching, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    asked = object.__new__(teaching.Teaching)
    vars(asked).update(
        _pieces=SimpleNamespace(lengths=np.full(117, 512)),
        _order=np.arange(117),
        _steps=(1, 2, 3),
        _opened=lambda step: None,
        asked=None,
        text=SimpleNamespace(wanted=np.zeros(60_000)),
    )
    assert asked.plan().seconds == pytest.approx(0.6 * 117 * 3)
