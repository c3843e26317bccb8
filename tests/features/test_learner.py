"""What is learned: a planted dictionary is found again, and no other than a plain loop finds."""

from __future__ import annotations

import pytest
import torch
from plain_dictionary import plain_loop

from lmviz.features.learner import DictionaryLearner
from lmviz.features.recipe import FeatureRecipe


class Planted:
    """States that are sums of a few of many directions, more than there are channels."""

    def __init__(self, width: int, size: int, k: int) -> None:
        self.drawn = torch.Generator().manual_seed(7)
        self.k = k
        self.directions = torch.nn.functional.normalize(torch.randn(size, width, generator=self.drawn), dim=1)
        some = self.states(20_000)
        self.mean = some.mean(0)
        self.scale = float((some - self.mean).square().mean().sqrt())

    def states(self, count: int) -> torch.Tensor:
        size = len(self.directions)
        on = torch.rand(count, size, generator=self.drawn) < self.k / size
        return (on * (1 + torch.rand(count, size, generator=self.drawn))) @ self.directions

    def share_found(self, decoder: torch.Tensor) -> float:
        found = torch.nn.functional.normalize(decoder, dim=1)
        nearest = (self.directions @ found.T).max(dim=1)[0]
        return float((nearest >= 0.95).float().mean())


def learned(planted: Planted, recipe: FeatureRecipe) -> DictionaryLearner:
    learner = DictionaryLearner(recipe, planted.mean, planted.scale)
    for _ in range(recipe.steps):
        learner.learn(planted.states(recipe.batch))
    return learner


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["topk", "batchtopk", "jumprelu"])
def test_a_planted_dictionary_is_found_again(kind):
    planted = Planted(64, 128, 3)
    recipe = FeatureRecipe(kind=kind, size=160, k=3, tokens=1500 * 256, batch=256, rate=0.01, dead_after=5000)
    found = torch.tensor(learned(planted, recipe).folded()["decoder"])
    assert planted.share_found(found) >= 0.95


def explained(learner: DictionaryLearner, states: torch.Tensor) -> float:
    coding = learner.dictionary("tap", "").coding()
    left = states - coding.reconstructed(states)
    return 1 - float(left.square().sum() / (states - states.mean(0)).square().sum())


@pytest.mark.parametrize("steps", [100, pytest.param(1500, marks=pytest.mark.slow)])
def test_it_explains_as_much_as_a_plain_loop_of_the_same_recipe(steps):
    planted = Planted(32, 64, 3)
    recipe = FeatureRecipe(size=96, k=3, tokens=steps * 256, batch=256, rate=0.01, dead_after=5000)
    own = learned(planted, recipe)
    torch.manual_seed(0)
    plain = plain_loop(
        lambda: planted.states(256),
        planted.mean,
        planted.scale,
        size=96,
        k=3,
        steps=steps,
        rate=0.01,
        dead_after=5000,
    )
    states = planted.states(8000)
    assert explained(own, states) == pytest.approx(plain(states), abs=0.01)


@pytest.mark.parametrize("kind", ["topk", "batchtopk"])
@pytest.mark.parametrize("is_transcoder", [False, True])
def test_its_gradients_are_those_of_autograd(kind, is_transcoder):
    torch.manual_seed(0)
    written = (torch.zeros(5), 1.0) if is_transcoder else None
    recipe = FeatureRecipe(kind=kind, size=12, k=3, batch=20, dead_after=1)
    learner = DictionaryLearner(recipe, torch.zeros(7), 1.0, written)
    read = torch.randn(20, 7)
    target = torch.randn(20, 5) if is_transcoder else read
    with torch.no_grad():
        for part in learner.parts.values():
            part.add_(0.1 * torch.randn_like(part))
    learner.seen, learner.unused[:4] = 10, 10
    own, activations = learner.gradients(read, target)

    parts = learner.parts
    given = read if is_transcoder else read - parts["decoder_bias"]
    scores = given @ parts["encoder"].T + parts["encoder_bias"]
    border = scores.topk(3)[0][:, -1:] if kind == "topk" else scores.flatten().topk(60)[0][-1]
    on = torch.where(scores >= border, scores.relu(), torch.zeros(()))
    left = target - on @ parts["decoder"] - parts["decoder_bias"]
    dead = torch.arange(12) < 4
    revived = torch.where(dead, scores.relu(), torch.zeros(()))
    missing = left.detach() - revived @ parts["decoder"]
    loss = left.pow(2).mean() + missing.pow(2).mean() / left.detach().pow(2).mean() / 32
    expected = torch.autograd.grad(loss, list(parts.values()))
    torch.testing.assert_close(activations, on)
    for name, gradient in zip(parts, expected, strict=True):
        torch.testing.assert_close(own[name], gradient, atol=1e-6, rtol=1e-4, msg=name)


def test_one_that_was_read_back_learns_on_bit_for_bit():
    planted = Planted(8, 12, 2)
    for kind in ("topk", "batchtopk", "jumprelu"):
        recipe = FeatureRecipe(kind=kind, size=16, k=2, tokens=40 * 16, batch=16, dead_after=50)
        batches = [planted.states(16) for _ in range(40)]
        whole = DictionaryLearner(recipe, planted.mean, planted.scale)
        for batch in batches[:20]:
            whole.learn(batch)
        again = DictionaryLearner.from_state(recipe, whole.state(), "cpu")
        for batch in batches[20:]:
            whole.learn(batch)
            again.learn(batch)
        for name, array in whole.state().items():
            assert torch.equal(array, again.state()[name]), name
