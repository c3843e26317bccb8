"""The Transformer against torch.nn and scaled_dot_product_attention."""

import math

import numpy as np
import pytest
import torch
from gpt2 import gpt2_small
from torch import nn
from torch.nn import functional

from lmviz.base.errors import LmvizError
from lmviz.families import build_model, learner_of
from lmviz.models.positions import rotate, rotations, sinusoids
from lmviz.models.prediction import Prediction
from lmviz.models.rotary import Alibi, Rotary
from lmviz.models.transformer import TransformerModel
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.models.transformer_layers import Attending
from lmviz.training.options import TrainingOptions

IDS = torch.tensor([[3, 1, 4, 1, 5, 0, 2], [2, 6, 5, 3, 5, 1, 1]])
SMALL = {"layers": 2, "heads": 2, "width": 8, "context": 9}


def build(**settings):
    model = build_model("transformer", TransformerConfiguration(**{**SMALL, **settings}), 7, seed=0)
    for parameter in model.requires_grad_(False).parameters():
        parameter += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
    return model.eval()


def values(model, tokens):
    found = {}

    def listener(tap, value, position):
        found[tap.address] = value
        return value

    model.listen(tokens, listener)
    return found


def test_gpt2_small_has_the_parameters_that_gpt2_small_has():
    with torch.device("meta"):
        model = TransformerModel(gpt2_small(), 50257)
    assert model.parameter_count() == 124_439_808
    assert gpt2_small().estimate(50257, batch=1, length=1024).parameters == 124_439_808


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "alibi", "relative", "none"])
def test_attention_is_scaled_dot_product_attention(positions):
    found = values(build(positions=positions), IDS)
    turned = "_rotated" if positions == "rotary" else ""
    query, key = (found[f"layers/1/attention/{name}{turned}"] for name in ("query", "key"))
    value = found["layers/1/attention/value"]
    mask = torch.ones(7, 7).tril().log()
    if positions in ("alibi", "relative"):
        mask = mask + found["layers/1/attention/bias"]
    mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    torch.testing.assert_close(found["layers/1/attention/mixed"], mixed)


def test_heads_of_a_group_share_their_keys_and_values():
    found = values(build(heads=4, key_value_heads=2), IDS)
    query, key, value = (found[f"layers/1/attention/{name}"] for name in ("query", "key", "value"))
    assert (query.shape[1], key.shape[1], value.shape[1]) == (4, 2, 2)
    mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
    torch.testing.assert_close(found["layers/1/attention/mixed"], mixed)


def test_parallel_sublayers_read_the_same_stream():
    model = build(parallel=True)
    found = values(model, IDS)
    layer, stream = model.layers[1], found["layers/0/residual2"]
    torch.testing.assert_close(found["layers/1/norm2"], layer.norm2(stream))
    added = found["layers/1/attention/output"] + layer.feedforward(layer.norm2(stream))
    torch.testing.assert_close(found["layers/1/residual2"], stream + added)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_attention_alone_hands_its_sum_to_the_next_layer(norm):
    model = build(attention_alone=True, norm=norm)
    found = values(model, IDS)
    assert not [name for name in (*found, *dict(model.named_parameters())) if "feedforward" in name]
    layer, stream = model.layers[1], found["layers/0/norm1" if norm == "post" else "layers/0/residual1"]
    assert not list(layer.norm2.parameters())
    torch.testing.assert_close(found["layers/1/residual1"], stream + found["layers/1/attention/output"])
    assert not {"feedforward", "activation"} & model.configuration.used()


def test_a_gate_multiplies_the_units_of_the_feedforward_network():
    model = build(gated=True, activation="silu", norm_kind="rms")
    found, network = values(model, IDS), model.layers[0].feedforward
    read = found["layers/0/norm2"]
    expected = functional.silu(network.gate(read)) * network.hidden(read)
    torch.testing.assert_close(found["layers/0/feedforward/activation"], expected)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_a_layer_is_that_of_torch(norm, activation):
    model = build(norm=norm, activation=activation)
    peer = nn.TransformerEncoderLayer(
        8, 2, 32, dropout=0.0, activation=activation, batch_first=True, norm_first=norm == "pre"
    )
    names = {
        "attention.input.weight": "self_attn.in_proj_weight",
        "attention.input.bias": "self_attn.in_proj_bias",
        "attention.output.weight": "self_attn.out_proj.weight",
        "attention.output.bias": "self_attn.out_proj.bias",
        "feedforward.hidden.weight": "linear1.weight",
        "feedforward.hidden.bias": "linear1.bias",
        "feedforward.output.weight": "linear2.weight",
        "feedforward.output.bias": "linear2.bias",
    }
    state = model.layers[0].state_dict()
    peer.load_state_dict({names.get(name, name): value for name, value in state.items()})
    found = values(model, IDS)
    mask = nn.Transformer.generate_square_subsequent_mask(7)
    expected = peer.requires_grad_(False)(found["embedding/sum"], src_mask=mask, is_causal=True)
    end = "layers/0/residual2" if norm == "pre" else "layers/0/norm2"
    torch.testing.assert_close(found[end], expected)


def test_scores_are_scaled_and_masked_and_weights_are_their_softmax():
    found = values(build(), IDS)
    products, scores = found["layers/0/attention/products"], found["layers/0/attention/scores"]
    seen = torch.ones(7, 7, dtype=torch.bool).tril().expand_as(scores)
    torch.testing.assert_close(scores[seen], products[seen] / 2)  # the root of 4 channels
    assert torch.all(scores[~seen] == -torch.inf)
    torch.testing.assert_close(found["layers/0/attention/weights"], scores.softmax(-1))


def test_sinusoids_are_those_of_the_paper():
    table = sinusoids(50, 6)
    assert table.shape == (50, 6)
    assert table[40, 4].item() == pytest.approx(
        torch.sin(torch.tensor(40 / 10000 ** (4 / 6))).item(), abs=1e-6
    )
    assert table[40, 3].item() == pytest.approx(
        torch.cos(torch.tensor(40 / 10000 ** (2 / 6))).item(), abs=1e-6
    )
    assert sinusoids(3, 5).shape == (3, 5)


def test_turned_queries_and_keys_meet_by_their_distance_alone():
    query, key = torch.randn(2, 8)
    turns = rotations(30, Rotary(8))
    query, key = (rotate(vector.expand(30, 8), turns) for vector in (query, key))
    torch.testing.assert_close(query[20] @ key[15], query[9] @ key[4])
    torch.testing.assert_close(query.norm(dim=1), query[0].norm().expand(30))


def test_channels_beyond_the_rotary_ones_say_nothing_of_positions():
    vectors = torch.randn(30, 8)
    turned = rotate(vectors, rotations(30, Rotary(6)))
    torch.testing.assert_close(turned[:, 6:], vectors[:, 6:], rtol=0, atol=0)
    torch.testing.assert_close(turned[:, :6], rotate(vectors[:, :6], rotations(30, Rotary(6))))


def test_scaled_angles_are_those_of_llama():
    plain = Rotary(64, base=500000.0)
    scaled = Rotary(64, base=500000.0, scaling="llama3", factor=8.0)
    ratios = scaled.frequencies / plain.frequencies
    assert ratios[0] == 1  # it turns many times within the original context
    assert ratios[-1] == 1 / 8  # and this not once
    assert (ratios[1:] <= ratios[:-1]).all()
    assert ((ratios > 1 / 8) & (ratios < 1)).sum() > 2
    linear = Rotary(64, scaling="linear", factor=4.0)
    assert (linear.frequencies == Rotary(64).frequencies / 4).all()


def test_slopes_are_those_of_the_paper():
    assert Alibi(8).by_head.tolist() == [2.0**-power for power in range(1, 9)]


@pytest.mark.parametrize("causal", [True, False])
def test_relative_positions_add_a_learned_number_by_distance_and_head(causal):
    model = build(positions="relative", causal=causal)
    table = model.distances.weight  # (distance, head)
    assert table.shape == (9 if causal else 17, 2)
    found = values(model, IDS)
    for layer in (0, 1):  # they share the table
        bias = found[f"layers/{layer}/attention/bias"][0]
        for head, query, key in ((0, 6, 6), (1, 6, 2), (1, 5, 4), (0, 1, 5)):
            later = 0.0 if causal else table[query - key + 8, head]
            expected = later if key > query else table[query - key + (0 if causal else 8), head]
            assert bias[head, query, key] == expected


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
def test_without_residual_connections_sublayers_take_the_place_of_the_stream(norm):
    model = build(norm=norm, residual=False)
    found, layer = values(model, IDS), model.layers[1]
    stream = found["layers/0/norm2" if norm == "post" else "layers/0/stream2"]
    attended = found["layers/1/attention/output"]
    read = layer.norm1(stream) if norm == "pre" else stream
    assert torch.equal(found["layers/1/stream1"], attended)
    expected, _ = layer.attention(read, Attending(None, None, causal=True), None)
    torch.testing.assert_close(attended, expected)
    between = layer.norm1(attended) if norm == "post" else attended
    expected = layer.feedforward(layer.norm2(between) if norm == "pre" else between)
    torch.testing.assert_close(found["layers/1/stream2"], expected)


def test_without_normalisation_there_is_nothing_of_it_to_learn():
    model = build(norm="none")
    assert not [name for name, _ in model.named_parameters() if "norm" in name]
    assert not [tap.address for tap in model.taps() if "norm" in tap.address]
    found = values(model, IDS)
    expected = model.layers[0].feedforward(found["layers/0/residual1"])
    torch.testing.assert_close(found["layers/0/feedforward/output"], expected)


def test_with_the_identity_the_feedforward_network_is_one_matrix():
    model = build(activation="identity", feedforward_bias=False)
    network, vectors = model.layers[0].feedforward, torch.randn(5, 8)
    product = network.output.weight @ network.hidden.weight
    torch.testing.assert_close(network(vectors), vectors @ product.T)


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_deep_model_without_residual_connections_has_a_worse_loss_on_its_training_text(norm):
    """It is optimisation that fails, and not generalisation: the text is learned by heart with them."""
    text = np.tile([1, 2, 3, 4, 5, 2, 6], 60)  # after 2 comes 3 or 6, by what stands before it
    options = TrainingOptions(
        steps=150, batch=4, length=14, learning_rate=0.005, warmup=20, device="cpu", seed=0
    )
    losses = {}
    for residual in (True, False):
        settings = {**SMALL, "layers": 8, "context": 14, "norm": norm, "residual": residual}
        model = build_model("transformer", TransformerConfiguration(**settings), 7, seed=0)
        list(learner_of("transformer")(model, text, text[:50], options, None, ignored_target=None))
        tokens = torch.from_numpy(text[:15])[None]
        with torch.no_grad():
            losses[residual] = -model.eval().log_probabilities(tokens[:, :-1], tokens[:, 1:]).mean().item()
    alone = -(5 * math.log(1 / 7) + 2 * math.log(2 / 7)) / 7  # by how often each token comes, 1.75 nats
    assert losses[True] < 1
    assert losses[False] > 0.9 * alone


def test_without_positions_the_order_of_earlier_tokens_does_not_matter():
    model = build(positions="none")
    swapped = IDS[:, [1, 0, 2, 3, 4, 5, 6]]
    one, other = values(model, IDS), values(model, swapped)
    name = "layers/0/attention/output"
    torch.testing.assert_close(one[name][:, -1], other[name][:, -1])


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "alibi", "relative", "none"])
def test_one_may_go_on_from_a_cache_again_and_again(positions):
    model = build(positions=positions)
    _, cache = model.advance(IDS[:, :4])
    assert len(cache) == 4
    first, _ = model.advance(IDS[:, 4:], cache)
    other, _ = model.advance(IDS[:, :1], cache)
    again, longer = model.advance(IDS[:, 4:], cache)
    torch.testing.assert_close(first, again, rtol=0, atol=0)
    assert (len(cache), len(longer)) == (4, 7)
    torch.testing.assert_close(first, model(IDS)[:, 4:])
    torch.testing.assert_close(other, model(torch.cat([IDS[:, :4], IDS[:, :1]], dim=1))[:, 4:])


def test_a_text_beyond_the_context_is_refused_in_a_sentence():
    model = build(context=7)
    _, cache = model.advance(IDS)
    with pytest.raises(LmvizError, match="8 tokens, but this model looks at 7"):
        model.advance(IDS[:, :1], cache)


def test_dropout_acts_in_training_only():
    model = build(dropout=0.5)
    torch.testing.assert_close(model(IDS), model(IDS), rtol=0, atol=0)
    model.train()
    assert not torch.equal(model(IDS), model(IDS))


def test_a_new_model_finds_every_token_about_equally_likely():
    model = TransformerModel(TransformerConfiguration(), 65)
    tokens = torch.randint(65, (2, 64), generator=torch.Generator().manual_seed(0))
    loss, _ = model.loss(tokens, tokens.roll(-1, dims=1))
    assert loss.item() == pytest.approx(4.17, abs=0.1)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_new_matrices_keep_variances_and_those_that_add_to_a_stream_begin_small(norm):
    configuration = TransformerConfiguration(layers=2, heads=4, width=64, norm=norm)
    for name, parameter in TransformerModel(configuration, 50).named_parameters():
        if name.endswith("bias"):
            assert not parameter.any()
        elif "norm" in name:
            assert (parameter == 1).all()
        else:
            if not name.startswith("layers"):
                expected = 0.02
            elif norm == "post":
                expected = (2 / sum(parameter.shape)) ** 0.5
                assert parameter.abs().max() <= 3**0.5 * expected  # uniform
            else:
                expected = 0.02 / 4**0.5 if "output" in name else 64**-0.5
            assert parameter.std().item() == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("positions", ["learned", "rotary", "alibi"])
def test_a_stage_is_placed_where_its_results_are(positions, norm):
    for stage in build(positions=positions, norm=norm).stages():
        if stage.place != "output":
            assert all(address.startswith(f"{stage.place}/") for address in stage.results)
            assert stage.place.count("/") == stage.results[0].count("/") - 1


def test_without_the_mask_every_word_sees_every_other_as_in_torchs_encoder():
    settings = {
        "width": 8,
        "heads": 2,
        "layers": 1,
        "norm": "post",
        "activation": "relu",
        "positions": "none",
    }
    configuration = TransformerConfiguration(**settings, causal=False, tied=False)
    torch.manual_seed(0)
    model = TransformerModel(configuration, 7, Prediction("label", ("n", "v"))).eval()
    peer = torch.nn.TransformerEncoderLayer(8, 2, 32, batch_first=True, activation="relu").eval()
    ours = model.layers[0]
    with torch.no_grad():
        peer.self_attn.in_proj_weight.copy_(ours.attention.input.weight)
        peer.self_attn.in_proj_bias.copy_(ours.attention.input.bias)
        pairs = [(peer.self_attn.out_proj, ours.attention.output), (peer.linear1, ours.feedforward.hidden)]
        pairs += [(peer.linear2, ours.feedforward.output), (peer.norm1, ours.norm1), (peer.norm2, ours.norm2)]
        for theirs, own in pairs:
            theirs.weight.copy_(own.weight)
            theirs.bias.copy_(own.bias)
        tokens = torch.tensor([[1, 2, 3, 4, 5], [6, 1, 2, 0, 0]])
        lengths = torch.tensor([5, 3])
        padding = torch.arange(5) >= lengths[:, None]
        expected = peer(model.embedding(tokens), src_key_padding_mask=padding)
        found, _ = model.features(tokens, None, lengths)
    torch.testing.assert_close(found[0], expected[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found[1, :3], expected[1, :3], rtol=1e-4, atol=1e-5)
