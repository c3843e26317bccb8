"""Since when features exist: the open dictionary read at the other steps of the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.features.asked_features import FOLLOWS, READING, what_is_missing
from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.widgets.base.figures import count, percentage, whole_percentage
from lmviz.app.workers.job import Job
from lmviz.features.recipes import over_texts_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Button, Curves, Words

if TYPE_CHECKING:
    from lmviz.base.reporting import Report
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.since import FeaturesOverTime

TOKENS = 6_000
INVITATION = (
    "The dictionary is of one step. Read at all others, it says since when each feature is there: since it "
    "goes together with what it becomes."
)
ONE_STEP = "This model is known at one step only: train one, or open a run, to see features come to be."
SENTENCE = Words("since_when_sentence")
PLOT = Curves(
    "since_when_plot",
    says="features over the training",
    y_name="share",
    possible=((0.0, np.inf), (-1.0, 1.0)),
    writes=(None, whole_percentage),
    share=1,
)


class SinceWhenPanel(ShowingPanel):
    """A button reads the steps; curves of the share that is there, of the variance, and of the chosen one."""

    title = "Since when"
    follows = FOLLOWS

    _found: tuple[Dictionary, FeaturesOverTime] | None = None
    _job: Job | None = None

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    @property
    def over_time(self) -> FeaturesOverTime | None:
        """What was found of the open dictionary; None before that."""
        dictionary = self.session.features.dictionary
        return None if self._found is None or self._found[0] is not dictionary else self._found[1]

    def look(self) -> Look:
        missing, model = what_is_missing(self.session), self.session.library.model
        if missing or model is None:
            return Look((SENTENCE, PLOT), instead=missing)
        if len(model.snapshots) < 2:
            return Look((SENTENCE, PLOT), instead=ONE_STEP)
        reading, found = self.session.features.reading, self.over_time
        button = Button(
            "since_when_button",
            text="read the steps" if self._job is None else "stop",
            enabled=self._job is not None or reading is not None,
            clicked=self._start_or_stop,
        )
        if found is None:
            said = INVITATION if reading is not None else READING
            return Look(
                (replace(SENTENCE, text=said, role="muted"), replace(PLOT, shown=False)), head=(button,)
            )
        steps, chosen = np.array(found.steps, dtype=np.float64), self.session.features.chosen
        curves = [
            PlotCurve("are there", steps, found.there, "accent", dots=True),
            PlotCurve("variance explained", steps, found.explained, "muted_text", dashed=True, guide=True),
        ]
        if chosen >= 0:
            curves.append(
                PlotCurve(
                    f"feature {chosen}",
                    steps,
                    found.agreement[:, chosen],
                    "validation",
                    dots=True,
                )
            )
        opened, corpus, moment = (
            self.session.features.opened,
            self.session.text.corpus,
            self.session.features.moment,
        )
        recipe = ""
        if opened is not None and corpus is not None and moment is not None:
            recipe = over_texts_recipe(
                moment[0].reading("", moment[1]),
                str(opened.file),
                corpus,
                f"values = lmviz.features_over_time({str(moment[0].folder)!r}, dictionary, corpus).agreement",
            )
        return Look(
            (replace(SENTENCE, text=_sentence(found, chosen)), replace(PLOT, curves=curves)),
            aside=f"{count(found.tokens)} tokens read",
            head=(button,),
            arrays={"agreement": found.agreement, "since": found.since, "explained": found.explained},
            names=Names([f"step {step:,}" for step in found.steps]),
            recipe=recipe,
        )

    def _start_or_stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
        else:
            self._start()

    def _start(self) -> None:
        features, model = self.session.features, self.session.library.model
        dictionary, reading, moment = features.dictionary, features.reading, features.moment
        if dictionary is None or reading is None or model is None or moment is None:
            return
        snapshots, folder = tuple(model.snapshots), model.folder
        own_step = moment[1] if dictionary.step is None else model.nearest_snapshot(dictionary.step)
        rows = _some(reading.rows)

        def work(report: Report) -> Iterator[Any]:
            from lmviz.features.since import features_over_time
            from lmviz.models.model import Model
            from lmviz.runs.opening import open_model_of, open_recorded

            run = open_recorded(folder)

            def models() -> Iterator[tuple[int, Model]]:
                for number, step in enumerate(snapshots):
                    report(number / len(snapshots))
                    yield step, open_model_of(run, step)

            yield from features_over_time(open_model_of(run, own_step), dictionary, models(), rows)

        def take(found: FeaturesOverTime) -> None:
            self._found = (dictionary, found)
            self.refresh_soon()

        self._job = self.start_job("Features at the steps", work, lambda _: None, take)
        self._job.ended.connect(self._end)
        self.refresh_soon()

    def _end(self, job: Job) -> None:
        self._job = None
        self.refresh_soon()


def _some(rows: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """The first rows with so many tokens together."""
    ends = np.cumsum([len(ids) for ids in rows])
    return list(rows[: int(np.searchsorted(ends, TOKENS)) + 1])


def _sentence(found: FeaturesOverTime, chosen: int) -> str:
    half = next((step for step, share in zip(found.steps, found.there, strict=True) if share >= 0.5), None)
    said = f"{percentage(float(found.there[0]))} of the features are there at step {found.steps[0]:,}" + (
        f", half of them at step {half:,}." if half is not None else ", and never half of them."
    )
    if chosen >= 0:
        since = found.since[chosen]
        said += (
            f" Feature {chosen} is there since step {since:,.0f}."
            if np.isfinite(since)
            else f" Feature {chosen} is at none of the last steps what it is at its own."
        )
    return said
