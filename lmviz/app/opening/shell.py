"""The interface of the window that `opening` uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

from lmviz.app.opening.settings import Settings
from lmviz.app.session.session import Session

if TYPE_CHECKING:
    import numpy as np


class Shell(Protocol):
    """The window, as far as the first screen, lessons and the memory of the last session need it."""

    session: Session
    settings: Settings

    @property
    def perspective_changed(self) -> SignalInstance:
        """Emitted when a person has chosen a perspective."""

    @property
    def perspective_name(self) -> str:
        """The name of the perspective that is shown."""

    def show_perspective(self, name: str) -> None:
        """Show a perspective."""

    def show_afresh(self, name: str, fronts: Sequence[str] = ()) -> None:
        """Show a perspective with these panels in front of those that share their places, and in other places
        those that it begins with, whatever was brought forward before."""

    def bring_in_front(self, panel: str) -> None:
        """Bring a panel of the perspective in front of those that share its place, unless it is in sight."""

    def show_step(self, perspective: str, names: AbstractSet[str]) -> None:
        """Show a perspective, or with "" stay, and leave of it the panels that hold these controls; where
        none does, or none is named, all of them."""

    def choose_text(self) -> None:
        """Let a person choose a text to open."""

    def open_public_model(self, name: str) -> None:
        """Open a public model by its name on the hub, downloaded first where it is not here."""

    def offer(self, sentence: str, word: str, action: Callable[[], None]) -> None:
        """Show a sentence with a button that does something."""

    def withdraw(self, sentence: str) -> None:
        """Take an offer away."""

    def find_control(self, name: str) -> QWidget | None:
        """The control of this object name that can be seen; None while there is none."""

    def bring_forward(self, name: str) -> None:
        """Bring the control of this object name in sight, where it stands in a panel behind another."""

    def control_state(self, name: str) -> str | float | None:
        """What is typed, chosen or set in the visible control of this object name."""

    def presses(self, name: str) -> int | None:
        """How often the visible button of this object name was pressed since this was first asked."""

    def drawn(self, panel: str) -> Mapping[str, np.ndarray]:
        """The numbers that the panel of this object name draws, by name; none where they are not there."""
