"""Recurrent encoder and decoder: two statements of one computation, reach, and the lecture's numbers."""

from functools import cache

import numpy as np
import pytest
import torch
from torch.nn import functional

from lmviz.base.errors import LmvizError
from lmviz.families import FAMILIES, build_model
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.tracing import trace
from lmviz.models.prediction import NEXT_TOKEN
from lmviz.models.strand import strands, top
from tests.translators import (
    SOURCE,
    SOURCE_WORDS,
    TEXT,
    WORDS,
    answered,
    check_both_statements,
    check_taking_over,
    shake,
    tensors,
)

CASES = [
    ("rnn", "forward", "dot", {"activation": "sigmoid"}),
    ("rnn", "both", "none", {}),
    ("lstm", "both", "bilinear", {}),
    ("lstm", "forward", "none", {"embedding": 3}),
    ("gru", "backward", "dot", {"layers": 1, "tied": True}),
    ("gru", "both", "bilinear", {"layers": 1}),
]
every_case = pytest.mark.parametrize("case", range(len(CASES)), ids=[" ".join(case[:3]) for case in CASES])


def build(family, direction, attention, **settings):
    configuration = FAMILIES[family].configuration(
        **{"layers": 2, "width": 4, "direction": direction, "attention": attention, **settings}
    )
    return build_model(family, configuration, WORDS, 0, NEXT_TOKEN, SOURCE_WORDS)


@cache
def shaken(case):
    family, direction, attention, settings = CASES[case]
    return shake(build(family, direction, attention, **settings))


@every_case
def test_the_explicit_path_equals_the_fused_one_whatever_the_two_lengths(case):
    check_both_statements(shaken(case), rtol=1e-5, atol=1e-6)


@every_case
def test_what_is_made_at_each_position_is_a_stage_of_that_position(case):
    model = shaken(case)
    taps = {tap.address: tap for tap in model.taps()}
    made = [(stage, taps[stage.results[0]]) for stage in model.stages()]
    stepped = [stage for stage, tap in made if tap.scan or tap.axes[0] == "position"]
    assert len(stepped) > 10
    assert all(stage.by_position for stage in stepped)


@every_case
def test_a_longer_text_takes_over_what_is_known(case):
    check_taking_over(shaken(case), 1e-5, "encoder/embedding")


@every_case
def test_a_word_of_the_text_reaches_what_follows_and_one_of_the_source_all_that_is_written(case):
    model, place = shaken(case), 2
    before = trace(model, TEXT, source=SOURCE)
    text, source = TEXT.copy(), SOURCE.copy()
    text[place], source[place] = 1, 3
    after, other = trace(model, text, source=SOURCE), trace(model, TEXT, source=source)
    for tap in model.taps():
        one, two = before[tap.address].array, after[tap.address].array
        if tap.axes[0] != "position" or (tap.address == "context" and not model.alignment):
            np.testing.assert_array_equal(one, two)
            continue
        moved = {position for position in range(len(TEXT)) if (one[position] != two[position]).any()}
        late = tap.address.endswith(("previous", "scores", "weights", "context"))
        alone = {"decoder/embedding"} if model.alignment else {"decoder/embedding", "decoder/input"}
        reached = range(place + late, place + 1 if tap.address in alone else len(TEXT))
        assert moved == set(reached), tap.address
    direction = CASES[case][1]
    for strand in strands(0, direction, model.configuration.width, encoder=True):
        address = strand.at("hidden").address
        pairs = zip(before[address].array, other[address].array, strict=True)
        moved = {position for position, (one, two) in enumerate(pairs) if (one != two).any()}
        assert moved == set(range(place + 1) if strand.reverse else range(place, len(SOURCE))), direction
    assert (before["logits"].array != other["logits"].array).any(axis=1).all()


def test_without_attention_the_last_states_are_all_that_passes():
    """The bottleneck: with them held, no other state of the source matters any more."""
    for case, kept in ((3, True), (2, False)):
        model = shaken(case)
        found = trace(model, TEXT, source=SOURCE)
        held = [
            Intervention(
                f"encoder/layers/{layer}/last", "replace", found[f"encoder/layers/{layer}/last"].array
            )
            for layer in range(2)
        ]
        encoded = top(model.configuration.layers - 1, model.configuration.direction, encoder=True)
        change = Intervention(encoded, "replace", 0.3, where={"source": 1})
        other = trace(model, TEXT, source=SOURCE, interventions=[change, *held])
        assert np.array_equal(found["logits"].array, other["logits"].array) is kept


@pytest.mark.parametrize("case", [1, 3], ids=["both ways", "forward"])
def test_without_attention_the_context_is_the_last_state_and_enters_at_every_step(case):
    """h_i = g(y_(i−1), h_(i−1), c): not only the first state knows of the source."""
    model, place = shaken(case), 2
    found = trace(model, TEXT, source=SOURCE)
    last = found[f"encoder/layers/{model.configuration.layers - 1}/last"].array
    np.testing.assert_array_equal(found["context"].array, np.tile(last, (len(TEXT), 1)))
    joined = np.hstack([found["decoder/embedding"].array, found["context"].array])
    np.testing.assert_array_equal(found["decoder/input"].array, joined)
    other = Intervention("context", "replace", 0.3, where={"position": place})
    changed = trace(model, TEXT, source=SOURCE, interventions=[other])
    moved = (found["logits"].array != changed["logits"].array).any(axis=1)
    assert moved.tolist() == [position >= place for position in range(len(TEXT))]


@pytest.mark.parametrize("family", ["rnn", "lstm", "gru"])
def test_without_attention_it_is_two_modules_of_torch_one_after_the_other(family):
    model = shake(build(family, "forward", "none"))
    tokens, source = tensors(TEXT, SOURCE)
    states, ends = model.encoder(model.source_embedding(source))
    hidden = ends[0] if family == "lstm" else ends
    first = (hidden, torch.zeros_like(hidden)) if family == "lstm" else hidden
    inputs = torch.cat([model.embedding(tokens), states[:, -1:].expand(-1, len(TEXT), -1)], dim=-1)
    written, _ = model.decoder(inputs, first)
    expected = functional.linear(written, model.output.weight, model.output.bias)
    torch.testing.assert_close(model(tokens, source=source), expected)


def test_rows_of_attention_are_shares_of_the_source():
    found = trace(shaken(2), TEXT, source=SOURCE)
    weights = found["attention/weights"]
    assert weights.axes == ("position", "source")
    np.testing.assert_allclose(weights.array.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(
        weights.array @ found["encoder/layers/1/joined"].array, found["context"].array, atol=1e-6
    )


@pytest.mark.parametrize(
    ("attention", "weights", "context"),
    [
        ("dot", (0.4683, 0.0634, 0.4683), (0.9366, 0.5317)),
        ("bilinear", (0.0634, 0.4683, 0.4683), (0.5317, 0.9366)),
    ],
)
def test_the_lectures_three_states_attended_to(attention, weights, context):
    """h^e = (1,0), (0,1), (1,1), h^d = (2,0); the matrix exchanges the two units."""
    model = build("rnn", "forward", attention, layers=1, width=2, activation="identity").eval()
    with torch.no_grad():
        for parameter in (*model.encoder.parameters(), *model.decoder.parameters()):
            parameter.zero_()
        model.encoder.weight_ih_l0.copy_(torch.eye(2))
        model.source_embedding.weight[:3] = torch.tensor([[1.0, 0], [0, 1], [1, 1]])
        if model.attention is not None:
            model.attention.weight.copy_(torch.tensor([[0.0, 1], [1, 0]]))
    asked = Intervention("decoder/layers/0/previous", "replace", np.array([2.0, 0.0]))
    found = trace(model, np.array([0]), source=np.array([0, 1, 2]), interventions=[asked])
    np.testing.assert_allclose(found["encoder/layers/0/hidden"].array, [[1, 0], [0, 1], [1, 1]])
    np.testing.assert_allclose(found["attention/weights"].array[0], weights, atol=5e-5)
    np.testing.assert_allclose(found["context"].array[0], context, atol=5e-5)


def test_bilinear_attention_with_the_unit_matrix_is_the_dot_product():
    dot, bilinear = build("gru", "forward", "dot").eval(), build("gru", "forward", "bilinear").eval()
    bilinear.load_state({**dot.state(), "attention.weight": torch.eye(4)})
    torch.testing.assert_close(answered(bilinear), answered(dot))


def test_the_decoder_begins_with_the_encoders_last_state():
    found = trace(shaken(3), TEXT, source=SOURCE)
    for layer in range(2):
        last = found[f"encoder/layers/{layer}/hidden"].array[-1]
        np.testing.assert_array_equal(found[f"decoder/layers/{layer}/previous"].array[0], last)


def test_what_cannot_be_is_said():
    with pytest.raises(LmvizError, match="equal width"):
        build("gru", "both", "dot")
    with pytest.raises(LmvizError, match="wide as the decoder"):
        build("gru", "both", "none", tied=True, embedding=8)
    model = shaken(0)
    for ask in (model, model.advance, lambda tokens: model.loss(tokens, tokens)):
        with pytest.raises(LmvizError, match="reads a source"):
            ask(torch.zeros(1, 2, dtype=torch.int64))


@pytest.mark.parametrize("attention", ["none", "dot"])
def test_it_learns_to_copy(attention):
    model = build("gru", "forward", attention, layers=1, width=16)
    model.train()
    chance = torch.Generator().manual_seed(0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(60):
        source = torch.randint(1, SOURCE_WORDS, (16, 3), generator=chance)
        tokens = functional.pad(source, (1, 0))[:, :-1]
        loss, _ = model.loss(tokens, source, source=source)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.5 * np.log(4)
