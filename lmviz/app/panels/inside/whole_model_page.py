"""The picture of a neural model at one word, from its embedding to the word that it predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from lmviz.app.panels.inside.page import Page, answer, aside_of, at_word, choose, read_out, stage_of
from lmviz.app.panels.panel import Panel
from lmviz.app.panels.question import Key
from lmviz.app.panels.shared.source_position import source_position
from lmviz.app.session.focus import Cell
from lmviz.app.session.reading import Reading
from lmviz.app.widgets.base.figures import brief_percentage, percentage
from lmviz.app.widgets.diagrams.model_parts import ModelBlock, ModelLine, ModelPart, StreamMark
from lmviz.app.widgets.diagrams.whole_model import WholeModelView
from lmviz.app.widgets.kit.picture import Miniature, Spot
from lmviz.base.counting import numbered
from lmviz.inspection.at_position import looked_at_most, mean_share, place_along
from lmviz.inspection.gradient_views import gradient_view
from lmviz.inspection.names import stop_name
from lmviz.inspection.outline import OutlineBlock, OutlineLine, StreamPlace, lines_of, outline
from lmviz.inspection.remarks import lens_remark, state_remark
from lmviz.inspection.trace import Trace
from lmviz.inspection.views import View, answer_at, strip
from lmviz.models.address import Address, gradient_of
from lmviz.models.sequences import SOURCE, TEXT, is_along
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.inspection.outline import Part
    from lmviz.inspection.whole_model import WholeModel
    from lmviz.models.model import Model

OWN_SCALE = "each row on its own scale"
CANDIDATES = 5
ROLES = ("query", "key", "value")


class WholeModelPage(Page["WholeModel", WholeModelView]):
    """Asks for the logit lens at the shown word and draws it with the trace around it."""

    key = Key("whole model")

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel, WholeModelView())
        self._views: dict[str, View] = {}
        self._squares: dict[str, tuple[str, int]] = {}

    def fits(self, trace: Trace) -> bool:
        """Every model has an outline, but for an n-gram of another program, which lists probabilities."""
        return bool(outline(trace))

    def title(self, reading: Reading, position: int) -> tuple[str, str]:
        return at_word(reading, position), aside_of(self._session, reading, OWN_SCALE)

    def addresses(self, trace: Trace) -> list[str]:
        return list(dict.fromkeys(address for part in outline(trace) for address in _addresses(part)))

    def _draw_nothing(self) -> None:
        self.view.set_model((), ("", 0.0), "")

    def _work(self, reading: Reading, position: int) -> Callable[[Model], WholeModel]:
        gradient, known = self._session.gradients.current, None
        if self._drawn is not None and self._drawn[0] is reading and self._drawn[1].gradient is gradient:
            known = self._drawn[1].squares
        at_source = source_position(self._session)

        def work(model: Model) -> WholeModel:
            from lmviz.inspection.whole_model import whole_model

            return whole_model(model, reading.trace, position, known, gradient, at_source)

        return work

    def remark(self, reading: Reading) -> str:
        if self.shown is None or self.shown.lens is None:
            return ""
        noun = reading.model.tokenizer.noun
        return lens_remark(reading.trace, self.shown.lens, noun) or state_remark(
            reading.trace, self.shown.position, noun
        )

    def mark(self, reading: Reading) -> None:
        """Frame the row of the stage, or of the next stage that has one."""
        stage, rows = self._session.focus.stage, self._rows(reading.trace)
        row = next((key for made, key in rows if made >= stage), "verdict")
        self.view.set_current(row)

    def _rows(self, trace: Trace) -> list[tuple[int, str]]:
        """The stages that have a row, and its key."""
        found: list[tuple[int, str]] = []
        for part in outline(trace):
            for piece in part.parts if isinstance(part, OutlineBlock) else (part,):
                if isinstance(piece, StreamPlace):
                    addresses: tuple[str, ...] = (piece.address,)
                else:
                    addresses = () if piece.earlier else piece.addresses
                found += [(stage_of(trace, address), _key(piece)) for address in addresses]
        return sorted(found, key=lambda row: row[0])

    def _draw(self, reading: Reading, found: WholeModel) -> None:
        self._views, self._squares = {}, {}
        parts = [self._drawn_part(part) for part in found.parts]
        row = answer_at(reading.trace, found.position)
        best = int(row.argmax())
        answers = "tokens" if reading.trace["probabilities"].axes[-1] == "token" else "labels"
        ending = f"compared with {len(row):,} {answers}" if len(row) > 1 else ""
        self.view.set_model(parts, (answer(reading, best), float(row[best])), ending)

    def _drawn_part(self, part: Part) -> ModelPart:
        if isinstance(part, OutlineLine):
            return self._line(part)
        if isinstance(part, StreamPlace):
            return self._mark_of(part)
        title, notes = self._notes(part)
        return ModelBlock(
            part.place,
            part.title,
            tuple(
                self._mark_of(piece) if isinstance(piece, StreamPlace) else self._line(piece)
                for piece in part.parts
            ),
            tuple(tuple(self._line(line) for line in row) for row in part.summary),
            notes,
            title,
            self._at_source(part.place),
        )

    def _line(self, line: OutlineLine) -> ModelLine:
        miniatures = [small for address in line.addresses for small in self._miniatures(line, address)]
        limit = max((_largest(small.values) for small in miniatures if small.scale != "share"), default=0.0)
        at = Address.parse(line.addresses[0])
        role = at.name if at.block == "attention" and at.name in ROLES else ""
        scaled = tuple(
            Miniature(small.key, small.values, small.scale, None if small.scale == "share" else limit or None)
            for small in miniatures
        )
        return ModelLine(_key(line), line.name, scaled, role)

    def _miniatures(self, line: OutlineLine, address: str) -> list[Miniature]:
        assert self._drawn is not None

        (reading, model), traced = self._drawn, self._drawn[0].trace[address]
        gradient = model.gradient if model.gradient is not None and address in model.gradient else None
        scale = traced.scale if gradient is None else "signed"
        heads = traced.shape[0] if "head" in traced.axes else 1
        position = self._place_of(address) - line.earlier
        small = []
        for head in range(heads):
            key = f"{_key(line)}#{address}#{head}"
            if address in model.squares:
                self._squares[key] = address, head
                small.append(Miniature(key, model.squares[address].values[head], scale))
            elif not 0 <= position < self._length_of(address):
                small.append(Miniature(key, np.zeros((1, traced.shape[-1]), np.float32), scale))
            else:
                view = strip(reading.trace, address, position, head, ())
                view = view if gradient is None else gradient_view(view, gradient)
                self._views[key] = view
                small.append(Miniature(key, view.values, scale))
        return small

    def _mark_of(self, place: StreamPlace) -> StreamMark:
        assert self._drawn is not None
        reading, model = self._drawn
        (miniature,) = self._miniatures(OutlineLine("", (place.address,)), place.address)
        said, share = "", 0.0
        if model.lens is not None:
            row = model.lens.places.index(place.address)
            said = answer(reading, int(model.lens.ids[row, 0, 0]))
            share = float(model.lens.probabilities[row, 0, 0])
        return StreamMark(place.address, miniature, said, share)

    def _notes(self, block: OutlineBlock) -> tuple[str, tuple[tuple[str, str, str], ...]]:
        """Where each head looks most, or how far each gate is open."""
        assert self._drawn is not None
        trace, model = self._drawn[0].trace, self._drawn[1]
        addresses = [address for line in lines_of(block) for address in line.addresses]
        for address in addresses:
            if address in model.squares:
                found = looked_at_most(trace, address, self._place_of(address))
                words = trace.names(trace[address].axes[-1])
                return "heads look most at", tuple(
                    (str(numbered(head)), visible(words[key]), brief_percentage(share))
                    for head, (key, share) in enumerate(found)
                )
        gates = [line for line in lines_of(block) if trace[line.addresses[0]].scale == "share"]
        return "open on average", tuple(
            ("", line.name, brief_percentage(mean_share(trace, address, self._place_of(address))))
            for line in gates
            for address in line.addresses[:1]
        )

    def _at_source(self, place: str) -> str:
        """At which word of the source an encoder's layer is drawn, which need not be the shown position."""
        assert self._drawn is not None
        trace, at = self._drawn[0].trace, self._drawn[1].source_position
        if Address.parse(place).side != "encoder" or at < 0:
            return ""
        return f", at “{visible(trace.sequences[SOURCE].tokens[at])}”"

    def _place_of(self, address: str) -> int:
        assert self._drawn is not None
        model = self._drawn[1]
        return place_along(self._drawn[0].trace, address, model.position, model.source_position)

    def _length_of(self, address: str) -> int:
        """How many places there are along the sequence that a tap runs along."""
        assert self._drawn is not None
        trace = self._drawn[0].trace
        along = TEXT if is_along(trace[address].axes, TEXT) or SOURCE not in trace.sequences else SOURCE
        return len(trace.sequences[along].tokens)

    def _cell_at(self, spot: Spot | None) -> Cell | None:
        if spot is None or spot.row < 0 or self._drawn is None:
            return None
        reading, model = self._drawn
        if spot.key in self._squares:
            address, head = self._squares[spot.key]
            square, gradient = model.squares[address], model.gradient
            if gradient is not None and address in gradient:
                source = square.source(gradient[address].array, head, spot.row, spot.column)
                return gradient_of(address), source
            return address, square.source(reading.trace[address].array, head, spot.row, spot.column)
        view = self._views.get(spot.key)
        return None if view is None else (view.address, view.index(spot.row, spot.column))

    def _choose(self, spot: Spot) -> None:
        if self._drawn is None:
            return
        cell = self._cell_at(spot)
        if spot.key == "verdict":
            trace, position = self._drawn[0].trace, self._drawn[1].position
            best = int(answer_at(trace, position).argmax())
            at = (position, best) if "position" in trace["probabilities"].axes else (best,)
            choose(self._session, "probabilities", ("probabilities", at))
        elif cell is not None:
            address, index = cell
            if "head" in self._drawn[0].trace[Address.parse(address).value].axes:
                self._session.attention.choose_head_of(address, index[0])
            choose(self._session, address, cell)
        else:
            choose(self._session, spot.key)

    def _read_out(self, spot: Spot) -> tuple[str, Sequence[str]]:
        if self._drawn is None:
            return "", []
        (reading, model), cell = self._drawn, self._cell_at(spot)
        if cell is not None:
            return read_out(reading, cell, model.gradient)
        places = () if model.lens is None else model.lens.places
        if spot.key == "verdict":
            return self._likeliest(answer_at(reading.trace, model.position))
        if model.lens is None or spot.key not in places:
            return "", []
        row = places.index(spot.key)
        said = [
            f"{answer(reading, int(id))}  {percentage(float(share))}"
            for id, share in zip(model.lens.ids[row, 0], model.lens.probabilities[row, 0], strict=True)
        ]
        return said[0], [f"if the model stopped after {stop_name(spot.key)}", *said[1:]]

    def _likeliest(self, shares: np.ndarray) -> tuple[str, list[str]]:
        """The likeliest answers."""
        assert self._drawn is not None
        best = np.argsort(-shares, kind="stable")[:CANDIDATES]
        said = [f"{answer(self._drawn[0], int(id))}  {percentage(float(shares[id]))}" for id in best]
        return said[0], ["what the model predicts", *said[1:]]


def _key(part: OutlineLine | StreamPlace) -> str:
    if isinstance(part, StreamPlace):
        return part.address
    return part.addresses[0] + (f"@{-part.earlier}" if part.earlier else "")


def _addresses(part: Part) -> list[str]:
    pieces = part.parts if isinstance(part, OutlineBlock) else (part,)
    return [
        address
        for piece in pieces
        for address in ((piece.address,) if isinstance(piece, StreamPlace) else piece.addresses)
    ]


def _largest(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)]
    return float(np.abs(finite).max(initial=0.0))
