"""Names of values as they are read: "h[1]" as h₁, "ŷ" in LaTeX with its hat."""

from __future__ import annotations

import re
import unicodedata

_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_STEP = re.compile(r"\[([0-9]+)\]")
_ACCENTS = {"\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0307": "dot"}


def label(name: str) -> str:
    """A name with its step as a subscript: "h₁", "h₁·2"."""
    return _STEP.sub(lambda found: found[1].translate(_SUBSCRIPTS), name)


def latex(name: str) -> str:
    """A name in LaTeX."""
    plain, *steps = re.split(r"[\[\]·]", name)
    written = "".join(map(_letter, _clusters(plain))) if len(plain) <= 3 else rf"\text{{{plain}}}"
    places = [step for step in steps if step]
    return f"{written}_{{{','.join(places)}}}" if places else written


def cell_label(name: str, index: tuple[int, ...]) -> str:
    """A cell by its name, counted from 1: "z, cell 1", "β, row 2, column 1"."""
    if not index:
        return label(name)
    places = f"cell {index[0] + 1}" if len(index) == 1 else f"row {index[0] + 1}, column {index[1] + 1}"
    return f"{label(name)}, {places}"


def step_of(name: str) -> int | None:
    """The step of a loop that a value belongs to; None where it belongs to none."""
    found = _STEP.search(name)
    return None if found is None else int(found[1])


def _clusters(text: str) -> list[str]:
    """Letters with their accents."""
    found: list[str] = []
    for character in unicodedata.normalize("NFD", text):
        if found and unicodedata.combining(character):
            found[-1] += character
        else:
            found.append(character)
    return found


def _letter(cluster: str) -> str:
    written = {"′": "'", "_": r"\_"}.get(cluster[0], cluster[0])
    described = unicodedata.name(cluster[0], "")
    if described.startswith("GREEK SMALL LETTER ") and " WITH " not in described:
        written = "\\" + described.rpartition(" ")[2].lower() + " "
    for accent in cluster[1:]:
        written = rf"\{_ACCENTS[accent]}{{{written}}}" if accent in _ACCENTS else written
    return written
