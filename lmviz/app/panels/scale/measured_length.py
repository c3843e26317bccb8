"""What a longer text really costs one's own models: milliseconds and memory over T, measured here."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from lmviz.app.panels.panel import JOBS, Panel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import row, sheet
from lmviz.app.widgets.base.figures import count, plain
from lmviz.app.widgets.base.link_button import LinkButton
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.app.workers.job import Job
from lmviz.app.workers.threads import compute_with
from lmviz.base.reporting import Report
from lmviz.families import FAMILIES
from lmviz.looks.curve import PlotCurve
from lmviz.looks.names import Names
from lmviz.scaling.compute import bytes_in_words
from lmviz.scaling.text_length import MeasuredLength, MeasuredModel, measure_lengths

MOST = 5
NOTHING = (
    "Open a model that is trained by gradients, and another one beside it: how long they take, and what a "
    "training keeps, is measured for texts of 8 to 1,024 tokens."
)
BEGIN = "Press measure: the open models are timed on texts of 8 to 1,024 tokens, with new weights."


class MeasuredLengthPanel(Panel):
    """Two curves for each open model, after a measurement that a button begins."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._found: tuple[MeasuredLength, ...] = ()
        self._colors: dict[str, int] = {}
        self._job: Job | None = None
        self._begin = LinkButton("measure_lengths_button", "measure", "measure the open models over T")
        self._begin.clicked.connect(self._toggle)
        both = (True, True)
        written, kept = (count, _milliseconds), (count, bytes_in_words)
        self._time = LinePlot("tokens T", logarithmic=both, words=written, y_name="milliseconds forward")
        self._memory = LinePlot("tokens T", logarithmic=both, words=kept, y_name="kept for the backward pass")
        self._time.setObjectName("milliseconds_plot")
        self._memory.setObjectName("memory_plot")
        plots = sheet(row((self._time, 5), (self._memory, 4), gap=20))
        self._card = self.add_card("Your models over the length of the text", self._begin, plots)
        self._card.set_placeholder(NOTHING)  # a lesson asks whether the plots can be seen
        self.follow(session.library.models_changed, session.work.ready_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        rows = [(one.length, one.milliseconds, one.bytes) for one in self._found]
        return {"over T": np.array(rows, dtype=np.float64)} if rows else {}

    def exported_names(self) -> Names:
        return Names([one.name for one in self._found], ("T", "milliseconds", "bytes"))

    def recipe(self) -> str:
        """The same measurement from Python."""
        if not self._found:
            return ""
        models = "".join(
            f"    MeasuredModel({model.name!r}, {model.family!r}, "
            f"FAMILIES[{model.family!r}].configuration.from_values({model.configuration.to_values()}), "
            f"{model.vocabulary}),\n"
            for model in self._models()
        )
        return (
            "from lmviz.families import FAMILIES\n"
            "from lmviz.scaling.text_length import MeasuredModel, measure_lengths\n\n"
            f"models = [\n{models}]\n"
            "for known in measure_lengths(models):\n"
            "    if isinstance(known, tuple):\n"
            "        print(known[-1])\n"
        )

    def refresh(self) -> None:
        models = self._models()
        self._card.set_placeholder("" if self._found else BEGIN if models else NOTHING)
        self._begin.setText("measure" if self._job is None else "stop")
        self._begin.setEnabled(self._job is not None or (bool(models) and self.session.work.is_ready))
        names = list(dict.fromkeys(one.name for one in self._found))
        for plot, attribute in ((self._time, "milliseconds"), (self._memory, "bytes")):
            curves = []
            for name in names:
                found = [one for one in self._found if one.name == name]
                lengths, values = [one.length for one in found], [getattr(one, attribute) for one in found]
                curves.append(PlotCurve(name, lengths, values, self._colors.get(name, 0), dots=True))
            plot.set_curves(curves)

    def _models(self) -> list[MeasuredModel]:
        """The open models that read one text by numbers, the shown one first."""
        library, found = self.session.library, []
        for model in sorted(library.models, key=lambda model: model != library.model):
            family = FAMILIES.get(model.family)
            description = model.description
            if family is None or family.counts or model.reads_source or not model.predicts.continues:
                continue
            configuration = family.configuration.from_values(description.configuration)
            found.append(MeasuredModel(model.name, model.family, configuration, description.vocabulary_size))
            self._colors[model.name] = model.color_index
        return found[:MOST]

    def _toggle(self) -> None:
        if self._job is not None:
            self._job.cancel()
            return
        models = tuple(self._models())
        if not models:
            return

        def work(report: Report) -> Generator[object, None, tuple[MeasuredLength, ...]]:
            compute_with(None)
            return measure_lengths(models)

        self._job = self.start_job("Measuring lengths", work, self._take, self._take)
        self._job.ended.connect(self._end)
        self.refresh_soon()

    def handle_failure(self, key: str) -> None:
        if key == JOBS:
            self._found = ()
            self.refresh_soon()

    def _take(self, found: tuple[MeasuredLength, ...]) -> None:
        self._found = found
        self.refresh_soon()

    def _end(self, job: Job) -> None:
        self._job = None
        self.refresh_soon()


def _milliseconds(value: float) -> str:
    return plain(value)
