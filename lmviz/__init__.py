"""See a language model think, while it learns."""
