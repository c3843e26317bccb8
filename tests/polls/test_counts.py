"""Counts of answers: kept by question and choices, and read whatever the file holds."""

import csv
import io
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lmviz.polls.counts import counts_as_csv, key_of, read_counts, write_counts
from lmviz.polls.poll_file import shipped_polls


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "polls.json"
    write_counts(path, {"one": {"A": 16, "B": 6}, "two": {"E": 1}})
    assert read_counts(path) == {"one": {"A": 16, "B": 6}, "two": {"E": 1}}


def test_other_choices_have_counts_of_their_own() -> None:
    order, other, *_ = shipped_polls()
    changed = order.with_experiment(replace(order.experiment, layers=2))
    assert len({key_of(order), key_of(changed), key_of(other)}) == 3
    assert key_of(changed.with_experiment(order.experiment)) == key_of(order)


def test_a_table_has_a_row_for_each_choice_of_what_was_answered() -> None:
    order, forgetting, _, likeliest, *_ = polls = shipped_polls()
    counts = {key_of(forgetting): {"C": 7, "A": 1}, key_of(likeliest): {"B": 2}, key_of(order): {}}
    rows = list(csv.DictReader(io.StringIO(counts_as_csv(polls, counts))))
    assert [row["poll"] for row in rows] == [forgetting.title] * 4 + [likeliest.title] * 4
    assert [(row["answers"], row["right"]) for row in rows[:4]] == [
        ("1", "no"),
        ("0", "no"),
        ("7", "yes"),
        ("0", "no"),
    ]
    assert {row["right"] for row in rows[4:]} == {""}, "which is right depends on the model"
    assert rows[0]["question"] == forgetting.question


@given(
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from([b'{"x": {"A": -1, "B": 2, "Q": 3, "C": true}}', b"[]", b'{"x": 3}', b"[" * 9999]),
    )
)
def test_any_bytes_are_counts_or_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "polls.json"
    path.write_bytes(data)
    for counts in read_counts(path).values():
        assert counts
        assert all(letter in "ABCDE" and number > 0 for letter, number in counts.items())


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert read_counts(tmp_path / "none.json") == {}
