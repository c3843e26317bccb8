"""How long the presets train, and how often the text is read meanwhile."""

import pytest

from lmviz.families import FAMILIES
from lmviz.training.options import DEFAULT_LENGTH, TrainingOptions
from lmviz.training.presets import FEWEST, PRESETS, QUICK_SECONDS, passes, steps_by_name


@pytest.mark.parametrize("seconds", [None, 0.0001, QUICK_SECONDS / PRESETS["quick"]])
def test_where_the_quick_preset_is_quick_enough_the_steps_are_the_usual_ones(seconds):
    assert steps_by_name(seconds) == PRESETS


@pytest.mark.parametrize(("seconds", "quick"), [(0.03, 2000), (0.1, 600), (0.25, 200), (60.0, FEWEST)])
def test_slow_steps_are_fewer_and_all_presets_shrink_alike(seconds, quick):
    found = steps_by_name(seconds)
    assert found["quick"] == quick
    for name, steps in found.items():
        assert steps / quick == pytest.approx(PRESETS[name] / PRESETS["quick"], abs=1 / quick)


def test_a_pass_reads_as_many_tokens_as_the_text_has():
    transformer, lstm = FAMILIES["transformer"].configuration(context=32), FAMILIES["lstm"].configuration()
    options = TrainingOptions(steps=10, batch=4)
    assert passes(transformer, options, 10 * 4 * 32) == 1
    assert passes(lstm, options, 10 * 4 * DEFAULT_LENGTH) == 1
    assert passes(lstm, TrainingOptions(steps=10, batch=4, length=16), 320) == 2
    assert passes(transformer, TrainingOptions(steps=10, batch=4, length=16), 320) == 2
    assert passes(lstm, options, 0) == 10 * 4 * DEFAULT_LENGTH


def test_a_pass_goes_through_all_examples():
    lstm = FAMILIES["lstm"].configuration()
    assert passes(lstm, TrainingOptions(steps=10, batch=4), 1_000, examples=20) == 2
    assert passes(lstm, TrainingOptions(steps=10, batch=4), 1_000, examples=0) == 40
