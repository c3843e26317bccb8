"""How far apart the states of two models are: over the text by layer and position, and over many texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.difference.pair_panel import PairPanel, in_short, whole, why_not
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.pair import Two
from lmviz.app.widgets.base.figures import number, percentage
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.names import Names
from lmviz.looks.parts import Bars, Matrix, Picker, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.differences.growing import GrowingAnswer
    from lmviz.differences.pair import ModelPair
    from lmviz.differences.states import StateDistance, StateSimilarity

POSITIONS = 2048
"""Over so many positions of the held-out text the similarity is taken."""

SENTENCE = Words("distance_sentence")
GRID = Matrix("distance_grid", says="how far the two are apart after each layer at each word", share=1)
BEFORE = Picker("difference_before_picker", says="A, the model or step that it is held against", given=True)
AFTER = Picker("difference_after_picker", says="B, the step that is shown", given=True)


@dataclass(frozen=True, eq=False)
class Apart:
    """How far two models are apart on a text; the similarity, over other texts if some are open, comes later.

    `why_not` says why nothing can be measured at single positions.
    """

    distance: StateDistance | None
    why_not: str
    similarity: StateSimilarity | None = None
    has_similarity: bool = True
    growing: GrowingAnswer[StateSimilarity | None] | None = None
    is_held_out: bool = False


class DifferencePanel(PairPanel[Apart]):
    """A heatmap of distances with the furthest cell framed, and beside it linear CKA by layer."""

    title = "How far apart"
    shows = "how far apart two models are"
    key = Key("difference")
    follows = (*PairPanel.follows, "focus.position_changed", "text.changed")
    parts = (SENTENCE, GRID)

    def question(self) -> Question[Two, Apart] | Look:
        if self.obstacle is not None:
            return self.obstacle
        text = self.text
        if not text:
            return replace(self._empty(), instead=self.no_text)

        def work(pair: ModelPair) -> Apart:
            from lmviz.differences.documents import judged_text, last_tokens
            from lmviz.differences.states import state_distance

            if pair.why_not_alike:
                return Apart(None, pair.why_not_alike, has_similarity=pair.read_alike)
            ids = last_tokens(pair, judged_text(pair.before, text).documents[0])
            return Apart(state_distance(pair, ids), "")

        return self.asked_of(work, (text, self.session.text.fingerprint))

    def goes_on(self, subject: Two, found: Apart) -> Question[Any, Apart] | None:
        if found.similarity is not None or not found.has_similarity:
            return None
        if found.growing is not None:
            return Question(self.key, found, _go_on)
        text, corpus = self.text, self.session.text.corpus
        held_out = corpus.validation_documents if corpus is not None and corpus.task == "next-token" else ()

        def work(pair: ModelPair) -> Apart:
            from lmviz.base.errors import LmvizError
            from lmviz.differences.documents import first_stretches
            from lmviz.differences.growing import growing
            from lmviz.differences.states import comparing_states

            try:
                stretches = first_stretches(pair, held_out or [text], POSITIONS)
                begun = growing(comparing_states(pair, stretches))
            except LmvizError:  # of a text of one token, or a model that counts, there is none
                return replace(found, has_similarity=False)
            return replace(found, growing=begun, is_held_out=bool(held_out))

        further = self.asked_of(work, "similarity")
        return further if isinstance(further, Question) else None

    def look(self, two: Two, found: Apart) -> Look:
        names = in_short(two)
        recipe = self._recipe(two)
        bars = _similarity(found)
        head = self._pickers()
        if found.distance is None:
            said = replace(SENTENCE, text=why_not(two, found.why_not), role="muted")
            if bars is None:
                return Look((replace(GRID, shown=False),), head=head, instead=why_not(two, found.why_not))
            return Look(
                (said, replace(bars, share=1)),
                head=head,
                arrays=_arrays(found),
                recipe=recipe("similarity.array"),
            )
        distance = found.distance
        row, column = distance.furthest
        tokens = [visible(token) for token in distance.tokens]
        places = distance.labels("place")
        shift = self._shift(distance)

        def read_out(at: int, position: int) -> tuple[str, list[str]]:
            share, cosine = distance.array[at, position], distance.cosine[at, position]
            return f"{percentage(float(share))} of ‖A‖", [
                f"{places[at]}, at “{tokens[position]}”",
                f"cosine {number(float(cosine))}",
            ]

        grid = replace(
            GRID,
            values=distance.array,
            scale="share",
            limit=float(np.nanmax(distance.array)) or None,
            rows=list(map(self.of_units, places)),
            columns=tokens,
            column=self.session.focus.shown_position - shift,
            suggested=(row, column),
            readout=read_out,
            clicked=lambda at, position: self.session.focus.choose_position(position + shift),
        )
        sentence = replace(
            SENTENCE,
            text=(
                Inked("Furthest after "),
                Inked(places[row], True),
                Inked(" at “"),
                Inked(tokens[column], True, "key"),
                Inked("”: "),
                Inked(whole(float(distance.array[row, column])), True),
                Inked(f", from {names[0]} to {names[1]}."),
            ),
        )
        similarity = found.similarity
        if similarity is not None:
            grid = replace(grid, notes_title="CKA", notes=[_figure(value) for value in similarity.array])
        return Look(
            (sentence, grid),
            aside="‖B − A‖ of ‖A‖" if similarity is None else f"‖B − A‖ of ‖A‖ · CKA over {_over(found)}",
            aside_tip="The length of the difference of the two states, relative to the state of A. Beside it "
            "linear CKA: 1 where the same positions are alike in both models, however they are turned.",
            head=head,
            arrays=_arrays(found),
            names=Names(places, tokens),
            recipe=recipe("stream.array"),
        )

    def _empty(self) -> Look:
        return Look(self.parts, head=self._pickers())

    def _shift(self, distance: StateDistance) -> int:
        """How many positions of the text stand before the first that is shown."""
        encoding = self.session.reading.encoding
        return 0 if encoding is None else max(0, len(encoding) - len(distance.tokens))

    def _pickers(self) -> tuple[Picker, ...]:
        """A and B, to be chosen."""
        pair = self.session.pair
        two = pair.models
        if two is None:
            return ()
        before, after = two
        choices = list(dict.fromkeys((before.moment, *pair.choices)))
        steps = list(after.model.snapshots)
        names = [
            f"A  step {step:,}" if model == after.model else f"A  {model.name}" for model, step in choices
        ]
        return (
            replace(BEFORE, choices=names, chosen=0, chose=lambda at: pair.choose_before(choices[at])),
            replace(
                AFTER,
                choices=[f"B  step {step:,}" for step in steps]
                if len(steps) > 1
                else [f"B  {after.model.name}"],
                chosen=steps.index(after.step) if after.step in steps else 0,
                chose=lambda at: pair.choose_step(steps[at]),
            ),
        )

    def _recipe(self, two: Two):  # type: ignore[no-untyped-def]
        from lmviz.differences.recipes import difference_recipe

        text = self.text
        return lambda part: difference_recipe(two[0].reads(text), two[1].reads(text), f"change.{part}")


def _go_on(found: Apart) -> Apart:
    assert found.growing is not None
    more = found.growing.more()
    return replace(
        found,
        growing=more,
        similarity=more.found,
        has_similarity=more.found is not None or not more.is_done,
    )


def _similarity(found: Apart) -> Bars | None:
    """Bars of CKA, beside the rows they are about."""
    similarity = found.similarity
    if similarity is None or not similarity.array.size:  # a model that counts has no states
        return None
    if similarity.axes != ("place",):
        best = np.argmax(np.nan_to_num(similarity.array, nan=-1.0), axis=1)  # a row may have no number at all
        others = similarity.labels("after")
        rows = similarity.labels("before")
        values = similarity.array[np.arange(len(rows)), best]
        labels = [f"{row} ~ {others[at]}" for row, at in zip(rows, best, strict=True)]
    else:
        labels, values = list(similarity.labels("place")), similarity.array
    return Bars(
        "similarity_bars",
        says=f"linear CKA over {_over(found)}",
        labels=labels,
        values=np.nan_to_num(values),
        texts=[_figure(value) for value in values],
        limit=1.0,
    )


def _over(found: Apart) -> str:
    """Over what the similarity was taken."""
    count = 0 if found.similarity is None else found.similarity.positions
    return f"{count:,} {'held-out tokens' if found.is_held_out else 'tokens of the text'}"


def _figure(value: float) -> str:
    return "–" if np.isnan(value) else number(float(value), 2)


def _arrays(found: Apart) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    if found.distance is not None:
        arrays |= {"distance": found.distance.array, "cosine": found.distance.cosine}
    if found.similarity is not None:
        arrays["similarity"] = found.similarity.array
    return arrays
