"""Lectures: scenes, steps of lessons and polls in an order, with a presenter's notes, as a text file."""
