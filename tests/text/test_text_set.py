"""Sets of texts: from rows, files, lines, sentences and patterns."""

import json
from contextlib import suppress
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text.set_files import looks_like_set, read_set
from lmviz.text.text_set import TextRow, TextSet, filled_in, lines_of, read_pattern, sentences_of, set_of

PATTERN = "When {A} and {B} went to the {place}, {B} gave a {thing} to"
LISTS = {
    "A": ["Mary", "John", "Tom"],
    "B": ["Mary", "John", "Tom"],
    "place": ["store"],
    "thing": ["ring", "bag"],
}


def test_rows_are_texts_pairs_or_mappings():
    found = set_of(["a b", ("a b", "a c"), {"text": "d", "wanted": " e", "label": "x", "kind of": "y"}])
    assert found.rows[:2] == (TextRow("a b"), TextRow("a b", "a c"))
    assert found[2] == TextRow("d", None, " e", "", "x", {"kind of": "y"})
    assert found.labels == ("x",)
    assert found.columns == ("kind of",)
    assert not found.are_pairs
    assert found[:2].texts == ["a b", "a b"]


@pytest.mark.parametrize("rows", [[3], [{"wanted": "e"}], [{"text": 3}], [("a", "b", "c")], "abc", [], None])
def test_what_is_no_row_is_refused(rows):
    with pytest.raises(LmvizError):
        set_of(rows)


def test_a_pattern_is_filled_in_with_every_choice_and_no_word_twice():
    found = filled_in(
        PATTERN, LISTS, changed=PATTERN.replace("{B} gave", "{A} gave"), wanted=" {A}", other=" {B}"
    )
    assert len(found) == 6 * 2
    pairs = {(row.fields["A"], row.fields["B"]) for row in found}
    assert pairs == set(permutations(LISTS["A"], 2))
    first = found[0]
    assert first.text == "When Mary and John went to the store, John gave a ring to"
    assert first.changed == "When Mary and John went to the store, Mary gave a ring to"
    assert (first.wanted, first.other) == (" Mary", " John")
    assert first.said == "Mary · John · store · ring"


@given(st.integers(1, 20), st.integers(0, 5))
@settings(max_examples=20)
def test_rows_are_drawn_alike_for_the_same_seed(count, seed):
    drawn = filled_in(PATTERN, LISTS, count=count, seed=seed)
    assert drawn == filled_in(PATTERN, LISTS, count=count, seed=seed)
    assert len(set(drawn.texts)) == len(drawn) == min(count, 12)
    some = filled_in(PATTERN, LISTS).sample(count, seed)
    assert some == filled_in(PATTERN, LISTS).sample(count, seed)
    assert set(some.texts) <= set(filled_in(PATTERN, LISTS).texts)


def test_too_many_rows_have_to_be_drawn():
    lists = {"a": list(map(str, range(400))), "b": [f"x{number}" for number in range(400)]}
    with pytest.raises(LmvizError, match="160,000 rows"):
        filled_in("{a} {b}", lists)
    assert len(filled_in("{a} {b}", lists, count=30)) == 30


@pytest.mark.parametrize(("pattern", "lists"), [("no slots", {}), ("{a}", {}), ("{a}", {"a": "word"})])
def test_a_pattern_needs_slots_and_words(pattern, lists):
    with pytest.raises(LmvizError):
        filled_in(pattern, lists)


def test_lines_and_sentences():
    text = 'A cat sat. "Did it?" It did!\n\n  So there.\n'
    assert lines_of(text).texts == ['A cat sat. "Did it?" It did!', "So there."]
    assert sentences_of(text).texts == ["A cat sat.", '"Did it?"', "It did!", "So there."]


ROWS = [{"text": "a b", "wanted": " c"}, {"text": "d, e", "wanted": "f"}]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("set.jsonl", "\n".join(map(json.dumps, ROWS))),
        ("set.json", json.dumps(ROWS)),
        ("set.csv", 'Text,wanted\na b, c\n"d, e",f\n'),
        ("set.tsv", "prompt\tanswer\na b\t c\nd, e\tf\n"),
    ],
)
def test_files_say_by_names_what_is_what(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    assert read_set(tmp_path / name).rows == (TextRow("a b", None, " c"), TextRow("d, e", None, "f"))


def test_a_text_is_a_set_of_its_lines_or_sentences(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text("One. Two.\nThree\n")
    assert read_set(path).texts == ["One. Two.", "Three"]
    assert read_set(path, by="sentence").texts == ["One.", "Two.", "Three"]


@given(st.binary(max_size=200), st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.tsv", "a.txt"]))
@settings(max_examples=150)
def test_any_bytes_are_a_set_or_one_sentence(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("sets", numbered=True) / name
    path.write_bytes(data)
    with suppress(LmvizError):
        assert isinstance(read_set(path), TextSet)


def test_a_pattern_is_stated_in_lines():
    found = read_pattern(f"{PATTERN}\nA: Mary, John\nB: Mary, John\nplace: store\nthing: ring\nwanted: {{A}}")
    assert len(found) == 2
    assert found[0].wanted == " Mary"
    for wrong in ("", "{a}\nno colon", "{a}\na: b\nrows: many", "{a}"):
        with pytest.raises(LmvizError):
            read_pattern(wrong)


@pytest.mark.parametrize(
    ("name", "content", "likeness"),
    [
        ("a.csv", "text,wanted\nthe cows,eat\n", "surely"),
        ("a.tsv", "Prompt\tCorrupted\tlabel\na b\tc d\te\n", "surely"),
        ("a.jsonl", '{"text": "a b", "changed": "a c"}\n{"text"', "surely"),
        ("a.json", ' [ {"clean": "a b", "corrupt": "a c"}]', "surely"),
        ("a.csv", "text,label\na b,good\n", "maybe"),
        ("a.jsonl", '{"prompt": "a", "answer": "b"}', "maybe"),
        ("a.jsonl", '{"wanted": "b"}', ""),
        ("a.jsonl", "[1, 2]", ""),
        ("a.csv", "cows,hens\n1,2\n", ""),
        ("a.txt", '{"text": "a b", "changed": "a c"}', ""),
    ],
)
def test_a_file_is_known_as_a_set_by_its_names(tmp_path, name, content, likeness):
    (tmp_path / name).write_text(content)
    assert looks_like_set(tmp_path / name) == likeness
    assert looks_like_set(tmp_path / "missing.csv") == ""
    assert looks_like_set(tmp_path) == ""


@given(st.binary(max_size=200), st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.tsv"]))
@settings(max_examples=150)
def test_any_bytes_are_known_as_a_set_or_not(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("sets") / name
    path.write_bytes(data)
    assert looks_like_set(path) in ("surely", "maybe", "")
