import pytest

from lmviz.base.errors import LmvizError
from lmviz.decoding.branches import Branches
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.options import SamplingOptions
from lmviz.decoding.sampling import choose, force

OPTIONS = SamplingOptions()


@pytest.fixture
def grow(bigram):
    def grown(tree, draw=None, forced=None):
        continuation = Continuation.of(bigram, tree.prefix, tree.chosen())
        step = choose(continuation, OPTIONS, draw) if forced is None else force(continuation, OPTIONS, forced)
        return tree.grown(step)

    return grown


def test_the_root_stands_for_the_prefix_and_is_no_token():
    root = Branches.of("cows").node
    assert (root.index, root.parent, root.id, root.token, root.text) == (0, -1, -1, "", "cows")
    assert root.probability == 1.0


def test_one_goes_on_back_and_on_another_way_and_nothing_is_lost(grow):
    tree = grow(grow(Branches.of("cows"), draw=0.1), draw=0.2)
    first = tree.node
    tree = grow(tree.back(), draw=0.999)
    assert tree.node.text != first.text
    assert tree.nodes[first.index] == first
    assert {child.index for child in tree.back().children()} == {first.index, tree.current}
    assert tree.draws == 3
    assert tree.at(first.index).node.text == first.text


def test_the_path_spells_the_text(grow, bigram):
    tree = grow(grow(grow(Branches.of("cows"), draw=0.3), draw=0.6), draw=0.1)
    assert len(tree.path()) == 3
    assert tree.chosen() == tuple(node.id for node in tree.path())
    assert tree.node.text == Continuation.of(bigram, "cows", tree.chosen()).text
    assert tree.chosen(0) == ()


def test_the_same_token_again_is_the_same_node(grow):
    once = grow(Branches.of("cows"), draw=0.0)
    again = grow(once.back(), draw=1e-9)
    assert len(again.nodes) == 2
    assert again.current == once.current
    assert again.node.draws == (0.0, 1e-9)


def test_no_draw_lands_on_a_token_that_is_chosen(grow, bigram):
    start = Branches.of("cows")
    assert grow(start, draw=0.5).node.draws == (0.5,)
    forced = grow(start, forced=bigram.tokenizer.id_of("grass"))
    assert (forced.node.token, forced.draws) == ("grass", 0)


def test_the_likeliest_alternatives_stay_with_the_node_they_follow(grow):
    tree = grow(Branches.of("cows"), draw=0.5)
    offered = tree.nodes[0].alternatives
    assert [item.probability for item in offered] == sorted((i.probability for i in offered), reverse=True)
    assert len(offered) == 4
    assert tree.node.alternatives == ()


def test_trees_do_not_change(grow):
    start = Branches.of("cows")
    grow(start, draw=0.5)
    assert start == Branches.of("cows")


def test_back_stops_at_the_prefix_and_unknown_branches_are_said():
    start = Branches.of("cows")
    assert start.back() == start
    with pytest.raises(LmvizError, match="branch 7"):
        start.at(7)
