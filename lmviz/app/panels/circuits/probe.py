"""What can be read off the states, by layer: linear probes for the labels of the open text, and controls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.shared.keep_direction import KEEP, keep_scaled
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.widgets.base.figures import count, whole_percentage
from lmviz.app.workers.job import Job
from lmviz.base.counting import numbered
from lmviz.inspection.names import stop_name
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Button, Curves, Picker, SideBySide, Space, Stacked, Words
from lmviz.models.address import Address
from lmviz.text.corpus import Corpus

if TYPE_CHECKING:
    from lmviz.base.reporting import Report
    from lmviz.readouts.probing import Probes

NO_MODEL = "Open a model to see what can be read off its states."
NO_LABELS = (
    "Open a text with tags or labels: a probe is fitted to say them from the states of the shown model, "
    "whatever that was trained for."
)
SOURCE_TOO = "{} reads a source beside its text, and probes read models of one text: open another."
INVITATION = (
    "Can the labels of the open text be read off the state after each layer? And is that more than the "
    "words, random labels, and the same network before its training give?"
)
SENTENCE = Words("probe_sentence")
LABEL = Picker("probe_label_picker", says="of which label the direction is kept")
PLOT = Curves(
    "probe_plot",
    says="how often a probe is right, by layer, and its controls",
    x_name="layer",
    y_name="right of those held out",
    possible=((-1.0, np.inf), (0.0, 1.0)),
    writes=(None, whole_percentage),
    share=1,
)


class ProbePanel(ShowingPanel):
    """A button fits the probes; each accuracy stands beside its controls."""

    title = "What can be read"
    follows = (
        "library.model_changed",
        "library.step_changed",
        "text.changed",
        "work.ready_changed",
        "reading.changed",
    )

    _found: tuple[Moment, Corpus, Probes] | None = None
    _label = 0
    _job: Job | None = None

    @property
    def probes(self) -> Probes | None:
        """What was found of the shown model at the shown step on the open text; None before that."""
        if self._found is None or self._found[:2] != (self._moment, self.session.text.corpus):
            return None
        return self._found[2]

    @property
    def _moment(self) -> Moment | None:
        model = self.session.library.model
        return (
            None if model is None else (model, model.nearest_snapshot(self.session.library.shown_moment[1]))
        )

    def out_of_place(self, model: OpenedModel) -> str:
        return SOURCE_TOO.format(model.name) if model.reads_source else ""

    def look(self) -> Look:
        probes, obstacle = self.probes, self._obstacle()
        button = Button(
            "probe_button",
            text="probe" if self._job is None else "stop",
            enabled=self._job is not None or not obstacle,
            clicked=self._start_or_stop,
        )
        if probes is None:
            said = replace(SENTENCE, text=obstacle or INVITATION, role="muted", centred=True)
            plot = replace(PLOT, shown=False)
            return Look(
                (SideBySide(first=plot, second=Stacked(parts=(Space(), said, Space()))),), head=(button,)
            )
        names = [_name(address) for address in probes.addresses]
        layers = np.array([_place(address) for address in probes.addresses])
        curves = [
            PlotCurve(
                "read here", layers, probes.accuracy, "accent", dots=True, band=(probes.low, probes.high)
            ),
            PlotCurve("random labels", layers, probes.shuffled, "muted_text", dashed=True),
        ]
        if probes.untrained is not None:
            curves.insert(1, PlotCurve("before training", layers, probes.untrained, "value", dots=True))
        plot = replace(
            PLOT,
            curves=curves,
            references=[("words alone", probes.words), ("commonest label", probes.majority)],
        )
        told = (
            f"{count(probes.tested)} places of texts held out, {count(probes.fitted)} to fit on, "
            f"{count(len(probes.names))} labels; {whole_percentage(probes.seen)} of the words held out were "
            f"seen before. Logistic regression, C = {probes.strength:g}, over states of variance 1."
        )
        beside = Stacked(
            parts=(
                Space(),
                replace(SENTENCE, text=probes.sentence),
                Words(text=told, role="muted"),
                Space(),
                Words(text="Hewitt & Liang 2019", role="muted", tip=CONTROL_TASK),
            )
        )
        arrays = {
            "accuracy": probes.accuracy,
            "low": probes.low,
            "high": probes.high,
            "random_labels": probes.shuffled,
            "gap": probes.gap,
        }
        if probes.untrained is not None:
            arrays["before_training"] = probes.untrained
        best = probes.addresses[int(probes.gap.argmax())]
        label = min(self._label, len(probes.names) - 1)
        picker = replace(LABEL, choices=probes.names, chosen=label, chose=self._choose_label)
        keep = replace(
            KEEP, name="keep_probe_direction", clicked=lambda: self._keep(probes, best, probes.names[label])
        )
        return Look(
            (SideBySide(first=plot, second=beside, shares=(5, 3), share=1),),
            head=(picker, keep, button),
            arrays=arrays,
            names=Names(names),
        )

    def _choose_label(self, at: int) -> None:
        self._label = at
        self.refresh_soon()

    def _keep(self, probes: Probes, address: str, label: str) -> None:
        """Keep the direction to a label, where the gap is largest."""
        keep_scaled(self.session, probes.direction(address, label))

    def _obstacle(self) -> str:
        """Why nothing can be probed; empty where it can."""
        if self.session.library.model is None:
            return NO_MODEL
        corpus = self.session.text.corpus
        is_labelled = corpus is not None and corpus.task in ("tagging", "classification")
        return "" if is_labelled else NO_LABELS

    def _start_or_stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
        else:
            self._start()

    def _start(self) -> None:
        moment, corpus = self._moment, self.session.text.corpus
        if moment is None or corpus is None:
            return

        def take(found: Probes) -> None:
            self._found = (moment, corpus, found)
            self.refresh_soon()

        self._job = self.start_job(
            f"Probing {moment[0].name}", lambda report: _probed(moment, corpus, report), take
        )
        self._job.ended.connect(self._end)
        self.refresh_soon()

    def _end(self, job: Job) -> None:
        """However it ended, also when it was stopped."""
        self._job = None
        self.refresh_soon()


CONTROL_TASK = (
    "Designing and Interpreting Probes with Control Tasks: a probe that learns random labels by heart says "
    "little about the states it reads."
)


def _probed(moment: Moment, corpus: Corpus, report: Report) -> Probes:
    """The probes of a model at a step for a labelled text, as a job."""
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.labelled import read_labelled
    from lmviz.readouts.probing import probe
    from lmviz.runs.opening import open_model_of, open_recorded
    from lmviz.runs.untrained import untrained_of

    opened, step = moment
    run = open_recorded(opened.folder)
    model = open_model_of(run, step)
    with heard_by(report):
        return probe(model, read_labelled(model, corpus), untrained=untrained_of(run, model))


def _place(address: str) -> int:
    """Where a state stands along the axis: at the number of its layer, or one before the first."""
    layer = Address.parse(address).layer
    return int(numbered(0)) - 1 if layer is None else int(numbered(layer))


def _name(address: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(address).layer
    return stop_name(address) if layer is None else str(numbered(layer))
