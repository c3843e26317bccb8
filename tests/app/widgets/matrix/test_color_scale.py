"""What the legend of colours says at its ends."""

import pytest

from lmviz.app.widgets.matrix.color_scale import scale_ends


@pytest.mark.parametrize(
    ("scale", "limit", "floor", "ends"),
    [
        ("share", 1.0, 0.0, ("0", "1")),
        ("signed", 1.25, 0.0, ("−1.25", "1.25")),
        ("count", 40.0, 0.0, ("0", "40")),
        ("share", 1.0, 1e-4, ("≤ 0.01 %", "100 %, log")),
    ],
)
def test_the_ends_are_written_and_a_logarithmic_scale_says_so(scale, limit, floor, ends):
    assert scale_ends(scale, limit, floor) == ends
