"""Where values are drawn, how they are named, and which cell is shown before one is chosen."""

import pytest

from lmviz.autodiff import read, shipped_network, shipped_networks
from lmviz.autodiff.gradient_scale import largest_gradient
from lmviz.autodiff.layout import BELOW, LEFT, MODULE, arrange
from lmviz.autodiff.names import cell_label, label, latex
from lmviz.autodiff.strongest import strongest_cell


@pytest.mark.parametrize(
    ("name", "written", "typeset"),
    [
        ("z", "z", "z"),
        ("ŷ", "ŷ", r"\hat{y}"),
        ("α", "α", r"\alpha "),
        ("h[12]", "h₁₂", "h_{12}"),
        ("h[1]·2", "h₁·2", "h_{1,2}"),
        ("c′", "c′", "c'"),
        ("target", "target", r"\text{target}"),
    ],
)
def test_names(name, written, typeset):
    assert label(name) == written
    assert latex(name) == typeset


def test_cells_are_named_by_their_places():
    assert cell_label("h[1]", ()) == "h₁"
    assert cell_label("z", (2,)) == "z, cell 3"
    assert cell_label("β", (1, 0)) == "β, row 2, column 1"


def test_the_lectures_net_is_one_column_with_the_output_on_top(lecture):
    layout = arrange(lecture)
    assert not layout.unrolled
    modules = {name: spot.row for name, spot in layout.spots.items() if spot.side == MODULE}
    assert modules == {"a": 0, "z": 1, "b": 2, "ŷ": 3, "J": 4}
    given = {name: (spot.side, spot.row) for name, spot in layout.spots.items() if spot.side != MODULE}
    assert given == {"x": (BELOW, -1), "α": (LEFT, 0), "β": (LEFT, 2), "y": (LEFT, 4)}


def test_what_several_modules_of_the_lowest_row_take_is_drawn_below_them():
    spots = arrange(read(shipped_network("diamond").text)).spots
    assert (spots["v"].side, spots["u"].row, spots["w"].row) == (BELOW, 0, 0)


def test_the_steps_of_a_loop_stand_side_by_side():
    layout = arrange(read(shipped_network("recurrence_tanh").text))
    assert layout.unrolled
    steps = [layout.spots[f"h[{step}]"].step for step in (1, 2, 3, 4)]
    assert steps == [1, 2, 3, 4]
    assert len({layout.spots[f"h[{step}]"].row for step in (1, 2, 3, 4)}) == 1


@pytest.mark.parametrize("name", [each.name for each in shipped_networks()])
def test_each_module_stands_above_what_it_takes_in_the_same_step(name):
    net = read(shipped_network(name).text)
    layout = arrange(net)
    for node in net.tape.modules:
        for input in node.inputs:
            before, here = layout.spots[input.name], layout.spots[node.name]
            beside = before.step != here.step  # after this one where one reads backward
            assert input.module is None or before.row < here.row or beside


def test_the_scale_is_the_same_throughout_the_sweep(lecture):
    assert largest_gradient(lecture) == pytest.approx(1.384106, abs=5e-7)
    lecture.tape.rewind()
    assert largest_gradient(lecture) == pytest.approx(1.384106, abs=5e-7)


def test_the_strongest_cell_follows_the_tape(lecture):
    lecture.forward()
    assert strongest_cell(lecture) == ("J", (), False)
    lecture.tape.pop()
    assert strongest_cell(lecture) == ("ŷ", (1,), True)
    lecture.tape.pop()
    lecture.tape.pop()
    assert strongest_cell(lecture) == ("β", (1, 1), True)
    lecture.tape.rewind()
    assert strongest_cell(lecture)[2] is False
