"""What one weight of attention is made of, channel by channel: its query and key, and the values it mixes."""

from __future__ import annotations

from lmviz.app.panels.shared.explained_strips import ExplainedStrips, NamedView
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.attention_heads import ENCODER
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.inspection.attention import attention_place
from lmviz.inspection.views import strip
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

OF_A_PAIR = ("products", "scaled", "scores", "weights")
"""The taps whose cells belong to a query and a key."""


class WeightStrips(ExplainedStrips):
    """`draw_head(reading)` draws query, key and value of the pair one looks at; `draw_nothing()` none.

    Which pair that is stays as it was while the pointer is on the strips themselves.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.setAccessibleName("query, key, value and the weighted sum of values")
        self._pair, self._side = (0, 0), ""
        self._drawn: object = None

    def draw_nothing(self) -> None:
        """No head is shown."""
        self.set_views([])
        self._drawn = None

    def draw_head(self, reading: Reading, side: str = "") -> None:
        """Draw the query, key and value of the chosen weight, and the weighted sum of values.

        `side` is "encoder" or "decoder" of a model that translates.
        """
        layer, head = self._session.attention.chosen_of(side)[0]
        place, trace, self._side = attention_place(layer, side), reading.trace, side
        if f"{place}/mixed" not in trace:
            return  # the new reading is of another family; the panel is redrawn next
        words = trace.names(trace[f"{place}/weights"].axes[1])
        last = len(words) - 1
        looked_at = self._pair_looked_at()
        query, key = self._pair = min(looked_at[0], last), min(looked_at[1], last)
        wanted = (reading, side, layer, head, query, key)
        if wanted == self._drawn:
            return
        self._drawn = wanted
        endings = ("_rotated", "_normed", "")  # the last step before queries meet keys
        made = next(ending for ending in endings if f"{place}/query{ending}" in trace.arrays)
        rows = (
            (f"q “{visible(words[query])}”", f"query{made}", query),
            (f"k “{visible(words[key])}”", f"key{made}", key),
            (f"v “{visible(words[key])}”", "value", key),
            ("Σ α v", "mixed", query),
        )
        self.set_views(
            [NamedView(name, strip(trace, f"{place}/{tap}", at, head, ())) for name, tap, at in rows],
            reading,
        )

    def _pair_looked_at(self) -> tuple[int, int]:
        """The query and key of the chosen weight; unchanged while the pointer is on their strips."""
        focus, reading = self._session.focus, self._session.reading
        position = source_position(self._session) if self._side == ENCODER else reading.position
        for cell in (focus.shown_cell, focus.cell):
            if cell is None:
                continue
            at = Address.parse(cell[0])
            if at.block == "attention" and at.side == self._side and at.name in OF_A_PAIR:
                return cell[1][1], cell[1][2]
            if self.shows(cell):
                return self._pair
        return position, position
