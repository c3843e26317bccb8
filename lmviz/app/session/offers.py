"""The model and the text that are offered when none is open."""

from __future__ import annotations

FIRST_MODEL = "stories-transformer"
"""The sample model that is offered where none is open: every perspective has something to say of it."""

MODEL_OFFER = f"Open {FIRST_MODEL}"

FIRST_TEXT = "stories"
"""What one's own model is trained on where no other text has been opened."""
