"""Hundreds of heads: all of them in sight by layer, and in the order of their scores."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.matrix.head_wall import HeadWall

DEEP = (30, 9)


@pytest.fixture
def wall(qtbot: QtBot) -> HeadWall:
    made = HeadWall()
    area = scrolling(made)
    qtbot.addWidget(area)
    area.resize(640, 340)
    area.show()
    made.set_heads(np.random.default_rng(0).random((*DEEP, 6, 6)), {(2, 3): ("i", "key")})
    qtbot.waitUntil(lambda: made.width() > 500)
    made.area = area  # type: ignore[attr-defined]  # kept as long as the wall
    return made


def heads() -> list[tuple[int, int]]:
    return [(layer, head) for layer in range(DEEP[0]) for head in range(DEEP[1])]


def test_every_head_is_in_sight_and_none_covers_another(wall: HeadWall) -> None:
    tiles = [wall.tile_rectangle(*head) for head in heads()]
    room = wall.parentWidget().rect()
    assert all(room.contains(tile.toAlignedRect()) for tile in tiles)
    assert not any(
        first.intersects(second) for at, first in enumerate(tiles) for second in tiles[at + 1 : at + 40]
    )
    assert min(tile.width() for tile in tiles) >= 12


def test_more_room_makes_them_larger(wall: HeadWall, qtbot: QtBot) -> None:
    before = wall.tile_rectangle(29, 8).width()
    wall.area.resize(1000, 700)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: wall.tile_rectangle(29, 8).width() > 1.8 * before)


def test_the_highest_score_comes_first_and_what_has_none_last(wall: HeadWall, qtbot: QtBot) -> None:
    scores = np.random.default_rng(1).random(DEEP)
    scores[4, 4], scores[0, 0] = 2.0, np.nan
    wall.sort_by(scores)
    assert wall.order()[0] == (4, 4)
    assert wall.order()[-1] == (0, 0)
    assert sorted(wall.order()) == heads()
    first, second = (wall.tile_rectangle(*head) for head in wall.order()[:2])
    assert first.left() < second.left()
    assert wall.heightForWidth(wall.width()) > wall.parentWidget().height()
    wall.sort_by(None)
    assert wall.order() == heads()


def test_a_click_chooses_what_is_under_the_pointer_in_either_order(wall: HeadWall, qtbot: QtBot) -> None:
    chosen: list[tuple[int, int]] = []
    wall.head_clicked.connect(lambda layer, head: chosen.append((layer, head)))
    for scores in (None, np.random.default_rng(1).random(DEEP)):
        wall.sort_by(scores)
        head = wall.order()[5]
        place = wall.tile_rectangle(*head).center().toPoint()
        qtbot.mouseClick(wall, Qt.MouseButton.LeftButton, pos=QPoint(place))
        assert chosen[-1] == head


def test_badges_are_drawn_however_small_the_heads_are(wall: HeadWall) -> None:
    tile = wall.tile_rectangle(2, 3)
    color = wall.theme.key
    image = wall.grab(tile.toAlignedRect()).toImage()
    seen = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert color.name() in seen


def test_in_little_room_they_scroll_and_none_is_cut_at_the_side(wall: HeadWall, qtbot: QtBot) -> None:
    wall.area.resize(600, 200)  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: wall.width() < 620)
    assert all(wall.tile_rectangle(*head).right() <= wall.width() for head in heads())
    assert wall.height() > 200
