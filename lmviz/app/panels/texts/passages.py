"""The passages that cost most, or where one model is ahead of the other, as lines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.texts.recipes import map_recipe
from lmviz.app.widgets.base.figures import number, signed_figure
from lmviz.looks.columns import Column
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Picker, Table
from lmviz.training.loss_kinds import PASSAGE

SHOWN = 40
TABLE = Table("passages_table", says="passages by their mean loss", share=1)
PICKER = Picker("passages_picker", says="which passages")
FIRST = "Measure the losses in “Loss map” first."


class PassagesPanel(ShowingPanel):
    """Lines with their mean; a click opens the passage in the window and in the text."""

    title = f"Passages of {PASSAGE} tokens"
    follows = ("many.losses.changed",)

    _lowest = False

    def look(self) -> Look:
        losses, found = self.session.many.losses, self.session.many.losses.shown
        choices = ("B ahead", "A ahead") if losses.shows_difference else ("hardest", "easiest")
        head = (replace(PICKER, choices=choices, chosen=int(self._lowest), chose=self._choose),)
        if found is None:
            return Look((TABLE,), head=head, instead=FIRST)
        best = found.passages(SHOWN, lowest=self._lowest)
        means = np.array([passage.mean for passage in best])
        texts = [found.text_of(passage.start, passage.end) for passage in best]

        def open_passage(row: int) -> None:
            passage = best[row]
            start = found.span_of(found.document_of(passage.start))[0]
            text = found.text_of(start, passage.end)
            if text and not found.is_translation:
                self.session.reading.set_prefix(text)
            losses.look_at(passage.start, passage.end)

        write = signed_figure if losses.shows_difference else number
        lowest = ", lowest=True" if self._lowest else ""
        return Look(
            (
                replace(
                    TABLE,
                    columns=[Column("nats", means, write), Column("passage", texts)],
                    clicked=open_passage,
                ),
            ),
            aside="one of a document",
            head=head,
            arrays={"mean": means},
            units={"mean": "nats"},
            names=Names(texts),
            recipe=map_recipe(
                self.session, f"values = [passage.mean for passage in found.passages({SHOWN}{lowest})]"
            ),
        )

    def _choose(self, place: int) -> None:
        self._lowest = bool(place)
        self.refresh_soon()
