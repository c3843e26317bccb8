"""A small model of every family, task and option, and what each is given to read."""

from functools import cache

import numpy as np
import pytest
import torch
from covering import covering
from small_models import small_settings

from lmviz.families import FAMILIES, build_model, learner_of
from lmviz.inspection.tracing import trace
from lmviz.models.functions import activations
from lmviz.tasks import TASKS
from lmviz.training.options import TrainingOptions

VOCABULARY = 7
IDS = np.array([5, 2, 6, 1, 2, 3, 4])
TEXT = np.tile([1, 2, 3, 4, 5, 2, 6], 60)
"""After 2 comes 3 or 6, depending on what stands before it."""

OPTIONS = {
    "ngram": [{"smoothing": "kneser-ney"}, {"smoothing": "add-k"}, {"smoothing": "maximum-likelihood"}],
    "window": [{"direct": direct, "embedding": 5, "activation": "relu"} for direct in (False, True)]
    + [{"window": 1, "activation": "sigmoid"}],
    "rnn": [{"activation": activation} for activation in activations(recurrent=True)] + [{"tied": True}],
    "lstm": [{}, {"layers": 1, "embedding": 5}, {"tied": True}],
    "gru": [{}, {"layers": 1, "embedding": 5}, {"tied": True}],
    "transformer": [
        {"positions": positions, "norm": norm, "tied": norm == "pre", "activation": activation}
        for positions in ("learned", "sinusoidal", "rotary", "alibi", "none")
        for norm, activation in (("pre", "gelu"), ("post", "relu"))
    ]
    + [{"activation": "gelu_tanh", "feedforward": 5}, {"heads": 1, "layers": 1}]
    + [
        {  # as Llama
            "positions": "rotary",
            "norm_kind": "rms",
            "gated": True,
            "activation": "silu",
            "key_value_heads": 1,
            "attention_bias": "none",
            "feedforward_bias": False,
            "tied": False,
        },
        {"positions": "rotary", "rotary_channels": 2, "parallel": True, "tied": False},  # as GPT-NeoX
        {
            "positions": "rotary",
            "rotary_scaling": "llama3",
            "rotary_base": 50.0,
            "rotary_original": 8,
            "rotary_fast": 1.5,
            "rotary_slow": 0.1,
            "head_channels": 6,
            "attention_bias": "query key value",
        },
        {"heads": 4, "key_value_heads": 2, "norm_bias": False, "norm_epsilon": 0.01, "gated": True},
        {"positions": "relative", "heads": 4, "key_value_heads": 2},
        {"positions": "relative", "norm": "none", "activation": "identity"},
        {"residual": False},
        {"residual": False, "norm": "post", "positions": "relative", "activation": "relu"},
        {"residual": False, "norm": "none", "tied": False, "gated": True, "activation": "identity"},
        {"residual": False, "parallel": True},
        {"attention_alone": True, "positions": "rotary", "tied": False},
        {"attention_alone": True, "norm": "post"},
        {"attention_alone": True, "norm": "both", "residual": False, "norm_kind": "rms"},
        {  # as Gemma 2
            "positions": "rotary",
            "norm": "both",
            "norm_kind": "rms",
            "norm_gain": "one plus weight",
            "gated": True,
            "activation": "gelu_tanh",
            "embedding_factor": 2.5,
            "attention_window": 3,
            "window_layers": "10",
            "score_scale": 0.3,
            "score_cap": 1.5,
            "logit_cap": 2.0,
            "rotary_window_base": 50.0,
        },
        {  # as OLMo 2 and Granite
            "positions": "rotary",
            "norm": "result",
            "query_key_norm": "all",
            "heads": 4,
            "key_value_heads": 2,
            "rotary_scaling": "yarn",
            "rotary_base": 50.0,
            "rotary_original": 8,
            "rotary_magnitude": 1.25,
            "residual_factor": 0.4,
            "logit_factor": 0.5,
            "norm_kind": "rms",
        },
        {  # as GPT-J and Cohere
            "positions": "rotary",
            "rotary_pairs": "neighbours",
            "rotary_channels": 4,
            "rotary_scaling": "dynamic",
            "rotary_original": 3,
            "rotary_layers": "01",
            "parallel": True,
            "parallel_norm": "shared",
            "query_key_norm": "heads",
            "attention_bias": "output",
            "output_bias": True,
            "tied": False,
        },
        {"query_key_norm": "head", "norm_gain": "none", "attention_clip": 0.7, "position_offset": 2},
        {"positions": "alibi", "heads": 6, "width": 12, "alibi_slopes": "powers", "embedding_norm": True}
        | {"embedding_width": 5},
        {"positions": "alibi", "alibi_slopes": "bfloat16", "alibi_steepness": 2.0, "score_cap": 2.0},
        {
            "score_scale_by_layer": True,
            "attention_window": 4,
            "activation": "relu_squared",
            "norm_gain": "one plus weight",
        },
    ],
}
LABELLED = {
    "window": [{"task": "tagging"}, {"task": "tagging", "direct": True, "activation": "identity"}],
    "rnn": [
        {"direction": "both"},  # a language model that reads the answer
        {"task": "tagging", "direction": "both", "activation": "identity"},
        {"task": "tagging", "direction": "backward", "activation": "sigmoid", "layers": 1},
        {"task": "classification", "direction": "both", "pooling": "attention"},
    ],
    "lstm": [
        {"task": "tagging", "direction": "both"},
        {"task": "tagging"},
        {"task": "classification", "direction": "both", "pooling": "last"},
        {"task": "classification", "direction": "backward", "pooling": "mean"},
    ],
    "gru": [
        {"task": "tagging", "direction": "backward"},
        {"task": "tagging", "direction": "both", "layers": 1},
        {"task": "classification", "pooling": "last"},
        {"task": "classification", "direction": "backward", "pooling": "attention"},
    ],
    "transformer": [
        {"causal": False},  # a language model that reads the answer
        {"task": "tagging"},
        {"task": "tagging", "causal": False, "positions": "alibi", "norm": "post"},
        {"task": "tagging", "causal": False, "positions": "relative", "norm": "none"},
        {"task": "classification", "causal": False, "pooling": "mean", "positions": "rotary"},
        {"task": "classification", "causal": False, "positions": "relative", "residual": False},
        {"task": "classification", "pooling": "last"},
        {"task": "classification", "causal": False, "pooling": "attention", "positions": "sinusoidal"},
    ],
}
TRANSLATING = {
    "rnn": [{"attention": "dot", "activation": "sigmoid"}, {"attention": "none", "direction": "both"}],
    "lstm": [{"attention": "bilinear", "direction": "both"}, {"attention": "none", "embedding": 3}],
    "gru": [
        {"attention": "dot", "direction": "backward", "layers": 1, "tied": True},
        {"attention": "bilinear", "direction": "both", "layers": 1},
    ],
    "transformer": [
        {"norm": "pre"},
        {"norm": "post", "positions": "sinusoidal", "activation": "relu", "layers": 1, "tied": False},
        {"positions": "none", "norm_kind": "rms", "gated": True, "key_value_heads": 1, "layers": 1},
        {"norm": "post", "attention_bias": "none", "feedforward_bias": False, "layers": 1},
    ],
}
CAPTIONING = {
    "rnn": [{"activation": "sigmoid"}, {"activation": "identity", "layers": 1}],
    "lstm": [{"embedding": 3}, {"layers": 1}],
    "gru": [{}, {"layers": 1, "tied": True}],
}
TRANSLATOR = {"task": "translation", "width": 4, "feedforward": 5, "context": 16}
LABELS = ("noun", "verb", "other")
SOURCE, SOURCE_VOCABULARY = np.array([4, 0, 2, 1]), 5
PICTURE, PIXEL_TOKENS = np.arange(49) * 5 % 7 % 2, 3


def translating(family):
    """The options of a family's translators, made small."""
    names = {"task", *FAMILIES[family].configuration.names()}
    small = {name: value for name, value in TRANSLATOR.items() if name in names}
    return [small | options for options in TRANSLATING.get(family, [])]


def captioning(family):
    """The options of a family's captioners, made small."""
    return [{"task": "captioning", "width": 4} | options for options in CAPTIONING.get(family, [])]


CASES = [
    pytest.param(family, options, id=" ".join([family, *map(str, options.values())]))
    for family in FAMILIES
    for options in OPTIONS.get(family, [{}])
    + LABELLED.get(family, [])
    + translating(family)
    + captioning(family)
]


def choices(family, options):
    """What a case chooses: the family for its task, and the value of each option."""
    return {(family, options.get("task", "next-token")), *options.items()}


every_case = pytest.mark.parametrize(
    ("family", "options"), covering(CASES, [choices(*case.values) for case in CASES])
)
"""Every choice in some case; the other cases are slow."""

TASKS_OF_FAMILIES = {(case.values[0], case.values[1].get("task", "next-token")) for case in CASES}
one_of_each = pytest.mark.parametrize(
    ("family", "options"), covering(CASES, [choices(*case.values) & TASKS_OF_FAMILIES for case in CASES])
)
"""For what takes long: each task of each family in one case; the other cases are slow."""
each_family_and_each_task = pytest.mark.parametrize(
    ("family", "options"),
    covering(CASES, [{case.values[0], case.values[1].get("task", "next-token")} for case in CASES]),
)
"""For what takes longest: each family and each task in some case; the other cases are slow."""


def untrained(family, options, seed=0):
    kind = FAMILIES[family].configuration
    settings = small_settings(family) | options
    task = settings.pop("task", "next-token")
    of_source = {"translation": SOURCE_VOCABULARY, "captioning": PIXEL_TOKENS}.get(task)
    predicts = TASKS[task].predicts(LABELS)
    return build_model(family, kind(**settings), VOCABULARY, seed, predicts, of_source, task).eval()


@cache
def trained(family, settings):
    """A model taught a toy text, and then shaken so that no weight is small and no bias zero."""
    model = untrained(family, dict(settings))
    if model.predicts.continues and not translates(model):
        learn(model, steps=2)
    # Without normalisation values grow from layer to layer, and without a bounded activation from step to
    # step. A norm over four channels now and then divides by next to nothing. Rounding grows with all of
    # these, in PyTorch's own fused path as well.
    delicate = {("norm", "none"), ("norm_kind", "rms"), ("activation", "identity")}
    shaking = 0.15 if delicate.intersection(settings) else 0.4
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += shaking * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    return model.eval().requires_grad_(False)


def learn(model, steps):
    options = TrainingOptions(steps=steps, batch=4, length=8, learning_rate=0.03, warmup=0, device="cpu")
    return list(learner_of(model.family)(model, TEXT, TEXT[:50], options, None, ignored_target=None))


def translates(model):
    return "source" in model.inputs


def source_of(model):
    """What a model that reads a source is given as such: some tokens, or a picture."""
    return PICTURE if model.task == "captioning" else SOURCE


def beside(model):
    """What a model is given beside its text."""
    return {"source": source_of(model)} if translates(model) else {}


def rows_beside(model, count):
    """The same for so many texts at once."""
    return {"source": torch.from_numpy(source_of(model)).repeat(count, 1)} if translates(model) else {}


def traced(model, ids, **options):
    return trace(model, ids, **beside(model), **options)


def parameters_of(model):
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}
