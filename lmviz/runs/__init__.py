"""Runs as a person meets them: what they are called, which there are, and how to train them further."""
