"""What an intervention does alone is what a trace with it alone shows."""

from dataclasses import replace

import numpy as np
import pytest

from lmviz.inspection.effects import each_alone
from lmviz.inspection.interventions import scale, scale_head, swap_tokens
from lmviz.inspection.tracing import trace


def test_each_is_in_force_alone_even_where_it_is_switched_off(a, text):
    model = a("transformer-learned-pre")
    changes = [scale_head(0, 1), scale("logits", 0.5), swap_tokens(1, 2)]
    ids = trace(model, text).ids
    found = each_alone(model, ids, [changes[0], replace(changes[1], enabled=False), changes[2]])
    for logits, change in zip(found, changes, strict=True):
        expected = trace(model, text, interventions=[change])["logits"].array[-1]
        assert logits == pytest.approx(expected, abs=1e-4)
    assert not np.allclose(found[0], found[1])
