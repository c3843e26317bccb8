"""What an intervention does alone is what a trace with it alone shows."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lmviz.base.errors import LmvizError
from lmviz.families import build_model, find_family
from lmviz.inspection.effects import each_alone
from lmviz.inspection.interventions import scale, scale_head, silence_direction, swap_tokens
from lmviz.inspection.tracing import trace
from lmviz.tasks import TASKS


def test_each_is_in_force_alone_even_where_it_is_switched_off(a, text):
    model = a("transformer-learned-pre")
    changes = [scale_head(0, 1), scale("logits", 0.5), swap_tokens(1, 2)]
    ids = trace(model, text).ids
    found = each_alone(model, ids, [changes[0], replace(changes[1], enabled=False), changes[2]])
    for logits, change in zip(found, changes, strict=True):
        expected = trace(model, text, interventions=[change])["logits"].array[-1]
        assert logits == pytest.approx(expected, abs=1e-4)
    assert not np.allclose(found[0], found[1])


def test_an_earlier_place_is_that_of_the_whole_text():
    """Where rotary angles depend on the length, a shorter text would be another one."""
    values = {"context": 16, "width": 8, "heads": 2, "layers": 1, "positions": "rotary"}
    configuration = find_family("transformer").configuration(
        **values, rotary_scaling="dynamic", rotary_original=2, rotary_base=3.0
    )
    model = build_model("transformer", configuration, 7, 0).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(parameter.numel()))
    ids, change = np.array([3, 1, 4, 1, 5, 2, 6]), scale_head(0, 1, 0.5)
    expected = trace(model, ids, interventions=[change])["logits"].array[3]
    assert each_alone(model, ids, [change], 3)[0] == pytest.approx(expected, abs=1e-5)
    assert each_alone(model, ids[:4], [change])[0] != pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("task", ["tagging", "classification"])
def test_of_labels_those_of_the_place_or_of_the_text_are_meant(task):
    configuration = find_family("lstm").configuration(width=5, layers=1, direction="both")
    model = build_model("lstm", configuration, 7, 0, TASKS[task].predicts(("good", "bad"))).eval()
    ids, changes = np.array([3, 1, 4]), [silence_direction("forward"), silence_direction("backward")]
    found = each_alone(model, ids, changes, 1)
    for logits, change in zip(found, changes, strict=True):
        expected = trace(model, ids, interventions=[change])["logits"].array
        assert logits == pytest.approx(expected[1] if task == "tagging" else expected, abs=1e-5)
    assert not np.allclose(found[0], found[1])


def test_there_are_two_directions():
    with pytest.raises(LmvizError, match="choose forward or backward"):
        silence_direction("sideways")
