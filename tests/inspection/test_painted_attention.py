"""A row of attention in which one weight is set."""

import dataclasses

import numpy as np
import pytest

from lmviz.base.errors import LmvizError
from lmviz.inspection.interventions import (
    paint_attention,
)
from lmviz.inspection.tracing import trace

ATTENTION = "layers/0/attention/weights"


def test_a_painted_row_may_be_counted_from_the_end(a, text):
    plain = trace(a("transformer-learned-pre"), text)
    assert paint_attention(plain, 0, -1, -2, -3, 0.5) == paint_attention(plain, 0, 1, 4, 3, 0.5)


def test_a_painted_row_is_labelled_by_its_head_and_word(a, text):
    plain = trace(a("transformer-learned-pre"), text)
    painted = paint_attention(plain, 1, 0, query=2, key=1, weight=0.5)
    assert painted.label == f"head 2·1 set at 3 “{plain.tokens[2]}”"


def test_a_painted_row_still_sums_to_one_and_looks_at_nothing_later(a, text):
    model = a("transformer-learned-pre")
    plain = trace(model, text)
    painted = trace(model, text, interventions=[paint_attention(plain, 0, 1, query=4, key=2, weight=0.75)])
    row, before = painted[ATTENTION].array[1, 4], plain[ATTENTION].array[1, 4]
    assert row[2] == pytest.approx(0.75)
    assert row.sum() == pytest.approx(1.0)
    assert (row[5:] == 0).all()
    others = [0, 1, 3, 4]
    assert row[others] / row[others].sum() == pytest.approx(before[others] / before[others].sum(), rel=1e-5)
    untouched = np.ones(painted[ATTENTION].array.shape, dtype=bool)
    untouched[1, 4] = False
    assert np.array_equal(painted[ATTENTION].array[untouched], plain[ATTENTION].array[untouched])
    assert not np.allclose(painted["logits"].array[4], plain["logits"].array[4])
    assert np.array_equal(painted["logits"].array[:4], plain["logits"].array[:4])


def test_painting_goes_on_from_what_was_painted_before(a, text):
    model = a("transformer-learned-pre")
    first = paint_attention(trace(model, text), 0, 1, query=2, key=0, weight=1.0)
    once = trace(model, text, interventions=[first])
    second = paint_attention(once, 0, 1, query=2, key=0, weight=0.4)
    row = trace(model, text, interventions=[second])[ATTENTION].array[1, 2]
    assert row[:3] == pytest.approx([0.4, 0.3, 0.3])


def test_a_painted_row_outlives_more_typing(a, text):
    model = a("transformer-learned-pre")
    painted = paint_attention(trace(model, text), 0, 1, query=2, key=1, weight=0.75)
    longer = trace(model, text + " sleep at night", interventions=[painted])
    assert longer[ATTENTION].array[1, 2].sum() == pytest.approx(1.0)
    passing_over = dataclasses.replace(painted, required=False)
    shorter = trace(model, "the", interventions=[passing_over])
    assert np.array_equal(shorter["logits"].array, trace(model, "the")["logits"].array)


@pytest.mark.parametrize(("query", "key"), [(2, 3), (0, 0), (99, 0), (2, -1)])
def test_attention_cannot_look_ahead(a, text, query, key):
    with pytest.raises(LmvizError):
        paint_attention(trace(a("transformer-learned-pre"), text), 0, 0, query, key, 0.5)
