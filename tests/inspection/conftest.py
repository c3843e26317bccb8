"""One tiny model of every kind, with a tokenizer of plain words, built once."""

from functools import cache

import numpy as np
import pytest
import torch
from covering import others_slow
from small_models import small_settings

from lmviz.families import FAMILIES, build_model, find_family
from lmviz.models.ngram.counts import count_ngrams
from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer

SENTENCES = (
    "the cows eat corn .",
    "the cows eat grass .",
    "bats sleep at night .",
    "the cows sleep at night .",
)
TEXT = "the cows eat the corn"

KINDS = {
    "ngram": ("ngram", {"order": 3}),
    "window": ("window", {"window": 3, "width": 7, "embedding": 5}),
    "window-direct": ("window", {"window": 3, "width": 7, "embedding": 5, "direct": True}),
    "rnn": ("rnn", {"layers": 2, "width": 6}),
    "lstm": ("lstm", {"layers": 2, "width": 6}),
    "gru": ("gru", {"layers": 2, "width": 6}),
    **{
        f"transformer-{positions}-{norm}": (
            "transformer",
            {"layers": 2, "heads": 2, "width": 8, "context": 12, "positions": positions, "norm": norm},
        )
        for positions, norm in (
            ("learned", "pre"),
            ("learned", "post"),
            ("sinusoidal", "pre"),
            ("rotary", "pre"),
            ("alibi", "pre"),
            ("none", "pre"),
            ("relative", "pre"),
        )
    },
    "transformer-no-norm": (
        "transformer",
        {"layers": 1, "heads": 2, "width": 8, "context": 12, "norm": "none"},
    ),
    "transformer-no-residual": (
        "transformer",
        {"layers": 2, "heads": 2, "width": 8, "context": 12, "residual": False},
    ),
    "transformer-as-gemma": (
        "transformer",
        {"layers": 2, "heads": 2, "width": 8, "context": 12, "positions": "rotary", "norm": "both"}
        | {"norm_kind": "rms", "norm_gain": "one plus weight", "query_key_norm": "head", "gated": True}
        | {"attention_window": 3, "window_layers": "10", "score_cap": 3.0, "logit_cap": 5.0},
    ),
    "transformer-as-bloom": (
        "transformer",
        {"layers": 2, "heads": 2, "width": 8, "context": 12, "positions": "none", "embedding_norm": True}
        | {"score_scale": 1.0, "parallel": True, "parallel_norm": "shared", "residual_factor": 0.5}
        | {"norm": "both", "logit_factor": 0.5, "output_bias": True, "embedding_width": 6},
    ),
}

others = set(FAMILIES) - {family for family, _ in KINDS.values()}
KINDS |= {family: (family, small_settings(family)) for family in FAMILIES if family in others}


@cache
def tokenizer():
    options = TokenizerOptions.from_specification("words")
    return train_tokenizer(SENTENCES, options, marks_boundaries=True)


@cache
def build(kind):
    family, settings = KINDS[kind]
    configuration = find_family(family).configuration.from_values(settings)
    model = build_model(family, configuration, tokenizer().vocabulary_size, seed=1)
    size = 0.3 if settings.get("norm") == "none" else 0.7  # without it values grow, and rounding too
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(parameter.numel()))
            parameter.copy_(size * noise if parameter.ndim > 1 else parameter + 0.2 * noise)
    if family == "ngram":
        marks = tokenizer().start_id, tokenizer().end_id
        stream = np.concatenate([[marks[0], *tokenizer().encode(text), marks[1]] for text in SENTENCES])
        model.fit(count_ngrams(stream, 3, tokenizer().vocabulary_size, start_id=marks[0]))
    model.tokenizer = tokenizer()
    model.name = kind
    return model.eval().requires_grad_(False)


PLAIN = ("learned-post", "sinusoidal-pre", "alibi-pre", "none-pre", "no-residual")
LATER = {"window-direct", *(f"transformer-{name}" for name in PLAIN)}
"""Kinds that differ little from others, for the night."""


@pytest.fixture(params=others_slow(KINDS, *(kind for kind in KINDS if kind not in LATER)))
def model(request):
    return build(request.param)


@pytest.fixture
def a():
    """a("lstm") is the tiny model of that kind."""
    return build


@pytest.fixture
def text():
    return TEXT
