"""The kinds of parts that states at a dictionary are taken apart into."""

FEATURE, ERROR, AVERAGE = "feature", "error", "average"
