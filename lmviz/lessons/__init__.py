"""Lessons as text files: read, checked, and asked what has been done. Knows no window."""
