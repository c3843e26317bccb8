"""Gradients are autograd's through the fused path with every choice of every option, for every task.

One option at a time departs from a small model; translators also take every direction with every attention.
"""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
import torch
from closeness import relative_error
from small_models import small_settings
from torch.nn import functional

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.backpropagation import gradient as gradient_of
from lmviz.tasks import CAPTIONING, CLASSIFICATION, TAGGING, TASKS, TRANSLATION

VOCABULARY, LABELS = 6, ("noun", "verb", "other")
TEXT, SOURCE, PICTURE = np.array([0, 3, 5, 2, 3]), np.array([4, 0, 2, 1]), np.arange(49) * 5 % 7 % 2
SOURCES = {TRANSLATION: (SOURCE, 5), CAPTIONING: (PICTURE, 3)}
PRECISIONS = ((torch.float32, 1e-5), (torch.float64, 1e-9))
ANOTHER_SIZE = {
    "order": 2,
    "window": 2,
    "layers": 1,
    "heads": 4,
    "width": 12,
    "embedding": 5,
    "feedforward": 5,
    "key_value_heads": 1,
    "head_channels": 6,
    "rotary_channels": 2,
    "rotary_base": 50.0,
    "rotary_original": 8,
    "rotary_fast": 1.5,
    "rotary_slow": 0.1,
    "rotary_factor": 2.0,
    "norm_epsilon": 0.01,
    "position_offset": 2,
    "attention_clip": 0.3,
    "attention_window": 2,
    "window_layers": "01",
    "score_scale": 0.9,
    "score_cap": 0.5,
    "rotary_layers": "01",
    "rotary_window_base": 50.0,
    "rotary_magnitude": 1.5,
    "rotary_divisors": "2 3",
    "rotary_long_divisors": "4 7",
    "alibi_steepness": 2.0,
    "embedding_factor": 2.5,
    "embedding_width": 5,
    "residual_factor": 0.5,
    "logit_factor": 0.5,
    "logit_cap": 0.5,
}
ROTARY, ALIBI = {"positions": "rotary"}, {"positions": "alibi"}
BLENDED = ROTARY | {"rotary_scaling": "llama3", "rotary_original": 8}
LONGROPE = ROTARY | {"rotary_scaling": "longrope"}
NEEDED = {
    "rotary_scaling": ROTARY | {"rotary_original": 2},
    "rotary_channels": ROTARY,
    "rotary_pairs": ROTARY,
    "rotary_layers": ROTARY,
    "rotary_magnitude": ROTARY,
    "rotary_window_base": ROTARY | {"attention_window": 3},
    **{f"rotary_{name}": BLENDED for name in ("base", "original", "fast", "slow", "factor")},
    "rotary_whole": BLENDED | {"rotary_scaling": "yarn", "rotary_slow": 0.1},
    "rotary_divisors": LONGROPE,
    "rotary_long_divisors": LONGROPE | {"rotary_divisors": "2 3", "rotary_original": 2},
    "alibi_slopes": ALIBI | {"heads": 6, "width": 12},
    "alibi_steepness": ALIBI,
    "window_layers": {"attention_window": 2},
    "parallel_norm": {"parallel": True},
}
"""What an option needs beside it to have any effect."""
NO_EFFECT = {"context", "dropout", "added", "smoothing", "order"}
"""Where a text has fewer tokens, where nothing is trained, and of what counts."""
LEARNERS = [family for family, row in FAMILIES.items() if family != "ngram"]


def choices(family):
    """Every setting with each of its values: {} is the small model itself."""
    yield {}
    for setting in FAMILIES[family].configuration.settings():
        if setting.name in NO_EFFECT:
            continue
        values = setting.choices or ((True, False) if setting.kind is bool else (ANOTHER_SIZE[setting.name],))
        needed = NEEDED.get(setting.name, {})
        yield from (needed | {setting.name: value} for value in values if value != setting.default)


def cases():
    for family in LEARNERS:
        for task in FAMILIES[family].tasks:
            for options in choices(family):
                yield family, task, options
            if task == TRANSLATION and "direction" in FAMILIES[family].configuration.names():
                for direction, attention in product(("forward", "backward", "both"), ("dot", "bilinear")):
                    if (direction, attention) != ("both", "dot"):  # whose widths differ
                        yield family, task, {"direction": direction, "attention": attention}


def named(family, task, options):
    """A case of the test; one option at a time is much to run, and CI runs it."""
    name = " ".join([family, task, *(f"{option}={value}" for option, value in options.items())])
    quick = not options or options.keys() == {"direction", "attention"}
    return pytest.param(family, task, options, id=name, marks=() if quick else pytest.mark.slow)


def built(family, task, options):
    configuration = FAMILIES[family].configuration(**(small_settings(family) | options))
    _, of_source = SOURCES.get(task, (None, None))
    found = build_model(
        family, configuration, VOCABULARY, 0, TASKS[task].predicts(LABELS), of_source, task
    ).eval()
    with torch.no_grad():
        for parameter in found.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    return found


def number_of(task):
    """The number whose gradient is taken: of a text its loss, of labels that of one that no text gives."""
    return {TAGGING: "loss:verb@2", CLASSIFICATION: "loss:verb"}.get(task, "loss")


def by_autograd(model, task, beside):
    """The loss and the gradient of every parameter, through the fused path."""
    model = model.requires_grad_()
    tokens = torch.from_numpy(TEXT)[None]
    rows = {name: torch.from_numpy(source)[None] for name, source in beside.items()}
    with torch.enable_grad():
        answers = model(tokens, **rows)[0]
        if task == CLASSIFICATION:
            loss = -answers.log_softmax(dim=-1)[1]
        elif task == TAGGING:
            loss = -answers[2].log_softmax(dim=-1)[1]
        else:
            loss = functional.cross_entropy(answers[:-1], tokens[0, 1:], reduction="sum")
        loss.backward()
    return float(loss.detach()), {
        name: np.zeros(parameter.shape) if parameter.grad is None else parameter.grad.numpy()
        for name, parameter in model.named_parameters()
    }


@pytest.mark.parametrize(("family", "task", "options"), [named(*case) for case in cases()])
def test_gradients_are_those_of_autograd(family, task, options):
    try:
        model = built(family, task, options)
    except LmvizError as error:
        pytest.skip(str(error))
    beside = {"source": SOURCES[task][0]} if task in SOURCES else {}
    exact_loss, exact = by_autograd(deepcopy(model).double(), task, beside)
    whole = np.linalg.norm([np.linalg.norm(gradient) for gradient in exact.values()])
    assert whole > 1e-4
    for kind, tolerance in PRECISIONS:
        _, rounded = by_autograd(deepcopy(model).to(kind), task, beside)
        found = gradient_of(deepcopy(model).to(kind), TEXT, number_of(task), **beside)
        assert found.value == pytest.approx(exact_loss, rel=10 * tolerance)
        assert set(found.parameters) == exact.keys()
        for name, wanted in exact.items():
            as_rounded = relative_error(rounded[name], wanted, whole / 100)
            within = max(tolerance, 8 * as_rounded)  # three bits more than autograd loses itself
            assert relative_error(found.parameters[name], wanted, whole / 100) <= within, (name, kind)
