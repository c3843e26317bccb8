"""What a method of a result is given that it cannot take is refused in one sentence."""

import math
from dataclasses import replace

import numpy as np
import pytest

import lmviz
from lmviz.readouts.direction import StateDirection

NONSENSE = (None, -1, 1.5, math.nan, "", "a", b"x", [], [-1], {}, np.array([1.0]), object())
MODEL = "stories-transformer"


@pytest.fixture(scope="module")
def results():
    lines = ["The owl saw the dog.", "The cow ate the hay."]
    pair = lmviz.difference(lmviz.open_model(MODEL, 0), MODEL, lines[0])
    vector = np.arange(1.0, 9.0, dtype=np.float32)
    return {
        "direction": StateDirection.of("layers/0/residual2", vector, "test"),
        "losses": lmviz.loss_map(MODEL, lmviz.text_set(lines)),
        "text": pair.text,
        "heads": pair.heads,
    }


@pytest.mark.parametrize("nonsense", NONSENSE, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(
    ("kind", "ask"),
    [
        ("direction", lambda one, given: one.along(given)),
        ("direction", lambda one, given: one.cosine(given)),
        ("direction", lambda one, given: one.add(given)),
        ("direction", lambda one, given: one.remove(given)),
        ("direction", lambda one, given: one.swap(given)),
        ("direction", lambda one, given: one.swap(replace(one, vector=-one.vector[::-1]), given)),
        ("direction", lambda one, given: one.random_like(given)),
        ("direction", lambda one, given: one.words(given)),
        ("direction", lambda one, given: StateDirection.of("layers/0/residual2", given, "test")),
        ("losses", lambda one, given: one.minus(given)),
        ("losses", lambda one, given: one.words(given)),
        ("losses", lambda one, given: one.passages(given)),
        ("losses", lambda one, given: one.by_position(given)),
        ("text", lambda one, given: one.words(given)),
        ("text", lambda one, given: one.passages(given)),
        ("text", lambda one, given: one.passages(2, length=given)),
        ("heads", lambda one, given: one.at(given)),
    ],
)
def test_nonsense_is_refused_in_a_sentence(results, kind, ask, nonsense):
    said = "."
    try:
        ask(results[kind], nonsense)
    except lmviz.LmvizError as refusal:
        said = str(refusal)
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize("strength", [math.nan, math.inf, np.float32("nan")])
@pytest.mark.parametrize(
    "ask",
    [
        lambda one, given: one.add(given),
        lambda one, given: one.remove(given),
        lambda one, given: one.swap(replace(one, vector=-one.vector[::-1]), given),
    ],
)
def test_a_strength_that_is_no_number_changes_no_state(results, ask, strength):
    with pytest.raises(lmviz.LmvizError, match="strength must be a number"):
        ask(results["direction"], strength)


def test_a_vector_that_is_no_number_is_no_direction():
    with pytest.raises(lmviz.LmvizError, match="has no length"):
        StateDirection.of("layers/0/residual2", np.full(8, np.nan, dtype=np.float32), "test")
