"""Lanes of a race as values: their colours, and whose forks they are."""

from dataclasses import replace
from pathlib import Path

import pytest

from lmviz.app.session.race_lane import RaceLane, in_colors
from lmviz.families import FAMILIES
from lmviz.runs.racing import PlannedLane
from lmviz.training.options import TrainingOptions


def lane(name: str, parent: str = "") -> RaceLane:
    planned = PlannedLane(name, "gru", FAMILIES["gru"].configuration(), TrainingOptions())
    return replace(RaceLane(planned, -1), folder=Path("race") / name, parent=parent and f"elsewhere/{parent}")


def test_a_fork_has_the_colour_of_its_parent_wherever_that_comes() -> None:
    found = in_colors([lane("c", "b"), lane("b", "a"), lane("other"), lane("a")], [0, 2])
    assert [(each.name, each.color, each.parent) for each in found] == [
        ("c", 1, "b"),
        ("b", 1, "a"),
        ("other", 3, ""),
        ("a", 1, ""),
    ]


@pytest.mark.parametrize("forks", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c", "c": "b"}])
def test_lanes_whose_files_name_one_another_as_parents_come_to_an_end(forks: dict[str, str]) -> None:
    found = {each.name: each for each in in_colors([lane(*pair) for pair in forks.items()], [])}
    for each in found.values():
        seen = set()
        while each.parent:
            assert each.name not in seen
            seen.add(each.name)
            each = found[each.parent]
