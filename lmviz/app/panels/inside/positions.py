"""How a Transformer knows the order of words: its positions, shifted, and beyond the context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QGridLayout, QWidget

from lmviz.app.panels.inside.kinds_page import KindsPage
from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, row, sheet, stack
from lmviz.app.widgets.base.empty_text import EmptyText
from lmviz.app.widgets.base.figures import count, number
from lmviz.app.widgets.base.flow import labelled
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.controls.slider_row import SliderRow
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.base.counting import numbered
from lmviz.looks.curve import PlotCurve

if TYPE_CHECKING:
    from lmviz.inspection.beyond_context import BeyondContext
    from lmviz.inspection.positions import PositionPicture
    from lmviz.models.model import Model

PAGES = ("the positions", "beyond the context", "kinds side by side")
THE_POSITIONS, BEYOND, KINDS = range(3)
WAVES = 4
TABLE = Key("table of positions")
LOSSES = Key("beyond")
"""Under which its questions are asked."""
NOTHING = (
    "This model is told no positions. Only the causal mask shows the order: "
    "each token attends to those up to it, so to a different number of tokens."
)
TABLES = {
    "learned": "learned: added at a position, by channel",
    "sinusoidal": "sinusoidal: added at a position, by channel",
    "rotary": "rotary: angle at a position, by pair of channels",
    "alibi": "ALiBi: added to scores by distance, a row a head",
    "relative": "relative: added to scores by distance, a row a head",
}
PAIRS = {
    "learned": "pₜ · pₛ",
    "sinusoidal": "pₜ · pₛ",
    "rotary": "mean of cos((t − s) θ) over the pairs",
    "alibi": "added for each query and key",
    "relative": "added for each query and key",
}
WAVE_NAMES = {"rotary": "pair", "alibi": "head", "relative": "head"}


class PositionsPanel(Panel):
    """Table, products, waves and a shift by k; what is measured behind the context is the second page."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.picture: PositionPicture | None = None  # what is drawn
        self._moment: Moment | None = None  # whose picture that is
        self.beyond: BeyondContext | None = None  # what was measured behind the context
        self._chosen: int | None = None  # a wave that somebody clicked on
        self._table = named(HeatmapView(), "positions_table")
        self._pairs = named(HeatmapView(), "positions_pairs")
        self._pairs.set_style(square=True)
        self._waves, self._shifted = LinePlot("position"), LinePlot("position")
        self._losses = named(LinePlot("position", possible=LOSS), "beyond_plot")
        leave_arrow_keys(self, self._table, self._pairs)
        views = (self._table, self._pairs, self._waves, self._shifted)
        self._names = {view: Label(role="muted", wraps=True) for view in views}
        self._head = picker("positions_head_picker", "head")
        self._shift = SliderRow("shift by k", "positions to shift by")
        self._shift.slider.setObjectName("shift_slider")
        self._said = Label(name="shift_said", wraps=True)
        self._behind = Label(name="beyond_said", wraps=True)
        self._page = picker("positions_page_picker", "what is shown of positions", PAGES)
        self._empty = EmptyText()
        self._kinds = KindsPage(session)
        self._body = stack(
            self._lay_out(), sheet(column(self._behind, (self._losses, 1))), self._kinds, self._empty
        )
        self._card = self.add_card("Positions", self._page, self._body)
        self._page.activated.connect(lambda _: self.refresh_soon())
        self._head.activated.connect(lambda _: self.refresh_soon())
        self._shift.value_changed.connect(lambda _: self._draw_shift())
        self._table.cell_clicked.connect(self._choose_wave)
        trial = session.position_trial
        self.show_failures(trial)
        self.follow(session.library.model_changed, session.library.step_changed, session.text.changed)
        self.follow(trial.changed, trial.ended, session.work.ready_changed)
        session.training.changed.connect(self.refresh_now_and_then)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The table and the pairs; on the second page the losses (stretch,) and where each begins."""
        if self._body.currentIndex() == KINDS:
            return self._kinds.exported_arrays()
        if self._body.currentIndex() == BEYOND:
            found = self.beyond
            return {} if found is None else {"position": found.starts, "loss": found.losses}
        picture = self.picture
        if picture is None or self._body.currentIndex() != THE_POSITIONS:
            return {}
        return {"table": picture.table, "pairs": picture.pairs}

    def recipe(self) -> str:
        """The same picture or trial from Python."""
        if self._body.currentIndex() == KINDS:
            return self._kinds.recipe()
        if self.picture is None or self._moment is None or self._body.currentWidget() is self._empty:
            return ""
        model, step = self._moment
        return (
            "import lmviz\nfrom lmviz.inspection.positions import picture_positions\n\n"
            f"model = lmviz.open_model({str(model.folder)!r}, step={step})\n"
            f"picture = picture_positions(model, head={max(self._head.currentIndex(), 0)})\n"
            "table, pairs = picture.table, picture.pairs\n"
        )

    def out_of_place(self, model: OpenedModel) -> str:
        if model.family == "transformer" and not model.reads_source:
            return ""
        if model.family == "transformer":
            return "Positions are drawn for Transformers that read one text: open a language model."
        reads = f"{model.name} is not a Transformer: it reads one token after the other, and so in order."
        return f"{reads} Open one to see how it is told of order."

    def refresh(self) -> None:
        model = self.session.library.model
        if self._page.currentIndex() == KINDS:
            self._kinds.draw()
            self._body.setCurrentIndex(KINDS)
        elif model is None:
            for key in (TABLE, LOSSES):
                self.silence(key)
            self.picture = self.beyond = None
            self._show_sentence("Open or train a Transformer")
        elif self._page.currentIndex() == BEYOND:
            self._ask_beyond(model)
        else:
            self._ask_picture(model)

    def _lay_out(self) -> QWidget:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        for place, (view, name) in enumerate(self._names.items()):
            down, across = 2 * (place // 2), place % 2
            grid.addWidget(name, down, across)
            grid.addWidget(view, down + 1, across)
            grid.setRowStretch(down + 1, 3 - place // 2)
        self._of_head = labelled("head", self._head)
        for across in (0, 1):
            grid.setColumnStretch(across, 1)
        grid.addLayout(row(self._of_head, (self._shift, 1)), 4, 0, 1, 2)
        grid.addWidget(self._said, 5, 0, 1, 2)
        return sheet(grid)

    def _ask_picture(self, model: OpenedModel) -> None:
        head = max(self._head.currentIndex(), 0)

        def work(opened: Model) -> PositionPicture:
            from lmviz.inspection.positions import picture_positions

            return picture_positions(opened, head)

        moment = self.session.library.shown_moment

        def take(picture: PositionPicture) -> None:
            self._moment = moment
            self._draw_picture(picture)

        question = Question(TABLE, moment, work, about=head)
        if self.must_ask(question):
            self.ask(question, take)
        elif self.has_drawn(question):
            self._draw()

    def _ask_beyond(self, model: OpenedModel) -> None:
        corpus = self.session.text.corpus
        if corpus is None:
            self.silence(LOSSES)
            self.beyond = None
            self._show_sentence("Open a text to measure on")
            return

        def work(opened: Model) -> BeyondContext:
            from lmviz.inspection.beyond_context import held_out_ids, measure_beyond

            assert opened.tokenizer is not None, "a model that was opened has its tokenizer"
            return measure_beyond(opened, *held_out_ids(corpus, opened.tokenizer))

        question = Question(LOSSES, self.session.library.shown_moment, work, about=corpus.fingerprint)
        if self.must_ask(question):
            self.ask(question, self._take_beyond)
        elif self.has_drawn(question):
            self._draw_beyond()

    def _draw_picture(self, picture: PositionPicture) -> None:
        self.picture, self._chosen = picture, None
        heads = len(picture.table) if picture.kind in ("alibi", "relative") else 0
        set_choices(self._head, [str(numbered(head)) for head in range(heads)])
        self._shift.set_range(max(picture.positions - 1, 0), min(1, picture.positions - 1))
        self._draw()

    def _take_beyond(self, beyond: BeyondContext) -> None:
        self.beyond = beyond
        self._draw_beyond()

    def _show_sentence(self, sentence: str) -> None:
        self._empty.set_text(sentence)
        self._body.setCurrentWidget(self._empty)

    def _draw(self) -> None:
        picture = self.picture
        if picture is None or self._page.currentIndex() != THE_POSITIONS:
            return
        if not picture.table.size:
            self._show_sentence(NOTHING)
            return
        self._body.setCurrentIndex(THE_POSITIONS)
        self._of_head.setVisible(self._head.count() > 1)
        self._names[self._table].setText(TABLES[picture.kind])
        drawn = "" if picture.positions == picture.context else f", the first {count(picture.positions)}"
        self._names[self._pairs].setText(PAIRS[picture.kind] + drawn)
        self._table.set_matrix(picture.table)
        self._pairs.set_matrix(picture.pairs.astype(np.float32))
        self._draw_waves(picture)
        self._draw_shift()

    def _draw_waves(self, picture: PositionPicture) -> None:
        waves, name = picture.waves, WAVE_NAMES.get(picture.kind, "channel")
        chosen = sorted({round(at) for at in np.linspace(0, len(waves) * 0.6, WAVES).tolist()})
        if self._chosen is not None and self._chosen < len(waves):
            chosen = [self._chosen]
        chosen = [at for at in chosen if at < len(waves)]
        first = 0 if name == "head" else 1  # distances begin at 0, positions at 1
        wanted = {f"{name} {at + 1}": waves[at] for at in chosen}
        self._waves.set_curves(
            [
                PlotCurve(title, np.arange(len(values)) + first, values, color)
                for color, (title, values) in enumerate(wanted.items())
            ]
        )
        self._names[self._waves].setText(
            "each head, over the distance"
            if name == "head"
            else f"waves by {name}; click a column for its own"
        )

    def _draw_shift(self) -> None:
        picture = self.picture
        if picture is None or not picture.table.size:
            return
        shift = self._shift.slider.value()
        self._shift.show_value(shift, str(shift))
        values, unshifted = picture.shifted(shift), picture.shifted(0)
        self._shifted.set_curves(
            [
                PlotCurve("k = 0", np.arange(len(unshifted)) + 1, unshifted, "muted_text", width=1.0),
                PlotCurve("by k", np.arange(len(values)) + 1, values, "key"),
            ]
        )
        self._names[self._shifted].setText(_shift_name(picture, shift))
        self._said.setText(_shift_sentence(picture, shift, values))

    def _draw_beyond(self) -> None:
        found = self.beyond
        if found is None or self._page.currentIndex() != BEYOND:
            return
        from lmviz.inspection.beyond_context import SENTENCES

        self._body.setCurrentIndex(BEYOND)
        self._losses.set_curves([PlotCurve("loss, nats a token", found.middles + 1, found.losses)])
        self._losses.set_cursor(found.context)
        self._losses.set_references([("second half of the context", found.within)])
        measured = f"Within the context, in its second half: {number(found.within)} nats a token."
        if found.beyond is not None:
            measured += f" Behind it: {number(found.beyond)}."
        texts = f"Measured on {count(found.texts)} pieces of the open text."
        self._behind.setText(" ".join((SENTENCES[found.kind], measured, texts)))

    def _choose_wave(self, row: int, column: int) -> None:
        if self.picture is not None:
            by_head = self.picture.kind in ("alibi", "relative")
            self._chosen = row if by_head else column
            self._draw_waves(self.picture)

    def handle_failure(self, key: str) -> None:
        if key == LOSSES:
            self.beyond = None
            self._show_sentence("")
        else:
            self.picture = None


def _shift_name(picture: PositionPicture, shift: int) -> str:
    if picture.kind in ("learned", "sinusoidal"):
        return f"pₜ · pₜ₊ₖ over t, k = {shift}"
    if picture.kind == "rotary":
        return f"mean of cos(kθ) over t, k = {shift}"
    return f"added for the key {shift} back, over the query"


def _shift_sentence(picture: PositionPicture, shift: int, values: np.ndarray) -> str:
    """What a shift does, measured."""
    spread = float(np.ptp(values)) if len(values) else 0.0
    same = "the same everywhere" + (f", to {number(spread, 1)}" if spread else "")
    if picture.kind == "sinusoidal":
        from lmviz.inspection.positions import shift_error

        error = shift_error(picture, shift)
        return (
            f"One matrix shifts every position by {shift}: pₜ₊ₖ = M pₜ, with a largest difference of "
            f"{number(error, 1)}. So pₜ · pₜ₊ₖ is {same}."
        )
    if picture.kind == "learned":
        return f"A shift is not the same everywhere: pₜ · pₜ₊ₖ differs by up to {number(spread)} over t."
    if picture.kind == "rotary":
        turned = f"A shift turns each pair by kθ, whatever its position: what is drawn is {same}."
        if picture.by_length:
            turned += f" θ depends on the length; drawn are {count(picture.positions)} tokens."
        return turned
    return f"Only the distance counts: what is added is {same}."
