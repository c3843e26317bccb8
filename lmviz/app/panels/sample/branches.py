"""All text written after the prefix, as a tree; a click returns to any node."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QTimer

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.sample.text_end import end_of
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, row
from lmviz.app.widgets.base.figures import count, percentage
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.diagrams.tree_view import TreeNode, TreeView
from lmviz.decoding.branches import Alternative, Branch, Branches
from lmviz.decoding.options import FILTERS
from lmviz.inspection.recipes.decoding import branches_recipe
from lmviz.text.tokenizer import visible

RECENT = 4  # places back along the path beside which the words that were not taken are shown


class BranchesPanel(Panel):
    """A click on a node goes there; on a faint word, which was not taken, writes that instead."""

    needs_next_word = "Open a language model to write on, branch by branch."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._tree = named(TreeView(), "branches_tree", "branches")
        self._area = scrolling(self._tree, sideways=True)
        self._said = MutedLine()
        self._adopt = LinkButton("use_as_prefix_button", "use as prefix", "put this text into the prefix")
        self._clear = LinkButton("clear_branches_button", "clear", "remove all branches")
        self.goals: list[tuple[int, int | None]] = []
        """For each node of the tree that is drawn its branch; and an id where it is only offered after it."""
        self._drawn = 0  # the current node of the tree
        self._card = self.add_card(
            "Branches", row(self._adopt, self._clear), column((self._area, 1), self._said, gap=4)
        )
        self._tree.part_clicked.connect(self._go)
        self._adopt.clicked.connect(self._use_as_prefix)
        self._clear.clicked.connect(session.writing.forget)
        self._follow_current = QTimer(self, singleShot=True, interval=0)
        self._follow_current.timeout.connect(self._show_current)
        self.follow(session.writing.branches_changed, session.reading.prefix_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Every branch (branch,): its id, the place of the one before it, its probability."""
        written = self.session.writing.branches.nodes[1:]
        if not written:
            return {}
        return {
            "ids": np.array([node.id for node in written], dtype=np.int64),
            "parents": np.array([node.parent - 1 for node in written], dtype=np.int64),
            "probabilities": np.array([node.probability for node in written]),
        }

    def recipe(self) -> str:
        """The probabilities under the model and the options as they are now."""
        session, branches = self.session, self.session.writing.branches
        if session.library.model is None or len(branches.nodes) < 2:
            return ""
        paths = [branches.chosen(node.index) for node in branches.nodes[1:]]
        return branches_recipe(
            session.reading.moment_of(branches.prefix),
            paths,
            session.writing.sampling.unusual_values(*FILTERS),
        )

    def refresh(self) -> None:
        branches = self.session.writing.branches
        noun = self.session.reading.noun
        nodes, self._drawn = self._draw_tree(branches)
        self._tree.set_nodes(nodes, self._drawn, noun)
        written = branches.node.text[len(branches.prefix) :]
        drawn = "1 draw kept" if branches.draws == 1 else f"{count(branches.draws)} draws kept"
        self._said.set_text(
            f"{written.strip(' ')} · {drawn} · click any {noun} to go on from it".lstrip(" ·")
            if len(branches.nodes) > 1
            else f"Roll the die, or click a {noun}: every continuation is kept here."
        )
        self._adopt.setEnabled(bool(written))
        self._clear.setEnabled(len(branches.nodes) > 1)
        self._follow_current.start()

    def _draw_tree(self, branches: Branches) -> tuple[list[TreeNode], int]:
        """The nodes with the words not taken beside the last places of the path; and the current one."""
        path = [branches.nodes[0], *branches.path()]
        offering = {node.index for node in path[-1 - RECENT :]}
        children: dict[int, list[int]] = {}
        for node in branches.nodes[1:]:
            children.setdefault(node.parent, []).append(node.index)
        nodes = [TreeNode(end_of(branches.prefix))]
        self.goals = [(0, None)]
        placed = {0: 0}
        # Breadth first keeps parents before children; siblings stand in the order of their probability.
        waiting = [0]
        while waiting:
            index = waiting.pop(0)
            branch = branches.nodes[index]
            taken = {branches.nodes[child].id: child for child in children.get(index, ())}
            offers: list[Branch | Alternative] = [branches.nodes[child] for child in taken.values()]
            if index in offering:
                offers += [offer for offer in branch.alternatives if offer.id not in taken]
            for offer in sorted(offers, key=lambda offer: -offer.probability):
                if isinstance(offer, Branch):
                    placed[offer.index] = len(nodes)
                    waiting.append(offer.index)
                    self.goals.append((offer.index, None))
                else:
                    self.goals.append((index, offer.id))
                token, share = visible(offer.token), percentage(offer.probability)
                is_offered = isinstance(offer, Alternative)
                nodes.append(TreeNode(token, share, placed[index], is_offered, offer.probability))
        return nodes, placed[branches.current]

    def _go(self, node: int) -> None:
        branch, id = self.goals[node]
        if id is None:
            self.session.writing.go_to(branch)
        else:
            self.session.writing.write(id, branch)

    def _use_as_prefix(self) -> None:
        self.session.reading.set_prefix(self.session.writing.branches.node.text)
        self.session.focus.follow_end()

    def _show_current(self) -> None:
        """Bring the current node into sight, once the tree has its new size."""
        place = self._tree.node_rectangle(self._drawn).center().toPoint()
        self._area.ensureVisible(place.x(), place.y(), self._area.width() // 3, self._area.height() // 3)
