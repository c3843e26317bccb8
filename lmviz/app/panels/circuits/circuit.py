"""The circuit: the strongest parts kept alone, how much of the answer they keep, and the paths between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lmviz.app.panels.circuits.answering_panel import AnsweringPanel, briefly
from lmviz.app.panels.question import Key, Question
from lmviz.app.session.opened_model import OpenedModel
from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.app.widgets.base.building import column, named, picker
from lmviz.app.widgets.base.figures import counted, whole_percentage
from lmviz.app.widgets.base.fitting_row import FittingRow
from lmviz.app.widgets.base.plain import InkedLabel
from lmviz.app.widgets.base.steady import SpinBox
from lmviz.app.widgets.diagrams.circuit_picture import CircuitNode, CircuitPath, CircuitPicture
from lmviz.base.counting import numbered
from lmviz.circuits.recipes import circuit_recipe
from lmviz.inspection.names import number_of, told_apart
from lmviz.looks.ink import Inked
from lmviz.looks.names import COUNTED, Names
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.circuits.circuit import Circuit, CircuitPart
    from lmviz.circuits.contrast import MeasuredContrast
    from lmviz.circuits.growing import Growing
    from lmviz.models.model import Model

NO_PAIR = "Type a changed text, or choose a question, to see on which parts the difference depends."
NO_MODEL = "Open or train a model to see on which of its parts an answer depends."
REST = {"changed": "the rest as in the changed text", "mean": "the rest at its mean"}
KEPT, MOST = 8, 60
PATHS, FAINT = 60, 0.02
"""So many paths are drawn at most, and none below such a share."""


Asked = tuple[Reading, "MeasuredContrast", int, str]
"""Of which reading and two texts, how many parts are kept, and what the rest is."""


class CircuitPanel(AnsweringPanel["Circuit", Asked]):
    """Parts by layer and position, and a spin box for how many are kept; a click shows a part's paths."""

    gives_way = 120
    key = Key("circuit")
    needs_pair = True

    def __init__(self, session: Session) -> None:
        super().__init__(session, "circuit_sentence")
        self._keep = named(SpinBox(), "keep_spin", "how many parts are kept")
        self._keep.setRange(1, MOST)
        self._keep.setValue(KEPT)
        self._keep.setPrefix("keep ")
        self._rest = picker("rest_picker", "what all other parts are", REST.values())
        self._picture = named(CircuitPicture(), "circuit_picture")
        self._picture.set_readout(self._read_out)
        controls = FittingRow((self._keep, self._rest), (self._rest,))
        self._signs = InkedLabel(name="circuit_signs", role="muted", wraps=True)
        body = column(self._said, self._signs, (self._picture, 1))
        self._answer_in(self.add_card("The circuit", controls, body))
        self._keep.valueChanged.connect(lambda _: self.refresh_soon())
        self._rest.activated.connect(lambda _: self.refresh_soon())
        for changed in (
            session.reading.prefix_changed,
            session.library.step_changed,
            session.surgery.changed,
        ):
            changed.connect(self._give_up)
        self.follow(session.contrast.changed, session.library.model_changed)

    def exported_arrays(self) -> dict[str, np.ndarray]:
        found = self.found
        if found is None:
            return {}
        return {"share": found.array, "kept_by_all": np.full(len(found.array), found.kept)}

    def exported_names(self) -> Names:
        return COUNTED if self.found is None else Names(self.found.labels("part"))

    def recipe(self) -> str:
        if self.found is None or self._of is None:
            return ""
        reading, measured, keep, rest = self._of
        return circuit_recipe(reading.moment, measured.contrast, keep, rest)

    def out_of_place(self, model: OpenedModel) -> str:
        if model.family != "ngram":
            return ""
        return f"{model.name} only counts and has no parts to keep. Open a model that learns by gradients."

    def _missing(self) -> str:
        return NO_MODEL if self.session.library.model is None else NO_PAIR

    def _asks(self, reading: Reading, measured: MeasuredContrast) -> Asked:
        return reading, measured, self._keep.value(), list(REST)[max(self._rest.currentIndex(), 0)]

    def _question(self, asked: Asked) -> Question[Reading, Any]:
        reading, measured, keep, rest = asked
        changes = reading.question.interventions

        def begin(model: Model) -> Growing[Circuit]:
            from lmviz.circuits.circuit import circuits
            from lmviz.circuits.growing import Growing

            return Growing(
                model,
                lambda model: circuits(model, measured.contrast, keep, rest=rest, interventions=changes),
            )

        return Question(self.key, reading, begin, about=asked)

    def _take(self, asked: Asked, growing: Any) -> None:
        self._growing, self._of, self._has_all = growing, asked, False
        self._go_on(asked[0], growing)

    def _go_on(self, reading: Reading, growing: Growing[Any]) -> None:
        if growing is self._growing:
            self.found = growing.found
        super()._go_on(reading, growing)

    @property
    def is_whole(self) -> bool:
        """Whether all of what is asked now is known."""
        return self._has_all and not self.is_behind

    def _draw(self) -> None:
        found = self.found
        if found is None or self._of is None:
            self._picture.set_circuit((), (), (), (), "")
            self._said.setText("")
            self._signs.set_pieces(())
            return
        tokens = _words(self._of[1])
        parts = _with_words(found)
        layers = sorted({part.layer for part in parts if part.layer is not None})
        places = sorted({part.position for part in parts if part.position is not None}) or [0]
        names = {at: tokens[at] if at < len(tokens) else "" for at in places}
        slots: dict[tuple[int, int], int] = {}
        nodes = []
        for share, part in zip(_shares(found, parts), parts, strict=True):
            column = places.index(part.position) if part.position is not None else 0
            row = layers.index(part.layer) if part.layer is not None else -1
            slot = slots.get((row, column), 0)
            slots[row, column] = slot + 1
            is_head = part.number is not None
            label = (
                str(number_of(part.kind, part.number or 0)) if is_head else names.get(part.position or 0, "")
            )
            nodes.append(CircuitNode(label, row, column, slot if row >= 0 else 0, share, is_head))
        numbers = {part: at for at, part in enumerate(parts)}
        paths = [
            CircuitPath(
                numbers[edge.sender], None if edge.receiver is None else numbers[edge.receiver], edge.share
            )
            for edge in found.edges[:PATHS]
            if abs(edge.share) >= FAINT
        ]
        rows = [str(numbered(layer)) for layer in layers]
        self._picture.set_circuit(nodes, paths, rows, [names[at] for at in places], briefly(self._of[1].said))
        self._said.setText(self._sentence(found, tokens))
        self._signs.set_pieces(_legend(found, [path.share for path in paths]))

    def _sentence(self, found: Circuit, tokens: Sequence[str]) -> str:
        count = len(found.parts)
        if np.isnan(found.kept):
            return f"{counted(found.of, 'part')} tried so far; drawn are those without which most is lost."
        these = f"These {count} parts of {found.of} alone keep" if count > 1 else "This part alone keeps"
        rest = "as in the changed text" if found.rest == "changed" else "at its mean over both texts"
        kept = whole_percentage(found.kept)
        why = (
            " More than all of it: the parts that are left out work against it."
            if _is_over_all(found.kept)
            else ""
        )
        said = f"{these} {kept} of the difference; all else is {rest}.{why}"
        if count > 1:
            lost = whole_percentage(float(found.array[0]))
            said += f" The strongest is {_name(found.parts[0], tokens)}: without it alone {lost} is lost."
        return said

    def _read_out(self, index: int) -> tuple[str, Sequence[str]]:
        """A part's name, what is lost without it, and its strongest paths."""
        found = self.found
        if found is None or self._of is None:
            return "", ()
        tokens, parts = _words(self._of[1]), _with_words(found)
        part = parts[index]
        lines = []
        if part in found.parts:
            lost = float(found.array[found.parts.index(part)])
            over = ", more than all: others work against the answer" if _is_over_all(lost) else ""
            lines.append(f"without it alone {whole_percentage(lost)} is lost{over}")
        for edge in [edge for edge in found.edges if part in (edge.sender, edge.receiver)][:6]:
            share = whole_percentage(edge.share)
            if edge.receiver == part:
                lines.append(f"from {_name(edge.sender, tokens)}: {share}")
            else:
                lines.append(
                    f"to {'the answer' if edge.receiver is None else _name(edge.receiver, tokens)}: {share}"
                )
        return _name(part, tokens), lines


def _is_over_all(share: float) -> bool:
    """Whether a share is more than 100 % as it is written."""
    return round(100 * share) > 100


def _legend(found: Circuit, paths: Sequence[float]) -> list[Inked]:
    """What the shapes, lines and colours mean that are drawn."""
    kinds = {part.kind for part in found.parts if part.number is not None}
    pieces = [Inked("○", True), Inked(f" {' or '.join(sorted(kinds))}, by number")] if kinds else []
    if any(part.number is None for part in found.parts):
        pieces += [Inked(" · " if pieces else ""), Inked("▭", True), Inked(" feed-forward network (ff)")]
    if paths:
        pieces += [Inked(" · "), Inked("—", True), Inked(" path, the thicker the more is lost without it")]
    shares = [*map(float, found.array), *paths]
    for is_drawn, words, ink in (
        (max(shares) > 0, "for the answer", "signed_positive"),
        (min(shares) < 0, "against it", "signed_negative"),
    ):
        if is_drawn:
            pieces += [Inked(" · "), Inked(words, True, ink)]
    return pieces


def _words(measured: MeasuredContrast) -> list[str]:
    """The words of the text, with both where the two differ."""
    others = measured.others or measured.tokens
    pairs = zip(measured.tokens, others, strict=True)
    return list(
        told_apart(
            visible(one) if one == other else f"{visible(one)}/{visible(other)}" for one, other in pairs
        )
    )


def _with_words(found: Circuit) -> tuple[CircuitPart, ...]:
    """The parts, and the words that paths begin at."""
    senders = [edge.sender for edge in found.edges if edge.sender not in found.parts]
    return (*found.parts, *dict.fromkeys(senders))


def _shares(found: Circuit, parts: Sequence[CircuitPart]) -> list[float]:
    return [*map(float, found.array), *(0.0 for _ in range(len(parts) - len(found.parts)))]


def _name(part: CircuitPart, tokens: Sequence[str]) -> str:
    """A part as a person counts it: "head 1·1 at “brown”"."""
    at = part.position
    where = f" at “{tokens[at]}”" if at is not None and at < len(tokens) else ""
    if part.layer is None:
        return f"the token “{tokens[at]}”" if at is not None and at < len(tokens) else "a token"
    number = f"·{number_of(part.kind, part.number)}" if part.number is not None else ""
    return f"{part.kind} {numbered(part.layer)}{number}{where}"
