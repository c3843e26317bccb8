"""What models say side by side, as columns of a look."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from lmviz.app.widgets.looks.part_drawing import PartDrawing
from lmviz.app.widgets.plots.answer_columns import AnswerColumns
from lmviz.looks.parts import Answers


class AnswersDrawing(PartDrawing[Answers, AnswerColumns]):
    """A column for each model."""

    def make(self, part: Answers, inner: Sequence[QWidget]) -> AnswerColumns:
        columns = AnswerColumns()
        columns.part_clicked.connect(lambda row: self.part.clicked(row))
        return columns

    def put(self, part: Answers) -> None:
        if self.changed("columns", "prompts", "words"):
            self.widget.set_answers(part.columns, part.prompts, part.words)
