"""What can be read off the states, by layer: linear probes for labels or a number, and their controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
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
from lmviz.looks.parts import Button, Curves, Field, LookPart, Picker, SideBySide, Space, Stacked, Words
from lmviz.models.address import Address
from lmviz.text.corpus import Corpus

if TYPE_CHECKING:
    from lmviz.base.reporting import Report
    from lmviz.readouts.number_probe import NumberProbes
    from lmviz.readouts.probing import Probes

NO_MODEL = "Open a model to see what can be read off its states."
NO_LABELS = (
    "Open a text with tags or labels: a probe is fitted to say them from the states of the shown model, "
    "whatever that was trained for. Or mark words, or choose a number: these need a plain text."
)
NO_TEXT = "Open a plain text to read marked words or a number off the states of the shown model."
NO_MARKS = "Type words or phrases to mark, with commas between them, or mark the current word."
NO_WORD = "Type a text: the word that is counted is the current one."
LABELS, MARKED, POSITION, DEPTH, COUNT = range(5)
KINDS = (
    "labels of the text",
    "marked words",
    "position",
    "depth of brackets",
    "count of the current word",
)
SIDES = {"at": "at the word", "before": "one token before", "after": "one token after"}
SOURCE_TOO = "{} reads a source beside its text, and probes read models of one text: open another."
INVITATION = (
    "Can the labels, or the number, be read off the state after each layer? And is that more than the "
    "words, random labels or numbers, and the same network before its training give?"
)
SENTENCE = Words("probe_sentence")
KIND = Picker("probe_kind_picker", says="what is read off the states", choices=KINDS)
MARKS = Field("probe_marks_edit", says="words or phrases that are marked", hint="Words to mark, with commas")
MARK = Button(
    "probe_mark_button", text="mark current word", tip="Mark the word of the typed text that is looked at."
)
SIDE = Picker("probe_side_picker", says="where the state is read", choices=tuple(SIDES.values()))
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
NUMBER_PLOT = Curves(
    "probe_number_plot",
    says="how much of a number a probe explains, by layer, and its controls",
    x_name="layer",
    y_name="R² on texts held out",
    possible=((-1.0, np.inf), (-np.inf, 1.0)),
    share=1,
)


@dataclass(frozen=True)
class _Asked:
    """What is to be read off which model: of the kind, one of `KINDS`, depends what else counts."""

    moment: Moment
    corpus: Corpus
    kind: int
    phrases: tuple[str, ...]
    side: str
    word: str


class ProbePanel(ShowingPanel):
    """A button fits the probes; each accuracy stands beside its controls."""

    title = "What can be read"
    follows = (
        "library.model_changed",
        "library.step_changed",
        "text.changed",
        "work.ready_changed",
        "reading.changed",
        "focus.position_changed",
    )

    _found: Mapping[_Asked, Probes | NumberProbes] = MappingProxyType({})
    _kind, _side, _label = LABELS, "at", 0
    _marks = ""
    _job: Job | None = None

    @property
    def found(self) -> Probes | NumberProbes | None:
        """What was found of the shown model at the shown step on the open text; None before that."""
        asked = self._asked
        return None if asked is None else self._found.get(asked)

    @property
    def probes(self) -> Probes | None:
        """The same where it is labels that are read."""
        if self.found is None:
            return None
        from lmviz.readouts.probing import Probes  # loaded by the job that found them

        return self.found if isinstance(self.found, Probes) else None

    @property
    def _asked(self) -> _Asked | None:
        moment, corpus = self._moment, self.session.text.corpus
        if moment is None or corpus is None:
            return None
        return _Asked(moment, corpus, self._kind, self._phrases, self._side, self._word)

    @property
    def _phrases(self) -> tuple[str, ...]:
        """What is marked."""
        if self._kind != MARKED:
            return ()
        return tuple(part.strip() for part in self._marks.split(",") if part.strip())

    @property
    def _word(self) -> str:
        """The word that is looked at, where it is counted."""
        return self._current if self._kind == COUNT else ""

    @property
    def _current(self) -> str:
        reading = self.session.reading.current
        if reading is None:
            return ""
        tokens = reading.trace.tokens
        return tokens[min(self.session.reading.position, len(tokens) - 1)].strip()

    @property
    def _moment(self) -> Moment | None:
        model = self.session.library.model
        return (
            None if model is None else (model, model.nearest_snapshot(self.session.library.shown_moment[1]))
        )

    def out_of_place(self, model: OpenedModel) -> str:
        return SOURCE_TOO.format(model.name) if model.reads_source else ""

    def look(self) -> Look:
        found, obstacle = self.found, self._obstacle()
        button = Button(
            "probe_button",
            text="probe" if self._job is None else "stop",
            enabled=self._job is not None or not obstacle,
            clicked=self._start_or_stop,
        )
        kind = replace(KIND, chosen=self._kind, chose=self._choose_kind)
        marking = self._marking()
        if found is None:
            said = replace(SENTENCE, text=obstacle or INVITATION, role="muted", centred=True)
            plot, other = replace(PLOT, shown=False), replace(NUMBER_PLOT, shown=False)
            beside = Stacked(parts=(Space(), said, Space(), other))
            keep = replace(KEEP, name="keep_probe_direction", enabled=False)
            return Look((*marking, SideBySide(first=plot, second=beside)), head=(kind, keep, button))
        from lmviz.readouts.probing import Probes

        if isinstance(found, Probes):
            return self._labels(found, kind, button)
        return self._number(found, kind, button)

    def _marking(self) -> tuple[LookPart, ...]:
        """What marks words, while these are read."""
        edit = replace(MARKS, text=self._marks, entered=self._mark)
        current = self._current
        mark = replace(MARK, enabled=bool(current), clicked=lambda: self._mark_also(current))
        side = replace(SIDE, chosen=list(SIDES).index(self._side), chose=self._choose_side)
        further = SideBySide(first=mark, second=side, shares=(1, 1))
        return (SideBySide(first=edit, second=further, shares=(3, 2)),) if self._kind == MARKED else ()

    def _labels(self, probes: Probes, kind: Picker, button: Button) -> Look:
        curves = _curves(probes, probes.accuracy, "random labels")
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
            KEEP,
            name="keep_probe_direction",
            clicked=lambda: self._keep(probes, best),
        )
        beside = _beside(probes.sentence, told)
        return Look(
            (*self._marking(), SideBySide(first=plot, second=beside, shares=(5, 3), share=1)),
            head=(kind, picker, keep, button),
            arrays=arrays,
            names=Names([_name(address) for address in probes.addresses]),
        )

    def _number(self, probes: NumberProbes, kind: Picker, button: Button) -> Look:
        curves = _curves(probes, probes.explained, "random numbers")
        references = [("words alone", probes.words)]
        if probes.position is not None:
            references.append(("the position", probes.position))
        plot = replace(NUMBER_PLOT, curves=curves, references=references)
        told = (
            f"{count(probes.tested)} tokens of texts held out, {count(probes.fitted)} to fit on. Ridge "
            f"regression, λ = {1 / probes.strength:g}, over states of variance 1; 0 is guessing the mean. "
            "Random numbers: one for each word."
        )
        arrays = {
            "explained": probes.explained,
            "low": probes.low,
            "high": probes.high,
            "random_numbers": probes.shuffled,
            "gap": probes.gap,
        }
        if probes.untrained is not None:
            arrays["before_training"] = probes.untrained
        best = probes.addresses[int(probes.gap.argmax())]
        keep = replace(
            KEEP,
            name="keep_probe_direction",
            clicked=lambda: self.session.directions.add(probes.direction(best)),
        )
        beside = _beside(probes.sentence, told)
        return Look(
            (SideBySide(first=plot, second=beside, shares=(5, 3), share=1),),
            head=(kind, keep, button),
            arrays=arrays,
            names=Names([_name(address) for address in probes.addresses]),
        )

    def _keep(self, probes: Probes, address: str) -> None:
        """Keep the direction to the chosen label."""
        label = probes.names[min(self._label, len(probes.names) - 1)]
        keep_scaled(self.session, probes.direction(address, label))

    def _choose_kind(self, at: int) -> None:
        self._kind = at
        self.refresh_soon()

    def _choose_side(self, at: int) -> None:
        self._side = list(SIDES)[at]
        self.refresh_soon()

    def _mark(self, marks: str) -> None:
        self._marks = marks
        self.refresh_soon()

    def _mark_also(self, word: str) -> None:
        if word and word not in self._phrases:
            self._mark(f"{self._marks.strip().rstrip(',')}, {word}" if self._phrases else word)

    def _choose_label(self, at: int) -> None:
        self._label = at
        self.refresh_soon()

    def _obstacle(self) -> str:
        """Why nothing can be probed; empty where it can."""
        if self.session.library.model is None:
            return NO_MODEL
        corpus = self.session.text.corpus
        if self._kind == LABELS:
            is_labelled = corpus is not None and corpus.task in ("tagging", "classification")
            return "" if is_labelled else NO_LABELS
        if corpus is None or corpus.task != "next-token":
            return NO_TEXT
        if self._kind == MARKED and not self._phrases:
            return NO_MARKS
        return NO_WORD if self._kind == COUNT and not self._word else ""

    def _start_or_stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
        else:
            self._start()

    def _start(self) -> None:
        asked = self._asked
        if asked is None:
            return

        def take(found: Probes | NumberProbes) -> None:
            self._found = {**self._found, asked: found}
            self.refresh_soon()

        self._job = self.start_job(
            f"Probing {asked.moment[0].name}", lambda report: _probed(asked, report), take
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


def _curves(probes: Probes | NumberProbes, found: np.ndarray, at_random: str) -> list[PlotCurve]:
    """What is read at each layer, with its band, above what an untrained network and chance give."""
    layers = np.array([_place(address) for address in probes.addresses])
    curves = [
        PlotCurve("read here", layers, found, "accent", dots=True, band=(probes.low, probes.high)),
        PlotCurve(at_random, layers, probes.shuffled, "muted_text", dashed=True),
    ]
    if probes.untrained is not None:
        curves.insert(1, PlotCurve("before training", layers, probes.untrained, "value", dots=True))
    return curves


def _beside(sentence: str, told: str) -> Stacked:
    """What may be claimed, and what it was measured on."""
    return Stacked(
        parts=(
            Space(),
            replace(SENTENCE, text=sentence),
            Words(text=told, role="muted"),
            Space(),
            Words(text="Hewitt & Liang 2019", role="muted", tip=CONTROL_TASK),
        )
    )


def _probed(asked: _Asked, report: Report) -> Probes | NumberProbes:
    """The probes of a model at a step, as a job."""
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.labelled import read_labelled, read_marked
    from lmviz.readouts.number_probe import probe_number
    from lmviz.readouts.numbered import read_numbered
    from lmviz.readouts.probing import probe
    from lmviz.runs.opening import open_model_of, open_recorded
    from lmviz.runs.untrained import untrained_of

    opened, step = asked.moment
    run = open_recorded(opened.folder)
    model = open_model_of(run, step)
    before, corpus = untrained_of(run, model), asked.corpus
    with heard_by(report):
        if asked.kind == LABELS:
            return probe(model, read_labelled(model, corpus), untrained=before)
        texts = corpus.training_documents
        if asked.kind == MARKED:
            return probe(model, read_marked(model, texts, asked.phrases, side=asked.side), untrained=before)
        of = {POSITION: "position", DEPTH: "depth"}.get(asked.kind, f"count: {asked.word}")
        return probe_number(model, read_numbered(model, texts, of), untrained=before)


def _place(address: str) -> int:
    """Where a state stands along the axis: at the number of its layer, or one before the first."""
    layer = Address.parse(address).layer
    return int(numbered(0)) - 1 if layer is None else int(numbered(layer))


def _name(address: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(address).layer
    return stop_name(address) if layer is None else str(numbered(layer))
