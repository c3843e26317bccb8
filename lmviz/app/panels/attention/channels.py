"""The heads of a layer as channels of a convolution: what each weights at each offset."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QHideEvent

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.attention_heads import CROSS, ENCODER
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import brief_percentage, counted, percentage, plain, whole_percentage
from lmviz.base.counting import numbered
from lmviz.inspection.attention import attention_layers, attention_place, weights_at
from lmviz.inspection.names import told_apart
from lmviz.inspection.recipes.recipe import arguments_of, recipe_of, traced
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Matrix, Picker, SideBySide
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.head_kernels import HeadKernels
    from lmviz.models.model import Model

SIZES = {"3 offsets": 3, "5 offsets": 5, "9 offsets": 9, "17 offsets": 17, "all offsets": None}
"""The sizes of kernels that can be chosen, in words."""

NEARLY, HARDLY = 0.9, 0.5
"""Shares from which on a head is nearly a convolution, and below which it is none."""

MOST_OFFSETS, MOST_HEADS, MOST_WORDS = 9, 12, 14
"""So many have room for weights that are written into cells."""

NO_TEXT = "Type a text above to see the heads of a layer as channels."
ACROSS = (
    "From the translation at the source there is no offset: each text has places of its own. In Attention "
    "choose “within the source” or “within the translation”."
)

TOLD = (
    "A channel of a convolution weights each offset alike at every word; a head weights it by the words. The "
    "head's mean weight at each offset makes a kernel of fixed weights. Kept is how much of what the head "
    "writes that kernel would write, by the sum of squares. A kernel sees zeros beyond the ends of the text."
)

SIZE = Picker("kernel_size_picker", says="how many offsets a kernel has", choices=tuple(SIZES))
KERNELS = Matrix("channels_matrix", says="mean weight of each head at each offset", scale="share", share=1)
WEIGHTS = Matrix("offset_matrix", says="weights at one offset over the text", scale="share", share=1)

BOTH = SideBySide("", first=KERNELS, second=WEIGHTS, shares=(5, 6), share=1)


class ChannelsPanel(AskingPanel[Reading, "HeadKernels"]):
    """A click chooses head and offset, and lights that diagonal of its matrix; a second one lets go."""

    title = "Heads as channels"
    key = Key("channels")
    draws = ("reading",)
    follows = (
        "reading.changed",
        "library.model_changed",
        "attention.head_changed",
        "attention.side_changed",
        "attention.offset_changed",
        "focus.position_changed",
        "focus.hovered_position_changed",
        "focus.source_changed",
    )
    parts = (KERNELS, WEIGHTS, SIZE)
    begins_bare = True  # In the text, whose place it shares, is as low

    _size = 2  # its place among the sizes

    def out_of_place(self, model: OpenedModel) -> str:
        if model.has_heads:
            return ""
        return f"{model.name} has no heads: open a Transformer to see them as channels of a convolution."

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.session.attention.choose_offset(None)

    def question(self) -> Question[Reading, HeadKernels] | Look:
        reading, side = self.session.reading.current, self.session.attention.side
        if side == CROSS:
            return Look(self.parts, instead=ACROSS)
        layers = () if reading is None else attention_layers(reading.trace, side)
        if reading is None or not layers:
            return Look(self.parts, instead=NO_TEXT)
        trace, size = reading.trace, list(SIZES.values())[self._size]
        layer = min(self.session.attention.head[0], len(layers) - 1)

        def work(model: Model) -> HeadKernels:
            from lmviz.circuits.head_kernels import kernels_of

            return kernels_of(model, trace, layer, side=side, size=size)

        return Question(self.key, reading, work, about=(layer, side, size))

    def look(self, reading: Reading, found: HeadKernels) -> Look:
        offsets = found.offsets.tolist()
        head = min(self.session.attention.head[1], len(found.array) - 1)
        chosen = self.session.attention.offset
        column = offsets.index(chosen) if chosen in offsets else -1
        shown = column if column >= 0 else int(found.array[head].argmax())
        heads = [str(numbered(each)) for each in range(len(found.array))]
        written = [[brief_percentage(weight) for weight in row] for row in found.array.tolist()]
        kernels = replace(
            KERNELS,
            values=found.array,
            limit=1.0,
            rows=heads,
            columns=[_signed(offset) for offset in offsets],
            words=written if len(offsets) <= MOST_OFFSETS and len(heads) <= MOST_HEADS else (),
            row=head,
            pinned=(head, column) if column >= 0 else None,
            notes=[_kept(share) for share in found.shares.tolist()],
            notes_title="kept",
            readout=lambda row, at: self._read_out(reading, found, row, at),
            clicked=lambda row, at: self._choose(found, row, at),
        )
        size = list(SIZES.values())[self._size]
        asked = arguments_of(found.layer, **({"side": found.side} if found.side else {}), size=size)
        return Look(
            (replace(BOTH, first=kernels, second=self._weights(reading, found, head, shown)),),
            title=f"Layer {numbered(found.layer)}: heads as channels",
            aside=_sentence(found, head),
            aside_tip=f"{TOLD}\n\n{_sum(found)}",
            head=(replace(SIZE, chosen=self._size, chose=self._resize),),
            arrays={"weights": found.array, "shares": found.shares},
            names=Names(heads, list(map(str, offsets))),
            recipe=recipe_of(
                reading.moment,
                *traced(reading.moment),
                f"found = kernels_of(model, trace, {asked})",
                "weights, shares = found.array, found.shares",
                imports=("from lmviz.circuits.head_kernels import kernels_of",),
            ),
        )

    def _weights(self, reading: Reading, found: HeadKernels, head: int, column: int) -> Matrix:
        """What the head weights on the diagonal, word by word, and below it what a fixed kernel does."""
        own = _diagonal(reading, found, head, int(found.offsets[column]))
        fixed = np.where(np.isnan(own), np.nan, found.array[head, column])
        values = np.where(np.isnan(own), -np.inf, np.stack([own, fixed])).astype(np.float32)
        tokens, place = _tokens(reading, found), self._position(found)
        written = [[brief_percentage(weight) if weight >= 0 else "" for weight in row] for row in values]
        return replace(
            WEIGHTS,
            values=values,
            limit=1.0,
            rows=(f"head {numbered(head)} at {_signed(int(found.offsets[column]))}", "fixed weight"),
            columns=told_apart(tuple(map(visible, tokens))),
            words=written if len(tokens) <= MOST_WORDS else (),
            column=place if place < len(tokens) else -1,
            readout=lambda row, at: self._read_out_word(reading, found, head, column, at),
            clicked=lambda row, at: self._look_from(found, at),
        )

    def _position(self, found: HeadKernels) -> int:
        """The position one looks at, of the source where the heads look within it."""
        return source_position(self.session) if found.side == ENCODER else self.session.reading.position

    def _look_from(self, found: HeadKernels, position: int) -> None:
        if found.side == ENCODER:
            self.session.focus.choose_source(position)
        else:
            self.session.focus.choose_position(position)

    def _read_out_word(
        self, reading: Reading, found: HeadKernels, head: int, column: int, position: int
    ) -> tuple[str, list[str]]:
        offset, tokens = int(found.offsets[column]), _tokens(reading, found)
        looking = visible(tokens[position])
        if not 0 <= position + offset < len(tokens):
            return f"nothing {_place(offset)}", [f"of “{looking}”"]
        weight = float(_diagonal(reading, found, head, offset)[position])
        mean = percentage(float(found.array[head, column]))
        said = f"“{looking}” looks at “{visible(tokens[position + offset])}”"
        return percentage(weight), [said, f"a fixed weight: {mean}"]

    def _read_out(
        self, reading: Reading, found: HeadKernels, head: int, column: int
    ) -> tuple[str, list[str]]:
        offset, position = int(found.offsets[column]), self._position(found)
        lines = [f"mean over {counted(int(found.positions[column]), 'position')}"]
        weights = _diagonal(reading, found, head, offset)
        if position < len(weights) and not np.isnan(weights[position]):
            tokens = _tokens(reading, found)
            looking, seen = visible(tokens[position]), visible(tokens[position + offset])
            lines.append(f"“{looking}” looks at “{seen}”: {percentage(float(weights[position]))}")
        weight = percentage(float(found.array[head, column]))
        return f"head {numbered(head)}, {_place(offset)}: {weight}", lines

    def _choose(self, found: HeadKernels, head: int, column: int) -> None:
        attention, offset = self.session.attention, int(found.offsets[column])
        again = (attention.head, attention.offset) == ((found.layer, head), offset)
        attention.choose_heads(())
        attention.choose_head(found.layer, head)
        attention.choose_offset(None if again else offset)

    def _resize(self, place: int) -> None:
        self._size = place
        self.refresh_soon()


def _tokens(reading: Reading, found: HeadKernels) -> tuple[str, ...]:
    return tuple(reading.trace.names("source_query" if found.side == ENCODER else "query"))


def _diagonal(reading: Reading, found: HeadKernels, head: int, offset: int) -> np.ndarray:
    """The weights of one head at an offset, (position,); NaN where the text has no such neighbour."""
    weights = reading.trace[f"{attention_place(found.layer, found.side)}/weights"].at(head=head)
    return weights_at(weights, offset)


def _signed(offset: int) -> str:
    return f"{offset:+d}".replace("-", "−") if offset else "0"


def _place(offset: int) -> str:
    """Where an offset is, in words."""
    if not offset:
        return "on the word itself"
    return f"{counted(abs(offset), 'word')} {'back' if offset < 0 else 'ahead'}"


def _kept(share: float) -> str:
    if np.isnan(share):
        return "–"
    return "none" if share <= 0 else whole_percentage(share)


def _sentence(found: HeadKernels, head: int) -> str:
    """Whether the chosen head is a convolution, and by how much."""
    share, name = float(found.shares[head]), f"Head {numbered(head)}"
    if np.isnan(share):
        return f"{name} writes nothing here"
    if share <= 0:
        return f"{name} is no convolution: fixed weights are further off from what it writes than nothing is"
    given = f"fixed weights keep {whole_percentage(share)} of what it writes"
    if share >= NEARLY:
        return f"{name} is nearly a convolution: {given}"
    if share < HARDLY:
        return f"{name} weights by the words: {given}"
    return f"{name} is partly a convolution: {given}"


def _sum(found: HeadKernels) -> str:
    missed = plain(found.difference, 2)
    if found.is_exact:
        return (
            "With the weights of each word, the sum over heads and offsets of weight × value, through the "
            f"output matrix and with its bias, is what the layer writes: it misses that by {missed} at most."
        )
    return f"A change in force puts what the layer writes up to {missed} away from the sum over its heads."
