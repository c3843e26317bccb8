"""Operands of an explanation: their names in words, and the way back to where each was computed."""

from __future__ import annotations

from lmviz.app.session.reading import Reading
from lmviz.app.session.session import Session
from lmviz.inspection.names import title_of
from lmviz.models.address import Address
from lmviz.models.tap import place_of


def name_of_operand(reading: Reading | None, source: str, index: tuple[int, ...]) -> str:
    """An operand in words, tokens by their text; a parameter by its name, places counted from 1."""
    at = Address.parse(source)
    if at.is_gradient:
        return f"gradient of {name_of_operand(reading, at.value, index)}"
    axes = None if reading is None else reading.axes(source)
    if reading is None or axes is None:
        return f"{source} {place_of(index)}" if index else source
    return f"{title_of(source)}, {reading.cell_name(axes, index)}" if index else title_of(source)


def hover_operand(session: Session, source: str, index: tuple[int, ...]) -> None:
    """Preview an operand's cell in other panels; what is explained stays."""
    reading = session.reading.current
    if reading is not None and reading.axes(source) is not None and index is not None:
        session.focus.hover_cell((source, tuple(index)), as_operand=True)


def follow_operand(session: Session, source: str, index: tuple[int, ...]) -> None:
    """Explain an operand in turn: go to its cell and to the stage that computes it.

    Parameters have no earlier stage.
    """
    reading = session.reading.current
    axes = None if reading is None else reading.axes(source)
    if reading is None or axes is None:
        return
    session.focus.hover_cell(None)
    at, places = Address.parse(source), dict(zip(axes, index, strict=True))
    position = places.get("position", places.get("query"))
    if position is not None and position != session.focus.position:
        session.focus.choose_position(position)
    elif (place := places.get("source", places.get("source_query"))) is not None and position is None:
        session.focus.choose_source(place)
    if "head" in places:
        session.attention.choose_head_of(source, places["head"])
    session.focus.choose_cell((source, tuple(index)))
    stages = [number for number, stage in enumerate(reading.trace.stages) if at.value in stage.results]
    if stages:
        session.focus.choose_stage(stages[0])
