"""Tagged texts as JSON has them: lists of words and tags, and texts with spans by offsets."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.text.corpus import Corpus, load_corpus
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.json_objects import json_values
from lmviz.text.preview import look
from lmviz.text.tagged_lists import find_lists, read_lists
from lmviz.text.tagged_spans import find_spans, read_spans

PEOPLE = ("Ada", "Bela", "Cora", "Dana", "Egon", "Fritz")
SENTENCES = [
    (
        [name, "joined", *firm, "on", "Monday", "."],
        ["B-PER", "O", "B-ORG", *["I-ORG"] * (len(firm) - 1), *"OOO"],
    )
    for name in PEOPLE
    for firm in (["Acme"], ["Delta", "Works"])
]
FIRST, LAST = SENTENCES[0], SENTENCES[-1]
NAMES = ["O", "B-PER", "B-ORG", "I-ORG"]
INFO = {"ner_tags": {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "Sequence"}}


def marked(words: Sequence[str], tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """The spans of a sentence whose words have single spaces between them."""
    found: list[tuple[int, int, str]] = []
    place = 0
    for word, tag in zip(words, tags, strict=True):
        if tag[0] == "B":
            found.append((place, place + len(word), tag[2:]))
        elif tag[0] == "I":
            found[-1] = (found[-1][0], place + len(word), tag[2:])
        place += len(word) + 1
    return found


def counted(tags: Sequence[str]) -> list[tuple[int, int, str]]:
    """The spans of a sentence in words."""
    return [(a, b, k) for a, b, k in marked(["-"] * len(tags), tags) for a, b in [(a // 2, (b + 1) // 2)]]


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def each(make) -> list[object]:
    return [make(" ".join(words), marked(words, tags)) for words, tags in SENTENCES]


def studio(text: str, spans: Sequence[tuple[int, int, str]]) -> dict[str, object]:
    values = [{"start": a, "end": b, "text": text[a:b], "labels": [kind]} for a, b, kind in spans]
    marks = [{"value": value, "from_name": "label", "to_name": "text", "type": "labels"} for value in values]
    return {"id": 1, "data": {"text": text}, "annotations": [{"id": 7, "result": marks}]}


def dataturks(text: str, spans: Sequence[tuple[int, int, str]]) -> dict[str, object]:
    """Its ends are counted in."""
    points = [{"label": [k], "points": [{"start": a, "end": b - 1, "text": text[a:b]}]} for a, b, k in spans]
    return {"content": text, "annotation": points, "extras": None}


ROWS = [{"tokens": words, "ner_tags": tags} for words, tags in SENTENCES]
FILES = {
    "datasets": lines(*({"id": "0", "tokens": words, "ner_tags": tags} for words, tags in SENTENCES)),
    "an array": json.dumps([{"words": words, "tags": tags} for words, tags in SENTENCES], indent=1),
    "labels": lines(*({"tokens": words, "labels": tags} for words, tags in SENTENCES)),
    "a sentence": lines(*({"text": " ".join(words), "ner": tags} for words, tags in SENTENCES)),
    "token by token": lines(
        *({"tokens": [{"text": a, "tag": b} for a, b in zip(*both, strict=True)]} for both in SENTENCES)
    ),
    "pairs": json.dumps([list(map(list, zip(*both, strict=True))) for both in SENTENCES]),
    "rows of a server": json.dumps(
        {"features": [{"name": "x"}], "rows": [{"row_idx": 0, "row": row} for row in ROWS]}
    ),
    "doccano": lines(*each(lambda text, spans: {"text": text, "labels": spans})),
    "doccano, an array": json.dumps(each(lambda text, spans: {"text": text, "label": spans})),
    "doccano, objects": lines(
        *each(
            lambda text, spans: {
                "text": text,
                "entities": [{"id": 1, "label": k, "start_offset": a, "end_offset": b} for a, b, k in spans],
                "relations": [],
            }
        )
    ),
    "prodigy": lines(
        *each(
            lambda text, spans: {
                "text": text,
                "tokens": [{"text": word, "start": 0, "id": n} for n, word in enumerate(text.split())],
                "spans": [{"start": a, "end": b, "label": k} for a, b, k in spans],
                "answer": "accept",
            }
        )
    ),
    "Label Studio": json.dumps(each(studio), indent=2),
    "Dataturks": lines(*each(dataturks)),
    "spans of words": json.dumps(
        [
            {
                "tokens": words,
                "entities": [{"type": k, "start": a, "end": b} for a, b, k in counted(tags)],
                "orig_id": "0",
            }
            for words, tags in SENTENCES
        ]
    ),
    "spans up to their last word": lines(
        *(
            {"tokenized_text": words, "ner": [[a, b - 1, k] for a, b, k in counted(tags)]}
            for words, tags in SENTENCES
        )
    ),
    "spaCy": json.dumps(each(lambda text, spans: [text, {"entities": spans}])),
    "within an object": json.dumps(
        {"classes": ["PER"], "annotations": each(lambda text, spans: [text, {"entities": spans}])}
    ),
}  # fmt: skip


def opened(folder: Path, content: str, name: str = "train.jsonl", **settings) -> Corpus:
    (folder / name).write_text(content, encoding="utf-8")
    return load_corpus(folder / name, validation=0.0, **settings)


def tagged(corpus: Corpus) -> list[tuple[list[str], list[str]]]:
    examples = corpus.training_examples
    assert examples is not None
    texts = [corpus.training_documents[n].split() for n in range(len(corpus.training_documents))]
    return [
        (text, [corpus.labels[id] for id in ids]) for text, ids in zip(texts, examples.target, strict=True)
    ]


@pytest.mark.parametrize("kind", FILES)
def test_each_way_of_writing_tags_in_json_gives_the_same_sentences(kind: str, tmp_path: Path) -> None:
    corpus = opened(tmp_path, FILES[kind])
    assert corpus.task == "tagging"
    assert tagged(corpus) == SENTENCES
    assert "12 sentences, 4 tags" in corpus.recognised
    assert "IOB2" in corpus.recognised
    assert corpus.complaints == ()


@pytest.mark.parametrize("kind", ["datasets", "doccano"])
def test_the_window_says_the_same(kind: str, tmp_path: Path) -> None:
    corpus = opened(tmp_path, FILES[kind])
    offer = look(tmp_path / "train.jsonl")
    assert offer is not None
    said = "".join(text for text, _ in offer.sentence)
    assert said.startswith(f"{corpus.recognised.partition(':')[0]} of 12 sentences: the word is in t")
    assert corpus.recognised.rpartition(" Its tags")[2] in said
    assert offer.count == 12
    assert not offer.asks


@pytest.mark.parametrize("kind", FILES)
def test_a_run_reads_it_again_in_the_same_way(kind: str, tmp_path: Path) -> None:
    corpus = opened(tmp_path, FILES[kind])
    again = load_corpus(tmp_path / "train.jsonl", options=corpus.options)
    assert again.fingerprint == corpus.fingerprint


def numbered(**more: list[int]) -> str:
    return lines(
        *({"tokens": words, "ner_tags": list(map(NAMES.index, tags)), **more} for words, tags in SENTENCES)
    )


CARD = (
    "---\ndataset_info:\n  features:\n  - name: ner_tags\n    sequence:\n      class_label:\n        names:\n"
    + "".join(f"          '{n}': {name}\n" for n, name in enumerate(NAMES))
    + "---\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("dataset_info.json", json.dumps({"features": INFO})),
        ("dataset_infos.json", json.dumps({"default": {"features": INFO}})),
        ("README.md", CARD),
    ],
)
def test_numbers_have_the_names_that_stand_beside_the_file(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert tagged(opened(tmp_path, numbered())) == SENTENCES
    assert tagged(load_corpus(tmp_path, validation=0.0)) == SENTENCES


def test_numbers_without_names_stay_numbers_and_it_is_said(tmp_path: Path) -> None:
    corpus = opened(tmp_path, numbered())
    assert tagged(corpus)[0] == (FIRST[0], [str(NAMES.index(tag)) for tag in FIRST[1]])
    assert corpus.complaints == (
        "The tags are numbers: a dataset_info.json beside the file would say their names.",
    )


def test_of_several_tags_those_of_names_are_meant_and_others_can_be_told(tmp_path: Path) -> None:
    content = lines(
        *({"tokens": words, "pos_tags": ["X"] * len(words), "ner_tags": tags} for words, tags in SENTENCES)
    )
    assert tagged(opened(tmp_path, content)) == SENTENCES
    offer = look(tmp_path / "train.jsonl")
    assert offer is not None
    assert offer.asks
    others = opened(tmp_path, content, columns="word=tokens,tag=pos_tags")
    assert tagged(others)[0] == (FIRST[0], ["X"] * len(FIRST[0]))


def test_a_sentence_with_more_tags_than_words_is_named(tmp_path: Path) -> None:
    corpus = opened(tmp_path, FILES["datasets"] + lines({"tokens": ["Ada"], "ner_tags": ["O", "O"]}))
    assert tagged(corpus) == SENTENCES
    assert corpus.complaints == ("Line 13 has 1 words and 2 tags.",)


def test_spans_that_overlap_or_cut_words_are_named_with_their_number(tmp_path: Path) -> None:
    text = "Bela's dog saw Acme Corp in U.S. today.\nBela left."
    spans = [[0, 4, "PER"], [15, 24, "ORG"], [15, 19, "ORG"], [28, 32, "LOC"], [40, 44, "PER"], [50, 99, "X"]]
    corpus = opened(tmp_path, lines(*[{"text": text, "labels": spans}] * 3))
    words = ["Bela's", "dog", "saw", "Acme", "Corp", "in", "U", ".", "S", ".", "today", "."]
    tags = ["B-PER", "O", "O", "B-ORG", "I-ORG", "O", "B-LOC", "I-LOC", "I-LOC", "I-LOC", "O", "O"]
    assert tagged(corpus)[:2] == [(words, tags), (["Bela", "left", "."], ["B-PER", "O", "O"])]
    assert len(tagged(corpus)) == 6
    assert [said.split(":")[0] for said in corpus.complaints] == [
        "3 spans begin or end within a word",
        "3 spans overlap others",
        "3 spans are empty or go beyond their texts",
    ]
    assert "line 1: ORG in “" in corpus.complaints[1]


@pytest.mark.parametrize(
    "content",
    [
        lines(*({"text": "the film was good", "label": "good"} for _ in range(9))),
        lines(*({"tokens": ["so", "dull"], "label": "bad"} for _ in range(9))),
        lines(*({"tokens": ["so", "dull"], "input_ids": [3, 4]} for _ in range(9))),
        lines(*({"text": "so dull", "boxes": [[0, 1, 2]]} for _ in range(9))),
    ],
    ids=["a label", "words and a label", "ids of tokens", "numbers"],
)  # fmt: skip
def test_other_lists_are_no_tags(content: str) -> None:
    data = content.encode()
    assert find_lists(data, force=False) is None
    assert find_spans(data, force=False) is None


cells = st.one_of(st.none(), st.booleans(), st.integers(-3, 99), st.floats(), st.text(max_size=5))
values = st.recursive(
    cells,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(["text", "tokens", "tags", "labels", "start", "end", "label", "value"]), inner
        ),
    ),
    max_leaves=12,
)


@given(st.lists(values, min_size=1, max_size=4), st.sampled_from([None, 1]), st.booleans())
def test_any_json_gives_records_or_nothing(items: list[object], indent: int | None, as_lines: bool) -> None:
    text = (
        "".join(json.dumps(item) + "\n" for item in items) if as_lines else json.dumps(items, indent=indent)
    )
    for find, read in ((find_lists, read_lists), (find_spans, read_spans)):
        layout = find(text.encode(), force=True)
        if layout is not None:
            for number, row, reason in read(text.encode(), layout):
                assert number >= 1
                assert reason or not row or len(row) == len(layout.names)


@given(st.lists(st.dictionaries(st.text(max_size=3), cells, min_size=1), min_size=2, max_size=5), st.data())
def test_values_are_found_however_they_are_laid_out(items: list[object], data: st.DataObject) -> None:
    items = json.loads(
        json.dumps(items).replace("NaN", "0").replace("-Infinity", "0").replace("Infinity", "0")
    )
    way = data.draw(st.sampled_from(["lines", "array", "pretty", "within", "one by one"]))
    text = {
        "lines": "\n".join(map(json.dumps, items)),
        "array": json.dumps(items),
        "pretty": json.dumps(items, indent=2),
        "within": json.dumps({"version": "1", "data": items}, indent=1),
        "one by one": "\n".join(json.dumps(item, indent=2) for item in items),
    }[way]
    found = list(json_values(text.encode()))
    assert [value for _, value, _ in found] == items
    numbers = [number for number, _, _ in found]
    assert numbers == sorted(numbers)
    cut = data.draw(st.integers(0, len(text)))
    whole = [value for _, value, reason in json_values(text[:cut].encode()) if not reason]
    assert len(whole) <= len(items) or way == "one by one"


def test_parts_of_a_data_set_in_one_object_are_all_read(tmp_path: Path) -> None:
    parts = {"version": "1", "train": ROWS[:8], "test": ROWS[8:], "links": [{"a": 1}]}
    corpus = opened(tmp_path, json.dumps(parts, indent=1), "all.json")
    assert tagged(corpus) == SENTENCES
    numbers = [number for number, _, _ in json_values(json.dumps(parts, indent=1).encode())]
    assert len(set(numbers)) == len(numbers) == 12
    assert numbers == sorted(numbers)


def test_what_is_told_is_read_so(tmp_path: Path) -> None:
    corpus = opened(tmp_path, FILES["doccano"], options=CorpusOptions(form="spans", task="tagging"))
    assert tagged(corpus)[-1] == LAST


def test_what_doccano_exports_with_numbers_of_labels_is_read_and_said(tmp_path: Path) -> None:
    numbers = {"PER": 7, "ORG": 6}
    content = lines(
        *each(
            lambda text, spans: {
                "id": 1,
                "text": text,
                "annotations": [
                    {"label": numbers[k], "start_offset": a, "end_offset": b, "user": 1} for a, b, k in spans
                ],
                "meta": {},
            }
        )
    )
    corpus = opened(tmp_path, content)
    assert tagged(corpus)[-1][1] == ["B-7", "O", "B-6", "I-6", "O", "O", "O"]
    assert corpus.complaints == (
        "The tags are numbers: a dataset_info.json beside the file would say their names.",
    )


@pytest.mark.parametrize(
    ("before", "line", "longer"),
    [
        ("", "{tag}\t{word}", ""),
        ("Word\tPOS\tTag\n", "{word}\tX\t{tag}", ""),
        ("word ner\n", "{word} {tag}", ""),
        ("", "{word} {tag}", "-of-the-creative-kind"),
    ],
    ids=["the tag first", "three names", "two names", "long tags"],
)
def test_columns_are_read_whatever_their_order_heading_and_length(
    before: str, line: str, longer: str, tmp_path: Path
) -> None:
    expected = [(words, [tag + longer if tag != "O" else tag for tag in tags]) for words, tags in SENTENCES]
    content = "\n".join(
        "".join(line.format(word=word, tag=tag) + "\n" for word, tag in zip(*both, strict=True))
        for both in expected
    )
    corpus = opened(tmp_path, before + content, "names.txt")
    assert tagged(corpus) == expected
    assert "12 sentences, 4 tags" in corpus.recognised
    assert corpus.complaints == ()


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        (["I-PER O B-LOC I-LOC", "I-LOC B-LOC O O"], "IOB"),
        (["I-PER O I-LOC I-LOC", "I-LOC B-LOC O O"], "IOB1"),
        (["B-PER O B-LOC I-LOC", "B-LOC B-LOC O O"], "IOB2"),
        (["S-PER O B-LOC E-LOC", "S-LOC S-LOC O O"], "IOBES"),
        (["U_PER O B_LOC L_LOC", "U_LOC U_LOC O O"], "BILOU"),
        (["PER-S O LOC-B LOC-E", "LOC-S LOC-S O O"], "IOBES"),
    ],
)
def test_the_scheme_of_columns_is_said(tags: list[str], scheme: str, tmp_path: Path) -> None:
    names = ["Ada in New York", "Rome Oslo or so"]
    both = [zip(name.split(), some.split(), strict=True) for name, some in zip(names, tags, strict=True)]
    content = "\n".join("".join(f"{word} {tag}\n" for word, tag in pairs) for pairs in both)
    corpus = opened(tmp_path, f"{content}\n" * 5, "names.txt")
    assert f"Its tags mark spans in {scheme}, as " in corpus.recognised
    offer = look(tmp_path / "names.txt")
    assert offer is not None
    assert f"Its tags mark spans in {scheme}, as " in "".join(text for text, _ in offer.sentence)
