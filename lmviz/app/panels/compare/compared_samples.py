"""Text sampled from each model after the prefix, with the same random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QPushButton, QWidget

from lmviz.app.look.theme import theme_switch
from lmviz.app.panels.compare.colors import color_of
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.drawn_token import DrawnToken
from lmviz.app.session.comparison import ComparedModel, names_of_compared
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, fill, named, row, sheet
from lmviz.app.widgets.base.figures import percentage
from lmviz.app.widgets.base.muted_line import MutedLine
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.plots.legend import Legend, LegendEntry
from lmviz.app.widgets.text.token_strip import TokenStrip
from lmviz.base.errors import LmvizError
from lmviz.decoding.options import DRAWING, SamplingOptions
from lmviz.decoding.sampling import sample as draw
from lmviz.inspection.recipes.decoding import samples_recipe
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

KEY = Key("samples")

LENGTH = {"characters": 120, "bpe": 48}
USUAL_LENGTH = 40
PIECE = 8
"""So many tokens at a time, so that nothing else waits long for the reading thread."""


Asked = tuple[tuple[ComparedModel, ...], str, SamplingOptions]
"""The models, the prefix, and how each token is drawn."""


@dataclass(frozen=True)
class Sample:
    """What one model has written so far; `sentence` says why it cannot write."""

    drawn: tuple[DrawnToken, ...] = ()
    is_over: bool = False
    sentence: str = ""


class ComparedSamplesPanel(Panel):
    """A column for each moment; the n-th token of each was chosen by the same draw."""

    needs_next_word = "It writes no text: open a language model to compare what models write."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._redraw = named(QPushButton("New draws"), "new_draws_button", role="link")
        self._redraw.clicked.connect(self._draw_anew)
        self._note = MutedLine(right=True)
        self._columns: list[_Column] = []
        self._asked: Asked | None = None  # what is drawn
        self._models: tuple[ComparedModel, ...] = ()
        self.samples: tuple[Sample, ...] = ()  # what has been written so far, in the order of the moments
        self._more = 0
        self._row = row(gap=20)
        head = row(self._note, self._redraw)
        self._card = self.add_card("Same random numbers", head, sheet(self._row))
        theme_switch().theme_changed.connect(self._recolor)
        self.follow(
            session.comparison.changed,
            session.reading.encoding_changed,
            session.reading.prefix_changed,
            session.writing.sampling_changed,
            session.work.ready_changed,
        )

    @property
    def options(self) -> SamplingOptions:
        """How it is drawn: the session's sampling, from a seed that moves on with each set of new draws."""
        sampling = self.session.writing.sampling
        return replace(sampling, seed=(sampling.seed + self._more) % 2**63)

    @property
    def strips(self) -> tuple[TokenStrip, ...]:
        """The columns' tokens."""
        return tuple(one.strip for one in self._columns)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        """Of each model by name (token,): the ids, their probabilities and the draws that chose them."""
        arrays = {}
        for name, sample in zip(names_of_compared(self._models), self.samples, strict=True):
            for part in ("id", "probability", "draw"):
                arrays[f"{name}/{part}"] = np.array([getattr(item, part) for item in sample.drawn])
        return arrays

    def recipe(self) -> str:
        lengths = [len(sample.drawn) for sample in self.samples]
        if self._asked is None or not all(lengths):
            return ""
        _, prefix, options = self._asked
        return samples_recipe(
            [item.reads(prefix) for item in self._models], lengths, options.unusual_values(*DRAWING)
        )

    def refresh(self) -> None:
        models, options = self.session.comparison.models, self.options
        asked = (models, self.session.reading.prefix, options)
        if not models:
            self.silence(KEY)
            self._asked, self._models, self.samples = None, (), ()
            fill(self._row, self._columns, 0, self._column_at)
            self._note.set_text("")
            self._card.set_placeholder("Open or train a model to sample from it.")
            return
        question = self._question(asked, self.samples if asked == self._asked else (Sample(),) * len(models))
        if self.must_ask(question):
            self._write_on(asked, question)

    def _column_at(self, place: int) -> _Column:
        added = _Column()
        added.strip.part_hovered.connect(self._hover)
        return added

    def _question(
        self, asked: Asked, samples: tuple[Sample, ...]
    ) -> Question[tuple[ComparedModel, ...], tuple[Sample, ...]]:
        """How these samples go on."""
        models, prefix, options = asked

        def work(found: Iterator[Model]) -> tuple[Sample, ...]:
            known = zip(found, samples, strict=True)
            return tuple(_longer(model, prefix, sample, options) for model, sample in known)

        return Question(KEY, models, work, about=(prefix, options), grows=asked == self._asked)

    def _write_on(
        self, asked: Asked, question: Question[tuple[ComparedModel, ...], tuple[Sample, ...]]
    ) -> None:
        self.ask(question, lambda longer: self._show_samples(asked, longer))

    def _show_samples(self, asked: Asked, samples: tuple[Sample, ...]) -> None:
        self._asked, self._models, self.samples = asked, asked[0], samples
        fill(self._row, self._columns, len(self._models), self._column_at)
        self._show()
        if all(sample.is_over for sample in samples):
            return
        if self.is_in_sight:
            self._write_on(asked, self._question(asked, samples))
        else:
            self.silence(KEY)
            self.refresh_soon()  # it goes on when it is seen again

    def _show(self) -> None:
        shown = zip(self._columns, self._models, names_of_compared(self._models), self.samples, strict=True)
        for one, item, name, sample in shown:
            one.show_sample(name, color_of(item.moment), sample)
        self._describe_draw(-1)
        self._card.set_placeholder("")

    def _hover(self, number: int) -> None:
        for one in self._columns:
            one.strip.set_hovered(number if number < len(one.strip.tokens) else -1)
        self._describe_draw(number)

    def _describe_draw(self, number: int) -> None:
        """What one draw chose in each column; without one, how all were drawn."""
        if self._asked is None:
            return
        sampling = self._asked[2]
        if number < 0:
            self._note.set_text(
                f"shaded by probability · temperature {sampling.temperature:g} · seed {sampling.seed:,}"
            )
            return
        chosen = [sample.drawn[number] for sample in self.samples if number < len(sample.drawn)]
        words = [f"“{visible(item.token)}” {percentage(item.probability)}" for item in chosen]
        self._note.set_text(
            f"draw {number + 1} is {chosen[0].draw:.4f}: {', '.join(words)}" if chosen else ""
        )

    def _recolor(self) -> None:
        """The names' colours belong to the theme."""
        if self.samples:
            self._show()

    def _draw_anew(self) -> None:
        self._more += 1
        self.refresh_soon()


class _Column(QWidget):
    """A model's name over the tokens that it wrote."""

    def __init__(self) -> None:
        super().__init__()
        self._name = Legend()
        self._name.unsetCursor()
        self._sentence = Label(role="muted", wraps=True)
        self.strip = TokenStrip()
        column(self._name, self._sentence, (scrolling(self.strip), 1), on=self, gap=4)

    def show_sample(self, name: str, color: QColor, sample: Sample) -> None:
        """The tokens so far, shaded by the probability that each had."""
        self._name.set_entries([LegendEntry(name, color)])
        self._sentence.setText(sample.sentence)
        self._sentence.setVisible(bool(sample.sentence))
        self.strip.setAccessibleName(f"sample of {name}")
        self.strip.set_tokens([visible(item.token) for item in sample.drawn])
        self.strip.set_shades([item.probability for item in sample.drawn])


def _longer(model: Model, prefix: str, sample: Sample, options: SamplingOptions) -> Sample:
    """The sample with a few more tokens."""
    if sample.is_over:
        return sample
    assert model.tokenizer is not None, "a model that was opened has its tokenizer"
    length = LENGTH.get(model.tokenizer.kind, USUAL_LENGTH)
    drawn = list(sample.drawn)
    try:
        for step in draw(model, prefix, PIECE, options, [item.id for item in drawn]):
            assert step.draw is not None, "a sample draws each token"
            drawn.append(DrawnToken.of(step))
            if len(drawn) >= length or (step.is_end and options.stop_at_end):
                return Sample(tuple(drawn), True)
    except LmvizError as sentence:
        return Sample((), True, str(sentence))
    return Sample(tuple(drawn))
