import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.text import documents as module
from lmviz.text.documents import divide, split

TEXT = b"one\ntwo \n\n \nthree\n\n\n four\nfive"


def test_documents_end_where_they_are_told_to():
    assert list(divide([TEXT], "file")) == [TEXT.decode()]
    assert list(divide([TEXT], "line")) == ["one", "two ", "three", " four", "five"]
    assert list(divide([TEXT], "blank line")) == ["one\ntwo ", "three", " four\nfive"]


@pytest.mark.parametrize("documents", ["file", "line", "blank line"])
def test_documents_do_not_reach_from_file_to_file(documents):
    files = [b"a b", b"c d\n", b"e"]
    assert [text.strip() for text in divide(files, documents)] == ["a b", "c d", "e"]


def naive(text: str, documents: str) -> list[str]:
    lines = [line if line.strip(" \t\r\f\v") else "" for line in text.split("\n")]
    if documents == "line":
        return [line for line in lines if line]
    paragraphs = [[]]
    for line in lines:
        if line:
            paragraphs[-1].append(line)
        else:
            paragraphs.append([])
    return ["\n".join(lines) for lines in paragraphs if lines]


@given(text=st.text(alphabet="a漢 \t\n"))
@pytest.mark.parametrize("documents", ["line", "blank line"])
def test_lines_and_paragraphs_are_found(text, documents):
    assert list(divide([text.encode()], documents)) == naive(text, documents)


@given(text=st.text(alphabet="ab漢 \n", min_size=1), piece=st.integers(4, 12))
def test_batches_hold_all_the_text_in_order(text, piece):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE", piece)
        found = divide([text.encode()] * 2 + [b"x" * 50], "line")
        told, current = [], ""
        for batch in found.batches():
            assert all(len(part.encode()) <= piece for part in batch.texts)
            for part in batch.texts:
                current = part if batch.begins else current + part
                if batch.ends:
                    told.append(current)
    assert told == list(found)


def test_a_long_document_is_cut_before_a_space(monkeypatch):
    monkeypatch.setattr(module, "_PIECE", 10)
    batches = divide(["one two three four 漢漢漢漢漢".encode()], "file").batches()
    assert [batch.texts[0] for batch in batches] == ["one two", " three", " four", " 漢漢漢", "漢漢"]


def lines(count: int):
    return divide(["\n".join(f"line {n}" for n in range(count)).encode()], "line")


def test_several_documents_are_drawn_by_the_seed():
    training, validation = split(lines(50), 0.2, seed=3, exactly=False)
    assert len(training) == 40
    assert len(validation) == 10
    assert sorted([*training, *validation]) == sorted(lines(50))
    again = split(lines(50), 0.2, seed=3, exactly=False)
    assert list(again[1]) == list(validation)
    other = split(lines(50), 0.2, seed=4, exactly=False)
    assert list(other[1]) != list(validation)
    numbers = [int(text.split()[1]) for text in training]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("count", "share", "held_out"), [(2, 0.1, 1), (2, 0.9, 1), (3, 0.0, 0), (10, 0.05, 1)]
)
def test_each_part_keeps_a_document(count, share, held_out):
    training, validation = split(lines(count), share, seed=0, exactly=False)
    assert len(validation) == held_out
    assert len(training) == count - held_out


@pytest.mark.parametrize("text", ["0123456789" * 3, "漢字かなカナ語文章本" * 3, "a漢" * 15])
def test_a_single_document_is_cut_at_the_exact_character(text):
    training, validation = split(divide([text.encode()], "file"), 0.1, seed=0, exactly=True)
    assert training.text == text[:27]
    assert validation.text == text[27:]


def test_a_single_document_is_cut_before_a_space():
    text = "one two three four five six seven eight nine ten"
    training, validation = split(divide([text.encode()], "file"), 0.5, seed=0, exactly=False)
    assert training.text == "one two three four five six"
    assert validation.text == " seven eight nine ten"


def test_a_part_that_is_nothing_holds_no_document():
    training, validation = split(divide([b"word"], "file"), 0, seed=0, exactly=False)
    assert training.text == "word"
    assert len(validation) == 0
    assert validation.size == 0


def test_documents_are_a_sequence():
    found = lines(5)
    assert found[-1] == "line 4"
    assert found[1:3] == ["line 1", "line 2"]
    assert found.text == "\n".join(f"line {n}" for n in range(5))
    assert found.select(np.array([2])).text == "line 2"
    with pytest.raises(IndexError):
        found[5]
