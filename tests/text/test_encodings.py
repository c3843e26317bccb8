"""Encodings are found by their marks and bytes, or as the likeliest, and that is said."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.text.encodings import OFFERED, Found, find_encoding, place_of_fault
from lmviz.text.preview import COMPARED

ENGLISH, RUSSIAN = "The cow eats hay.\nA hen sees corn.\n" * 3, "Привет, как дела?\nЭто простой текст.\n" * 3


def test_what_is_offered_has_the_names_that_python_gives():
    assert all(codecs.lookup(name).name == name for name in OFFERED)
    assert set(COMPARED) <= set(OFFERED)


@pytest.mark.parametrize("text", [ENGLISH, RUSSIAN, "漢字と仮名\n" * 9])
@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32"),
    ],
)
def test_unicode_is_certain_with_a_mark_and_without(text, written, found):
    assert find_encoding(text.encode(written)) == Found(found)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("L'été dernier, nous étions à la plage près de Brest.\n" * 4, "cp1252"),
        ("Die Häuser sind groß – „schön“, sagte er über Österreich.\n" * 4, "cp1252"),
        ("it costs £1.50 to send, and that is all it does\n" * 9, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        ("これは日本語のテキストです。\n" * 5, "cp932"),
        ("这是一个中文文本，今天天气很好。\n" * 5, "gb18030"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.\n" * 5, "cp1250"),
    ],
)
def test_the_likeliest_is_a_guess(text, encoding):
    pytest.importorskip("charset_normalizer")
    assert find_encoding(text.encode(encoding)) == Found(encoding, guessed=True)


def test_a_fault_in_utf8_is_no_other_encoding():
    damaged = "ein Bär, zwei Bären, drei Bären und größere Häuser: çà et là, où, né\n".encode() + b"\xe9 c"
    assert find_encoding(damaged) == Found("utf-8")
    assert place_of_fault(damaged, "utf-8") == len(damaged) - 3
    assert place_of_fault(damaged, "cp1252") is None


def test_what_is_no_text_is_called_utf8_so_that_its_bytes_are_named():
    assert find_encoding(bytes(range(256)) * 8) == Found("utf-8")
    assert find_encoding(b"\x7fELF\0\0\1\0\2\0") == Found("utf-8")


@given(st.binary(max_size=300))
def test_any_bytes_have_an_encoding_that_python_knows(data):
    assert codecs.lookup(find_encoding(data).encoding)
