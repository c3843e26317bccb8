"""The colours that are drawn without the window are those of the window."""

import numpy as np
import pytest

from lmviz.app.look.roles import DARK, LIGHT
from lmviz.looks import palette

THEMES = [(LIGHT, palette.LIGHT), (DARK, palette.DARK)]
DERIVED = (
    "chip",
    "right",
    "right_wash",
    "hover",
    "strong_line",
    "accent_hover",
    "faint_text",
    "rose",
    "fell",
)


@pytest.mark.parametrize(("theme", "colors"), THEMES, ids=["light", "dark"])
def test_roles_series_and_maps_are_alike(theme, colors):
    inks = (*colors.roles, *DERIVED, *range(20), "#12AB34")
    assert {ink: colors.ink(ink) for ink in inks} == {ink: theme.ink(ink).name().upper() for ink in inks}
    for scale in ("share", "count", "signed"):
        np.testing.assert_allclose(colors.map_of(scale), theme.map_of(scale)[:, :3], atol=1)


@pytest.mark.parametrize("color", ["#FFFFFF", "#000000", "#777777", "#E8590C", "#3B2FA8"])
def test_the_same_text_is_read_on_a_colour(color):
    from PySide6.QtGui import QColor

    assert palette.on(color) == LIGHT.on(QColor(color)).name().upper()
