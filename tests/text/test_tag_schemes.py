"""Tags of any scheme mark the spans that seqeval finds in them, and the scheme is recognised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.text.tag_schemes import find_scheme

SPANS = """
I-P O B-P I-P O I-P O O > 0:1:P 2:4:P 5:6:P
I-P B-P I-P O O B-P B-Q I-P I-Q > 0:1:P 1:3:P 5:6:P 6:7:Q 7:8:P 8:9:Q
I-P B-P I-P I-P I-P > 0:1:P 1:5:P
I-Q B-Q I-Q B-Q B-Q B-P > 0:1:Q 1:3:Q 3:4:Q 4:5:Q 5:6:P
I-Q B-Q B-Q O > 0:1:Q 1:2:Q 2:3:Q
B-P I-P O I-P B-Q I-Q I-Q O B-P > 0:2:P 3:4:P 4:7:Q 8:9:P
O I-Q B-Q B-Q I-P B-Q I-P B-P B-Q I-P > 1:2:Q 2:3:Q 3:4:Q 4:5:P 5:6:Q 6:7:P 7:8:P 8:9:Q 9:10:P
O I-P I-Q B-Q I-Q I-Q I-Q B-P B-P > 1:2:P 2:3:Q 3:7:Q 7:8:P 8:9:P
B-P I-P B-P O I-P > 0:2:P 2:3:P 4:5:P
B-Q I-P I-Q I-Q I-P O O I-P > 0:1:Q 1:2:P 2:4:Q 4:5:P 7:8:P
B-P O I-P I-P B-P > 0:1:P 2:4:P 4:5:P
B-P B-Q B-Q > 0:1:P 1:2:Q 2:3:Q
O I-P I-Q B-Q B-P B-P I-Q I-P > 1:2:P 2:3:Q 3:4:Q 4:5:P 5:6:P 6:7:Q 7:8:P
I-P B-Q I-P > 0:1:P 1:2:Q 2:3:P
S-P E-Q B-Q B-Q S-Q E-P B-P > 0:1:P 1:2:Q 2:3:Q 3:4:Q 4:5:Q 5:6:P 6:7:P
B-P I-Q O I-Q B-Q I-Q I-Q B-P B-P > 0:1:P 1:2:Q 3:4:Q 4:7:Q 7:8:P 8:9:P
I-P I-P I-P S-Q S-P I-P I-P I-P O I-Q > 0:3:P 3:4:Q 4:5:P 5:8:P 9:10:Q
S-P B-P O E-P S-Q E-P S-Q B-Q O > 0:1:P 1:2:P 3:4:P 4:5:Q 5:6:P 6:7:Q 7:8:Q
E-P I-P B-P > 0:1:P 1:2:P 2:3:P
B-Q E-Q E-P > 0:2:Q 2:3:P
E-Q B-Q S-P I-Q E-Q E-P E-P I-P > 0:1:Q 1:2:Q 2:3:P 3:5:Q 5:6:P 6:7:P 7:8:P
B-P B-P E-Q E-P I-P > 0:1:P 1:2:P 2:3:Q 3:4:P 4:5:P
E-P B-P I-P O E-Q O I-Q S-P I-Q E-Q > 0:1:P 1:3:P 4:5:Q 6:7:Q 7:8:P 8:10:Q
E-Q I-P I-P I-P I-Q S-P > 0:1:Q 1:4:P 4:5:Q 5:6:P
O S-P O S-P B-Q B-Q > 1:2:P 3:4:P 4:5:Q 5:6:Q
S-P I-P B-Q B-P E-Q I-Q B-Q I-Q S-P O > 0:1:P 1:2:P 2:3:Q 3:4:P 4:5:Q 5:6:Q 6:8:Q 8:9:P
I-Q I-P E-Q E-Q O O I-P O > 0:1:Q 1:2:P 2:3:Q 3:4:Q 6:7:P
B-Q S-Q I-Q E-P S-Q > 0:1:Q 1:2:Q 2:3:Q 3:4:P 4:5:Q
P-I P-B O O P-I P-S O O > 0:1:P 1:2:P 4:5:P 5:6:P
P-I Q-I O O P-I P-B P-I Q-S P-I Q-S > 0:1:P 1:2:Q 4:5:P 5:7:P 7:8:Q 8:9:P 9:10:Q
Q-I P-I O P-S P-S > 0:1:Q 1:2:P 3:4:P 4:5:P
P-E P-E Q-S Q-S Q-B P-I P-B Q-I P-B O > 0:1:P 1:2:P 2:3:Q 3:4:Q 4:5:Q 5:6:P 6:7:P 7:8:Q 8:9:P
Q-B O Q-S Q-S P-I P-E P-B > 0:1:Q 2:3:Q 3:4:Q 4:6:P 6:7:P
O Q-I Q-S Q-B P-I P-I O > 1:2:Q 2:3:Q 3:4:Q 4:6:P
O Q-I P-B O O P-E P-E P-I > 1:2:Q 2:3:P 5:6:P 6:7:P 7:8:P
O P-S Q-I Q-B Q-S O Q-S > 1:2:P 2:3:Q 3:4:Q 4:5:Q 6:7:Q
P-S O O P-I P-E > 0:1:P 3:5:P
O P-E O O P-S P-E O Q-B P-B Q-E > 1:2:P 4:5:P 5:6:P 7:8:Q 8:9:P 9:10:Q
P-E O O P-I Q-I O O Q-I P-B > 0:1:P 3:4:P 4:5:Q 7:8:Q 8:9:P
Q-S Q-E Q-E P-S P-I P-E P-I O Q-I Q-B > 0:1:Q 1:2:Q 2:3:Q 3:4:P 4:6:P 6:7:P 8:9:Q 9:10:Q
P-S P-B Q-I P-S O Q-B > 0:1:P 1:2:P 2:3:Q 3:4:P 5:6:Q
Q-E P-B P-E Q-E Q-B Q-I Q-I P-I P-I Q-E > 0:1:Q 1:3:P 3:4:Q 4:7:Q 7:9:P 9:10:Q
"""
"""Drawn tags, most of which break their scheme, and the spans that seqeval 1.2.2 found (`get_entities`)."""

LETTERS = {"IOB": "OBI", "IOBES": "OBIES", "BILOU": "OBILU", "BMES": "OBMES"}
WELL_FORMED = {
    "IOB2": "B I O B B O B",
    "IOB1": "I I O I B O I",
    "IOBES": "B E O S S O S",
    "BILOU": "B L O U U O U",
    "BMES": "B E O S S O B M M E",
}
SPELLINGS = {"{0}-{1}": "hyphen", "{0}_{1}": "underscore", "{1}-{0}": "suffix", "{1}_{0}": "both"}


def spelled(letters: str, spelling: str, kind: str = "PER") -> list[str]:
    return [letter if letter == "O" else spelling.format(letter, kind) for letter in letters.split()]


@pytest.mark.parametrize("row", SPANS.strip().splitlines())
def test_spans_are_those_of_seqeval(row: str) -> None:
    tags, _, wanted = row.partition(" > ")
    scheme = find_scheme(tags.split())
    assert scheme is not None
    assert [f"{first}:{end}:{kind}" for first, end, kind in scheme.spans_of(tags.split())] == wanted.split()


@pytest.mark.parametrize("spelling", SPELLINGS, ids=SPELLINGS.get)
@pytest.mark.parametrize("name", WELL_FORMED)
def test_every_scheme_in_every_spelling_is_recognised_and_marks_the_same_spans(
    name: str, spelling: str
) -> None:
    tags = spelled(WELL_FORMED[name], spelling)
    scheme = find_scheme(set(tags), [tags])
    assert scheme is not None
    assert scheme.name == name
    more = [(6, 10, "PER")] if name == "BMES" else [(6, 7, "PER")]
    assert list(scheme.spans_of(tags)) == [(0, 2, "PER"), (3, 4, "PER"), (4, 5, "PER"), *more]


@given(st.data())
def test_letters_of_another_scheme_and_spelling_make_no_difference(data: st.DataObject) -> None:
    """L is E and U is S; so what is known of IOBES is known of all."""
    tags = data.draw(st.lists(st.sampled_from(["O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B"]), max_size=9))
    as_it_is = find_scheme([*tags, "B-A"])
    assert as_it_is is not None
    expected = list(as_it_is.spans_of(tags))
    for letters, spelling in (("BILU", "{}-{}"), ("BIES", "{1}-{0}"), ("BMES", "{}_{}")):
        known = dict(zip("BIES", letters, strict=True), O="O")
        others = [tag if tag == "O" else spelling.format(known[tag[0]], tag[2:]) for tag in tags]
        scheme = find_scheme([*others, spelling.format("B", "A")])
        assert scheme is not None
        assert list(scheme.spans_of(others)) == expected


def test_a_text_that_begins_spans_both_ways_follows_no_scheme_of_iob() -> None:
    tags = ["B-A", "O", "I-A"]
    found = find_scheme(tags, [tags])
    assert found is not None
    assert found.name == "IOB"


@pytest.mark.parametrize(
    ("labels", "are"),
    [
        (("O", "B-PER", "I-PER"), True),
        (("B-NP", "I-NP"), True),
        (("B", "I", "O"), True),
        (("B", "M", "E", "S"), True),
        (("O", "S-LOC"), True),
        (("O",), False),
        (("NOUN", "O"), False),
        (("B-", "O"), False),
        (("B-PER", "PER-I"), False),
        (("S-x", "S-y"), False),
        (("S", "V", "O"), False),
        (("I", "E"), False),
        ((), False),
    ],
)
def test_which_labels_make_spans(labels: tuple[str, ...], are: bool) -> None:
    assert (find_scheme(labels) is not None) is are
