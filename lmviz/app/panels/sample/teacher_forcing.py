"""Teacher forcing: what each word of the text costs after the right words, and after the model's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.comparison import ComparedModel
from lmviz.decoding.histories import Histories, read_both_ways
from lmviz.inspection.recipes.decoding import histories_recipe
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import CurveNames, OneLine, WordCurves
from lmviz.looks.word_curve import WordCurve
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model

RIGHT, OWN = "after the right words", "after its own"
NO_MODEL = "Open a model to see what its own words would do to the text."
NO_TEXT = "Type a longer text, to see what the model's own would do to it."
FIRST = 1
"""The position of the first word that has a cost."""

Found = tuple[str, Histories]
"""The text that was read, and both histories."""


class TeacherForcingPanel(AskingPanel[ComparedModel, Found]):
    """Two curves over the words of the prefix, and where the model's own text parts from it."""

    title = "Teacher forcing, bits"
    key = Key("histories")
    draws = ("reading",)
    follows = ("reading.changed", "focus.position_changed", "focus.hovered_position_changed")
    gives_way = 33
    needs_next_word = "Open a model that writes to see what its own words would do to the text."

    _hidden: frozenset[str] = frozenset()  # curves of which only the name is shown

    @property
    def histories(self) -> Histories | None:
        """What is drawn; None while nothing is."""
        return None if self.found is None else self.found[1]

    @property
    def said(self) -> str:
        """What the model would have written, and what either history costs."""
        return next((part.text for part in self.shown_look.parts if isinstance(part, OneLine)), "")

    def question(self) -> Question[ComparedModel, Found] | Look:
        reading, shown = self.session.reading.current, self.session.comparison.shown
        if reading is None or shown is None or len(reading.trace) < 2:
            return Look(instead=NO_MODEL if shown is None else NO_TEXT)
        text = reading.trace.text

        def work(model: Model) -> Found:
            return text, read_both_ways(model, text)

        return Question(self.key, shown, work, about=text)

    def look(self, shown: ComparedModel, found: Found) -> Look:
        text, histories = found
        right, focus = self.of_units(RIGHT), self.session.focus
        curves = [
            WordCurve(right, "training", histories.after_right, 0, right not in self._hidden),
            WordCurve(OWN, "key", histories.after_own, 1, OWN not in self._hidden),
        ]
        hovered = focus.hovered_position
        plot = WordCurves(
            says="cost of each token after either history",
            share=1,
            words=[visible(token) for token in histories.right],
            curves=curves,
            current=focus.position - FIRST,
            hovered=-1 if hovered is None else hovered - FIRST,
            pointed=lambda word: focus.hover_position(word + FIRST if word >= 0 else None),
            clicked=lambda word: focus.choose_position(word + FIRST),
        )
        return Look(
            (plot, OneLine(text=_sentence(histories, right))),
            head=(CurveNames(curves=curves, clicked=self._hide),),
            arrays={RIGHT: histories.after_right, OWN: histories.after_own},
            units={RIGHT: "bits", OWN: "bits"},
            names=Names(histories.right),
            recipe=histories_recipe(shown.reads(text)),
        )

    def _hide(self, name: str) -> None:
        """Leave out one of the two curves, or bring it back."""
        self._hidden ^= {name}
        self.refresh()


def _sentence(found: Histories, right: str) -> str:
    """What the model would have written, and what either history costs."""
    of_right, of_own = found.totals
    if found.parted is None:
        return f"It would have written just this · {of_right:.1f} bits"
    written = " ".join(visible(token) for token in found.own[found.parted :] if token)
    beginning = f"From “{visible(found.right[found.parted])}” on it would have written “{written}”"
    return f"{beginning} · {of_right:.1f} bits {right}, {of_own:.1f} {OWN}"
