"""One text of the set whole: what the model would say there, and what is unusual about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.texts.many_text import why_empty
from lmviz.app.panels.texts.recipes import row_recipe
from lmviz.app.widgets.base.figures import count, number
from lmviz.circuits.contrast import Contrast
from lmviz.looks.columns import Column
from lmviz.looks.look import Look
from lmviz.looks.parts import Bars, Button, Table, Words
from lmviz.text.tokenizer import visible

TEXT = Words("chosen_row_text", given=True)
BARS = Bars("chosen_row_words", says="the likeliest words after it")
WITH = Table("chosen_row_fields", says="texts that share a word with it", share=1)
OPEN = Button("open_row_button", text="Open in the window")
CHOOSE = "Click a text in the table or a dot to see it whole."


class ChosenRowPanel(ShowingPanel):
    """The row that is looked at; by default the one with the lowest measure."""

    title = "One text"
    follows = ("many.changed", "many.chosen_changed", "library.model_changed")

    def look(self) -> Look:
        many = self.session.many
        empty = why_empty(self.session)
        if empty or many.values is None or many.given is None:
            return Look((TEXT, BARS, WITH), head=(replace(OPEN, shown=False),), instead=empty)
        given, values = many.given, many.values
        known = np.flatnonzero(np.isfinite(values.values))
        if not len(known):
            return Look((TEXT, BARS, WITH), head=(replace(OPEN, shown=False),), instead=CHOOSE)
        lowest = int(known[values.values[known].argmin()])
        at = many.chosen if 0 <= many.chosen < len(given) else lowest
        row = given[at]
        likeliest = values.likeliest.get(at, ())
        bars = replace(
            BARS,
            labels=[visible(word) for word, _ in likeliest],
            values=[share for _, share in likeliest],
            highlighted=[place for place, (word, _) in enumerate(likeliest) if word == row.wanted],
            shown=bool(likeliest),
        )
        value = float(values.values[at])
        if at in values.troubles:
            title = "Left out"
        else:
            title = f"{'Lowest' if at == lowest else f'Text {at + 1}'}: {number(value)}"
        said = row.text if row.changed is None else f"{row.text}\n\nchanged: {row.changed}"
        trouble = values.troubles.get(at, "")
        mean, spread = float(values.values[known].mean()), float(values.values[known].std())
        return Look(
            (replace(TEXT, text=f"{said}\n\n{trouble}" if trouble else said), bars, self._fields(at)),
            title=title,
            aside=f"mean {number(mean)} ± {number(spread)}",
            head=(replace(OPEN, clicked=lambda: self._open(at)),),
            arrays={"probability": np.array([share for _, share in likeliest])},
            recipe=self._recipe(at),
        )

    def _recipe(self, at: int) -> str:
        return row_recipe(self.session.many, at)

    def _fields(self, at: int) -> Table:
        """Each word of the row against all texts without it, and of how many texts that says something."""
        many = self.session.many
        assert many.given is not None
        assert many.values is not None
        given, numbers = many.given, many.values.values
        names, words, often, means, without = [], [], [], [], []
        for name, word in given[at].fields.items():
            same = np.array([row.fields.get(name) == word for row in given]) & np.isfinite(numbers)
            rest = ~same & np.isfinite(numbers)
            if same.any() and rest.any():
                names.append(name)
                words.append(word)
                often.append(int(same.sum()))
                means.append(float(numbers[same].mean()))
                without.append(float(numbers[rest].mean()))
        return replace(
            WITH,
            shown=bool(names),
            columns=[
                Column("with", names),
                Column("", words),
                Column("×", np.array(often, dtype=np.int64), count),
                Column("mean", np.array(means), number),
                Column("without", np.array(without), number),
            ],
        )

    def _open(self, at: int) -> None:
        """Put the text into the prefix, and its pair and its measure into Circuits."""
        many, session = self.session.many, self.session
        given = many.given
        if given is None:
            return
        row = given[at]
        many.choose(at)
        measure = ""
        if row.wanted:
            measure = f"logit:{row.wanted}-{row.other}" if row.other else f"logit:{row.wanted}"
        session.contrast.put(Contrast(row.text, row.changed, measure))
