"""What is said of the open text while another one is being read: what it lacks, the other may have."""

from __future__ import annotations

from lmviz.app.session.session import Session

BEING_READ = "The text is being read…"


def lacking_in_text(session: Session, sentence: str) -> str:
    """A sentence about what the open text lacks, unless another text is on its way."""
    return BEING_READ if session.text.is_opening and sentence else sentence
