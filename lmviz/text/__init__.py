"""Texts: reading, tokenizing, splitting into training and validation, counting and searching."""
