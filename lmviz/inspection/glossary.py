"""The words of the field in a sentence each, for who meets them first."""

from __future__ import annotations

import re

TERMS = {
    "channel": "A channel is one of the numbers of which a vector consists, such as the 5th of a word's 96.",
    "unit": "A unit is one of the numbers of a layer's state: it is computed from all of the layer below.",
    "head": "A head is one of several attentions that run beside one another, each with its own weights.",
    "query": "A query is the vector by which a word looks for others.",
    "key": "A key is the vector by which a word is found.",
    "value": "A value is the vector that a word hands to those that look at it.",
    "scores": "A score says how well a query and a key fit: their product, before the softmax.",
    "weights": "Weights are the numbers that a model has learned; those of attention are shares of a row.",
    "norm": "A norm brings the numbers of a vector to one scale.",
    "stream": "The stream is the vector of a word, to which every layer adds.",
    "logits": "A logit is the number that the softmax turns into a probability.",
    "gate": "A gate is a number between 0 and 1 that says how much passes.",
}
"""By how a name says it, in the order in which they are told."""


def terms_in(text: str) -> tuple[str, ...]:
    """The sentences about the terms that a text has as whole words."""
    words = set(re.findall(r"[a-z]+", text.lower()))
    return tuple(sentence for term, sentence in TERMS.items() if term in words)
