"""The answer as a bill: what features, what they leave unexplained, and all other parts add to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.circuits.answering_panel import briefly
from lmviz.app.panels.circuits.feature_answer import FeatureAnswerPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named
from lmviz.app.widgets.plots.signed_bars import SignedBars
from lmviz.features.bill_rows import BillRow, bill_in_words, bill_rows
from lmviz.features.recipes import through_features_recipe
from lmviz.looks.names import COUNTED, Names

if TYPE_CHECKING:
    from pathlib import Path

    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.features.bill import FeatureBill
    from lmviz.models.model import Model

Asked = tuple[Reading, "MeasuredContrast", "tuple[Path, ...]"]


class FeatureBillPanel(FeatureAnswerPanel["FeatureBill", Asked]):
    """Bars from zero to the measure; what is not explained is hatched, and in the sentence."""

    gives_way = 60
    key = Key("bill of features")

    def __init__(self, session: Session) -> None:
        super().__init__(session, "feature_bill")
        self._rows: list[BillRow] = []
        self._bars = named(SignedBars("what each part adds"), "feature_bill_bars")
        self._answer_in(
            self.add_card("Bill of features", self._which.picker, column(self._said, (self._bars, 1)))
        )
        self._bars.part_clicked.connect(self._choose)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        if self.found is None:
            return {}
        arrays, alone = {"share": self.found.attribution.array}, self.found.alone
        if alone is not None:
            arrays |= {"errors_alone": np.array([alone.errors]), "features_alone": np.array([alone.features])}
        return arrays

    def exported_names(self) -> Names:
        return COUNTED if self.found is None else Names(self.found.attribution.labels("component"))

    def recipe(self) -> str:
        if self.found is None or self._of is None:
            return ""
        reading, measured, files = self._of
        call = "lmviz.feature_bill(model, contrast, dictionaries"
        read = "found.attribution.array"
        return through_features_recipe(reading.moment, measured.contrast, files, call, read)

    def _asks(self, reading: Reading, measured: MeasuredContrast) -> Asked:
        return reading, measured, self._which.files

    def _question(self, asked: Asked) -> Question[Reading, FeatureBill]:
        reading, measured, files = asked
        changes, load = reading.question.interventions, self._which.loading(files)

        def work(model: Model) -> FeatureBill:
            from lmviz.features.bill import feature_bill

            return feature_bill(model, measured.contrast, load(), interventions=changes)

        return Question(self.key, reading, work, about=(reading, measured, files))

    def _draw(self) -> None:
        found = self.found
        self._bars.setVisible(found is not None)
        if found is None or self._of is None:
            self._said.setText("")
            self._rows = []
            return
        self._rows = bill_rows(found, self._names(found))
        sum_of = briefly(self._of[1].said)
        self._card.set_title(f"Who wrote {sum_of}")
        self._bars.set_bars(
            [row.name for row in self._rows] + [sum_of],
            [row.share for row in self._rows] + [found.value],
            notes=[row.note for row in self._rows],
            faded=[at for at, row in enumerate(self._rows) if row.is_many],
            hatched=[at for at, row in enumerate(self._rows) if row.is_error],
            running=True,
        )
        self._said.setText(bill_in_words(found))

    def _names(self, found: FeatureBill) -> dict[tuple[int, int], str]:
        """What the features of the open dictionary are called, as far as its text has been read."""
        return {
            (row.dictionary, row.feature): name
            for row in found.features
            if (name := self._which.name_of(found.dictionaries[row.dictionary], row.feature))
        }

    def _choose(self, bar: int) -> None:
        if self.found is None or bar >= len(self._rows):
            return
        row = self._rows[bar]
        if row.feature >= 0:
            self._which.choose(self.found.dictionaries[row.dictionary], row.feature)
