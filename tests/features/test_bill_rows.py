"""The rows of a bill as a person reads them."""

import numpy as np
import pytest
from made_features import made_features

import lmviz
from lmviz.features.bill_rows import bill_in_words, bill_rows

TEXT = "Maya owned a brown stone. She put it in the barrel. Later, Maya opened the"


@pytest.mark.parametrize("shown", [0, 2, 50])
def test_rows_add_up_to_the_measure_and_the_error_is_one_of_them(shown):
    model = lmviz.open_model("stories-transformer")
    taps = ("layers/0/feedforward/output", "layers/2/feedforward/output")
    dictionaries = [made_features(model, tap, TEXT, size=40, k=6, seed=at) for at, tap in enumerate(taps)]
    contrast = lmviz.contrast(TEXT, TEXT.replace("stone", "bell"), measure="logit: barrel- box")
    bill = lmviz.feature_bill(model, contrast, dictionaries)
    first = bill.features[0]
    rows = bill_rows(bill, {(first.dictionary, first.feature): "a → b"}, shown)
    assert sum(row.share for row in rows) == pytest.approx(bill.value, abs=1e-5)
    errors = [row.share for row in rows if row.is_error]
    assert sorted(errors) == pytest.approx(sorted(bill.errors))
    named = [row for row in rows if row.feature >= 0]
    assert len(named) == min(shown, len(bill.features))
    assert sum("a → b" in row.note for row in named) == (shown > 0)
    said = bill_in_words(bill)
    assert "unexplained" in said
    assert "all errors alone" in said
    assert np.isfinite([row.share for row in rows]).all()
