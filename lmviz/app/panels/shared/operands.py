"""Operands of an explanation: their names in words, and the way back to where each was computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.app.session.reading import NAMED
from lmviz.inspection.names import cell_name, title_of
from lmviz.text.tokenizer import visible

if TYPE_CHECKING:
    from lmviz.app.session.reading import Reading
    from lmviz.app.session.session import Session


def name_of_operand(reading: Reading | None, source: str, index: tuple[int, ...]) -> str:
    """An operand in words, tokens by their text; a parameter as Python has it."""
    if reading is None or source not in reading.trace.arrays:
        return f"{source}[{', '.join(map(str, index))}]" if index else source
    axes = reading.trace[source].axes
    names = [visible(token) for token in reading.trace.tokens]
    if axes and axes[-1] in NAMED:
        places = [cell_name(axes[:-1], index[:-1], names)] if len(index) > 1 else []
        return ", ".join([title_of(source), *places, f"“{reading.word(axes[-1], index[-1])}”"])
    return f"{title_of(source)}, {cell_name(axes, index, names)}" if index else title_of(source)


def hover_operand(session: Session, source: str, index: tuple[int, ...]) -> None:
    """Preview an operand's cell in other panels; what is explained stays."""
    reading = session.reading.current
    if reading is not None and source in reading.trace.arrays and index is not None:
        session.focus.hover_cell((source, tuple(index)), as_operand=True)


def follow_operand(session: Session, source: str, index: tuple[int, ...]) -> None:
    """Explain an operand in turn: go to its cell and to the stage that computes it.

    Parameters have no earlier stage.
    """
    reading = session.reading.current
    if reading is None or source not in reading.trace.arrays:
        return
    session.focus.hover_cell(None)
    places = dict(zip(reading.trace[source].axes, index, strict=True))
    position = places.get("position", places.get("query"))
    if position is not None and position != session.focus.position:
        session.focus.choose_position(position)
    if "head" in places:
        session.attention.choose_head(int(source.split("/")[1]), places["head"])
    session.focus.choose_cell((source, tuple(index)))
    stages = [number for number, stage in enumerate(reading.trace.stages) if source in stage.results]
    if stages:
        session.focus.choose_stage(stages[0])
