"""Panels of the perspective Features."""
