"""Attribution: what each part of the model adds to the answer, as a sum from zero to the measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.circuits.answering_panel import AnsweringPanel, briefly
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker
from lmviz.app.widgets.base.figures import signed_figure
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.circuits.named_parts import NamedPart, named_parts
from lmviz.circuits.recipes import attribution_recipe
from lmviz.inspection.names import told_apart
from lmviz.looks.names import COUNTED, Names
from lmviz.models.address import Address
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.attribution import Attribution
    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.models.model import Model

TITLE = "Who wrote it"
NO_MODEL = "Open or train a model to see which of its parts write the answer."
NO_TEXT = "Type a text above to see which parts write the answer to it."
WORDS = 8
"""So many words are named of a part."""

BEFORE_THE_FIRST = "before the first"
"""What stands behind the words of a gated layer: what its first state put in."""

Asked = tuple[Reading, "MeasuredContrast", int]
"""Of which reading and texts, and down through how many recurrent layers."""


class AttributionPanel(AnsweringPanel["Attribution", Asked]):
    """The strongest parts, one bar after the other up to the measure; a head's share by the words it read."""

    gives_way = 60
    key = Key("attribution")

    def __init__(self, session: Session) -> None:
        super().__init__(session, "attribution_sentence")
        self._depth = picker("attribution_depth_picker", "how far it is taken apart")
        self._rows: list[NamedPart] = []
        self._places: list[int] = []  # of the words that are named
        self._shown = ""  # whose words these are
        self._pinned = ""  # where the words of the chosen part are kept
        self._head = Label(name="attribution_words_sentence", wraps=True)
        self._bars = named(SignedBars("what each part adds"), "attribution_bars")
        self._words = named(SignedBars("what comes from each token"), "attribution_words")
        body = column(self._said, (self._bars, 3), self._head, (self._words, 2))
        self._answer_in(self.add_card(TITLE, self._depth, body))
        self._depth.hide()
        self._depth.activated.connect(lambda _: self.refresh_soon())
        self._bars.part_clicked.connect(self._pin)
        self._words.part_clicked.connect(self._choose_word)
        session.library.model_changed.connect(lambda: self._depth.setCurrentIndex(0))
        self.follow(session.contrast.changed, session.library.model_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        return {} if self.found is None else {"share": self.found.array}

    def exported_names(self) -> Names:
        return COUNTED if self.found is None else Names(self.found.labels("component"))

    def recipe(self) -> str:
        if self.found is None or self._of is None:
            return ""
        reading, measured, through = self._of
        return attribution_recipe(reading.moment, measured.contrast, through)

    @property
    def _through(self) -> int:
        """Through how many recurrent layers that goes which is drawn."""
        return 0 if self._of is None else self._of[2]

    def _missing(self) -> str:
        return NO_MODEL if self.session.library.model is None else NO_TEXT

    def _asks(self, reading: Reading, measured: MeasuredContrast) -> Asked:
        return reading, measured, max(self._depth.currentIndex(), 0)

    def _question(self, asked: Asked) -> Question[Reading, Attribution]:
        reading, measured, through = asked
        changes = reading.question.interventions

        def work(model: Model) -> Attribution:
            from lmviz.circuits.attribution import attribute

            return attribute(model, measured.contrast, through=through, interventions=changes)

        return Question(self.key, reading, work, about=asked)

    def _take(self, asked: Asked, found: Attribution) -> None:
        if self._pinned not in found.words:
            self._pinned = ""
        super()._take(asked, found)

    def _offer_depths(self, depth: int) -> None:
        """Down to which recurrent layer the answer can be taken apart, and to the words."""
        below = ["the layer below", *(f"{count} layers below" for count in range(2, depth))]
        offered = ["the top layer", *below[: max(depth - 1, 0)], self.of_units("the words")] if depth else []
        if self._depth.count() != len(offered):
            set_choices(self._depth, dict(enumerate(offered)), min(self._through, len(offered) - 1))
        self._depth.setVisible(bool(offered))

    def _draw(self) -> None:
        found = self.found
        self._offer_depths(0 if found is None else found.depth)
        for widget in (self._bars, self._words, self._head):
            widget.setVisible(found is not None)
        if found is None or self._of is None:
            self._said.setText("")
            self._rows = []
            self._card.set_title(TITLE)
            return
        self._rows = named_parts(found)
        sum_of = briefly(self._of[1].said)
        self._card.set_title(f"Who wrote {'it' if found.depth else sum_of}")  # beside the depths is no room
        self._bars.set_bars(
            [row.name for row in self._rows] + [sum_of],
            [row.share for row in self._rows] + [found.value],
            notes=[row.word for row in self._rows],
            faded=[place for place, row in enumerate(self._rows) if row.is_many],
            running=True,
        )
        chosen = self._pinned or next((row.words for row in self._rows if row.words), "")
        self._bars.set_current(
            next((at for at, row in enumerate(self._rows) if row.words == chosen and chosen), -1)
        )
        self._said.setText(self._sentence(found))
        self._draw_words(found, chosen)

    def _draw_words(self, found: Attribution, chosen: str) -> None:
        numbers, self._shown = found.words.get(chosen), chosen
        for widget in (self._words, self._head):
            widget.setVisible(numbers is not None)
        if numbers is None:
            return
        labels = told_apart(
            token if token == BEFORE_THE_FIRST else visible(token)
            for token in numbers.labels(numbers.axes[0])
        )
        self._places = sorted(np.argsort(-np.abs(numbers.array), kind="stable")[:WORDS].tolist())
        others = [at for at in range(len(labels)) if at not in self._places]
        rest = [f"{len(others)} other{'s' if len(others) > 1 else ''}"] if others else []
        named = [labels[at] for at in self._places] + rest
        shares = [*numbers.array[self._places], *([numbers.array[others].sum()] if others else [])]
        self._words.set_bars(named, shares, faded=[len(self._places)] if others else ())
        best = int(np.abs(numbers.array).argmax())
        most = float(numbers.array[best])
        is_head = Address.parse(chosen).head is not None
        name = next((row.name for row in self._rows if row.words == chosen and is_head), "The layer")
        self._head.setText(
            f"{name[:1].upper()}{name[1:]} adds {signed_figure(numbers.total)}: {signed_figure(most)} from "
            f"“{labels[best]}”, {signed_figure(numbers.total - most)} from all others."
        )

    def _choose_word(self, bar: int) -> None:
        numbers = None if self.found is None else self.found.words.get(self._shown)
        if numbers is not None and numbers.axes[0] in ("key", "position") and bar < len(self._places):
            self.session.focus.choose_position(self._places[bar])

    def _pin(self, bar: int) -> None:
        if self.found is None or bar >= len(self._rows) or not self._rows[bar].words:
            return
        self._pinned = self._rows[bar].words
        head = Address.parse(self._pinned).head
        if head is not None:
            self.session.attention.choose_head_of(self._pinned, head)
        self._draw()

    def _sentence(self, found: Attribution) -> str:
        strongest = next((row for row in self._rows if not row.is_many), None)
        if strongest is None:
            return ""
        count = sum(numbers.array.size for kind, numbers in found.kinds.items() if kind != "rounding")
        held = " The scale of the last normalisation is held." if found.held else ""
        held = " The gates above them are held." if self._through else held
        total = signed_figure(found.total, 4)
        rest = f"All {count} parts, with what rounding leaves, add up to exactly {total}.{held}"
        return f"Most comes from {strongest.name}: {signed_figure(strongest.share)}. {rest}"
