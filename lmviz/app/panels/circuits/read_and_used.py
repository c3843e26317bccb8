"""Where the answer of a set of texts can be read, and where it is used: maps by layer and word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.widgets.base.figures import brief_percentage, count, whole_percentage
from lmviz.app.workers.job import Job
from lmviz.base.counting import numbered
from lmviz.circuits.set_recipes import use_map_recipe
from lmviz.inspection.names import stop_name
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Button, Matrix, Readout, Space, Words
from lmviz.models.address import Address
from lmviz.text.text_set import TextSet
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.base.reporting import Report
    from lmviz.readouts.use_map import UseMap

NO_MODEL = "Open a language model to see where it reads an answer and where it uses it."
NO_SET = (
    "Make a set in Texts: forms of one text with a wanted word each, such as “{name} put the {thing} in the "
    "box. Later {name} found the” for {thing}."
)
INVITATION = (
    "At which words can the answer of these texts be read off the state, and at which does the model use it?"
)
NOT_THIS = "{} does not predict the next token of one text: open a language model."
MOST_RECIPE = 500

MAPS = {
    "read": ("can be read", "a probe is right, of texts held out"),
    "shuffled": ("random labels", "each pair of words has a label drawn once"),
    "untrained": ("before training", "the same probe on the network before its training"),
    "used": ("is used", "moved there to another answer, the model says that one"),
}
"""By name what is over a map: its title, and what a share means."""

WRITTEN = 0.995
SENTENCE = Words("read_and_used_sentence")
BUTTON = Button("read_and_used_button", text="map")
GRID = Matrix("read_and_used_maps", says="where the answer can be read, and where it is used", share=1)

MOST_LAYERS = 5
"""Of a deep model some layers are shown, evenly chosen."""


class ReadAndUsedPanel(ShowingPanel):
    """Four maps in common columns: read, the same for labels that mean nothing, before training, and used."""

    title = "Read, and used?"
    follows = (
        "library.model_changed",
        "library.step_changed",
        "many.changed",
        "many.taken",
        "work.ready_changed",
        "reading.changed",
    )

    _found: tuple[Moment, TextSet, UseMap] | None = None
    _job: Job | None = None

    @property
    def found(self) -> UseMap | None:
        """What was found of the shown model at the shown step with the set; None before that."""
        known = self._found
        return None if known is None or known[:2] != (self._moment, self.session.many.given) else known[2]

    @property
    def _moment(self) -> Moment | None:
        model = self.session.library.model
        if model is None:
            return None
        return model, model.nearest_snapshot(self.session.library.shown_moment[1])

    def out_of_place(self, model: OpenedModel) -> str:
        fits = model.predicts.continues and not model.reads_source
        return "" if fits else NOT_THIS.format(model.name)

    def look(self) -> Look:
        found, obstacle = self.found, self._obstacle()
        button = replace(
            BUTTON,
            text="map" if self._job is None else "stop",
            enabled=self._job is not None or not obstacle,
            clicked=self._start_or_stop,
        )
        if found is None:
            said = replace(SENTENCE, text=obstacle or INVITATION, role="muted", centred=True)
            return Look((Space(), said, Space(), replace(GRID, shown=False)), head=(button,))
        sentence = replace(SENTENCE, text=found.sentence or "Mapping …")
        given, moment = self.session.many.given, self._moment
        arrays = {"read": found.read, "shuffled": found.shuffled, "used": found.used, "random": found.random}
        if found.untrained is not None:
            arrays["untrained"] = found.untrained
        recipe = ""
        if given is not None and moment is not None and len(given) <= MOST_RECIPE and found.is_complete:
            recipe = use_map_recipe(moment[0].reading("", moment[1]), given)
        told = (
            f"{count(found.fitted)} texts to fit on, {count(found.tested)} held out; the model is right "
            f"in {whole_percentage(found.said)} of these, guessing in {whole_percentage(found.majority)}. "
            "Linear discriminant; a state is moved from the mean of its answer to that of the next one. "
            "Random labels: one for each pair of words (Hewitt & Liang 2019)."
        )
        return Look(
            (sentence, self._grid(found), Words(text=told, role="muted")),
            aside="no number: 100 %, or less than guessing; at the right: words with half or more",
            head=(button,),
            arrays=arrays,
            names=Names([_name(place) for place in found.places]),
            recipe=recipe,
        )

    def _grid(self, found: UseMap) -> Matrix:
        """All maps in common columns, one below the other; in each the first layer lies at the bottom."""
        chosen = _layers(len(found.places))
        tokens = [visible(token) for token in found.tokens]
        rows: list[tuple[str, int] | None] = []
        for name in MAPS:
            if getattr(found, name) is not None:
                rows += [None] if rows else []
                rows += [(name, layer) for layer in reversed(chosen)]
        nothing = np.full(len(tokens), np.nan)
        values = np.stack([nothing if row is None else getattr(found, row[0])[row[1]] for row in rows])
        tops = {name: (name, chosen[-1]) for name in MAPS}

        def row_name(row: tuple[str, int] | None) -> str:
            if row is None:
                return ""
            place = _name(found.places[row[1]])
            return f"{MAPS[row[0]][0]} · {place}" if row == tops[row[0]] else place

        def read_out(at: int, column: int) -> Readout:
            row = rows[at]
            if row is None:
                return "", ()
            (name, layer), share = row, float(values[at, column])
            title, meaning = MAPS[name]
            if np.isnan(share):
                return f"{title}: not yet measured", ()
            lines = [f"after {stop_name(found.places[layer])}, at “{tokens[column]}”", meaning]
            if name == "used":
                along = whole_percentage(float(found.random[layer, column]))
                lines.append(f"along a random direction of that length {along}")
            return f"{title}: {whole_percentage(share)}", lines

        def written(share: float) -> str:
            is_plain = np.isnan(share) or share > WRITTEN or share < found.majority
            return "" if is_plain else brief_percentage(share)

        return replace(
            GRID,
            values=np.nan_to_num(values),
            scale="share",
            limit=1.0,
            rows=[row_name(row) for row in rows],
            columns=tokens,
            words=[[written(share) for share in row] for row in values],
            notes=["" if row is None else str(int((values[at] >= 0.5).sum())) for at, row in enumerate(rows)],
            readout=read_out,
        )

    def _obstacle(self) -> str:
        """Why nothing can be mapped; empty where it can."""
        if self.session.library.model is None:
            return NO_MODEL
        given = self.session.many.given
        answers = set() if given is None else {row.wanted or row.label for row in given}
        return "" if len(answers - {""}) > 1 else NO_SET

    def _start_or_stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
            return
        moment, given = self._moment, self.session.many.given
        if moment is None or given is None:
            return

        def work(report: Report) -> Iterator[UseMap]:
            yield from _mapped(moment, given, report)

        def take(found: UseMap) -> None:
            self._found = (moment, given, found)
            self.refresh_soon()

        self._job = self.start_job(f"Mapping {moment[0].name}", work, lambda _: None, take)
        self._job.ended.connect(self._end)
        self.refresh_soon()

    def _end(self, job: Job) -> None:
        """However it ended, also when it was stopped."""
        self._job = None
        self.refresh_soon()


def _mapped(moment: Moment, given: TextSet, report: Report) -> Iterator[UseMap]:
    """The maps of a model at a step for a set, as a job."""
    from lmviz.models.interruption import heard_by
    from lmviz.readouts.use_map import use_map
    from lmviz.runs.opening import open_model_of, open_recorded
    from lmviz.runs.untrained import untrained_of
    from lmviz.text.text_set import by_answer

    opened, step = moment
    run = open_recorded(opened.folder)
    model = open_model_of(run, step)
    with heard_by(report):
        yield from use_map(model, by_answer(given), untrained=untrained_of(run, model))


def _name(address: str) -> str:
    """The number of a layer, or what stands before all layers."""
    layer = Address.parse(address).layer
    return stop_name(address) if layer is None else str(numbered(layer))


def _layers(count: int) -> list[int]:
    """The places that are shown: all, or some evenly chosen, the first and the last among them."""
    return sorted({*map(int, np.linspace(0, count - 1, min(count, MOST_LAYERS)).round())})
