"""A direction that a panel has found goes into the list of the shown model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmviz.looks.parts import Button

if TYPE_CHECKING:
    import numpy as np

    from lmviz.app.session.session import Session
    from lmviz.readouts.direction import StateDirection

KEEP = Button(
    text="keep direction",
    role="link",
    tip="Put it into the list of directions, in Circuits, where it can be looked at and used.",
)


def keep_direction(session: Session, address: str, vector: np.ndarray, origin: str) -> None:
    """Keep a direction whose length means nothing: 1 of it is as far as states of the text lie apart."""
    from lmviz.readouts.direction import StateDirection

    keep_scaled(session, StateDirection.of(address, vector, origin))


def keep_scaled(session: Session, direction: StateDirection) -> None:
    """The same of one that is made."""
    reading = session.reading.current
    if reading is not None and direction.address in reading.trace:
        direction = direction.scaled_to(reading.trace[direction.address].array)
    session.directions.add(direction)
