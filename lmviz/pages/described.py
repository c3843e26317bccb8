"""The parts of looks as plain values for JSON: what a page draws, and what others may read in it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Any

import numpy as np

from lmviz.base.errors import LmvizError
from lmviz.looks import live_parts as live
from lmviz.looks import parts
from lmviz.looks.ink import Ink
from lmviz.looks.parts import LookPart
from lmviz.pages.numbers import DIGITS, packed

MOST_READOUTS = 2_000
"""Of so many cells, what the pointer brings is written down; of more, their names and numbers."""

EXACT = 250_000
"""So many weights of attention are handed out exactly; more are rounded."""

CONTROLS = (parts.Button, parts.Field, parts.Picker, parts.SliderLine, parts.Space, parts.CurveNames)
"""What only the window can answer, or what is nothing but room."""

MOST_ROWS = 5_000
"""A table has at most so many rows; what is left out is said."""


@dataclass
class Describing:
    """Describes the parts of one page, and keeps what several of them have in common.

    `texts` are the tokens of the texts that parts are about, each once, and `vocabularies` the words by id,
    all or those that are needed. `left_out` are sentences on what of the present part is not handed out.
    """

    texts: list[list[str]] = field(default_factory=list)
    vocabularies: list[list[str] | dict[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def all_of(self, given: Sequence[LookPart]) -> list[dict[str, Any]]:
        """Those of some parts that are in sight and more than a control."""
        found = (self.one(part) for part in given if part.shown)
        return [part for part in found if part is not None]

    def one(self, part: LookPart) -> dict[str, Any] | None:
        """One part; None of a control."""
        if isinstance(part, CONTROLS):
            return None
        values = self._of(part)
        says = {"says": part.says} if part.says else {}
        return {"kind": _kind(part), **says, **values}

    def text(self, tokens: Sequence[str]) -> int:
        """Which of the texts these tokens are."""
        listed = list(tokens)
        if listed not in self.texts:
            self.texts.append(listed)
        return self.texts.index(listed)

    def _vocabulary(self, words: list[str] | dict[str, str]) -> int:
        """Which of the vocabularies these words are."""
        if words not in self.vocabularies:
            self.vocabularies.append(words)
        return self.vocabularies.index(words)

    @singledispatchmethod
    def _of(self, part: LookPart) -> dict[str, Any]:
        raise LmvizError(f"A page cannot show a part that is {type(part).__name__}: leave it out.")

    @_of.register
    def _(self, part: parts.Stacked) -> dict[str, Any]:
        return {"parts": self.all_of(part.parts)}

    @_of.register
    def _(self, part: parts.SideBySide) -> dict[str, Any]:
        return {"parts": self.all_of((part.first, part.second)), "shares": list(part.shares)}

    @_of.register
    def _(self, part: parts.Words) -> dict[str, Any]:
        pieces = [part.text] if isinstance(part.text, str) else part.text
        return {"pieces": [_piece(piece) for piece in pieces], "role": part.role, "tip": part.tip}

    @_of.register
    def _(self, part: parts.OneLine) -> dict[str, Any]:
        return {"text": part.text}

    @_of.register
    def _(self, part: parts.Matrix) -> dict[str, Any]:
        rows, columns = part.values.shape
        values: dict[str, Any] = {
            "values": packed(part.values),
            "scale": part.scale,
            "limit": part.limit,
            "floor": part.floor,
            "rows": list(part.rows),
            "columns": list(part.columns),
            "row": part.row,
            "column": part.column,
            "words": [list(row) for row in part.words],
            "stairs": [int(row) for row in part.stairs],
            "stairs_mean": part.stairs_mean,
            "notes": list(part.notes),
            "notes_title": part.notes_title,
        }
        return values | self._readouts(
            part.readout, [(row, at) for row in range(rows) for at in range(columns)]
        )

    @_of.register
    def _(self, part: parts.Curves) -> dict[str, Any]:
        return {
            "x_name": part.x_name,
            "y_name": part.y_name,
            "logarithmic": list(part.logarithmic),
            "curves": [
                {
                    "name": curve.name,
                    "x": packed(np.asarray(curve.x, dtype=np.float64)),
                    "y": packed(np.asarray(curve.y, dtype=np.float64)),
                    "ink": curve.role,
                    "dashed": curve.dashed,
                    "dots": curve.dots,
                    "said": curve.said,
                    "guide": curve.guide,
                    "band": None if curve.band is None else [packed(edge) for edge in curve.band],
                }
                for curve in part.curves
            ],
            "marks": [[float(x), name] for x, name in part.marks],
            "references": [[name, float(y)] for name, y in part.references],
            "cursor": part.cursor,
        }

    @_of.register
    def _(self, part: parts.WordCurves) -> dict[str, Any]:
        return {
            "words": list(part.words),
            "curves": [
                {"name": curve.name, "ink": curve.ink, "turn": curve.turn, "values": packed(curve.values)}
                for curve in part.curves
                if curve.shown
            ],
            "below": None if part.below is None else packed(part.below),
            "current": part.current,
        }

    @_of.register
    def _(self, part: parts.WordBars) -> dict[str, Any]:
        return {
            "words": list(part.words),
            "values": packed(part.values),
            "errors": None if part.errors is None else packed(part.errors),
            "line": None if part.line is None else packed(part.line),
            "below": list(part.below),
            "current": part.current,
        } | self._readouts(part.readout, [(word,) for word in range(len(part.words))])

    @_of.register
    def _(self, part: parts.Answers) -> dict[str, Any]:
        return {
            "columns": [
                {
                    "name": column.name,
                    "ink": column.ink,
                    "shares": packed(column.shares),
                    "expected": list(column.expected),
                    "text": column.text,
                }
                for column in part.columns
            ],
            "prompts": list(part.prompts),
            "words": list(part.words),
        }

    @_of.register
    def _(self, part: parts.Labels) -> dict[str, Any]:
        return {
            "words": list(part.words),
            "rows": [
                {
                    "name": row.name,
                    "ink": row.ink,
                    "labels": [[label.label, label.probability, label.wrong] for label in row.labels],
                }
                for row in part.rows
            ],
            "gold": list(part.gold),
        }

    @_of.register
    def _(self, part: parts.Occurrences) -> dict[str, Any]:
        lines = self._few(part.lines, "lines")
        return {"lines": [[line.before, line.match, line.word, line.after] for line in lines]}

    @_of.register
    def _(self, part: parts.Dots) -> dict[str, Any]:
        rows = [
            {
                "label": row.label,
                "values": packed(row.values),
                "numbers": [int(number) for number in row.numbers],
                "ink": row.ink,
                "band": None if row.band is None else [float(edge) for edge in row.band],
            }
            for row in part.rows
        ]
        numbers = sorted({number for row in part.rows for number in row.numbers})
        said = {str(number): _read(part.readout(number)) for number in numbers[:MOST_READOUTS]}
        return {"rows": rows, "ringed": part.ringed, "readouts": said}

    @_of.register
    def _(self, part: parts.Points) -> dict[str, Any]:
        return {
            "x": packed(part.x),
            "y": packed(part.y),
            "inks": list(part.inks),
            "x_name": part.x_name,
            "y_name": part.y_name,
            "ringed": part.ringed,
        } | self._readouts(part.readout, [(point,) for point in range(len(part.x))])

    @_of.register
    def _(self, part: parts.Sized) -> dict[str, Any]:
        rows, columns = part.values.shape
        return {
            "values": packed(part.values),
            "sizes": packed(part.sizes),
            "rows": list(part.rows),
            "columns": list(part.columns),
            "names": list(part.names),
            "marked": [list(cell) for cell in part.marked],
        } | self._readouts(part.readout, [(row, at) for row in range(rows) for at in range(columns)])

    @_of.register
    def _(self, part: parts.Shifts) -> dict[str, Any]:
        return {"labels": list(part.labels), "before": packed(part.before), "after": packed(part.after)}

    @_of.register
    def _(self, part: parts.Table) -> dict[str, Any]:
        chosen: Sequence[int] = range(max((len(column.values) for column in part.columns), default=0))
        if part.holding:
            written = [[column.write(value) for value in column.values] for column in part.columns]
            wanted = part.holding.casefold()
            chosen = [row for row in chosen if any(wanted in column[row].casefold() for column in written)]
        rows = self._few(chosen, "rows")
        return {
            "columns": [
                {
                    "title": column.title,
                    "numeric": column.numeric,
                    "tokens": column.tokens,
                    "texts": [column.write(column.values[row]) for row in rows],
                    "bars": packed(np.asarray([column.values[row] for row in rows], dtype=np.float64))
                    if column.bar and column.numeric
                    else None,
                    "colors": [column.colors[row] for row in rows] if len(column.colors) else [],
                }
                for column in part.columns
            ],
            "current": list(rows).index(part.current) if part.current in rows else -1,
        }

    @_of.register
    def _(self, part: parts.Bars) -> dict[str, Any]:
        return {
            "labels": list(part.labels),
            "values": packed(np.asarray(part.values, dtype=np.float64)),
            "texts": None if part.texts is None else list(part.texts),
            "notes": list(part.notes),
            "highlighted": sorted(int(bar) for bar in part.highlighted),
            "faded": sorted(int(bar) for bar in part.faded),
            "limit": part.limit,
            "current": part.current,
        }

    @_of.register
    def _(self, part: parts.Firings) -> dict[str, Any]:
        return {
            "rows": [
                {
                    "tokens": list(line.tokens),
                    "place": line.place,
                    "strengths": packed(line.strengths),
                    "said": line.said,
                    "tip": list(line.tip),
                }
                for line in self._few(part.lines, "lines")
            ]
        }

    @_of.register
    def _(self, part: parts.PushedLines) -> dict[str, Any]:
        rows = self._few(part.rows, "lines")
        return {
            "heads": list(part.heads),
            "rows": [
                {
                    "label": list(row.label),
                    "times": row.times,
                    "tokens": list(row.tokens),
                    "pushes": packed(row.pushes),
                    "bars": packed(row.bars),
                    "said": row.said,
                    "ink": row.ink,
                    "inner": row.inner,
                    "heading": row.heading,
                    "mark": row.mark,
                    "tip": list(row.tip),
                }
                for row in rows
            ],
        }

    @_of.register
    def _(self, part: live.TokenText) -> dict[str, Any]:
        return {
            "text": self.text(part.tokens),
            "values": packed(part.values),
            "measure": part.measure,
            "unit": part.unit,
            "scale": part.scale,
            "limit": part.limit,
            "ends": list(part.ends),
        }

    @_of.register
    def _(self, part: live.HeadWeights) -> dict[str, Any]:
        weights, (layers, heads) = part.weights, part.of
        if len(part.places) < layers * heads:
            self.left_out.append(f"Of {layers * heads:,} heads, {len(part.places):,} were exported.")
        if part.top and part.top < weights.shape[-1]:
            self.left_out.append(f"Of each row of weights, the {part.top:,} largest were exported.")
            values = _top(weights, part.top)
        elif weights.size > EXACT:
            values = {"weights": packed(weights, digits=DIGITS)}
        else:
            values = {"weights": packed(weights)}
        return {
            "text": self.text(part.tokens),
            "keys": self.text(part.keys or part.tokens),
            "places": [list(place) for place in part.places],
            "of": [layers, heads],
            "chosen": part.chosen,
            **values,
        }

    @_of.register
    def _(self, part: live.WhatFollows) -> dict[str, Any]:
        has_logits = len(part.places) > 0
        if has_logits and len(part.places) < len(part.tokens):
            written = ", ".join(str(place + 1) for place in part.places)
            positions = "position" if len(part.places) == 1 else "positions"
            self.left_out.append(
                f"Temperature and filters can be set at {positions} {written}: elsewhere only the likeliest "
                "words were exported."
            )
        ids = sorted({int(id) for id in part.likeliest.ravel()})
        words = list(part.vocabulary) if has_logits else {str(id): part.vocabulary[id] for id in ids}
        return {
            "text": self.text(part.tokens),
            "vocabulary": self._vocabulary(words),
            "likeliest": packed(part.likeliest),
            "shares": packed(part.shares),
            "places": [int(place) for place in part.places],
            "logits": packed(part.logits) if has_logits else None,
            "options": dict(zip(("temperature", "top_k", "top_p", "min_p"), part.options, strict=True)),
        }

    @_of.register
    def _(self, part: live.OverText) -> dict[str, Any]:
        matrix = self.one(part.matrix)
        return {
            "text": self.text(part.tokens),
            "positions": [int(position) for position in part.positions],
            "matrix": matrix,
        }

    @_of.register
    def _(self, part: live.Frames) -> dict[str, Any]:
        return {
            "title": part.title,
            "names": list(part.names),
            "parts": [self.one(frame) for frame in part.parts],
            "chosen": part.chosen,
        }

    @_of.register
    def _(self, part: live.PollQuestion) -> dict[str, Any]:
        return {
            "question": part.question,
            "choices": [list(choice) for choice in part.choices],
            "right": part.right,
            "computed": part.computed,
            "because": part.because,
        }

    @_of.register
    def _(self, part: live.PartsGraph) -> dict[str, Any]:
        return {
            "nodes": [
                {
                    "name": node.name,
                    "column": node.column,
                    "row": node.row,
                    "value": _number(node.value),
                    "kind": node.kind,
                    "said": node.said,
                }
                for node in part.nodes
            ],
            "edges": [[edge.sender, edge.receiver, _number(edge.value)] for edge in part.edges],
            "columns": list(part.columns),
            "rows": list(part.rows),
        }

    @_of.register
    def _(self, part: live.FixedPicture) -> dict[str, Any]:
        self.left_out.append("This is a picture of the window: it does not answer the pointer.")
        return {"png": b64encode(part.content).decode("ascii"), "size": list(part.size)}

    def _readouts(
        self, readout: Callable[..., parts.Readout], places: Sequence[tuple[int, ...]]
    ) -> dict[str, Any]:
        """What the pointer brings at each place, where that is more than its name and number."""
        if readout is parts._no_words or not 0 < len(places) <= MOST_READOUTS:
            return {}
        return {"readouts": [_read(readout(*place)) for place in places]}

    def _few(self, rows: Sequence[Any], what: str) -> Sequence[Any]:
        if len(rows) > MOST_ROWS:
            self.left_out.append(f"Of {len(rows):,} {what}, the first {MOST_ROWS:,} were exported.")
        return rows[:MOST_ROWS]


def _kind(part: LookPart) -> str:
    """The name of a kind in JSON: "next_word"."""
    name = type(part).__name__
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def _piece(piece: Any) -> dict[str, Any]:
    if isinstance(piece, str):
        return {"text": piece}
    ink: Ink | None = piece.ink
    return {"text": piece.text, "bold": piece.is_bold, "ink": ink}


def _read(readout: parts.Readout) -> list[str]:
    """What the pointer brings, in lines."""
    bold, lines = readout
    return [bold, *lines]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(str(np.float32(value)))


def _top(weights: np.ndarray, top: int) -> dict[str, Any]:
    """The largest weights of each row, and at which keys they are."""
    keys = np.sort(np.argsort(-weights, axis=-1, kind="stable")[..., :top], axis=-1)
    return {"top": packed(np.take_along_axis(weights, keys, axis=-1)), "top_keys": packed(keys)}
