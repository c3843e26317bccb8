"""Ablation: each part set to zero or to its mean, and what becomes of the answer, or of the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.circuits.answering_panel import AnsweringPanel, briefly
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.answers_by_step import AnswersByStep
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.opened_model import Moment
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker
from lmviz.app.widgets.base.figures import cell_figure, count, signed_figure
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.steady import ComboBox
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.base.counting import head_name, numbered
from lmviz.circuits.recipes import ablation_recipe
from lmviz.inspection.intervention import Intervention
from lmviz.looks.curve import PlotCurve
from lmviz.looks.names import COUNTED, Names
from lmviz.models.address import Address

if TYPE_CHECKING:
    from lmviz.circuits.ablation import Ablation
    from lmviz.circuits.contrast import Contrast
    from lmviz.circuits.growing import Growing
    from lmviz.models.model import Model
    from lmviz.text.corpus import Corpus

LOSS_WITHOUT = Key("loss without a part")

NO_MODEL = "Open or train a model to see what it does without each of its parts."
NO_TEXT = "Type a text above to see what the answer to it is without each part."
ANSWER, TEXT_LOSS = "the answer", "the loss over the open text"
TO = {"zero": "set to zero", "mean": "set to its mean", "lower": "left to the order below"}
TOKENS = 600
"""So many tokens of the text are read, at each snapshot as well."""

FELL = 3.0
"""Where the loss has fallen to less than such a part, its axis is logarithmic, so that the end is seen."""


@dataclass(frozen=True)
class AblationAsked:
    """What is asked of a model at a step with changes in force: a contrast, or the loss over a text."""

    reading: Reading = field(compare=False)  # beside which it is asked: of a text's loss it says nothing
    moment: Moment
    changes: tuple[Intervention, ...]
    by: str
    contrast: Contrast | None
    corpus: Corpus | None
    said: str  # the measure in words


class AblationPanel(AnsweringPanel["Ablation", AblationAsked]):
    """A map of what changes without each head or hidden layer; of the chosen one the loss over the training.

    The last is the ghost: the loss that the model would have had at each snapshot without that part.
    """

    gives_way = 90
    key = Key("ablation")

    def __init__(self, session: Session) -> None:
        super().__init__(session, "ablation_sentence")
        self._cell: tuple[int, ...] | None = None
        self._ghost_about: object = None  # whose curves are drawn: a model on a text, ablated in a way
        self._keeps_curves = False
        self.ghost: AnswersByStep[Ablation] = AnswersByStep(
            self, self._draw_on, key=LOSS_WITHOUT, beside_others=True
        )
        """What the loss is without the chosen part alone."""
        self._what = picker("ablated_number_picker", "what may change without a part", (ANSWER, TEXT_LOSS))
        self._to = picker("ablation_picker", "what a part is set to")
        self._to.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self._map = named(HeatmapView(), "ablation_map", "what changes without each part")
        self._map.set_style(values="none", labels_below=True)
        self._map.set_readout(self._read_out)
        self._curves = named(LinePlot(possible=LOSS), "ghost_plot")
        controls = FittingRow((self._what, self._to), (self._to,))
        body = column(self._said, (self._map, 1), (self._curves, 1))
        self._answer_in(self.add_card("Without each part", controls, body))
        for each in (self._what, self._to):
            each.activated.connect(lambda _: self.refresh_soon())
        self._map.cell_clicked.connect(self._choose)
        self._curves.cursor_moved.connect(lambda step: session.library.choose_step(round(step)))
        for changed in (session.reading.prefix_changed, session.library.model_changed, session.text.changed):
            changed.connect(self._give_up)
        session.library.models_changed.connect(self._follow_ghost)  # a training has one more snapshot
        self.follow(session.contrast.changed, session.library.model_changed, session.text.changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {} if self.found is None or not self._has_all else {"change": self.found.array}

    def exported_names(self) -> Names:
        addresses = () if self.found is None else self.found.addresses
        return Names([Address.parse(at).place_of_layer for at in addresses]) if addresses else COUNTED

    def recipe(self) -> str:
        if self.found is None or not self._has_all or self._of is None or self._of.contrast is None:
            return ""
        return ablation_recipe(self._of.reading.moment, self._of.contrast, self.found.addresses, self._of.by)

    def refresh(self) -> None:
        contrast = self.session.contrast
        corpus, model = self.session.text.corpus, self.session.library.model
        self._offer_loss()
        self._offer_ways()
        of_text = self._what.currentText() == TEXT_LOSS
        reading = self.session.reading.current if of_text else contrast.reading
        measured = contrast.found
        if reading is None or model is None or (measured is None and not of_text):
            self._show_instead(self._missing())
            return
        self._card.set_placeholder("")
        asked = AblationAsked(
            reading,
            # while a model is trained it is read several times a second, which no text is
            (model, model.nearest_snapshot(reading.step)) if of_text else (reading.model, reading.step),
            reading.question.interventions,
            self._to.currentData(),
            None if of_text or measured is None else measured.contrast,
            corpus if of_text else None,
            "" if measured is None else measured.said,
        )
        is_drawn = self.has_drawn(self._question(asked))
        self._ask_once(asked)
        if is_drawn:
            self._follow_ghost()

    def _missing(self) -> str:
        return NO_MODEL if self.session.library.model is None else NO_TEXT

    def _offer_loss(self) -> None:
        """The loss over the open text, where the model and the text have one."""
        model, corpus = self.session.library.model, self.session.text.corpus
        fits = model is not None and corpus is not None and corpus.task == "next-token"
        can = fits and model is not None and model.predicts.continues and not model.reads_source
        self._what.model().item(1).setEnabled(can)  # type: ignore[attr-defined]  # a picker's items
        if not can:
            self._what.setCurrentIndex(0)

    def _offer_ways(self) -> None:
        """What a part can be set to; an n-gram has orders, and of those nothing but the one below."""
        model = self.session.library.model
        ways = ["lower"] if model is not None and model.family == "ngram" else ["zero", "mean"]
        set_choices(self._to, {way: TO[way] for way in ways})

    def _question(self, asked: AblationAsked) -> Question[Any, Any]:
        contrast, corpus, by, changes = asked.contrast, asked.corpus, asked.by, asked.changes

        def work(model: Model) -> Growing[Ablation]:
            from lmviz.circuits.ablation import ablating
            from lmviz.circuits.growing import Growing

            def begin(model: Model) -> Iterator[Ablation]:
                given: Any = contrast if corpus is None else _pieces(model, corpus, TOKENS)
                return ablating(model, given, by=by, interventions=changes)

            return Growing(model, begin)

        return Question(self.key, _subject(asked), work, about=asked)

    def _take(self, asked: AblationAsked, growing: Any) -> None:
        if self.found is None or self.found.addresses != growing.found.addresses:
            self._cell = None
        self._growing, self._of, self._has_all = growing, asked, False
        self._go_on(_subject(asked), growing)

    def _go_on(self, subject: Any, growing: Growing[Any]) -> None:
        if growing is not self._growing:
            return
        self.found = growing.found
        super()._go_on(subject, growing)
        if self._has_all:
            self._follow_ghost()

    @property
    def is_whole(self) -> bool:
        """Whether every part is known of what is asked now."""
        return self._has_all and not self.is_behind

    def _shown(self) -> tuple[int, ...]:
        """The chosen cell, or the one without which most changes."""
        assert self.found is not None, "asked only of what is drawn"
        known = np.nan_to_num(np.abs(self.found.array))  # of what grows, a part is not known yet
        strongest = np.unravel_index(known.argmax(), known.shape)
        return self._cell or tuple(int(at) for at in strongest)

    def _draw(self) -> None:
        found = self.found
        self._map.setVisible(found is not None)
        self._curves.setVisible(found is not None and (bool(self.ghost) or self._keeps_curves))
        if found is None:
            self._said.setText("")
            return
        changes = found.array.reshape(len(found.array), -1)[::-1]  # the first layer lies at the bottom
        limit = float(np.nanmax(np.abs(changes))) or 1.0
        self._map.set_matrix(
            changes,
            limit=limit,
            rows=[_row_name(at) for at in found.addresses][::-1],
            columns=[str(at + 1) for at in range(changes.shape[1])] if found.axes[1:] else ["all"],
            words=[[cell_figure(one) if abs(one) > 0.05 * limit else "" for one in row] for row in changes],
        )
        cell = self._shown()
        place = len(changes) - 1 - cell[0], cell[1] if len(cell) > 1 else 0
        self._map.set_pinned(place if self._cell is not None else None)
        self._map.set_suggested(place if self._cell is None else None)
        self._said.setText(self._sentence(found, cell))
        if self.ghost:
            self._draw_ghost(f"without {self._name(found, cell)}", (0, *cell[1:]))

    def _draw_ghost(self, name: str, cell: tuple[int, ...]) -> None:
        steps = sorted(self.ghost)
        losses = np.array([self.ghost[step].intact for step in steps])
        changes = np.array([self.ghost[step].array[cell] for step in steps])
        ends = [(self.ghost[step].low, self.ghost[step].high) for step in steps]
        low, high = (
            np.array([np.nan if end is None else end[cell] for end in edge])
            for edge in zip(*ends, strict=True)
        )
        band = None if np.isnan(low).any() else (losses + low, losses + high)
        self._curves.set_logarithmic(bool(losses.max() > FELL * losses.min()))
        self._curves.set_curves(
            [
                PlotCurve("loss", steps, losses, "training"),
                PlotCurve(name, steps, losses + changes, "validation", band=band),
            ]
        )
        self._curves.set_cursor(self.session.library.step)

    def _name(self, found: Ablation, cell: tuple[int, ...]) -> str:
        at = Address.parse(found.addresses[cell[0]])
        if at.order is not None:
            return f"order {at.order}"
        layer = at.layer or 0
        if len(cell) > 1:
            return f"head {head_name(layer, cell[1])}"
        return f"the states of layer {numbered(layer)}"

    def _sentence(self, found: Ablation, cell: tuple[int, ...]) -> str:
        done = int(np.isfinite(found.array).reshape(len(found.array), -1).all(axis=1).sum())
        if np.isnan(found.array[cell]):
            return f"Without {self._name(found, cell)} nothing has been measured yet: {_so_far(found, done)}."
        change, what = float(found.array[cell]), briefly("" if self._of is None else self._of.said)
        if self._of is not None and self._of.corpus is not None:
            what = f"the loss over {count(found.tokens)} tokens of the open text"
        by = f"{signed_figure(change, 3)}, from {signed_figure(found.intact)}"
        said = f"Without {self._name(found, cell)}, {what} changes by {by}"
        if found.low is not None:
            said += f"; over texts drawn anew by {_band(found, cell)}"
        more = "" if self._has_all or done == len(found.array) else f" {_so_far(found, done)}."
        return f"{said}. It is {TO[found.by]}.{more}{self._since((0, *cell[1:]))}"

    def _since(self, cell: tuple[int, ...]) -> str:
        """From which snapshot on the part is missed, once the ghost is whole."""
        from lmviz.circuits.ablation import missed_since

        model = self.session.library.model
        if not self.ghost or model is None or not set(model.snapshots) <= self.ghost.keys():
            return ""
        step = missed_since(self.ghost, cell)
        if step is None:
            return " At no step is it certain that the model needs it."
        return f" From step {count(step)} on it is certain that the model needs it."

    def _choose(self, row: int, column: int) -> None:
        found = self.found
        if found is None:
            return
        layer = len(found.array) - 1 - row
        self._cell = (layer, column) if found.axes[1:] else (layer,)
        if found.axes[1:] == ("head",):
            self.session.attention.choose_head_of(found.addresses[layer], column)
        self._draw_on()

    def _draw_on(self) -> None:
        """Draw what is known of the chosen part, and ask for the next."""
        self._follow_ghost()
        self._draw()

    def _follow_ghost(self) -> None:
        """Have the loss without the chosen part measured at each snapshot, where losses are shown."""
        found, asked, model = self.found, self._of, self.session.library.model
        if found is not None and not self._has_all:
            return  # which part is the strongest is not known before
        if found is None or asked is None or asked.corpus is None:
            self.ghost.forget()
            self._keeps_curves = False
            self._draw()
            return
        cell = self._cell = self._shown()  # of one part to the end, though another may become the strongest
        corpus, by, address = asked.corpus, asked.by, found.addresses[cell[0]]
        about = (asked.moment[0], corpus.fingerprint, by)
        was_known = self.ghost.be_about((*about, address))
        if was_known or about != self._ghost_about:
            # What is drawn of another part of the same model keeps its name until this one is known.
            self._keeps_curves, self._ghost_about = about == self._ghost_about, about
            self._draw()

        def work(opened: Model) -> Ablation:
            from lmviz.circuits.ablation import ablate

            return ablate(opened, _pieces(opened, corpus, TOKENS), address, by=by)

        if model is not None and model == asked.moment[0]:
            self.ghost.ask_next(model, model.snapshots, work)

    def _read_out(self, row: int, column: int) -> tuple[str, Sequence[str]]:
        found = self.found
        if found is None:
            return "", ()
        cell = (len(found.array) - 1 - row, column) if found.axes[1:] else (len(found.array) - 1 - row,)
        if np.isnan(found.array[cell]):
            return f"without {self._name(found, cell)}", ["not measured yet"]
        lines = [f"changes by {signed_figure(float(found.array[cell]), 4)}"]
        if found.low is not None:
            lines.append(f"95 %: {_band(found, cell)}")
        return f"without {self._name(found, cell)}", lines


def _subject(asked: AblationAsked) -> Reading | Moment:
    """Of whom it is asked: of a reading, or of a model about a text."""
    return asked.reading if asked.corpus is None else asked.moment


def _so_far(found: Ablation, done: int) -> str:
    """How much of an answer that grows is known."""
    return f"{done} of {len(found.array)} layers so far"


def _row_name(address: str) -> str:
    at = Address.parse(address)
    return f"layer {numbered(at.layer or 0)}" if at.order is None else f"order {at.order}"


def _band(found: Ablation, cell: tuple[int, ...]) -> str:
    """From where to where the change goes over texts drawn anew."""
    ends = (found.low, found.high)
    return " to ".join(signed_figure(float(end[cell]), 3) for end in ends if end is not None)


def _pieces(model: Model, corpus: Corpus, tokens: int) -> list[np.ndarray]:
    """The beginning of what is held out of the text, as a model reads it."""
    from lmviz.circuits.ablation import stretches
    from lmviz.inspection.beyond_context import held_out_ids
    from lmviz.training.held_out import documents_of

    assert model.tokenizer is not None, "a model that was opened has its tokenizer"
    ids, start = held_out_ids(corpus, model.tokenizer)
    return stretches(documents_of(ids[: 4 * tokens], start), model.context, tokens)
