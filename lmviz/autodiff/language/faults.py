"""What is wrong with the text of a network."""

from __future__ import annotations

from lmviz.base.faults import FaultyText


class NetworkFault(FaultyText):
    """A text that is no network."""
