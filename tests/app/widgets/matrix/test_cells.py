"""Cells: every number has its colour, and pooling never hides the strongest."""

import numpy as np
import pytest

from lmviz.app.look.roles import LIGHT
from lmviz.app.widgets.matrix.cells import (
    LIT,
    MASKED,
    MIDDLE,
    WITH_IT,
    Cells,
    CrossVeil,
    cell_image,
    color_table,
    veil,
)


def test_levels_run_from_end_to_end():
    assert Cells.of(np.array([[0.0, 0.5, 1.0]]), "share").levels.tolist() == [[1, 128, 255]]
    assert Cells.of(np.array([[-2.0, 0.0, 2.0]]), "signed").levels.tolist() == [[1, MIDDLE, 255]]


def test_values_beyond_the_limit_have_the_strongest_colour():
    assert Cells.of(np.array([[-9.0, 9.0]]), "signed", limit=1).levels.tolist() == [[1, 255]]


def test_minus_infinity_and_not_a_number_are_masked():
    cells = Cells.of(np.array([[-np.inf, np.nan, 1.0]]), "score")
    assert cells.levels.tolist() == [[MASKED, MASKED, 255]]
    assert cells.limit == 1.0


def test_a_matrix_of_zeros_has_a_limit():
    assert Cells.of(np.zeros((2, 2)), "signed").limit == 1.0
    assert Cells.of(np.full((2, 2), -np.inf), "score").limit == 1.0


@pytest.mark.parametrize("scale", ["share", "signed"])
@pytest.mark.parametrize("shape", [(10, 10), (11, 7), (1, 1), (3, 50)])
def test_pooling_keeps_the_strongest_of_each_block(scale, shape):
    generator = np.random.default_rng(0)
    values = generator.random(shape) if scale == "share" else generator.normal(0, 1, shape)
    values[generator.random(shape) < 0.2] = -np.inf
    cells = Cells.of(values, scale)
    pooled = cells.pooled(3, 4)
    base = 0 if scale == "share" else MIDDLE
    strength = np.where(cells.masked, -1, np.abs(cells.levels.astype(int) - base))
    for row in range(pooled.shape[0]):
        for column in range(pooled.shape[1]):
            block = (slice(3 * row, 3 * row + 3), slice(4 * column, 4 * column + 4))
            strongest = cells.levels[block].ravel()[strength[block].argmax()]
            if strength[block].max() < 0:
                assert pooled[row, column] == MASKED
            else:
                assert abs(int(pooled[row, column]) - base) == abs(int(strongest) - base)


def test_the_picture_has_the_colours_of_the_map():
    cells = Cells.of(np.array([[0.0, 1.0], [-np.inf, 1.0]]), "share")
    image = cell_image(cells.levels, color_table(LIGHT, "share"))
    assert image.pixelColor(0, 0) == LIGHT.share_none
    assert image.pixelColor(1, 0) == LIGHT.share_all
    assert image.pixelColor(0, 1) == LIGHT.background


def test_with_a_floor_a_small_share_is_seen_and_one_below_it_is_not():
    shares = np.array([[0.9, 0.01, 1e-4, 1e-6, 0.0]])
    linear, logarithmic = Cells.of(shares, "share").levels[0], Cells.of(shares, "share", floor=1e-4).levels[0]
    assert linear[1] < 5
    assert logarithmic[1] == pytest.approx(1 + 254 / 2, abs=2)
    assert logarithmic[0] > 240
    assert list(logarithmic[2:]) == [1, 1, 1]


def test_by_row_the_largest_of_each_row_has_the_strongest_colour() -> None:
    values = np.array([[0.001, 0.002, -np.inf], [0.5, 0.25, 0.25], [0.0, 0.0, -np.inf]])
    levels = Cells.of(values, "share", by_row=True).levels
    assert levels[0, 1] == levels[1, 0] == 255
    assert levels[0, 0] == levels[1, 1] == 128
    assert levels[0, 2] == 0
    assert levels[2, 0] == 1


def test_what_fades_around_a_cell_is_as_if_it_were_made_anew_for_each():
    """Also where its row or its column, or both, are out of sight."""
    rows, columns = range(2, 7), range(1, 9)
    cross = CrossVeil(rows, columns, LIGHT)
    for cell in ((2, 1), (6, 8), (4, 4), (4, 4), (0, 3), (5, 0), (9, 9), (3, 8)):
        strengths = np.zeros((10, 10), dtype=np.int8)
        strengths[cell[0]] = strengths[:, cell[1]] = WITH_IT
        strengths[cell] = LIT
        shown = strengths[rows.start : rows.stop, columns.start : columns.stop]
        assert cross.over(cell) == veil(shown, LIGHT), cell
