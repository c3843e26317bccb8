"""Models compute where their weights are. The meta device, which only knows shapes, stands in for a GPU."""

import numpy as np
import pytest
import torch
from covering import covering, others_slow

from lmviz.families import FAMILIES, build_model
from lmviz.models import cross_entropy
from lmviz.models.ngram.configuration import NgramConfiguration
from lmviz.models.ngram.counts import count_ngrams
from lmviz.models.ngram.model import Ngram

CASES = [
    ("window", {"direct": True}),
    ("rnn", {"activation": "sigmoid"}),
    ("lstm", {"layers": 2}),
    ("gru", {}),
    *(
        ("transformer", {"positions": name})
        for name in ("learned", "sinusoidal", "rotary", "alibi", "relative", "none")
    ),
]


@pytest.mark.parametrize(
    ("family", "settings"),
    covering([pytest.param(*case) for case in CASES], [{family} for family, _ in CASES]),
)
@pytest.mark.parametrize("sliced", others_slow([False, True], True))
def test_nothing_is_left_on_the_processor(monkeypatch, family, settings, sliced):
    monkeypatch.setattr(cross_entropy, "LARGE_VOCABULARY", 0 if sliced else 10**9)
    model = build_model(family, FAMILIES[family].configuration(width=8, **settings), 11, seed=0).to("meta")
    tokens = torch.zeros(2, 5, dtype=torch.int64, device="meta")

    def listener(tap, value, position):
        assert value.device.type == "meta", tap.address
        return value

    assert model.listen(tokens, listener).shape == model(tokens).shape
    logits, state = model.advance(tokens)
    further, _ = model.advance(tokens, state)
    assert {logits.device.type, further.device.type} == {"meta"}
    loss, _ = model.loss(tokens, tokens)
    loss.backward()
    assert all(item.grad.device.type == "meta" for item in model.parameters() if item.grad is not None)


class Elsewhere(torch.Tensor):
    """A tensor whose numbers can be read, and which says that it lies on the meta device."""

    device = torch.device("meta")


def test_what_is_looked_up_goes_where_the_tokens_are():
    model = Ngram(NgramConfiguration(order=2), 5)
    model.fit(count_ngrams(np.array([1, 2, 3, 1, 2, 4]), 2, 5, None))
    tokens = torch.tensor([[1, 2, 3]]).as_subclass(Elsewhere)
    assert model(tokens).device.type == "meta"
    assert model.log_probabilities(tokens, tokens).device.type == "meta"

    class Scope:
        def __init__(self):
            self.tokens = tokens

        def read(self, operand):
            assert operand.address == "orders/2/context"
            return tokens[..., None]

    taps = {tap.address: tap.operation for tap in model.taps()}
    for name in ("context", "counts"):
        assert taps[f"orders/2/{name}"].compute(Scope()).device.type == "meta", name
