"""Which words a number depends on: gradient × embedding, beside what erasing each word really does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QGridLayout, QWidget

from lmviz.app.panels.inside.stage_keys import leave_arrow_keys
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.choices import set_choices
from lmviz.app.panels.shared.offered_numbers import likeliest_logit, number_in_words, offered_numbers
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, picker, sheet
from lmviz.app.widgets.base.figures import number
from lmviz.app.widgets.base.plain import Label
from lmviz.app.widgets.base.scrolling import scrolling
from lmviz.app.widgets.matrix.pixel_grid import PixelGrid
from lmviz.app.widgets.text.marked_words import WordScroll
from lmviz.app.widgets.text.word_effects import MEASURED, PREDICTED, WordEffect, WordEffects
from lmviz.inspection.names import told_apart
from lmviz.inspection.recipes.gradient import saliency_recipe
from lmviz.looks.names import COUNTED, Names
from lmviz.models.sequences import SOURCE, TEXT
from lmviz.text.pictures import SIDE
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.saliency import Erasing, Saliency
    from lmviz.inspection.scalar import Of
    from lmviz.models.model import Model

QUESTION = Key("saliency")
LENGTH = 14  # characters of what is chosen
ERASING = "Each word is erased in turn, to see what that does …"
NO_MODEL = "Open or train a model to see which words its answer depends on."
NO_TEXT = "Type a text above to see which of its words the answer depends on."
PICTURE = "picture"


class SaliencyPanel(Panel):
    """A row for each word that the model reads, and for each of a source; of a picture the pixels themselves.

    The number is the logit of the likeliest answer, or what a person chooses; while gradients are shown it is
    theirs, here and wherever gradients stand.
    """

    draws = ("reading",)

    gives_way = 60

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._offers: list[Of] = []
        self._chosen: Of | None = None
        self.found: tuple[Saliency, ...] = ()  # what is drawn, one for each sequence
        self._of: Of = "loss"
        self._reading: Reading | None = None  # of which the saliency is
        self._choice = picker("saliency_of_picker", "the number whose causes are shown", least=LENGTH)
        self._said = Label(name="saliency_sentence", role="muted", wraps=True)
        self.picture = EffectPictures()  # the pixels of a source that is a picture, hidden where it is none
        self.words, self.source_words = WordEffects("without"), WordEffects("without, of the source")
        self._words = {SOURCE: self.source_words, TEXT: self.words}
        self._area = WordScroll(tuple(self._words.values()))
        self._follow_current = QTimer(self, singleShot=True, interval=0)
        self._follow_current.timeout.connect(self._show_current)
        leave_arrow_keys(self, *self._words.values())
        self._card = self.add_card("Saliency", self._choice, self._lay_out())
        self.words.part_clicked.connect(session.focus.choose_position)
        self.words.part_hovered.connect(session.focus.hover_position)
        self._choice.activated.connect(self._choose)
        session.focus.hovered_position_changed.connect(self._mark)
        self.follow(
            session.reading.changed,
            session.focus.position_changed,
            session.focus.cell_changed,
            session.gradients.shown_changed,
        )

    def exported_arrays(self) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {}
        for item in self.found:
            of = "" if item.sequence == TEXT else f"{item.sequence}: "
            arrays |= {f"{of}gradient × embedding": item.predicted, f"{of}erased": item.measured}
        return arrays

    def exported_names(self) -> Names:
        return Names(self.found[0].tokens) if len(self.found) == 1 else COUNTED

    def recipe(self) -> str:
        if self._reading is None or not self.found:
            return ""
        return saliency_recipe(self._reading.moment, self._of, self._reading.trace.beside)

    def out_of_place(self, model: OpenedModel) -> str:
        if model.family != "ngram":
            return ""
        return (
            f"{model.name} only counts, so nothing in it has a gradient. Open a model that learns by "
            "gradients, or see Evidence, or Picture."
        )

    def refresh(self) -> None:
        reading = self.session.reading.current
        if reading is None:
            self.silence(QUESTION)
            self.found, self._reading = (), None
            self._choice.clear()
            self._draw()
            missing = NO_TEXT if self.session.library.model else NO_MODEL
            self._card.set_placeholder(self.of_units(missing))
            return
        self._card.set_placeholder("")
        offers, of = self._offers_of(reading)
        question = self._question(reading, of)
        if self.must_ask(question):
            self._ask(question, of, offers)
        elif self.has_drawn(question):
            self._offer(offers, of)
            self._mark()

    def handle_failure(self, key: str) -> None:
        self.found, self._reading = (), None
        self._draw()

    def _lay_out(self) -> QWidget:
        words = tuple(self._words.values())
        for each in words:
            each.hide()  # until their numbers are known
        rows = column(self.picture, *words)
        rows.addStretch()
        scrolling(sheet(rows), area=self._area)
        return sheet(column(self._said, (self._area, 1)))

    def _offers_of(self, reading: Reading) -> tuple[dict[Of, str], Of]:
        """The numbers that there are, each in words; and which of them is chosen."""
        position, gradients = self.session.focus.position, self.session.gradients
        usual = likeliest_logit(reading, min(position, reading.last))
        offers = {usual: number_in_words(usual, reading)}
        offers |= offered_numbers(reading, min(position, reading.last), self.session.focus.cell)
        of = gradients.of_reading(reading) if gradients.is_shown else self._chosen or usual
        if of not in offers and (gradients.is_shown or self._is_there(of, reading)):
            offers[of] = number_in_words(of, reading)
        if of not in offers:
            self._chosen, of = None, usual
        return offers, of

    def _offer(self, offers: dict[Of, str], of: Of) -> None:
        """List the numbers, the one that is drawn in front."""
        self._offers = list(offers)
        set_choices(self._choice, dict(enumerate(offers.values())), self._offers.index(of))

    def _is_there(self, of: Of, reading: Reading) -> bool:
        """Whether a reading has the number that was chosen in another one."""
        return isinstance(of, str) or reading.has_cell(of[0], tuple(of[1]))

    def _choose(self, place: int) -> None:
        of = self._offers[place]
        if self.session.gradients.is_shown:
            self.session.gradients.choose(of)
        else:
            self._chosen = None if place == 0 else of  # the first follows the position
            self.refresh_soon()

    def _question(self, reading: Reading, of: Of) -> Question[Reading, tuple[float, Erasing]]:
        trace = reading.trace

        def begin(model: Model) -> tuple[float, Erasing]:
            from lmviz.inspection.backpropagation import gradient
            from lmviz.inspection.saliency import Erasing

            text = trace.text or trace.ids
            found = gradient(model, text, of, interventions=trace.interventions, **trace.beside)
            erasing = Erasing(model, found)
            erasing.go_on(model)
            return found.value, erasing

        return Question(QUESTION, reading, begin, about=of)

    def _ask(self, question: Question[Reading, tuple[float, Erasing]], of: Of, offers: dict[Of, str]) -> None:
        if not self.found:
            self._said.setText(self.of_units(ERASING))
        self.ask(question, lambda answer: self._go_on(question.subject, of, offers, *answer))

    def _go_on(self, reading: Reading, of: Of, offers: dict[Of, str], value: float, erasing: Erasing) -> None:
        """Draw what has been erased, or erase some more words.

        Each time it is another question, so that what is typed or asked meanwhile has its turn in between.
        """
        if erasing.is_done:
            self.found, self._reading, self._of = erasing.result(), reading, of
            self._offer(offers, of)
            self._draw(f"{number_in_words(of, reading)}: {number(value)}")
        elif self.is_in_sight:
            self.ask(
                Question(QUESTION, reading, erasing.go_on),
                lambda _: self._go_on(reading, of, offers, value, erasing),
            )
        else:
            self.silence(QUESTION)
            self.refresh_soon()  # when it is seen again

    def _draw(self, said: str = "") -> None:
        from lmviz.inspection.saliency import agreement_sentence

        sizes = [np.abs(part).max() for item in self.found for part in (item.predicted, item.measured)]
        for name, words in self._words.items():
            item = next((item for item in self.found if item.sequence == name), None)
            names = () if item is None else told_apart(map(visible, item.tokens))
            rows = [] if item is None else list(zip(names, item.predicted, item.measured, strict=True))
            if item is not None and item.address == PICTURE:
                rows = []
            words.setVisible(bool(rows))
            words.set_words(
                [WordEffect(token, float(first), float(second)) for token, first, second in rows],
                float(max(sizes, default=0.0)),
            )
        self._draw_picture()
        agreement = self.of_units(agreement_sentence(self.found)) if self.found else ""
        sentence = f"{said[:1].upper()}{said[1:]}. {agreement}" if self.found else ""
        self._said.setText(sentence)
        self._mark()

    def _draw_picture(self) -> None:
        """Where the source is a picture, its pixels in the place of rows."""
        item = next((item for item in self.found if item.address == PICTURE), None)
        self.picture.setVisible(item is not None)
        if item is not None and self._reading is not None:
            pixels = [value > 0.5 for value in self._reading.trace[PICTURE].array]
            self.picture.set_effects(pixels, item.predicted, item.measured)

    def _mark(self) -> None:
        if self._reading is not None and self._reading is self.session.reading.current:
            self.words.set_current(self.session.reading.position)
            self._follow_current.start()

    def _show_current(self) -> None:
        """Scroll to the chosen word: far before it words hardly matter."""
        if self.source_words.isHidden() and self.words.current >= 0:
            area = self.words.part_rectangle(self.words.current)
            self._area.ensureVisible(0, round(area.bottom()), 0, round(area.height()))


class EffectPictures(QWidget):
    """`EffectPictures()`: `set_effects(pixels, predicted, measured)`, each number of a pixel."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("effect_pictures")
        self.predicted, self.measured = PixelGrid(SIDE), PixelGrid(SIDE)
        grid = QGridLayout(self)
        grid.setContentsMargins(4, 0, 4, 8)
        grid.setHorizontalSpacing(24)
        for place, (title, picture) in enumerate(((PREDICTED, self.predicted), (MEASURED, self.measured))):
            name = Label(title, role="muted")
            picture.setAccessibleName(f"without each painted pixel: {title}")
            grid.addWidget(name, 0, place)
            grid.addWidget(picture, 1, place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(2, 1)
        self.hide()

    def set_effects(self, pixels: Sequence[bool], predicted: np.ndarray, measured: np.ndarray) -> None:
        """Show a picture (pixel,) twice; the strongest colour is that of the largest number in both."""
        limit = float(max(np.abs(predicted).max(), np.abs(measured).max()))
        for picture, values in ((self.predicted, predicted), (self.measured, measured)):
            picture.set_pixels(pixels)
            picture.set_values(values, limit)
