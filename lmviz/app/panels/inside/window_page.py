"""The picture of a model over a fixed window of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.inside.page import Page, aside_of, at_word, choose, read_out, word
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key
from lmviz.app.session.focus import Cell
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.app.widgets.diagrams.word_window import WordWindowView
from lmviz.app.widgets.diagrams.word_window_values import UnseenWord, VotedWord, WindowPicture, WindowWord
from lmviz.app.widgets.kit.picture import Miniature, Spot
from lmviz.inspection.at_position import window_taps
from lmviz.inspection.names import coordinate
from lmviz.inspection.trace import Trace
from lmviz.models.address import gradient_of
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.fixed_window import FixedWindow
    from lmviz.inspection.gradient import Gradient
    from lmviz.models.model import Model

BACK = ("the newest", "one back", "two back", "three back", "four back", "five back", "six back")
OWN_SCALE = "each strip on its own scale"


class WindowPage(Page["FixedWindow", WordWindowView]):
    """Asks for the window at the shown word, and for what changes when words are replaced."""

    key = Key("window")

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel, WordWindowView())
        self._asked_for: Gradient | None = None  # the gradient when the window was asked for
        self._gradient: Gradient | None = None  # what is drawn in the place of values
        panel.session.focus.cell_changed.connect(self._follow_unit)

    def fits(self, trace: Trace) -> bool:
        """Whether a stage reads the words of a window."""
        return window_taps(trace) is not None

    def title(self, reading: Reading, position: int) -> tuple[str, str]:
        aside = aside_of(self._session, reading, OWN_SCALE)
        is_gradient = self._session.gradients.current is not None
        return at_word(reading, position), f"vectors: {aside}" if is_gradient else aside

    def addresses(self, trace: Trace) -> list[str]:
        return [address for address, traced in trace.arrays.items() if traced.axes[0] == "position"]

    def _draw_nothing(self) -> None:
        self.view.set_window(WindowPicture(), 0)

    def _work(self, reading: Reading, position: int) -> Callable[[Model], FixedWindow]:
        self._asked_for = self._session.gradients.current

        def work(model: Model) -> FixedWindow:
            from lmviz.inspection.fixed_window import fixed_window

            return fixed_window(model, reading.trace, position)

        return work

    def mark(self, reading: Reading) -> None:
        """Frame the part that the stage makes."""
        stage = reading.trace.stages[self._session.focus.stage]
        part = "words" if stage.place == "output" else stage.place
        self.view.set_current(part)

    def _draw(self, reading: Reading, found: FixedWindow) -> None:
        self._gradient = self._asked_for  # of one key only the newest question is answered
        tokens, trace = reading.trace.tokens, reading.trace
        gradient, words = self._gradient, []
        vectors = trace[found.embedding].array if gradient is None else gradient[found.embedding].array
        for place, at in enumerate(found.positions):
            back = len(found.positions) - 1 - place
            vector = vectors[at][None] if at >= 0 else np.zeros_like(vectors[:1])
            words.append(
                WindowWord(
                    f"seen {at}",
                    visible(tokens[at]) if at >= 0 else "–",
                    BACK[back] if back < len(BACK) else f"{back} back",
                    Miniature(f"embedding {at}", vector),
                    found.products[:, place],
                )
            )
        joined = np.concatenate([one.embedding.values for one in words], axis=1)
        likely = tuple(
            VotedWord(
                f"said {id}", word(reading, int(id)), float(share), Miniature(f"votes {id}", votes[None])
            )
            for id, share, votes in zip(found.ids, found.probabilities, found.votes, strict=True)
        )
        hidden = trace[found.hidden] if gradient is None else gradient[found.hidden]
        picture = WindowPicture(
            tuple(UnseenWord(f"unseen {at}", visible(tokens[at])) for at in found.unseen),
            min(found.unseen, default=0),
            found.change,
            tuple(words),
            Miniature("joined", joined),
            Miniature("hidden", hidden.at(position=found.position)[None], hidden.scale),
            "hidden layer",
            likely,
        )
        self.view.set_window(picture, self._unit(found))

    def _unit(self, found: FixedWindow) -> int:
        """The pinned unit, else the one that adds most to the likeliest word."""
        cell = self._session.focus.value_cell
        if cell is not None and cell[0] == found.hidden and cell[1][1] < len(found.products):
            return cell[1][1]
        return int(found.votes[0].argmax())

    def _follow_unit(self) -> None:
        if self._drawn is not None:
            self.view.set_unit(self._unit(self._drawn[1]))

    def _cell_at(self, spot: Spot | None) -> Cell | None:
        if spot is None or self._drawn is None:
            return None
        found, (kind, _, rest) = self._drawn[1], spot.key.partition(" ")
        of = str if self._gradient is None else gradient_of
        if kind == "embedding" and spot.row >= 0 and int(rest) >= 0:
            return of(found.embedding), (int(rest), spot.column)
        if kind == "joined" and spot.row >= 0:
            width = self._drawn[0].trace[found.embedding].array.shape[1]
            at = found.positions[spot.column // width]
            return (of(found.embedding), (at, spot.column % width)) if at >= 0 else None
        if kind == "hidden" and spot.row >= 0:
            return of(found.hidden), (found.position, spot.column)
        return ("probabilities", (found.position, int(rest))) if kind == "said" else None

    def _choose(self, spot: Spot) -> None:
        if self._drawn is None:
            return
        cell, found = self._cell_at(spot), self._drawn[1]
        kind, _, rest = spot.key.partition(" ")
        if cell is not None:
            choose(self._session, cell[0], cell)
        elif kind in ("seen", "unseen") and int(rest) >= 0:
            self._session.focus.choose_position(int(rest))
        elif kind == "votes":
            choose(self._session, found.hidden, (found.hidden, (found.position, spot.column)))

    def _read_out(self, spot: Spot) -> tuple[str, Sequence[str]]:
        if self._drawn is None:
            return "", []
        (reading, found), cell = self._drawn, self._cell_at(spot)
        kind, _, rest = spot.key.partition(" ")
        if kind == "said" and cell is not None:
            return percentage(float(reading.trace["probabilities"].array[cell[1]])), read_out(reading, cell)[
                1
            ]
        if cell is not None:
            return read_out(reading, cell, self._gradient)
        if kind in ("seen", "unseen") and int(rest) >= 0:
            return self._measured(reading, found, int(rest))
        if kind == "product":
            at, unit = found.positions[int(rest)], self.view.unit
            who = f"“{visible(reading.trace.tokens[at])}”" if at >= 0 else "zeros before the text"
            return number(float(found.products[unit, int(rest)])), [
                f"{who} to the sum of {coordinate('unit', unit)}"
            ]
        if kind == "votes":
            place = found.ids.tolist().index(int(rest))
            added = number(float(found.votes[place, spot.column]))
            return added, [f"{coordinate('unit', spot.column)} to the logit of “{word(reading, int(rest))}”"]
        return "", []

    def _measured(self, reading: Reading, found: FixedWindow, at: int) -> tuple[str, list[str]]:
        """What replacing a word changed."""
        measured = found.influence
        if at not in measured.words:
            return "", []
        place = measured.words.index(at)
        other = word(reading, int(measured.replacements[place]))
        return number(float(measured.logits[place])), [
            "the largest change of a logit",
            f"with “{other}” in the place of “{visible(reading.trace.tokens[at])}”",
            f"and of a probability {percentage(float(measured.probabilities[place]))}",
        ]
