"""Heads as channels: against torch's own convolution, and as a sum that is the layer's output."""

import numpy as np
import pytest
import torch
from covering import covering
from family_cases import CASES, IDS, traced, translates, untrained
from torch.nn import functional

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.circuits.head_kernels import SIDES, convolved, head_kernels, kernels_of
from lmviz.inspection.attention import attention_layers, attention_place
from lmviz.inspection.intervention import Intervention

TEXT = "Once upon a time there was a little girl"

OF_HEADS = ("task", "causal", "heads", "key_value_heads", "head_channels", "parallel", "attention_bias")
transformers = [case for case in CASES if case.values[0] == "transformer"]
every_transformer = pytest.mark.parametrize(
    ("family", "options"),
    covering(
        transformers,
        [{item for item in case.values[1].items() if item[0] in OF_HEADS} for case in transformers],
    ),
)
"""Each choice that makes other heads in some case; the other cases are slow."""


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-transformer")


def parameters(model, place):
    named = {name: value.detach().double() for name, value in model.named_parameters()}
    place = place.replace("/", ".")
    return named[f"{place}.weight"], named.get(f"{place}.bias")


def a_convolution(model, layer, kernels):
    """A trace in which each head (head, tap) weights offsets 0, −1, −2 … alike at every position."""
    count = len(lmviz.trace(model, TEXT))
    fixed = np.zeros((len(kernels), count, count), dtype=np.float32)
    for offset in range(kernels.shape[1]):
        fixed += kernels[:, offset, None, None] * np.eye(count, k=-offset, dtype=np.float32)
    address = f"{attention_place(layer)}/weights"
    changes = [
        Intervention(address, "replace", fixed[head].tolist(), {"head": head}) for head in range(len(kernels))
    ]
    return lmviz.trace(model, TEXT, interventions=changes)


@pytest.mark.parametrize("layer", [0, 2])
def test_with_fixed_weights_the_layer_is_torchs_convolution_and_every_share_is_whole(model, layer):
    kernels = np.random.default_rng(layer).dirichlet(np.ones(3), size=model.configuration.heads)
    kernels[0] = [0, 1, 0]  # a head that always looks at the word before: one tap
    found = a_convolution(model, layer, kernels)
    place = attention_place(layer)
    values = torch.from_numpy(found[f"{place}/value"].array.copy()).double()  # (head, position, channel)
    heads, count, channels = values.shape
    output, bias = parameters(model, f"{place}/output")
    matrix = output.reshape(-1, heads, channels, 1) * torch.from_numpy(kernels)[None, :, None, :]
    filters = matrix.flatten(1, 2).flip(-1)  # (width, head × channel, tap), the newest last
    read = functional.pad(values.transpose(1, 2).reshape(1, heads * channels, count), (2, 0))
    made = functional.conv1d(read, filters, bias)[0].T
    np.testing.assert_allclose(found[f"{place}/output"].array, made, atol=1e-5)
    kept = kernels_of(model, found, layer, size=3)
    assert kept.offsets.tolist() == [0, -1, -2]
    assert kept.positions.tolist() == [count, count - 1, count - 2]
    np.testing.assert_allclose(kept.array, kernels, atol=1e-6)
    np.testing.assert_allclose(kept.shares, 1, atol=1e-6)
    without = kernels_of(model, found, layer, size=1).shares
    assert without[0] == 0  # nothing of what it looks at is in a kernel of its own place
    assert (without < 0.999).all()


@pytest.mark.parametrize("reach", [2, 40])
def test_kernels_on_both_sides_are_a_convolution_of_each_head(reach):
    chance = np.random.default_rng(1)
    kernels, values = chance.normal(size=(2, 2 * reach + 1)), chance.normal(size=(2, 300, 3))
    offsets = np.arange(-reach, reach + 1)
    made = convolved(kernels, offsets, values)
    for head in range(2):
        read = torch.from_numpy(values[head].T[:, None])
        expected = functional.conv1d(read, torch.from_numpy(kernels[head])[None, None], padding=reach)[:, 0].T
        np.testing.assert_allclose(made[head], expected, atol=1e-12)


@every_transformer
def test_over_all_heads_and_offsets_weight_times_value_is_the_layers_output(family, options):
    model = untrained(family, options)
    for parameter in model.parameters():  # so that no bias is zero
        parameter.data += 0.15 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    found = traced(model, IDS)
    sides = [side for side in ("", *SIDES) if attention_layers(found, side)]
    assert sides == (list(SIDES) if translates(model) else [""])
    for side in sides:
        for layer in attention_layers(found, side):
            place = attention_place(layer, side)
            weights, values = found[f"{place}/weights"].array, found[f"{place}/value"].array
            heads, count, _ = weights.shape
            matrix, bias = parameters(model, f"{place}/output")
            split = matrix.numpy().reshape(-1, heads, values.shape[-1])
            whole = np.zeros((count, len(matrix))) + (0 if bias is None else bias.numpy())
            means = kernels_of(model, found, layer, side=side)
            for head in range(heads):
                own = values[head * len(values) // heads]
                for column, offset in enumerate(means.offsets.tolist()):
                    diagonal = np.diagonal(weights[head], offset)
                    at = np.arange(len(diagonal)) + max(-offset, 0)
                    whole[at] += diagonal[:, None] * own[at + offset] @ split[:, head].T
                    assert means.array[head, column] == pytest.approx(diagonal.mean(), abs=1e-6)
            target = found[f"{place}/output"].array
            np.testing.assert_allclose(whole, target, rtol=1e-4, atol=1e-5)
            assert means.is_exact
            assert means.difference == pytest.approx(np.abs(whole - target).max(), abs=1e-6)
            is_causal = side == "decoder" or (not side and model.causal)
            assert means.offsets.max() == (0 if is_causal else count - 1)


def test_the_share_is_of_the_squares_of_what_each_head_writes(model):
    found, place = lmviz.trace(model, TEXT), attention_place(1)
    kernels = kernels_of(model, found, 1, size=4)
    values = found[f"{place}/value"].array
    matrix = parameters(model, f"{place}/output")[0].numpy().reshape(-1, *values.shape[::2])
    made = convolved(kernels.array, kernels.offsets, values)
    for head in range(len(values)):
        written = found[f"{place}/mixed"].array[head] @ matrix[:, head].T
        missing = written - made[head] @ matrix[:, head].T
        assert kernels.shares[head] == pytest.approx(1 - (missing**2).sum() / (written**2).sum(), abs=1e-5)


def test_a_change_behind_the_weights_is_said_to_be_one(model):
    assert head_kernels(model, TEXT, 1).is_exact
    silenced = head_kernels(model, TEXT, 1, interventions=[lmviz.scale_head(1, 0)])
    assert not silenced.is_exact


def test_weights_in_half_precision_are_computed_with_in_single_precision(model):
    half = lmviz.open_model("stories-transformer")
    matrices = {
        name: value.bfloat16()
        for name, value in half.state_dict().items()
        if "layers" in name and value.dim() == 2
    }
    half.load_state_dict(half.state_dict() | matrices, assign=True)
    for layer in range(half.configuration.layers):
        assert head_kernels(half, TEXT, layer).is_exact


def test_of_a_translator_the_side_is_chosen_and_across_there_is_no_offset():
    model = lmviz.open_model("twin-transformer")
    beside = {"source": [5, 6, 7]}
    encoder = lmviz.head_kernels(model, [1, 4], side="encoder", size=3, **beside)
    assert encoder.offsets.tolist() == [-1, 0, 1]
    assert encoder.is_exact
    with pytest.raises(LmvizError, match="Between two texts there is no offset"):
        lmviz.head_kernels(model, [1, 4], side="cross", **beside)
    with pytest.raises(LmvizError, match="choose the side 'encoder' or 'decoder'"):
        lmviz.head_kernels(model, [1, 4], **beside)


def test_what_has_no_heads_says_so(model):
    with pytest.raises(LmvizError, match="stories-lstm has no heads"):
        lmviz.head_kernels("stories-lstm", TEXT)
    with pytest.raises(LmvizError, match="There is no layer 9"):
        lmviz.head_kernels(model, TEXT, 9)
    with pytest.raises(LmvizError, match="no side 'encoder'"):
        lmviz.head_kernels(model, TEXT, side="encoder")
    assert "give back" in repr(lmviz.head_kernels(model, TEXT, size=3))
