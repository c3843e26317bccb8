import numpy as np
import pytest
from quickest import quickest

from lmviz.base.errors import LmvizError
from lmviz.inspection.equations import numbers, one_line
from lmviz.inspection.explain import ReplacedArithmetic, explain
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import add, replace, scale, scale_head, zero
from lmviz.inspection.tracing import trace
from lmviz.models.arithmetic import Arithmetic


def cells(shape, count=6, seed=0):
    return [
        tuple(int(at) for at in np.random.default_rng([seed, n]).integers(0, shape)) for n in range(count)
    ]


def close(value, expected):
    return value == expected or value == pytest.approx(expected, abs=2e-5, rel=2e-5)


def test_cells_follow_from_their_stated_operands(model, text):
    found = trace(model, text)
    for address, traced in found.arrays.items():
        for index in cells(traced.array.shape):
            arithmetic = explain(model, found, address, index)
            assert arithmetic.value == traced.array[index]
            assert close(arithmetic.evaluate(), arithmetic.value), (address, index)


def test_operands_are_where_they_say(model, text):
    found = trace(model, text)
    for address, traced in found.arrays.items():
        for group in explain(model, found, address, cells(traced.array.shape, 1)[0]).terms:
            for factor in group.factors:
                if factor.source in found:
                    held = found[factor.source].array[tuple(factor.indices.T)]
                elif "." in factor.source:
                    held = model.operand(factor.source, factor.indices)
                else:
                    continue
                assert held == pytest.approx(factor.values)


@pytest.mark.parametrize(
    ("kind", "address", "index", "operation", "labels"),
    [
        ("transformer-learned-pre", "layers/0/attention/scores", (1, 2, 4), "mask", ["hidden score"]),
        ("transformer-learned-pre", "layers/0/attention/scores", (1, 4, 2), "unmasked", ["score"]),
        ("transformer-learned-pre", "layers/0/residual1", (1, 2), "sum", ["stream", "attention"]),
        ("transformer-learned-pre", "layers/0/feedforward/activation", (1, 2), "gelu", ["input"]),
        (
            "transformer-learned-pre",
            "layers/0/attention/mixed",
            (1, 3, 2),
            "weighted mean",
            ["weight × value"],
        ),
        (
            "transformer-alibi-pre",
            "layers/0/attention/bias",
            (1, 3, 2),
            "bias by distance",
            ["slope × distance"],
        ),
        (
            "transformer-learned-pre",
            "layers/0/norm1",
            (2, 1),
            "layer normalisation",
            ["own value", "all channels", "gain", "bias", "epsilon"],
        ),
        (
            "window",
            "hidden",
            (3, 1),
            "weighted sum, then tanh",
            ["input, 2 before", "input, 1 before", "input", "bias"],
        ),
        ("window", "logits", (3, 1), "weighted sum", ["hidden", "bias"]),
        (
            "gru",
            "layers/0/hidden",
            (2, 1),
            "sum of products",
            ["newly written", "kept from the previous state"],
        ),
        (
            "gru",
            "layers/0/update",
            (2, 1),
            "weighted sum, then sigmoid",
            ["input", "bias", "previous state", "bias"],
        ),
        (
            "lstm",
            "layers/0/cell",
            (2, 1),
            "sum of products",
            ["kept from the previous cell", "newly written"],
        ),
        ("lstm", "layers/0/hidden", (2, 1), "products", ["shown"]),
        ("ngram", "orders/2/total", (2,), "sum", ["counts"]),
        ("ngram", "orders/2/probabilities", (2, 3), "interpolation", ["count", "lower order"]),
        ("ngram", "logits", (2, 3), "logarithm", ["probability"]),
        ("ngram", "probabilities", (2, 3), "softmax", ["own score", "all scores"]),
    ],
)
def test_an_explanation_says_what_is_done_and_with_what(a, text, kind, address, index, operation, labels):
    arithmetic = explain(a(kind), trace(a(kind), text), address, index)
    assert (arithmetic.operation, [group.label for group in arithmetic.terms]) == (operation, labels)


def test_an_ngram_says_how_often_the_tokens_it_discounts_were_seen(a, text):
    arithmetic = explain(a("ngram"), trace(a("ngram"), text), "orders/2/backoff", (2,))
    assert arithmetic.operation == "discounts, over the total"
    assert [group.label for group in arithmetic.terms] == [
        "D1 × 2 tokens seen once",
        "D2 × 0 tokens seen twice",
        "D3 × 0 tokens seen three times or more",
    ]


@pytest.mark.parametrize(
    ("intervention", "value", "said"),
    [
        (zero("layers/0/hidden", position=2, unit=1), 0.0, "set to"),
        (replace("layers/0/hidden", 0.9, unit=1), 0.9, "set to"),
        (scale("layers/0/hidden", 3.0, position=slice(1, 4)), None, "computed"),
        (add("layers/0/hidden", -0.5), None, "computed"),
        (replace("layers/0/hidden", [[1, 2], [3, 4]], position=(1, 2), unit=(1, 0)), 3.0, "set to"),
    ],
)
@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_a_changed_cell_says_so_and_what_the_formula_gives(a, text, kind, intervention, value, said):
    model = a(kind)
    index = (2, 1)
    found = trace(model, text, interventions=[intervention])
    arithmetic = explain(model, found, "layers/0/hidden", index)
    assert isinstance(arithmetic, ReplacedArithmetic)
    assert arithmetic.interventions == (intervention.describe(),)
    assert arithmetic.terms[0].label == said
    assert close(arithmetic.evaluate(), arithmetic.value)
    assert close(arithmetic.value, found["layers/0/hidden"].array[index])
    if value is not None:
        assert arithmetic.value == pytest.approx(value)
    assert arithmetic.formula.value == arithmetic.formula.evaluate()
    if kind == "rnn":
        held = found["layers/0/preactivation"].array[index]
        assert arithmetic.formula.value == pytest.approx(np.tanh(held), abs=1e-6)


def test_cells_that_were_left_alone_are_explained_as_ever(a, text):
    model = a("lstm")
    found = trace(model, text, interventions=[zero("layers/0/hidden", position=2, unit=1)])
    for index in ((2, 0), (3, 1)):
        arithmetic = explain(model, found, "layers/0/hidden", index)
        assert type(arithmetic) is Arithmetic
        assert close(arithmetic.evaluate(), arithmetic.value)


def test_several_changes_of_one_cell_add_up(a, text):
    model = a("gru")
    changes = [scale("layers/0/hidden", 2.0), add("layers/0/hidden", 0.25), scale("layers/0/hidden", -1.0)]
    found = trace(model, text, interventions=changes)
    arithmetic = explain(model, found, "layers/0/hidden", (3, 2))
    assert arithmetic.value == pytest.approx(-(2 * arithmetic.formula.value + 0.25), abs=1e-6)
    assert close(arithmetic.evaluate(), arithmetic.value)
    assert len(arithmetic.interventions) == 3


def test_a_tap_that_was_passed_by_shows_what_passed_through(a, text):
    model = a("transformer-rotary-pre")
    address = "layers/0/attention/query_rotated"
    found = trace(model, text, interventions=[Intervention(address, "bypass")])
    arithmetic = explain(model, found, address, (1, 3, 2))
    assert [group.label for group in arithmetic.terms] == ["passed through"]
    assert arithmetic.terms[0].factors[0].source == "layers/0/attention/query"
    assert arithmetic.value == found["layers/0/attention/query"].array[1, 3, 2] == arithmetic.evaluate()


def test_every_cell_of_a_changed_transformer_is_explained(a, text):
    model = a("transformer-learned-pre")
    found = trace(
        model, text, interventions=[scale_head(0, 1), zero("layers/1/feedforward/activation", unit=3)]
    )
    for address, traced in found.arrays.items():
        for index in cells(traced.array.shape):
            arithmetic = explain(model, found, address, index)
            assert close(arithmetic.evaluate(), arithmetic.value), (address, index)


@pytest.mark.parametrize(
    ("address", "index"), [("hidden", (0, 0)), ("layers/0/hidden", (0,)), ("logits", (99, 0))]
)
def test_what_is_not_there_cannot_be_explained(a, text, address, index):
    model = a("lstm")
    with pytest.raises(LmvizError):
        explain(model, trace(model, text), address, index)


def test_an_operand_that_was_not_recorded_is_said(a, text):
    model = a("lstm")
    with pytest.raises(LmvizError, match="embedding"):
        explain(model, trace(model, text, taps=["layers/0/forget"]), "layers/0/forget", (0, 0))


def test_another_family_is_refused(a, text):
    with pytest.raises(LmvizError, match="model that made it"):
        explain(a("window"), trace(a("lstm"), text), "logits", (0, 0))


def test_an_answer_comes_within_a_frame(model, text):
    found = trace(model, text)
    seconds = []
    for address, traced in found.arrays.items():
        cell = cells(traced.array.shape, 1)[0]

        def answer(address=address, cell=cell):
            arithmetic = explain(model, found, address, cell)
            numbers(arithmetic), one_line(arithmetic)

        seconds.append(quickest(answer, 0.005))
    assert np.median(seconds) < 0.005
