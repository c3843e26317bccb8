"""How the prediction after the prefix changed over the training: one curve for each likely word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key
from lmviz.app.panels.shared.answers_by_step import AnswersByStep
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import of_source
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import named
from lmviz.app.widgets.base.figures import whole_percentage
from lmviz.app.widgets.kit.axes import SHARE
from lmviz.app.widgets.plots.line_plot import LinePlot
from lmviz.decoding.continuation import Continuation
from lmviz.decoding.distribution import next_distribution
from lmviz.families import FAMILIES
from lmviz.inspection.recipes.run import over_time_recipe
from lmviz.inspection.views import answer_at, is_answer_known
from lmviz.looks.curve import PlotCurve
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("over time")

WORDS = 4
NO_MODEL = "Train a model, or open one: how its next words changed while it learned is drawn here."
NO_TEXT = "Type a text above to see how the answer to it changed while the model learned."


Subject = tuple["OpenedModel", tuple[int, ...], int, str | None]
"""A model, the ids that it reads, the position whose label is drawn, −1 for next words, and its source."""


class OverTimePanel(Panel):
    """Asks every snapshot of the run for its next-word distribution, newest first, one at a time.

    Where a position is pinned, for what it predicted there.
    """

    gives_way = 33

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._plot = named(
            LinePlot(possible=SHARE, words=(None, whole_percentage)),
            description="probability of what comes next over the training",
        )
        self._card = self.add_card("Next word over time", "", self._plot)
        self._key: Subject | None = None
        self.rows: AnswersByStep[np.ndarray] = AnswersByStep(self, self.refresh_soon, key=KEY)
        """The distributions (token,)."""
        self._drawn: tuple[Subject, list[int]] | None = None  # what the curves are of, and which snapshots
        self._plot.cursor_moved.connect(lambda step: session.library.choose_step(round(step)))
        self.follow(
            session.reading.encoding_changed,
            session.reading.source_changed,
            session.focus.position_changed,
            session.library.model_changed,
            session.surgery.changed,
        )
        for growing in (
            session.reading.changed,
            session.library.models_changed,
            session.library.step_changed,
        ):
            growing.connect(self.refresh_now_and_then)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return self._plot.points()

    def recipe(self) -> str:
        if self._drawn is None or not self._drawn[0][0].predicts.continues:
            return ""
        (model, prefix, _, source), steps = self._drawn
        return "" if source is not None else over_time_recipe(str(model.folder), prefix, steps)

    def refresh(self) -> None:
        session = self.session
        ids = self._read_ids()
        model = session.library.model
        source = session.reading.source if session.reading.has_source else None
        position = -1 if self._continues else self._labelled()
        self._key = None if model is None else (model, ids, position, source)
        self.rows.be_about(self._key)
        why_empty = self._why_empty(model)
        if self.rows or why_empty:  # until something is known of another text, the one before stays
            self._card.set_title(self._title())
            self._card.set_aside("without your change" if session.surgery.in_force else "")
            self._card.set_placeholder(why_empty)
            self._draw(session.library.model)
        if not why_empty:
            self._ask_next()

    def _why_empty(self, model: OpenedModel | None) -> str:
        """What is said in the place of curves; nothing where there are some."""
        if model is None:
            return NO_MODEL
        if not model.run.has_steps:
            return f"{model.name} was trained by another program: it is known as it is now."
        return "" if self._read_ids() else NO_TEXT

    def _pinned(self) -> int | None:
        """The position that is pinned, unless it is the last, with which every prediction begins."""
        session = self.session
        last = len(session.reading.encoding) - 1 if session.reading.encoding is not None else -1
        return (
            session.focus.position
            if session.focus.is_position_pinned and session.focus.position < last
            else None
        )

    def _read_ids(self) -> tuple[int, ...]:
        """The tokens whose continuation is drawn, as Next word has read them."""
        encoding, pinned = self.session.reading.encoding, self._pinned()
        if encoding is None:
            return ()
        if not self._continues:
            return tuple(encoding.ids.tolist())  # what comes after a word may decide its label
        return tuple(encoding.ids[: None if pinned is None else pinned + 1].tolist())

    @property
    def _continues(self) -> bool:
        """Whether next words are drawn, and not labels."""
        model = self.session.library.model
        return model is None or model.predicts.continues

    def _labelled(self) -> int:
        """The position whose label is drawn; of a label of the whole text all positions are one."""
        model, encoding, pinned = self.session.library.model, self.session.reading.encoding, self._pinned()
        if encoding is None or (model is not None and model.predicts.per == "text"):
            return 0
        return len(encoding) - 1 if pinned is None else pinned

    def _title(self) -> str:
        encoding, pinned = self.session.reading.encoding, self._pinned()
        if self._key is not None and not self._continues and encoding is not None and len(encoding):
            if self._key[0].predicts.per == "text":
                return "Label of the text over time"
            return f"Label of “{visible(encoding.tokens[self._key[2]])}” over time"
        if encoding is None or pinned is None:
            return f"Next {self.session.reading.noun} over time"
        return f"After “{visible(encoding.tokens[pinned])}” over time"

    def _ask_next(self) -> None:
        if self._key is None:
            return
        model, ids, position, source = self._key

        def work(reader: Model) -> np.ndarray:
            from lmviz.decoding.labels import label

            reader = reader if source is None else of_source(reader, source)
            if not reader.predicts.continues:
                found = label(reader, ids).probabilities
                return found if reader.predicts.per == "text" else found[position]
            return next_distribution(Continuation.of(reader, ids).logits).probabilities

        self.rows.ask_next(model, self._most_telling(model.snapshots), work)

    def _most_telling(self, steps: Sequence[int]) -> Sequence[int]:
        """The last snapshot first, whose words are drawn; then the one farthest from all known."""
        if not self.rows:
            return steps[::-1]
        known = np.log1p(list(self.rows))
        return sorted(steps, key=lambda step: -np.abs(known - np.log1p(step)).min())

    def _draw(self, shown: OpenedModel | None) -> None:
        if shown is None or self._key is None or not self.rows:
            self._drawn = None
            self._plot.set_curves(())
            self._plot.set_cursor(None)
            return
        self._drawn = self._key, sorted(self.rows)
        rows = self.rows | self._read_now()
        steps = sorted(rows)
        table = np.stack([rows[step] for step in steps])  # (snapshot, token)
        words = np.argsort(-table[-1], kind="stable")[:WORDS]
        answers = shown.predicts.names or shown.tokenizer.tokens()
        names = [visible(answers[int(word)]) for word in words]
        self._plot.set_curves(
            [
                PlotCurve(name, steps, table[:, word], role=place, width=1.6)
                for place, (name, word) in enumerate(zip(names, words, strict=False))
            ]
        )
        self._plot.set_end(self._end(shown))
        self._plot.set_cursor(self.session.library.step)

    def _read_now(self) -> dict[int, np.ndarray]:
        """What was read at the shown step, which during a training is mostly between two snapshots.

        So the newest point is what Next word shows.
        """
        reading = self.session.reading.current
        if reading is None or self._key is None:
            return {}
        model, ids, position, source = self._key
        read = tuple(reading.trace.ids.tolist())
        is_same = reading.model == model and reading.question.source == source
        if self._continues:
            configuration = FAMILIES[model.family].configuration.from_values(model.description.configuration)
            is_same &= read[: len(ids)] == ids and configuration.reads_alike(len(ids), len(read))
            position = len(ids) - 1
        elif read != ids:
            return {}
        has_positions = "position" in reading.untouched["probabilities"].axes
        if not is_same or (has_positions and not is_answer_known(reading.untouched, position)):
            return {}
        return {reading.step: answer_at(reading.untouched, position)}

    def _end(self, shown: OpenedModel) -> int:
        """How far the axis reaches: to the end of the training that is under way, or to the last snapshot."""
        session = self.session
        progress = session.training.state.progress if session.training.trains_shown_model else None
        return max(1, shown.snapshots[-1], progress.steps if progress is not None else 0)
