"""Texts: read, cut into tokens, split into training and validation, counted and searched."""
