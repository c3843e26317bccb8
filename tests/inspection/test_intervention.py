"""An intervention is a value: made, described, compared, written down and read again."""

import json
import pickle

import pytest

from lmviz.base.errors import LmvizError
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import (
    add,
    replace,
    scale,
    scale_head,
    swap_tokens,
    zero,
)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Intervention("a", "explode"),
        lambda: Intervention("a", "swap", where={"position": (1, 2)}),
        lambda: Intervention("tokens", "scale", 2.0),
        lambda: Intervention("tokens", "swap", where={"position": 1}),
        lambda: replace("a", "much"),
        lambda: replace("a", [[1.0], [2.0, 3.0]]),
        lambda: replace("a", 1.0, unit="first"),
        lambda: replace("a", 1.0, unit="12"),
        lambda: replace("a", 1.0, unit=()),
        lambda: replace("a", 1.0, unit=[0.5]),
        lambda: replace("a", 1.0, unit=slice(0, 4, 0)),
        lambda: replace("a", 1.0, unit=slice(0, 0.5)),
        lambda: replace("a", float("nan")),
    ],
)
def test_what_is_no_intervention_cannot_be_made(made):
    with pytest.raises(LmvizError):
        made()


EXAMPLES = [
    (zero("layers/0/hidden", unit=17), "layer 1, hidden, unit 18 = 0"),
    (scale("layers/1/hidden", 0.5, position=3, unit=(1, 2)), "layer 2, hidden, position 4, units 2, 3 × 0.5"),
    (replace("logits", [1, 2, 3, 4, 5], token=slice(0, 5), position=0), "(1, 2, 3, 4, …)"),
    (add("embedding/sum", 1.0, position=slice(2, None)), "embedding sum, position 3 onward + 1"),
    (Intervention("layers/*/attention/*_rotated", "bypass"), "switched off"),
    (scale_head(1, 2), "head 2·3 off"),
    (swap_tokens(1, 2, ("the", "bat", "made")), "swap “bat”, “made”"),
    (swap_tokens(1, 2), "swap positions 2 and 3"),
    (swap_tokens(1, -1), "swap positions 2 and -1"),
    (scale_head(1, -1, [0.5]), "head 2·-1 × (0.5)"),
]


@pytest.mark.parametrize(("change", "said"), EXAMPLES)
def test_each_says_what_it_does(change, said):
    assert said in change.describe()


def test_a_function_is_named_as_one():
    change = replace("layers/0/hidden", lambda cells: cells, unit=3)
    assert change.describe() == "layer 1, hidden, unit 4 = a function"


@pytest.mark.parametrize("change", [change for change, _ in EXAMPLES])
def test_they_survive_a_round_trip_through_json(change):
    assert Intervention.from_values(json.loads(json.dumps(change.to_values()))) == change


@pytest.mark.parametrize("change", [change for change, _ in EXAMPLES])
def test_they_are_values(change):
    again = pickle.loads(pickle.dumps(change))
    assert again == change
    assert hash(again) == hash(change)
    assert again.required == change.required
    assert again in {change}
    assert len({item for item, _ in EXAMPLES}) == len(EXAMPLES)


@pytest.mark.parametrize(
    "values", [{}, {"address": "a", "kind": "scale", "where": 3}, {"address": 1, "where": {}}]
)
def test_what_is_no_intervention_in_a_file_is_said(values):
    with pytest.raises(LmvizError):
        Intervention.from_values(values)
