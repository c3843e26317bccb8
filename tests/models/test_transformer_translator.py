"""Encoder–decoder Transformer: against nn.Transformer, its two statements, reach, and learning."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.tracing import trace
from lmviz.models.prediction import NEXT_TOKEN
from lmviz.models.transformer_translator_stages import translator_stages
from tests.translators import (
    SOURCE,
    SOURCE_WORDS,
    TEXT,
    WORDS,
    answered,
    check_both_statements,
    check_taking_over,
    shake,
    tensors,
)

CASES = [
    {"norm": "pre"},
    {"norm": "post", "positions": "sinusoidal", "activation": "relu", "layers": 1, "tied": False},
    {
        "norm": "pre",
        "positions": "none",
        "norm_kind": "rms",
        "gated": True,
        "key_value_heads": 1,
        "layers": 1,
    },
    {"norm": "post", "attention_bias": "none", "feedforward_bias": False, "layers": 1},
]
every_case = pytest.mark.parametrize(
    "case", range(len(CASES)), ids=[" ".join(map(str, case.values())) for case in CASES]
)


def build(**settings):
    configuration = FAMILIES["transformer"].configuration(
        **{"layers": 2, "heads": 2, "width": 4, "context": 8, "feedforward": 5, **settings}
    )
    return build_model("transformer", configuration, WORDS, 0, NEXT_TOKEN, SOURCE_WORDS)


@cache
def shaken(case):
    return shake(build(**CASES[case]))


@every_case
def test_the_explicit_path_equals_the_fused_one_whatever_the_two_lengths(case):
    check_both_statements(shaken(case), rtol=1e-4, atol=1e-5)


@every_case
def test_whatever_else_is_set_the_encoder_sees_all_and_the_decoder_what_came_before(case):
    configuration = build(**CASES[case]).configuration
    either, other = (translator_stages(replace(configuration, causal=causal)) for causal in (True, False))
    assert either == other


@every_case
def test_a_longer_text_takes_over_what_is_known(case):
    check_taking_over(shaken(case), 1e-4)


def test_each_word_of_the_source_sees_all_of_it_and_one_of_the_text_none_that_follow():
    model, place = shaken(0), 2
    before = trace(model, TEXT, source=SOURCE)
    text, source = TEXT.copy(), SOURCE.copy()
    text[place], source[place] = 1, 3
    after, other = trace(model, text, source=SOURCE), trace(model, TEXT, source=source)
    for address in ("encoder/norm", "decoder/layers/0/cross/output", "logits"):
        assert (before[address].array != other[address].array).any(axis=1).all(), address
    np.testing.assert_array_equal(before["encoder/norm"].array, after["encoder/norm"].array)
    changed = (before["logits"].array != after["logits"].array).any(axis=1)
    assert changed.tolist() == [False, False, True, True, True]


def test_axes_say_which_sequence_they_run_along():
    found = trace(shaken(0), TEXT, source=SOURCE)
    assert found["encoder/layers/0/attention/weights"].axes == ("head", "source_query", "source_key")
    assert found["decoder/layers/0/attention/weights"].axes == ("head", "query", "key")
    weights = found["decoder/layers/1/cross/weights"]
    assert weights.axes == ("head", "position", "source")
    assert weights.array.shape == (2, 5, 4)
    np.testing.assert_allclose(weights.array.sum(axis=-1), 1, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_it_computes_what_torchs_transformer_computes(norm):
    model = build(norm=norm, activation="relu").eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
    first = norm == "pre"
    encoder = nn.TransformerEncoderLayer(4, 2, 5, 0.0, "relu", 1e-5, batch_first=True, norm_first=first)
    decoder = nn.TransformerDecoderLayer(4, 2, 5, 0.0, "relu", 1e-5, batch_first=True, norm_first=first)
    ends = [nn.LayerNorm(4) if first else None for _ in range(2)]
    peer = nn.Transformer(
        4,
        2,
        custom_encoder=nn.TransformerEncoder(encoder, 2, ends[0], enable_nested_tensor=False),
        custom_decoder=nn.TransformerDecoder(decoder, 2, ends[1]),
        batch_first=True,
    ).eval()
    peer.load_state_dict(dict(_as_torch_names(model.state())))
    tokens, source = tensors(TEXT, SOURCE)
    read = model.source_embedding(source) + model.encoder.positions.weight[: len(SOURCE)]
    written = model.embedding(tokens) + model.decoder.positions.weight[: len(TEXT)]
    mask = nn.Transformer.generate_square_subsequent_mask(len(TEXT))
    expected = peer(read, written, tgt_mask=mask)
    found, _ = model.features(tokens, model.begin(source))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)


def _as_torch_names(state):
    """The parameters of encoder and decoder by the names that torch's modules have for them."""
    names = {
        "attention.input.weight": "self_attn.in_proj_weight",
        "attention.input.bias": "self_attn.in_proj_bias",
        "attention.output": "self_attn.out_proj",
        "cross.output": "multihead_attn.out_proj",
        "feedforward.hidden": "linear1",
        "feedforward.output": "linear2",
        "cross.norm": "norm2",
    }
    for name, value in state.items():
        side, _, rest = name.partition(".")
        if side not in ("encoder", "decoder") or rest.startswith("positions"):
            continue
        if side == "decoder" and "layers" in rest:
            rest = rest.replace(".norm2", ".norm3")
        for ours, torchs in names.items():
            rest = rest.replace(ours, torchs)
        if ".cross.query." in rest:  # torch keeps queries, keys and values of the source in one matrix
            parts = [state[name.replace("query", part)] for part in ("query", "key", "value")]
            kind = rest.rpartition(".")[2]
            yield f"{side}.{rest.partition('.cross')[0]}.multihead_attn.in_proj_{kind}", torch.cat(parts)
        elif ".cross." not in rest:
            yield f"{side}.{rest}", value


def test_what_cannot_be_is_said():
    positions = [{"positions": name} for name in ("rotary", "alibi", "relative")]
    others = [{"parallel": True}, {"attention_alone": True}]
    for settings in (*positions, *others, {"norm": "none"}, {"residual": False}):
        with pytest.raises(LmvizError, match="translate"):
            build(**settings)
    with pytest.raises(LmvizError, match="at 8 at most"):
        answered(shaken(0), source=np.zeros(9, dtype=np.int64))


def test_a_source_longer_than_the_context_is_refused_by_both_statements():
    model = build(positions="sinusoidal", context=8)
    source = np.ones(9, dtype=np.int64)
    with pytest.raises(LmvizError, match="The source has 9 tokens, but this model looks at 8 at most"):
        trace(model, TEXT[:2], source=source)
    with pytest.raises(LmvizError, match="has 9 tokens, but this model looks at 8 at most"):
        model(torch.from_numpy(TEXT[None, :2]), source=torch.from_numpy(source[None]))


@pytest.mark.slow
def test_it_learns_to_copy():
    model = build(layers=1, width=32, feedforward=64)
    model.train()
    chance = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for _ in range(200):
        source = torch.randint(1, SOURCE_WORDS, (16, 3), generator=chance)
        loss, _ = model.loss(functional.pad(source, (1, 0))[:, :-1], source, source=source)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.5 * np.log(4)
