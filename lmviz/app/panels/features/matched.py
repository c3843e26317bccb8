"""Two dictionaries held beside one another: of two seeds, two steps, or a base and its tuned model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtWidgets import QFileDialog

from lmviz.app.panels.features.asked_features import FOLLOWS, NO_FEATURES, name_in_words
from lmviz.app.panels.look_panel import ShowingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.features import why_no_features
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.widgets.base.figures import count, number, percentage
from lmviz.looks.columns import Column
from lmviz.looks.curve import PlotCurve
from lmviz.looks.look import Look
from lmviz.looks.parts import Button, Curves, Picker, SideBySide, Table, Words

if TYPE_CHECKING:
    from lmviz.features.dictionary import Dictionary
    from lmviz.features.matching import MatchedFeatures

INVITATION = (
    "Open a second dictionary of the same states, such as one learned with another seed: a feature that only "
    "one of the two knows says more about the dictionary than about the model."
)
MATCHING = Key("matched features")
BINS = np.linspace(0.0, 1.0, 41)
SENTENCE = Words("matched_sentence")
CHOOSE = "match with …"
PICKER = Picker(
    "matched_picker", says="with which of the dictionaries of this model it is matched", given=True
)
NEARLY, ALIKE = 0.9, 0.7
PLOT = Curves(
    "matched_plot",
    says="how near the nearest feature of the other dictionary is",
    x_name="cosine with the nearest",
    y_name="features",
    possible=((0.0, 1.0), (0.0, np.inf)),
    share=1,
)
TABLE = Table("matched_list", says="each feature and its nearest in the other dictionary", share=1)


class MatchedPanel(ShowingPanel):
    """How many features have a partner in another dictionary, and the partner of each."""

    title = "Matched"
    follows = FOLLOWS

    _other: tuple[Path, Dictionary] | None = None
    _found: tuple[Dictionary, Dictionary, MatchedFeatures] | None = None

    def out_of_place(self, model: OpenedModel) -> str:
        return why_no_features(model)

    @property
    def matched(self) -> MatchedFeatures | None:
        """What was found of the two; None where there are not two."""
        dictionary = self.session.features.dictionary
        if dictionary is None or self._found is None or self._other is None:
            return None
        return self._found[2] if self._found[:2] == (dictionary, self._other[1]) else None

    def look(self) -> Look:
        features, found = self.session.features, self.matched
        offers = self._offers()
        is_offered = self._other is not None and self._other[0] in offers
        chosen = 1 + offers.index(self._other[0]) if self._other is not None and is_offered else 0
        head = (
            replace(
                PICKER,
                choices=(CHOOSE, *(path.stem for path in offers)),
                chosen=chosen,
                chose=lambda at: self._choose_offered(offers, at),
            ),
            Button("matched_open_button", text="Open …", clicked=self._choose_file),
        )
        if features.opened is None:
            return Look((SENTENCE, PLOT, TABLE), instead=NO_FEATURES, head=head)
        if self._other is None:
            return Look(
                (replace(SENTENCE, text=INVITATION, role="muted"), replace(PLOT, shown=False)), head=head
            )
        if found is None:
            self._match(features.opened.dictionary, self._other[1])
            return Look((SENTENCE, PLOT, TABLE), head=head)
        counts, edges = np.histogram(found.cosines, BINS)
        order = np.argsort(-found.cosines, kind="stable")
        names = [""] * len(order)
        if features.reading is not None:
            names = [name_in_words(features.opened, features.reading, int(at)) for at in order]
        plot = replace(PLOT, curves=[PlotCurve("features", (edges[:-1] + edges[1:]) / 2, counts, "accent")])
        table = replace(
            TABLE,
            columns=(
                Column("#", order, count),
                Column("at → next", names),
                Column("there", found.partners[order], count),
                Column("cosine", found.cosines[order], lambda value: number(float(value), 2), bar=True),
            ),
            current=int(np.flatnonzero(order == features.chosen)[0]) if features.chosen >= 0 else -1,
            clicked=lambda row: features.choose(int(order[row])),
        )
        said = (
            f"{percentage(found.share(NEARLY))} of {count(len(order))} features have one nearly the same "
            f"(cosine 0.9) in {self._other[0].stem}, {percentage(found.share(ALIKE))} one that is alike "
            "(0.7)."
        )
        opened = features.opened
        recipe = "\n".join(
            [
                "import lmviz",
                "",
                f"one = lmviz.open_features({str(opened.file)!r})",
                f"other = lmviz.open_features({str(self._other[0])!r})",
                "values = lmviz.match_features(one, other).cosines",
                "",
            ]
        )
        return Look(
            (replace(SENTENCE, text=said), SideBySide(first=plot, second=table, shares=(1, 1), share=1)),
            head=head,
            arrays={
                "cosines": found.cosines,
                "partners": found.partners,
                "nearly_same": np.array([found.share(NEARLY)]),
                "alike": np.array([found.share(ALIKE)]),
            },
            recipe=recipe,
        )

    def _offers(self) -> tuple[Path, ...]:
        """The other dictionaries that lie beside the shown model."""
        opened = self.session.features.opened
        return tuple(
            path for path in self.session.features.offers() if opened is not None and path != opened.file
        )

    def _choose_offered(self, offers: tuple[Path, ...], at: int) -> None:
        if at == 0:
            self._other = None
            self.refresh_soon()
        else:
            self.open_other(offers[at - 1])

    def open_other(self, path: Path) -> None:
        """Hold the open dictionary against that of a file."""

        def work() -> Dictionary:
            from lmviz.api.features import open_features

            return open_features(path)

        def take(other: Dictionary) -> None:
            self._other = (path, other)
            self.complain("", "second dictionary")
            self.refresh_soon()

        def fail(sentence: str) -> None:
            self.complain(sentence, "second dictionary")

        self.session.work.open_file(path, work, take, fail)

    def _match(self, one: Dictionary, other: Dictionary) -> None:
        def work(given: Dictionary) -> MatchedFeatures:
            from lmviz.features.matching import match_features

            return match_features(given, other)

        def take(found: MatchedFeatures) -> None:
            self._found = (one, other, found)
            self.refresh_soon()

        self.ask_once(Question(MATCHING, one, work, about=other), take)

    def handle_failure(self, key: str) -> None:
        if key == MATCHING:
            self._other = None  # it does not fit, and another can be opened
            self.refresh_soon()

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open a second dictionary of features")
        if path:
            self.open_other(Path(path))
