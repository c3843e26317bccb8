"""The strongest cell of what is drawn."""

import numpy as np

from lmviz.inspection.strongest import likeliest_answer, strongest_cell, strongest_unit
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import likeliest_answers, matrix, strip


def test_the_value_farthest_from_zero_at_the_position(a, text):
    found = trace(a("lstm"), text)
    hidden = found["layers/0/hidden"].array
    for position in (0, 2):
        view = matrix(found, "layers/0/hidden", 0, position, ())
        unit = int(np.abs(hidden[position]).argmax())
        assert strongest_cell(view, position) == (unit, position)
        assert strongest_unit(found, "layers/0/hidden", position) == unit
        view = strip(found, "layers/0/hidden", position, 0, ())
        assert view.index(*strongest_cell(view, position)) == (position, unit)


def test_the_key_with_the_largest_score_and_never_a_masked_one(a, text):
    found = trace(a("transformer-learned-pre"), text)
    for name in ("scores", "weights"):
        address = f"layers/0/attention/{name}"
        for query in (0, 3):
            key = int(found[address].array[1, query, : query + 1].argmax())
            assert strongest_cell(matrix(found, address, 1, query, ()), query) == (query, key)


def test_the_likeliest_answer_by_logit_and_by_probability(a, text):
    for name in ("lstm", "ngram"):
        found = trace(a(name), text)
        for address in ("logits", "probabilities"):
            view = matrix(found, address, 0, 2, likeliest_answers(found, 2))
            row, column = strongest_cell(view, 2)
            assert (row, column) == (0, 2)
            assert view.index(row, column) == likeliest_answer(found, 2)[1]


def test_one_number_a_position_and_words_that_were_matched(a, text):
    found = trace(a("ngram"), text)
    assert strongest_cell(matrix(found, "orders/2/weight", 0, 3, ()), 3) == (0, 3)
    view = matrix(found, "orders/3/context", 0, 3, ())
    row, column = strongest_cell(view, 3)
    assert column == 3
    assert view.values[row, column] == found.ids[3]


def test_nothing_but_masked_cells_still_has_a_cell(a, text):
    found = trace(a("transformer-learned-pre"), text)
    view = matrix(found, "layers/0/attention/scores", 0, 1, ())
    hidden = type(view)(**{**vars(view), "values": np.full_like(view.values, -np.inf)})
    assert strongest_cell(hidden, 1) == (1, 0)
