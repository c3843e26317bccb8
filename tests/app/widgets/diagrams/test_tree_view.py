"""The tree of words: where nodes stand, and what clicks and keys ask for."""

import pytest
from PySide6.QtCore import Qt

from lmviz.app.widgets.diagrams.tree_view import TreeNode, TreeView

NODES = [
    TreeNode("the"),
    TreeNode("king", "21 %", 0, pruned=True),
    TreeNode("queen", "15 %", 0),
    TreeNode("world", "7 %", 0),
    TreeNode("of", "33 %", 2),
]


@pytest.fixture
def tree(qtbot):
    view = TreeView()
    qtbot.addWidget(view)
    view.set_nodes(NODES, current=2)
    view.resize(view.sizeHint())
    view.show()
    return view


def test_no_two_words_overlap_and_children_stand_to_the_right(tree):
    chips = [tree.node_rectangle(index) for index in range(len(NODES))]
    assert not any(a.intersects(b) for i, a in enumerate(chips) for b in chips[:i])
    assert all(
        chips[i].left() > chips[node.parent].right() for i, node in enumerate(NODES) if node.parent >= 0
    )
    assert tree.rect().contains(chips[-1].toAlignedRect())


def test_a_click_says_which_word(tree, qtbot):
    with qtbot.waitSignal(tree.node_clicked) as clicked:
        qtbot.mouseClick(tree, Qt.MouseButton.LeftButton, pos=tree.node_rectangle(3).center().toPoint())
    assert clicked.args == [3]


@pytest.mark.parametrize(
    ("key", "target"), [(Qt.Key.Key_Left, 0), (Qt.Key.Key_Right, 4), (Qt.Key.Key_Up, 1), (Qt.Key.Key_Down, 3)]
)
def test_arrows_go_to_relatives(tree, qtbot, key, target):
    with qtbot.waitSignal(tree.node_clicked) as clicked:
        qtbot.keyClick(tree, key)
    assert clicked.args == [target]


def test_an_empty_tree_is_drawn(qtbot):
    view = TreeView()
    qtbot.addWidget(view)
    view.set_nodes([])
    view.grab()
