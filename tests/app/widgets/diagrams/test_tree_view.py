"""The tree of words: where nodes stand, how it is fitted, and what clicks and keys ask for."""

import pytest
from PySide6.QtCore import Qt

from lmviz.app.widgets.diagrams.tree_view import TreeNode, TreeView

NODES = [
    TreeNode("the"),
    TreeNode("king", "21 %", 0, pruned=True, share=0.21),
    TreeNode("queen", "15 %", 0),
    TreeNode("world", "7 %", 0),
    TreeNode("of", "33 %", 2),
    TreeNode("rare", "0.1 %", 2, pruned=True, share=0.001),
]
LONG = 5000


@pytest.fixture
def tree(qtbot):
    view = TreeView()
    qtbot.addWidget(view)
    view.set_nodes(NODES, current=2)
    view.resize(view.sizeHint())
    view.show()
    return view


def places(tree, count):
    drawn = {index: tree.node_rectangle(index) for index in range(count)}
    return {index: place for index, place in drawn.items() if not place.isEmpty()}


def beam(width=3, length=10):
    """A search: `width` texts go on to the end, and after each of their words two more were offered."""
    nodes, lives = [TreeNode("prefix")], [0] * width
    for depth in range(length):
        for text in range(width):
            for offer in range(3):
                label = f"w{depth}{text}{offer}"
                nodes.append(
                    TreeNode(label, "−1.23", lives[text], pruned=offer > 0, share=0.2 - 0.05 * offer)
                )
                if offer == 0:
                    kept = len(nodes) - 1
            lives[text] = kept
    return nodes, lives


def test_no_two_words_overlap_and_children_stand_to_the_right(tree):
    drawn = places(tree, len(NODES))
    assert set(drawn) == {0, 1, 2, 3, 4}
    chips = list(drawn.values())
    assert not any(a.intersects(b) for i, a in enumerate(chips) for b in chips[:i])
    assert all(drawn[i].left() > drawn[NODES[i].parent].right() for i in drawn if NODES[i].parent >= 0)
    assert all(tree.rect().contains(chip.toAlignedRect()) for chip in chips)


def test_the_chosen_path_is_a_straight_line_on_top(tree):
    for current in (4, 3):
        tree.set_nodes(NODES, current)
        path = [current]
        while NODES[path[-1]].parent >= 0:
            path.append(NODES[path[-1]].parent)
        drawn = places(tree, len(NODES))
        assert len({drawn[index].center().y() for index in path}) == 1
        assert min(place.top() for place in drawn.values()) == drawn[0].top()


def test_words_not_worth_drawing_are_counted(tree):
    assert tree.node_rectangle(5).isEmpty()
    assert tree.left_out == 1
    tree.set_nodes(NODES, current=5)
    assert not tree.node_rectangle(5).isEmpty(), "where it is chosen it is drawn"
    assert tree.left_out == 0


@pytest.mark.parametrize("size", [(1280, 230), (860, 110)])
def test_a_search_is_fitted_into_its_room(qtbot, size):
    view = TreeView()
    qtbot.addWidget(view)
    nodes, lives = beam()
    view.set_nodes(nodes, lives[1])
    view.resize(*size)
    view.show()
    assert view.minimumSizeHint().width() <= size[0]
    assert view.minimumSizeHint().height() <= size[1]
    drawn = places(view, len(nodes))
    assert set(lives) < set(drawn)
    chips = list(drawn.values())
    assert all(view.rect().contains(chip.toAlignedRect()) for chip in chips)
    assert not any(a.intersects(b) for i, a in enumerate(chips) for b in chips[:i])
    assert view.left_out == len(nodes) - len(drawn)


@pytest.mark.slow
def test_a_text_of_thousands_of_words_is_laid_out(tree):
    chain = [TreeNode("w", "", index - 1) for index in range(3000)]
    tree.set_nodes(chain, 2999)
    assert tree.node_rectangle(2999).left() > tree.node_rectangle(2998).left()


def test_a_click_says_which_word(tree, qtbot):
    with qtbot.waitSignal(tree.part_clicked) as clicked:
        qtbot.mouseClick(tree, Qt.MouseButton.LeftButton, pos=tree.node_rectangle(3).center().toPoint())
    assert clicked.args == [3]


@pytest.mark.parametrize(
    ("key", "target"), [(Qt.Key.Key_Left, 0), (Qt.Key.Key_Right, 4), (Qt.Key.Key_Down, 3)]
)
def test_arrows_go_to_relatives(tree, qtbot, key, target):
    with qtbot.waitSignal(tree.part_clicked) as clicked:
        qtbot.keyClick(tree, key)
    assert clicked.args == [target]


def test_up_goes_back_to_the_word_above(tree, qtbot):
    tree.set_nodes(NODES, current=2)
    above = min((1, 3), key=lambda index: tree.node_rectangle(index).top())
    with qtbot.waitSignal(tree.part_clicked) as clicked:
        qtbot.keyClick(tree, Qt.Key.Key_Down)
    assert clicked.args == [above]


def test_an_empty_tree_is_drawn(qtbot):
    view = TreeView()
    qtbot.addWidget(view)
    view.set_nodes([])
    view.grab()
