import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.plain_text import on_one_line, seen
from lmviz.text.tokenizer import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a \u202egpj.exe", "a ⟨U+202E⟩gpj.exe"),
        ("\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩"),
        ("a\x00\x1b[2J", "a⟨U+0000⟩⟨U+001B⟩[2J"),
        ("a\ufeff\u200bb\u2028", "a⟨U+FEFF⟩⟨U+200B⟩b⟨U+2028⟩"),
        ("pay\u200dpal", "pay⟨U+200D⟩pal"),
        ("half \ud800", "half ⟨U+D800⟩"),
        ("a\r\n\tb", "a␍\n\tb"),
    ],
)
def test_what_cannot_be_seen_or_turns_a_text_round_is_shown_by_its_number(text: str, shown: str) -> None:
    assert seen(text) == shown
    assert visible(text.replace("\n", "").replace("\t", "")).replace("␣", " ") == shown.replace(
        "\n", ""
    ).replace("\t", "")


@pytest.mark.parametrize(
    "text", ["<b>a & b</b>", "שלום", "می\u200cخواهم", "👩\u200d💻", "naïve\u00a0–", "a  b"]
)
def test_what_is_written_as_usual_stays(text: str) -> None:
    assert seen(text) == on_one_line(text) == text


def test_what_breaks_a_line_is_a_space_on_one_line() -> None:
    assert on_one_line("\na\r\n\tb\x0bc\u2028d\x85") == "a b c d"


@given(st.text())
def test_a_text_that_is_seen_stays_as_it_is(text: str) -> None:
    assert seen(seen(text)) == seen(text)
    assert len(on_one_line(text).splitlines()) <= 1
