"""Which taps and stages the neural families have, and how fast their cells are explained."""

from functools import partial

import numpy as np
import pytest
import torch
import ziamath
from quickest import quickest

from lmviz.families import FAMILIES, build_model
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import FUNCTIONS

LSTM_STATES = ["forget", "input", "candidate", "output", "cell", "hidden"]
LAYER_STATES = {
    "rnn": ["preactivation", "hidden"],
    "lstm": LSTM_STATES,
    "gru": ["reset", "update", "candidate", "hidden"],
}
CHANNELS, UNITS = ("position", "channel"), ("position", "unit")
HEADS, SCORES = ("head", "position", "channel"), ("head", "query", "key")
TRANSFORMER_LAYER = {
    "norm1": CHANNELS,
    "attention/query": HEADS,
    "attention/key": HEADS,
    "attention/value": HEADS,
    "attention/scores": SCORES,
    "attention/weights": SCORES,
    "attention/mixed": HEADS,
    "attention/output": CHANNELS,
    "residual1": CHANNELS,
    "norm2": CHANNELS,
    "feedforward/hidden": UNITS,
    "feedforward/activation": UNITS,
    "feedforward/output": CHANNELS,
    "residual2": CHANNELS,
}
STAGES = [
    "Token embedding",
    "Positions",
    "Token and position",
    "Normalisation",
    "Queries",
    "Keys",
    "Values",
    "Dot products",
    "Scaled scores",
    "Causal mask",
    "Attention weights",
    "Weighted sum of values",
    "Heads joined",
    "Residual sum",
    "Normalisation",
    "Feed-forward units",
    "Activation",
    "Feed-forward output",
    "Residual sum",
    "Final normalisation",
    "Logits",
    "Softmax",
]


def build(family, **settings):
    return build_model(family, FAMILIES[family].configuration(**settings), 11, seed=0).eval()


def axes(model):
    return {tap.address: tap.axes for tap in model.taps()}


@pytest.mark.parametrize("family", LAYER_STATES)
def test_recurrent_taps(family):
    found = axes(build(family, layers=2, width=4))
    expected = {"embedding": CHANNELS}
    expected |= {f"layers/{layer}/{name}": UNITS for layer in (0, 1) for name in LAYER_STATES[family]}
    expected |= dict.fromkeys(("logits", "probabilities"), ("position", "token"))
    assert found == expected


def test_window_taps():
    tokens = ("position", "token")
    expected = {"embedding": CHANNELS, "hidden": UNITS, "logits": tokens, "probabilities": tokens}
    assert axes(build("window", width=4)) == expected


def test_transformer_taps():
    found = axes(build("transformer", layers=2))
    expected = {f"embedding/{part}": CHANNELS for part in ("token", "position", "sum")} | {"norm": CHANNELS}
    expected |= {f"layers/{n}/{name}": TRANSFORMER_LAYER[name] for n in (0, 1) for name in TRANSFORMER_LAYER}
    assert found.items() >= expected.items()


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "alibi", "none"])
def test_every_tap_of_a_transformer_is_shown_by_a_stage(positions):
    model = build("transformer", layers=1, positions=positions)
    assert {result for stage in model.stages() for result in stage.results} == axes(model).keys()


def test_transformer_stages_follow_the_wiring():
    assert [stage.title for stage in build("transformer", layers=1).stages()] == STAGES
    post = [stage.title for stage in build("transformer", layers=1, norm="post").stages()]
    assert post.index("Normalisation") == post.index("Residual sum") + 1
    assert "Final normalisation" not in post


RECURRENT_STAGES = {
    "rnn": ["Pre-activation", "Hidden state"],
    "lstm": ["Forget gate", "Input gate", "Candidate", "New cell state", "Output gate", "Hidden state"],
    "gru": ["Reset gate", "Update gate", "Candidate", "Hidden state"],
}


@pytest.mark.parametrize("family", RECURRENT_STAGES)
def test_recurrent_stages_are_those_of_every_layer(family):
    stages = build(family, layers=2, width=4).stages()
    assert [stage.title for stage in stages] == [
        "Embedding",
        *RECURRENT_STAGES[family],
        *RECURRENT_STAGES[family],
        "Logits",
        "Softmax",
    ]
    *_, hidden = (stage for stage in stages if stage.place == "layers/0")
    assert hidden.results == ("layers/0/hidden",)
    gates = {
        "rnn": {"layers/0/preactivation"},
        "lstm": {"layers/0/output", "layers/0/cell"},
        "gru": {"layers/0/update", "layers/0/candidate", "layers/0/hidden"},
    }
    assert set(hidden.operands) == gates[family]


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("window", {"direct": True}),
        ("rnn", {"activation": "sigmoid"}),
        ("rnn", {"activation": "relu"}),
        ("lstm", {}),
        ("gru", {}),
        *(
            ("transformer", {"positions": name})
            for name in ("learned", "sinusoidal", "rotary", "alibi", "relative")
        ),
        ("transformer", {"norm": "post", "activation": "relu", "tied": False}),
    ],
)
def test_every_equation_can_be_set_in_type(family, settings):
    ziamath.config.svg2 = False
    for equation in {stage.equation for stage in build(family, **settings).stages()}:
        assert "<path" in ziamath.Latex(equation).svg()


def test_a_window_shows_what_its_activation_is_applied_to():
    (hidden,) = (stage for stage in build("window").stages() if stage.title == "Hidden layer")
    applied = r"W [\mathbf{x}_{t-n+1}, \ldots, \mathbf{x}_t] + \mathbf{b}"
    assert hidden.equation == rf"\mathbf{{h}}_t = {FUNCTIONS['tanh'].latex.format(applied)}"


def test_scores_and_shares_of_attention_have_scales_of_their_own():
    scales = {tap.address: tap.scale for tap in build("transformer", layers=1).taps()}
    assert scales["layers/0/attention/scaled"] == "signed"
    assert scales["layers/0/attention/scores"] == "score"
    assert scales["layers/0/attention/weights"] == "share"


def test_the_steps_of_a_recurrence_belong_to_a_position():
    assert all(stage.by_position for stage in build("lstm").stages())
    assert not any(stage.by_position for stage in build("transformer").stages())


def test_a_cell_of_a_wide_model_is_explained_at_once():
    model = build("transformer", layers=1, heads=12, width=768).requires_grad_(False)
    found = trace(model, np.arange(11))
    reader = TraceReader(model, found)
    for tap in model.taps():
        index = tuple(size - 1 for size in found[tap.address].array.shape)
        explain = partial(tap.operation.explain, reader, tap.address, index)
        assert quickest(explain, 0.005) < 0.005, tap.address


def test_a_change_flows_through_the_explicit_path():
    model = build("transformer", layers=2)
    tokens = torch.arange(6)[None]
    silent = model.listen(
        tokens, lambda tap, value, position: value * 0 if tap.address.startswith("layers/0/att") else value
    )
    assert not torch.allclose(silent, model(tokens))
