"""Progress of a part is told as progress of the whole."""

import pytest

from lmviz.base.reporting import part_of


def test_a_part_of_a_part_ends_where_the_part_ends():
    heard = []
    second_half = part_of(heard.append, 0.5, 1.0)
    first_part_of_it = part_of(second_half, 0.0, 0.2)
    for share in (0.0, 0.5, 1.0):
        first_part_of_it(share)
    second_half(1.0)
    assert heard == pytest.approx([0.5, 0.55, 0.6, 1.0])
