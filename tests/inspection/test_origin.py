"""Whether a trace belongs to a model: the same one, with the same numbers."""

import pytest
import torch
from small_models import small_settings

from lmviz.families import FAMILIES, build_model
from lmviz.inspection.origin import Origin


def build(seed=0):
    configuration = FAMILIES["lstm"].configuration(**small_settings("lstm"))
    return build_model("lstm", configuration, 7, seed)


def test_a_model_that_is_left_alone_stays_the_origin():
    model = build()
    origin = Origin(model)
    assert origin.is_of(model)
    assert origin.agrees_with(model)


def test_another_model_with_the_same_numbers_agrees_and_is_not_the_origin():
    model, twin = build(), build()
    assert not Origin(model).is_of(twin)
    assert Origin(model).agrees_with(twin)
    assert not Origin(model).agrees_with(build(seed=1))


@pytest.mark.parametrize("index", [(0, 0), (3, 4)])
def test_a_model_that_was_written_to_is_no_longer_the_origin(index):
    """Wherever that was: not all its numbers are looked at."""
    model = build()
    origin = Origin(model)
    with torch.no_grad():
        model.embedding.weight[index] += 1.0
    assert not origin.is_of(model)


def test_numbers_that_changed_without_a_trace_are_noticed():
    """As by fused optimizers, which do not count their writes."""
    model = build()
    origin = Origin(model)
    for parameter in model.parameters():
        parameter.data.add_(1.0)
    assert not origin.is_of(model)
    assert not origin.agrees_with(model)


def test_a_model_that_has_gone_is_nobodys_origin():
    origin = Origin(build())
    assert not origin.is_of(build())
