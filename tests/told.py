"""Whether the window could show some words to a person."""

import re


def is_told(words):
    """Whether they are words as a reader knows them, without a capital inside of one."""
    return bool(words.strip()) and not re.search("[a-z][A-Z]|[A-Z]{2}[a-z]", words)
