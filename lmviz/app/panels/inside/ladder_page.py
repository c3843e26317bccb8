"""The picture of an n-gram model: its back-off as a ladder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.inside.page import Page, choose, read_out, stage_of, word
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key
from lmviz.app.session.focus import Cell
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.widgets.diagrams.ladder import LadderView
from lmviz.app.widgets.diagrams.ladder_parts import (
    LadderBar,
    LadderPicture,
    LadderRung,
    MixtureColumn,
    MixtureWord,
)
from lmviz.app.widgets.kit.picture import Spot
from lmviz.inspection.backoff_ladder import (
    Ladder,
    Rung,
    back_off_ladder,
    has_ladder,
    longest_seen,
    orders_of,
    weights_over_text,
)
from lmviz.inspection.remarks import orders_remark
from lmviz.inspection.trace import Trace
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model


class LadderPage(Page[Ladder, LadderView]):
    """Asks for the ladder at the shown word; a click on a rung goes to its stage."""

    key = Key("ladder")

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel, LadderView())
        self._cells: dict[str, Cell] = {}
        panel.session.focus.cell_changed.connect(self._follow_word)

    def fits(self, trace: Trace) -> bool:
        """Whether the model has counted n-grams."""
        return has_ladder(trace)

    def title(self, reading: Reading, position: int) -> tuple[str, str]:
        aside = "counts have no gradient" if self._session.gradients.is_shown else "dashed: the discount"
        return f"Back-off ladder, at “{visible(reading.trace.tokens[position])}”", aside

    def addresses(self, trace: Trace) -> list[str]:
        names = ("counts", "total", "backoff", "weight", "probabilities")
        return [
            str(at) for at in map(Address.parse, trace.arrays) if at.order is not None and at.name in names
        ]

    def _draw_nothing(self) -> None:
        self.view.set_ladder(LadderPicture(), -1)

    def _work(self, reading: Reading, position: int) -> Callable[[Model], Ladder]:
        wanted = self._word(reading, position)

        def work(model: Model) -> Ladder:
            return back_off_ladder(model, reading.trace, position, () if wanted is None else (wanted,))

        return work

    def remark(self, reading: Reading) -> str:
        return (
            ""
            if self.shown is None
            else orders_remark(reading.trace, self.shown.position, reading.model.tokenizer.noun)
        )

    def mark(self, reading: Reading) -> None:
        """Mark the rung of the stage, and write into it how the word gets its probability there."""
        order = Address.parse(reading.trace.stages[self._session.focus.stage].place).order or 0
        formula = ""
        if order and self._drawn is not None and self._drawn[0] is reading:
            formula = self._formula(reading, self._drawn[1], order)
        self.view.set_current(order, formula)

    def _word(self, reading: Reading, position: int) -> int | None:
        """The word that a pinned cell of the position is about."""
        cell = self._session.focus.cell
        if (
            cell is None
            or not reading.has_cell(*cell)
            or reading.trace[cell[0]].axes != ("position", "token")
        ):
            return None
        return cell[1][1] if cell[1][0] == position else None

    def _follow_word(self) -> None:
        reading = self._session.reading.current
        if self._drawn is not None and reading is self._drawn[0]:
            self.show(self.question(reading, self._drawn[1].position))

    def _draw(self, reading: Reading, ladder: Ladder) -> None:
        self._cells = {}
        weights, longest = weights_over_text(reading.trace), longest_seen(reading.trace)
        columns = tuple(
            MixtureColumn(
                f"position {at}", visible(token), int(longest[at]), tuple(map(float, weights[:, at]))
            )
            for at, token in enumerate(reading.trace.tokens)
        )
        noun = reading.model.tokenizer.noun
        title = reading.trace.stages[stage_of(reading.trace, f"orders/{ladder.rungs[-1].order}/counts")].title
        self.view.set_ladder(
            LadderPicture(
                tuple(self._rung(reading, ladder, rung) for rung in ladder.rungs),
                (f"every one of {count(ladder.alike)} {noun}s alike", ladder.ground),
                self._words(reading, ladder),
                columns,
                title,
            ),
            ladder.position,
        )

    def _rung(self, reading: Reading, ladder: Ladder, rung: Rung) -> LadderRung:
        place, at = f"orders/{rung.order}", ladder.position
        for name, tap in (("total", "total"), ("share", "weight"), ("fall", "backoff")):
            self._cells[f"{name} {rung.order}"] = (f"{place}/{tap}", (at,))
        bars = []
        for id, counted, discount in zip(rung.ids, rung.counts, rung.discounts, strict=True):
            key = f"count {rung.order} {id}"
            self._cells[key] = (f"{place}/counts", (at, int(id)))
            bars.append(LadderBar(key, word(reading, int(id)), float(counted), float(discount)))
        # Where orders are not chained, what the first one leaves falls past the others.
        falling = rung.falling if ladder.is_chained else ladder.rungs[0].falling
        is_whole = len(rung.context) == rung.order - 1
        why_not = "" if rung.is_seen else "never seen" if is_whole else "the text is too short"
        if not rung.is_seen and rung.arriving:
            why_not += ": all falls to the next rung"
        return LadderRung(
            order=rung.order,
            slots=rung.order - 1,
            context=tuple(word(reading, id) for id in rung.context),
            why_not=why_not,
            bars=tuple(bars),
            total=rung.total,
            kinds=rung.kinds,
            arriving=rung.arriving,
            share=rung.share,
            falling=falling,
        )

    def _words(self, reading: Reading, ladder: Ladder) -> tuple[MixtureWord, ...]:
        marked, words = self._about(ladder), []
        for place in sorted(range(len(ladder.ids)), key=lambda place: (ladder.ids[place] != marked, place)):
            id, key = int(ladder.ids[place]), f"word {ladder.ids[place]}"
            self._cells[key] = ("probabilities", (ladder.position, id))
            parts = tuple(map(float, ladder.parts[:, place]))
            words.append(
                MixtureWord(key, word(reading, id), float(ladder.probabilities[place]), parts, id == marked)
            )
        is_listed = marked in ladder.ids[:3].tolist()
        return tuple(sorted(words, key=lambda one: -one.probability)) if is_listed else tuple(words)

    def _about(self, ladder: Ladder) -> int:
        """The word that the formula is about: that of the pinned cell, else the likeliest."""
        reading = self._session.reading.current
        pinned = None if reading is None else self._word(reading, ladder.position)
        return int(ladder.ids[0]) if pinned is None or pinned not in ladder.ids.tolist() else pinned

    def _formula(self, reading: Reading, ladder: Ladder, order: int) -> str:
        """How a word gets its probability on a rung, in numbers."""
        rung = next(rung for rung in ladder.rungs if rung.order == order)
        id = self._about(ladder)
        result = float(reading.trace[f"orders/{order}/probabilities"].array[ladder.position, id])
        if not rung.arriving and order != ladder.rungs[0].order:
            return f"{word(reading, id)}: not asked"
        lower = f"orders/{order - 1}/probabilities"
        below = (
            float(reading.trace[lower].array[ladder.position, id])
            if lower in reading.trace
            else 1 / ladder.alike
        )
        backoff = float(reading.trace[f"orders/{order}/backoff"].array[ladder.position])
        if not rung.is_seen:
            return f"{word(reading, id)}: {percentage(result)}, as the rung below says"
        row, place = ladder.rungs.index(rung), ladder.ids.tolist().index(id)
        counted, taken = float(ladder.counts[row, place]), float(ladder.discounts[row, place])
        own = f"({counted:g} − {number(taken)})" if taken else f"{counted:g}"
        return (
            f"{word(reading, id)}: {own} / {rung.total:g} + {number(backoff)} × {percentage(below)}"
            f" = {percentage(result)}"
        )

    def _hover(self, spot: Spot | None) -> None:
        super()._hover(spot)
        key = "" if spot is None else spot.key
        at = int(key.removeprefix("position ")) if key.startswith("position ") else None
        self._session.focus.hover_position(at)

    def _cell_at(self, spot: Spot | None) -> Cell | None:
        return None if spot is None else self._cells.get(spot.key)

    def _choose(self, spot: Spot) -> None:
        kind, _, rest = spot.key.partition(" ")
        if kind == "position":
            self._session.focus.choose_position(int(rest))
        elif kind == "rung":
            choose(self._session, f"orders/{rest}/counts")
        elif spot.key in self._cells:
            choose(self._session, self._cells[spot.key][0], self._cells[spot.key])

    def _read_out(self, spot: Spot) -> tuple[str, Sequence[str]]:
        if self._drawn is None:
            return "", []
        reading, ladder = self._drawn
        kind, _, rest = spot.key.partition(" ")
        if kind == "position":
            at = int(rest)
            shares = weights_over_text(reading.trace)[:, at]
            names = [f"order {order}" for order in orders_of(reading.trace)] + ["all alike"]
            lines = [f"{name}  {percentage(float(share))}" for name, share in zip(names, shares, strict=True)]
            return visible(reading.trace.tokens[at]), lines
        if spot.key not in self._cells:
            return "", []
        title, lines = read_out(reading, self._cells[spot.key])
        if kind == "word":
            place = ladder.ids.tolist().index(int(rest))
            return title, [*lines, *_made_of(ladder, place)]
        if kind == "count":
            order, id = map(int, rest.split())
            rung = next(rung for rung in ladder.rungs if rung.order == order)
            taken = float(rung.discounts[np.flatnonzero(rung.ids == id)[0]])
            return title, [*lines, f"discount {number(taken)}"]
        return title, lines


def _made_of(ladder: Ladder, place: int) -> list[str]:
    names = [f"order {rung.order}" for rung in ladder.rungs] + ["all alike"]
    parts = ladder.parts[:, place]
    return [f"{name}  {percentage(float(part))}" for name, part in zip(names, parts, strict=True) if part > 0]
