import codecs
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text import reading
from lmviz.text.corpus import load_corpus
from lmviz.text.encodings import mend_utf8
from lmviz.text.reading import check_encoding, find_files, is_binary, read_text


def write(folder: Path, data: bytes, name: str = "input.txt") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    assert read_text(write(tmp_path, codecs.BOM_UTF8 + "häuser".encode())) == "häuser"
    assert read_text(write(tmp_path, "häuser".encode())) == "häuser"
    assert read_text(write(tmp_path, codecs.BOM_UTF8 + b"a"), "utf-8-sig") == "a"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252"])
def test_other_encodings_are_read_by_name(tmp_path, encoding):
    assert read_text(write(tmp_path, "häuser\n".encode(encoding)), encoding) == "häuser\n"


def test_all_ends_of_line_become_one(tmp_path):
    assert read_text(write(tmp_path, b"a\r\nb\rc\nd")) == "a\nb\nc\nd"


@pytest.mark.parametrize("step", [1, 2, 3, 1 << 22])
def test_what_is_not_utf8_is_named_with_its_place(tmp_path, monkeypatch, step):
    monkeypatch.setattr(reading, "_STEP", step)
    path = write(tmp_path, "漢\nb".encode() + b"\xe9 c\xe4 d")
    with pytest.raises(LmvizError, match=r"input\.txt .*byte 0xE9 at place 5 \(line 2\).*latin-1"):
        read_text(path)


GOOD = "the cät sat\n" * 20


@pytest.mark.parametrize(
    ("spoilt", "shown", "dropped", "windows", "said"),
    [
        (
            b"a\xffb\n",
            "a\ufffdb",
            "ab",
            "aÿb",
            "1 byte is no UTF-8, and is .* \\(line 21, byte 2: FF",
        ),
        (b"\0ab\n", "\ufffdab", "ab", "\ufffdab", "1 byte is zero, and .* \\(line 21, byte 1: 00"),
        (
            b"\x93a\x94\0\n",
            "\ufffda\ufffd",
            "a",
            "“a”\ufffd",
            "3 bytes are zero or no UTF-8, .*the first in line 21, byte 1: 93",
        ),
        (b"ab\xe6\xbc", "ab\ufffd", "ab", "abæ¼", "cut within a character at its end, line 21"),
    ],
)
def test_a_wrong_byte_does_not_end_a_text(tmp_path, spoilt, shown, dropped, windows, said):
    path = write(tmp_path, GOOD.encode() + spoilt)
    for choice, expected in (("shown", shown), ("dropped", dropped), ("cp1252", windows)):
        corpus = load_corpus(path, documents="line", validation=0, wrong_bytes=choice)
        assert list(corpus.training_documents) == [*GOOD.splitlines(), expected]
        assert re.search(said, corpus.complaints[0])
    again = load_corpus(corpus.sources, options=corpus.options)
    assert again.fingerprint == corpus.fingerprint


def test_a_cut_or_an_impossible_byte_makes_no_other_encoding_of_ascii(tmp_path):
    for end in (b"\xc3", b"\xe6\xbc", b"\xff\n"):
        corpus = load_corpus(write(tmp_path, b"the cat sat\n" * 90 + b"a " + end), tokenizer="characters")
        assert "\ufffd" in corpus.training_text + corpus.validation_documents.text
        assert corpus.options.encoding == "utf-8"


@given(
    text=st.text(min_size=60), place=st.integers(0, 200), byte=st.sampled_from([0, 0x80, 0x93, 0xC3, 0xFF])
)
def test_one_wrong_byte_costs_nothing_else(text, place, byte):
    raw = ("ä" * 9 + text.replace("\0", "")).encode("utf-8", "replace")
    place = min(place, len(raw))
    spoilt = raw[:place] + bytes([byte]) + raw[place:]
    mended, found = mend_utf8(spoilt, "shown")
    mended.decode("utf-8")
    assert found is None or found.count <= 5


@pytest.mark.parametrize("data", [b"", b" \n\t \r\n", codecs.BOM_UTF8])
def test_an_empty_file_is_refused(tmp_path, data):
    with pytest.raises(LmvizError, match=r"input\.txt is empty"):
        read_text(write(tmp_path, data))


def test_a_binary_file_is_refused(tmp_path):
    with pytest.raises(LmvizError, match="binary"):
        read_text(write(tmp_path, b"\x7fELF\0\0\1"))
    with pytest.raises(LmvizError, match="the encoding utf-16"):
        read_text(write(tmp_path, "hello".encode("utf-16")))
    with pytest.raises(LmvizError, match="name its encoding"):
        read_text(write(tmp_path, "hello".encode("utf-16-le")), "latin-1")


@pytest.mark.parametrize("name", ["", "utf-9", "base64", "undefined", "a\0b", "ä"])
def test_an_encoding_that_is_none_is_refused(name):
    with pytest.raises(LmvizError, match="There is no encoding"):
        check_encoding(name)


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(LmvizError, match="There is no file"):
        find_files(tmp_path / "missing.txt")[0]
    with pytest.raises(LmvizError, match="name at least one"):
        find_files([])[0]
    with pytest.raises(LmvizError, match="cannot be read"):
        read_text(tmp_path)
    with pytest.raises(LmvizError):
        find_files("a\0b")[0]


def test_a_folder_means_its_text_files_in_order(tmp_path):
    for name in ("b.txt", "a.txt", ".hidden", "empty.txt"):
        write(tmp_path, b"" if name == "empty.txt" else b"x", name)
    (tmp_path / "part").mkdir()
    write(tmp_path / "part", b"x", "c.md")
    write(tmp_path, b"\0\1", "picture.png")
    assert [path.name for path in find_files(tmp_path)[0]] == ["a.txt", "b.txt", "c.md"]
    several = find_files([tmp_path / "b.txt", tmp_path / "part"])[0]
    assert [path.name for path in several] == ["b.txt", "c.md"]


def test_a_folder_without_texts_is_refused(tmp_path):
    write(tmp_path, b"\0", "picture.png")
    assert is_binary(tmp_path / "picture.png")
    with pytest.raises(LmvizError, match="holds no text files"):
        find_files(tmp_path)[0]


def test_progress_is_told_and_may_cancel(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_STEP", 2)
    path = write(tmp_path, b"abcdef")
    shares: list[float] = []
    reading.read_utf8(path, progress=shares.append)
    assert shares == pytest.approx([1 / 3, 2 / 3, 1])

    def cancel(share: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        reading.read_utf8(path, progress=cancel)


@given(
    data=st.binary(), encoding=st.sampled_from(["utf-8", "utf-16", "utf-7", "shift_jis", "idna", "latin-1"])
)
@settings(max_examples=150)
def test_any_bytes_are_a_text_or_a_clear_sentence(tmp_path_factory, data, encoding):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(data)
    try:
        text = read_text(path, encoding)
    except LmvizError as error:
        sentence = str(error)
        assert "any.txt" in sentence
    else:
        assert text.strip(" \t\n\f\v")
        assert "\r" not in text


def test_a_file_of_a_folder_that_cannot_be_opened_is_told(tmp_path, monkeypatch):
    path = write(tmp_path, b"a text", "a.txt")

    def refuse(self: Path, mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(LmvizError) as told:
        find_files(tmp_path)[0]
    assert str(told.value) == f"{path} cannot be read: Permission denied."


def test_a_checkpoint_is_no_folder_of_texts(tmp_path):
    write(tmp_path, b'{"model_type": "gpt2"}', "config.json")
    assert find_files(tmp_path)[0]
    write(tmp_path, b"anything", "model-00001-of-00002.safetensors")
    with pytest.raises(LmvizError, match="is a checkpoint of transformers"):
        find_files(tmp_path)[0]


def test_looking_through_a_large_folder_can_be_cancelled(tmp_path, monkeypatch):
    for number in range(20):
        (tmp_path / f"{number}").mkdir()
        write(tmp_path / f"{number}", b"text")
    met, opened = [], []

    class Cancelled(Exception):
        pass

    def report(share):
        met.append(share)
        if len(met) == 5:
            raise Cancelled

    monkeypatch.setattr(reading, "is_binary", opened.append)
    with pytest.raises(Cancelled):
        load_corpus(tmp_path, progress=report)
    assert len(opened) < 5


def test_hidden_folders_are_not_looked_into_and_circles_of_links_end(tmp_path):
    (tmp_path / ".hidden" / "inner").mkdir(parents=True)
    write(tmp_path / ".hidden" / "inner", b"text")
    (tmp_path / "inner").mkdir()
    found = write(tmp_path / "inner", b"text")
    (tmp_path / "inner" / "circle").symlink_to(tmp_path, target_is_directory=True)
    met = []
    assert find_files(tmp_path, lambda: met.append(None))[0] == [found]
    assert len(met) == 3  # two folders and a file


@pytest.mark.parametrize("names", [["a.txt"], ["a.txt", "b.txt"]])
def test_texts_larger_than_the_memory_are_refused_before_they_are_read(tmp_path, monkeypatch, names):
    for name in names:
        (tmp_path / name).write_text("the cow eats hay. " * 100)
    size = sum((tmp_path / name).stat().st_size for name in names)
    read = []
    monkeypatch.setattr("lmviz.text.contents.read_raw", read.append)
    monkeypatch.setattr(reading, "machine_memory", lambda: 3 * size - 1)
    source = tmp_path if len(names) > 1 else tmp_path / names[0]
    told = "These 2 files hold .* choose fewer" if len(names) > 1 else "a.txt holds .* choose a part"
    with pytest.raises(LmvizError, match=f"{told}.*"):
        load_corpus(source)
    assert read == []
    with pytest.raises(LmvizError, match="These 2 files hold"):
        load_corpus(tmp_path / "a.txt", target=tmp_path / names[-1])
    assert read == []


def test_texts_that_just_fit_into_memory_are_read(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("the cow eats hay. " * 100)
    monkeypatch.setattr(reading, "machine_memory", lambda: 3 * (tmp_path / "a.txt").stat().st_size)
    assert load_corpus(tmp_path)
    monkeypatch.setattr(reading, "machine_memory", lambda: None)
    assert load_corpus(tmp_path)
