"""All heads of all layers as thumbnails, with a badge for heads that match a known pattern."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.attention.long_text import LONG
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.attention_heads import CROSS, DECODER, ENCODER, Head
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import counted, percentage
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.matrix.mosaic import HeadMosaic
from lmviz.base.counting import numbered
from lmviz.inspection.alignment import alignment_thumbnails
from lmviz.inspection.attention import attention_layers, attention_place, signed_thumbnails, thumbnails
from lmviz.inspection.head_badges import HeadBadge, head_badges
from lmviz.inspection.intervention import Intervention, Where
from lmviz.inspection.recipes.recipe import arrays_recipe
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address, gradient_of

if TYPE_CHECKING:
    from lmviz.inspection.gradient import Gradient
    from lmviz.models.model import Model

KEY = Key("thumbnails")

OF = {CROSS: "to the source", ENCODER: "within the source", DECODER: "within the translation"}
"""What heads of a model that translates look at, in words."""

NO_HEADS = "Only a Transformer has heads: open one to see all of them."
NO_TEXT = "Type a text above to see all heads."
AT_ONCE = 200_000
"""Weights that are looked through within a millisecond or two, sooner than another thread would answer."""

NOTHING = np.zeros((0, 0, 1, 1), dtype=np.float32)


@dataclass(frozen=True)
class _Of:
    """What heads are drawn of: a reading, one attention of it, and gradients in the place of weights."""

    reading: Reading
    side: str
    gradients: Gradient | None

    @property
    def addresses(self) -> list[str]:
        """The weights of all layers that have heads."""
        return _addresses(self.reading.trace, self.side)


class HeadsPanel(Panel):
    """A click shows a head large, Ctrl+click adds it to those that are combined, a double click solos it."""

    draws = ("reading", "gradients")

    gives_way = 50

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._mosaic = HeadMosaic()
        self._mosaic.set_readout(self._read_out)
        self._of: _Of | None = None  # what is drawn, and so what is exported
        self.badges: tuple[tuple[HeadBadge, ...], ...] = ()  # what is known of each head, by layer
        self._together: tuple[Head, ...] = ()
        self._solo_head: Head | None = None
        self._card = self.add_card("All heads", "", scrolling(self._mosaic))
        self._mosaic.head_clicked.connect(self._choose)
        self._mosaic.head_toggled.connect(self._toggle)
        self._mosaic.head_double_clicked.connect(self._solo)
        for changed in (
            session.attention.head_changed,
            session.attention.heads_changed,
            session.surgery.changed,
        ):
            changed.connect(self._mark)
        self.follow(session.reading.changed, session.gradients.changed, session.library.model_changed)
        self.follow(session.attention.side_changed)

    def page_results(self) -> Sequence[Any]:
        from lmviz.pages.reading import PartOfTrace

        of = self._of
        return () if of is None or of.gradients is not None else (PartOfTrace(of.reading.trace, "attention"),)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        of = self._of
        if of is None:
            return {}
        if of.gradients is not None:
            return {gradient_of(address): of.gradients[address].array for address in of.addresses}
        return {address: of.reading.trace[address].array for address in of.addresses}

    def recipe(self) -> str:
        of = self._of
        if of is None or of.gradients is not None:
            return ""
        return arrays_recipe(of.reading.moment, of.addresses)

    def out_of_place(self, model: OpenedModel) -> str:
        if model.has_heads:
            return ""
        return f"{model.name} has no heads: open a Transformer to see all heads at once."

    def refresh(self) -> None:
        reading, side = self.session.reading.current, self.session.attention.side
        self.silence(KEY)
        if reading is None or not _addresses(reading.trace, side):
            is_known = reading is not None or self.session.library.model is None
            self._show_nothing(NO_HEADS if is_known else NO_TEXT)
            return
        trace, of = reading.trace, _Of(reading, side, self._gradients(reading, side))
        gradients, addresses = of.gradients, of.addresses

        def work(model: Model | None = None) -> tuple[np.ndarray, tuple[tuple[HeadBadge, ...], ...]]:
            badges = () if side == CROSS else head_badges(trace, side)
            if gradients is not None:
                return signed_thumbnails([gradients[address] for address in addresses]), badges
            return thumbnails(trace, side=side) if badges else alignment_thumbnails(trace), badges

        shapes = [trace[address].shape for address in addresses]
        if sum(math.prod(shape) for shape in shapes) <= AT_ONCE:
            self._draw_heads(of, work())
        else:
            self.ask(Question(KEY, reading, work), partial(self._draw_heads, of))

    def handle_failure(self, key: str) -> None:
        self._show_nothing("")

    def _show_nothing(self, sentence: str) -> None:
        self._of, self.badges = None, ()
        self._mosaic.set_heads(NOTHING)
        self._card.set_aside("")
        self._card.set_placeholder(sentence)

    def _gradients(self, reading: Reading, side: str) -> Gradient | None:
        """The gradients that are shown in the place of weights; None where weights are."""
        found = self.session.gradients.current
        if found is None or not all(address in found for address in _addresses(reading.trace, side)):
            return None
        return found

    def _draw_heads(self, of: _Of, found: tuple[np.ndarray, tuple[tuple[HeadBadge, ...], ...]]) -> None:
        self._of = of
        small, self.badges = found
        layers, heads = small.shape[:2]
        words = [[" · ".join(head.badges) for head in layer] for layer in self.badges]
        are_gradients = of.gradients is not None
        by_row = not are_gradients and len(of.reading.trace) >= LONG
        self._mosaic.set_heads(small, words, "signed" if are_gradients else "share", by_row=by_row)
        shown = "gradients" if are_gradients else "coloured by row" if by_row else ""
        size = f"{counted(layers, 'layer')} × {counted(heads, 'head')}"
        self._card.set_placeholder("")
        self._card.set_aside(" · ".join(filter(None, (shown, OF.get(of.side, ""), size))))
        self._mark()

    def _mark(self) -> None:
        self._mosaic.set_current(*self.session.attention.head)
        self._mosaic.set_chosen(self.session.attention.heads)
        off = [item for item in self.session.surgery.in_force if _is_zero(item) and "head" in item.where]
        self._mosaic.set_faded(
            {
                (layer, head)
                for layer, mixed in enumerate(self._mixed)
                for item in off
                if item.concerns(mixed)
                for head in _indices(item.where["head"], self._mosaic.grid[1])
            }
        )

    @property
    def _mixed(self) -> list[str]:
        """What the heads of each layer contribute, by address."""
        weights = [] if self._of is None else self._of.addresses
        return [Address.parse(address).beside("mixed") for address in weights]

    def _choose(self, layer: int, head: int) -> None:
        self._together = self.session.attention.heads or self._together
        self.session.attention.choose_heads(())
        self.session.attention.choose_head(layer, head)

    def _toggle(self, layer: int, head: int) -> None:
        self._solo_head = None
        chosen = set(self.session.attention.heads or (self.session.attention.head,))
        self.session.attention.choose_heads(chosen ^ {(layer, head)})

    def _solo(self, layer: int, head: int) -> None:
        """Show only this head; again, restore the previous selection, or select its whole layer."""
        if self._solo_head != (layer, head):
            self._choose(layer, head)
            self._solo_head = (layer, head)
            return
        layers, heads = self._mosaic.grid
        whole = [(layer, other) for other in range(heads)] if layer < layers else []
        self.session.attention.choose_heads(self._together or whole)
        self._solo_head, self._together = None, ()

    def _read_out(self, layer: int, head: int) -> tuple[str, list[str]]:
        """A head's name, and how much of its attention goes where heads with a name look."""
        found = [item for row in self.badges for item in row if (item.layer, item.head) == (layer, head)]
        scores = found[0].scores if found else {}
        lines = [f"{kind}: {percentage(score)}" for kind, score in scores.items() if score is not None]
        return f"layer {numbered(layer)}, head {numbered(head)}", lines


def _addresses(trace: Trace, side: str) -> list[str]:
    """The weights of all layers that have heads, in one attention."""
    if side == CROSS:
        return [address for address in trace.arrays if Address.parse(address).matches("**/cross/weights")]
    return [f"{attention_place(layer, side)}/weights" for layer in attention_layers(trace, side)]


def _is_zero(item: Intervention) -> bool:
    """Whether it sets what it concerns to 0."""
    return item.kind in ("replace", "scale") and not callable(item.value) and item.value == 0.0


def _indices(where: Where, count: int) -> set[int]:
    """The indices that are meant along an axis of `count`; negative ones count from the end."""
    if isinstance(where, slice):
        return set(range(count)[where])
    several = where if isinstance(where, tuple) else (where,)
    return {index % count for index in several if -count <= index < count}
