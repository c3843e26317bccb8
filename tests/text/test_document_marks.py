"""Documents end where the corpus says, and what says so is never learned as letters."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.text.corpus import Corpus, load_corpus
from lmviz.text.corpus_options import CorpusOptions, recorded_options
from lmviz.text.document_marks import CERTAIN_MARKS, LINE_MARKS, divide_at, find_marks
from lmviz.text.documents import divide
from lmviz.text.first_example import first_example

STORIES = [f"A fox, number {n}.\n\nIt said: “No, {n * n}!”" for n in range(9)]


def read(folder, content, name="a.txt", **settings) -> Corpus:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return load_corpus(path, **settings)


def documents_of(corpus: Corpus) -> list[str]:
    return sorted([*corpus.training_documents, *corpus.validation_documents])


written = {
    "between": "\n<|endoftext|>\n".join(STORIES),
    "after each": "".join(f"{story}<|endoftext|>" for story in STORIES),
    "around each": "".join(f"<|startoftext|>{story}<|endoftext|>\n" for story in STORIES),
    "around, with lines": "".join(f"<|startoftext|>\n{story}\n<|endoftext|>\n\n" for story in STORIES),
    "of sentences": "".join(f"<s> {story} </s>\n" for story in STORIES),
    "in brackets": "".join(f"{story}\n[EOS]\n" for story in STORIES),
    "lines of JSON": "".join(json.dumps({"text": f"{story}<|endoftext|>"}) + "\n" for story in STORIES),
    "several in a line of JSON": "".join(
        json.dumps({"text": "<|endoftext|>".join(STORIES[n : n + 3])}) + "\n" for n in (0, 3, 6)
    ),
    "in a table": "text\n" + "".join(f'"{story}<|endoftext|>"\n' for story in STORIES),
}


@pytest.mark.parametrize("way", written)
@pytest.mark.parametrize("tokenizer", ["words", "characters"])
def test_marks_end_documents_and_are_no_letters(tmp_path, way, tokenizer):
    name = "a.csv" if "table" in way else "a.jsonl" if "JSON" in way else "a.txt"
    corpus = read(tmp_path, written[way], name, tokenizer=tokenizer)
    assert documents_of(corpus) == STORIES
    assert corpus.task == "next-token"
    assert "there are 9." in corpus.recognised
    assert corpus.marks_boundaries
    ends = (corpus.training == corpus.tokenizer.end_id).sum()
    assert ends == len(corpus.training_documents)
    assert not {"<", "|", "endoftext", "<|endoftext|>", "<s>"} & set(corpus.tokenizer.tokens())
    again = load_corpus(corpus.sources, options=corpus.options)
    assert (again.fingerprint, again.options) == (corpus.fingerprint, corpus.options)
    assert first_example(corpus.sources, corpus.options).text.startswith("A fox")


@pytest.mark.parametrize("line", ["-----", "* * *", "= Next ="])
def test_a_line_of_one_s_own_choice_ends_documents(tmp_path, line):
    content = f"\n{line}\n".join(STORIES) + f"\nnot {line} here\n"
    corpus = read(tmp_path, content, boundary=line)
    assert documents_of(corpus) == [*STORIES[:-1], f"{STORIES[-1]}\nnot {line} here\n".rstrip("\n")]
    assert f" {line} ends a document, 8 times: there are 9." in corpus.recognised
    lines = read(tmp_path, content, boundary=line, documents="line")
    assert line not in documents_of(lines)


def test_a_mark_of_one_s_own_stands_within_lines_too(tmp_path):
    corpus = read(tmp_path, "one fox @@ two foxes @@ three foxes\n", boundary="@@")
    assert documents_of(corpus) == ["one fox", "three foxes", "two foxes"]
    nowhere = read(tmp_path, "one fox and no mark\n", boundary="@@")
    assert nowhere.complaints == ("'@@' is nowhere in the text, and ends no document.",)


def test_marks_are_letters_where_somebody_says_so(tmp_path):
    corpus = read(tmp_path, written["between"], boundary="none", validation=0)
    assert list(corpus.training_documents) == [written["between"]]
    assert corpus.recognised == "Plain text."


def test_what_an_older_version_read_is_read_as_it_was():
    options = CorpusOptions().to_values()
    kept = recorded_options({"task": "next-token", "options": options})
    assert (kept.boundary, kept.parts) == ("recognised", "recognised")
    del options["boundary"], options["parts"]
    old = recorded_options({"task": "next-token", "options": options})
    assert (old.boundary, old.parts) == ("none", "joined")


@pytest.mark.parametrize(
    "text",
    [
        "plain words\n" * 9,
        "<s>struck</s> out and <s>struck again</s> in a line\nand more\n",
        "a </s> b\nc </s> d\n",
        "one </s>\n",
    ],
)
def test_other_texts_have_no_marks(text):
    assert find_marks([text.encode()]) == ()


marks = st.sampled_from([*CERTAIN_MARKS[:3], *LINE_MARKS[:2]])


@given(
    pieces=st.lists(st.one_of(st.text(st.sampled_from("ab \n漢")), marks), max_size=20),
    documents=st.sampled_from(["file", "line", "blank line"]),
    chosen=st.lists(marks, min_size=1, max_size=3, unique=True),
)
def test_any_text_is_cut_as_by_hand(pieces, documents, chosen):
    data = "".join(pieces).encode()
    whole = divide([data, data], documents)
    cut, count = divide_at(whole, chosen)
    expected = []
    for text in whole:
        parts = [text]
        for mark in sorted(chosen, key=len, reverse=True):
            parts = [part for each in parts for part in each.split(mark)]
        expected += [part.strip() for part in parts if part.strip()]
    assert [text.strip() for text in cut if text.strip()] == expected
    assert np.all(cut.spans[:, 0] <= cut.spans[:, 1])
    assert (count > 0) == any(mark.encode() in data for mark in chosen)
