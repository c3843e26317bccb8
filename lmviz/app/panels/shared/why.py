"""Why this number? The arithmetic of a cell; a click on an operand explains that in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.operands import follow_operand, hover_operand, name_of_operand
from lmviz.app.session.focus import Cell
from lmviz.app.session.reading import NAMED, Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, row
from lmviz.app.widgets.base.figures import has_no_gradient, number
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.base.plain import Label, paragraph
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.text.arithmetic_card import ArithmeticCard, ResultLine
from lmviz.app.widgets.text.breadcrumbs import Breadcrumbs
from lmviz.inspection.names import POSITIONAL, word_of
from lmviz.inspection.operand_names import operand_name
from lmviz.inspection.recipes.recipe import explanation_recipe
from lmviz.inspection.strongest import likeliest_answer
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.scalar import Of
    from lmviz.models.arithmetic import Arithmetic
    from lmviz.models.model import Model

PAIRS = Key("score as pairs of features")
SCORES = tuple(f"layers/*/attention/{name}" for name in ("products", "scaled", "scores"))
LARGEST_TERMS = 8
OPEN = "Open a model and type a prefix: every number of it is explained here."
CLICK = "Click a number: what it was computed from is written here."


class WhyPanel(Panel):
    """The hovered or pinned cell explained; a click on an operand goes back to it, crumb by crumb.

    Until a cell is pinned it explains the strongest that is drawn, dashed and muted.
    """

    draws = ("reading", "explanation")

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._sheet = ArithmeticCard(with_result=False)
        self._result = ResultLine()
        self._place = Label(name="explained_cell", role="muted", wraps=True)
        self._differentiate = LinkButton(
            "gradient_of_cell_button", "gradients of it", "take gradients of this number, and show them"
        )
        self._differentiate.clicked.connect(self._take_gradients)
        self._differentiate.hide()  # as long as nothing is pinned, so that it asks for no room
        self.shown: Arithmetic | None = None  # what is explained
        self._written: tuple[Arithmetic | None, Reading | None] = (None, None)
        self._trail: list[Cell] = []
        self._crumbs = Breadcrumbs()
        self._has_asked_for_pairs = False
        self._pairs = Label(name="score_as_pairs", role="muted", wraps=True)
        self._pairs.hide()
        named = row((self._place, 1), (self._differentiate, 0, Qt.AlignmentFlag.AlignTop))
        body = column(named, self._crumbs, (scrolling(self._sheet), 1), self._result, self._pairs, gap=4)
        self._card = self.add_card("Why this number?", "", body)
        self._card.set_provisional(True)
        self._sheet.operand_clicked.connect(self.follow_operand)
        self._sheet.operand_hovered.connect(lambda *cell: hover_operand(session, *cell))
        self._sheet.left.connect(lambda: session.focus.hover_cell(None))
        session.focus.cell_changed.connect(self._lengthen_trail)
        self._crumbs.step_clicked.connect(self._go_back)
        self.show_failures(session.explanation)
        self.follow(session.explanation.changed, session.focus.cell_changed, session.reading.changed)
        self.follow(session.gradients.shown_changed, session.work.ready_changed, session.features.changed)
        session.focus.position_changed.connect(self.refresh_soon)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The value, and for each group of terms (term, factor + 1): the factors, and last their product."""
        found = self.shown
        if found is None:
            return {}
        groups = {
            f"terms/{place}/{group.label}": np.column_stack(
                [*(factor.applied for factor in group.factors), group.products]
            )
            for place, group in enumerate(found.terms)
        }
        return {"value": np.array([found.value]), **groups}

    def recipe(self) -> str:
        reading = self.session.explanation.reading
        if reading is None or self.shown is None or Address.parse(self.shown.address).is_gradient:
            return ""
        return explanation_recipe(reading.moment, self.shown.address, self.shown.index)

    def have_asked(self) -> None:
        self.session.explanation.suggest_otherwise(self._likeliest_answer)

    def show_choices(self) -> None:
        if self.shown is None:  # also while the first explanation is on its way
            self._place.setText(OPEN if self.session.reading.current is None else CLICK)

    def refresh(self) -> None:
        arithmetic = self._write()
        pinned = arithmetic is not None and (arithmetic.address, arithmetic.index) == self.session.focus.cell
        self._card.set_provisional(not pinned)
        self._card.set_aside("pinned, Esc unpins" if pinned else "a click on any cell pins it")
        self._differentiate.setVisible(pinned and self._number() not in (None, self.session.gradients.of))
        if arithmetic is None:
            self._card.set_title("Why this number?")
            self.show_choices()
            self._place.setToolTip("")
        else:
            what = "gradient " if Address.parse(arithmetic.address).is_gradient else ""
            is_there = not has_no_gradient(arithmetic.address, arithmetic.value)
            asked = f"{what}{number(arithmetic.value)}" if is_there else "no gradient"
            self._card.set_title(f"Why {asked}?")
            name = self._name(arithmetic.address, arithmetic.index)
            self._place.setText(f"The strongest shown: {name}" if self._is_suggested(arithmetic) else name)
            self._explain_terms(f"{name} {' '.join(row.name for row in self._sheet.rows)}")
        self._ask_for_pairs(arithmetic if pinned else None)
        self._show_trail()

    def _ask_for_pairs(self, score: Arithmetic | None) -> None:
        """Say of a pinned score of attention which pairs of the open features it is the sum of."""
        reading, opened = self.session.explanation.reading, self.session.features.opened
        layer = None if score is None else _layer_of_score(score.address)
        if score is None or layer is None or reading is None or opened is None:
            if self._has_asked_for_pairs:
                self._pairs.hide()
                self.silence(PAIRS)
                self._has_asked_for_pairs = False
            return
        self._has_asked_for_pairs = True
        (head, query, key), dictionary = score.index, opened.dictionary
        ids, changes = reading.trace.ids, reading.question.interventions

        def work(model: Model) -> str:
            from lmviz.features.score_pairs import pairs_in_words, score_pairs

            addresses = {tap.address for tap in model.taps()}
            if (model.causal and key > query) or not {dictionary.tap, dictionary.target} <= addresses:
                return ""
            found = score_pairs(model, ids, [dictionary], layer, head, key, query, interventions=changes)
            return pairs_in_words(found) if found.has_features else ""

        def take(said: str) -> None:
            self._pairs.setText(said)
            self._pairs.setVisible(bool(said))

        about = (layer, head, query, key, dictionary)
        self.ask_once(Question(PAIRS, reading, work, about=about), take)

    def _explain_terms(self, text: str) -> None:
        """Say on pointing at the place what the words of the field in a text mean."""
        if not self.session.work.is_ready:  # the first paint does without
            return
        from lmviz.inspection.glossary import terms_in

        terms = terms_in(text)
        self._place.setToolTip(paragraph(*map(self.of_units, terms)) if terms else "")

    def _number(self) -> Of | None:
        """The pinned number as one that gradients can be taken of; None of words that were copied."""
        reading, cell = self.session.reading.current, self.session.explanation.pinned_cell
        if reading is None or cell is None:
            return None
        return None if reading.trace[cell[0]].scale == "token" else (cell[0], tuple(cell[1]))

    def _take_gradients(self) -> None:
        number = self._number()
        if number is not None:
            self.session.gradients.choose(number)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.session.explanation.suggest_otherwise(None)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh_soon()

    def _write(self) -> Arithmetic | None:
        """What is explained; its sheet is written once, though much else has the panel drawn anew."""
        explanation = self.session.explanation
        found = explanation.arithmetic, explanation.reading
        if found[0] is not self._written[0] or found[1] is not self._written[1]:
            self._written, self.shown = found, self._explained()
            self._sheet.set_arithmetic(self.shown, self._short_name, LARGEST_TERMS)
            self._result.set_row(self._sheet.result)
        return self.shown

    def _likeliest_answer(self) -> Cell | None:
        """The cell of the likeliest next word, which is explained where no panel draws anything stronger."""
        reading = self.session.reading.current
        return None if reading is None else likeliest_answer(reading.trace, self.session.reading.position)

    def _explained(self) -> Arithmetic | None:
        """What is explained, with the terms of joined states from the left and from the right."""
        from lmviz.inspection.directions import by_direction

        explanation = self.session.explanation
        if explanation.arithmetic is None or explanation.reading is None:
            return explanation.arithmetic
        return by_direction(explanation.arithmetic, explanation.reading.trace)

    def _is_suggested(self, arithmetic: Arithmetic) -> bool:
        return (arithmetic.address, arithmetic.index) == self.session.explanation.suggestion

    def _name(self, source: str, index: tuple[int, ...]) -> str:
        return name_of_operand(self.session.explanation.reading, source, index)

    def _short_name(self, source: str, index: tuple[int, ...]) -> str:
        """An operand's name without what it has in common with the cell that is explained."""
        reading, explained = self.session.explanation.reading, self.shown
        axes = None if reading is None else reading.axes(source)
        own = None if reading is None or explained is None else reading.axes(explained.address)
        if reading is None or explained is None or axes is None or own is None or not index:
            return self._name(source, index)
        shared = dict(zip(own, explained.index, strict=True))
        told = [axis for axis, place in zip(axes, index, strict=True) if not _is_shared(axis, place, shared)]
        places = dict(zip(axes, index, strict=True))
        told = told or _axes_along(explained, source, axes) or [axes[-1]]
        words = [_coordinate(reading, axis, places[axis]) for axis in told]
        at = Address.parse(source)
        is_value = Address.parse(explained.address).is_gradient and not at.is_gradient
        return f"{'value of ' if is_value else ''}{word_of(at.name)}, {', '.join(words)}"

    def follow_operand(self, source: str, index: tuple[int, ...]) -> None:
        """Explain an operand in turn; parameters have no earlier stage."""
        follow_operand(self.session, source, index)

    def _lengthen_trail(self) -> None:
        cell = self.session.focus.cell
        if cell is None:
            self._trail = []
        elif cell in self._trail:
            del self._trail[self._trail.index(cell) + 1 :]
        else:
            self._trail.append(cell)

    def _crumb(self, address: str, index: tuple[int, ...]) -> str:
        """A step of the way back in few words: "cell “a” · 17"."""
        reading = self.session.reading.current
        if reading is None or not reading.has_cell(address, index):
            return address
        axes = reading.axes(address) or ()
        if axes and axes[-1] in NAMED:
            at = Address.parse(address)
            what = f"gradient of {word_of(at.name)}" if at.is_gradient else word_of(at.name)
            return f"{what} “{reading.word(axes[-1], index[-1])}”"
        return operand_name(reading.trace, address, index)

    def _go_back(self, step: int) -> None:
        """Pin what was pinned before, unless a newer reading, which is not drawn yet, has it no more."""
        reading, cell = self.session.reading.current, self._trail[step]
        if reading is not None and reading.has_cell(*cell):
            self.session.focus.choose_cell(cell)

    def _show_trail(self) -> None:
        reading = self.session.reading.current
        self._trail = [cell for cell in self._trail if reading is not None and reading.has_cell(*cell)]
        names = [self._crumb(*cell) for cell in self._trail]
        self._crumbs.set_steps(names if len(names) > 1 else [])


def _is_shared(axis: str, place: int, shared: Mapping[str, int]) -> bool:
    """Whether a coordinate is the explained cell's own; a query and a key are at positions."""
    if axis not in shared and axis == "position":
        return place in (shared.get("query"), shared.get("key"))
    if axis not in shared and axis == "query":
        return place == shared.get("position")
    return shared.get(axis) == place


def _axes_along(arithmetic: Arithmetic, source: str, axes: Sequence[str]) -> list[str]:
    """The axes along which the numbers of a source lie that are added up."""
    factors = (factor for group in arithmetic.terms for factor in group.factors)
    lines = [factor.indices for factor in factors if factor.source == source]
    return [axis for at, axis in enumerate(axes) if any(np.ptp(line[:, at]) > 0 for line in lines)]


def _coordinate(reading: Reading, axis: str, place: int) -> str:
    """An operand's place, briefly: a word of a text by its number and itself."""
    if axis in POSITIONAL:
        return f"{place + 1} “{visible(reading.trace.names(axis)[place])}”"
    return reading.coordinate(axis, place)


def _layer_of_score(address: str) -> int | None:
    """The layer whose attention a score is of; None of anything else, a gradient among it."""
    place = Address.parse(address)
    is_score = not place.is_gradient and any(map(place.matches, SCORES))
    return place.layer if is_score else None
