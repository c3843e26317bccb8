"""Weights stored in half precision are computed with in single precision, without a second copy."""

import copy
import itertools

import numpy as np
import pytest
import torch

from lmviz.families import build_model
from lmviz.inspection import backpropagation
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.tracing import trace
from lmviz.models import precision
from lmviz.models.precision import linear
from lmviz.models.transformer_configuration import TransformerConfiguration
from lmviz.readouts.stream_pass import StreamPass

IDS = np.array([5, 2, 6, 1, 2, 3, 4])
LEARNED = {"positions": "learned"}
LLAMA = {"positions": "rotary", "norm_kind": "rms", "gated": True, "key_value_heads": 1, "tied": False}


@pytest.fixture(params=[torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
def kind(request):
    return request.param


@pytest.fixture(params=[LEARNED, LLAMA], ids=["learned", "llama"])
def pair(request, kind):
    """A model whose matrices are stored in half precision, and one with the same numbers in single."""
    configuration = TransformerConfiguration(layers=2, heads=2, width=8, context=16, **request.param)
    half = build_model("transformer", configuration, 7, seed=3).eval().requires_grad_(False)
    for parameter in half.parameters():
        if parameter.dim() > 1:
            parameter.data = (2 * parameter.data).to(kind)
    return half, copy.deepcopy(half).float()


def test_it_computes_what_the_widened_weights_do(pair):
    half, single = pair
    tokens = torch.from_numpy(IDS)[None]
    torch.testing.assert_close(half(tokens), single(tokens), rtol=1e-4, atol=1e-5)
    explicit = half.listen(tokens, lambda tap, value, position: value)
    torch.testing.assert_close(explicit, half(tokens), rtol=1e-4, atol=1e-5)
    first, state = half.advance(tokens[:, :4])
    rest, _ = half.advance(tokens[:, 4:], state)
    torch.testing.assert_close(torch.cat([first, rest], dim=1), single(tokens), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(half.loss(tokens, tokens)[0], single.loss(tokens, tokens)[0])


def test_every_cell_follows_from_the_stored_numbers(pair):
    half, _ = pair
    found = trace(half, IDS)
    reader = TraceReader(half, found)
    for tap in half.taps():
        array = found[tap.address].array
        assert array.dtype == np.float32
        for index in list(np.ndindex(array.shape))[::7]:
            arithmetic = tap.operation.explain(reader, tap.address, index)
            computed = arithmetic.evaluate()
            assert computed == arithmetic.value or computed == pytest.approx(array[index], 1e-4, 1e-5)


def test_a_trace_is_continued_and_seen_through_the_lens(pair):
    half, _ = pair
    whole = trace(half, IDS)
    found = trace(half, IDS, earlier=trace(half, IDS[:4]))
    for address, expected in whole.arrays.items():
        np.testing.assert_allclose(found[address].array, expected.array, rtol=1e-4, atol=1e-5)
    ours, theirs = (logit_lens(model, trace(model, IDS), 3).probabilities for model in pair)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_matrix_is_widened_piece_by_piece(kind, monkeypatch):
    weight, values = torch.randn(50, 8).to(kind), torch.randn(3, 8)
    bias = torch.randn(50)
    expected = values @ weight.float().t() + bias
    for piece, many in itertools.product((1, 8, 24, 1000), (1, 100)):
        monkeypatch.setattr(precision, "PIECE" if many > 3 else "MANY_PIECE", piece)
        monkeypatch.setattr(precision, "MANY", many)
        torch.testing.assert_close(linear(values, weight, bias), expected)
        torch.testing.assert_close(linear(values, weight.t().contiguous().t(), bias), expected)


@pytest.mark.parametrize("shape", [(8,), (1, 8), (2, 3, 8)])
def test_what_is_only_read_is_widened_in_one_place(kind, shape, monkeypatch):
    weight, values, bias = torch.randn(150, 8).to(kind), torch.randn(shape), torch.randn(150)
    expected = values @ weight.float().t() + bias
    for numbers in (1, 1000, 1 << 17):
        monkeypatch.setattr(precision, "CACHED", numbers)
        with torch.inference_mode():
            torch.testing.assert_close(linear(values, weight, bias), expected)
            torch.testing.assert_close(linear(values, weight.t().contiguous().t()), expected - bias)


def test_rows_of_a_jacobian_are_those_of_single_precision(pair):
    found, expected = (
        StreamPass(model).rows_of_jacobian(IDS, [1, 3, 4], slice(3, 6), StreamPass(model).parameters())
        for model in pair
    )
    assert list(found) == list(expected)
    for place, rows in expected.items():
        torch.testing.assert_close(found[place], rows, rtol=1e-4, atol=1e-6)


def test_its_gradient_is_that_of_single_precision(pair):
    half, single = pair
    found, expected = gradient(half, IDS), gradient(single, IDS)
    for name, value in expected.parameters.items():
        assert found.parameters[name].dtype == np.float32
        np.testing.assert_allclose(found.parameters[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


def test_where_there_is_no_room_for_a_copy_its_gradient_is_rounded(pair, monkeypatch):
    half, single = pair
    monkeypatch.setattr(backpropagation, "machine_memory", lambda: 10_000)
    monkeypatch.setattr(backpropagation, "check_room", lambda *given: None)
    found, expected = gradient(half, IDS), gradient(single, IDS)
    for name, value in expected.parameters.items():
        np.testing.assert_allclose(found.parameters[name], value, rtol=0.05, atol=0.05 * np.abs(value).max())
