"""The base of panels that draw the network: pale while the text beside them is one that cannot be read."""

from __future__ import annotations

from lmviz.app.panels.panel import Panel
from lmviz.app.session.session import Session


class NetworkPanel(Panel):
    """Draws the network that was last read, and says so while what is written has mistakes."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        session.network.text_changed.connect(self._follow_lateness)

    @property
    def outdated(self) -> str:
        """The same words as of a prefix that has yet to be read."""
        return "of the text before" if self.session.network.faults else ""
