"""Which words before a position an n-gram model has matched."""

import pytest
import torch

from lmviz.families import build_model, find_family
from lmviz.inspection.contexts import has_contexts, longest_context, stage_context
from lmviz.inspection.tracing import trace
from lmviz.models.ngram.counts import count_ngrams

WORDS = torch.tensor([1, 2, 3, 4, 1, 2, 5, 3, 4, 1, 2, 3, 6])


@pytest.fixture(scope="module")
def counted():
    configuration = find_family("ngram").configuration.from_values({"order": 3})
    model = build_model("ngram", configuration, 8, seed=0)
    model.fit(count_ngrams(WORDS.numpy(), 3, 8, start_id=None))
    return model.eval()


def test_the_longest_context_that_was_seen_is_found_at_each_position(counted):
    found = trace(counted, [4, 1, 6, 3, 0])
    assert has_contexts(found)
    assert [longest_context(found, position) for position in range(5)] == [[4], [4, 1], [], [3], []]


def test_of_two_contexts_the_longer_is_taken_and_not_the_larger_ids(counted):
    found = trace(counted, [1, 2])
    assert longest_context(found, 1) == [1, 2]


def test_the_stage_of_an_order_has_the_context_of_its_length(counted):
    found = trace(counted, [4, 1, 2])
    for number, stage in enumerate(found.stages):
        context = stage_context(found, number, 2)
        order = int(stage.place.split("/")[1]) if stage.place.startswith("orders/") else 1
        assert context == [4, 1, 2][3 - (order - 1) :]


def test_other_models_match_no_contexts(a, text):
    found = trace(a("lstm"), text)
    assert not has_contexts(found)
    assert longest_context(found, 1) == stage_context(found, 0, 1) == []
