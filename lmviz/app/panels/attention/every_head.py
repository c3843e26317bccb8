"""Every head of a deep model on one screen, sorted by how much it looks where heads with a name look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.attention.long_text import LONG
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, sheet
from lmviz.app.widgets.base.figures import percentage, signed_figure
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.plain import InkedLabel, Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.matrix.head_wall import HeadWall
from lmviz.app.widgets.plots.score_strips import ScoreStrip, ScoreStrips
from lmviz.base.counting import head_name, numbered
from lmviz.inspection.attention import attention_layers, thumbnails
from lmviz.inspection.head_badges import DUPLICATE, FIRST, INDUCTION, PREVIOUS, REST, HeadBadge, head_badges
from lmviz.inspection.recipes.recipe import badges_recipe
from lmviz.looks.ink import Inked
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("every head")
EFFECTS = Key("effect of every head")
EFFECT = "effect on the answer"
SHOWN = {"all of them": 0.0, "a tenth of the highest and more": 0.1, "half of the highest and more": 0.5}
"""Which heads are drawn, by the part of the highest score that they have at least."""

KINDS = {
    "previous word": PREVIOUS,
    "the same word before": DUPLICATE,
    "what followed it": INDUCTION,
    "first word": FIRST,
    "one other word": REST,
}
"""The kinds of heads in words, as one sorts by them."""

COLORS = {
    PREVIOUS: "query",
    DUPLICATE: "value",
    INDUCTION: "key",
    FIRST: "muted_text",
    REST: "muted_text",
}
"""The colours of the scores."""

SIGNS = {
    PREVIOUS: ("←", COLORS[PREVIOUS]),
    DUPLICATE: ("=", COLORS[DUPLICATE]),
    INDUCTION: ("i", COLORS[INDUCTION]),
}
"""What is drawn of a badge, and explained above the heads. Those that rest on the first word are pale but for
one column, and say it so."""

PLACES = {
    PREVIOUS: "the word before",
    DUPLICATE: "the same word before",
    INDUCTION: "what followed the same word",
    FIRST: "the first word",
    REST: "one other word",
}
"""Where heads of a kind look."""

OF_A_LONG_TEXT = " The text is long: the largest weight of each row has the strongest colour."
NAMED = 3  # words on which heads rest
BY_LAYER = "by layer"
NO_TEXT = "Type a text above to see every head."
NOTHING = np.zeros((0, 0, 1, 1), dtype=np.float32)


class EveryHeadPanel(Panel):
    """A click shows a head large; the list sorts them, and then the chosen one has its place among all below.

    By layer all heads have the whole room, so that they are on one screen.
    """

    draws = ("reading",)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.wall = HeadWall()  # the heads
        self.wall.set_readout(self._read_out)
        self._reading: Reading | None = None  # what is drawn is of
        self._badges: tuple[tuple[HeadBadge, ...], ...] = ()
        self._sort = picker("sort_heads_picker", "the order of heads", [BY_LAYER, *KINDS, EFFECT])
        self._shown = picker("shown_heads_picker", "which heads are drawn", SHOWN)
        self._effects: np.ndarray | None = None  # without each head (layer, head), how far the answer moves
        self._said_of = ""  # the answer
        self._signs = InkedLabel(name="head_signs", role="muted", wraps=True)
        self._resting = Label(name="resting_heads_sentence", role="muted", wraps=True)
        self._strips = named(ScoreStrips(), "head_score_strips")
        self._strips.set_readout(self._read_out_strip)
        self._chosen = Label(name="chosen_head_name")
        self._among = sheet(column(self._chosen, self._strips, gap=2))
        body = column(self._signs, self._resting, (scrolling(self.wall), 1), self._among)
        self._card = self.add_card("Every head", FittingRow((self._sort, self._shown), (self._shown,)), body)
        self.wall.head_clicked.connect(self._choose)
        self._strips.part_clicked.connect(self._choose_place)
        self._sort.currentTextChanged.connect(self._order)
        self._shown.currentTextChanged.connect(self._order)
        session.attention.head_changed.connect(self._mark)
        self.follow(session.reading.changed, session.library.model_changed)

    def scores(self, kind: str) -> np.ndarray:
        """How much each head (layer, head) looks where heads of a kind do; NaN where the text cannot tell."""
        return np.array(
            [
                [np.nan if (score := head.scores[kind]) is None else score for head in layer]
                for layer in self._badges
            ]
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        arrays = {name.replace(" ", "_"): self.scores(kind) for name, kind in KINDS.items() if self._badges}
        return arrays if self._effects is None else arrays | {"effect": self._effects}

    def recipe(self) -> str:
        return badges_recipe(self._reading.moment) if self._reading is not None and self._badges else ""

    def out_of_place(self, model: OpenedModel) -> str:
        if not model.has_heads:
            return f"{model.name} has no heads: open a Transformer to sort them."
        if model.reads_source:
            return f"{model.name} reads a source as well: All heads, at the left, shows its heads."
        return ""

    def refresh(self) -> None:
        reading = self.session.reading.current
        self.silence(KEY)
        self.silence(EFFECTS)
        if reading is None or not attention_layers(reading.trace):
            self._reading, self._badges, self._effects = None, (), None
            self.wall.set_heads(NOTHING, {})
            self._strips.set_strips(())
            self._among.hide()
            self._card.set_placeholder(NO_TEXT)
            return
        trace = reading.trace
        self.ask(
            Question(KEY, reading, lambda model: (thumbnails(trace), head_badges(trace))),
            partial(self._show_heads, reading),
        )

    def _show_heads(
        self, reading: Reading, found: tuple[np.ndarray, tuple[tuple[HeadBadge, ...], ...]]
    ) -> None:
        self._reading, self._effects = reading, None
        small, self._badges = found
        signs = {
            (head.layer, head.head): next(SIGNS[kind] for kind in head.badges if kind in SIGNS)
            for layer in self._badges
            for head in layer
            if SIGNS.keys() & set(head.badges)
        }
        self._card.set_placeholder("")
        by_row = len(reading.trace) >= LONG
        self.wall.set_heads(small, signs, by_row=by_row)
        of_units = self.of_units
        for at, name in enumerate(KINDS, start=1):
            self._sort.setItemText(at, of_units(name))
        self._signs.set_pieces(_legend(Counter(sign for sign, _ in signs.values()), of_units))
        self._signs.setVisible(bool(signs))
        self._resting.setText(f"{self._sentence()}{OF_A_LONG_TEXT if by_row else ''}")
        self._strips.set_strips(
            [
                ScoreStrip(of_units(name), self.scores(kind).ravel(), COLORS[kind])
                for name, kind in KINDS.items()
            ]
        )
        self._draw_order(None, "")  # what the last text was sorted by is not known of this one
        self._order()
        self._mark()

    def _sentence(self) -> str:
        """How many heads rest, and on which words."""
        heads = [head for layer in self._badges for head in layer]
        on = Counter(head.rests_on for head in heads if head.rests_on is not None)
        reading = self._reading
        if not on or reading is None:
            return self.of_units(f"None of the {len(heads)} heads looks mostly at one word.")
        parts = []
        for position, count in on.most_common(NAMED):
            word = visible(reading.trace.tokens[position])
            first = self.of_units("the first word")
            parts.append(f"{count} at {first}" if position == 0 else f"{count} at “{word}”")
        rest = sum(on.values())
        mostly = self.of_units("look mostly at one word")
        said = f"{rest} of {len(heads)} heads {mostly}: {', '.join(parts)}"
        return f"{said}." if len(on) <= NAMED else f"{said}, the rest at others."

    def _order(self) -> None:
        index = max(self._sort.currentIndex(), 0)
        by_effect = index == len(KINDS) + 1
        kind = [None, *KINDS.values(), None][index]
        self._shown.setEnabled(index > 0)
        if by_effect and self._badges and self._effects is None:
            self._ask_effects()
            return
        if by_effect and self._effects is not None:
            self._draw_order(np.abs(self._effects), f"By how far {self._said_of} moves without them")
        elif kind is not None and self._badges:
            self._draw_order(self.scores(kind), f"By how much they look at {PLACES[kind]}")
        else:
            self._draw_order(None, "")
        self._among.setVisible(kind is not None and bool(self._badges))

    def _draw_order(self, scores: np.ndarray | None, sorted_by: str) -> None:
        """Put the heads into the order of their scores, or by layer, and say so."""
        if self._badges:
            self._card.set_title(self.of_units(sorted_by) or f"All {sum(map(len, self._badges))} heads")
        self.wall.sort_by(scores, SHOWN[self._shown.currentText()])

    def _ask_effects(self) -> None:
        """Measure the answer without each head in turn, at its mean over the text."""
        reading = self._reading
        if reading is None:
            return
        text, changes = reading.question.text, reading.question.interventions

        def work(model: Model) -> tuple[np.ndarray, str]:
            from lmviz.circuits.ablation import ablate
            from lmviz.circuits.contrast import Contrast
            from lmviz.circuits.read_contrast import measured_contrast

            asked = measured_contrast(model, Contrast(text, None, ""), changes)
            return ablate(model, asked.contrast, by="mean", interventions=changes).array, asked.said

        def take(found: tuple[np.ndarray, str]) -> None:
            self._effects, self._said_of = found
            self._order()

        self.ask(Question(EFFECTS, reading, work), take)

    def _mark(self) -> None:
        layer, head = self.session.attention.head
        self.wall.set_current(layer, head)
        inside = layer < len(self._badges) and head < len(self._badges[layer])
        count = sum(map(len, self._badges))
        self._chosen.setText(f"Head {head_name(layer, head)} among all {count}" if inside else "")
        self._strips.set_current(layer * len(self._badges[layer]) + head if inside else -1)

    def _choose(self, layer: int, head: int) -> None:
        self.session.attention.choose_heads(())
        self.session.attention.choose_head(layer, head)

    def _choose_place(self, place: tuple[int, int]) -> None:
        self._choose(*divmod(place[1], len(self._badges[0])))

    def _read_out_strip(self, strip: int, part: int) -> tuple[str, list[str]]:
        return self._read_out(*divmod(part, len(self._badges[0])))

    def _read_out(self, layer: int, head: int) -> tuple[str, list[str]]:
        """A head's name, its scores, and how many have a higher one."""
        lines = []
        if self._effects is not None:
            lines.append(f"without it {self._said_of} changes by {signed_figure(self._effects[layer, head])}")
        for name, kind in KINDS.items():
            scores = self.scores(kind)
            own = scores[layer, head]
            if not np.isnan(own):
                rank = 1 + int((scores > own).sum())
                named = self.of_units(name)
                lines.append(f"{named}: {percentage(float(own))}, rank {rank} of {scores.size}")
        return f"layer {numbered(layer)}, head {numbered(head)}", lines


def _legend(counts: Mapping[str, int], of_units: Callable[[str], str]) -> list[Inked]:
    """What the signs mean that are drawn, and how many there are of each."""
    pieces: list[Inked] = []
    for name, kind in KINDS.items():
        sign, role = SIGNS.get(kind, ("", ""))
        if counts.get(sign):
            ink = role
            pieces += [
                Inked(" · " if pieces else ""),
                Inked(sign, True, ink),
                Inked(f" {of_units(name)}: {counts[sign]}"),
            ]
    return pieces
