"""A softmax over many words is coloured by logarithms, a narrow one and all else as ever."""

from dataclasses import replace

import numpy as np
import pytest

from lmviz.inspection.color_floor import color_floor
from lmviz.inspection.traced_array import TracedArray
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import likeliest_answers, matrix


@pytest.mark.parametrize(("words", "floor"), [(40, 0.0), (1379, 1e-4), (50_257, 1e-5)])
def test_the_floor_lies_below_one_in_the_vocabulary(a, text, words, floor):
    found = trace(a("lstm"), text)
    shares = np.full((len(found), words), 1 / words, dtype=np.float32)
    wide = TracedArray(shares, ("position", "token"), "share")
    found = replace(found, arrays={**found.arrays, "probabilities": wide})
    view = matrix(found, "probabilities", 0, 2, likeliest_answers(found, 2))
    assert color_floor(found, view) == pytest.approx(floor)
    assert floor <= 1 / words


def test_gates_and_attention_keep_their_scale(a, text):
    for name, address in (
        ("lstm", "layers/0/forget"),
        ("transformer-learned-pre", "layers/0/attention/weights"),
    ):
        found = trace(a(name), text)
        assert color_floor(found, matrix(found, address, 0, 2, ())) == 0
