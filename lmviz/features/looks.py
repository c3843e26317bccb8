"""How a dictionary of features looks."""

from __future__ import annotations

from lmviz.base.figures import count, counted, percentage, plain
from lmviz.features.dictionary import Dictionary
from lmviz.looks.look import Look
from lmviz.showing.pieces import figures, named


def look_of_dictionary(found: Dictionary) -> Look:
    """What it is of, and what it keeps and loses of the states."""
    worth = found.worth
    said: list[tuple[str, str | None]] = [
        ("kind", found.kind + ("" if found.k is None else f", {count(found.k)} at a token")),
        ("tap", found.tap or None),
        ("writes", found.written if found.is_transcoder else None),
        ("model", named(found.model, "", found.step) if found.model else None),
        ("learned from", None if found.tokens is None else counted(found.tokens, "token")),
    ]
    if worth is not None:
        said += [
            ("variance explained", percentage(worth.variance_explained)),
            ("on at a token", plain(worth.active)),
            ("never on", f"{count(worth.silent)} of {count(found.size)}"),
            ("loss of the model", _nats(worth.loss)),
            ("with the features alone", _nats(worth.loss_reconstructed)),
            ("with the mean state", _nats(worth.loss_mean)),
        ]
    return Look((figures(said),), title=f"Dictionary of {counted(found.size, 'feature')}")


def _nats(value: float | None) -> str | None:
    return None if value is None else f"{plain(value, 4)} nats per token"


LOOKS = {Dictionary: look_of_dictionary}
"""How each kind of result looks, by its class."""
