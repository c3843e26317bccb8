"""What is drawn of a stage: every operand it reads, at every position at which it reads it."""

import numpy as np
import pytest
from family_cases import IDS, every_case, traced, trained

from lmviz.families import build_model, find_family
from lmviz.inspection.backpropagation import gradient as gradient_of
from lmviz.inspection.explain import explain
from lmviz.inspection.gradient_views import gradient_view
from lmviz.inspection.lighting import lights
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import likeliest_answers, matrix, stage_parts, strip
from lmviz.models.sequences import ALONG
from lmviz.models.transformer_configuration import TransformerConfiguration


def parts_of(found, title, position):
    stage = next(number for number, item in enumerate(found.stages) if item.title == title)
    return [
        (part.address, part.position, part.role)
        for part in stage_parts(found, stage, position)
        if part.role != "other"
    ]


def test_a_window_reads_all_its_words(a, text):
    found = trace(a("window"), text)
    last = len(found.tokens) - 1
    expected = [("embedding", at, "operand") for at in range(last - 2, last + 1)]
    assert parts_of(found, "Hidden layer", last) == [*expected, ("hidden", last, "result")]
    joined = np.concatenate([strip(found, "embedding", at, 0, ()).values[0] for _, at, _ in expected])
    weights = a("window").hidden.weight.detach().numpy()
    computed = np.tanh(weights @ joined + a("window").hidden.bias.detach().numpy())
    np.testing.assert_allclose(computed, found["hidden"].array[last], atol=1e-5)


def test_before_the_text_there_are_no_words(a, text):
    found = trace(a("window"), text)
    assert parts_of(found, "Hidden layer", 0) == [("embedding", 0, "operand"), ("hidden", 0, "result")]


def test_with_direct_connections_the_logits_read_the_window_too(a, text):
    parts = parts_of(trace(a("window-direct"), text), "Logits", 3)
    assert [(address, at) for address, at, role in parts if role == "operand"] == [
        ("hidden", 3),
        ("embedding", 1),
        ("embedding", 2),
        ("embedding", 3),
    ]


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_a_recurrence_reads_what_the_position_before_has_handed_on(a, text, kind):
    found = trace(a(kind), text)
    reads = ("layers/0/hidden", "layers/0")
    stage = next(
        n for n, item in enumerate(found.stages) if reads[0] in item.operands and item.place == reads[1]
    )
    handed_on = [part for part in stage_parts(found, stage, 2) if part.shift]
    assert [(part.address, part.position) for part in handed_on] == [("layers/0/hidden", 1)]
    assert not any(part.shift for part in stage_parts(found, stage, 0))


def test_the_gates_of_a_recurrence_keep_the_order_in_which_they_are_computed(a, text):
    found = trace(a("lstm"), text)
    stage = next(number for number, item in enumerate(found.stages) if item.title == "New cell state")
    shown = [
        (part.address.rpartition("/")[2], part.position, part.role) for part in stage_parts(found, stage, 2)
    ]
    assert shown == [
        ("forget", 2, "operand"),
        ("input", 2, "operand"),
        ("candidate", 2, "operand"),
        ("cell", 1, "operand"),
        ("cell", 2, "result"),
        ("output", 2, "other"),
        ("hidden", 2, "other"),
    ]
    last = next(number for number, item in enumerate(found.stages) if item.title == "Hidden state")
    assert [(part.address.rpartition("/")[2], part.role) for part in stage_parts(found, last, 2)] == [
        ("forget", "other"),
        ("input", "other"),
        ("candidate", "other"),
        ("cell", "operand"),
        ("output", "operand"),
        ("hidden", "result"),
    ]


def test_elsewhere_what_a_stage_is_about_comes_first(a, text):
    found = trace(a("transformer-learned-pre"), text)
    stage = next(number for number, item in enumerate(found.stages) if item.title == "Dot products")
    shown = [(part.address.rpartition("/")[2], part.role) for part in stage_parts(found, stage, 2)]
    assert shown[:4] == [("query", "operand"), ("key", "operand"), ("products", "result"), ("value", "other")]


def test_the_likeliest_come_first(a, text):
    found = trace(a("lstm"), text)
    row = found["probabilities"].array[2]
    shown = likeliest_answers(found, 2, 4)
    assert [row[token] for token in shown] == sorted(row, reverse=True)[:4]


@pytest.mark.parametrize("address", ["layers/0/hidden", "logits"])
def test_a_drawn_cell_knows_its_place_in_the_tap_and_back(a, text, address):
    found = trace(a("lstm"), text)
    view = matrix(found, address, 0, 2, (4, 1, 3))
    for row, column in np.ndindex(view.values.shape):
        index = view.index(row, column)
        assert view.values[row, column] == found[address].array[index]
        assert view.cell(index) == (row, column)
    for other in (index[1:], (0, *index)):  # a cell of another model's tap of this address
        assert view.cell(other) is None


def test_of_a_head_the_keys_and_values_of_its_group_are_drawn():
    settings = {"layers": 1, "heads": 4, "key_value_heads": 2, "width": 8, "context": 9}
    found = trace(build_model("transformer", TransformerConfiguration(**settings), 7, seed=0), [1, 2, 3])
    keys = found["layers/0/attention/key"].array
    for head, group in enumerate((0, 0, 1, 1)):
        view = strip(found, "layers/0/attention/key", 2, head, ())
        np.testing.assert_array_equal(view.values[0], keys[group, 2])
        assert view.index(0, 1) == (group, 2, 1)
        drawn = matrix(found, "layers/0/attention/key", head, 2, ())
        np.testing.assert_array_equal(drawn.values, keys[group].T)
    assert strip(found, "layers/0/attention/query", 2, 3, ()).fixed["head"] == 3


def test_what_stands_along_the_source_is_shown_at_one_place_of_it():
    from two_sequences import build

    found = trace(build(), np.array([1, 4, 2, 2]), source=np.array([3, 0, 1]))
    for position, place in ((1, 1), (3, 2)):  # the source ends before the text does
        view = strip(found, "encoder/hidden", position, 0, ())
        assert view.index(0, 2) == (place, 2)
        np.testing.assert_array_equal(view.values[0], found["encoder/hidden"].array[place])


def test_a_picture_is_folded_into_its_rows():
    configuration = find_family("gru").configuration(width=3)
    model = build_model("gru", configuration, 7, seed=0, source_vocabulary=3, task="captioning").eval()
    pixels = np.arange(49) % 4 == 0
    found = trace(model, [1, 2], source=pixels.astype(int))
    view = matrix(found, "picture", 0, 1, ())
    assert np.array_equal(view.values, pixels.reshape(7, 7))
    assert view.index(2, 3) == (17,)
    assert view.cell((17,)) == (2, 3)
    gradient = gradient_of(model, [1, 2], source=pixels.astype(int))
    colored = gradient_view(view, gradient)
    assert colored.values[2, 3] == gradient["picture"].array[17]
    assert colored.cell((17,)) == (2, 3)
    lit = lights(view, explain(model, found, "layers/0/start", (1,)))
    assert lit.min() == 1  # every pixel is an operand, and those that are blank contribute nothing
    assert (lit[~pixels.reshape(7, 7)] == 1).all()
    assert (lit[pixels.reshape(7, 7)] == 3).any()


@every_case
def test_attention_has_a_row_for_each_word_that_looks_wherever_it_is_drawn(family, options):
    found = traced(trained(family, tuple(options.items())), IDS)
    for address, one in found.arrays.items():
        looking, seen = one.axes[-2:] if len(one.axes) > 1 else ("", "")
        if looking not in ALONG or seen not in ALONG:
            continue
        view = matrix(found, address, 0, 0, ())
        assert (view.row_axis, view.column_axis) == (looking, seen)
        np.testing.assert_array_equal(view.values, one.at(head=0) if "head" in one.axes else one.array)
        assert view.cell(view.index(1, 2)) == (1, 2)
