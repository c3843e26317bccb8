"""How large a text and its network may be, so that no text makes the program stand still."""

CHARACTERS = 20_000
"""Each number counts as one, so that other numbers do not make a text too long."""

STEPS = 200
"""Rounds of one loop."""

MODULES = 2_000
CELLS = 2_500
"""Numbers in one value."""

DEPTH = 16
"""Calls within calls."""

DIGITS = 40
"""Characters of one number."""

LONGEST = DIGITS * CHARACTERS
"""Characters of a text of numbers alone."""
