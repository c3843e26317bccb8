"""Carrying a state on gives what reading everything again gives, whatever the family keeps as its state."""

import numpy as np
import pytest
import torch
from rounding import assert_equal_but_for_rounding
from small_models import small_settings

from lmviz.decoding.continuation import Continuation
from lmviz.decoding.likelihood import BLOCK, predictions
from lmviz.families import FAMILIES, build_model, find_family
from lmviz.models.ngram.counts import count_ngrams

VOCABULARY = 9
SMALL = {
    "ngram": {"order": 3},
    "window": {"window": 3, "width": 7, "embedding": 5},
    "rnn": {"layers": 2, "width": 6},
    "lstm": {"layers": 2, "width": 6},
    "gru": {"layers": 2, "width": 6},
}
SMALL |= {
    f"transformer {positions}": {
        "layers": 2,
        "heads": 2,
        "width": 8,
        "context": 10,
        "positions": positions,
    }
    for positions in ("learned", "sinusoidal", "rotary", "alibi", "relative", "none")
}

SMALL |= {
    family: small_settings(family) for family in FAMILIES if family not in {kind.split()[0] for kind in SMALL}
}


@pytest.fixture(params=SMALL)
def model(request):
    family = request.param.split()[0]
    configuration = find_family(family).configuration.from_values(SMALL[request.param])
    model = build_model(family, configuration, VOCABULARY, seed=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    if family == "ngram":
        model.fit(count_ngrams(ids(300), 3, VOCABULARY, start_id=None))
    return model.eval()


def ids(length):
    return np.random.default_rng(1).integers(0, VOCABULARY, length)


def plain_logits(model, tokens):
    with torch.no_grad():
        return model(torch.from_numpy(np.asarray(tokens))[None])[0].double().numpy()


def test_one_more_token_is_one_step_and_gives_the_same(model):
    tokens = ids(10)
    grown = Continuation.of(model, tokens[:3])
    for count in range(3, 10):
        grown = grown.extended(int(tokens[count]))
        assert_equal_but_for_rounding(grown.logits, plain_logits(model, tokens[: count + 1])[-1])


def test_branches_do_not_disturb_one_another(model):
    tokens = ids(5)
    start = Continuation.of(model, tokens)
    branches = [start.extended(id).extended(id) for id in range(3)]
    for id, branch in enumerate(branches):
        expected = plain_logits(model, [*tokens, id, id])[-1]
        assert branch.logits == pytest.approx(expected, abs=1e-5)


def test_beyond_the_context_the_last_tokens_count(model):
    tokens = ids(14)
    grown = Continuation.of(model, tokens[:8])
    for id in tokens[8:]:
        grown = grown.extended(int(id))
    read = tokens if model.context is None else tokens[-model.context :]
    assert grown.logits == pytest.approx(plain_logits(model, read)[-1], abs=1e-5)


@pytest.mark.parametrize("model", ["ngram", "window", "rnn", "lstm", "gru"], indirect=True)
def test_texts_longer_than_a_block_are_predicted_as_if_read_at_once(model):
    tokens = ids(BLOCK + 7)
    rows = torch.stack(list(predictions(model, tokens))).double()
    expected = torch.from_numpy(plain_logits(model, tokens)).log_softmax(-1)
    assert rows.numpy() == pytest.approx(expected.numpy(), abs=1e-4)


def test_what_lies_beyond_its_sight_makes_no_difference_and_what_lies_within_does(model):
    if model.sight is None:
        assert model.family not in ("ngram", "window")
        return
    text = ids(40)
    first = len(text) - model.sight
    expected = model.forward(torch.from_numpy(text)[None])[0, -1]
    others = text.copy()
    others[:first] = (others[:first] + 1) % VOCABULARY
    assert torch.equal(model.forward(torch.from_numpy(others)[None])[0, -1], expected)
    seen = [text.copy() for _ in range(VOCABULARY)]
    for word, changed in enumerate(seen):
        changed[first] = word
    rows = model.forward(torch.from_numpy(np.stack(seen)))[:, -1]
    assert not torch.allclose(rows, rows[:1].expand_as(rows))
