"""What holds for every family, whatever its options; a new row of FAMILIES is tested without a word here."""

from functools import cache

import numpy as np
import pytest
import torch

from lmviz.families import FAMILIES, build_model, learner_of
from lmviz.inspection.explain import TraceReader
from lmviz.inspection.trace import trace
from lmviz.models.tap import SCALES
from lmviz.training.options import TrainingOptions

VOCABULARY = 7
IDS = np.array([5, 2, 6, 1, 2, 3, 4])
TEXT = np.tile([1, 2, 3, 4, 5, 2, 6], 60)
"""After 2 comes 3 or 6, depending on what stands before it."""

SMALL = {"layers": 2, "heads": 2, "width": 8, "context": 16, "window": 3, "order": 3}
OPTIONS = {
    "ngram": [{"smoothing": "kneser-ney"}, {"smoothing": "add-k"}, {"smoothing": "maximum-likelihood"}],
    "window": [{"direct": direct, "embedding": 5, "activation": "relu"} for direct in (False, True)]
    + [{"window": 1, "activation": "sigmoid"}],
    "rnn": [{"activation": activation} for activation in ("tanh", "sigmoid", "relu")] + [{"tied": True}],
    "lstm": [{}, {"layers": 1, "embedding": 5}, {"tied": True}],
    "gru": [{}, {"layers": 1, "embedding": 5}, {"tied": True}],
    "transformer": [
        {"positions": positions, "norm": norm, "tied": norm == "pre", "activation": activation}
        for positions in ("learned", "sinusoidal", "rotary", "alibi", "none")
        for norm, activation in (("pre", "gelu"), ("post", "relu"))
    ]
    + [{"activation": "gelu_tanh", "feedforward": 5}, {"heads": 1, "layers": 1}],
}
CASES = [
    pytest.param(family, options, id=" ".join([family, *map(str, options.values())]))
    for family in FAMILIES
    for options in OPTIONS.get(family, [{}])
]
every_case = pytest.mark.parametrize(("family", "options"), CASES)


def untrained(family, options, seed=0):
    kind = FAMILIES[family].configuration
    settings = {name: value for name, value in SMALL.items() if name in kind.names()}
    return build_model(family, kind(**(settings | options)), VOCABULARY, seed).eval()


@cache
def trained(family, settings):
    """A model taught a toy text, and then shaken so that no weight is small and no bias zero."""
    model = untrained(family, dict(settings))
    learn(model, steps=2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.4 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    return model.eval().requires_grad_(False)


def learn(model, steps):
    options = TrainingOptions(steps=steps, batch=4, length=8, learning_rate=0.03, warmup=0, device="cpu")
    return list(learner_of(model.family)(model, TEXT, TEXT[:50], options, None, ignored_target=None))


@pytest.fixture
def model(family, options):
    return trained(family, tuple(options.items()))


def logits(model, ids):
    with torch.no_grad():
        return model(torch.from_numpy(np.array(ids))[None])[0]


@every_case
def test_each_tap_comes_once_and_its_axes_fit(model):
    found = trace(model, IDS)
    addresses = [tap.address for tap in model.taps()]
    assert len(addresses) == len(set(addresses))
    assert addresses[-2:] == ["logits", "probabilities"]
    sizes = {"position": len(IDS), "query": len(IDS), "key": len(IDS), "token": VOCABULARY}
    for tap in model.taps():
        shape = found[tap.address].array.shape
        assert len(shape) == len(tap.axes)
        assert all(sizes.get(axis, size) == size for axis, size in zip(tap.axes, shape, strict=True))
        assert tap.scale in SCALES
        if tap.scale == "share":
            assert found[tap.address].array.min() >= 0
            assert found[tap.address].array.max() <= 1 + 1e-6


@every_case
def test_stages_lead_from_tap_to_tap_to_the_probabilities(model):
    addresses = {tap.address for tap in model.taps()}
    stages = model.stages()
    assert {address for stage in stages for address in stage.results + stage.operands} <= addresses
    assert stages[-1].results == ("probabilities",)
    shown = [address for stage in stages for address in stage.results]
    assert len(shown) == len(set(shown))


@every_case
def test_the_explicit_path_equals_the_fused_one(model):
    tokens = torch.from_numpy(np.stack([IDS, IDS[::-1]]))
    with torch.no_grad():
        explicit = model.listen(tokens, lambda tap, value, position: value)
        torch.testing.assert_close(explicit, model(tokens), rtol=1e-4, atol=1e-5)


@every_case
def test_a_position_sees_itself_and_what_came_before_but_nothing_after(model):
    place = 3
    changed = np.concatenate([IDS[:place], [0], IDS[place + 1 :]])
    before, after = logits(model, IDS), logits(model, changed)
    torch.testing.assert_close(before[:place], after[:place], rtol=0, atol=0)
    assert not torch.equal(before[place], after[place])
    one, other = trace(model, IDS)["logits"].array, trace(model, changed)["logits"].array
    np.testing.assert_array_equal(one[:place], other[:place])


@every_case
def test_reading_on_from_a_state_equals_reading_at_once(model):
    tokens = torch.from_numpy(IDS)[None]
    with torch.no_grad():
        parts, state = [], None
        for part in tokens.split([1, 3, 2, 1], dim=1):
            values, state = model.advance(part, state)
            parts.append(values)
    if state is not None:
        torch.testing.assert_close(torch.cat(parts, dim=1), model(tokens), rtol=1e-4, atol=1e-5)


@every_case
def test_it_learns_a_toy_text(family, options):
    model = untrained(family, options)
    learn(model, steps=40)
    with torch.no_grad():
        tokens = torch.from_numpy(TEXT[:15])[None]
        found = -model.log_probabilities(tokens[:, :-1], tokens[:, 1:]).mean()
    assert found < 0.75 * np.log(VOCABULARY)


@every_case
def test_a_state_makes_another_model_the_same(model, family, options):
    other = untrained(family, options, seed=5)
    other.load_state(model.state())
    assert torch.equal(logits(other, IDS), logits(model, IDS))
    assert other.parameter_count() == model.parameter_count()


@every_case
def test_every_cell_follows_from_its_stated_operands(model):
    found = trace(model, IDS)
    reader = TraceReader(model, found)
    for tap in model.taps():
        array = found[tap.address].array
        for index in np.ndindex(array.shape):
            arithmetic = tap.operation.explain(reader, tap.address, index)
            assert (arithmetic.address, arithmetic.index) == (tap.address, index)
            assert arithmetic.value == array[index]
            for group in arithmetic.terms:
                for factor in group.factors:
                    check_operand(model, found, factor)
            check_value(arithmetic)


def check_operand(model, found, factor):
    """The factor's numbers stand where it says that they stand."""
    if factor.source == "constant":
        assert factor.indices.shape == (len(factor.values), 0)
    elif factor.source in found:
        np.testing.assert_array_equal(found[factor.source].array[tuple(factor.indices.T)], factor.values)
    else:
        np.testing.assert_array_equal(model.operand(factor.source, factor.indices), factor.values)


def check_value(arithmetic):
    computed = arithmetic.evaluate()
    close = abs(computed - arithmetic.value) <= 1e-5 + 1e-4 * abs(arithmetic.value)
    assert computed == arithmetic.value or close, (arithmetic, computed)
