"""Colours that tell things apart do so for people who see red and green alike, in both themes."""

import itertools

import pytest

from lmviz.app.look.roles import DARK, LIGHT, Theme
from lmviz.looks.ink import Ink
from tests.app.look.color_blindness import SIMULATED, difference, lab

LEAST = 20.0

TOLD_APART: tuple[tuple[Ink, ...], ...] = (
    tuple(range(6)),  # families, lanes and compared models, before their tints
    ("query", "key", "value"),
    ("training", "validation"),
    ("right", "warning"),
    ("signed_negative", "signed_positive"),
    ("rose", "fell"),
)
"""Roles that stand side by side, where the colour alone says which is which."""


@pytest.mark.parametrize(
    ("first", "second", "known"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, -1.3802, -84.2814), (50.0, 0.0, -82.7485), 1.0000),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_that_of_its_authors(
    first: tuple[float, float, float], second: tuple[float, float, float], known: float
) -> None:
    """Pairs of the data of Sharma, Wu & Dalal (2005)."""
    assert difference(first, second) == pytest.approx(known, abs=1e-4)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("seen_by", SIMULATED)
@pytest.mark.parametrize("roles", TOLD_APART, ids=lambda roles: "-".join(map(str, roles)))
def test_colours_that_tell_things_apart_are_different(
    theme: Theme, seen_by: str, roles: tuple[Ink, ...]
) -> None:
    colors = {role: lab(theme.ink(role).name(), seen_by) for role in roles}
    alike = {
        (one, other): round(difference(colors[one], colors[other]), 1)
        for one, other in itertools.combinations(roles, 2)
        if difference(colors[one], colors[other]) < LEAST
    }
    assert not alike
