"""Sparse features: dictionaries learned of a model's states, their files, and what they are worth."""
