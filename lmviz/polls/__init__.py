"""Polls: a question for a room, choices A to E, and the right one, computed where it can be."""
