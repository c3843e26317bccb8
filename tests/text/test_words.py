import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lmviz.text.tokenizer_options import TokenizerOptions
from lmviz.text.tokenizer_training import train_tokenizer
from lmviz.text.words import Joiner, join_words

CUT = train_tokenizer(["a"], TokenizerOptions(kind="words"), marks_boundaries=False)


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in CUT.encode_prefix(text).offsets]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't go--home, now...", ["Don't", "go", "--", "home", ",", "now", "..."]),
        ("3.14 and 10,000; 9:30.", ["3.14", "and", "10,000", ";", "9:30", "."]),
        ("a well-known café\n\nx_1", ["a", "well-known", "café", "\n", "\n", "x_1"]),
        ("漢字かな abc😀 क्षि", ["漢", "字", "か", "な", "abc", "😀", "क्षि"]),
        ("(\t$5 \u2028 50% )", ["(", "$", "5", "50", "%", ")"]),
    ],
)
def test_a_text_is_cut_into_words_signs_and_ends_of_line(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'Mira asked, "Where is it?" "Here," said Tobin (the boy).',
        "It cost $5, or 50%—more--or less: 3.5.\nNext line; and/or the dogs' bowls.",
        "“Well,” said ‘Otto’, and left…",
        '"One line.\n"Another line."',
        "東京は大きい。 It is.",
    ],
)
def test_joined_words_read_as_they_were_written(text):
    assert join_words(words(text)) == text


@given(st.text())
def test_joining_words_keeps_them_apart(text):
    cut = words(text)
    assert words(join_words(cut)) == cut


@given(st.text(alphabet="ab .,-'\"\n(—/$5", max_size=30))
@example(". . . ... . -- - - --")
def test_joining_signs_keeps_them_apart(text):
    cut = words(text)
    assert words(join_words(cut)) == cut


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("The cows", "eat", "The cows eat"),
        ("The cows ", "eat", "The cows eat"),
        ("", "The", "The"),
        ("The cows eat", ".", "The cows eat."),
        ("She said", '"', 'She said "'),
        ('She said "', "Yes", 'She said "Yes'),
        ('She said "Yes', '"', 'She said "Yes"'),
        ('"Yes"', "said", '"Yes" said'),
        ("line one\n", "two", "line one\ntwo"),
        ("said '", "tis", "said 'tis"),
        ("the dogs'", "bowl", "the dogs' bowl"),
        ("go--", "home", "go--home"),
        ("costs $", "5", "costs $5"),
    ],
)
def test_a_word_is_added_to_a_text_that_was_typed(text, word, expected):
    assert text + Joiner(text).add(word) == expected
