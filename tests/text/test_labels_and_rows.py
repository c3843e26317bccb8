"""Several labels of a text, two texts of a label, and tagged sentences in tables: each is read as meant."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.text.corpus import Corpus, load_corpus
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.list_cells import is_nested, items_of
from lmviz.text.preview import Preview, look

PEOPLE = ("Ada", "Bela", "Cora", "Dana", "Egon", "Fritz")
SENTENCES = [
    (
        [name, "joined", *firm, "on", "Monday", "."],
        ["B-PER", "O", "B-ORG", *["I-ORG"] * (len(firm) - 1), *"OOO"],
    )
    for name in PEOPLE
    for firm in (["Acme"], ["Delta", "Works"])
]
TOPICS = [(["cake"], "how to bake"), (["cake", "pan"], "which pan to take"), (["pan"], "how to clean it")]
TOPICS += [(["oven", "cake"], "how hot is it"), (["oven"], "why is it cold")]
DISHES = [(labels, f"{text} number {n} ?") for n in range(8) for labels, text in TOPICS]
KINDS = ("cake", "oven", "pan")


def table(rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    written = io.StringIO()
    csv.writer(written, delimiter=separator, lineterminator="\n").writerows(rows)
    return written.getvalue()


def words(once: bool = False) -> list[list[object]]:
    return [
        ["" if once and place else f"Sentence: {number}", word, "NNP" if word[0].isupper() else "X", tag]
        for number, (some, tags) in enumerate(SENTENCES)
        for place, (word, tag) in enumerate(zip(some, tags, strict=True))
    ]


def opened(folder: Path, content: str, name: str, **settings) -> Corpus:
    (folder / name).write_text(content, encoding="utf-8")
    return load_corpus(folder / name, validation=0.0, **settings)


def look_at(folder: Path, content: str, name: str) -> Preview:
    (folder / name).write_text(content, encoding="utf-8")
    offer = look(folder / name)
    assert offer is not None
    return offer


def answers(corpus: Corpus) -> list[list[str]]:
    assert corpus.training_examples is not None
    return [[corpus.labels[id] for id in ids] for ids in corpus.training_examples.target]


def tagged(corpus: Corpus) -> list[tuple[list[str], list[str]]]:
    return [
        (text.split(), tags) for text, tags in zip(corpus.training_documents, answers(corpus), strict=True)
    ]


def labelled(corpus: Corpus) -> list[tuple[str, str]]:
    return [(label, text) for [label], text in zip(answers(corpus), corpus.training_documents, strict=True)]


HEADING = ["Sentence #", "Word", "POS", "Tag"]
ROWS = {
    "a sentence once": table([HEADING, *words(once=True)]),
    "a sentence always": table([HEADING, *words()]),
    "other names": table([["sentence_id", "words", "labels"], *[[a, b, d] for a, b, _, d in words()]]),
    "tabs": table([HEADING, *words()], "\t"),
    "no heading": table([[n, *row[1:]] for n, row in ((row[0][10:], row) for row in words())]),
    "blank lines": table([["Word", "Tag"]])
    + "\n".join(table([[a, b] for a, b in zip(*both, strict=True)]) for both in SENTENCES),
    "tags with commas": table(
        [["sentence", "word_labels"], *[[" ".join(some), ",".join(tags)] for some, tags in SENTENCES]]
    ),
    "tags with spaces": table([["text", "labels"], *[map(" ".join, both) for both in SENTENCES]]),
    "lists of Python": table(
        [["Sentence", "Tag"], *[[" ".join(some), str(tags)] for some, tags in SENTENCES]]
    ),
    "lists of numpy": table(
        [["tokens", "ner_tags"], *[[f"[{' '.join(map(repr, side))}]" for side in both] for both in SENTENCES]]
    ),
    "lists of JSON": table(
        [["tokens", "tags"], *[[json.dumps(side) for side in both] for both in SENTENCES]]
    ),
    "lines of JSON": "".join(
        json.dumps({"sentence": a, "word": b, "pos": c, "tag": d}) + "\n" for a, b, c, d in words()
    ),
}


@pytest.mark.parametrize("kind", ROWS)
def test_tagged_sentences_in_tables_are_read_alike(kind: str, tmp_path: Path) -> None:
    name = "train.jsonl" if "lines of" in kind else "train.tsv" if kind == "tabs" else "train.csv"
    corpus = opened(tmp_path, ROWS[kind], name)
    assert corpus.task == "tagging"
    assert tagged(corpus) == SENTENCES
    assert "12 sentences, 4 tags" in corpus.recognised
    assert "IOB2" in corpus.recognised
    offer = look(tmp_path / name)
    assert offer is not None
    assert offer.count == 12
    assert "of 12 sentences: the " in offer.sentence[0][0]
    again = load_corpus(tmp_path / name, options=corpus.options)
    assert again.fingerprint == corpus.fingerprint


def test_another_column_of_tags_can_be_told(tmp_path: Path) -> None:
    corpus = opened(
        tmp_path, ROWS["a sentence once"], "ner.csv", columns="sentence=Sentence #,word=Word,tag=POS"
    )
    assert tagged(corpus)[0] == (SENTENCES[0][0], ["NNP", "X", "NNP", "X", "NNP", "X"])
    assert "The sentence is in Sentence #, the word in Word, and the tag in POS." in corpus.recognised


SEVERAL = {
    "fastText": "".join(f"{' '.join(f'__label__{kind}' for kind in some)} {text}\n" for some, text in DISHES),
    "fastText with commas": "".join(
        f"{' , '.join(f'__label__{kind}' for kind in some)} , {text}\n" for some, text in DISHES
    ),
    "lists of JSON": "".join(json.dumps({"text": text, "labels": some}) + "\n" for some, text in DISHES),
    "lists in a table": table([["text", "labels"], *[[text, str(some)] for some, text in DISHES]]),
}
ENDINGS = {
    "fastText": "txt",
    "fastText with commas": "txt",
    "lists of JSON": "jsonl",
    "lists in a table": "csv",
}
WAYS = {
    "first": [(some[0], text) for some, text in DISHES],
    "single": [(some[0], text) for some, text in DISHES if len(some) == 1],
    "set": [(" + ".join(sorted(some)), text) for some, text in DISHES],
}
SAID = {
    "first": "16 of 40 texts have several labels: only the first of each is read.",
    "single": "16 of 40 texts have several labels: they are left out.",
    "set": "16 of 40 texts have several labels: each set of labels is a class of its own.",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", SEVERAL)
def test_several_labels_are_asked_about_and_read_in_three_ways(kind: str, way: str, tmp_path: Path) -> None:
    name = f"dishes.{ENDINGS[kind]}"
    with pytest.raises(LmvizError, match=r"16 of 40 texts have several labels.*several=first.*=single.*=set"):
        opened(tmp_path, SEVERAL[kind], name)
    corpus = opened(tmp_path, SEVERAL[kind], name, several=way)
    assert corpus.task == "classification"
    assert labelled(corpus) == WAYS[way]
    assert SAID[way] in corpus.complaints
    offer = look(tmp_path / name, CorpusOptions(several=way))
    assert offer is not None
    assert offer.asks
    assert offer.several == "16 of 40 texts have several labels"
    assert SAID[way] in offer.left_out


def test_a_list_of_one_label_is_that_label(tmp_path: Path) -> None:
    content = "".join(json.dumps({"text": text, "label": some[:1]}) + "\n" for some, text in DISHES)
    assert labelled(opened(tmp_path, content, "one.jsonl")) == WAYS["first"]


@pytest.mark.parametrize("flags", ["01", ("False", "True"), ("0.0", "1.0")])
def test_columns_of_0_and_1_are_labels_that_are_asked_about(flags: Sequence[str], tmp_path: Path) -> None:
    rows = [[n, text, *[flags[kind in some] for kind in KINDS]] for n, (some, text) in enumerate(DISHES)]
    content = table([["id", "comment_text", *KINDS], *rows, ["99", "nothing of it at all", *[flags[0]] * 3]])
    told = "label=cake+oven+pan,text=comment_text"
    with pytest.raises(LmvizError) as refused:
        opened(tmp_path, content, "flags.csv")
    assert f"columns={told}" in str(refused.value)
    corpus = opened(tmp_path, content, "flags.csv", columns=told, several="set")
    assert labelled(corpus) == [*WAYS["set"], ("none", "nothing of it at all")]


def test_a_label_that_no_text_of_the_beginning_has_is_one_too(tmp_path: Path) -> None:
    rows = [[text, *[int(kind in some) for kind in ("cake", "stove", "pan")]] for some, text in DISHES]
    offer = look_at(tmp_path, table([["text", "cake", "stove", "pan"], *rows]), "rare.csv")
    assert "label=cake+stove+pan" in offer.options.columns


def test_words_beside_a_text_are_not_tagged(tmp_path: Path) -> None:
    """Several comments of a document, each by somebody and with a label."""
    rows = [[n // 4, PEOPLE[n % 5], "good" if n % 3 else "bad", f"the comment number {n}"] for n in range(40)]
    offer = look_at(tmp_path, table([["document", "author", "label", "text"], *rows]), "comments.csv")
    assert offer.layout is not None
    assert offer.layout.task == "classification"


@pytest.mark.parametrize("comma", [",", ", "])
def test_a_comma_after_the_label_of_fasttext_belongs_to_neither(comma: str, tmp_path: Path) -> None:
    content = "".join(f"__label__{some[0]}{comma}{text}\n" for some, text in DISHES)
    assert labelled(opened(tmp_path, content, "commas.txt")) == WAYS["first"]


TWO = {
    "nli.jsonl": (("premise", "hypothesis", "label"), (0, 1, 2)),
    "news.csv": (("Title", "Description", "Class Index"), (1, 2, 3, 4)),
    "glue.tsv": (("question1", "question2", "is_duplicate"), (0, 1)),
    "snli.jsonl": (("sentence1", "sentence2", "gold_label"), ("neutral", "entailment")),
}


@pytest.mark.parametrize("name", TWO)
def test_two_texts_of_a_label_are_asked_about_and_joined_or_not(name: str, tmp_path: Path) -> None:
    (one, other, label), kinds = TWO[name]
    rows = [
        (f"the cat sat on mat {n}", f"an animal sat there {n}", str(kinds[n % len(kinds)])) for n in range(24)
    ]
    heading = (one, other, label)
    content = (
        "".join(json.dumps(dict(zip(heading, row, strict=True))) + "\n" for row in rows)
        if name.endswith("jsonl")
        else table([heading, *rows], "\t" if name.endswith("tsv") else ",")
    )
    with pytest.raises(LmvizError) as refused:
        opened(tmp_path, content, name)
    ways = [f"columns=label={label},text={text}" for text in (f"{one}+{other}", one, other)]
    assert all(way in str(refused.value) for way in ways)
    offer = look(tmp_path / name)
    assert offer is not None
    assert offer.asks
    joined = opened(tmp_path, content, name, columns=f"label={label},text={one}+{other}")
    assert labelled(joined) == [(kind, f"{first} | {second}") for first, second, kind in rows]
    marked = opened(tmp_path, content, name, columns=f"label={label},text={one}+{other}", between="[SEP]")
    assert labelled(marked)[0][1] == f"{rows[0][0]} [SEP] {rows[0][1]}"
    alone = opened(tmp_path, content, name, columns=f"label={label},text={other}")
    assert labelled(alone) == [(kind, second) for _, second, kind in rows]


def test_words_in_a_list_with_a_label_are_a_text(tmp_path: Path) -> None:
    content = "".join(json.dumps({"tokens": text.split(), "label": some[0]}) + "\n" for some, text in DISHES)
    assert labelled(opened(tmp_path, content, "words.jsonl")) == WAYS["first"]


scalars = st.one_of(st.integers(-99, 99), st.text(st.characters(exclude_characters="'\"\\"), max_size=6))


@given(st.lists(scalars, max_size=5))
def test_a_list_is_read_as_json_and_python_write_it(items: list[object]) -> None:
    expected = tuple(map(str, items))
    assert items_of(json.dumps(items)) == expected
    assert items_of(repr(items)) == expected
    assert is_nested(repr(items))


@given(st.text(max_size=30), st.sampled_from(["{}", "[]", "()"]))
def test_any_cell_is_a_list_or_none(text: str, brackets: str) -> None:
    found = items_of(brackets[0] + text + brackets[1])
    assert found is None or all(isinstance(item, str) for item in found)
    is_nested(brackets[0] + text + brackets[1])


def test_a_cell_with_a_list_is_no_label_of_its_own(tmp_path: Path) -> None:
    """Boxes of numbers and objects are about the text, whatever their column is called."""
    rows = [{"text": f"the film was number {n} of all", "label": [{"x": n % 2}]} for n in range(20)]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    with pytest.raises(LmvizError, match="label has lists"):
        opened(tmp_path, content, "boxes.jsonl")


def test_a_classifier_of_sets_is_judged_on_a_file_that_is_read_alike(tmp_path: Path) -> None:
    corpus = opened(tmp_path, SEVERAL["fastText"], "dishes.txt", several="set")
    lmviz.train("gru", corpus, tmp_path / "run", steps=1, batch=4, width=4)
    model = lmviz.open_model(tmp_path / "run")
    with pytest.raises(LmvizError, match="several labels"):
        lmviz.evaluate(model, tmp_path / "dishes.txt")
    score = lmviz.evaluate(model, tmp_path / "dishes.txt", several="set")
    assert score.labels == corpus.labels
    assert score.tokens == len(DISHES)


def test_the_numbers_of_labels_have_names_beside_the_file(tmp_path: Path) -> None:
    names = ["cake", "oven", "pan"]
    info = {"features": {"topic": {"names": names, "_type": "ClassLabel"}, "text": {"dtype": "string"}}}
    (tmp_path / "dataset_info.json").write_text(json.dumps(info), encoding="utf-8")
    rows = [[text, names.index(some[0])] for some, text in DISHES]
    assert labelled(opened(tmp_path, table([["text", "topic"], *rows]), "train.csv")) == WAYS["first"]
    lists = [{"text": text, "topic": [names.index(kind) for kind in some]} for some, text in DISHES]
    content = "".join(json.dumps(row) + "\n" for row in lists)
    assert labelled(opened(tmp_path, content, "lists.jsonl", several="set")) == WAYS["set"]


def test_a_label_first_and_a_text_last_of_six_columns_without_a_heading(tmp_path: Path) -> None:
    """As Sentiment140 has them, with an address, a date and a name between."""
    rows = [
        [
            "40"[n % 2],
            1467810369 + n,
            "Mon Apr 06 22:19:45 PDT 2009",
            "NO_QUERY",
            f"ada{n}",
            f"@bo café: so {n} £",
        ]
        for n in range(60)
    ]
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    (tmp_path / "tweets.csv").write_bytes(written.getvalue().encode("latin-1"))
    corpus = load_corpus(tmp_path / "tweets.csv", validation=0.0)
    assert labelled(corpus) == [(row[0], row[-1]) for row in rows]


def test_words_without_an_end_of_a_sentence_are_one_and_it_is_said(tmp_path: Path) -> None:
    rows = [[word, tag] for both in SENTENCES for word, tag in zip(*both, strict=True)]
    corpus = opened(tmp_path, table([["Word", "Tag"], *rows]), "words.csv", columns="word=Word,tag=Tag")
    assert len(corpus.training_documents) == 1
    assert corpus.complaints[-1].startswith("Nothing says where a sentence ends")


def test_the_columns_of_words_can_be_chosen_in_the_preview(tmp_path: Path) -> None:
    offer = look_at(tmp_path, ROWS["a sentence once"], "ner.csv")
    assert [offer.role_of(place) for place in range(4)] == ["sentence", "word", "", "tag"]
    assert set(offer.roles) == {"sentence", "word", "tag"}
    assert offer.with_role(2, "tag").columns == "sentence=Sentence #,word=Word,tag=POS"
    assert offer.with_role(0, "").columns == "word=Word,tag=Tag"


def test_columns_of_labels_can_be_left_out_and_added_in_the_preview(tmp_path: Path) -> None:
    rows = [[text, *[int(kind in some) for kind in KINDS]] for some, text in DISHES]
    offer = look_at(tmp_path, table([["text", *KINDS], *rows]), "flags.csv")
    assert [offer.role_of(place) for place in range(4)] == ["text", "label", "label+", "label+"]
    assert offer.with_role(1, "").columns == "label=oven+pan,text=text"
    assert offer.with_role(3, "").columns == "label=cake+oven,text=text"
    fewer = look(tmp_path / "flags.csv", offer.with_role(3, ""))
    assert fewer is not None
    assert fewer.with_role(3, "label+").columns == "label=cake+oven+pan,text=text"
