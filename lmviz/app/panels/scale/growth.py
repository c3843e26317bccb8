"""How the computation graph grows with the text: a recurrent layer beside one of attention."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from lmviz.app.panels.panel import Panel
from lmviz.app.session.scale import LONGEST_GRAPH
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, row, sheet
from lmviz.app.widgets.base.figures import count
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.diagrams.layer_graph import LayerGraphView
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.looks.curve import PlotCurve
from lmviz.scaling.computation_graph import (
    attention_edges,
    attention_graph,
    crossing,
    recurrent_edges,
    recurrent_graph,
)
from lmviz.text.tokenizer import visible


class GrowthPanel(Panel):
    """Two graphs and two curves over T, driven by one slider."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._recurrent, self._attention = LayerGraphView("value"), LayerGraphView("accent")
        self._recurrent.setObjectName("recurrent_graph")
        self._attention.setObjectName("attention_graph")
        self._slider = SliderRow("tokens T", "length of the text")
        self._slider.slider.setObjectName("graph_length_slider")
        self._slider.set_range(LONGEST_GRAPH - 1, session.scale.length - 1)
        self._curves = named(LinePlot("tokens T", LOSS, words=(count, count), y_name="edges"), "edges_plot")
        self._far = Label(role="muted", wraps=True)
        self._card = self.add_card(
            "How the graph grows with the text", "edges into one hidden layer", self._lay_out()
        )
        scale = session.scale
        self._slider.value_changed.connect(lambda value: scale.choose_length(value + 1))
        self._curves.cursor_moved.connect(lambda x: scale.choose_length(round(x)))
        self.follow(scale.length_changed, scale.planned_changed, session.reading.encoding_changed)

    def _lay_out(self) -> QWidget:
        graphs = row((self._recurrent, 1), (self._attention, 1), gap=24)
        left = column((graphs, 1), self._slider)
        right = column((self._curves, 1), self._far)
        return sheet(row((left, 7), (right, 4), gap=20))

    def exported_arrays(self) -> dict[str, np.ndarray]:
        lengths = np.arange(1, LONGEST_GRAPH + 1)
        return {
            "T": lengths,
            "recurrent": np.array([recurrent_edges(length) for length in lengths.tolist()]),
            "attention": np.array([attention_edges(length) for length in lengths.tolist()]),
        }

    def recipe(self) -> str:
        """The same counts from Python."""
        length = self.session.scale.length
        return (
            "from lmviz.scaling.computation_graph import attention_graph, recurrent_graph\n\n"
            f"for graph in (recurrent_graph({length}), attention_graph({length})):\n"
            "    print(graph.edges, graph.longest_path)\n"
        )

    def refresh(self) -> None:
        length = self.session.scale.length
        words = self._words(length)
        recurrent, attention = recurrent_graph(length), attention_graph(length)
        self._recurrent.set_graph(
            "RNN",
            f"{recurrent.edges:,} edges = 2T − 1",
            _steps(recurrent.longest_path),
            recurrent.from_below,
            recurrent.from_before,
            words,
        )
        self._attention.set_graph(
            "attention",
            f"{attention.edges:,} edges = T(T + 1) / 2",
            _steps(attention.longest_path),
            attention.from_below,
            attention.from_before,
            words,
        )
        self._slider.show_value(length - 1, str(length))
        self._draw_curves(length)

    def _draw_curves(self, length: int) -> None:
        arrays = self.exported_arrays()
        self._curves.set_curves(
            [
                PlotCurve(name, arrays["T"], arrays[key], color)
                for name, key, color in (
                    ("attention", "attention", "accent"),
                    ("RNN", "recurrent", "value"),
                )
            ]
        )
        self._curves.set_cursor(float(length))
        configuration = self.session.scale.planned.configuration
        far, width = configuration.context, configuration.width
        self._far.setText(
            f"at T = {far:,}: {attention_edges(far):,} and {recurrent_edges(far):,}; for width {width:,} "
            f"scores cost more than matrices from T = 6d = {crossing(width):,} on"
        )

    def _words(self, length: int) -> tuple[str, ...]:
        """The words of the prefix, and numbers where it is shorter."""
        encoding = self.session.reading.encoding
        tokens = () if encoding is None else tuple(visible(token) for token in encoding.tokens[:length])
        return (*tokens, *(str(place + 1) for place in range(len(tokens), length)))


def _steps(steps: int) -> str:
    return f"{steps} step" + ("" if steps == 1 else "s in a row")
