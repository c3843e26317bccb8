"""What stands out in a reading is said with the numbers of its trace; where nothing does, nothing is said."""

import numpy as np
import pytest

import lmviz
from lmviz.base.figures import percentage
from lmviz.inspection.attention import attention_layers, attention_weights
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.remarks import (
    LIKELY,
    STRONG,
    attention_remark,
    lens_remark,
    orders_remark,
    state_remark,
)

STORY = "Maya put the brown stone in the barrel. Later, Maya opened the barrel, and there lay the brown"


@pytest.fixture(scope="module")
def read():
    """A sample model, and the trace of the story in it."""

    def of(name):
        model = lmviz.open_model(name)
        return model, lmviz.trace(model, STORY)

    return of


def test_attention_names_the_strongest_weight_on_another_word(read):
    _, trace = read("stories-transformer")
    silent = 0
    for position in range(len(trace)):
        found = attention_remark(trace, position)
        others = {
            (layer, head, key): float(weight)
            for layer in attention_layers(trace)
            for head, row in enumerate(attention_weights(trace, layer)[:, position])
            for key, weight in enumerate(row)
            if key not in (0, position)
        }
        strongest = max(others, key=others.__getitem__, default=None)
        if strongest is None or others[strongest] <= STRONG:
            assert found is None
            silent += 1
            continue
        layer, head, key = strongest
        assert (found.layer, found.head) == (layer, head)
        away = position - key
        assert f"looks at “{trace.tokens[key]}”, {away} word{'s' if away > 1 else ''} back" in found.sentence
        assert percentage(others[strongest]) in found.sentence
        row = trace["probabilities"].array[position]
        likeliest = f"; the likeliest next word is “{trace.vocabulary[int(row.argmax())]}”"
        assert (likeliest in found.sentence) == (row.max() >= LIKELY)
    assert 0 < silent < len(trace), "both cases were seen"


def test_the_lens_says_since_when_the_answer_is_known_and_what_was_said_before(read):
    model, trace = read("stories-transformer")
    last = len(trace) - 1
    said = lens_remark(trace, logit_lens(model, trace, 5, [last]))
    lens = logit_lens(model, trace, 5, [last], after_layers=True)
    final = trace.vocabulary[lens.ids[-1, 0, 0]]
    row = int(lens.settled[0])
    assert said.startswith(f"“{final}”, {percentage(float(trace['probabilities'].array[last].max()))}, ")
    before = trace.vocabulary[lens.ids[row - 1, 0, 0]]
    assert (f"Before that it was “{before}”." in said) == (row > 0)
    assert before != final


def test_an_n_gram_says_from_which_context_most_of_its_answer_comes(read):
    _, trace = read("stories-5-gram")
    orders = [int(name.split("/")[1]) for name in trace.arrays if name.endswith("/weight")]
    said = 0
    for position in range(len(trace)):
        shares = {order: float(trace[f"orders/{order}/weight"].array[position]) for order in orders}
        order = max(shares, key=shares.__getitem__)
        sentence = orders_remark(trace, position)
        assert bool(sentence) == (shares[order] > STRONG)
        if sentence and order > 1:
            said += 1
            context = " ".join(trace.tokens[position - order + 2 : position + 1])
            assert sentence.startswith(
                f"{percentage(shares[order])} of the answer comes from what followed “{context}”"
            )
    assert said


def test_a_recurrence_says_how_many_units_change_their_sign(read):
    _, trace = read("stories-lstm")
    hidden = trace["layers/0/hidden"].array
    for position in range(1, len(trace)):
        changed = int(((hidden[position - 1] > 0) != (hidden[position] > 0)).sum())
        sentence = state_remark(trace, position)
        assert bool(sentence) == (changed >= hidden.shape[1] / 10)
        if sentence:
            assert f" {changed} of {hidden.shape[1]} units change their sign" in sentence
    assert state_remark(trace, 0) == ""


def test_nothing_is_said_of_what_a_model_does_not_have(read):
    _, trace = read("stories-lstm")
    assert attention_remark(trace, 3) is None
    assert orders_remark(trace, 3) == ""
    assert np.all([state_remark(read("stories-5-gram")[1], at) == "" for at in range(4)])
