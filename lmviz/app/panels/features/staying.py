"""Whether features stay on over the words, and what a probe reads off the same states: a staircase, and bars.

What remembers would be a long line among the features; the probe says how long the state remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.features.asked_features import FOLLOWS, READING, name_in_words, what_is_missing
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import brief_percentage, count, number, percentage, whole_percentage
from lmviz.app.workers.job import Job
from lmviz.features.recipes import over_texts_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Button, Curves, Matrix, Readout, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.base.reporting import Report
    from lmviz.features.remembered import RememberedWords
    from lmviz.features.staying import StayingFeatures
    from lmviz.models.model import Model

NO_PREFIX = "Type a text to see how long features stay on in it."
TOKENS = 10_000
SENTENCE = Words("staying_sentence")
BUTTON = Button("remembered_button", text="read words off")
INVITATION = (
    "Does the state remember what no feature keeps? The button {} exchanges words of this text for others "
    "of their kind, and has a probe say at each later token which it was; and the same before the training."
)
REMEMBERED_SENTENCE = Words("remembered_sentence")
REMEMBERED = Matrix(
    "remembered_words",
    says="how often a probe reads each word off the later states, above the features that stay on longest",
    scale="share",
    share=5,
)
BESIDE = 3
"""So many features stand below the words that are read off: those that stay on longest in this text."""
WRITTEN = 0.995
STAIRS = Matrix("staying_stairs", says="features by their first token", scale="count", share=5)
STILL = Curves(
    "staying_plot",
    says="how many features are still on some tokens later",
    x_name="tokens later",
    y_name="still on",
    possible=((0.0, np.inf), (0.0, 1.0)),
    writes=(None, whole_percentage),
    share=2,
)


@dataclass(frozen=True, eq=False)
class StayingFound:
    """How long features stay on in the open text, and those of the typed text by their first token.

    `features` (row,) are numbers, `activations` (row, position).
    """

    staying: StayingFeatures
    features: np.ndarray
    activations: np.ndarray

    @property
    def longest(self) -> np.ndarray:
        """The rows, those first that are on at most tokens one after the other."""
        runs = np.zeros(len(self.features), dtype=np.int64)
        run = runs.copy()
        for on in (self.activations > 0).T:
            run = (run + 1) * on
            runs = np.maximum(runs, run)
        return np.argsort(-runs, kind="stable")


@dataclass(frozen=True)
class _Read:
    """Of which states of which text words are read off."""

    moment: Moment
    tap: str
    ids: tuple[int, ...]


class StayingPanel(AskingPanel[Reading, StayingFound]):
    """One row for each feature that is on in the typed text; below, how many are still on later.

    A button has words read off the same states: then these have rows, the features that stay longest have
    theirs below, and the curve of one word stands beside that of the features.
    """

    title = "Which features stay on"
    draws = ("reading",)
    key = Key("staying features")
    follows = (*FOLLOWS, "reading.changed", "focus.position_changed", "text.changed")
    parts = (SENTENCE, REMEMBERED_SENTENCE, STAIRS, REMEMBERED, STILL)

    _words: tuple[_Read, RememberedWords] | None = None
    _word: str = ""
    _job: Job | None = None

    @property
    def remembered(self) -> RememberedWords | None:
        """What a probe reads off the states of the typed text; None before it has been asked."""
        known = self._words
        return None if known is None or known[0] != self._read else known[1]

    @property
    def _read(self) -> _Read | None:
        features, reading = self.session.features, self.session.reading.current
        if features.dictionary is None or features.moment is None or reading is None:
            return None
        if features.dictionary.tap not in reading.trace:
            return None
        return _Read(features.moment, features.dictionary.tap, tuple(int(at) for at in reading.trace.ids))

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def first_look(self) -> Look:
        return self._without("")

    def _without(self, sentence: str) -> Look:
        """What there has to be first; words can be read off as soon as there are states."""
        return Look(self.parts, instead=sentence, head=(self._button(),))

    @property
    def _invitation(self) -> str:
        return INVITATION.format(f"“{self.of_units('Read words off')}”")

    def _button(self) -> Button:
        return replace(
            BUTTON,
            text="read words off" if self._job is None else "stop",
            enabled=self._job is not None or self._read is not None,
            clicked=self._start_or_stop,
        )

    def question(self) -> Question[Reading, StayingFound] | Look:
        features, reading = self.session.features, self.session.reading.current
        features.renew()
        missing = what_is_missing(self.session)
        dictionary, over = features.dictionary, features.reading
        if missing or dictionary is None:
            return self._without(missing)
        if reading is None or dictionary.tap not in reading.trace:
            return self._without(NO_PREFIX)
        if over is None:
            return self._without(READING)
        states, known = reading.trace[dictionary.tap].array, None
        about = (dictionary, features.moment, len(over.rows))
        if self.asked is not None and self.asked.about == about and self.found is not None:
            known = self.found.staying

        def work(model: Model) -> StayingFound:
            from lmviz.features.staying import staying_features

            rows, tokens = [], 0
            for ids in over.rows:
                if tokens < TOKENS:
                    rows.append(ids)
                    tokens += len(ids)
            staying = known
            if staying is None:
                *_, staying = staying_features(model, dictionary, rows)
            activations = dictionary.encode(states)
            on = activations > 0
            fired = np.flatnonzero(on[1:].any(axis=0)) if len(on) > 1 else np.flatnonzero(on.any(axis=0))
            order = fired[np.argsort(on[:, fired].argmax(axis=0), kind="stable")]
            return StayingFound(staying, order, activations[:, order].T)

        return Question(self.key, reading, work, about=about)

    def look(self, reading: Reading, found: StayingFound) -> Look:
        opened, over = self.session.features.opened, self.session.features.reading
        corpus, moment = self.session.text.corpus, self.session.features.moment
        if opened is None or over is None or corpus is None or moment is None:
            return Look(self.parts)
        tokens, chosen = reading.trace.tokens, self.session.features.chosen

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            feature = int(found.features[row])
            value = number(float(found.activations[row, column]), 2)
            return f"Feature {feature}", [
                name_in_words(opened, over, feature),
                f"{value} at “{tokens[column]}”",
            ]

        stairs = replace(
            STAIRS,
            values=found.activations,
            columns=[visible(token) for token in tokens],
            row=int(np.flatnonzero(found.features == chosen)[0]) if chosen in found.features else -1,
            column=self.session.reading.position,
            readout=read_out,
            clicked=lambda row, _: self.session.features.choose(int(found.features[row])),
        )
        distances = np.arange(1, len(found.staying.still) + 1)
        curves = [PlotCurve("still on", distances, found.staying.still, "validation", dots=True)]
        references = [("by chance", found.staying.chance)]
        arrays = {"still": found.staying.still, "longest": found.staying.longest}
        remembered = self.remembered
        said, sentence = replace(REMEMBERED_SENTENCE, text=self._invitation, role="muted"), _sentence(found)
        grid = replace(REMEMBERED, shown=False)
        if remembered is not None:
            word = self._which(remembered, reading)
            sentence = f"{remembered.sentence(word)} {_stays(found)}."
            said = replace(REMEMBERED_SENTENCE, shown=False)
            stairs, grid = replace(stairs, shown=False), self._grid(remembered, found, word, tokens)
            curves += _probe_curves(remembered, word, len(distances))
            arrays |= {
                "probe": remembered.since(word)[1:],
                "probe_by_chance": remembered.chance[word : word + 1],
                "probe_lasts": np.array([remembered.lasts(word)]),
            }
            if remembered.untrained is not None:
                arrays["probe_before_training"] = remembered.since(word, untrained=True)[1:]
                arrays["lasts_before_training"] = np.array([remembered.lasts(word, untrained=True)])
        still = replace(STILL, curves=curves, references=references)
        return Look(
            (
                replace(SENTENCE, text=sentence),
                said,
                stairs,
                grid,
                still,
            ),
            aside=f"{count(len(found.features))} features",
            head=(self._button(),),
            arrays=arrays,
            names=Names([f"{distance} later" for distance in distances]),
            recipe=over_texts_recipe(
                moment[0].reading("", moment[1]),
                str(opened.file),
                corpus,
                "values = lmviz.staying_features(model, dictionary, corpus).still",
            ),
        )

    def _which(self, remembered: RememberedWords, reading: Reading) -> int:
        """The word whose curve is drawn: the clicked one, the first that is said once, or the shown one."""
        if self._word in remembered.words:
            return remembered.words.index(self._word)
        position = self.session.reading.position
        here = np.flatnonzero(remembered.stands[:, min(position, len(remembered.ids) - 1)])
        once = np.flatnonzero(remembered.stands.sum(axis=1) == 1)
        return int((*once, *here, 0)[0])

    def _grid(
        self, remembered: RememberedWords, found: StayingFound, word: int, tokens: tuple[str, ...]
    ) -> Matrix:
        """A row for each word: how often it is read off the state at each token, none before it is said.

        Below a gap, the features that stay longest in this text, as shares of the largest activation in it.
        """
        longest = found.longest[:BESIDE]
        shares = found.activations[longest] / max(float(found.activations.max(initial=0.0)), 1e-9)
        gap = np.zeros((1, len(tokens)))
        words, features = remembered.words, found.features[longest]

        def read_out(row: int, column: int) -> Readout:
            if row > len(words):
                value = float(found.activations[longest[row - len(words) - 1], column])
                return f"Feature {features[row - len(words) - 1]}", [
                    f"{number(value, 2)} at “{tokens[column]}”"
                ]
            if row == len(words):
                return "", ()
            share, name = float(remembered.accuracy[row, column]), words[row]
            if np.isnan(share):
                return f"“{name}” has not been said yet", ()
            lines = [f"of {count(remembered.tested)} texts held out, at “{tokens[column]}”"]
            if remembered.untrained is not None:
                before = whole_percentage(float(remembered.untrained[row, column]))
                lines.append(f"before the training {before}")
            lines.append(f"by chance {whole_percentage(float(remembered.chance[row]))}")
            lines.append(f"one of {count(len(remembered.alike[row]))} of its kind")
            return f"“{name}”: {whole_percentage(share)}", lines

        def choose(row: int, _: int) -> None:
            if row < len(words):
                self._word = words[row]
                self.refresh_soon()
            elif row > len(words):
                self.session.features.choose(int(features[row - len(words) - 1]))

        def written(share: float) -> str:
            return "" if np.isnan(share) or share > WRITTEN else brief_percentage(share)

        read = [[written(share) for share in row] for row in remembered.accuracy]
        return replace(
            REMEMBERED,
            values=np.concatenate([np.nan_to_num(remembered.accuracy), gap, shares]),
            limit=1.0,
            rows=[*(visible(name) for name in words), "", *(f"feature {at}" for at in features)],
            columns=[visible(token) for token in tokens],
            words=[*read, *([""] * len(tokens) for _ in range(1 + len(features)))],
            row=word,
            column=self.session.reading.position,
            readout=read_out,
            clicked=choose,
        )

    def _start_or_stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
            return
        asked, reading = self._read, self.session.reading.current
        if asked is None or reading is None:
            return
        tokens = reading.trace.tokens

        def take(found: RememberedWords) -> None:
            self._words = (asked, found)
            self.refresh_soon()

        self._job = self.start_job(
            f"Reading words off {asked.moment[0].name}", lambda report: _read_off(asked, tokens, report), take
        )
        self._job.ended.connect(self._end)
        self.refresh_soon()

    def _end(self, job: Job) -> None:
        self._job = None
        self.refresh_soon()


def _read_off(asked: _Read, tokens: tuple[str, ...], report: Report) -> RememberedWords:
    """What a probe reads off the states of a model at a step, and of the one before training, as a job."""
    from lmviz.features.remembered import remembered_words
    from lmviz.models.interruption import heard_by
    from lmviz.runs.opening import open_model_of, open_recorded
    from lmviz.runs.untrained import untrained_of

    opened, step = asked.moment
    run = open_recorded(opened.folder)
    model = open_model_of(run, step)
    model = model.spelling_out() if opened.spells_out else model
    with heard_by(report):
        return remembered_words(
            model, asked.tap, np.array(asked.ids), tokens, untrained=untrained_of(run, model)
        )


def _probe_curves(remembered: RememberedWords, word: int, most: int) -> list[PlotCurve]:
    """How often the probe is right on one word, by tokens after it, and the same before training."""
    name = visible(remembered.words[word])
    read = remembered.since(word)[1 : most + 1]
    later = np.arange(1, len(read) + 1)
    curves = [PlotCurve(f"“{name}” by a probe", later, read, "accent", dots=True)]
    if remembered.untrained is not None:
        before = remembered.since(word, untrained=True)[1 : most + 1]
        curves.append(PlotCurve("before training", later, before, "muted_text", dashed=True))
    by_chance = np.full(len(read), remembered.chance[word])
    return [*curves, PlotCurve("probe, by chance", later, by_chance, "muted_text", dashed=True)]


def _sentence(found: StayingFound) -> str:
    staying = found.staying
    one, two = (percentage(float(share)) for share in staying.still[:2])
    return (
        f"{_stays(found)}. One token on, {one} of those that are on still are, two on {two}; two tokens of "
        f"different texts share {percentage(staying.chance)}. What remembers would be a long line."
    )


def _stays(found: StayingFound) -> str:
    staying = found.staying
    longest = float(np.nan_to_num(staying.longest)[staying.best])
    return f"The feature that stays longest, {staying.best}, stays {number(longest, 1)} tokens"
