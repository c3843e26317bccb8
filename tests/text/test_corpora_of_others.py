"""Corpora for language models as they are distributed are read as they are meant; what is left is said."""

import json
from pathlib import Path
from random import Random

import pytest

from lmviz.base.errors import LmvizError
from lmviz.text.corpus import Corpus, load_corpus
from lmviz.text.preview import look

COUNT = 30
_random = Random(4)
WORDS = "many people know this place well because rain falls".split()  # noqa: SIM905, as one reads it
TEXTS = [
    f"Topic {n} is a town. It was first named in {1800 + n}. {' '.join(_random.choices(WORDS, k=5 + n))}"
    for n in range(COUNT)
]
TITLES = [f"Topic {n}" for n in range(COUNT)]
ADDRESSES = [f"https://en.wikipedia.org/wiki?curid={n}" for n in range(COUNT)]
STORIES = [
    f'{name} saw a {colour} car and said, "Wow, it is {colour}!"\n\nAnd "{name}" smiled.'
    for name in ("Ada", "Bela", "Cora", "Dana")
    for colour in ("red", "blue")
]
GOOD = "the cät sat on the mat\n" * 40


def lines(**columns: list) -> str:
    rows = zip(*columns.values(), strict=True)
    return "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)


def quoted(texts: list[str]) -> list[str]:
    return ['"' + text.replace('"', '""') + '"' for text in texts]


def chat(question: str, answer: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


IDS = [str(n) for n in range(COUNT)]
DATES = [f"2019-04-25T12:57:{n:02}Z" for n in range(COUNT)]
IN_QUOTES = quoted(TEXTS)

Case = tuple[str, str | bytes, str, list[str], str, tuple[str, ...]]
"""The name of a file, its content, its form, its documents, what is said of it, and of what is not read."""

cases: dict[str, Case] = {
    "Wikipedia": (
        "wiki_00.jsonl",
        lines(id=IDS, url=ADDRESSES, title=TITLES, text=TEXTS),
        "jsonl",
        TEXTS,
        "JSON Lines: 30 documents. The text is in text.",
        ("3 columns are not read: id (0), url (https://en.wikipedia.org/wiki?cu…), title (Topic 0).",),
    ),
    "C4": (
        "c4-train.00000-of-01024.json",
        lines(text=TEXTS, timestamp=DATES, url=ADDRESSES),
        "jsonl",
        TEXTS,
        "JSON Lines: 30 documents. The text is in text.",
        (
            "2 columns are not read: timestamp (2019-04-25T12:57:00Z), url "
            "(https://en.wikipedia.org/wiki?cu…).",
        ),
    ),
    "one field": ("a.jsonl", lines(text=TEXTS), "jsonl", TEXTS, "JSON Lines: 30 documents.", ()),
    "one row": ("a.jsonl", lines(text=TEXTS[:1]), "json", TEXTS[:1], "JSON: 1 document.", ()),
    "the Pile": (
        "00.jsonl",
        lines(text=TEXTS, meta=[{"pile_set_name": "ArXiv" if n % 2 else "Pile-CC"} for n in range(COUNT)]),
        "jsonl",
        TEXTS,
        "JSON Lines: 30 documents. The text is in text.",
        ("1 column is not read: meta.pile_set_name (Pile-CC).",),
    ),
    "chats": (
        "chats.jsonl",
        lines(messages=[chat(f"What is {title}?", text) for title, text in zip(TITLES, TEXTS, strict=True)]),
        "jsonl",
        [f"user: What is {title}?\nassistant: {text}" for title, text in zip(TITLES, TEXTS, strict=True)],
        "JSON Lines: 30 documents. The text is in messages.",
        (),
    ),
    "daily dialogues": (
        "dialogues.json",
        json.dumps([{"dialog": [f"Hi {n} .", "Bye ."], "emotion": [0, n % 3]} for n in range(COUNT)]),
        "json",
        [f"A: Hi {n} .\nB: Bye ." for n in range(COUNT)],
        "JSON: 30 documents. The text is in dialog.",
        ("1 column is not read: emotion ([0, 0]).",),
    ),
    "paragraphs in lists": (
        "books.jsonl",
        lines(title=TITLES, paragraphs=[text.split(". ") for text in TEXTS]),
        "jsonl",
        [text.replace(". ", "\n") for text in TEXTS],
        "JSON Lines: 30 documents. The text is in paragraphs.",
        ("1 column is not read: title (Topic 0).",),
    ),
    "a table of one column": (
        "a.csv",
        "text\n" + "\n".join(IN_QUOTES) + "\n",
        "table",
        TEXTS,
        "A table with a heading: 30 documents.",
        (),
    ),
    "one column without quotes": (
        "a.csv",
        "text\n" + "\n".join(f"{text}, and so on" for text in TEXTS) + "\n",
        "table",
        [f"{text}, and so on" for text in TEXTS],
        "A table with a heading: 30 documents.",
        (),
    ),
    "one column without a heading": (
        "a.csv",
        "\n".join(TEXTS) + "\n",
        "table",
        TEXTS,
        "A table without a heading: 30 documents.",
        (),
    ),
    "an index, as pandas writes it": (
        "a.csv",
        ",text\n" + "".join(f"{n},{text}\n" for n, text in enumerate(IN_QUOTES)),
        "table",
        TEXTS,
        "A table with a heading: 30 documents. The text is in text.",
        ("1 column is not read: column 1 (0).",),
    ),
    "a title and a text": (
        "a.csv",
        "title,text\n" + "".join(f"{title},{text}\n" for title, text in zip(TITLES, IN_QUOTES, strict=True)),
        "table",
        TEXTS,
        "A table with a heading: 30 documents. The text is in text.",
        ("1 column is not read: title (Topic 0).",),
    ),
    "names in another language": (
        "a.csv",
        "Titel;Inhalt\n" + "".join(f"{title};{text}\n" for title, text in zip(TITLES, TEXTS, strict=True)),
        "table",
        TEXTS,
        "A table with a heading: 30 documents. The text is in Inhalt.",
        ("1 column is not read: Titel (Topic 0).",),
    ),
    "a number and a text, with a tab": (
        "a.tsv",
        "".join(f"{n}\t{text}\n" for n, text in enumerate(TEXTS)),
        "table",
        TEXTS,
        "A table without a heading: 30 documents. The text is in column 2.",
        ("1 column is not read: column 1 (0).",),
    ),
    "stories in quotes": (
        "a.txt",
        "\n".join(quoted(STORIES)) + "\n",
        "table",
        STORIES,
        "A table without a heading: 8 documents.",
        (),
    ),
    "stories in quotes, under a name": (
        "a.csv",
        "text\n" + "\n".join(quoted(STORIES)) + "\n",
        "table",
        STORIES,
        "A table with a heading: 8 documents.",
        (),
    ),
    "TinyStories": (
        "TinyStories-train.txt",
        "\n<|endoftext|>\n".join(STORIES) + "\n<|endoftext|>\n",
        "plain",
        STORIES,
        "Plain text. <|endoftext|> ends a document, 8 times: there are 8.",
        (),
    ),
    "around each story": (
        "a.txt",
        "".join(f"<|startoftext|>{story}<|endoftext|>\n" for story in STORIES),
        "plain",
        STORIES,
        "Plain text. <|endoftext|> and <|startoftext|> end a document, 16 times: there are 8.",
        (),
    ),
    "WikiExtractor": (
        "wiki_00",
        "".join(f'<doc id="{n}" title="{TITLES[n]}">\n{TITLES[n]}\n\n{TEXTS[n]}\n</doc>\n' for n in range(9)),
        "plain",
        [f"{TITLES[n]}\n\n{TEXTS[n]}" for n in range(9)],
        "Plain text. <doc> ends a document, 18 times: there are 9.",
        (),
    ),
    "a wrong byte": (
        "a.txt",
        GOOD.encode() + b"the c\xfft\n",
        "plain",
        [GOOD + "the c\ufffdt\n"],
        "Plain text.",
        ("1 byte is no UTF-8, and is shown as \ufffd (line 41, byte 6: FF).",),
    ),
    "cut within a character": (
        "a.txt",
        GOOD.encode() + b"the c\xc3",
        "plain",
        [GOOD + "the c\ufffd"],
        "Plain text.",
        ("The text is cut within a character at its end, line 41: that is shown as \ufffd.",),
    ),
    "a zero": (
        "a.txt",
        GOOD.encode() + b"a\0b\n",
        "plain",
        [GOOD + "a\ufffdb\n"],
        "Plain text.",
        ("1 byte is zero, and is shown as \ufffd (line 41, byte 2: 00).",),
    ),
}


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def documents_of(corpus: Corpus) -> list[str]:
    return [*corpus.training_documents, *corpus.validation_documents]


@pytest.mark.parametrize("case", cases)
def test_it_is_read_as_it_is_meant(tmp_path, case):
    name, content, form, documents, said, not_read = cases[case]
    path = written(tmp_path, name, content)
    corpus = load_corpus(path, validation=0)
    assert corpus.task == "next-token"
    assert corpus.options.form in (form, "recognised" if form == "plain" else form)
    assert documents_of(corpus) == documents
    assert corpus.recognised == said
    assert corpus.complaints == not_read
    again = load_corpus(corpus.sources, options=corpus.options)
    assert again.fingerprint == corpus.fingerprint
    offer = look(path)
    assert offer is not None
    assert set(not_read) <= set(offer.left_out)
    assert offer.count in (0, len(documents))
    assert (offer.layout.form if offer.layout else "plain") == form


@pytest.mark.parametrize("case", ["Wikipedia", "chats", "a table of one column", "stories in quotes"])
def test_it_can_be_read_as_it_stands(tmp_path, case):
    name, content, *_ = cases[case]
    corpus = load_corpus(written(tmp_path, name, content), form="plain", validation=0)
    assert documents_of(corpus) == [content]
    assert corpus.recognised == "Plain text."


@pytest.mark.parametrize("rows", [TEXTS, TEXTS[:12]])
def test_phrases_without_a_heading_are_all_rows(tmp_path, rows):
    pairs = [("good morning", "guten Morgen"), *((text, f"{text} es") for text in rows)]
    for name, mark in (("a.csv", ","), ("a.tsv", "\t")):
        corpus = load_corpus(written(tmp_path, name, "".join(f"{a}{mark}{b}\n" for a, b in pairs)))
        assert corpus.task == "translation"
        assert sorted(documents_of(corpus)) == sorted(a for a, _ in pairs)


def test_in_doubt_it_is_refused_with_the_two_ways_to_say_it(tmp_path):
    other = [
        f"It may{' well' * (n * 7 % 5)} be so in the {n}th of the towns that they have seen"
        for n in range(COUNT)
    ]
    path = written(tmp_path, "a.jsonl", lines(one=TEXTS, other=other, id=IDS))
    with pytest.raises(LmvizError) as refused:
        load_corpus(path)
    assert str(refused.value) == (
        "a.jsonl is JSON Lines of one, other, id, and several columns could be the text: say which column is "
        "what, such as columns=text=one, or how it is read, such as form=plain (on the command line behind "
        "--set)."
    )
    assert documents_of(load_corpus(path, columns="text=other", validation=0)) == other
    assert load_corpus(path, columns="source=one,target=other").task == "translation"
    offer = look(path)
    assert offer is not None
    assert offer.asks
    assert "Is that right? Several columns could be the text." in "".join(
        piece for piece, _ in offer.sentence
    )
