"""What torch.save writes is read as torch reads it, and what it never writes does not reach torch."""

import collections
import io
import re
import struct
import zipfile
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as any_of

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.interchange.plain_pickle import read_plain_pickle
from lmviz.interchange.saved_file import load_saved
from lmviz.interchange.stored_tensors import read_saved, stored_at

LMVIZ = Path(lmviz.__file__).parent
KEPT = torch.arange(12.0).view(3, 4)
VALUES = {
    "tensors": {"whole": KEPT, "part": KEPT[1:, ::2], "turned": KEPT.T, "none": torch.zeros(0, 3)},
    "kinds": [torch.ones((), dtype=kind) for kind in (torch.bfloat16, torch.int64, torch.bool, torch.half)],
    "parameter": torch.nn.Parameter(torch.ones(2)),
    "widened": torch.ones(1).expand(5),
    "sparse": torch.eye(3).to_sparse(),
    "size": torch.Size([3, 4]),
    "ordered": collections.OrderedDict([("a", 1), ("b", [2.5, None, True])]),
    "counted": collections.Counter({(1, 2): 3, (2, (3, 4)): 1}),
    "set": {1, 2},
    "complex": 1 + 2j,
    "bytes": bytearray(b"some"),
    "long": {2**62: "identity"},
    "steps": tuple(range(5000)),
    "inside": {"lr": (1e-3, {"betas": (0.9, (0.95,))})},
}


def old_file(values):
    buffer = io.BytesIO()
    torch.save(values, buffer, _use_new_zipfile_serialization=False)
    return buffer.getvalue()


def new_file(values):
    buffer = io.BytesIO()
    torch.save(values, buffer)
    return buffer.getvalue()


def same(one, other):
    if isinstance(one, torch.Tensor):
        alike = type(one) is type(other) and (one.dtype, one.layout) == (other.dtype, other.layout)
        return alike and torch.equal(one.to_dense(), other.to_dense())
    if isinstance(one, dict):
        return [*one] == [*other] and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("write", [new_file, old_file])
def test_it_is_what_torch_reads(write, name, tmp_path):
    content = write({name: VALUES[name]})
    (tmp_path / "model.pt").write_bytes(content)
    expected = torch.load(io.BytesIO(content), weights_only=True)
    assert same(expected, {name: VALUES[name]})
    assert same(load_saved(tmp_path / "model.pt"), expected)
    assert same(load_saved(io.BytesIO(content)), expected)
    assert same(read_saved(tmp_path / "model.pt"), expected)


class Options:
    """Of a training: a class that is not plain."""

    def __init__(self):
        self.rates = {(1, 2): [self]}


def test_objects_of_other_classes_are_left_out():
    found = load_saved(io.BytesIO(new_file({"options": Options(), "weight": KEPT})))
    assert same(found["weight"], KEPT)
    assert not vars(found["options"])


def long(number):
    return b"\x8a\x08" + struct.pack("<q", number)


def held_up(deep, doubled, alike):
    """Values whose hash takes long, wherever one is asked for: as deep, as often doubled, as many alike."""
    deep, doubled = b")" + b"\x85" * deep, b")" + b"q\x00h\x00\x86" * doubled
    numbers = (1 + times * (2**61 - 1) for times in range(1, alike + 1))
    keys = b"".join(b"\x8a\x0b" + number.to_bytes(11, "little") + b"N" for number in numbers)
    return {
        "a deep key": b"}" + deep + b"Ns.",
        "a key of doubled tuples": b"}" + doubled + b"Ns.",
        "several keys": b"}(" + doubled + b"Nu.",
        "in a set": b"cbuiltins\nset\n](" + doubled + b"e\x85R.",
        "counted": b"ccollections\nCounter\n](" + doubled + b"e\x85R.",
        "in order": b"ccollections\nOrderedDict\n]((" + doubled + b"Nte\x85R.",
        "in an ordered one": b"ccollections\nOrderedDict\n)R(" + doubled + b"Nu.",
        "numbers that have one hash": b"}(" + keys + b"u.",
    }


HELD_UP = held_up(deep=300_000, doubled=60, alike=10_001)
SHORTER = held_up(deep=50, doubled=5, alike=100)
VIEW = b"VIEW"
"""Where an old file says more about a storage, which a new one does not."""


def stored(count):
    """The numbers that a file stores under the name "0"."""
    told = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu"
    return told + count + VIEW + b"tQ"


def tensor(count, offset, size, stride):
    given = stored(count) + offset + size + b"\x85" + stride + b"\x85\x89ccollections\nOrderedDict\n)R"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + given + b"tR"


TOO_LARGE = {
    "bytes by their number": b"cbuiltins\nbytearray\n" + long(20_000_000_000) + b"\x85R.",
    "made anew": b"cbuiltins\nbytearray\n" + long(20_000_000_000) + b"\x85\x81.",
    "numbers of a kind": b"ctorch\nFloatStorage\n" + long(5_000_000_000) + b"\x85R.",
    "a tensor of a size": b"ctorch\nFloatTensor\n" + long(5_000_000_000) + b"\x85R.",
    "more than the file": stored(long(5_000_000_000)) + b".",
}
ASKED = HELD_UP | TOO_LARGE


def with_pickle(asked):
    """A new file and an old one whose values are what a pickle asks for."""
    buffer, written = io.BytesIO(), new_file({"a": torch.arange(4.0)})
    with zipfile.ZipFile(io.BytesIO(written)) as archive, zipfile.ZipFile(buffer, "w") as other:
        for name in archive.namelist():
            is_asked = name.endswith("data.pkl")
            other.writestr(name, asked.replace(VIEW, b"") if is_asked else archive.read(name))
    first = old_file({})
    begins = first[: first.rindex(b"\x80\x02}q\x00.")]
    behind = b"\x80\x02]X\x01\x00\x00\x000a." + struct.pack("<q4f", 4, 0, 1, 2, 3)
    old = begins + asked.replace(VIEW, b"N") + (behind if VIEW in asked else b"\x80\x02].")
    return buffer.getvalue(), old


@pytest.mark.parametrize("kind", ["new", "old"])
@pytest.mark.parametrize("what", ASKED)
def test_what_torch_never_writes_does_not_reach_it(what, kind, tmp_path, monkeypatch):
    path = tmp_path / "model.pt"
    path.write_bytes(with_pickle(b"\x80\x02" + ASKED[what])[kind == "old"])
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("torch was asked"))
    with pytest.raises(LmvizError, match="cannot be read as a file of weights"):
        read_saved(path)


@pytest.mark.parametrize("kind", ["new", "old"])
def test_the_same_ways_of_writing_are_read_where_they_ask_for_what_is_there(kind, tmp_path):
    path = tmp_path / "model.pt"
    asked = b"\x80\x02}X\x01\x00\x00\x00a" + tensor(b"K\x04", b"K\x01", b"K\x03", b"K\x01") + b"s."
    path.write_bytes(with_pickle(asked)[kind == "old"])
    assert read_saved(path)["a"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("kind", ["new", "old"])
@pytest.mark.parametrize("what", SHORTER)
def test_what_is_short_is_read_as_torch_reads_it(what, kind):
    content = with_pickle(b"\x80\x02" + SHORTER[what])[kind == "old"]
    expected = torch.load(io.BytesIO(content), weights_only=True)
    assert load_saved(io.BytesIO(content)) == expected
    assert len(expected) == (100 if "numbers" in what else 1)


def test_numbers_that_an_old_file_does_not_store_are_missed(tmp_path):
    asked = b"\x80\x02}X\x01\x00\x00\x00a" + tensor(b"K\x04", b"K\x00", b"K\x04", b"K\x01") + b"s."
    content = with_pickle(asked)[1]
    (tmp_path / "model.pt").write_bytes(content.replace(b"]X\x01\x00\x00\x000a.", b"]."))
    with pytest.raises(LmvizError, match="cannot be read as a file of weights"):
        read_saved(tmp_path / "model.pt")


@pytest.mark.parametrize("what", HELD_UP)
def test_a_pickle_of_plain_values_is_held_up_by_none_of_it(what, tmp_path):
    (tmp_path / "meta.pkl").write_bytes(b"\x80\x02" + HELD_UP[what])
    with pytest.raises(LmvizError, match=r"damaged|would run code"):
        read_plain_pickle(tmp_path / "meta.pkl")


def test_a_dictionary_that_holds_itself_holds_no_tensors(tmp_path):
    values = {}
    values["model"] = values
    torch.save(values, tmp_path / "model.pt")
    assert not stored_at(tmp_path / "model.pt").shapes
    with pytest.raises(LmvizError, match="holds no tensors"):
        lmviz.open_model(tmp_path / "model.pt")


@given(place=any_of.integers(0, 5000), other=any_of.binary(min_size=1, max_size=8), old=any_of.booleans())
def test_any_damage_gives_values_or_one_sentence(tmp_path_factory, place, other, old):
    content = bytearray((old_file if old else new_file)(VALUES["tensors"] | {"steps": VALUES["counted"]}))
    content[place % len(content) : place % len(content) + len(other)] = other
    path = tmp_path_factory.mktemp("any") / "model.pt"
    path.write_bytes(bytes(content))
    said = "."
    try:
        read_saved(path)
    except LmvizError as sentence:
        said = str(sentence)
    assert said.endswith(".")
    assert "\n" not in said


def test_nothing_else_reads_a_pickle():
    reads = re.compile(r"torch\.load\(|pickle\.loads?\(|Unpickler|marshal\.|allow_pickle=True")
    found = {path.name for path in LMVIZ.rglob("*.py") if reads.search(path.read_text(encoding="utf-8"))}
    assert found == {"saved_file.py"}
