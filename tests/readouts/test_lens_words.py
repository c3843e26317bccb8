"""What a fitted lens says along the layers, in words."""

import numpy as np

from lmviz.inspection.logit_lens import LogitLens
from lmviz.readouts.fitted_lens import FittedLens
from lmviz.readouts.lens_sentence import way_in_words, worth_in_words

DEEP = ("embedding/sum", *(f"layers/{layer}/residual2" for layer in range(10)))


def read(ids: list[int], places: tuple[str, ...] = DEEP) -> LogitLens:
    none = np.zeros((len(places), 1, 1))
    rows = np.array(ids)[:, None, None]
    return LogitLens(places, (0,), rows, none, none[..., 0], none[..., 0], none[..., 0])


def test_of_a_deep_model_a_word_counts_that_stays():
    way = way_in_words(read([9, 1, 2, 2, 1, 3, 3, 3, 3, 3, 4]), 0, str, None)
    assert way == "“2” from layer 2, “3” from layer 5, “4” at the end"


def test_of_a_shallow_one_every_word_counts_and_one_that_never_changes_is_said_once():
    assert way_in_words(read([1, 2, 2], DEEP[:3]), 0, str, None) == "“1” before all layers, “2” from layer 1"
    assert way_in_words(read([2, 2, 2], DEEP[:3]), 0, str, None) == "“2” throughout"


def test_what_the_map_is_not_sure_of_is_left_out():
    places = DEEP[:4]
    maps = {place: np.eye(1, dtype=np.float32) for place in places[:-1]}
    errors = {places[0]: 0.9, places[1]: 0.1, places[2]: float("nan")}
    fitted = FittedLens(
        "jacobian",
        places,
        maps,
        {},
        2,
        9,
        errors=errors,
        centred=False,
        divergence={places[0]: 1.5},
        divergence_unfitted={places[0]: 2.25},
    )
    assert way_in_words(read([1, 2, 5, 3], places), 0, str, fitted) == "“2” from layer 1, “3” at the end"
    assert worth_in_words(fitted, places[0]).startswith("1.50 bits from the end")
    assert worth_in_words(fitted, places[1]) == ""
