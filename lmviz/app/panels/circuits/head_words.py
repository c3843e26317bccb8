"""What a head moves and looks for, as words, and which heads read what others write: weights alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.circuits.answering_panel import heads_missing
from lmviz.app.panels.look_panel import AskingPanel
from lmviz.app.panels.question import Key, Question
from lmviz.app.panels.shared.keep_direction import KEEP, keep_direction
from lmviz.app.session.opened_model import Moment, OpenedModel
from lmviz.app.widgets.base.figures import number
from lmviz.base.counting import head_name
from lmviz.inspection.names import number_of
from lmviz.inspection.recipes.recipe import arguments_of, recipe_of
from lmviz.looks.columns import Column
from lmviz.looks.look import Look
from lmviz.looks.parts import Picker, Table, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.head_matrices import Compositions, HeadWords
    from lmviz.models.model import Model

DIRECTIONS, WORDS, PAIRS = 5, 5, 8
NO_MODEL = "Open or train a Transformer to see what its heads move, as words."
MATRICES = {"ov": "what it moves (OV)", "qk": "what it looks for (QK)"}
SIDES = {"ov": ("reads", "writes"), "qk": ("looks", "is looked at")}
HOW = {"query": "looks by it (Q)", "key": "is found by it (K)", "value": "moves it on (V)"}

HEAD = Picker("head_words_picker", says="the head whose matrices are shown")
MATRIX = Picker("head_matrix_picker", says="which of its matrices", choices=tuple(MATRICES.values()))
SENTENCE = Words("head_words_sentence")
TABLE = Table("head_words_table", says="singular directions of the head, as words", share=3)
TITLE = Words(text="Which head reads what another writes", role="muted")
SCORES = Table("compositions_table", says="pairs of heads with the largest composition scores", share=3)
TOLD = Words(
    text=(
        "By the weights alone, without normalisations: the strongest singular directions, each with the "
        "words that lie most along it; ‖OV · W‖ / (‖OV‖ ‖W‖), how much of what the first head writes "
        "the second reads (Elhage et al. 2021). That a head could read something does not say that it does."
    ),
    role="muted",
)


@dataclass(frozen=True, eq=False)
class HeadWordsFound:
    """A head's directions, how many layers and heads there are, and the composition scores."""

    words: HeadWords
    shape: tuple[int, int]
    scores: Compositions


class HeadWordsPanel(AskingPanel[Moment, HeadWordsFound]):
    """Two pickers; a row for each direction; below, the strongest pairs: a click chooses the later head."""

    title = "Heads as words"
    key = Key("head words")
    follows = ("library.model_changed", "library.step_changed")
    parts = (
        SENTENCE,
        TABLE,
        TITLE,
        SCORES,
        TOLD,
        HEAD,
        MATRIX,
        replace(KEEP, name="keep_head_direction"),
    )

    _head, _matrix, _row = (0, 0), "ov", 0

    def out_of_place(self, model: OpenedModel) -> str:
        return heads_missing(model)

    def question(self) -> Question[Moment, HeadWordsFound] | Look:
        model = self.session.library.model
        if model is None:
            return Look(self.parts, instead=NO_MODEL)
        moment = (model, model.nearest_snapshot(self.session.library.shown_moment[1]))
        head, matrix = self._head, self._matrix
        known = self.found.scores if self.found is not None and self.asked is not None else None
        known = known if self.asked is not None and self.asked.subject == moment else None

        def work(model: Model) -> HeadWordsFound:
            from lmviz.circuits.head_matrices import compositions, head_words
            from lmviz.circuits.weights import Weights

            layers, heads = Weights(model).query.shape[:2]
            layer, own = min(head[0], layers - 1), min(head[1], heads - 1)
            found = head_words(model, layer, own, matrix, count=DIRECTIONS, words=WORDS)
            return HeadWordsFound(found, (layers, heads), known or compositions(model))

        return Question(self.key, moment, work, about=(head, matrix))

    def look(self, moment: Moment, found: HeadWordsFound) -> Look:
        words, (layers, heads) = found.words, found.shape
        names = [(layer, head) for layer in range(layers) for head in range(heads)]
        pickers = (
            replace(
                HEAD,
                choices=[f"head {head_name(*each)}" for each in names],
                chosen=names.index((words.layer, words.head)),
                chose=lambda at: self._choose(names[at], self._matrix),
            ),
            replace(
                MATRIX,
                chosen=list(MATRICES).index(words.matrix),
                chose=lambda at: self._choose(self._head, list(MATRICES)[at]),
            ),
        )
        first, second = SIDES[words.matrix]
        table = replace(
            TABLE,
            columns=[
                Column("size", words.values, _two_digits, bar=True),
                Column(first, [" ".join(map(visible, each)) for each in words.reads], tokens=True),
                Column(second, [" ".join(map(visible, each)) for each in words.writes], tokens=True),
            ],
            current=self._row,
            clicked=self._choose_row,
        )
        pairs = found.scores.strongest(PAIRS)
        scores = replace(
            SCORES,
            columns=[
                Column("writes", [head_name(*before) for _, before, _, _ in pairs]),
                Column("reads", [head_name(*after) for _, _, after, _ in pairs]),
                Column("how", [HOW[kind] for kind, *_ in pairs]),
                Column(
                    "score",
                    np.array([score for *_, score in pairs]),
                    lambda at: number(float(at), 2),
                    bar=True,
                ),
            ],
            clicked=lambda row: self._choose(pairs[row][2], self._matrix),
        )
        name = head_name(words.layer, words.head)
        top = visible(words.reads[0][0]), visible(words.writes[0][0])
        said = (
            f"Most of all, head {name} reads “{top[0]}” and writes “{top[1]}”."
            if words.matrix == "ov"
            else f"Most of all, by head {name} “{top[0]}” looks at “{top[1]}”."
        )
        chance = number(found.scores.chance, 2)
        return Look(
            (
                replace(SENTENCE, text=said),
                table,
                replace(TITLE, text=f"{TITLE.text}; random {chance}"),
                scores,
                TOLD,
            ),
            head=(replace(KEEP, name="keep_head_direction", clicked=lambda: self._keep(words)), *pickers),
            arrays={"values": words.values, "left": words.left, "right": words.right},
            recipe=recipe_of(
                moment[0].reading("", moment[1]),
                "found = lmviz.head_words(model, "
                + arguments_of(words.layer, words.head, words.matrix, count=DIRECTIONS, words=WORDS)
                + ")",
                "values = found.values",
            ),
        )

    def _choose_row(self, row: int) -> None:
        self._row = row
        self.refresh_soon()

    def _keep(self, words: HeadWords) -> None:
        """Keep what the chosen direction writes or, of QK, what it looks for."""
        side = "writes" if words.matrix == "ov" else "reads"
        row = min(self._row, len(words.values) - 1)
        address, vector, _ = words.along(row, side)
        what = "what it moves" if words.matrix == "ov" else "what it looks for"
        name = head_name(words.layer, words.head)
        keep_direction(self.session, address, vector, f"head {name}, {what}, {number_of('row', row)}")

    def _choose(self, head: tuple[int, int], matrix: str) -> None:
        if (head, matrix) != (self._head, self._matrix):
            self._head, self._matrix = head, matrix
            self.refresh_soon()


def _two_digits(value: float) -> str:
    return number(float(value), 2)
