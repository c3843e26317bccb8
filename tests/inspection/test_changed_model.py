"""A model under interventions predicts what a trace under them shows, however the text goes on."""

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.decoding.likelihood import text_log_probabilities
from lmviz.inspection.changed_model import ChangedModel
from lmviz.inspection.explain import explain
from lmviz.inspection.interventions import add, remove_positions, replace, scale, scale_head, swap_tokens
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.tracing import trace
from lmviz.models.prefix import read_prefix
from lmviz.models.reading import evaluation, on_device


def predicted(model, text):
    """The logits (position, token) that whoever reads on would get."""
    ids = read_prefix(model, text).last(model.context).ids
    with evaluation(model):
        return model.advance(on_device(model, ids))[0][0].numpy()


def test_it_predicts_what_a_trace_shows(model, text):
    changes = [swap_tokens(1, 2), scale("logits", 0.5, position=(0, 3))]
    expected = trace(model, text, interventions=changes)["logits"].array
    assert predicted(ChangedModel(model, changes), text) == pytest.approx(expected, abs=1e-4)
    assert predicted(ChangedModel(model, []), text) == pytest.approx(predicted(model, text), abs=1e-4)


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn", "transformer-learned-pre"])
def test_a_change_at_one_position_stays_there_when_the_text_goes_on(a, kind):
    address = "layers/0/hidden" if kind != "transformer-learned-pre" else "layers/0/attention/mixed"
    changed = ChangedModel(a(kind), [add(address, 3.0, position=2)])
    short, long = (predicted(changed, text) for text in ("the cows eat", "the cows eat the corn"))
    assert long[: len(short)] == pytest.approx(short, abs=1e-4)
    plain = predicted(a(kind), "the cows eat the corn")
    assert long[:2] == pytest.approx(plain[:2], abs=1e-4)
    assert not np.allclose(long[2:], plain[2:], atol=1e-3)


def test_heads_and_positions_can_be_taken_out(a, text):
    model = a("transformer-learned-pre")
    changes = [scale_head(0, 1), *remove_positions(model)]
    expected = trace(model, text, interventions=changes)["logits"].array
    assert predicted(ChangedModel(model, changes), text) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("extra", [(), (add("logits", 1.5, position=2, token=(1, 2)),)])
def test_where_words_are_swapped_the_text_that_is_read_is_scored(model, extra):
    changes = [swap_tokens(2, 3), *extra]
    found = text_log_probabilities(ChangedModel(model, changes), "the cows eat corn")
    assert found.differs
    expected = text_log_probabilities(ChangedModel(model, extra), "the eat cows corn")
    assert [token.token for token in found.tokens] == ["the", "eat", "cows", "corn"]
    for name in ("id", "log_probability", "rank", "running"):
        given, wanted = ([getattr(token, name) for token in each.tokens] for each in (found, expected))
        assert given == pytest.approx(wanted, abs=1e-4), name
    assert [token.span for token in found.tokens] == [(0, 3), (4, 8), (9, 12), (13, 17)], "places as typed"
    assert not expected.differs


def test_beyond_the_context_the_words_are_swapped_where_the_trace_swaps_them(a):
    model, text = a("transformer-learned-pre"), " ".join(["the cows eat corn at night ."] * 2)
    changes = [swap_tokens(2, 3)]
    read = trace(model, text, interventions=changes)
    assert read.dropped
    scored = text_log_probabilities(ChangedModel(model, changes), text)
    assert [token.id for token in scored.tokens][-len(read) :] == read.ids.tolist()
    typed = text_log_probabilities(model, text)
    before = read.dropped - 1  # START is not scored
    assert [token.id for token in scored.tokens][:before] == [token.id for token in typed.tokens][:before]


def test_a_pattern_of_taps_never_means_the_tokens(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text, interventions=[scale("*", 1.0)])
    assert found.ids.tolist() == trace(model, text).ids.tolist()
    assert found["logits"].array == pytest.approx(trace(model, text)["logits"].array)
    doubled = trace(model, text, interventions=[scale("*o*", 2.0)])
    assert doubled.ids.tolist() == found.ids.tolist()


def test_its_numbers_are_explained_with_it_as_with_the_model_it_changes(model, text):
    changed = ChangedModel(model, [scale("logits", 0.5, position=(0, 3))])
    found = trace(changed, text)
    for address, traced in found.arrays.items():
        index = tuple(size // 2 for size in traced.array.shape)
        mine, plain = (explain(each, found, address, index) for each in (changed, model))
        assert mine.evaluate() == plain.evaluate()
        for factor in (factor for group in mine.terms for factor in group.factors):
            if "." in factor.source:
                assert changed.operand(factor.source, factor.indices) == pytest.approx(factor.values)
    lens = logit_lens(changed, found)
    assert np.array_equal(lens.probabilities, logit_lens(model, found).probabilities)
    assert [name for name, _ in changed.named_parameters()] == [name for name, _ in model.named_parameters()]


def test_what_is_switched_off_changes_nothing_and_what_does_not_fit_is_said(a, text):
    from dataclasses import replace as with_fields

    off = with_fields(replace("logits", 0.0), enabled=False)
    model = a("lstm")
    assert predicted(ChangedModel(model, [off]), text) == pytest.approx(predicted(model, text), abs=1e-4)
    with pytest.raises(LmvizError, match="No tap is called"):
        ChangedModel(model, [replace("layers/0/attention/mixed", 0.0)])


def test_it_leaves_the_model_as_it_was_and_follows_its_step(a, text):
    model = a("lstm")
    changed = ChangedModel(model, [replace("layers/0/hidden", 0.0)])
    before = predicted(model, text)
    predicted(changed, text)
    assert not model.training
    assert np.array_equal(predicted(model, text), before)
    assert changed.step == model.step
