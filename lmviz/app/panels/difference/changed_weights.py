"""By how much each matrix changed from one model to the other, and in how many directions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.difference.pair_panel import PairPanel, in_short, whole, why_not
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.pair import Two
from lmviz.app.widgets.base.figures import percentage
from lmviz.base.counting import numbered
from lmviz.differences.recipes import difference_recipe
from lmviz.looks.curve import PlotCurve
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Curves, Matrix, SideBySide, Words

if TYPE_CHECKING:
    from lmviz.differences.directions import LearnedDirection
    from lmviz.differences.growing import GrowingAnswer
    from lmviz.differences.matrices import MatrixChange
    from lmviz.differences.pair import ModelPair

    Changes = GrowingAnswer[tuple[MatrixChange, ...]]

SENTENCE = Words("changed_weights_sentence")
GRID = Matrix(
    "changed_weights_grid", says="relative size of the change of each matrix", scale="share", share=1
)
VALUES = Curves(
    "singular_values_plot",
    says="singular values of the change, beside those of the matrix",
    x_name="direction",
    y_name="singular value, of the largest",
    possible=((1.0, np.inf), (0.0, 1.0)),
    share=1,
)
WORDS = Words("learned_direction_words", role="muted")

SHORT = {
    "attention/query": "query",
    "attention/key": "key",
    "attention/value": "value",
    "attention/output": "out",
    "feedforward/hidden": "ff in",
    "feedforward/gate": "ff gate",
    "feedforward/output": "ff out",
}
"""What matrices of a Transformer's layer are called over a narrow column."""


def _side_by_side(grid: Matrix, spectrum: Curves) -> SideBySide:
    """Both, one below the other where there is little width."""
    return SideBySide(first=grid, second=spectrum, shares=(6, 5), share=1)


class ChangedWeightsPanel(PairPanel["Changes | str"]):
    """A cell for each matrix, and the singular values of the change of the largest, or of a clicked one."""

    title = "Weights, B − A"
    shows = "which matrices changed"
    key = Key("changed weights")
    directions_key = Key("learned directions")
    follows = ("pair.changed", "work.ready_changed")
    parts = (SENTENCE, _side_by_side(GRID, replace(VALUES, shown=False)), replace(WORDS, shown=False))

    _chosen = ""  # the label of the matrix that was clicked
    _directions: tuple[tuple[Two, str], LearnedDirection | None] | None = None

    def question(self) -> Question[Two, Changes | str] | Look:
        if self.obstacle is not None:
            return self.obstacle

        def work(pair: ModelPair) -> Changes | str:
            from lmviz.differences.growing import growing
            from lmviz.differences.matrices import changing_matrices

            return pair.why_not_alike or growing(changing_matrices(pair))

        return self.asked_of(work, None)

    def goes_on(self, subject: Two, found: Changes | str) -> Question[Changes, Changes | str] | None:
        return None if isinstance(found, str) or found.is_done else Question(self.key, found, _go_on)

    def look(self, two: Two, growing: Changes | str) -> Look:
        if isinstance(growing, str):
            return Look(self.parts, instead=why_not(two, growing))
        found = growing.found
        if not growing.is_done and not any(change.change > 0 for change in found):
            return self.first_look()
        matrices = [change for change in found if change.singular is not None and change.size > 0]
        if not matrices or not any(change.change > 0 for change in matrices):
            return Look(self.parts, instead="All weights of the two models are the same.")
        most = max(matrices, key=lambda change: change.relative)
        chosen = next((change for change in matrices if change.label == self._chosen), most)
        layers = sorted({change.layer for change in matrices if change.layer is not None})
        kinds = list(dict.fromkeys(change.kind for change in matrices if change.layer is not None))
        known = {(change.layer, change.kind): change for change in matrices}
        others = [change for change in matrices if change.layer is None]
        values = np.full((len(layers) or 1, len(kinds)), np.nan)
        for (layer, kind), change in known.items():
            if layer is not None:
                values[layers.index(layer), kinds.index(kind)] = change.relative

        def at(row: int, column: int) -> MatrixChange | None:
            return known.get((layers[row], kinds[column])) if layers else None

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            change = at(row, column)
            return (
                ("", []) if change is None else (f"‖ΔW‖/‖W‖ {percentage(change.relative)}", _details(change))
            )

        def choose(row: int, column: int) -> None:
            change = at(row, column)
            if change is not None:
                self._chosen = change.label
                self.refresh()

        cell = (layers.index(chosen.layer), kinds.index(chosen.kind)) if chosen.layer is not None else None
        words = [["" if np.isnan(value) else whole(float(value)) for value in row] for row in values]
        grid = replace(
            GRID,
            values=values,
            limit=float(np.nanmax(values)) if kinds else None,
            rows=[str(numbered(layer)) for layer in layers],
            columns=[SHORT.get(kind, kind) for kind in kinds],
            words=words if values.size <= 144 else (),
            suggested=cell,
            readout=read_out,
            clicked=choose,
            shown=bool(kinds),
        )
        if growing.is_done:
            self._ask_directions(two, chosen)
        from lmviz.app.panels.shared.keep_direction import KEEP  # not needed for the first paint

        learned = self._direction_of(two, chosen)
        can_keep = learned is not None and learned.vector is not None
        keep = replace(
            KEEP, name="keep_changed_direction", enabled=can_keep, clicked=lambda: self._keep(learned, chosen)
        )
        return Look(
            (
                replace(SENTENCE, text=_said(chosen, in_short(two), is_most=chosen is most)),
                _side_by_side(grid, _spectrum(chosen)),
                replace(WORDS, text=self._words(two, chosen, others)),
            ),
            aside="size of the change · directions for 90 % of B − A · of A",
            aside_tip="Size: ‖ΔW‖ / ‖W‖ in Frobenius' norm. Directions: how many of the largest singular "
            "values hold nine tenths of the sum of all squares, for the change and for the matrix itself.",
            head=(keep,),
            arrays={
                "relative": np.array([change.relative for change in found]),
                "singular": chosen.singular if chosen.singular is not None else np.zeros(0),
            },
            names=Names([change.label for change in found]),
            recipe=difference_recipe(
                two[0].reads(""),
                two[1].reads(""),
                "[matrix.relative for matrix in change.matrices]",
                text=False,
            ),
        )

    def _ask_directions(self, two: Two, change: MatrixChange) -> None:
        """What the strongest direction of a change reads and writes, as words."""
        about = (two, change.label)
        if self._directions is not None and self._directions[0] == about:
            self.silence(self.directions_key)  # of another pair, which may have failed
            return

        def work(pair: ModelPair) -> LearnedDirection | None:
            from lmviz.differences.directions import learned_directions

            return next(iter(learned_directions(pair, change, 1)), None)

        asked = self.asked_of(work, change.label, self.directions_key)
        if isinstance(asked, Question):
            question = replace(asked, grows=True)
            if self.must_ask(question):
                self.ask(question, lambda found: self._take_direction(about, found))

    def _take_direction(self, about: tuple[Two, str], found: LearnedDirection | None) -> None:
        self._directions = (about, found)
        self.refresh()

    def _direction_of(self, two: Two, change: MatrixChange) -> LearnedDirection | None:
        """The strongest direction of a change, once that is known."""
        known = self._directions
        return known[1] if known is not None and known[0] == (two, change.label) else None

    def _keep(self, learned: LearnedDirection | None, change: MatrixChange) -> None:
        """Keep what the change writes most, among the directions of the shown model."""
        from lmviz.app.panels.shared.keep_direction import keep_direction

        if learned is not None and learned.vector is not None:
            keep_direction(self.session, learned.address, learned.vector, f"change of {change.label}")

    def _words(self, two: Two, change: MatrixChange, others: list[MatrixChange]) -> str:
        learned = self._direction_of(two, change)
        said = "" if learned is None else _in_words(learned)
        beside = ", ".join(f"{one.label} {whole(one.relative)}" for one in others[:3])
        return " · ".join(part for part in (said, beside) if part)


def _go_on(
    growing: Changes,
) -> Changes | str:
    return growing.more()


def _details(change: MatrixChange) -> list[str]:
    lines = [change.label, " × ".join(map(str, change.shape))]
    if change.directions is not None and change.singular is not None:
        lines.append(
            f"90 % of the change in {change.directions} of {len(change.singular)} directions, "
            f"of A in {change.directions_before}"
        )
    return lines


def _said(change: MatrixChange, names: tuple[str, str], *, is_most: bool) -> tuple[Inked, ...]:
    """How much a matrix changed from one model to the other, and whether in few directions."""
    few = change.directions is not None and change.directions_before is not None
    low = few and change.directions * 3 <= change.directions_before  # type: ignore[operator]  # as `few` says
    rank = "of low rank" if low else "not of low rank"
    count = f"; {rank}: {change.directions} directions, A itself {change.directions_before}" if few else ""
    return (
        Inked("Most: " if is_most else ""),
        Inked(_name(change), True),
        Inked(", "),
        Inked(whole(change.relative), True),
        Inked(f", from {names[0]} to {names[1]}{count}."),
    )


def _name(change: MatrixChange) -> str:
    """A matrix in words: "layer 2, attention output"."""
    kind = change.kind.replace("/", " ").replace("feedforward", "feed-forward")
    return kind if change.layer is None else f"layer {numbered(change.layer)}, {kind}"


def _spectrum(change: MatrixChange) -> Curves:
    """The singular values of a change and of its matrix, each relative to its largest."""
    if change.singular is None or change.singular_before is None or not change.singular.any():
        return replace(VALUES, shown=False)
    places = np.arange(1, len(change.singular) + 1)
    return replace(
        VALUES,
        curves=[
            PlotCurve(
                "B − A",
                places,
                change.singular / change.singular[0],
                "accent",
                said=f"90 % in {change.directions}",
            ),
            PlotCurve(
                "A",
                places,
                change.singular_before / change.singular_before[0],
                "muted_text",
                1.4,
                dashed=True,
                said=f"in {change.directions_before}",
            ),
        ],
    )


def _in_words(direction: LearnedDirection) -> str:
    """The strongest direction, by the words at its ends."""

    def some(words: tuple[str, ...] | None) -> str:
        return "" if words is None else ", ".join(f"“{word.strip()}”" for word in words[:4])

    said = []
    if direction.reads is not None:
        said.append(f"reads {some(direction.reads)}")
    if direction.writes is not None:
        said.append(f"writes {some(direction.writes)} against {some(direction.writes_against)}")
    return f"Strongest direction ({whole(direction.share)}) {', '.join(said)}" if said else ""
