"""How far each head's attention moved from one model to the other, and both patterns of one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.difference.pair_panel import PairPanel, in_short, whole, why_not
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.pair import Two
from lmviz.app.widgets.base.figures import brief_percentage, percentage
from lmviz.base.counting import head_name, numbered
from lmviz.differences.recipes import difference_recipe
from lmviz.looks.ink import Inked
from lmviz.looks.look import Look
from lmviz.looks.parts import Matrix, Picker, Readout, SideBySide, Words
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.differences.moved_heads import MovedHeads
    from lmviz.differences.pair import ModelPair

ReadOut = Callable[[int, int], Readout]

SENTENCE = Words("moved_heads_sentence")
MAP = Matrix("moved_heads_map", says="share of the attention at this word that each head moved", share=1)
BEFORE = Matrix("moved_before", says="the pattern in A", scale="share", share=1)
AFTER = Matrix("moved_after", says="the pattern in B", scale="share", share=1)
CHANGE = Matrix("moved_change", says="the pattern in B minus that in A", scale="signed", share=1)
PICKER = Picker("moved_patterns_picker", says="which patterns are shown", choices=("A and B", "B − A"))


class MovedHeadsPanel(PairPanel["MovedHeads | str"]):
    """A map of heads, and the patterns of the one that moved most at this word, or that was clicked."""

    title = "Heads that moved"
    shows = "which heads look elsewhere"
    key = Key("moved heads")
    follows = (*PairPanel.follows, "focus.position_changed")
    parts = (SENTENCE, MAP, BEFORE, AFTER)

    _chosen: tuple[int, int] | None = None  # the head that was clicked
    _is_change = False  # whether the difference of the patterns is shown

    def question(self) -> Question[Two, MovedHeads | str] | Look:
        if self.obstacle is not None:
            return self.obstacle
        text = self.text
        if not text:
            return Look(self.parts, instead=self.no_text)

        def work(pair: ModelPair) -> MovedHeads | str:
            from lmviz.differences.documents import judged_text, last_tokens
            from lmviz.differences.moved_heads import moved_heads

            if pair.why_not_alike:
                return pair.why_not_alike
            ids = last_tokens(pair, judged_text(pair.before, text).documents[0])
            return moved_heads(pair, ids) or "These models have no heads of attention that could move."

        return self.asked_of(work, text)

    def _choose_patterns(self, place: int) -> None:
        self._is_change = bool(place)
        self.refresh()

    def look(self, two: Two, found: MovedHeads | str) -> Look:
        if isinstance(found, str):
            return Look(self.parts, instead=why_not(two, found))
        encoding = self.session.reading.encoding
        shift = 0 if encoding is None else max(0, len(encoding) - len(found.tokens))
        position = min(max(self.session.focus.position - shift, 0), len(found.tokens) - 1)
        moved, tokens = found.at(position), [visible(token) for token in found.tokens]
        layers, heads = moved.shape
        is_there = self._chosen is not None and self._chosen[0] < layers and self._chosen[1] < heads
        layer, head = self._chosen if is_there and self._chosen is not None else found.most(position)
        patterns = found.before[layer, head], found.after[layer, head]
        names = in_short(two)

        def choose(row: int, column: int) -> None:
            self._chosen = (row, column)
            self.refresh()

        def read_out(row: int, column: int) -> tuple[str, list[str]]:
            return f"{percentage(float(moved[row, column]))} of its attention moved", [
                f"head {head_name(row, column)} at “{tokens[position]}”",
                f"{percentage(float(found.array[row, column]))} over all words",
            ]

        heads_map = replace(
            MAP,
            values=moved,
            scale="share",
            limit=1.0,
            rows=[str(numbered(at)) for at in range(layers)],
            columns=[str(numbered(at)) for at in range(heads)],
            words=[[brief_percentage(float(share)) for share in row] for row in moved]
            if moved.size <= 144
            else (),
            suggested=(layer, head),
            readout=read_out,
            clicked=choose,
        )
        moved_away = patterns[1] - patterns[0]
        change = replace(
            CHANGE,
            values=moved_away,
            limit=1.0,
            rows=tokens,
            columns=tokens,
            row=position,
            suggested=(position, int(np.abs(moved_away[position]).argmax())),
            readout=_reads_change(patterns, tokens),
            clicked=lambda row, column: self.session.focus.choose_position(row + shift),
        )
        sides = [
            replace(
                part,
                values=pattern,
                limit=1.0,
                rows=tokens,
                columns=tokens,
                row=position,
                suggested=(position, int(pattern[position].argmax())),
                readout=_reads(pattern, tokens, name),
                clicked=lambda row, column: self.session.focus.choose_position(row + shift),
            )
            for part, pattern, name in zip((BEFORE, AFTER), patterns, names, strict=True)
        ]
        is_most, how_far = (layer, head) == found.most(position), whole(float(moved[layer, head]))
        return Look(
            (
                replace(SENTENCE, text=_said(patterns, tokens, position)),
                SideBySide(
                    first=heads_map,
                    second=change if self._is_change else SideBySide(first=sides[0], second=sides[1]),
                    shares=(2, 5),
                    share=1,
                ),
            ),
            title=f"Head {head_name(layer, head)} moved {'most' if is_most else how_far}",
            head=(replace(PICKER, chosen=int(self._is_change), chose=self._choose_patterns),),
            aside=f"A {names[0]} · B {names[1]}",
            arrays={"moved": moved, "before": patterns[0], "after": patterns[1]},
            recipe=difference_recipe(
                two[0].reads(self.text), two[1].reads(self.text), f"change.heads.at({position})"
            ),
        )


def _reads_change(patterns: tuple[np.ndarray, np.ndarray], tokens: list[str]) -> ReadOut:
    return lambda row, column: (
        " → ".join(percentage(float(side[row, column])) for side in patterns),
        [f"from “{tokens[row]}” to “{tokens[column]}”, A → B"],
    )


def _reads(pattern: np.ndarray, tokens: list[str], name: str) -> ReadOut:
    return lambda row, column: (
        percentage(float(pattern[row, column])),
        [f"from “{tokens[row]}” to “{tokens[column]}”, {name}"],
    )


def _said(patterns: tuple[np.ndarray, np.ndarray], tokens: list[str], position: int) -> tuple[Inked, ...]:
    """Where the head looked from this word, and where it looks now."""
    one, other = (int(pattern[position].argmax()) for pattern in patterns)
    was, now = float(patterns[0][position, one]), float(patterns[1][position, other])
    back = position - other
    if one == other:
        there = f" at “{tokens[position]}” looks at “{tokens[one]}” with "
        return (
            Inked("It" + there),
            Inked(f"{whole(was)} → {whole(now)}", True),
            Inked("."),
        )
    where = "itself" if back == 0 else "the word before" if back == 1 else f"{back} words back"
    return (
        Inked(f"At “{tokens[position]}” it looked at “{tokens[one]}” with {whole(was)}, now at “"),
        Inked(tokens[other], True, "key"),
        Inked(f"”, {where}, with "),
        Inked(whole(now), True),
        Inked("."),
    )
