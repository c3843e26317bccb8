"""What can be read off the states, by layer: linear probes for labels or a number, and their controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from lmviz.app.panels.circuits.probe_parts import (
    COUNT,
    DEPTH,
    INVITATION,
    KIND,
    LABEL,
    LABELS,
    MARK,
    MARKED,
    MARKS,
    NO_LABELS,
    NO_MARKS,
    NO_MODEL,
    NO_TEXT,
    NO_WORD,
    NUMBER_PLOT,
    PLACE,
    PLOT,
    POSITION,
    SENTENCE,
    SIDE,
    SIDES,
    SOURCE_TOO,
    curves_of,
    name_of,
    told_beside,
)
from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.shared.keep_direction import KEEP, keep_scaled
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.probes import FittedProbes
from lmviz.app.widgets.base.figures import count, whole_percentage
from lmviz.app.workers.job import Job
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.recipes.text import loading_of
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Button, LookPart, Picker, SideBySide, Space, Stacked

if TYPE_CHECKING:
    from lmviz.base.reporting import Report
    from lmviz.readouts.number_probe import NumberProbes
    from lmviz.readouts.probing import Probes
    from lmviz.text.corpus import Corpus


@dataclass(frozen=True)
class _Asked:
    """What is to be read off which model: of the kind, one of `KINDS`, depends what else counts."""

    moment: Moment
    corpus: Corpus
    kind: int
    phrases: tuple[str, ...]
    side: str
    word: str

    def fitted(self, probes: Probes) -> FittedProbes:
        """Probes of labels that were found, with what they are."""
        lines = [loading_of(self.corpus)] if self.corpus.sources else []
        if self.kind == MARKED:
            given = f"corpus, marked={list(self.phrases)!r}, side={self.side!r}"
            of, at = ", ".join(f"“{phrase}”" for phrase in self.phrases), SIDES[self.side]
        else:
            of_texts = self.corpus.task == "classification"
            given, of = "corpus", f"the labels of {self.corpus.name}"
            at = "at the last token of a text" if of_texts else "at the last token of a word"
        lines += [f"probes = lmviz.probe(model, {given})"] if lines else []
        return FittedProbes(probes, of, at, tuple(lines))


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
    _tap = ""  # whose direction is kept; empty for that of the widest gap
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
            keep = replace(KEEP, name="keep_probe_direction", shown=False)
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
        curves = curves_of(probes, probes.accuracy, "random labels")
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
        label = min(self._label, len(probes.names) - 1)
        picker = replace(LABEL, choices=probes.names, chosen=label, chose=self._choose_label)
        keep = replace(
            KEEP,
            name="keep_probe_direction",
            clicked=lambda: self._keep(probes, self._kept(probes)),
        )
        beside = told_beside(probes.sentence, told)
        return Look(
            (*self._marking(), SideBySide(first=plot, second=beside, shares=(5, 3), share=1)),
            head=(kind, picker, self._places(probes), keep, button),
            arrays=arrays,
            names=Names([name_of(address) for address in probes.addresses]),
        )

    def _number(self, probes: NumberProbes, kind: Picker, button: Button) -> Look:
        curves = curves_of(probes, probes.explained, "random numbers")
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
        keep = replace(
            KEEP,
            name="keep_probe_direction",
            clicked=lambda: self.session.directions.add(probes.direction(self._kept(probes))),
        )
        beside = told_beside(probes.sentence, told)
        return Look(
            (SideBySide(first=plot, second=beside, shares=(5, 3), share=1),),
            head=(kind, self._places(probes), keep, button),
            arrays=arrays,
            names=Names([name_of(address) for address in probes.addresses]),
        )

    def _kept(self, probes: Probes | NumberProbes) -> str:
        """The tap whose direction is kept: the chosen one, or else that with the widest gap."""
        best = probes.addresses[int(probes.gap.argmax())]
        return self._tap if self._tap in probes.addresses else best

    def _places(self, probes: Probes | NumberProbes) -> Picker:
        return replace(
            PLACE,
            choices=[place_in_words(address) for address in probes.addresses],
            chosen=probes.addresses.index(self._kept(probes)),
            chose=lambda at: self._choose_tap(probes.addresses[at]),
        )

    def _choose_tap(self, tap: str) -> None:
        self._tap = tap
        self.refresh_soon()

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
            from lmviz.readouts.probing import Probes

            if isinstance(found, Probes):
                self.session.lenses.probes.keep(asked.moment, asked.fitted(found))
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
