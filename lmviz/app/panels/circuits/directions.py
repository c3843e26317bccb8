"""The directions of the shown model: a list, and of the chosen one its words, places and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QFileDialog

from lmviz.app.panels.circuits.directions_parts import (
    BARS,
    EMPTY,
    KINDS,
    LINES_PART,
    MEANS,
    NAME,
    NO_MODEL,
    NO_TEXT,
    NOT_THIS,
    OF,
    OF_PICKER,
    OPEN,
    PLACE,
    REMOVE,
    SAVE,
    SENTENCE,
    TABLE,
    WORD,
    DirectionsFound,
    lines_of,
    said_of,
    told_of_places,
    two_digits,
)
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.keep_direction import keep_scaled
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import count, number
from lmviz.inspection.lens_sentence import place_in_words
from lmviz.inspection.recipes.recipe import recipe_of, traced
from lmviz.looks.columns import Column
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import (
    LookPart,
    SideBySide,
    Stacked,
    WordBars,
    Words,
)
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.models.model import Model
    from lmviz.readouts.direction import StateDirection
    from lmviz.readouts.direction_places import DirectionPlaces
    from lmviz.text.corpus import Corpus

WORDS, LINES, TOKENS, MOST_TEXTS = 5, 8, 8_000, 200


class DirectionsPanel(AskingPanel[Moment, DirectionsFound]):
    """A table; a click looks at one: where it is strong in the open text, and its values over the prefix."""

    title = "Directions"
    key = Key("directions")
    places_key = Key("places of a direction")
    word_key = Key("direction of a word")
    means_key = Key("direction of means")
    begins_bare = True
    follows = (
        "directions.changed",
        "directions.chosen_changed",
        "library.model_changed",
        "library.step_changed",
        "reading.changed",
        "text.changed",
        "many.changed",
        "focus.position_changed",
    )
    parts = (SENTENCE, TABLE, LINES_PART, BARS, NAME, WORD, OF_PICKER, PLACE, MEANS, REMOVE, OPEN, SAVE)

    _of, _place = 0, -1
    _places: tuple[Any, DirectionPlaces] | None = None

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.show_failures(session.directions)

    def out_of_place(self, model: OpenedModel) -> str:
        fits = model.predicts.continues and not model.reads_source
        return "" if fits else NOT_THIS.format(model.name)

    def question(self) -> Question[Moment, DirectionsFound] | Look:
        directions = self.session.directions
        if directions.moment is None:
            return Look(self.parts, instead=NO_MODEL)
        directions.look_for()
        listed = directions.listed

        def work(model: Model) -> DirectionsFound:
            from lmviz.inspection.logit_lens import lens_places

            words = [[_words(model, one, side) for one in listed] for side in ("reads", "writes")]
            cosines = np.full((len(listed), len(listed)), np.nan)
            for at, one in enumerate(listed):
                for place, other in enumerate(listed):
                    if one.vector.shape == other.vector.shape:
                        cosines[at, place] = one.cosine(other)
            taps = tuple(lens_places(model, after_layers=True))
            return DirectionsFound(taps, tuple(words[0]), tuple(words[1]), cosines)

        return Question(self.key, directions.moment, work, about=listed)

    def look(self, moment: Moment, found: DirectionsFound) -> Look:
        directions = self.session.directions
        listed, chosen = directions.listed, directions.chosen
        adding, head = self._adding(moment, found), self._head(moment, found)
        if len(found.reads) != len(listed):
            return self.shown_look  # what is listed now is asked for
        if not listed:
            return Look((replace(SENTENCE, text=EMPTY, role="muted"), *adding), head=head)
        reads, writes = found.reads, found.writes
        columns = [
            Column("direction", [one.called for one in listed]),
            Column("where", [place_in_words(one.address) for one in listed]),
            Column("reads", reads, tokens=True, spare=True),
            Column("writes", writes, tokens=True),
        ]
        arrays = {"cosines": found.cosines}
        if chosen >= 0:
            columns.append(Column("cosine", found.cosines[chosen], two_digits))
        table = replace(TABLE, columns=columns, current=chosen, clicked=directions.choose)
        direction = directions.direction
        parts: list[LookPart] = [replace(SENTENCE, text=said_of(found, listed, chosen)), table, *adding]
        if direction is not None:
            self._ask_places(moment, direction)
            bars, values = self._bars(direction)
            if values is not None:
                arrays |= {"values": values}
            lines = Stacked(parts=self._lines(direction), share=1)
            parts.append(SideBySide(first=lines, second=bars, shares=(5, 4), share=5))
        return Look(
            parts,
            title=f"{count(len(listed))} {'direction' if len(listed) == 1 else 'directions'}",
            head=head,
            arrays=arrays,
            names=Names([one.called for one in listed], [one.called for one in listed]),
            recipe=self._recipe(moment, direction),
        )

    def _recipe(self, moment: Moment, direction: StateDirection | None) -> str:
        """Python code for the values over the prefix; for the list alone where nothing is typed."""
        opened = "" if direction is None else self.session.directions.code_of(direction)
        reading = self.session.reading.current
        if direction is None or reading is None or not opened:
            return ""
        return recipe_of(
            reading.moment,
            *traced(reading.moment, taps=[direction.address]),
            f"direction = {opened}",
            "values = direction.along(trace[direction.address].array)",
        )

    def _adding(self, moment: Moment, found: DirectionsFound) -> tuple[LookPart, ...]:
        """What names the chosen one, and adds the direction of a word."""
        directions, chosen = self.session.directions, self.session.directions.direction
        tap = self._tap(found)
        name = replace(
            NAME,
            text="" if chosen is None else chosen.name,
            enabled=chosen is not None,
            entered=directions.give_name,
        )
        word = replace(WORD, entered=lambda typed: self._add_word(moment, typed, tap))
        of = replace(OF_PICKER, chosen=self._of, chose=self._choose_of)
        place = replace(
            PLACE,
            choices=[place_in_words(each) for each in found.taps],
            chosen=found.taps.index(tap),
            chose=self._choose_place,
        )
        pickers = SideBySide(first=of, second=place, shares=(3, 2))
        return (
            SideBySide(
                first=name, second=SideBySide(first=word, second=pickers, shares=(2, 3)), shares=(2, 5)
            ),
        )

    def _head(self, moment: Moment, found: DirectionsFound) -> tuple[LookPart, ...]:
        directions, tap = self.session.directions, self._tap(found)
        return (
            replace(
                MEANS,
                enabled=self.session.many.given is not None,
                clicked=lambda: self._add_means(moment, tap),
            ),
            replace(REMOVE, enabled=directions.chosen >= 0, clicked=directions.remove),
            replace(OPEN, clicked=self._open),
            replace(SAVE, enabled=bool(directions.listed), clicked=self._save),
        )

    def _tap(self, found: DirectionsFound) -> str:
        """After which layer a new direction is: the middle one, where none was chosen."""
        at = self._place if 0 <= self._place < len(found.taps) else len(found.taps) // 2
        return found.taps[at]

    def _choose_of(self, at: int) -> None:
        self._of = at
        self.refresh_soon()

    def _choose_place(self, at: int) -> None:
        self._place = at
        self.refresh_soon()

    def _add_word(self, moment: Moment, typed: str, tap: str) -> None:
        of, word = list(OF)[self._of], typed.strip()

        def work(model: Model) -> StateDirection:
            from lmviz.readouts.direction import word_direction

            return word_direction(model, word, tap, of)

        self.ask(Question(self.word_key, moment, work, grows=True), self._keep)

    def _keep(self, direction: StateDirection) -> None:
        keep_scaled(self.session, direction)

    def _add_means(self, moment: Moment, tap: str) -> None:
        given = self.session.many.given
        if given is None:
            return
        rows = given.sample(MOST_TEXTS).rows
        pairs = [(row.text, row.changed) for row in rows]
        kinds = [row.label or row.wanted for row in rows]

        def work(model: Model) -> StateDirection:
            from lmviz.readouts.direction import mean_difference
            from lmviz.readouts.direction_places import two_sets

            texts, others, called = two_sets(pairs, kinds)
            return replace(mean_difference(model, texts, others, tap), origin=f"means, {called}")

        asked = Question(self.means_key, moment, work, grows=True)
        self.ask(asked, lambda direction: self.session.directions.add(direction))

    def _ask_places(self, moment: Moment, direction: StateDirection) -> None:
        """Where the direction is strong in the open text."""
        corpus = self._corpus
        if corpus is None:
            return

        def work(model: Model) -> DirectionPlaces:
            from lmviz.features.reading_rows import reading_rows
            from lmviz.readouts.direction_places import direction_places

            return direction_places(model, direction, reading_rows(model, corpus, tokens=TOKENS), LINES)

        about = (direction, corpus.fingerprint)
        question = Question(self.places_key, moment, work, about=about, grows=True)
        if self.must_ask(question):
            self.ask(question, lambda found: self._take_places((moment, *about), found))

    def _take_places(self, about: Any, found: DirectionPlaces) -> None:
        self._places = (about, found)
        self.refresh()

    @property
    def _corpus(self) -> Corpus | None:
        corpus = self.session.text.corpus
        return corpus if corpus is not None and corpus.task == "next-token" else None

    def _lines(self, direction: StateDirection) -> Sequence[LookPart]:
        corpus = self._corpus
        if corpus is None:
            return (
                Words("direction_places_told", text=NO_TEXT, role="muted"),
                replace(LINES_PART, shown=False),
            )
        about = (self.session.directions.moment, direction, corpus.fingerprint)
        if self._places is None or self._places[0] != about:
            return (Words("direction_places_told", text="The text is being read …", role="muted"), LINES_PART)
        found = self._places[1]
        told, lines = told_of_places(found), lines_of(found)
        part = replace(LINES_PART, lines=lines, clicked=lambda at: self._type(found, at))
        return Words("direction_places_told", text=told, role="muted"), part

    def _type(self, found: DirectionPlaces, line: int) -> None:
        """Type the text of a line up to where the direction is strong."""
        model = self.session.library.model
        if model is not None:
            self.session.reading.set_prefix(model.tokenizer.decode(list(found.strongest[line].ids)))

    def _bars(self, direction: StateDirection) -> tuple[WordBars, np.ndarray | None]:
        """How far each word of the prefix lies along it; nothing where nothing is typed."""
        reading = self.session.reading.current
        if reading is None or direction.address not in reading.trace:
            return replace(BARS, shown=False), None
        states = reading.trace[direction.address].array
        if states.shape[-1:] != direction.vector.shape:
            return replace(BARS, shown=False), None
        values, tokens = direction.along(states), reading.trace.tokens
        return replace(
            BARS,
            words=[visible(token) for token in tokens],
            values=values.astype(np.float64),
            current=min(self.session.reading.position, len(values) - 1),
            readout=lambda at: (
                f"{visible(tokens[at])}  {number(float(values[at]), 2)}",
                ["along the direction"],
            ),
            clicked=self.session.focus.choose_position,
        ), values

    def _open(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open directions", "", KINDS)
        if path:
            self.session.directions.open_file(Path(path))

    def _save(self) -> None:
        path, _ = QFileDialog.getSaveFileName(self, "Save directions", "directions.safetensors", KINDS)
        if path:
            self.session.directions.save_file(Path(path))


def _words(model: Model, direction: StateDirection, side: str) -> str:
    """The first words of a side; nothing where states there are not as wide."""
    from lmviz.base.errors import LmvizError

    try:
        return " ".join(visible(word) for word, _ in direction.words(model, WORDS, side))
    except LmvizError:
        return ""
