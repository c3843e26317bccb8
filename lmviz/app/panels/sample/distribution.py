"""From logits to a word: temperature, filters and softmax for the whole vocabulary, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtWidgets import QLineEdit

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.sample.pipeline_sentences import derivation_of
from lmviz.app.session.library import FIRST_MODEL, MODEL_OFFER
from lmviz.app.session.prospect import Prospect
from lmviz.app.session.session import Session
from lmviz.app.session.surgery import in_words, meaning_in_words
from lmviz.app.widgets.base.building import column, named
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import paragraph
from lmviz.app.widgets.controls.sampling_controls import SamplingControls
from lmviz.app.widgets.tables.figure_columns import FigureColumn, FigureLine
from lmviz.app.widgets.tables.figures_table import FiguresTable
from lmviz.base.errors import LmvizError
from lmviz.decoding.derivation import derive
from lmviz.decoding.distribution import Candidate, Distribution
from lmviz.decoding.options import FILTERS, SamplingOptions
from lmviz.inspection.recipes.decoding import distribution_recipe
from lmviz.looks.names import Names
from lmviz.text.tokenizer import visible

TITLE, EARLIER = "From logits to a {}", "Earlier in the text"
KEPT, CUT = "✓", "cut"
CUTS = ("top-k", "top-p", "min-p")
HINT = "Type a prefix to see what the model predicts after it."
TAIL = 18  # characters of the text that the title quotes


class DistributionPanel(Panel):
    """Every token's way from logit to probability; a click writes one, the pointer says how it came about.

    It shows `session.prospect`: the next distribution at the end of the text, the one of the last roll, or
    that after an earlier word that is pointed at.
    """

    draws = ("writing",)
    needs_next_word = "Open a language model to see how the next word is chosen."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._controls = SamplingControls()
        self._search = named(QLineEdit(), "distribution_search", "search the vocabulary", role="search")
        self._search.setPlaceholderText("search…")
        self._search.setClearButtonEnabled(True)
        self._table = named(FiguresTable(), "pipeline_table", "from logits to probabilities")
        self._invitation = Invitation("distribution_invitation")
        self._invitation.invite("Open or train a model, and see how it chooses the next word.", MODEL_OFFER)
        self._invitation.accepted.connect(lambda: session.library.open(FIRST_MODEL))
        self._foot = MutedLine()
        self._shown: Prospect | None = None
        self._lines = np.zeros(0, dtype=np.int64)
        self._vocabulary: Sequence[str] = ()
        self._folded: list[str] = []
        self._alphabetical = np.zeros(0, dtype=np.int64)
        self._arranged: tuple[np.ndarray | None, tuple[str, bool], str] = (None, ("", True), "")
        self._logits: np.ndarray | None = None
        self._sorted_by = ("probability", True)
        self._card = self.add_card(
            TITLE.format("word"),
            self._search,
            column(self._controls, (self._table, 1), (self._invitation, 1), self._foot),
        )
        self._connect()
        self.show_choices()

    @property
    def distribution(self) -> Distribution | None:
        """What is drawn."""
        return None if self._shown is None else self._shown.distribution

    @property
    def ids_shown(self) -> np.ndarray:
        """The ids in the order of the lines, after search and sorting."""
        distribution = self.distribution
        return self._lines if distribution is None else distribution.order[self._lines]

    def page_results(self) -> Sequence[Any]:
        return () if self.distribution is None else (self.distribution,)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """The columns of the table, line by line as they are sorted and searched."""
        distribution = self.distribution
        if distribution is None:
            return {}
        ids = self.ids_shown
        return {
            "ids": ids,
            "logits": distribution.logits[ids],
            "scaled": distribution.scaled[ids],
            "probabilities": distribution.probabilities[ids],
            "cumulative": distribution.cumulative[self._lines],
        }

    def exported_names(self) -> Names:
        distribution = self.distribution
        return Names([distribution.token(id) for id in self.ids_shown] if distribution is not None else ())

    def recipe(self) -> str:
        prospect = self._shown
        if prospect is None:
            return ""
        filters = prospect.distribution.options.unusual_values(*FILTERS)
        return distribution_recipe(prospect.moment, filters)

    def have_asked(self) -> None:
        self.session.writing.look_ahead()

    def show_choices(self) -> None:
        has_model = self.session.library.model is not None
        self._controls.set_options(self.session.writing.sampling)
        self._table.setVisible(has_model)
        self._invitation.setVisible(not has_model)

    def refresh(self) -> None:
        session = self.session
        prospect = self._shown = session.writing.prospect
        if prospect is None:
            self._foot.set_text("")
            self._table.set_columns(_columns(session.writing.sampling))
            self._table.set_lines(0, lambda line: FigureLine(()), HINT)
            return
        distribution = prospect.distribution
        if self._logits is not distribution.logits:
            self._logits = distribution.logits  # another place, and not just other options
            self._table.scrollToTop()
        self._arrange(distribution)
        self._card.set_title(
            TITLE.format(self.session.reading.noun) if prospect.position is None else EARLIER
        )
        said = self._summary(prospect)
        self._foot.set_text(said)
        self._foot.setToolTip(paragraph(f"{said}.", meaning_in_words(prospect.moment.interventions)))
        self._mark(prospect)

    def _summary(self, prospect: Prospect) -> str:
        """The chosen position, the model, and the entropy there."""
        distribution, changes = prospect.distribution, in_words(prospect.moment.interventions)
        pinned = prospect.position is not None and self.session.focus.is_position_pinned
        parts = (
            (f"after “{_tail(prospect.text)}”" if prospect.text else "at the beginning")
            + (", pinned: Escape returns to the end" if pinned else ""),
            changes,
            f"entropy {distribution.entropy:.2f} bits",
            f"{distribution.effective_choices:,.2f} effective choices",
            f"{count(distribution.choices)} of {count(len(distribution.order))} can be drawn",
        )
        return " · ".join(part for part in parts if part)

    def _connect(self) -> None:
        session, table = self.session, self._table
        table.set_explanation(self._explain)
        table.line_clicked.connect(self._write)
        table.line_hovered.connect(self._hover)
        table.title_clicked.connect(self._sort)
        table.set_sorted_by(*self._sorted_by[:1], descending=True)
        self._search.textChanged.connect(lambda _: self.refresh_soon())
        self._controls.changed.connect(self._change)
        self.show_failures(session.writing)
        session.writing.hovered_token_changed.connect(self._show_hovered)
        self.follow(
            session.library.model_changed,
            session.writing.branches_changed,
            session.writing.prospect_changed,
            session.writing.sampling_changed,
            session.reading.encoding_changed,
            session.surgery.changed,
            session.focus.position_changed,
            session.focus.hovered_position_changed,
            session.reading.changed,
        )

    def _arrange(self, distribution: Distribution) -> None:
        """Which rank is on which line: all or those found, in the chosen order."""
        if self._vocabulary is not distribution.tokens:
            self._vocabulary = distribution.tokens
            self._folded = [visible(token).casefold() for token in distribution.tokens]
            places = sorted(range(len(self._folded)), key=self._folded.__getitem__)
            self._alphabetical = np.array(places, dtype=np.int64)
            self._arranged = (None, self._sorted_by, "")
        wanted, arranged = self._search.text().casefold(), self._arranged
        if arranged[0] is not distribution.order or arranged[1:] != (self._sorted_by, wanted):
            self._arranged = (distribution.order, self._sorted_by, wanted)
            self._lines = self._arrangement(distribution.order, wanted)
        lines = self._lines
        self._table.set_columns(_columns(distribution.options))
        largest = distribution.probability_of(distribution.best)
        self._table.set_lines(
            len(lines),
            lambda line: _line(distribution.candidate(int(lines[line]) + 1), distribution.options, largest),
            f"No token contains “{self._search.text()}”.",
        )

    def _arrangement(self, order: np.ndarray, wanted: str) -> np.ndarray:
        """The ranks from 0 in the order of the lines: (line,). Other options leave it as it is."""
        name, descending = self._sorted_by
        if name == "token":
            ranks = np.empty(len(order), dtype=np.int64)
            ranks[order] = np.arange(len(ranks))
            lines = ranks[self._alphabetical]
        else:
            lines = np.arange(len(order))
        if descending == (name == "token"):
            lines = lines[::-1]
        if wanted:
            found = np.array([wanted in token for token in self._folded], dtype=bool)
            lines = lines[found[order[lines]]]
        return lines

    def _mark(self, prospect: Prospect) -> None:
        landed = prospect.landed
        self._table.set_marked(-1 if landed is None else self._line_of(landed))

    def _line_of(self, id: int) -> int:
        distribution = self.distribution
        if distribution is None:
            return -1
        found = np.flatnonzero(self._lines == distribution.rank_of(id) - 1)
        return int(found[0]) if len(found) else -1

    def _explain(self, line: int, name: str) -> tuple[str, Sequence[str]]:
        distribution = self.distribution
        if distribution is None:
            return "", ()
        rank = int(self._lines[line]) + 1
        return derivation_of(name, derive(distribution, rank), distribution.options)

    def _write(self, line: int) -> None:
        self.session.writing.write(int(self.ids_shown[line]))

    def _hover(self, line: int) -> None:
        self.session.writing.hover_token(int(self.ids_shown[line]) if line >= 0 else None)

    def _show_hovered(self) -> None:
        hovered = self.session.writing.hovered_token
        if self.isVisible() and not self._table.underMouse():
            self._table.set_hovered(-1 if hovered is None else self._line_of(hovered))

    def _sort(self, name: str) -> None:
        """Every figure has the ranking's order, so there are two orders, and both directions of each."""
        before = self._sorted_by
        first = name != "token"
        self._sorted_by = (name, not before[1] if before[0] == name else first)
        self._table.set_sorted_by(name, descending=self._sorted_by[1])
        self.refresh_soon()

    def _change(self, name: str, value: object) -> None:
        try:
            self.session.writing.set_sampling(**{name: value})
        except LmvizError as sentence:
            self._foot.set_text(str(sentence))


def _columns(options: SamplingOptions) -> list[FigureColumn]:
    """The columns in order; that of a filter that is off is dimmed, and hidden if there is no room."""

    def filtering(name: str, title: str, on: bool, source: str) -> FigureColumn:
        shown = title if on else title.split()[0]
        return FigureColumn(
            name, shown, "mark", 74 if on else 50, 0.5, spare=not on, sources=(source,), quiet=not on
        )

    return [
        FigureColumn("token", "token", "token", 76, 1.5),
        FigureColumn("logit", "logit", width=56),
        FigureColumn("scaled", "÷ temperature", width=92, sources=("logit",), brief="÷ temp."),
        filtering("top_k", f"top-k {count(options.top_k)}", options.top_k > 0, "scaled"),
        filtering("top_p", f"top-p {options.top_p:g}", options.top_p < 1, "top_k"),
        filtering("min_p", f"min-p {options.min_p:g}", options.min_p > 0, "top_p"),
        FigureColumn("probability", "probability", "bar", 104, 3, sources=("scaled",), brief="prob."),
        FigureColumn("cumulative", "cumulative", width=78, spare=True, sources=("probability",), runs=True),
    ]


def _line(candidate: Candidate, options: SamplingOptions, largest: float) -> FigureLine:
    marks = []
    for name in CUTS:
        done = CUTS.index(candidate.cut_by) if candidate.cut_by else len(CUTS)
        place = CUTS.index(name)
        marks.append(KEPT if place < done else CUT if place == done else "")
    off = (options.top_k == 0, options.top_p >= 1, options.min_p == 0)
    marks = ["·" if quiet and mark == KEPT else mark for mark, quiet in zip(marks, off, strict=True)]
    figures = [number(candidate.logit, 2), number(candidate.scaled, 2)]
    shares = (candidate.probability, candidate.cumulative)
    last = ["", ""] if candidate.cut_by else [percentage(share) for share in shares]
    return FigureLine(
        [visible(candidate.token), *figures, *marks, *last],
        candidate.probability / largest,
        bool(candidate.cut_by) or candidate.probability == 0,
    )


def _tail(text: str) -> str:
    """The end of a text, whole words where it can be."""
    shown = " ".join(visible(part) for part in text.split(" "))
    if len(shown) <= TAIL:
        return shown
    return "… " + shown[-TAIL:].partition(" ")[2].lstrip() if " " in shown[-TAIL:] else "…" + shown[-TAIL:]
