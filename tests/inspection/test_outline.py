"""The outline of a model: what a picture of it draws, in the order of computation, and nothing twice."""

import pytest

from lmviz.families import FAMILIES, build_model
from lmviz.inspection.outline import OutlineBlock, OutlineLine, StreamPlace, lines_of, outline
from lmviz.inspection.stream import stream_places
from lmviz.inspection.tracing import trace
from lmviz.tasks import TASKS


def label_model(task, **settings):
    configuration = FAMILIES["lstm"].configuration(width=5, **settings)
    return build_model("lstm", configuration, 7, 0, TASKS[task].predicts(("noun", "verb"))).eval()


def pieces(parts):
    return [piece for part in parts for piece in (part.parts if isinstance(part, OutlineBlock) else (part,))]


def test_a_state_before_that_is_a_tap_has_one_row():
    configuration = FAMILIES["lstm"].configuration(width=5, layers=2)
    model = build_model("lstm", configuration, 7, 0, source_vocabulary=3, task="captioning").eval()
    found = outline(trace(model, [1, 2], source=[0, 1] * 24 + [1]))
    for block in (part for part in found if isinstance(part, OutlineBlock)):
        earlier = [line.addresses for line in lines_of(block) if line.earlier]
        own = [line.addresses for line in lines_of(block) if not line.earlier]
        assert earlier == [(f"{block.place}/cell",)]
        assert (f"{block.place}/previous",) in own


@pytest.fixture
def parts_of(a, text):
    return lambda kind: outline(trace(a(kind), text))


def test_every_line_and_place_is_a_vector_of_the_trace_in_order(model, text):
    traced = trace(model, text)
    order = list(traced.arrays)
    own = [
        address
        for piece in pieces(outline(traced))
        for address in ((piece.address,) if isinstance(piece, StreamPlace) else piece.addresses)
        if isinstance(piece, StreamPlace) or not piece.earlier
    ]
    assert own == sorted(set(own), key=order.index)
    assert all(traced[address].axes[-1] != "token" and traced[address].scale != "token" for address in own)


def test_the_places_are_those_of_the_logit_lens(model, text):
    traced = trace(model, text)
    found = [piece.address for piece in pieces(outline(traced)) if isinstance(piece, StreamPlace)]
    vectors = [
        place for place in stream_places(traced.arrays, traced.stages) if traced[place].axes[-1] != "token"
    ]
    assert found == vectors


def test_what_is_added_is_the_normalised_result_where_there_is_one(parts_of):
    block = next(part for part in parts_of("transformer-as-gemma") if isinstance(part, OutlineBlock))
    names = [line.name for line in lines_of(block)]
    attends = ["queries", "keys", "values", "weights", "sum of v", "gives", "adds"]
    assert names == [*attends, "gate", "feed-forward", "gives", "adds"]
    shown = [[line.name for line in row] for row in block.summary]
    assert shown == [["weights", "adds"], ["feed-forward", "adds"]]


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_layer_of_a_transformer_adds_twice_to_the_stream(parts_of, norm):
    parts = parts_of(f"transformer-learned-{norm}")
    assert [part.title for part in parts if isinstance(part, OutlineBlock)] == ["layer 1", "layer 2"]
    kinds = [type(part) for part in parts]
    assert kinds == [OutlineLine, StreamPlace, OutlineBlock, StreamPlace, OutlineBlock, StreamPlace]
    block = parts[2]
    names = [line.name for line in lines_of(block)]
    assert names == ["queries", "keys", "values", "weights", "sum of v", "adds", "feed-forward", "adds"]
    assert sum(isinstance(part, StreamPlace) for part in block.parts) == 1
    assert [[line.name for line in row] for row in block.summary] == [
        ["weights", "adds"],
        ["feed-forward", "adds"],
    ]


def test_without_residual_connections_nothing_is_added_to_the_stream(parts_of):
    parts = parts_of("transformer-no-residual")
    names = [line.name for line in lines_of(parts[2])]
    assert names == ["queries", "keys", "values", "weights", "sum of v", "gives", "feed-forward", "gives"]


def test_a_word_alone_is_the_stream_and_has_no_line_of_its_own(parts_of):
    assert parts_of("transformer-rotary-pre")[0] == StreamPlace("embedding/sum")
    assert parts_of("transformer-learned-pre")[0].name == "token + position"


def test_a_recurrence_begins_with_what_the_word_before_handed_on(parts_of):
    block = next(part for part in parts_of("lstm") if isinstance(part, OutlineBlock))
    handed_on = {line.addresses[0] for line in lines_of(block) if line.earlier == 1}
    assert handed_on == {"layers/0/cell", "layers/0/hidden"}
    gates = [line.name for line in lines_of(block) if not line.earlier]
    assert gates == ["forget gate", "input gate", "candidate", "output gate", "new cell"]
    assert [line.earlier for row in block.summary for line in row] == [0] * 5


def test_a_layer_in_both_directions_says_which_way_each_line_goes():
    traced = trace(label_model("tagging", direction="both"), [1, 2, 3])
    block = next(part for part in outline(traced) if isinstance(part, OutlineBlock))
    for line in lines_of(block):
        (address,) = line.addresses
        if not line.earlier:
            assert line.name.startswith("→ " if "/forward/" in address else "← ")


@pytest.mark.parametrize("task", ["tagging", "classification"])
def test_labels_are_no_part_of_the_stream(task):
    traced = trace(label_model(task), [1, 2, 3])
    drawn = [piece for piece in pieces(outline(traced)) if isinstance(piece, OutlineLine)]
    assert all(traced[address].axes[-1] != "label" for line in drawn for address in line.addresses)
