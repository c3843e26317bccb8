"""Whatever reads a model explicitly looks up between its steps, says how far it is, and can be ended."""

from __future__ import annotations

import numpy as np
import pytest
from small_models import small_settings

from lmviz.families import FAMILIES, build_model
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.tracing import trace
from lmviz.models.interruption import Interrupted, interruptible, look_up, part_of_work
from lmviz.models.model import Model

IDS = np.array([1, 2, 3, 4, 5])


def model_of(family: str) -> Model:
    configuration = FAMILIES[family].configuration(**small_settings(family))
    return build_model(family, configuration, 7, 0).eval()


def interrupt_after(looks: int) -> tuple[list[float | None], object]:
    seen: list[float | None] = []

    def look(done: float | None) -> None:
        seen.append(done)
        if len(seen) > looks:
            raise Interrupted

    return seen, look


@pytest.mark.parametrize("family", [name for name, row in FAMILIES.items() if not row.counts])
def test_a_trace_says_how_far_it_is_and_can_be_ended_at_any_step(family: str) -> None:
    model = model_of(family)
    seen, look = interrupt_after(10_000)
    with interruptible(look):
        whole = trace(model, IDS)
    known = [done for done in seen if done is not None]
    assert known == sorted(known)
    assert known[0] == 0
    assert 0.5 < known[-1] < 1
    for looks in range(len(seen)):
        few, look = interrupt_after(looks)
        with pytest.raises(Interrupted), interruptible(look):
            trace(model, IDS)
        assert len(few) == looks + 1
    again = trace(model, IDS)  # what was ended has left nothing behind
    np.testing.assert_array_equal(again["logits"].array, whole["logits"].array)


def test_a_longer_text_and_a_gradient_look_up_too() -> None:
    model = model_of("transformer")
    first = trace(model, IDS[:3])
    for work in (lambda: trace(model, IDS, earlier=first), lambda: gradient(model, IDS, "loss@-1")):
        _, look = interrupt_after(2)
        with pytest.raises(Interrupted), interruptible(look):
            work()


def test_parts_of_a_work_share_its_fractions_and_nothing_looks_up_outside() -> None:
    seen: list[float | None] = []
    with interruptible(seen.append):
        for part in range(2):
            with part_of_work(part, 2):
                look_up(0.0)
                look_up(0.5)
    look_up(0.9)
    assert seen == [0.0, 0.25, 0.5, 0.75]
