import pytest
from family_cases import IDS, every_case, traced, trained, untrained

from lmviz.inspection.names import coordinate, number_of, stop_name, title_of, told_apart
from lmviz.inspection.operand_names import operand_name
from lmviz.inspection.stream import stream_places
from lmviz.inspection.tracing import trace


@pytest.mark.parametrize(
    ("address", "title"),
    [
        ("layers/0/attention/weights", "layer 1, attention weights"),
        ("layers/11/feedforward/hidden", "layer 12, feed-forward hidden"),
        ("layers/*/attention/bias", "every layer, attention bias"),
        ("orders/3/counts", "order 3, counts"),
        ("embedding/sum", "embedding sum"),
        ("layers/1/residual2", "layer 2, residual 2"),
        ("layers/0/attention/query_rotated", "layer 1, attention query rotated"),
        ("logits", "logits"),
        ("decoder/layers/0/cross/weights", "decoder layer 1, cross weights"),
        ("encoder/embedding", "encoder embedding"),
    ],
)
def test_addresses_in_words(address, title):
    assert title_of(address) == title


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("layers/0/residual1", "1 attention"),
        ("layers/1/residual2", "2 feed-forward"),
        ("layers/0/stream1", "1 attention"),
        ("layers/1/norm1", "2 attention"),
        ("layers/0/hidden", "layer 1"),
        ("orders/3/probabilities", "order 3"),
        ("embedding/sum", "embedding"),
    ],
)
def test_stops_along_the_stream_are_named_by_what_was_added(address, name):
    assert stop_name(address) == name


def test_whatever_a_reader_counts_is_numbered_from_one():
    assert coordinate("head", 2) == "head 3"
    assert coordinate("unit", 17) == "unit 18"
    assert coordinate("channel", 0) == "channel 1"
    assert coordinate("position", 1, "bat") == "position 2 “bat”"
    assert coordinate("position", -1) == "position -1"
    assert coordinate("head", 0, "the") == "head 1"


def test_operands_are_named_briefly(a, text):
    found = trace(a("transformer-learned-pre"), text)
    assert operand_name(found, "layers/0/norm1", (2, 5)) == "norm 1 “cows” · 6"
    assert operand_name(found, "layers/0/attention/weights", (1, 3, 2)) == "weights head 2 · “eat” · “cows”"
    assert operand_name(found, "norm.weight", (3,)) == "norm.weight (4)"
    token = a("ngram").tokenizer.token
    ids = [a("ngram").tokenizer.id_of(word) for word in ("cows", "eat")]
    assert operand_name(found, "counts.3", (-1, *ids), token) == "count of “cows eat”"
    first = token(0)
    assert operand_name(found, "counts.2", (0, ids[0]), token) == f"count of “{first} cows”"
    assert operand_name(found, "discounts.2", (1,)) == "discount D1 of order 2"


def test_a_pixel_is_named_by_its_row_and_column():
    assert coordinate("pixel", 9, "#") == "row 2, column 3"
    assert coordinate("pixel", 48) == "row 7, column 7"
    assert coordinate("source", 0, "cat") == "source 1 “cat”"


@every_case
def test_no_stop_names_a_part_that_the_model_does_not_have(family, options):
    addresses = traced(trained(family, tuple(options.items())), IDS).arrays
    places = stream_places(addresses, untrained(family, options).stages())
    for name in map(stop_name, places):
        assert "feed-forward" not in name or any("/feedforward/" in address for address in addresses), name
        assert "attention" not in name or any("attention/" in address for address in addresses), name


@every_case
def test_every_axis_is_counted_from_one_unless_its_places_have_names(family, options):
    found = traced(trained(family, tuple(options.items())), IDS)
    axes = {axis for address in found.arrays for axis in found[address].axes} - {
        "token",
        "label",
        "pixel",
        "order",
    }
    assert {axis: number_of(axis, 4) for axis in axes} == dict.fromkeys(axes, 5)


def test_words_that_occur_twice_carry_their_position():
    words = ["Mary", "and", "John", "went", "to", "the", "store", "and", "John", "gave", "a", "drink", "to"]
    said = told_apart(words)
    assert (said[2], said[8]) == ("John³", "John⁹")
    assert (said[4], said[12]) == ("to⁵", "to¹³")
    assert said[0] == "Mary"
    assert len(set(said)) == 13
