"""By what the tokens of a text are divided, to see what its loss is made of."""

from __future__ import annotations

COMMON = 100
"""So many of the words that were read most often are a kind of their own."""

PASSAGE = 14
"""Tokens of a passage."""

MARKS, COMMONEST, SAID, NEW = "marks", f"{COMMON} commonest", "said before", "new"
KINDS = (MARKS, COMMONEST, SAID, NEW)
"""What a token is: a mark without a letter or digit; one of the commonest; or another, said before in its
document, or new to it."""

FREQUENCIES = (1, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
"""Where the divisions by frequency begin, in times that a token was read; before the first it never was."""
