"""The graph of an answer through features: what the strongest nodes keep alone, and each edge to be tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QFileDialog

from lmviz.app.panels.circuits.answering_panel import briefly
from lmviz.app.panels.circuits.feature_answer import FeatureAnswerPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, row
from lmviz.app.widgets.base.figures import signed_figure, whole_percentage
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.controls.hinted_edit import HintedEdit
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.diagrams.circuit_picture import CircuitNode, CircuitPath, CircuitPicture
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.features.recipes import through_features_recipe
from lmviz.inspection.names import title_of
from lmviz.inspection.recipes.recipe import arguments_of
from lmviz.looks.names import COUNTED, Names
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.features.edge_trial import EdgeTrial
    from lmviz.features.graph import FeatureEdge, FeatureGraph
    from lmviz.features.graph_picture import PicturedGraph, PicturedNode
    from lmviz.models.model import Model

RESTS = {"changed": "the rest as in the changed text", "off": "the rest off"}
FILES = "Graphs of features (*.json)"
FIRST = 16
"""About so many nodes are drawn at first."""

EDGES, PATHS = 5, 60
SMALLEST, LARGEST = 0.6, 1.7
"""Of the usual width of a node, by how strong it is."""

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
        self._drawn: PicturedGraph | None = None
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
        sizes = _sizes(found)
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
            sizes = _sizes(found)
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
        from lmviz.features.graph_picture import pictured

        found = self.found
        if found is None:
            return
        before = self._chosen
        self._drawn = drawn = pictured(found, self.count, PATHS)
        taps = _taps(found, drawn)
        places = sorted({(node.along, node.position) for node in drawn.nodes})
        largest = max((abs(node.effect) for node in drawn.nodes if node.kind != "word"), default=1.0)
        slots: dict[tuple[int, int], int] = {}
        nodes = []
        for node in drawn.nodes:
            column_at = places.index((node.along, node.position))
            row_at = -1 if node.kind == "word" else taps.index(node.tap)
            slot = slots.get((row_at, column_at), 0)
            slots[row_at, column_at] = slot + 1
            share = 1.0 if row_at < 0 or np.isnan(node.effect) else abs(node.effect) / (largest or 1.0)
            nodes.append(
                CircuitNode(
                    visible(node.label) if row_at < 0 else node.label,
                    row_at,
                    column_at,
                    slot if row_at >= 0 else 0,
                    node.effect,
                    node.kind == "feature",
                    node.label,
                    node.kind == "error",
                    1.0 if row_at < 0 else SMALLEST + (LARGEST - SMALLEST) * share**0.5,
                )
            )
        paths = [CircuitPath(edge.sender, edge.receiver, edge.weight) for edge in drawn.edges]
        names = [visible(_token(found, along, position)) for along, position in places]
        answer = briefly(self._of[1].said) if self._of is not None else found.said or found.measure
        self._picture.set_circuit(nodes, paths, [_row_name(tap, taps) for tap in taps], names, answer)
        kept = next((at for at, node in enumerate(drawn.nodes) if before == node.members), -1)
        self._picture.set_current(kept)
        self._slider.show_value(self._slider.value, self._said_of_count(found))
        self._said.setText(self._sentence(found))
        self._show_edges()

    @property
    def _chosen(self) -> tuple[int, ...]:
        """The members of the node that is marked; none where none is."""
        at, drawn = self._picture.current, self._drawn
        return drawn.nodes[at].members if drawn is not None and 0 <= at < len(drawn.nodes) else ()

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
        found, drawn = self.found, self._drawn
        if found is None or drawn is None:
            return
        at = self._picture.current if self._chosen else None
        into = [edge for edge in drawn.edges if edge.receiver == at]
        out = [] if at is None else [edge for edge in drawn.edges if edge.sender == at]
        self._edges = [*_largest(into), *_largest(out)]
        labels = [
            f"from {self._name(edge.sender)}"
            if edge.receiver == at
            else f"to {'the answer' if edge.receiver is None else self._name(edge.receiver)}"
            for edge in self._edges
        ]
        tried = [self._tried.get(self._in_graph(edge)) for edge in self._edges]
        notes = ["" if trial is None else f"tried {signed_figure(trial.direct)}" for trial in tried]
        errors = [
            number for number, edge in enumerate(self._edges) if drawn.nodes[edge.sender].kind == "error"
        ]
        self._bars.set_bars(labels, [edge.weight for edge in self._edges], notes=notes, hatched=errors)
        name = "the answer" if at is None else self._name(at)
        said = f"Into {name}, and out of it" if out else f"Into {name}"
        self._trial.setText(f"{said}: click an edge to try it." if self._last is None else _tried(self._last))
        self._group.setEnabled(at is not None)

    def _in_graph(self, edge: FeatureEdge) -> tuple[int, int | None]:
        """An edge between single nodes by their numbers in the graph; of groups, by numbers that are none."""
        drawn = self._drawn
        if drawn is None:
            return -1, None
        ends = [None if at is None else drawn.nodes[at].members for at in (edge.sender, edge.receiver)]
        if any(end is not None and len(end) > 1 for end in ends):
            return -1, None
        sender, receiver = (None if end is None else end[0] for end in ends)
        return (-1 if sender is None else sender), receiver

    def _try(self, bar: int) -> None:
        """Try an edge: the sender is taken out, and what the receiver loses is measured."""
        found = self.found
        if found is None or not 0 <= bar < len(self._edges):
            return
        sender, receiver = self._in_graph(self._edges[bar])
        if sender < 0:
            self._trial.setText("Edges of a group are tried node by node: take one out of the group.")
            return
        if self._of is None:
            self._trial.setText(
                "This graph comes from a file: no model runs behind it, and no edge is tried."
            )
            return
        if (sender, receiver) in self._tried:
            self._last = self._tried[sender, receiver]
            self._show_edges()
            return

        def work(model: Model) -> EdgeTrial:
            from lmviz.features.edge_trial import try_edge

            return try_edge(model, found, sender, receiver)

        def take(trial: EdgeTrial) -> None:
            if self.found is found:
                self._tried[sender, receiver] = self._last = trial
                self._show_edges()

        self.ask(Question(TRIED, self._of[0], work, about=(found, sender, receiver)), take)

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

    def _said_of_count(self, found: FeatureGraph) -> str:
        share = _kept(found, self.count)
        return f"{self.count}" if share is None else f"{self.count} keep {whole_percentage(share)}"

    def _sentence(self, found: FeatureGraph) -> str:
        share, kept = _kept(found, self.count), found.kept
        if kept is None or share is None:
            return f"{len(found.nodes)} nodes. What they keep alone was not measured."
        rest = "as in the changed text" if kept.rest == "changed" else "off"
        errors = sum(node.kind == "error" for node in found.nodes[: self.count])
        what = f"These {self.count} nodes" if self.count > 1 else "This node"
        said = (
            f"{what} alone {'keep' if self.count > 1 else 'keeps'} {whole_percentage(share)} of the way from "
            f"{signed_figure(kept.nothing)}, with all features and errors {rest}, to "
            f"{signed_figure(kept.whole)}."
        )
        if errors:
            said += f" {errors} of them {'are errors' if errors > 1 else 'is an error'}."
        return said

    def _name(self, at: int) -> str:
        """A drawn node in words."""
        node = self._drawn.nodes[at] if self._drawn is not None else None
        if node is None or self.found is None:
            return ""
        where = f" at “{visible(_token(self.found, node.along, node.position))}”"
        if node.kind == "word":
            return f"“{visible(node.label)}”"
        if node.kind == "error":
            taps = _taps(self.found, self._drawn) if self._drawn is not None else []
            return f"error {_row_name(node.tap, taps)}{where}"
        return f"“{node.label}”" if node.kind != "feature" else f"feature {node.label}{where}"

    def _read_out(self, at: int) -> tuple[str, Sequence[str]]:
        """A node's name, what the feature is called, its effect and its strongest edges."""
        found, drawn = self.found, self._drawn
        if found is None or drawn is None:
            return "", ()
        node = drawn.nodes[at]
        lines = [] if node.kind == "word" else [title_of(node.tap)]
        lines += self._told(found, node)
        if not np.isnan(node.effect):
            lines.append(f"effect over all paths {signed_figure(node.effect)}")
        return self._name(at), lines

    def _told(self, found: FeatureGraph, node: PicturedNode) -> list[str]:
        first = found.nodes[node.members[0]]
        own = next((one for one in found.dictionaries if one.target == first.tap), None)
        if len(node.members) > 1:
            return [f"{len(node.members)} nodes"]
        if node.kind != "feature" or own is None:
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


def _sizes(found: FeatureGraph) -> tuple[int, ...]:
    """The numbers of nodes that can be drawn: those for which it was measured what they keep."""
    if found.kept is not None:
        return found.kept.sizes
    steps = np.geomspace(1, max(len(found.nodes), 1), 20).astype(int)
    return tuple(sorted({int(size) for size in steps})) if found.nodes else ()


def _kept(found: FeatureGraph, count: int) -> float | None:
    if found.kept is None or count not in found.kept.sizes:
        return None
    share = float(found.kept.shares[found.kept.sizes.index(count)])
    return None if np.isnan(share) else share


def _taps(found: FeatureGraph, drawn: PicturedGraph) -> list[str]:
    """The taps of what is drawn, from below."""
    present = {node.tap for node in drawn.nodes if node.kind != "word"}
    order = [one.target for one in found.dictionaries]
    return sorted(present, key=lambda tap: order.index(tap) if tap in order else _layer(tap))


def _layer(tap: str) -> int:
    from lmviz.models.address import Address

    return Address.parse(tap).layer or 0


def _row_name(tap: str, taps: Sequence[str]) -> str:
    """The layer of a row; its place where two are of one layer."""
    from lmviz.base.counting import numbered

    layers = [_layer(one) for one in taps]
    return str(numbered(_layer(tap))) if len(set(layers)) == len(layers) else str(taps.index(tap) + 1)


def _token(found: FeatureGraph, along: str, position: int) -> str:
    tokens = found.tokens.get(along, ())
    return tokens[position] if position < len(tokens) else ""


def _largest(edges: Sequence[FeatureEdge]) -> list[FeatureEdge]:
    return sorted(edges, key=lambda edge: -abs(edge.weight))[:EDGES]
