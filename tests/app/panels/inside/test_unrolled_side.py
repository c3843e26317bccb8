"""Which states of a recurrence are read by what stands above it, of every family and task."""

import pytest
from family_cases import CASES, IDS, SOURCE, traced, trained

from lmviz.app.panels.inside.unrolled_side import read_positions, recurrent_layers

RECURRENT = [case for case in CASES if case.values[0] in ("rnn", "lstm", "gru")]


@pytest.mark.parametrize(("family", "options"), RECURRENT)
def test_the_states_that_are_read_are_those_that_the_model_reads(family, options):
    found = traced(trained(family, tuple(options.items())), IDS)
    backward = {"backward": 0, "forward": -1, "both": -1}[options.get("direction", "forward")]
    places = ("encoder/", "decoder/") if options.get("task") == "translation" else ("",)
    for place in places:
        layers = recurrent_layers(found, place)
        for state, *_ in layers:
            is_top = state.split("layers/")[1][0] == layers[-1][0].split("layers/")[1][0]
            ends_backward = "/backward/" in state or (backward == 0 and place != "decoder/")
            end = 0 if ends_backward else (len(SOURCE) if place == "encoder/" else len(IDS)) - 1
            expected = None
            if options.get("task") == "classification" and is_top and options.get("pooling") == "last":
                expected = {end}
            if place == "encoder/" and options["attention"] == "none" and is_top:
                expected = {end}
            assert read_positions(found, state) == expected, state
