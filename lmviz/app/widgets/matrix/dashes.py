"""How a mark is drawn that stands in for one that a person has yet to make."""

DASHES = (2.0, 1.6)
"""The lengths of dash and gap, in widths of the line."""
