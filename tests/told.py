"""Whether the window could show some words to a person."""

import re

from PySide6.QtWidgets import QLabel


def is_told(words):
    """Whether they are words as a reader knows them, without a capital inside of one."""
    return bool(words.strip()) and not re.search("[a-z][A-Z]|[A-Z]{2}[a-z]", words)


def words_of(panel, name):
    """What a person reads in the label of this name in a panel."""
    label = panel.findChild(QLabel, name)
    return label.accessibleName() or label.text()
