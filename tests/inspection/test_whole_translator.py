"""What a picture of a model that translates draws: the encoder, then the decoder on its stream."""

from functools import cache

import numpy as np
import pytest

from lmviz.families import FAMILIES, build_model
from lmviz.inspection import whole_model as module
from lmviz.inspection.at_position import looked_at_most, place_along, source_place
from lmviz.inspection.backpropagation import gradient
from lmviz.inspection.logit_lens import logit_lens
from lmviz.inspection.names import stop_name
from lmviz.inspection.outline import OutlineBlock, OutlineLine, StreamPlace, lines_of, outline
from lmviz.inspection.tracing import trace
from lmviz.inspection.views import strip
from lmviz.inspection.whole_model import squares_of, squares_of_gradient, whole_model
from lmviz.models.prediction import NEXT_TOKEN
from tests.translators import SOURCE, SOURCE_WORDS, TEXT, WORDS, shake

KINDS = {
    "dot": ("gru", {"width": 4, "layers": 1, "attention": "dot"}),
    "both": ("lstm", {"width": 4, "layers": 2, "attention": "bilinear", "direction": "both"}),
    "none": ("rnn", {"width": 4, "layers": 2, "attention": "none"}),
    "pre": ("transformer", {"width": 4, "heads": 2, "layers": 2, "context": 8}),
    "post": ("transformer", {"width": 4, "heads": 2, "layers": 1, "context": 8, "norm": "post"}),
}
every_kind = pytest.mark.parametrize("kind", KINDS)


@cache
def translator(kind):
    family, settings = KINDS[kind]
    configuration = FAMILIES[family].configuration(**settings)
    return shake(build_model(family, configuration, WORDS, 0, NEXT_TOKEN, SOURCE_WORDS))


@cache
def traced(kind):
    return trace(translator(kind), TEXT, source=SOURCE)


def addresses(part):
    pieces = part.parts if isinstance(part, OutlineBlock) else (part,)
    own = [(piece.address,) if isinstance(piece, StreamPlace) else piece.addresses for piece in pieces]
    return [address for each in own for address in each]


@every_kind
def test_each_layer_is_a_block_of_its_own_taps_and_the_encoder_comes_first(kind):
    parts, layers = outline(traced(kind)), KINDS[kind][1]["layers"]
    blocks = [part for part in parts if isinstance(part, OutlineBlock)]
    wanted = [f"{side} layer {number + 1}" for side in ("encoder", "decoder") for number in range(layers)]
    assert [block.title for block in blocks] == wanted
    for block in blocks:
        assert all(address.startswith(f"{block.place}/") for address in addresses(block))


@every_kind
def test_no_row_joins_what_is_computed_in_different_places(kind):
    for part in outline(traced(kind)):
        if isinstance(part, OutlineLine):
            assert len({address.rpartition("/")[0] for address in part.addresses}) == 1
            assert len(part.name) < 20
    names = [part.name for part in outline(traced(kind)) if isinstance(part, OutlineLine)]
    assert len(set(names) - {"token + position"}) == len(
        [name for name in names if name != "token + position"]
    )


@every_kind
def test_the_lens_reads_every_place_of_the_decoders_stream(kind):
    places = [piece for part in outline(traced(kind)) for piece in _places(part)]
    lens = logit_lens(translator(kind), traced(kind))
    assert tuple(places) == lens.places
    assert all(place.startswith("decoder/") for place in places)
    np.testing.assert_array_equal(
        lens.ids[-1, :, 0], traced(kind)["probabilities"].array.argmax(axis=-1)
    )  # the last place is the model's own answer
    assert lens.of_final[-1] == pytest.approx(traced(kind)["probabilities"].array.max(axis=-1), rel=1e-5)


def _places(part):
    pieces = part.parts if isinstance(part, OutlineBlock) else (part,)
    return [piece.address for piece in pieces if isinstance(piece, StreamPlace)]


def test_a_place_of_the_stream_is_called_after_what_was_added_there():
    assert [stop_name(place) for place in logit_lens(translator("pre"), traced("pre")).places[:4]] == [
        "embedding",
        "1 attention",
        "1 attention to the source",
        "1 feed-forward",
    ]
    assert stop_name("decoder/layers/1/hidden") == "layer 2"


@every_kind
def test_the_encoder_is_drawn_at_the_place_of_the_same_number_as_in_every_view(kind):
    assert len(TEXT) > len(SOURCE)
    for position in range(len(TEXT)):
        found = whole_model(translator(kind), traced(kind), position)
        assert found.source_position == source_place(traced(kind), position)
        for address in (each for part in found.parts for each in addresses(part)):
            if traced(kind)[address].axes == ("source", "unit"):
                assert strip(traced(kind), address, position, 0, ()).fixed == {
                    "source": found.source_position
                }


def test_a_model_without_a_source_has_no_place_in_it():
    model = build_model("gru", FAMILIES["gru"].configuration(width=4), WORDS, 0, NEXT_TOKEN).eval()
    assert source_place(trace(model, TEXT), 1) == -1


def test_only_what_runs_along_the_source_alone_is_read_there():
    found = traced("pre")
    assert place_along(found, "encoder/layers/0/residual1", 4, 2) == 2
    assert place_along(found, "encoder/layers/0/attention/weights", 4, 2) == 2
    assert place_along(found, "decoder/layers/0/cross/key", 4, 2) == 2
    assert place_along(found, "decoder/layers/0/cross/weights", 4, 2) == 4
    assert place_along(found, "decoder/layers/0/residual1", 4, 2) == 4


@pytest.mark.parametrize("side", [2, 3, 64])
def test_a_cell_of_an_oblong_square_is_a_weight_of_the_trace(monkeypatch, side):
    monkeypatch.setattr(module, "SIDE", side)
    found = squares_of(traced("pre"))
    kinds = {address.split("/", 3)[0] + "/" + address.split("/")[3] for address in found}
    assert kinds == {"encoder/attention", "decoder/attention", "decoder/cross"}
    for address, square in found.items():
        array = traced("pre")[address].array
        for head, row, column in np.ndindex(*square.values.shape):
            assert array[square.source(array, head, row, column)] == square.values[head, row, column]


def test_the_gradient_of_every_head_is_drawn_too():
    found = gradient(translator("pre"), TEXT, source=SOURCE)
    assert squares_of_gradient(found).keys() == squares_of(found.trace).keys()


def test_a_head_looks_at_words_of_the_source():
    address = "decoder/layers/1/cross/weights"
    for head, (key, share) in enumerate(looked_at_most(traced("pre"), address, 3)):
        assert share == traced("pre")[address].array[head, 3].max()
        assert traced("pre")[address].array[head, 3, key] == share


@every_kind
def test_a_folded_layer_keeps_the_rows_that_say_most(kind):
    for block in (part for part in outline(traced(kind)) if isinstance(part, OutlineBlock)):
        shown = [line for row in block.summary for line in row]
        assert shown
        assert all(line in lines_of(block) for line in shown)
