"""The weights that each family begins with for each task."""

import pytest

from lmviz.families import FAMILIES, build_model, find_family
from lmviz.tasks import find_task

WIDTH, TOKENS = 64, 300
TASKS_OF_FAMILIES = [
    (name, task) for name, family in FAMILIES.items() if not family.counts for task in family.tasks
]
TIED = [
    (name, task, tied)
    for name, task in TASKS_OF_FAMILIES
    for tied in ((False, True) if "tied" in find_family(name).configuration.names() else (False,))
]


def build(family, task, **settings):
    labels = ("good", "bad") if find_task(task).has_labels else ()
    return build_model(
        family,
        find_family(family).configuration(width=WIDTH, **settings),
        TOKENS,
        0,
        find_task(task).predicts(labels),
        TOKENS if task in ("translation", "captioning") else None,
        task,
    )


def deviations(model):
    return {name: parameter.std().item() for name, parameter in model.named_parameters()}


@pytest.mark.parametrize(("family", "task", "tied"), TIED)
def test_a_table_that_also_scores_tokens_begins_small_and_any_other_as_pytorch_draws_it(family, task, tied):
    can_be_tied = "tied" in find_family(family).configuration.names()
    model = build(family, task, **({"tied": tied} if can_be_tied else {}))
    found, shared = deviations(model), model.output.weight is None
    assert shared == (tied and not find_task(task).has_labels)  # labels have no embeddings
    expected = WIDTH**-0.5 if shared else 1.0
    if (family, task) == ("transformer", "next-token"):
        expected = 0.02  # as in GPT-2
    assert found["embedding.weight"] == pytest.approx(expected, rel=0.03)
    if task == "translation":
        assert found["source_embedding.weight"] == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize("tied", [False, True])
def test_words_begin_shorter_where_attention_is_a_dot_product(tied):
    found = deviations(build("gru", "translation", attention="dot", tied=tied))
    assert found["source_embedding.weight"] == pytest.approx(0.35, rel=0.03)
    assert found["embedding.weight"] == pytest.approx(WIDTH**-0.5 if tied else 0.35, rel=0.03)


@pytest.mark.parametrize("task", [task for family, task in TASKS_OF_FAMILIES if family == "transformer"])
@pytest.mark.parametrize("tied", [False, True])
def test_learned_positions_begin_as_large_as_the_words_beside_them(task, tied):
    found = deviations(build("transformer", task, tied=tied))
    beside = {
        "positions.weight": "embedding.weight",
        "decoder.positions.weight": "embedding.weight",
        "encoder.positions.weight": "source_embedding.weight",
    }
    pairs = [(found[positions], found[words]) for positions, words in beside.items() if positions in found]
    assert len(pairs) == (2 if task == "translation" else 1)
    assert all(positions == pytest.approx(words, rel=0.05) for positions, words in pairs)


def test_words_are_as_loud_as_sinusoidal_positions():
    found = deviations(build("transformer", "translation", positions="sinusoidal", tied=False))
    assert found["source_embedding.weight"] * WIDTH**0.5 == pytest.approx(1.0, rel=0.03)


@pytest.mark.parametrize(("family", "task"), [case for case in TASKS_OF_FAMILIES if case[1] != "next-token"])
def test_an_output_of_its_own_begins_as_a_linear_layer(family, task):
    untied = {"tied": False} if family == "transformer" else {}
    model = build(family, task, **untied)
    bound = model.output.weight.shape[1] ** -0.5
    assert model.output.weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.1)
    assert model.output.weight.abs().max() <= bound


@pytest.mark.parametrize("task", [task for family, task in TASKS_OF_FAMILIES if family == "lstm"])
def test_forget_gates_begin_open_where_a_token_is_predicted_and_as_pytorch_draws_them_for_labels(task):
    weights = build("lstm", task, layers=2).named_parameters()
    gates = [bias.unflatten(0, (4, WIDTH))[1] for name, bias in weights if "bias_ih" in name]
    assert len(gates) == (4 if task == "translation" else 2)
    for gate in gates:
        if find_task(task).has_labels:
            assert gate.abs().max() <= WIDTH**-0.5
            assert gate.std().item() == pytest.approx((3 * WIDTH) ** -0.5, rel=0.3)
        else:
            assert gate.unique().tolist() == [1.0]
