"""JSON in all the ways in which data sets are written; conversations are a document each."""

import json

import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.conversations import conversation_of
from lmviz.text.corpus import Corpus, load_corpus

STORIES = [f"Once there was a fox number {n}.\nIt was red, and it said “no”." for n in range(8)]
ROWS = [{"id": n, "text": story} for n, story in enumerate(STORIES)]


def read(folder, content, name="stories.json", **settings) -> Corpus:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return load_corpus(path, **settings)


def documents_of(corpus: Corpus) -> list[str]:
    return sorted([*corpus.training_documents, *corpus.validation_documents])


written = {
    "pretty": json.dumps(ROWS, indent=2),
    "one line": json.dumps(ROWS),
    "nested": json.dumps({"version": "1.0", "data": ROWS}),
    "nested, pretty": json.dumps({"data": ROWS}, indent=1, ensure_ascii=False),
    "lines": "".join(json.dumps(row) + "\n" for row in ROWS),
    "lines with blank ones": "".join(json.dumps(row) + "\n\n" for row in ROWS),
    "one after the other": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "strings": json.dumps(STORIES, indent=1),
    "lines of strings": "".join(json.dumps(story) + "\n" for story in STORIES),
    "by number": json.dumps({str(n): row for n, row in enumerate(ROWS)}),
    "by column and number": json.dumps(
        {name: {str(n): row[name] for n, row in enumerate(ROWS)} for name in ("id", "text")}
    ),
    "by column": json.dumps({name: [row[name] for row in ROWS] for name in ("id", "text")}),
    "as the server of datasets": json.dumps(
        {"features": [{"name": "text"}], "rows": [{"row_idx": n, "row": row} for n, row in enumerate(ROWS)]}
    ),
    "within": "".join(json.dumps({"article": row, "meta": {"set": "foxes"}}) + "\n" for row in ROWS),
}


@pytest.mark.parametrize("way", written)
def test_each_way_gives_the_same_documents(tmp_path, way):
    corpus = read(tmp_path, written[way])
    assert documents_of(corpus) == STORIES
    assert corpus.task == "next-token"
    assert ": 8 documents." in corpus.recognised
    again = load_corpus(corpus.sources, options=corpus.options)
    assert again.fingerprint == corpus.fingerprint


TURNS = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Good\nmorning."}]


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (TURNS, "messages", "user: Hello?\nassistant: Good\nmorning."),
        ([{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}], "any", "human: a\ngpt: b"),
        (["Hi.", "Hello.", "Bye."], "dialog", "A: Hi.\nB: Hello.\nA: Bye."),
        ([*TURNS, {"role": "tool", "content": None}], "messages", "user: Hello?\nassistant: Good\nmorning."),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}], "x", "user: a"),
        (["one", "two"], "tags", None),
        ([{"start": 0, "end": 4, "label": "PER"}], "labels", None),
        ([{"text": "Ada", "tag": "B-PER"}], "tokens", None),
        ("a string", "messages", None),
        ([], "messages", ""),
        ([], "tags", None),
    ],
)
def test_a_conversation_is_one_text_with_its_roles(value, name, text):
    assert conversation_of(value, name) == text


@pytest.mark.parametrize("key", ["messages", "conversations", ""])
def test_each_chat_is_a_document(tmp_path, key):
    chats = [[TURNS[0], {"role": "assistant", "content": f"It is {n}."}] for n in range(8)]
    lines = [json.dumps({"id": n, key: chat} if key else chat) for n, chat in enumerate(chats)]
    corpus = read(tmp_path, "\n".join(lines), "chats.jsonl")
    assert documents_of(corpus) == [f"user: Hello?\nassistant: It is {n}." for n in range(8)]


def test_what_is_not_read_is_said_in_numbers_with_an_example(tmp_path):
    rows = [{**row, "url": f"https://example.org/{row['id']}", "note": None} for row in ROWS]
    rows[3]["text"] = ""
    corpus = read(tmp_path, json.dumps([*rows, 7, rows[0]]), unrepeated=True)
    assert corpus.complaints == (
        "Item 4 has no text.",
        "Item 9 is not an object of JSON, with names and values.",
        "1 row says what an earlier one says, item 10 as item 1: only the first of each is read.",
        "3 columns are not read: id (0), url (https://example.org/0), note (empty).",
    )
    assert ": 7 documents, and 2 lines left out." in corpus.recognised


def test_where_nothing_reads_like_a_text_one_is_asked(tmp_path):
    numbers = "".join(json.dumps({"a": n, "b": n * n}) + "\n" for n in range(9))
    with pytest.raises(LmvizError, match=r"nothing in them reads like a text.*columns=.*form=plain"):
        read(tmp_path, numbers)
    assert read(tmp_path, numbers, form="plain").recognised == "Plain text."
    assert documents_of(read(tmp_path, numbers, columns="text=b"))[0] == "0"


@pytest.mark.parametrize("size", [40_000, 150_000])
def test_whole_books_on_lines_are_documents_and_one_bad_line_ends_nothing(tmp_path, size):
    books = [f"{n} {STORIES[n] * (size // len(STORIES[n]))}" for n in range(6)]
    lines = [json.dumps({"text": book}) for book in books]
    lines[4] = lines[4][:-2]
    corpus = read(tmp_path, "\n".join(lines), "books.jsonl", tokenizer="characters")
    assert corpus.recognised.startswith("JSON Lines: 5 documents")
    assert documents_of(corpus) == sorted(books[:4] + books[5:])


def test_long_lines_with_spans_are_read_on_behind_one_that_is_cut(tmp_path):
    line = json.dumps({"text": "Ada left . " * 4000, "entities": [[0, 3, "PER"]]})
    corpus = read(tmp_path, "\n".join([line, line, line[:-2], line]), "spans.jsonl")
    assert corpus.task == "tagging"
    assert len(corpus.complaints) == 1
    assert "3 sentences" in corpus.recognised


def test_lines_of_json_that_are_asked_about_are_no_table_with_commas(tmp_path):
    rows = [
        {"id": f"{n}", "名前": f"20{n:02}-01-1{n % 10}", "url": "The" if n % 3 else "Zoë"} for n in range(25)
    ]
    corpus = read(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "a.jsonl", columns="text=id")
    assert documents_of(corpus) == sorted(row["id"] for row in rows)
