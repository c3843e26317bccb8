"""Matrices: one heatmap, all heads as a mosaic, vectors as strips."""

from __future__ import annotations

import numpy as np
from gallery import Exhibit, show
from PySide6.QtWidgets import QHBoxLayout, QWidget

from lmviz.app.widgets.matrix.confusion_grid import ConfusionGrid
from lmviz.app.widgets.matrix.head_wall import HeadWall
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.app.widgets.matrix.operation_view import OperationView
from lmviz.app.widgets.matrix.pixel_grid import PixelGrid
from lmviz.app.widgets.matrix.sized_cells import SizedCells
from lmviz.app.widgets.matrix.strips import Strip, StripList
from lmviz.inspection.operation_picture import Band, BandGroup, OperationPicture
from lmviz.text.pictures import SIDE, pixels_of

WORDS = ("The", "bat", "made", "noise", "at", "night", "and", "the")
PICTURE = "..###../..#.#../..###../......./...#.../..#.#../...#..."


def heatmap() -> QWidget:
    """The attention of one head; what is masked stays empty."""
    seen = np.tri(len(WORDS), dtype=bool)
    powers = np.where(seen, np.exp(np.random.default_rng(3).normal(0, 2, seen.shape)), 0)
    weights = np.where(seen, powers / powers.sum(axis=1, keepdims=True), -np.inf)
    view = HeatmapView()
    view.set_matrix(weights, scale="share", rows=WORDS, columns=WORDS)
    view.set_style(square=True, column_role="key")
    view.set_selection(row=5)
    return view


def words_by_layer() -> QWidget:
    """Since which layer the likeliest word is the one said in the end."""
    said = [["a", "the", "of"], ["bat", "the", "of"], ["bat", "the", "night"], ["bat", "cave", "night"]]
    shares = np.array([[0.0, 0.1, 0.0], [0.3, 0.1, 0.1], [0.7, 0.2, 0.5], [0.9, 0.6, 0.8]])
    view = HeatmapView()
    view.set_matrix(shares, scale="share", limit=1.0, rows="1234", columns=WORDS[:3], words=said)
    view.set_stairs([1, 3, 2], "from here on it is the final word")
    view.set_selection(column=1)
    view.set_notes("%", [f"{100 * share:.0f}" for share in shares[:, 1]])
    return view


def mosaic() -> QWidget:
    """Four layers of four heads, two of which do something plain."""
    scores = np.random.default_rng(0).normal(0, 2, (4, 4, 10, 10))
    scores[0, 0] += 6 * np.eye(10, k=-1)
    scores[0, 3, :, 0] += 8
    weights = np.where(np.tri(10, dtype=bool), np.exp(scores), 0)
    weights /= weights.sum(axis=-1, keepdims=True)
    view = HeadMosaic()
    view.set_heads(weights, [["previous", "", "", "first"], *[["", "", "induction", ""]] * 3])
    view.set_current(1, 2)
    view.set_faded([(2, 1)])
    return view


def wall() -> QWidget:
    """Thirty layers of nine heads, the surest first."""
    weights = np.random.default_rng(5).dirichlet([0.3] * 6, (30, 9, 6))  # (layer, head, query, key)
    view = HeadWall()
    view.set_heads(weights, {(2, 3): ("I", "key")})
    view.sort_by(weights.max(axis=-1).mean(axis=-1))
    view.set_current(2, 3)
    return view


def strips() -> QWidget:
    """The gates and states that make a new cell state."""
    view = StripList()
    chance = np.random.default_rng(0)

    def gate(name: str, role: str = "operand") -> Strip:
        return Strip(name, chance.random(48), "share", role=role)

    def state(name: str, role: str = "operand") -> Strip:
        return Strip(name, np.tanh(chance.normal(size=48)), "signed", 1.0, role)

    gates, states = [gate("forget f"), gate("input i")], [state("candidate"), state("cell c₅")]
    view.set_strips([*gates, *states, state("cell c₆", "result"), gate("output o", "other")])
    view.set_marks([(4, 17), (0, 17), (1, 17)])
    return view


def operation() -> QWidget:
    """A row of the operand over a row of the matrix, their products, and the cell they make."""
    chance = np.random.default_rng(4)
    state, weights = chance.normal(size=48), chance.normal(0, 0.3, 48)
    products = state * weights
    bands = (
        Band("", "norm 1 of “night”", state),
        Band("×", "weights", weights),
        Band("=", "products", products),
    )
    bias = BandGroup("bias", (Band("", "bias", np.array([0.17])),), 0.17)
    total = float(products.sum())
    view = OperationView()
    row = BandGroup("input", bands, total)
    view.set_picture(OperationPicture((row, bias), "sum", total + 0.17, "signed"), dashed=True)
    return view


def confusion() -> QWidget:
    """Twenty tags, of which two were missed."""
    grid = ConfusionGrid()
    counts = np.array([[10, 0, 0, 0], [1, 3, 1, 0], [0, 0, 3, 0], [0, 0, 0, 2]])
    grid.set_counts(counts, ["n", "v", "p", "d"])
    grid.set_cell(1, 0)
    return grid


def pixels() -> QWidget:
    """A picture that can be painted, and beside it the same, coloured by a number for each pixel."""
    painted, colored = PixelGrid(SIDE), PixelGrid(SIDE)
    painted.set_editable()
    for grid in (painted, colored):
        grid.set_pixels(pixels_of(PICTURE))
    colored.set_values(np.random.default_rng(7).normal(size=SIDE * SIDE), 2.0)
    both = QWidget()
    row = QHBoxLayout(both)
    row.addWidget(painted)
    row.addWidget(colored)
    return both


def sized_cells() -> QWidget:
    """Heads by layers: the colour is the mean effect, the size in how many texts it has that sign."""
    cells, chance = SizedCells(), np.random.default_rng(5)
    values = chance.normal(size=(9, 30)) ** 3
    sizes = chance.random((9, 30))
    rows, columns = [str(at + 1) for at in range(9)], [str(at + 1) for at in range(30)]
    cells.set_cells(values, sizes, rows, columns, ("head", "layer"))
    cells.set_marks(int(values.argmin()), int(values.argmax()))
    return cells


EXHIBITS = (
    Exhibit("Without one part", "60 texts", sized_cells, (560, 220)),
    Exhibit("A picture and its gradient", "7 × 7", pixels, (280, 170)),
    Exhibit("Confusion", "18 of 20 tags", confusion, (300, 270)),
    Exhibit("Layer 2, head 3", "softmax", heatmap, (520, 500)),
    Exhibit("If it stopped here", "probability of the final word", words_by_layer, (520, 260)),
    Exhibit("All heads", "4 layers × 4 heads", mosaic, (350, 400)),
    Exhibit("Every head", "30 layers × 9 heads", wall, (520, 400)),
    Exhibit("Stage 5 of 9 · New cell state", "layer 1 · position 6 “night”", strips, (420, 240)),
    Exhibit("Queries", "layer 1 · head 4", operation, (420, 210)),
)

if __name__ == "__main__":
    show(EXHIBITS)
