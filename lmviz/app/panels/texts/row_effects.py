"""Heads by layers: the mean effect of each over the texts, and in how many of them it has that sign."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.texts.many_text import part_name, why_empty
from lmviz.app.panels.texts.recipes import effects_recipe
from lmviz.app.session.many_texts import EffectsSoFar
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.figures import count, number, signed_figure, whole_percentage
from lmviz.base.counting import numbered
from lmviz.base.durations import briefly, in_words
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Button, DotRow, Dots, Picker, Sized, Stacked, Words
from lmviz.models.address import Address

TO = {
    "mean": "set to its mean",
    "zero": "set to zero",
    "lower": "left to the order below",
    "patch": "carried into the changed text",
}
MOST_DOWN, UNITS = 40, 32
"""Of more parts than that in a layer, so many stand in a line."""

SENTENCE = Words("row_effects_sentence")
CELLS = Sized("row_effects_cells", says="mean effect by layer and part; size: texts of that sign", share=3)
DOTS = Dots("row_effects_dots", says="the effect of two parts in each text", share=2)
WAY = Picker("row_effects_picker", says="what is done to each part")
START = Button("row_effects_button", text="Measure each part")


class RowEffectsPanel(ShowingPanel):
    """Cells whose colour is the mean effect and whose size is the share of rows with its sign."""

    title = "Without one part"
    follows = ("many.changed", "many.chosen_changed", "library.model_changed")

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.show_failures(session.many.of_effects)

    def look(self) -> Look:
        many = self.session.many
        empty = why_empty(self.session)
        if empty or many.values is None or many.given is None:
            return Look(
                (SENTENCE, CELLS, DOTS),
                head=(replace(WAY, shown=False), replace(START, shown=False)),
                instead=empty,
            )
        found, head = many.effects, self._head()
        if found is None:
            return Look((SENTENCE,), head=head, instead=self._plan())
        effects = found.effects
        mean = effects.mean.reshape(len(effects.mean), -1)
        agreeing = effects.agreeing.reshape(mean.shape)
        marked = self._marked(found)
        fold = _Fold.of(mean, effects.mean.ndim)

        def readout(row: int, column: int) -> tuple[str, list[str]]:
            cell = fold.cell(row, column)
            if cell is None:
                return "", []
            lines = [
                f"{signed_figure(float(effects.mean[cell]))} on average",
                f"in {count(int(effects.agreeing[cell]))} of {count(found.done)} texts of that sign",
            ]
            ends = effects.band_of(cell)
            if ends is not None:
                lines.append(f"95 %: {signed_figure(ends[0])} to {signed_figure(ends[1])}")
            return part_name(effects.addresses, cell), lines

        cells = replace(
            CELLS,
            values=fold.laid_out(mean),
            sizes=fold.laid_out(agreeing) / found.done,
            rows=fold.rows,
            columns=fold.columns or [_column(address) for address in effects.addresses],
            names=(fold.name, ""),
            marked=[fold.place(cell) for cell in marked],
            readout=readout,
            clicked=lambda row, column: many.choose_part(fold.cell(row, column)),
        )
        return Look(
            (
                replace(SENTENCE, text=self._sentence(found, marked)),
                Stacked(parts=(cells, self._dots(found, marked)), share=1),
            ),
            aside=self._so_far(found),
            head=head,
            arrays={"mean": effects.mean, "agreeing": effects.agreeing},
            names=Names([Address.parse(at).place_of_layer or at for at in effects.addresses]),
            recipe=self._recipe(),
        )

    def _recipe(self) -> str:
        return effects_recipe(self.session.many)

    def _head(self) -> tuple[Picker | Button, ...]:
        many, found = self.session.many, self.session.many.effects
        ways = many.ways
        way = replace(
            WAY,
            choices=[TO[each] for each in ways],
            chosen=ways.index(many.by) if many.by in ways else 0,
            chose=lambda place: many.choose_way(ways[place]),
        )
        if many.is_trying:
            return way, replace(START, text="Stop", clicked=many.stop)
        is_done = found is not None and found.done == found.of
        text = START.text if found is None else "Go on"
        return way, replace(START, text=text, shown=not is_done, clicked=many.start)

    def _plan(self) -> str:
        """How long it may take, from what asking each row once took."""
        many, values = self.session.many, self.session.many.values
        if values is None or self.session.library.model is None:
            return ""
        if many.is_trying:
            return "The first text is being asked without each part."
        rows = len(values.asked)
        parts = self._parts()
        seconds = values.seconds * rows * parts / 4  # together, and of what follows a part only
        return (
            f"Measure what each of {count(parts)} parts does in {count(rows)} texts: {in_words(seconds)}. "
            "Means are shown from the first texts on, and it can be left and gone on with."
        )

    def _parts(self) -> int:
        """How many heads, units or orders the shown model has."""
        model = self.session.library.model
        if model is None:
            return 0
        configuration = model.description.configuration
        each = "heads" if model.has_heads else "width" if model.family != "ngram" else "order"
        layers = int(configuration.get("layers", 1)) if each != "order" else 1
        return layers * int(configuration.get(each, 1))

    def _so_far(self, found: EffectsSoFar) -> str:
        if found.done == found.of:
            return f"{count(found.of)} texts · shaded: 90 % of them"
        left = f", {briefly(found.left)} left" if self.session.many.is_trying else ""
        return f"{count(found.done)} of {count(found.of)} texts{left}"

    def _marked(self, found: EffectsSoFar) -> list[tuple[int, ...]]:
        """The chosen part, or the strongest, and beside it the strongest of the other sign."""
        effects, chosen = found.effects, self.session.many.part
        first = chosen if chosen is not None and len(chosen) == effects.mean.ndim else effects.strongest[0]
        sign = np.sign(effects.mean[first])
        other = next((cell for cell in effects.strongest if np.sign(effects.mean[cell]) == -sign), None)
        return [first] if other is None else [first, other]

    def _sentence(self, found: EffectsSoFar, marked: list[tuple[int, ...]]) -> tuple[Inked, ...]:
        effects, pieces = found.effects, []
        for place, cell in enumerate(marked):
            name = part_name(effects.addresses, cell)
            said = "Without " if place == 0 else "; without "
            by = signed_figure(float(effects.mean[cell]))
            if effects.by == "patch":
                said = "" if place == 0 else "; "
                by = f"brings back {whole_percentage(float(effects.mean[cell]))}"
            pieces += [Inked(said), Inked(name, True), Inked(" "), Inked(by, True)]
            agreeing = count(int(effects.agreeing[cell]))
            pieces.append(Inked(f", of that sign in {agreeing} of {count(found.done)}"))
        return (*pieces, Inked("."))

    def _dots(self, found: EffectsSoFar, marked: list[tuple[int, ...]]) -> Dots:
        many, effects = self.session.many, found.effects
        rows = []
        for cell in marked:
            values = effects.of(cell)
            ends = np.percentile(values, (5, 95)) if len(values) > 1 else None
            label = f"{part_name(effects.addresses, cell)}\n{int(effects.agreeing[cell])} of {found.done}"
            ink = "signed_positive" if effects.mean[cell] > 0 else "signed_negative"
            band = None if ends is None else (float(ends[0]), float(ends[1]))
            rows.append(DotRow(label, values, effects.numbers, ink, band))
        given = many.given
        assert given is not None, "there are effects of its rows"

        def readout(at: int) -> tuple[str, list[str]]:
            place = effects.numbers.index(at)
            shown = [number(float(effects.rows[(place, *cell)]), 2) for cell in marked]
            return given[at].said, [" and ".join(shown)]

        return replace(DOTS, rows=rows, ringed=many.chosen, readout=readout, clicked=many.choose)


@dataclass(frozen=True)
class _Fold:
    """Where the cells (layer, part) lie: layers across and heads down; many units in lines of their own."""

    shape: tuple[int, int]
    axes: int
    width: int = 0

    @classmethod
    def of(cls, mean: np.ndarray, axes: int) -> _Fold:
        layers, parts = mean.shape
        return cls((layers, parts), axes, UNITS if parts > MOST_DOWN else 0)

    @property
    def _lines(self) -> int:
        return -(-self.shape[1] // self.width) if self.width else 0

    @property
    def name(self) -> str:
        return "unit" if self.width else "head" if self.shape[1] > 1 else ""

    @property
    def rows(self) -> list[str]:
        if self.width:
            return [str(line * self.width + 1) for _ in range(self.shape[0]) for line in range(self._lines)]
        return [str(numbered(part)) for part in range(self.shape[1])] if self.shape[1] > 1 else ["all"]

    @property
    def columns(self) -> list[str]:
        return [f"+{at}" for at in range(self.width)]

    def laid_out(self, values: np.ndarray) -> np.ndarray:
        """(row, column) of what is drawn."""
        if not self.width:
            return np.asarray(values.T)
        layers, parts = self.shape
        padded = np.zeros((layers, self._lines * self.width))
        padded[:, :parts] = values
        return padded.reshape(layers * self._lines, self.width)

    def cell(self, row: int, column: int) -> tuple[int, ...] | None:
        """Which part is drawn at a place; None where there is none."""
        layer, part = column, row
        if self.width:
            layer, line = divmod(row, self._lines)
            part = line * self.width + column
        if part >= self.shape[1] or layer >= self.shape[0]:
            return None
        return (layer, part) if self.axes > 1 else (layer,)

    def place(self, cell: tuple[int, ...]) -> tuple[int, int]:
        """Row and column of a part."""
        layer, part = cell[0], cell[1] if len(cell) > 1 else 0
        if not self.width:
            return part, layer
        line, column = divmod(part, self.width)
        return layer * self._lines + line, column


def _column(address: str) -> str:
    at = Address.parse(address)
    return str(at.order) if at.order is not None else str(numbered(at.layer or 0))
