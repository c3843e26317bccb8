"""An operation is walked through in its own numbers: every sum on the way is that of the terms so far."""

import numpy as np
import pytest

import lmviz
from lmviz.inspection.explain import explain
from lmviz.inspection.operation_picture import operation_picture
from lmviz.inspection.operation_walk import ARRIVING, moment_of, partial_sum

CELLS = {
    "stories-transformer": ("layers/1/attention/query", (0, 5, 4)),
    "stories-lstm": ("layers/0/forget", (5, 4)),
    "stories-5-gram": ("probabilities", (5, 7)),
}


@pytest.fixture(params=CELLS, scope="module")
def picture(request):
    model = lmviz.open_model(request.param)
    trace = lmviz.trace(model, "Maya put the brown stone in the barrel.")
    return operation_picture(explain(model, trace, *CELLS[request.param]), trace)


def test_terms_enter_one_after_the_other_and_each_sum_is_theirs(picture):
    before = (0, 0)
    for share in np.linspace(0.0, 1.0 - ARRIVING, 400, endpoint=False):
        moment = moment_of(picture, share)
        assert (moment.block, moment.terms) >= before
        before = moment.block, moment.terms
        block = picture.blocks[moment.block]
        assert moment.terms < block.terms
        assert moment.partial == partial_sum(block, moment.terms)
        assert moment.arrived == 0
    assert before[0] == len(picture.blocks) - 1


def test_with_all_terms_the_sum_is_the_whole(picture):
    for block in picture.blocks:
        whole = partial_sum(block, block.terms)
        assert whole is None or whole == pytest.approx(block.total, rel=1e-5, abs=1e-6)


def test_at_the_end_it_has_arrived(picture):
    assert moment_of(picture, 1.0).arrived == 1.0
    half = moment_of(picture, 1.0 - ARRIVING / 2)
    assert (half.block, half.arrived) == (len(picture.blocks), pytest.approx(0.5))
