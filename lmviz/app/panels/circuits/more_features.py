"""With more features at a word: what errors alone, and features alone, take of the answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.circuits.which_features import NO_FEATURES, NO_MODEL
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.features.recipes import through_features_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Curves, Words
from lmviz.showing.pieces import signed_share

if TYPE_CHECKING:
    from lmviz.features.alone_by_size import AloneBySize
    from lmviz.models.model import Model

NO_PAIR = "Type a changed text, or choose a question, to see what features alone and errors alone take of it."
SENTENCE = Words("more_features_sentence")
PLOT = Curves(
    "more_features_plot",
    says="what features alone and errors alone take, by features at a word",
    x_name="features at a word",
    logarithmic=(True, False),
    writes=(None, signed_share),
    share=1,
)


class MoreFeaturesPanel(AskingPanel[Reading, "AloneBySize"]):
    """Three curves over the number of features at a word."""

    title = "With more features at a word"
    draws = ("reading", "contrast")
    key = Key("more features at a word")
    follows = ("contrast.changed", "library.model_changed", "features.changed")
    parts = (SENTENCE, PLOT)

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    def have_asked(self) -> None:
        self.session.contrast.renew()

    def question(self) -> Question[Reading, AloneBySize] | Look:
        contrast, opened = self.session.contrast, self.session.features.opened
        if opened is None:
            return Look(self.parts, instead=NO_MODEL if self.session.library.model is None else NO_FEATURES)
        measured, reading = contrast.found, contrast.reading
        if measured is None or reading is None or not measured.others:
            return Look(self.parts, instead=NO_PAIR)
        files, changes = self._files, reading.question.interventions

        def work(model: Model) -> AloneBySize:
            from lmviz.api.features import open_features
            from lmviz.features.alone_by_size import alone_by_size

            some = [opened.dictionary if file == opened.file else open_features(file) for file in files]
            return alone_by_size(model, measured.contrast, some, interventions=changes)

        return Question(self.key, reading, work, about=(reading, measured, files))

    def look(self, reading: Reading, found: AloneBySize) -> Look:
        sizes = [float(size) for size in found.sizes]
        drawn = (
            ("variance explained", found.explained, "accent"),
            ("errors alone", found.errors, "muted_text"),
            ("features alone", found.features, "signed_positive"),
        )
        curves = [PlotCurve(name, sizes, shares, role=role) for name, shares, role in drawn]
        arrays = {
            "features": found.features,
            "errors": found.errors,
            "explained": found.explained,
        }
        return Look(
            (replace(SENTENCE, text=_sentence(found)), replace(PLOT, curves=curves)),
            arrays=arrays,
            names=Names(tuple(map(str, found.sizes))),
            recipe=self._recipe(reading),
        )

    @property
    def _files(self) -> tuple[Path, ...]:
        """The open dictionary; of one of the feed-forward layers beside the model, all of these."""
        opened, offers = self.session.features.opened, self.session.features.offers()
        layers = tuple(path for path in offers if path.stem.startswith("feed-forward"))
        if opened is None:
            return ()
        return layers if opened.file in layers else (opened.file,)

    def _recipe(self, reading: Reading) -> str:
        measured = self.session.contrast.found
        if measured is None:
            return ""
        call = "lmviz.alone_by_size(model, contrast, dictionaries"
        return through_features_recipe(reading.moment, measured.contrast, self._files, call, "found.errors")


def _sentence(found: AloneBySize) -> str:
    """What the number that the dictionaries were learned with says, and where errors take least."""
    at = found.sizes.index(found.own) if found.own in found.sizes else int(np.argmax(found.explained))
    said = (
        f"With {found.sizes[at]} at a word, {signed_share(float(found.explained[at]))} of the variance is "
        f"explained. All errors alone take {signed_share(float(found.errors[at]))} of the answer away, all "
        f"features alone {signed_share(float(found.features[at]))}."
    )
    if found.own is not None:
        said += f" It was learned with {found.own}: a dictionary learned with more would explain more."
    return said
