"""What is drawn faint is what no path of the unrolled network leads through, found here by search."""

import itertools

import numpy as np
import pytest

from lmviz.app.widgets.diagrams.unrolled_values import (
    BACKWARD,
    FORWARD,
    UnrolledLayer,
    UnrolledRow,
    is_reached,
    pair_of,
)

POSITIONS = 5
NETWORKS = {
    "forward": (FORWARD, FORWARD),
    "backward": (BACKWARD,),
    "both": (FORWARD, BACKWARD),
    "both twice": (FORWARD, BACKWARD, FORWARD, BACKWARD),
}


def layers_of(directions):
    row = UnrolledRow("h", np.zeros((POSITIONS, 2), dtype=np.float32))
    return tuple(UnrolledLayer(str(place), (row,), way) for place, way in enumerate(directions))


def reached(layers, start):
    """All nodes to which edges lead: words (p, "word"), cells (p, layer) and answers (p, "answer")."""
    edges = {}
    for layer, position in itertools.product(range(len(layers)), range(POSITIONS)):
        lower, upper = pair_of(layers, layer)
        for below in pair_of(layers, lower - 1) if lower else ("word",):
            edges.setdefault((position, below), set()).add((position, layer))
        above = (position, "answer") if upper == len(layers) - 1 else None
        found = edges.setdefault((position, layer), set())
        if above is not None:
            found.add(above)
        found.add((position + (1 if layers[layer].direction == FORWARD else -1), layer))
    seen, waiting = {start}, [start]
    while waiting:
        for node in edges.get(waiting.pop(), ()):
            if node not in seen and 0 <= node[0] < POSITIONS:
                seen.add(node)
                waiting.append(node)
    return seen


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("word", range(POSITIONS))
def test_a_hovered_word_leaves_what_it_can_reach(network, word):
    layers = layers_of(NETWORKS[network])
    found = reached(layers, (word, "word"))
    for cell in itertools.product(range(POSITIONS), range(len(layers))):
        assert is_reached(layers, cell, 0, word) == (cell in found), cell


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("word", range(POSITIONS))
def test_a_lit_word_leaves_what_its_answer_is_made_of(network, word):
    layers = layers_of(NETWORKS[network])
    for cell in itertools.product(range(POSITIONS), range(len(layers))):
        expected = (word, "answer") in reached(layers, cell)
        assert is_reached(layers, cell, word, None) == expected, cell


def test_where_no_direction_is_given_only_the_future_is_faint():
    layers = layers_of(("", ""))
    assert [is_reached(layers, (position, 1), 2, None) for position in range(POSITIONS)] == [
        *(True, True, True),
        *(False, False),
    ]
