"""What every head does, on random words said twice, and when in the training it began to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.look.theme import current_theme
from lmviz.app.panels.circuits.answering_panel import heads_missing
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key
from lmviz.app.panels.shared.answers_by_step import AnswersByStep
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, sheet
from lmviz.app.widgets.base.figures import brief_percentage, count, number, whole_percentage
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.kit.axes import LOSS
from lmviz.app.widgets.matrix.heatmap import HeatmapView
from lmviz.app.widgets.plots.curve_rows import CurveRow, CurveRows
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.base.counting import head_name, numbered
from lmviz.looks.curve import PlotCurve

if TYPE_CHECKING:
    from lmviz.circuits.head_scores import HeadScores
    from lmviz.circuits.heads_over_time import HeadsOverTime, HeadTurn, Jump
    from lmviz.models.model import Model

KEY = Key("heads over time")

NO_MODEL = "Open or train a Transformer to see what each of its heads does."
WHERE = {
    "previous": "the word before",
    "first": "the first token",
    "duplicate": "the same word, earlier",
    "induction": "the word that followed last time",
    "rest": "one other word",
}
IN_SHORT = {
    "previous": "word before",
    "first": "first",
    "duplicate": "same word",
    "induction": "what followed",
    "rest": "another",
}
ROLES = {
    "previous": "query",
    "first": "muted_text",
    "duplicate": "value",
    "induction": "key",
    "rest": "faint_text",
}
"""The colour of each score."""

WORDS, ROWS = 16, 4
"""So many random words are said twice, in so many texts."""

NAMES = 34  # pixels at scale 1 for the names of heads, left of their curves
WRITTEN = 0.1
"""Smaller shares are not written into cells."""


class HeadsOverTimePanel(Panel):
    """All scores of every head over the training, under the loss of what heads can do: words said again.

    Of a model with one snapshot it is a map of all heads by one score. Scores are shares of attention on
    random words said twice, never on what is typed.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.scores: AnswersByStep[HeadScores] = AnswersByStep(self, self.refresh_soon, key=KEY)
        self._score = picker("head_score_picker", "what heads are coloured by", WHERE)
        self._score.setCurrentText("induction")
        self._said = Label(name="heads_sentence", wraps=True)
        self._map = named(HeatmapView(), "heads_map", "heads by layer and number")
        self._map.set_style(values="none", labels_below=True)
        self._map.set_readout(self._read_out_cell)
        self._losses = named(LinePlot(possible=LOSS, of_trainings=True), "heads_losses")
        self._losses.set_room_at_left(NAMES)
        self._legend = Legend(wraps=True)
        self._rows = named(CurveRows(), "heads_curves", "what each head does over the training")
        self._rows.set_readout(self._read_out_row)
        self._scrolled = scrolling(self._rows)
        self._over_time = sheet(column(self._legend, (self._losses, 2), (self._scrolled, 5), gap=4))
        body = column(self._said, (self._map, 1), (self._over_time, 1))
        self._card = self.add_card("What heads do", self._score, body)
        self._score.activated.connect(lambda _: self._draw())
        self._map.cell_clicked.connect(self._choose_cell)
        self._rows.part_clicked.connect(self._choose_row)
        self._losses.axis_moved.connect(self._align)
        self._losses.cursor_moved.connect(lambda step: session.library.choose_step(round(step)))
        session.library.model_changed.connect(self.scores.forget)  # another model has other heads
        self.follow(
            session.library.model_changed,
            session.library.models_changed,  # a training under way has one more snapshot
            session.library.step_changed,
            session.attention.head_changed,
        )

    @property
    def is_whole(self) -> bool:
        """Whether every snapshot has its scores."""
        model = self.session.library.model
        return model is not None and set(model.snapshots) <= self.scores.keys()

    def exported_arrays(self) -> dict[str, np.ndarray]:
        steps = sorted(self.scores)
        if not steps:
            return {}
        found = np.stack([self.scores[step].array for step in steps])
        losses = np.array([(self.scores[step].loss_new, self.scores[step].loss_again) for step in steps])
        scores = {name: found[:, at] for at, name in enumerate(WHERE)}
        return {"step": np.array(steps), "loss_new": losses[:, 0], "loss_again": losses[:, 1]} | scores

    def recipe(self) -> str:
        model = self.session.library.model
        if model is None or not self.scores:
            return ""
        return (
            "import lmviz\n\n"
            f"steps = {sorted(self.scores)}\n"
            f"model = {str(model.folder)!r}\n"
            f"found = lmviz.head_scores(model, words={WORDS}, rows={ROWS}, steps=steps)\n"
            "values = {step: scores.array for step, scores in found.items()}\n"
        )

    def out_of_place(self, model: OpenedModel) -> str:
        return heads_missing(model)

    def refresh(self) -> None:
        model = self.session.library.model
        self._card.set_placeholder("" if model is not None else NO_MODEL)
        shown = self.session.library.step
        if model is None or shown in self.scores:
            self._draw()
        if model is not None:
            self.scores.ask_next(model, (shown, *model.snapshots), _scores)

    def _shown(self) -> HeadScores | None:
        known = self.scores
        if not known:
            return None
        step = self.session.library.step
        return known[min(known, key=lambda other: abs(other - step))]

    def _head(self, found: HeadScores) -> tuple[int, int]:
        """The chosen head, where the model has it; else the one with most of the picked score."""
        (layer, head), shares = self.session.attention.head, found[self._score.currentText()]
        layers, heads = shares.shape
        if self.session.attention.is_chosen and layer < layers and head < heads:
            return layer, head
        strongest = np.unravel_index(int(shares.argmax()), shares.shape)
        return int(strongest[0]), int(strongest[1])

    def _draw(self) -> None:
        found = self._shown()
        model = self.session.library.model
        over_time = found is not None and model is not None and len(model.snapshots) > 1
        self._map.setVisible(found is not None and not over_time)
        self._score.setVisible(found is not None and not over_time)
        self._over_time.setVisible(over_time)
        if found is None:
            self._said.setText("")
        elif over_time:
            self._draw_over_time(found)
        else:
            self._draw_map(found)
            self._said.setText(self.of_units(self._of_head(found, self._score.currentText())))

    def _draw_map(self, found: HeadScores) -> None:
        shares = found[self._score.currentText()][::-1]  # the first layer lies at the bottom
        layers, heads = shares.shape
        self._map.set_matrix(
            shares,
            scale="share",
            limit=1.0,
            rows=[str(numbered(layer)) for layer in reversed(range(layers))],
            columns=[str(numbered(head)) for head in range(heads)],
            words=[["" if share < WRITTEN else brief_percentage(share) for share in row] for row in shares],
        )
        layer, head = self._head(found)
        self._map.set_pinned((layers - 1 - layer, head))

    def _draw_over_time(self, found: HeadScores) -> None:
        from lmviz.circuits.heads_over_time import HeadsOverTime

        known, step = HeadsOverTime(self.scores), self.session.library.step
        steps, shares, of_units = known.steps, known.array, self.of_units
        turns, jump = known.turns(), known.jump()
        self._draw_losses(known)
        most = max(0.2, float(np.ceil(10 * shares.max()) / 10))
        self._legend.set_entries(
            [
                LegendEntry(of_units(IN_SHORT[name]), getattr(current_theme(), role))
                for name, role in ROLES.items()
            ]
        )
        rows = []
        for (layer, head), role in np.ndenumerate(found.roles):
            score = float(found[role][layer, head]) if role else 0.0
            rows.append(
                CurveRow(
                    head_name(layer, head),
                    {ROLES[name]: shares[:, at, layer, head] for at, name in enumerate(WHERE)},
                    ROLES[role] if role else "",
                    f"{of_units(IN_SHORT[role])} {whole_percentage(score)}" if role else "no clear role",
                )
            )
        self._rows.set_rows(steps, rows, most)
        layer, head = self._head(found)
        chosen = layer * found.array.shape[2] + head
        if chosen != self._rows.current:
            self._rows.set_current(chosen)
            row = self._rows.part_rectangle(chosen)
            self._scrolled.ensureVisible(0, round(row.center().y()), 0, round(row.height()))
        for shown in (self._losses, self._rows):
            shown.set_cursor(step)
            shown.set_band(None if jump is None else (jump.begin, jump.end))
        at = [] if jump is None or not self.is_whole else [(jump.at, f"the jump, step {count(jump.at)}")]
        self._losses.set_marks(at)
        if self.session.library.model is not None:
            self.session.library.mark(self.session.library.model, at)
        self._said.setText(of_units(f"{self._of_training(known, jump, turns)} {self._of_head(found)}"))
        self._align()

    def _draw_losses(self, known: HeadsOverTime) -> None:
        """The losses of the two sayings, over that of the training."""
        curves = [
            PlotCurve(self.of_units("new words"), known.steps, known.losses[:, 0], "muted_text", 1.2),
            PlotCurve("said again", known.steps, known.losses[:, 1], "accent", 2.4),
        ]
        if self.session.library.model is not None:
            history = self.session.training.history_of(self.session.library.model)
            usual = history.validation_loss if len(history.validation_loss) else history.loss
            if len(usual):
                curves.append(PlotCurve("usual loss", usual.steps, usual.values, "faint_text", 1.2))
        self._losses.set_end(known.steps[-1])
        self._losses.set_curves(curves)

    def _align(self) -> None:
        """Have all heads stand on the axis of the losses."""
        if not self.scores or not self._over_time.isVisible():
            return
        ends = (self._losses.place_of(step, 0) for step in (0, max(self.scores)))
        left, right = (self._rows.mapFromGlobal(self._losses.mapToGlobal(place)).x() for place in ends)
        self._rows.set_span(left, right)

    def _of_training(self, known: HeadsOverTime, jump: Jump | None, turns: Sequence[HeadTurn]) -> str:
        """When words said again became easier, and which heads turned to what in the same steps."""
        falls = known.loss_jump()
        if not self.is_whole:
            return "Each snapshot is read in turn …"
        if falls is None:
            said = "Repeated words are no easier for it than new ones."
        else:
            ends = f"from {number(falls.before, 1)} to {number(falls.after, 1)} nats"
            said = f"Around step {count(falls.at)} the loss of repeated words falls {ends}."
        with_it = [
            turn for turn in turns if jump is not None and turn.jump is not None and turn.jump.meets(jump)
        ]
        with_it.sort(key=lambda turn: turn.role in ("first", "rest"))  # what heads do, then where they rest
        if not with_it:
            return said
        when = "In the same steps" if falls is not None else f"Around step {count(jump.at if jump else 0)}"
        return f"{said} {when} {_turning(with_it)}."

    def _of_head(self, found: HeadScores, score: str = "") -> str:
        """What the shown head looks at most at the shown step; before that, how much of a score it has."""
        layer, head = self._head(found)
        shares = dict(zip(WHERE, found.array[:, layer, head].tolist(), strict=True))
        best = max(WHERE, key=shares.__getitem__)
        first = score or best
        most = "" if first == best else f", and most, {whole_percentage(shares[best])}, on {WHERE[best]}"
        has = f"has {whole_percentage(shares[first])} of its attention on {WHERE[first]}{most}."
        return f"Head {head_name(layer, head)} {has}"

    def _choose_cell(self, row: int, column: int) -> None:
        found = self._shown()
        if found is not None:
            self.session.attention.choose_head(found.array.shape[1] - 1 - row, column)

    def _choose_row(self, row: int) -> None:
        found = self._shown()
        if found is not None:
            self.session.attention.choose_head(*divmod(row, found.array.shape[2]))

    def _read_out_cell(self, row: int, column: int) -> tuple[str, Sequence[str]]:
        found = self._shown()
        return ("", ()) if found is None else self._read_out(found, found.array.shape[1] - 1 - row, column)

    def _read_out_row(self, row: int) -> tuple[str, Sequence[str]]:
        found = self._shown()
        return ("", ()) if found is None else self._read_out(found, *divmod(row, found.array.shape[2]))

    def _read_out(self, found: HeadScores, layer: int, head: int) -> tuple[str, Sequence[str]]:
        lines = [f"{whole_percentage(found[name][layer, head])} on {where}" for name, where in WHERE.items()]
        return f"head {head_name(layer, head)}", list(map(self.of_units, lines))


def _scores(model: Model) -> HeadScores:
    from lmviz.circuits.head_scores import head_scores

    return head_scores(model, words=WORDS, rows=ROWS)


def _turning(turns: Iterable[HeadTurn]) -> str:
    """Which heads turn to what: "1·1 and 1·2 turn to the word before, 2·1 to the first token"."""
    by_role: dict[str, list[str]] = {}
    for turn in turns:
        by_role.setdefault(turn.role, []).append(head_name(turn.layer, turn.head))
    (first, names), *others = by_role.items()
    who = f"head {names[0]} turns" if len(names) == 1 else f"heads {', '.join(names)} turn"
    return ", ".join(
        [f"{who} to {WHERE[first]}", *(f"{', '.join(names)} to {WHERE[role]}" for role, names in others)]
    )
