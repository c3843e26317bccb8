"""Pickles of plain values, read without running anything that they name."""

import collections
import os
import pickle
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.interchange.plain_pickle import NotPlain, read_plain_pickle

SINGLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
PLAIN = st.recursive(
    SINGLE,
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.tuples(inner, inner)
        | st.tuples(inner, inner, inner, inner)
        | st.frozensets(st.integers())
        | st.sets(st.text())
    ),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("pickles") / "meta.pkl"


@given(value=PLAIN, protocol=st.integers(2, pickle.HIGHEST_PROTOCOL))
@example(value=["a"] * 3, protocol=2)
def test_plain_values_come_back(path, value, protocol):
    if protocol < 4 and any(kind in repr(value) for kind in ("b'", 'b"', "{", "set(")):
        protocol = 4  # older ones call functions to make bytes and sets
    path.write_bytes(pickle.dumps(value, protocol))
    assert read_plain_pickle(path) == value


def test_a_dictionary_of_the_oldest_protocols(path):
    value = {"stoi": {"a": 0, "ä": 1}, "vocab_size": 2, "share": 0.5, "list": [1, [2]], "pair": ("x", True)}
    for protocol in (0, 1):
        path.write_bytes(pickle.dumps(value, protocol))
        assert read_plain_pickle(path) == value


class Harmful:
    def __reduce__(self):
        return os.mkdir, ("made",)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Harmful(), r"posix\.mkdir|nt\.mkdir"),
        (collections.OrderedDict(a=1), r"collections\.OrderedDict"),
        ({"counts": collections.Counter("ab")}, r"collections\.Counter"),
        (1j, "complex"),
        (len, "len"),
    ],
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_what_is_no_plain_value_is_named(path, value, named, protocol):
    path.write_bytes(pickle.dumps(value, protocol))
    with pytest.raises(NotPlain, match=named) as caught:
        read_plain_pickle(path)
    assert "would run code" in str(caught.value)
    assert not os.path.exists("made")


@given(st.binary(max_size=200))
@example(b"(" * 50 + b".")
@example(b"}" + b"q\x00h\x00h\x00s" * 3 + b".")
@example(b"\x80\x04\x8e" + b"\xff" * 8 + b".")
def test_any_bytes_are_a_value_or_a_sentence(path, content):
    path.write_bytes(content)
    before = set(sys.modules)
    try:
        read_plain_pickle(path)
    except LmvizError as sentence:
        assert "\n" not in str(sentence)  # noqa: PT017 - both ways are allowed
    assert set(sys.modules) == before


DOUBLED = b")" + b"2\x86" * 60
"""A tuple of a tuple twice over, again and again: to hash it, all 2^60 of them are gone through."""


@pytest.mark.parametrize(
    "content",
    [
        b"}" + DOUBLED + b"Ns.",
        b"(" + DOUBLED + b"Nd.",
        b"(" + DOUBLED + b"\x91.",
        b"\x8f(" + DOUBLED + b"\x90.",
    ],
)
def test_a_key_that_would_never_be_hashed_is_refused(path, content):
    path.write_bytes(b"\x80\x04" + content)
    with pytest.raises(LmvizError, match="damaged"):
        read_plain_pickle(path)


@given(st.data())
def test_any_damage_to_a_pickle_is_a_value_or_a_sentence(path, data):
    content = bytearray(pickle.dumps({"stoi": {"a": 0, "b": 1}, "itos": ["a", "b"], "vocab_size": 2}))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    try:
        read_plain_pickle(path)
    except LmvizError as sentence:
        assert str(path) in str(sentence)  # noqa: PT017 - both ways are allowed
