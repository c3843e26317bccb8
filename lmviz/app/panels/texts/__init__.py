"""Texts: one question to many texts, and the loss of every token."""
