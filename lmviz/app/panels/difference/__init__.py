"""Panels that hold two models against each other: on a text, inside, and part by part."""
