"""How well models translate, by the length of the source: how far do they carry what they have learned?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QPushButton

from lmviz.app.panels.compare.colors import color_of
from lmviz.app.panels.compare.text_to_come import lacking_in_text
from lmviz.app.panels.panel import JOBS, Panel
from lmviz.app.session.comparison import names_of
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker, sheet, stack
from lmviz.app.widgets.base.figures import count, whole_percentage
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.invitation import Invitation
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.plots.banded_plot import BandedPlot
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.workers.job import Job
from lmviz.base.reporting import Report
from lmviz.decoding.judged_pairs import TextPair, judged_pairs
from lmviz.inspection.recipes.run import quality_recipe
from lmviz.inspection.recipes.text import settings_of
from lmviz.looks.curve import PlotCurve
from lmviz.looks.names import Names
from lmviz.runs.opening import open_model_of, open_recorded
from lmviz.tasks import TRANSLATION

if TYPE_CHECKING:
    from lmviz.decoding.quality_by_length import LengthQuality, MeasuredShare

SAMPLES = ("twin-gru-short", "twin-gru-long", "twin-gru-attention-short", "twin-gru-attention-long")
"""The figure of the lecture: with and without attention, trained on short and on long sentences."""

BLEU, EXACT = "BLEU", "word for word"
NOTHING = (
    "Sentences that no model has learned from are translated. The plot shows how good the translations are, "
    "by the length of the source."
)
Quality = Mapping[int, "LengthQuality"]
Asked = tuple[tuple[Path, str], int, str]
"""The identity of a run, a step and the fingerprint of a text."""


class QualityByLengthPanel(Panel):
    """Measures when asked to, one model after the other; what was measured once is remembered."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._known: dict[Asked, Quality] = {}
        self._pairs: tuple[str, tuple[TextPair, ...]] = ("", ())
        self._chosen: tuple[Moment, int] | None = None
        self._job: Job | None = None
        self._share = 0.0
        self._measure = picker("quality_measure_box", "what is measured", [BLEU, EXACT])
        self._button = named(QPushButton("Measure"), "quality_button", role="link")
        self._note = MutedLine(right=True)
        self._legend, self._hidden = Legend(wraps=True, hides=True), set[str]()
        self._legend.entry_clicked.connect(self._hide)
        self.plot = named(BandedPlot(), "quality_plot")  # the plot itself
        self._written = named(MutedLine(), "worst_translation")
        self._wanted = named(MutedLine(), "wanted_translation")
        self._invitation = Invitation("quality_samples_button")
        self._pages = stack(
            self._invitation, sheet(column(self._legend, (self.plot, 1), self._written, self._wanted, gap=4))
        )
        controls = (self._note, self._measure, self._button)
        self._card = self.add_card("Quality by length", FittingRow(controls, (self._note,)), self._pages)
        self._button.clicked.connect(self._toggle)
        self._invitation.accepted.connect(self._accept)
        self._measure.currentIndexChanged.connect(self.refresh_soon)
        self.plot.point_chosen.connect(self._open_worst)
        self.follow(
            session.library.model_changed,
            session.library.models_changed,
            session.library.step_changed,
            session.comparison.choice_changed,
            session.surgery.changed,
            session.text.changed,
            session.text.reading_begun,
            session.text.reading_given_up,
            session.work.ready_changed,
        )

    def quality_of(self, moment: Moment) -> Quality | None:
        """What was measured of a model and step on the open text."""
        corpus = self.session.text.corpus
        return None if corpus is None else self._known.get(_key(moment, corpus.fingerprint))

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Of each curve, (length, 5): the length, the sentences, the value, and both ends of its band."""
        arrays = {}
        for name, moment in zip(self._names, self._moments, strict=True):
            found = self.quality_of(moment)
            if found is not None:
                rows = [(length, item.count, *_shares(self._part(item))) for length, item in found.items()]
                arrays[name] = np.array(rows, dtype=np.float64)
        return arrays

    def exported_names(self) -> Names:
        return Names(columns=("length", "sentences", self._measure.currentText(), "low", "high"))

    def recipe(self) -> str:
        corpus = self.session.text.corpus
        measured = [
            (str(model.folder), step) for model, step in self._moments if self.quality_of((model, step))
        ]
        if corpus is None or not measured or not corpus.sources:
            return ""
        return quality_recipe(corpus.sources, settings_of(corpus), measured)

    def refresh(self) -> None:
        moments, can_measure = self._moments, self._can_measure
        self._button.setVisible(can_measure)
        again = can_measure and not self._missing()
        self._button.setText("Cancel" if self._job is not None else "Measure again" if again else "Measure")
        self._measure.setVisible(can_measure)
        self._note.set_text(self._said() if can_measure else "")
        is_drawn = can_measure and (self._job is not None or any(map(self.quality_of, moments)))
        self._pages.setCurrentIndex(int(is_drawn))
        if can_measure:
            self._draw(moments)
            self._invitation.invite(NOTHING, "Measure")
            return
        no_pairs = lacking_in_text(self.session, "The open text has no pairs.")
        self._invitation.invite(
            "No model that translates is compared." if not moments else no_pairs,
            "Compare the four sample models of twin",
        )

    @property
    def _can_measure(self) -> bool:
        """Whether there are translators, and pairs to judge them by."""
        corpus = self.session.text.corpus
        return bool(self._moments) and corpus is not None and corpus.task == TRANSLATION

    @property
    def _moments(self) -> tuple[Moment, ...]:
        """The compared models that translate."""
        moments = self.session.comparison.moments
        return tuple(moment for moment in moments if moment[0].task.name == TRANSLATION)

    @property
    def _names(self) -> tuple[str, ...]:
        """Of each a name, which says where a model is changed elsewhere and measured as it was trained."""
        names = names_of(self._moments)
        if not self._is_changed:
            return names
        present = self.session.comparison.present
        ends = (", as trained" if moment == present else "" for moment in self._moments)
        return tuple(name + end for name, end in zip(names, ends, strict=True))

    @property
    def _is_changed(self) -> bool:
        return bool(self.session.surgery.in_force)

    def _hide(self, name: str) -> None:
        """Leave out the curve of a model, or bring it back."""
        self._hidden ^= {name}
        self.refresh_soon()

    def _draw(self, moments: tuple[Moment, ...]) -> None:
        names, corpus = self._names, self.session.text.corpus
        assert corpus is not None, "measured on a text"
        self.plot.set_units(f"{corpus.tokenizer.noun}s", "%" if self._is_exact else "")
        curves = [self._curve(name, moment) for name, moment in zip(names, moments, strict=True)]
        self.plot.set_curves([each for each in curves if each is not None and each.name not in self._hidden])
        trained = sorted({longest for model, _ in moments if (longest := model.description.longest_source)})
        self.plot.set_marks([(longest, f"trained to {count(longest)}") for longest in trained])
        self._legend.set_entries(
            [
                LegendEntry(name, color_of(moment), shown=curve is not None and name not in self._hidden)
                for name, moment, curve in zip(names, moments, curves, strict=True)
            ]
        )
        self._say_worst()

    def _curve(self, name: str, moment: Moment) -> PlotCurve | None:
        found = self.quality_of(moment)
        if found is None:
            return None
        lengths = np.array(list(found), dtype=np.float64)
        y, *band = 100 * np.array([_shares(self._part(item)) for item in found.values()]).T
        return PlotCurve(name, lengths, y, moment[0].color_index, dots=True, band=(band[0], band[1]))

    @property
    def _is_exact(self) -> bool:
        return self._measure.currentText() == EXACT

    def _part(self, quality: LengthQuality) -> MeasuredShare:
        return quality.exact_match if self._is_exact else quality.bleu

    def _said(self) -> str:
        if self._job is not None:
            return f"{self._job.name}: {whole_percentage(self._share)}"
        found = [quality for moment in self._moments if (quality := self.quality_of(moment))]
        said = "on sentences that were not learned from"
        if found:
            most = max(item.count for quality in found for item in quality.values())
            said = f"up to {count(most)} sentences each · 95 % bands (bootstrap)"
        # What was measured is of a model as it was trained, and is remembered.
        return f"without the changes · {said}" if self._is_changed else said

    def _missing(self) -> list[Moment]:
        return [moment for moment in self._moments if self.quality_of(moment) is None]

    def _toggle(self) -> None:
        corpus = self.session.text.corpus
        if self._job is not None:
            self._job.cancel()
            return
        if corpus is not None and not self._missing():
            for moment in self._moments:
                self._known.pop(_key(moment, corpus.fingerprint), None)
        self._measure_next()

    def _measure_next(self) -> None:
        corpus, missing = self.session.text.corpus, self._missing()
        if corpus is None or corpus.target_tokenizer is None or not missing:
            return
        moment, (drawn_from, pairs) = missing[0], self._pairs
        key, tokenizer = _key(moment, corpus.fingerprint), corpus.target_tokenizer
        folder, step = moment[0].folder, moment[1]
        drawn = pairs if drawn_from == corpus.fingerprint else None

        def work(report: Report) -> tuple[tuple[TextPair, ...], Quality]:
            from lmviz.decoding.quality_by_length import quality_by_length

            judged = drawn if drawn is not None else judged_pairs(corpus)
            # Its own instance: those of the reading thread belong to that thread alone.
            model = open_model_of(open_recorded(folder), step)
            return judged, quality_by_length(model, judged, tokenizer, report)

        def take(found: tuple[tuple[TextPair, ...], Quality]) -> None:
            self._pairs, self._known[key] = (key[2], found[0]), found[1]

        (name,) = names_of([moment])
        self._share = 0.0
        self._job = self.start_job(f"Translating with {name}", work, take)
        self._job.progressed.connect(self._progress)
        self._job.ended.connect(self._go_on)
        self.refresh_soon()

    def _progress(self, share: float) -> None:
        self._share = share
        self._note.set_text(self._said())

    def _go_on(self, job: Job) -> None:
        """Start the next one, unless the work was cancelled or failed."""
        self._job = None
        if not job.is_cancelled and not self.complains(JOBS):
            self._measure_next()
        self.refresh_soon()

    def _open_worst(self, length: float, name: str) -> None:
        """Open the worst sentence of a length: of the curve that was clicked, or of the shown model."""
        moments = dict(zip(self._names, self._moments, strict=True))
        if not moments or (name and name not in moments):
            return  # the model has been closed, and its curve is still in sight
        shown = self.session.comparison.present
        moment = moments[name] if name else shown if shown in moments.values() else self._moments[0]
        found = self.quality_of(moment)
        if found is None or int(length) not in found:
            return
        self._chosen, worst = (moment, int(length)), found[int(length)].worst
        self.session.comparison.show(moment)
        self.session.reading.set_source(worst.source)
        self.session.reading.set_prefix(worst.written)
        self._say_worst()

    def _say_worst(self) -> None:
        """What was written and what was wanted, below the plot, for the length that was clicked."""
        moment, length = self._chosen if self._chosen is not None else (None, 0)
        found = self.quality_of(moment) if moment is not None and moment in self._moments else None
        if moment is None or found is None or length not in found:
            hint = "Click a length: its worst translation is opened above, and its alignment under Attention."
            self._written.set_text(hint if self.plot.curves else "")
            self._wanted.set_text("")
            self.plot.choose(None)
            return
        worst = found[length].worst
        worst_of = self.of_units(f"worst of {count(length)} words")
        self.plot.choose(length)
        self._written.set_text(
            f"{worst_of} by {names_of([moment])[0]}, aligned under Attention: “{worst.written}”"
        )
        self._wanted.set_text(f"wanted: “{worst.wanted}”")

    def _accept(self) -> None:
        """Do what the invitation offers."""
        if self._can_measure:
            self._toggle()
        else:
            self._open_samples()

    def _open_samples(self) -> None:
        """Open the models of the lecture's figure, and the text that they were trained on."""
        session, (shown, *beside) = self.session, reversed(SAMPLES)
        for name in beside:
            session.library.open_beside(name, self._compare)
        session.library.open(shown)  # a language model that is shown would not be compared with them
        session.text.open("twin")

    def _compare(self, opened: OpenedModel) -> None:
        comparison = self.session.comparison
        comparison.choose(dict.fromkeys((*comparison.chosen, (opened, opened.snapshots[-1]))))


def _shares(measured: MeasuredShare) -> tuple[float, float, float]:
    return measured.value, measured.low, measured.high


def _key(moment: Moment, fingerprint: str) -> Asked:
    return moment[0].identity, moment[1], fingerprint
