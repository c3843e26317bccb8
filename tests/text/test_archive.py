"""Archives from strangers: two files come out, or a sentence says why not."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.text import archive
from lmviz.text.archive import read_members

NAMES = ("train.en", "train.de")
SOURCES, TARGETS = b"a dog\ntwo dogs\n", b"ein Hund\nzwei Hunde\n"


def entry(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, link, len(content)
    return member, content


def packed(*members: tuple[tarfile.TarInfo, bytes], format: int = tarfile.PAX_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=format) as tar:
        for member, content in members:
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


GOOD = packed(entry("train.en", SOURCES), entry("train.de", TARGETS))


@pytest.mark.parametrize("format", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("folder", ["", "./"])
def test_named_files_are_taken_out_in_the_order_asked_for(format, folder):
    other = entry("._train.en", b"\0\0")
    members = entry(folder + "train.de", TARGETS), other, entry(folder + "train.en", SOURCES)
    assert read_members(packed(*members, format=format), NAMES) == [SOURCES, TARGETS]


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([entry("train.en", SOURCES)], "does not hold train.de"),
        ([entry("train.en", SOURCES), entry("else/train.de", TARGETS)], "does not hold train.de"),
        ([entry("train.en", SOURCES), entry("/train.de", TARGETS)], "does not hold train.de"),
        ([entry("train.en", SOURCES), entry("../train.de", TARGETS)], "does not hold train.de"),
        (
            [entry("train.en", kind=tarfile.SYMTYPE, link="/etc/passwd")],
            "train.en in it is not an ordinary file",
        ),
        (
            [entry("train.en", kind=tarfile.LNKTYPE, link="train.de")],
            "train.en in it is not an ordinary file",
        ),
        ([entry("train.en", kind=tarfile.DIRTYPE)], "train.en in it is not an ordinary file"),
        ([entry("train.en", kind=tarfile.CHRTYPE)], "train.en in it is not an ordinary file"),
        ([entry("train.en", SOURCES), entry("train.en", TARGETS)], "holds train.en twice"),
    ],
)
def test_what_is_no_plain_file_of_that_name_is_refused(members: Sequence, reason: str):
    with pytest.raises(ValueError, match=reason):
        read_members(packed(*members), NAMES)


def test_a_sparse_file_is_refused():
    """Its header alone can claim any size."""
    member, content = entry("train.en", SOURCES, kind=tarfile.GNUTYPE_SPARSE)
    with pytest.raises(ValueError, match=r"not an ordinary file|not an archive"):
        read_members(packed((member, content), format=tarfile.GNU_FORMAT), NAMES)


def test_a_bomb_is_refused_without_unpacking_it(monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 1 << 20)
    bomb = packed(entry("train.en", b"\0" * (2 << 20)))
    assert len(bomb) < 10_000
    with pytest.raises(ValueError, match="holds more than 1 MB"):
        read_members(bomb, NAMES)


def test_more_members_than_any_text_has_are_not_read(monkeypatch):
    monkeypatch.setattr(archive, "MOST_MEMBERS", 10)
    many = [entry(f"{n}.txt", b"x") for n in range(10)]
    with pytest.raises(ValueError, match=r"does not hold train\.en"):
        read_members(packed(*many, entry("train.en", SOURCES), entry("train.de", TARGETS)), NAMES)


@pytest.mark.parametrize("end", [0, 1, 20, len(GOOD) // 2, len(GOOD) - 1])
def test_an_archive_that_is_cut_short_is_refused(end):
    with pytest.raises(ValueError, match="not an archive of the kind tar"):
        read_members(GOOD[:end], NAMES)


def test_a_member_that_is_cut_short_inside_is_refused():
    tar = gzip.decompress(GOOD)
    start = tar.index(b"ein Hund")
    with pytest.raises(ValueError, match=r"cut short|not an archive|does not hold"):
        read_members(gzip.compress(tar[: start + 4]), NAMES)


@given(st.binary(max_size=3000))
def test_any_bytes_are_refused_in_a_sentence(data):
    with pytest.raises(ValueError, match="it "):
        read_members(data, NAMES)


@given(place=st.integers(0, 2048), bytes_=st.binary(min_size=1, max_size=600))
def test_any_damage_gives_files_or_a_sentence(place, bytes_):
    tar = bytearray(gzip.decompress(GOOD))
    tar[place : place + len(bytes_)] = bytes_
    with suppress(ValueError):
        assert len(read_members(gzip.compress(bytes(tar), 1), NAMES)) == 2
