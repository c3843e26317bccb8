"""Prepared races: their settings exist, and layer norm's claim is what a training shows."""

from pathlib import Path

import pytest

from lmviz.api.races import race as begin_race
from lmviz.families import FAMILIES
from lmviz.runs.prepared_races import PREPARED_RACES
from lmviz.runs.racing import vary
from lmviz.text.corpus import load_corpus
from lmviz.training.options import TrainingOptions


@pytest.mark.parametrize("race", PREPARED_RACES, ids=lambda race: race.title)
def test_each_lane_can_be_planned(race):
    configuration, options = FAMILIES[race.family].configuration, TrainingOptions.names()
    for settings in vary({**race.settings, **race.varied}).values():
        configuration(**{name: value for name, value in settings.items() if name not in options})
        TrainingOptions(**{name: value for name, value in settings.items() if name in options})


@pytest.mark.slow
def test_at_the_highest_rate_only_the_lane_with_layer_norm_learns(tmp_path: Path) -> None:
    [race] = [race for race in PREPARED_RACES if "norm" in race.varied]
    settings = {**race.settings, "family": race.family, "norm": ["pre", "none"]}
    settings["learning_rate"] = max(race.varied["learning_rate"])
    small = {"batch": 8, "length": 24, "context": 24, "steps": 60, "validate_every": 0}
    losses: dict[str, list[float]] = {}
    for lane, progress in begin_race(load_corpus("farm"), {**settings, **small}, out=tmp_path / "race"):
        if progress.loss is not None:
            losses.setdefault(lane.name, []).append(progress.loss)
    assert losses["norm=pre"][-1] < losses["norm=pre"][0]
    assert len(losses["norm=none"]) < len(losses["norm=pre"]) or losses["norm=none"][-1] > 100
