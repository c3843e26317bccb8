"""What other programs have trained, seen as runs: one checkpoint, or a series in the order of its steps."""
