"""The graph of an answer through features: what the strongest nodes keep alone, and each edge to be tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QFileDialog

from lmviz.app.panels.circuits.answering_panel import briefly
from lmviz.app.panels.circuits.drawn_features import DrawnFeatures, drawn_features, sizes_of
from lmviz.app.panels.circuits.feature_answer import FeatureAnswerPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, row
from lmviz.app.widgets.base.figures import signed_figure
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.controls.hinted_edit import HintedEdit
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.diagrams.circuit_picture import CircuitPicture
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.features.recipes import through_features_recipe
from lmviz.inspection.names import title_of
from lmviz.inspection.recipes.recipe import arguments_of
from lmviz.looks.names import COUNTED, Names

if TYPE_CHECKING:
    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.features.edge_trial import EdgeTrial
    from lmviz.features.graph import FeatureEdge, FeatureGraph
    from lmviz.models.model import Model

RESTS = {"changed": "the rest as in the changed text", "off": "the rest off"}
FILES = "Graphs of features (*.json)"
FIRST = 16
"""About so many nodes are drawn at first."""

TRIED = Key("edge of features tried")

Asked = tuple[Reading, "MeasuredContrast", "tuple[Path, ...]", str]


class FeatureGraphPanel(FeatureAnswerPanel["FeatureGraph", Asked]):
    """Nodes by layer and word, a slider for how many, and the edges of one, which a click tries."""

    gives_way = 120
    key = Key("graph of features")

    def __init__(self, session: Session) -> None:
        super().__init__(session, "feature_graph")
        self._rest = picker("feature_graph_rest_picker", "what all other features are", RESTS.values())
        self._save = LinkButton("save_feature_graph_button", "save…", "save the graph as circuit-tracer does")
        self._open = LinkButton("open_feature_graph_button", "open…", "open a graph from a file")
        self._back = LinkButton("close_feature_graph_button", "back", "close the graph of the file")
        self._slider = named(SliderRow("nodes", "how many nodes are drawn"), "feature_graph_slider")
        self._picture = named(CircuitPicture(), "feature_graph_picture")
        self._picture.set_readout(self._read_out)
        self._bars = named(SignedBars("the edges of what is chosen"), "feature_graph_edges")
        self._trial = Label(name="feature_graph_trial", role="muted", wraps=True)
        self._group = named(
            HintedEdit("put it into the group …", "group …"), "feature_graph_group", "the name of its group"
        )
        self._tried: dict[tuple[int, int | None], EdgeTrial] = {}
        self._last: EdgeTrial | None = None  # what was tried last, and is said
        self._drawn: DrawnFeatures | None = None
        self._edges: list[FeatureEdge] = []
        self._opened: tuple[Path, FeatureGraph] | None = None
        head = (self._which.picker, self._rest, self._open, self._save, self._back)
        body = column(
            self._said,
            self._slider,
            (self._picture, 3),
            row((self._trial, 1), self._group),
            (self._bars, 1),
        )
        self._answer_in(self.add_card("Graph of features", FittingRow(head, head[:2]), body))
        self._rest.activated.connect(lambda _: self.refresh_soon())
        self._slider.value_changed.connect(lambda _: self._draw_count())
        self._picture.part_clicked.connect(lambda _: self._choose())
        self._bars.part_clicked.connect(self._try)
        self._group.returnPressed.connect(self._put_together)
        self._save.clicked.connect(self._save_file)
        self._open.clicked.connect(self._choose_file)
        self._back.clicked.connect(self._close_file)

    @property
    def count(self) -> int:
        """How many nodes are drawn."""
        found = self.found
        if found is None:
            return 0
        sizes = sizes_of(found)
        return sizes[min(self._slider.value, len(sizes) - 1)] if sizes else 0

    def exported_arrays(self) -> dict[str, np.ndarray]:
        found = self.found
        if found is None:
            return {}
        arrays = {
            "effect": np.array([node.effect for node in found.nodes]),
            "weights": found.weights,
        }
        return arrays if found.kept is None else arrays | {"kept": found.kept.shares}

    def exported_names(self) -> Names:
        return COUNTED if self.found is None else Names(tuple(map(str, self.found.nodes)))

    def recipe(self) -> str:
        if self._opened is not None:
            file = str(self._opened[0])
            return "\n".join(
                [
                    "import lmviz",
                    "",
                    f"graph = lmviz.open_feature_graph({file!r})",
                    "values = graph.weights",
                    "",
                ]
            )
        if self.found is None or self._of is None:
            return ""
        reading, measured, files, rest = self._of
        call = f"lmviz.feature_graph(model, contrast, dictionaries, {arguments_of(rest=rest)}"
        return through_features_recipe(reading.moment, measured.contrast, files, call, "found.weights")

    def refresh(self) -> None:
        self._back.setVisible(self._opened is not None)
        if self._opened is not None:
            self._which.show()
            self._card.set_placeholder("")
            self._draw()
            return
        measured = self.session.contrast.found
        self._rest.setVisible(measured is not None and bool(measured.others))
        super().refresh()

    @property
    def is_whole(self) -> bool:
        """Whether what is asked now is drawn."""
        return self._opened is not None or super().is_whole

    def open_graph(self, path: Path) -> None:
        """Show the graph of a file in the place of what is asked."""

        def work() -> FeatureGraph:
            from lmviz.features.graph_file import open_graph

            return open_graph(path)

        def take(graph: FeatureGraph) -> None:
            self._give_up()
            self._opened, self.found, self._of = (path, graph), graph, None
            self._begin()
            self.complain("", "graph of a file")
            self.refresh_soon()

        def fail(sentence: str) -> None:
            self.complain(sentence, "graph of a file")

        self.session.work.open_file(path, work, take, fail)

    def save_graph(self, path: Path) -> None:
        """Save the graph that is drawn, with its groups."""
        found = self.found
        if found is None:
            return

        def write() -> Path:
            from lmviz.features.graph_file import write_graph

            return write_graph(found, path)

        def fail(sentence: str) -> None:
            self.complain(sentence, "graph of a file")

        self.session.work.save_file(path, write, lambda _: self.complain("", "graph of a file"), fail)

    def _asks(self, reading: Reading, measured: MeasuredContrast) -> Asked:
        rest = list(RESTS)[max(self._rest.currentIndex(), 0)] if measured.others else "off"
        return reading, measured, self._which.files, rest

    def _question(self, asked: Asked) -> Question[Reading, FeatureGraph]:
        reading, measured, files, rest = asked
        changes, load = reading.question.interventions, self._which.loading(files)

        def work(model: Model) -> FeatureGraph:
            from lmviz.features.graph_making import feature_graph

            return feature_graph(model, measured.contrast, load(), rest=rest, interventions=changes)

        return Question(self.key, reading, work, about=asked)

    def _take(self, asked: Asked, found: FeatureGraph) -> None:
        self.found, self._of = found, asked
        self._begin()
        self._draw()

    def _begin(self) -> None:
        """Begin with another graph: nothing is chosen or tried in it."""
        found = self.found
        self._tried, self._last = {}, None
        self.silence(TRIED)  # of the graph before
        self._picture.set_current(-1)
        if found is not None:
            sizes = sizes_of(found)
            first = min(range(len(sizes)), key=lambda at: abs(sizes[at] - FIRST), default=0)
            self._slider.set_range(len(sizes) - 1, first)

    def _draw(self) -> None:
        for part in (self._picture, self._slider, self._bars, self._group, self._trial):
            part.setVisible(self.found is not None)
        self._save.setEnabled(self.found is not None)
        if self.found is None:
            self._drawn, self._edges = None, []
            self._said.setText("")
            self._picture.set_circuit((), (), (), (), "")
            return
        self._draw_count()

    def _draw_count(self) -> None:
        """Draw as many nodes as the slider says."""
        found = self.found
        if found is None:
            return
        before = self._chosen
        self._drawn = drawn = drawn_features(found, self.count)
        answer = briefly(self._of[1].said) if self._of is not None else found.said or found.measure
        self._picture.set_circuit(drawn.nodes, drawn.paths, drawn.rows, drawn.columns, answer)
        kept = next((at for at, node in enumerate(drawn.pictured.nodes) if before == node.members), -1)
        self._picture.set_current(kept)
        self._slider.show_value(self._slider.value, drawn.briefly)
        self._said.setText(drawn.sentence)
        self._show_edges()

    @property
    def _chosen(self) -> tuple[int, ...]:
        """The members of the node that is marked; none where none is."""
        at, drawn = self._picture.current, self._drawn
        nodes = () if drawn is None else drawn.pictured.nodes
        return nodes[at].members if 0 <= at < len(nodes) else ()

    def _choose(self) -> None:
        """Show the edges of the node that was clicked, and look at its feature."""
        found, members, self._last = self.found, self._chosen, None
        if found is not None and len(members) == 1 and self._opened is None:
            node = found.nodes[members[0]]
            if node.kind == "feature":
                own = next(one for one in found.dictionaries if one.target == node.tap)
                self._which.choose(own, node.feature)
        group = next((one for one in found.groups if set(members) & set(one.nodes)), None) if found else None
        self._group.setText("" if group is None else group.name)
        self._show_edges()

    def _show_edges(self) -> None:
        drawn = self._drawn
        if drawn is None:
            return
        at = self._picture.current if self._chosen else None
        self._edges = drawn.edges_of(at)
        labels = [
            f"from {drawn.name(edge.sender)}" if edge.receiver == at else f"to {drawn.name(edge.receiver)}"
            for edge in self._edges
        ]
        joined = [drawn.in_graph(edge) for edge in self._edges]
        tried = [None if ends is None else self._tried.get(ends) for ends in joined]
        notes = ["" if trial is None else f"tried {signed_figure(trial.direct)}" for trial in tried]
        errors = [
            number
            for number, edge in enumerate(self._edges)
            if drawn.pictured.nodes[edge.sender].kind == "error"
        ]
        self._bars.set_bars(labels, [edge.weight for edge in self._edges], notes=notes, hatched=errors)
        has_out = any(edge.receiver != at for edge in self._edges)
        said = f"Into {drawn.name(at)}, and out of it" if has_out else f"Into {drawn.name(at)}"
        self._trial.setText(f"{said}: click an edge to try it." if self._last is None else _tried(self._last))
        self._group.setEnabled(at is not None)

    def _try(self, bar: int) -> None:
        """Try an edge: the sender is taken out, and what the receiver loses is measured."""
        found, drawn = self.found, self._drawn
        if found is None or drawn is None or not 0 <= bar < len(self._edges):
            return
        ends = drawn.in_graph(self._edges[bar])
        if ends is None:
            self._trial.setText("Edges of a group are tried node by node: take one out of the group.")
            return
        if self._of is None:
            self._trial.setText(
                "This graph comes from a file: no model runs behind it, and no edge is tried."
            )
            return
        if ends in self._tried:
            self._last = self._tried[ends]
            self._show_edges()
            return

        def work(model: Model) -> EdgeTrial:
            from lmviz.features.edge_trial import try_edge

            return try_edge(model, found, *ends)

        def take(trial: EdgeTrial) -> None:
            if self.found is found:
                self._tried[ends] = self._last = trial
                self._show_edges()

        self.ask(Question(TRIED, self._of[0], work, about=(found, *ends)), take)

    def _put_together(self) -> None:
        """Put the chosen node into the group that was typed, or take it out of its group."""
        found, members, name = self.found, self._chosen, self._group.text().strip()
        if found is None or not members:
            return
        own = next((group for group in found.groups if set(members) & set(group.nodes)), None)
        if name:
            known = next((group.nodes for group in found.groups if group.name == name), ())
            self.found = found.grouped(name, [*known, *members])
        elif own is not None:
            self.found = found.ungrouped(own.name)
        if self._opened is not None and self.found is not None:
            self._opened = (self._opened[0], self.found)
        self._picture.set_current(-1)
        self._draw_count()

    def _read_out(self, at: int) -> tuple[str, Sequence[str]]:
        """A node's name, what the feature is called, its effect and its strongest edges."""
        found, drawn = self.found, self._drawn
        if found is None or drawn is None:
            return "", ()
        node = drawn.pictured.nodes[at]
        lines = [] if node.kind == "word" else [title_of(node.tap)]
        lines += self._told(found, node.members)
        if not np.isnan(node.effect):
            lines.append(f"effect over all paths {signed_figure(node.effect)}")
        return drawn.name(at), lines

    def _told(self, found: FeatureGraph, members: tuple[int, ...]) -> list[str]:
        """What is known of a feature by name; of a group how many it has."""
        first = found.nodes[members[0]]
        own = next((one for one in found.dictionaries if one.target == first.tap), None)
        if len(members) > 1:
            return [f"{len(members)} nodes"]
        if first.kind != "feature" or own is None:
            return []
        name = self._which.name_of(own, first.feature)
        return [name] if name else []

    def _save_file(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save the graph", "graph.json", FILES)
        if path:
            self.save_graph(Path(path))

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open a graph of features", "", FILES)
        if path:
            self.open_graph(Path(path))

    def _close_file(self) -> None:
        self._opened = None
        self._draw_nothing()
        self.refresh_soon()


def _tried(trial: EdgeTrial) -> str:
    """What was measured of an edge, beside what it says."""
    return (
        f"The edge says {signed_figure(trial.said)}. Without its sender {signed_figure(trial.direct)} is "
        f"lost with all other features and errors as they are, {signed_figure(trial.free)} with nothing held."
    )
