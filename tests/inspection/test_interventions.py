import dataclasses
import json
import pickle

import numpy as np
import pytest
import torch

from lmviz.errors import LmvizError
from lmviz.inspection.explain import explain
from lmviz.inspection.intervention import Intervention
from lmviz.inspection.interventions import (
    add,
    paint_attention,
    remove_positions,
    replace,
    scale,
    scale_head,
    swap_tokens,
    zero,
)
from lmviz.inspection.trace import Trace
from lmviz.inspection.tracing import trace
from lmviz.models.prefix import read_prefix

ATTENTION = "layers/0/attention/weights"


def forward_by_hand(model, ids, position, unit, value):
    """An Elman network of one layer, step by step, with one cell of its hidden state set on the way."""
    parameters = dict(model.named_parameters())
    weights = [
        parameters[f"recurrence.{name}_l0"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    hidden = torch.zeros(model.configuration.width)
    states = []
    for at, id in enumerate(ids):
        inputs = model.embedding.weight[id]
        hidden = torch.tanh(weights[0] @ inputs + weights[2] + weights[1] @ hidden + weights[3])
        if at == position:
            hidden = hidden.clone()
            hidden[unit] = value
        states.append(hidden)
    return torch.stack(states).detach().numpy()


def test_a_state_changed_in_the_middle_changes_what_comes_after_and_nothing_before(a, text):
    model = a("rnn")
    ids = read_prefix(model, text).ids
    found = trace(model, text, interventions=[replace("layers/0/hidden", 0.9, position=2, unit=3)])
    expected = forward_by_hand(model, ids, 2, 3, 0.9)
    assert found["layers/0/hidden"].array == pytest.approx(expected, abs=1e-6)
    plain = trace(model, text)
    for address in ("layers/0/hidden", "layers/1/hidden", "logits"):
        assert np.array_equal(found[address].array[:2], plain[address].array[:2])
        assert not np.allclose(found[address].array[3:], plain[address].array[3:])


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_everything_downstream_of_a_gate_follows(a, text, kind):
    model = a(kind)
    address = {"lstm": "layers/0/forget", "gru": "layers/0/update", "rnn": "layers/0/preactivation"}[kind]
    plain, found = trace(model, text), trace(model, text, interventions=[zero(address, position=3)])
    assert (found[address].array[3] == 0).all()
    assert np.array_equal(found[address].array[:3], plain[address].array[:3])
    assert not np.allclose(found[address].array[4], plain[address].array[4])
    assert not np.allclose(found["probabilities"].array[3], plain["probabilities"].array[3])


def test_an_lstm_that_only_remembers_keeps_its_empty_cell(a, text):
    changes = [replace("layers/0/forget", 1.0), replace("layers/0/input", 0.0)]
    found = trace(a("lstm"), text, interventions=changes)
    assert (found["layers/0/cell"].array == 0).all()


@pytest.mark.parametrize("kind", ["replace", "scale", "add"])
def test_every_kind_changes_exactly_the_cells_that_are_meant(model, text, kind):
    plain = trace(model, text)
    for tap in model.taps():
        if tap.scale == "token":
            continue
        array = plain[tap.address].array
        where = {axis: (0, size - 1) for axis, size in zip(tap.axes, array.shape, strict=True) if size > 1}
        change = Intervention(tap.address, kind, 0.5, where)
        found = trace(model, text, interventions=[change])[tap.address].array
        grid = np.ix_(*[[0, size - 1] if size > 1 else [0] for size in array.shape])
        old = array[grid]
        expected = {"replace": np.full_like(old, 0.5), "scale": old * 0.5, "add": old + 0.5}[kind]
        if not tap.scan:
            assert found[grid] == pytest.approx(expected, abs=1e-6)
        else:
            assert found[grid][0] == pytest.approx(expected[0], abs=1e-6)
        untouched = np.ones(array.shape, dtype=bool)
        untouched[grid] = False
        untouched &= np.isfinite(array)
        if not tap.scan:
            assert np.array_equal(found[untouched], array[untouched])


def test_nothing_above_a_tap_is_changed_by_it(model, text):
    plain = trace(model, text)
    taps = [tap for tap in model.taps() if not tap.scan and tap.scale != "token"]
    middle = taps[len(taps) // 2]
    found = trace(model, text, interventions=[add(middle.address, 0.5)])
    for tap in model.taps():
        if tap.address == middle.address:
            break
        assert np.array_equal(found[tap.address].array, plain[tap.address].array)


def test_a_removed_head_contributes_nothing(a, text):
    model = a("transformer-learned-pre")
    plain, found = trace(model, text), trace(model, text, interventions=[scale_head(1, 0)])
    weights = model.layers[1].attention.output
    others = plain["layers/1/attention/mixed"].array[1]
    expected = others @ weights.weight.detach().numpy()[:, 4:].T + weights.bias.detach().numpy()
    assert found["layers/1/attention/output"].array == pytest.approx(expected, abs=1e-5)


def test_values_for_many_cells_are_arrays(a, text):
    values = np.arange(6).reshape(3, 2)
    change = replace("layers/0/hidden", values, position=(1, 3, 5), unit=slice(2, 4))
    found = trace(a("rnn"), text, interventions=[change])["layers/0/hidden"].array
    assert np.array_equal(found[np.ix_([1, 3, 5], [2, 3])], values)
    by_unit = trace(a("rnn"), text, interventions=[replace("layers/0/hidden", range(6), position=-1)])
    assert by_unit["layers/0/hidden"].array[-1].tolist() == [0, 1, 2, 3, 4, 5]


def passing_over(change):
    """The same, for texts that may lack its positions."""
    return dataclasses.replace(change, required=False)


def test_positions_that_are_not_required_are_passed_over(a, text):
    change = replace("layers/0/hidden", [[1.0], [2.0]], position=(2, 50), unit=(1,))
    found = trace(a("rnn"), text, interventions=[passing_over(change)])["layers/0/hidden"].array
    assert found[2, 1] == 1.0
    beyond = passing_over(replace("layers/0/hidden", 1.0, position=50))
    untouched = trace(a("rnn"), text, interventions=[beyond])
    assert np.array_equal(untouched["logits"].array, trace(a("rnn"), text)["logits"].array)


@pytest.mark.parametrize(
    "where",
    [
        {"position": 6},
        {"position": -7},
        {"position": (0, 6)},
        {"position": slice(6, 9)},
        {"unit": 6},
        {"unit": -7},
        {"unit": slice(6, 9)},
        {"position": 0, "unit": (0, 6)},
    ],
)
@pytest.mark.parametrize("address", ["layers/0/hidden", "logits"])
def test_cells_that_are_not_there_are_said(a, text, address, where):
    if address == "logits":
        where = {"token" if axis == "unit" else axis: place for axis, place in where.items()}
        where = {axis: _shifted(place, 600) if axis == "token" else place for axis, place in where.items()}
    with pytest.raises(LmvizError, match=r"There is no (position|unit|token)"):
        trace(a("rnn"), text, interventions=[replace(address, 0.5, **where)])


def _shifted(place, by):
    """A place farther from the middle."""
    if isinstance(place, slice):
        return slice(place.start + by, place.stop + by)
    if isinstance(place, tuple):
        return tuple(_shifted(at, by) for at in place)
    return place + by if place > 0 else place - by


@pytest.mark.parametrize("address", ["layers/0/hidden", "logits"])
def test_negative_indices_count_from_the_end(a, text, address):
    model = a("rnn")
    last = "unit" if address == "layers/0/hidden" else "token"
    size = trace(model, text)[address].array.shape[-1]
    negative = trace(model, text, interventions=[replace(address, 0.5, **{"position": -2, last: -1})])
    positive = trace(model, text, interventions=[replace(address, 0.5, **{"position": 4, last: size - 1})])
    assert np.array_equal(negative[address].array, positive[address].array)
    assert negative[address].array[-2, -1] == 0.5


def test_a_painted_row_may_be_counted_from_the_end(a, text):
    plain = trace(a("transformer-learned-pre"), text)
    assert paint_attention(plain, 0, -1, -2, -3, 0.5) == paint_attention(plain, 0, 1, 4, 3, 0.5)


def test_a_painted_row_is_labelled_by_its_head_and_word(a, text):
    plain = trace(a("transformer-learned-pre"), text)
    painted = paint_attention(plain, 1, 0, query=2, key=1, weight=0.5)
    assert painted.label == f"head 2·1 set at 3 “{plain.tokens[2]}”"


def test_layers_are_never_negative():
    with pytest.raises(LmvizError, match="Layers are counted from 0"):
        scale_head(-1, 0)


@pytest.mark.parametrize("value", [float("nan"), [0.0, float("nan")], lambda cells: cells * float("nan")])
def test_what_is_no_number_is_said(a, text, value):
    with pytest.raises(LmvizError, match="NaN"):
        trace(a("rnn"), text, interventions=[replace("layers/0/hidden", value, unit=(1, 2))])


def test_numbers_that_turn_into_none_are_said(a, text):
    with pytest.raises(LmvizError, match="NaN"):
        trace(a("transformer-learned-pre"), text, interventions=[scale("layers/0/attention/scores", 0.0)])


def test_a_pattern_means_parts_of_addresses(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text, taps=["layers/*/feedforward/hidden"])
    assert len(found.arrays) == 2
    with pytest.raises(LmvizError, match="No tap matches"):
        trace(model, text, taps=["layers/*/hidden"])
    with pytest.raises(LmvizError, match="No tap is called"):
        trace(model, text, interventions=[zero("layers/*/hidden")])
    for pattern in ("**/hidden", "*/hidden", "layers/**/hidden"):
        assert trace(model, text, taps=[pattern]).arrays.keys() == found.arrays.keys()
    for pattern in ("**", "*"):
        assert len(trace(model, text, taps=[pattern]).arrays) == len(model.taps())
    assert set(trace(model, text, taps=["lo*"]).arrays) == {"logits"}


def test_switched_off_it_has_no_effect(a, text):
    change = Intervention("layers/0/hidden", "replace", where={"unit": 1}, enabled=False)
    found = trace(a("rnn"), text, interventions=[change])
    assert np.array_equal(found["logits"].array, trace(a("rnn"), text)["logits"].array)
    assert found.interventions == ()


@pytest.mark.parametrize(
    "change",
    [
        replace("layers/9/hidden", 0.0),
        replace("layers/0/hidden", 0.0, unit=99),
        replace("layers/0/hidden", 0.0, head=0),
        replace("layers/0/hidden", [1.0, 2.0, 3.0], unit=(0, 1)),
        replace("layers/0/hidden", [1.0, 2.0], position=0, unit=0),
        Intervention("logits", "bypass"),
        replace("tokens", 999, position=0),
    ],
)
def test_what_does_not_fit_is_said(a, text, change):
    with pytest.raises(LmvizError):
        trace(a("rnn"), text, interventions=[change])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (replace("layers/0/hidden", [1.0, 2.0, 3.0], unit=(0, 1)), r"takes 6 × 2, but .* shape \(3,\)"),
        (replace("layers/0/hidden", [1.0, 2.0], position=0, unit=0), r"takes a single number, but .*\(2,\)"),
        (replace("layers/0/hidden", 0.0, head=0), "no axis 'head': its axes are position, unit"),
    ],
)
def test_what_does_not_fit_is_said_with_what_would(a, text, change, sentence):
    with pytest.raises(LmvizError, match=sentence):
        trace(a("rnn"), text, interventions=[change])


@pytest.mark.parametrize(
    "made",
    [
        lambda: Intervention("a", "explode"),
        lambda: Intervention("a", "swap", where={"position": (1, 2)}),
        lambda: Intervention("tokens", "scale", 2.0),
        lambda: Intervention("tokens", "swap", where={"position": 1}),
        lambda: replace("a", "much"),
        lambda: replace("a", [[1.0], [2.0, 3.0]]),
        lambda: replace("a", 1.0, unit="first"),
        lambda: replace("a", 1.0, unit="12"),
        lambda: replace("a", 1.0, unit=()),
        lambda: replace("a", 1.0, unit=[0.5]),
        lambda: replace("a", float("nan")),
    ],
)
def test_what_is_no_intervention_cannot_be_made(made):
    with pytest.raises(LmvizError):
        made()


def test_a_painted_row_still_sums_to_one_and_looks_at_nothing_later(a, text):
    model = a("transformer-learned-pre")
    plain = trace(model, text)
    painted = trace(model, text, interventions=[paint_attention(plain, 0, 1, query=4, key=2, weight=0.75)])
    row, before = painted[ATTENTION].array[1, 4], plain[ATTENTION].array[1, 4]
    assert row[2] == pytest.approx(0.75)
    assert row.sum() == pytest.approx(1.0)
    assert (row[5:] == 0).all()
    others = [0, 1, 3, 4]
    assert row[others] / row[others].sum() == pytest.approx(before[others] / before[others].sum(), rel=1e-5)
    untouched = np.ones(painted[ATTENTION].array.shape, dtype=bool)
    untouched[1, 4] = False
    assert np.array_equal(painted[ATTENTION].array[untouched], plain[ATTENTION].array[untouched])
    assert not np.allclose(painted["logits"].array[4], plain["logits"].array[4])
    assert np.array_equal(painted["logits"].array[:4], plain["logits"].array[:4])


def test_painting_goes_on_from_what_was_painted_before(a, text):
    model = a("transformer-learned-pre")
    first = paint_attention(trace(model, text), 0, 1, query=2, key=0, weight=1.0)
    once = trace(model, text, interventions=[first])
    second = paint_attention(once, 0, 1, query=2, key=0, weight=0.4)
    row = trace(model, text, interventions=[second])[ATTENTION].array[1, 2]
    assert row[:3] == pytest.approx([0.4, 0.3, 0.3])


def test_a_painted_row_outlives_more_typing(a, text):
    model = a("transformer-learned-pre")
    painted = paint_attention(trace(model, text), 0, 1, query=2, key=1, weight=0.75)
    longer = trace(model, text + " sleep at night", interventions=[painted])
    assert longer[ATTENTION].array[1, 2].sum() == pytest.approx(1.0)
    shorter = trace(model, "the", interventions=[passing_over(painted)])
    assert np.array_equal(shorter["logits"].array, trace(model, "the")["logits"].array)


@pytest.mark.parametrize(("query", "key"), [(2, 3), (0, 0), (99, 0), (2, -1)])
def test_attention_cannot_look_ahead(a, text, query, key):
    with pytest.raises(LmvizError):
        paint_attention(trace(a("transformer-learned-pre"), text), 0, 0, query, key, 0.5)


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "rotary", "alibi", "relative"])
def test_without_positions_the_order_of_earlier_words_does_not_matter(a, text, kind):
    model = a(f"transformer-{kind}-pre")
    blind = remove_positions(model)
    swapped = [*blind, swap_tokens(2, 3)]
    address = "layers/0/attention/output"
    seeing = [trace(model, text, interventions=each)[address].array[-1] for each in ((), swapped[-1:])]
    unseeing = [trace(model, text, interventions=each)[address].array[-1] for each in (blind, swapped)]
    assert not np.allclose(seeing[0], seeing[1], atol=1e-4)
    assert unseeing[0] == pytest.approx(unseeing[1], abs=1e-5)
    assert not np.allclose(seeing[0], unseeing[0], atol=1e-4)


@pytest.mark.parametrize("kind", ["transformer-none-pre", "lstm", "ngram", "window"])
def test_there_may_be_no_positions_to_remove(a, kind):
    with pytest.raises(LmvizError, match="no position"):
        remove_positions(a(kind))


def test_swapped_tokens_are_read_in_their_new_order(model):
    found = trace(model, "the cows eat corn", interventions=[swap_tokens(2, 4)])
    assert found.tokens[1:] == ("the", "corn", "eat", "cows")
    expected = trace(model, "the corn eat cows")
    assert found.ids.tolist() == expected.ids.tolist()
    assert np.array_equal(found["logits"].array, expected["logits"].array)
    assert found.text == "the cows eat corn"


def test_a_token_is_replaced_by_its_id(model):
    corn = model.tokenizer.id_of("corn")
    found = trace(model, "the cows eat grass", interventions=[replace("tokens", corn, position=4)])
    assert np.array_equal(found["logits"].array, trace(model, "the cows eat corn")["logits"].array)


def test_a_sublayer_can_be_passed_by(a, text):
    model = a("transformer-learned-pre")
    found = trace(model, text, interventions=[Intervention("layers/0/residual1", "bypass")])
    assert np.array_equal(found["layers/0/residual1"].array, found["embedding/sum"].array)


def test_inside_a_recurrence_the_operand_of_the_same_step_passes_through(a, text):
    change = Intervention("layers/1/hidden", "bypass", where={"unit": 2})
    found = trace(a("rnn"), text, interventions=[change])
    hidden, before = found["layers/1/hidden"].array, found["layers/1/preactivation"].array
    assert np.array_equal(hidden[:, 2], before[:, 2])
    assert hidden[:, 3] == pytest.approx(np.tanh(before[:, 3]))


PARTS = [
    ({}, (6, 6)),
    ({"position": 2}, (6,)),
    ({"unit": (1, 2)}, (6, 2)),
    ({"position": slice(1, 3), "unit": -1}, (2,)),
    ({"position": 0, "unit": 0}, ()),
]


@pytest.mark.parametrize("kind", ["replace", "scale", "add"])
@pytest.mark.parametrize(("where", "shape"), PARTS)
def test_a_function_is_given_the_cells_that_are_meant(a, text, kind, where, shape):
    """The embeddings of all positions are computed at once; there are five channels to six."""
    seen = []

    def twice(cells):
        seen.append(cells.copy())
        cells *= 2  # its own copy
        return cells

    model = a("rnn")
    where = {"channel" if axis == "unit" else axis: place for axis, place in where.items()}
    plain = trace(model, text)["embedding"].array
    found = trace(model, text, interventions=[Intervention("embedding", kind, twice, where)])
    [cells] = seen
    assert cells.shape == shape
    places = tuple(where.get(axis, slice(None)) for axis in ("position", "channel"))
    assert np.array_equal(cells, plain[places])
    expected = plain.copy()
    expected[places] = {"replace": cells * 2, "scale": cells * cells * 2, "add": cells * 3}[kind]
    assert found["embedding"].array == pytest.approx(expected)


def test_in_a_recurrence_a_function_is_called_once_a_position(a, text):
    model = a("rnn")
    seen = []

    def lowest(cells):
        seen.append(cells)
        return cells.min()

    found = trace(model, text, interventions=[replace("layers/0/hidden", lowest, unit=(1, 2, 3))])
    assert [cells.shape for cells in seen] == [(1, 3)] * 6
    hidden = found["layers/0/hidden"].array
    assert (hidden[:, 1] == hidden[:, 2]).all()
    [stated] = found.interventions
    again = trace(model, text, interventions=[stated])
    assert np.array_equal(again["logits"].array, found["logits"].array)
    assert stated.where["unit"] == (1, 2, 3)
    assert "position" not in stated.where


def test_a_trace_states_the_numbers_that_a_function_gave(a, text, tmp_path):
    """So that it can be explained, saved and done again."""
    model = a("transformer-learned-pre")
    changes = [
        scale_head(0, 1, lambda cells: cells.mean()),
        replace("layers/*/residual1", lambda cells: cells[::-1], position=(1, 3)),
        add("layers/1/norm2", 0.5),
    ]
    found = trace(model, text, interventions=changes)
    assert [item.address for item in found.interventions] == [
        "layers/0/attention/mixed",
        "layers/0/residual1",
        "layers/1/residual1",
        "layers/1/norm2",
    ]
    again = trace(model, text, interventions=found.interventions)
    assert again["logits"].array == pytest.approx(found["logits"].array, abs=1e-6)
    for address, index in (("layers/0/attention/mixed", (1, 2, 3)), ("layers/1/residual1", (3, 5))):
        arithmetic = explain(model, found, address, index)
        assert arithmetic.evaluate() == pytest.approx(found[address].array[index], abs=1e-5)
    found.save(tmp_path / "trace.npz")
    assert Trace.load(tmp_path / "trace.npz").interventions == found.interventions


def test_a_function_must_give_what_fits(a, text):
    with pytest.raises(LmvizError, match=r"shape \(3,\).*shape \(1, 6\)"):
        trace(a("rnn"), text, interventions=[replace("layers/0/preactivation", lambda cells: [1, 2, 3])])
    with pytest.raises(LmvizError, match="str"):
        trace(a("rnn"), text, interventions=[replace("logits", lambda cells: "much")])
    with pytest.raises(LmvizError, match="No file can hold a function"):
        replace("logits", lambda cells: cells).to_values()


EXAMPLES = [
    (zero("layers/0/hidden", unit=17), "layer 1, hidden, unit 18 = 0"),
    (scale("layers/1/hidden", 0.5, position=3, unit=(1, 2)), "layer 2, hidden, position 4, units 2, 3 × 0.5"),
    (replace("logits", [1, 2, 3, 4, 5], token=slice(0, 5), position=0), "(1, 2, 3, 4, …)"),
    (add("embedding/sum", 1.0, position=slice(2, None)), "embedding sum, position 3 onward + 1"),
    (Intervention("layers/*/attention/*_rotated", "bypass"), "switched off"),
    (scale_head(1, 2), "head 2·3 off"),
    (swap_tokens(1, 2, ("the", "bat", "made")), "swap “bat”, “made”"),
    (swap_tokens(1, 2), "swap positions 2 and 3"),
    (swap_tokens(1, -1), "swap positions 2 and -1"),
    (scale_head(1, -1, [0.5]), "head 2·-1 × (0.5)"),
]


@pytest.mark.parametrize(("change", "said"), EXAMPLES)
def test_each_says_what_it_does(change, said):
    assert said in change.describe()


def test_a_function_is_named_as_one():
    change = replace("layers/0/hidden", lambda cells: cells, unit=3)
    assert change.describe() == "layer 1, hidden, unit 4 = a function"


@pytest.mark.parametrize("change", [change for change, _ in EXAMPLES])
def test_they_survive_a_round_trip_through_json(change):
    assert Intervention.from_values(json.loads(json.dumps(change.to_values()))) == change


@pytest.mark.parametrize("change", [change for change, _ in EXAMPLES])
def test_they_are_values(change):
    again = pickle.loads(pickle.dumps(change))
    assert again == change
    assert hash(again) == hash(change)
    assert again.required == change.required
    assert again in {change}
    assert len({item for item, _ in EXAMPLES}) == len(EXAMPLES)


@pytest.mark.parametrize(
    "values", [{}, {"address": "a", "kind": "scale", "where": 3}, {"address": 1, "where": {}}]
)
def test_what_is_no_intervention_in_a_file_is_said(values):
    with pytest.raises(LmvizError):
        Intervention.from_values(values)
