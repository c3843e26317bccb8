"""The sliced cross-entropy against PyTorch's."""

import pytest
import torch
from torch.nn import functional

from lmviz.models import cross_entropy
from lmviz.models.cross_entropy import linear_cross_entropy
from lmviz.models.model import IGNORED


@pytest.fixture(params=["sliced", "whole"])
def way(request, monkeypatch):
    monkeypatch.setattr(cross_entropy, "LARGE_VOCABULARY", 1 if request.param == "sliced" else 10**9)
    monkeypatch.setattr(cross_entropy, "LARGEST_SLICE", 4)


def problem(bias=True):
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(11, 5, generator=generator, requires_grad=True)
    weight = torch.randn(13, 5, generator=generator, requires_grad=True)
    shift = torch.randn(13, generator=generator, requires_grad=True) if bias else None
    targets = torch.randint(13, (11,), generator=generator)
    targets[[2, 7]] = IGNORED
    return features, weight, shift, targets


@pytest.mark.parametrize("bias", [True, False])
def test_loss_and_gradients_are_those_of_torch(way, bias):
    features, weight, shift, targets = problem(bias)
    operands = [item for item in (features, weight, shift) if item is not None]
    plain = functional.cross_entropy(
        functional.linear(features, weight, shift), targets, ignore_index=IGNORED
    )
    expected = torch.autograd.grad(3 * plain, operands)
    loss = linear_cross_entropy(features, weight, shift, targets)
    torch.testing.assert_close(loss, plain)
    torch.testing.assert_close(torch.autograd.grad(3 * loss, operands), expected)


@pytest.mark.parametrize("smoothing", [0.1, 0.6])
def test_smoothed_loss_and_gradients_are_those_of_torch(way, smoothing):
    features, weight, shift, targets = problem()
    operands = [features, weight, shift]
    plain = functional.cross_entropy(
        functional.linear(features, weight, shift), targets, ignore_index=IGNORED, label_smoothing=smoothing
    )
    loss = linear_cross_entropy(features, weight, shift, targets, smoothing)
    torch.testing.assert_close(loss, plain)
    torch.testing.assert_close(torch.autograd.grad(loss, operands), torch.autograd.grad(plain, operands))


def test_only_what_is_asked_for_gets_a_gradient(way):
    features, weight, shift, targets = problem()
    weight.requires_grad_(False)
    linear_cross_entropy(features, weight, shift, targets).backward()
    assert weight.grad is None
    assert features.grad is not None
    with torch.no_grad():
        assert not linear_cross_entropy(features, weight, shift, targets).requires_grad


def test_nothing_to_predict_gives_nan(way):
    features, weight, shift, targets = problem()
    assert linear_cross_entropy(features, weight, shift, torch.full_like(targets, IGNORED)).isnan()


def test_half_precision_stays_close(way):
    features, weight, shift, targets = problem()
    exact = linear_cross_entropy(features, weight, shift, targets)
    (expected,) = torch.autograd.grad(exact, weight)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = linear_cross_entropy(features, weight, shift, targets)
    (found,) = torch.autograd.grad(loss, weight)
    assert loss.item() == pytest.approx(exact.item(), rel=0.02)
    torch.testing.assert_close(found, expected, rtol=0.05, atol=0.02)
