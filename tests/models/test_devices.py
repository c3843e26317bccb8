"""Models compute where their weights are. The meta device, which only knows shapes, stands in for a GPU."""

import pytest
import torch

from lmviz.families import FAMILIES, build_model
from lmviz.models import cross_entropy

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


@pytest.mark.parametrize(("family", "settings"), CASES)
@pytest.mark.parametrize("sliced", [False, True])
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
