"""Where a translation looks in its source: found in every family, named by words, changed row by row."""

from dataclasses import replace

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.alignment import (
    alignment_thumbnails,
    alignment_view,
    combined_alignment,
    encoded_states,
    sharpest_head,
    source_attentions,
    written_words,
)
from lmviz.inspection.attention import largest_of_squares
from lmviz.inspection.changed_model import ChangedModel, without_changes
from lmviz.inspection.effects import each_alone
from lmviz.inspection.explain import ReplacedArithmetic, explain
from lmviz.inspection.source_surgery import (
    last_states,
    paint_alignment,
    scale_source_head,
    silence_source,
    swap_context,
    swap_last_state,
)
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import strip
from lmviz.models.given_source import GivenSource
from lmviz.tasks import TASKS

TEXT, SOURCE, OTHER = np.array([1, 2, 3]), np.array([3, 1, 4, 2]), np.array([2, 2])
KINDS = {
    "dot": ("gru", {"width": 4, "attention": "dot"}),
    "both": ("lstm", {"width": 4, "attention": "bilinear", "direction": "both", "layers": 2}),
    "none": ("rnn", {"width": 4, "attention": "none", "layers": 2}),
    "heads": ("transformer", {"width": 8, "heads": 2, "layers": 2, "context": 8}),
    "post": ("transformer", {"width": 8, "heads": 2, "layers": 1, "context": 8, "norm": "post"}),
}
ATTENDING = ("dot", "both", "heads", "post")


@pytest.fixture(scope="module")
def models():
    predicts = TASKS["translation"].predicts(())
    made = {}
    for kind, (family, settings) in KINDS.items():
        configuration = FAMILIES[family].configuration(**settings)
        made[kind] = build_model(family, configuration, 6, 3, predicts, source_vocabulary=5).eval()
    return made


def read(model, **settings):
    return trace(model, TEXT, source=SOURCE, **settings)


@pytest.mark.parametrize("kind", ATTENDING)
def test_the_context_is_the_mean_of_the_states_by_the_weights(models, kind):
    found = read(models[kind])
    assert len(source_attentions(found)) == (2 if kind == "heads" else 1)
    for attention in source_attentions(found):
        for head in range(attention.heads):
            weights = alignment_view(found, attention.weights, head).values
            assert weights.shape == (len(TEXT), len(SOURCE))
            assert weights.sum(axis=1) == pytest.approx(1)
            states = [strip(found, attention.states, at, head, ()).values[0] for at in range(len(SOURCE))]
            context = strip(found, attention.context, 1, head, ()).values[0]
            assert context == pytest.approx(weights[1] @ np.array(states), abs=1e-5)
        assert attention.steps[-1] == attention.weights
        assert {found[step].axes for step in attention.steps} == {found[attention.weights].axes}


def test_a_model_without_attention_to_its_source_has_none(models):
    assert source_attentions(read(models["none"])) == ()
    assert last_states(read(models["none"])) == ("encoder/layers/0/last", "encoder/layers/1/last")
    assert last_states(read(models["heads"])) == ()


def test_heads_are_combined_cell_by_cell(models):
    found = read(models["heads"])
    parts = [
        found["decoder/layers/0/cross/weights"].array[1],
        found["decoder/layers/1/cross/weights"].array[0],
    ]
    heads = [(0, 1), (1, 0)]
    assert combined_alignment(found, heads) == pytest.approx(np.mean(parts, axis=0))
    assert alignment_thumbnails(found)[1, 0] == pytest.approx(parts[1])


def test_thumbnails_of_long_sources_keep_the_largest_weights():
    weights = np.zeros((1, 3, 130))
    weights[0, 2, 129] = 0.9
    small = largest_of_squares(weights, 64)
    assert small.shape == (1, 1, 44)
    assert small[0, 0, 43] == pytest.approx(0.9)


def test_a_row_is_named_by_the_word_that_was_written_there(models):
    found = read(models["dot"])
    likeliest = int(found["probabilities"].array[-1].argmax())
    assert written_words(found) == (*found.tokens[1:], f"{likeliest}?")


@pytest.mark.parametrize("kind", ATTENDING)
def test_a_painted_row_still_sums_to_one_and_moves_what_comes_after(models, kind):
    model = models[kind]
    found = read(model)
    address = source_attentions(found)[0].weights
    head = source_attentions(found)[0].heads - 1
    change = paint_alignment(found, address, head, 1, 2, 0.9)
    changed = read(model, interventions=[change])
    before, after = (alignment_view(each, address, head).values for each in (found, changed))
    assert after[1, 2] == pytest.approx(0.9)
    assert after[1].sum() == pytest.approx(1)
    rest = [0, 1, 3]
    assert after[1, rest] / after[1, rest].sum() == pytest.approx(
        before[1, rest] / before[1, rest].sum(), abs=1e-5
    )
    assert after[0] == pytest.approx(before[0])
    assert changed["logits"].array[0] == pytest.approx(found["logits"].array[0], abs=1e-6)
    assert np.abs(changed["logits"].array[1] - found["logits"].array[1]).max() > 1e-5


@pytest.mark.parametrize("kind", ATTENDING)
@pytest.mark.parametrize("source", [SOURCE[:2], np.array([3, 1, 4, 2, 2, 1])], ids=["shorter", "longer"])
def test_a_painted_row_leaves_sources_of_another_length_alone(models, kind, source):
    found = read(models[kind])
    address = source_attentions(found)[0].weights
    painted = paint_alignment(found, address, 0, 1, 2, 0.9)
    kept = replace(painted, required=False)
    untouched, changed = (
        trace(models[kind], TEXT, source=source, interventions=some) for some in ([], [kept])
    )
    weights = alignment_view(changed, address, 0).values
    assert weights.sum(axis=1) == pytest.approx(1)
    assert np.array_equal(changed["logits"].array, untouched["logits"].array)
    at = (1, 0) if changed[address].array.ndim == 2 else (0, 1, 0)
    assert not isinstance(explain(models[kind], changed, address, at), ReplacedArithmetic)
    with pytest.raises(LmvizError, match="takes"):
        trace(models[kind], TEXT, source=source, interventions=[painted])


def test_what_cannot_be_painted_says_why(models):
    found = trace(models["dot"], TEXT, source=SOURCE[:1])
    with pytest.raises(LmvizError, match="a longer source"):
        paint_alignment(found, "attention/weights", 0, 1, 0, 0.5)
    with pytest.raises(LmvizError, match="There is no source 9"):
        paint_alignment(read(models["dot"]), "attention/weights", 0, 1, 9, 0.5)
    with pytest.raises(LmvizError, match="not attention to a source"):
        alignment_view(found, "encoder/layers/0/hidden")


@pytest.mark.parametrize("kind", KINDS)
def test_a_silenced_source_state_is_zero_where_the_decoder_reads_it(models, kind):
    found = read(models[kind])
    address = encoded_states(found)
    changed = read(models[kind], interventions=[silence_source(found, 1)])
    assert not changed[address].array[1].any()
    assert changed[address].array[0] == pytest.approx(found[address].array[0])
    assert np.abs(changed["logits"].array - found["logits"].array).max() > 1e-6
    for attention in source_attentions(found):
        strips = (
            strip(changed, attention.states, 1, 0, ()).values,
            strip(found, attention.states, 1, 0, ()).values,
        )
        assert np.abs(strips[0] - strips[1]).max() > 1e-6
    on_its_way = kind in ("dot", "none")  # a recurrence in one direction goes on from the silenced state
    assert (np.abs(changed[address].array[2] - found[address].array[2]).max() > 1e-6) == on_its_way


def test_a_model_that_reads_no_source_has_encoded_none(a, text):
    with pytest.raises(LmvizError, match="reads no source: open one that translates"):
        encoded_states(trace(a("lstm"), text))


@pytest.mark.parametrize("kind", ATTENDING)
def test_a_swapped_context_is_that_of_the_other_source(models, kind):
    model = models[kind]
    found, other = read(model), trace(model, TEXT, source=OTHER)
    changes = swap_context(model, found, 1, OTHER)
    assert len(changes) == len(source_attentions(found))
    changed = read(model, interventions=changes)
    for attention in source_attentions(found):
        context = changed[attention.context].at(position=1)
        assert context == pytest.approx(other[attention.context].at(position=1), abs=1e-6)
        assert changed[attention.context].at(position=0) == pytest.approx(
            found[attention.context].at(position=0)
        )


@pytest.mark.parametrize("kind", ["dot", "both", "none"])
def test_with_the_last_state_of_another_source_the_decoder_begins_as_there(models, kind):
    model = models[kind]
    found, other = read(model), trace(model, TEXT, source=OTHER)
    changes = swap_last_state(model, found, OTHER)
    changed = read(model, interventions=changes)
    for address in last_states(found):
        assert changed[address].array == pytest.approx(other[address].array, abs=1e-6)
    if kind == "none":  # all that the decoder knows of its source has gone through that state
        assert changed["logits"].array == pytest.approx(other["logits"].array, abs=1e-5)


def test_what_a_model_does_not_have_cannot_be_swapped(models):
    with pytest.raises(LmvizError, match="swap the last state"):
        swap_context(models["none"], read(models["none"]), 1, OTHER)
    with pytest.raises(LmvizError, match="swap the context"):
        swap_last_state(models["heads"], read(models["heads"]), OTHER)


def test_what_each_change_does_alone_is_measured_beside_the_same_source(models):
    model = models["dot"]
    found = read(model)
    changes = [silence_source(found, 0), paint_alignment(found, "attention/weights", 0, 1, 2, 0.9)]
    alone = each_alone(model, found.ids, changes, source=SOURCE)
    for logits, change in zip(alone, changes, strict=True):
        assert logits == pytest.approx(read(model, interventions=[change])["logits"].array[-1], abs=1e-5)
    given = GivenSource(ChangedModel(model, changes), SOURCE)
    assert without_changes(given).unchanged is model
    assert without_changes(GivenSource(model, SOURCE)) is None


def test_a_head_that_looks_at_the_source_can_be_switched_off(models):
    found = read(models["heads"])
    changed = read(models["heads"], interventions=[scale_source_head(found, 1, 0)])
    mixed = "decoder/layers/1/cross/mixed"
    assert not changed[mixed].array[0].any()
    assert changed[mixed].array[1] == pytest.approx(found[mixed].array[1])
    assert np.abs(changed["logits"].array - found["logits"].array).max() > 1e-6
    with pytest.raises(LmvizError, match="There is no head 2"):
        scale_source_head(found, 1, 2)
    with pytest.raises(LmvizError, match="without heads"):
        scale_source_head(read(models["dot"]), 0, 0)


def test_the_sharpest_head_puts_most_on_one_word(models):
    found = read(models["heads"])
    weights = [found[f"decoder/layers/{layer}/cross/weights"].array for layer in range(2)]
    sharp = np.array([layer.max(axis=2).mean(axis=1) for layer in weights])
    assert sharpest_head(found) == np.unravel_index(sharp.argmax(), sharp.shape)
    assert sharpest_head(read(models["dot"])) is None
