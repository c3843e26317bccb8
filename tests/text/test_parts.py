"""Files that are called train and validation stay these parts."""

import json
from pathlib import Path

import pytest

from lmviz.text.corpus import load_corpus
from lmviz.text.parts import find_parts, part_of_name, parts_within


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train.jsonl", "training"),
        ("TinyStories-valid.txt", "validation"),
        ("wiki.test.tokens", "test"),
        ("data/validation-00000-of-00002.parquet", "validation"),
        ("train/part-1.txt", "training"),
        ("dev.txt", "validation"),
        ("trains.txt", ""),
        ("train_test.txt", ""),
        ("a.txt", ""),
        ("a train to rome.txt", ""),
        ("test of time.txt", ""),
        ("my data/train-1.txt", "training"),
    ],
)
def test_a_name_says_a_part(name, part):
    assert part_of_name(Path(name)) == part


def write(folder: Path, ending: str, parts: dict[str, int]) -> None:
    for part, count in parts.items():
        stories = [f"the {part} fox number {n} said no" for n in range(count)]
        if ending == "jsonl":
            text = "".join(json.dumps({"text": story, "id": n}) + "\n" for n, story in enumerate(stories))
        elif ending == "csv":
            labels = ("good", "bad")
            text = "label,text\n" + "".join(f"{labels[n % 2]},{story}\n" for n, story in enumerate(stories))
        else:
            text = "\n<|endoftext|>\n".join(stories)
        (folder / f"{part}.{ending}").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "txt"])
@pytest.mark.parametrize("held_out", ["validation", "dev", "test"])
def test_a_folder_keeps_its_parts(tmp_path, ending, held_out):
    write(tmp_path, ending, {"train": 8, held_out: 4})
    corpus = load_corpus(tmp_path)
    assert len(corpus.training_documents) == 8
    assert len(corpus.validation_documents) == 4
    assert all(f"the {held_out} fox" in text for text in corpus.validation_documents)
    assert (
        f"The parts are those of the files: train.{ending} to learn from, and {held_out}.{ending} to "
        "validate with."
    ) in corpus.complaints
    again = load_corpus(corpus.sources, options=corpus.options)
    assert again.fingerprint == corpus.fingerprint
    joined = load_corpus(tmp_path, parts="joined", validation=0)
    assert len(joined.training_documents) == 12
    assert joined.fingerprint != corpus.fingerprint


def test_what_is_there_to_test_with_is_not_read(tmp_path):
    write(tmp_path, "jsonl", {"test": 3, "train": 8, "validation": 4})
    corpus = load_corpus(tmp_path)
    assert (len(corpus.training_documents), len(corpus.validation_documents)) == (8, 4)
    assert "test.jsonl not read" in corpus.complaints[0]


def test_pairs_in_two_languages_keep_their_parts(tmp_path):
    for part, count in {"train": 8, "val": 3}.items():
        for language, words in (("en", "the house"), ("de", "das Haus")):
            lines = "".join(f"{words} {part} {n}\n" for n in range(count))
            (tmp_path / f"{part}.{language}").write_text(lines, encoding="utf-8")
    corpus = load_corpus(tmp_path)
    assert corpus.task == "translation"
    assert list(corpus.validation_documents) == [f"das Haus val {n}" for n in range(3)]


def test_a_tokenizer_without_boundaries_keeps_the_parts(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    write(parts, "txt", {"train": 8, "validation": 4})
    (tmp_path / "any.txt").write_text("the train fox number 1 2 3 said no " * 9, encoding="utf-8")
    tokenizer = load_corpus(tmp_path / "any.txt", tokenizer="characters").tokenizer
    assert not tokenizer.marks_boundaries
    corpus = load_corpus(parts, tokenizer=tokenizer)
    assert len(corpus.training_documents) == len(corpus.validation_documents) == 1
    assert "validation" not in corpus.training_text
    assert "endoftext" not in corpus.training_text


def test_files_of_which_not_all_say_a_part_are_joined():
    assert find_parts([Path("train.txt"), Path("b.txt"), Path("valid.txt")]) is None
    assert find_parts([Path("valid.txt"), Path("test.txt")]) is None


@pytest.mark.parametrize("held_out", ["validation", "test"])
def test_one_json_file_keeps_the_parts_that_it_names(tmp_path, held_out):
    path = tmp_path / "all.json"
    parts = {
        "train": [{"text": f"a text about cats, number {n}"} for n in range(20)],
        held_out: [{"text": f"a text about dogs, number {n}"} for n in range(6)],
    }
    path.write_text(json.dumps(parts, indent=1), encoding="utf-8")
    corpus = load_corpus(path)
    assert (len(corpus.training_documents), len(corpus.validation_documents)) == (20, 6)
    assert "dogs" not in corpus.training_text
    assert f"train to learn from, and {held_out} to validate with" in " ".join(corpus.complaints)
    joined = load_corpus(path, parts="joined")
    assert len(joined.training_documents) + len(joined.validation_documents) == 26
    assert "dogs" in joined.training_text
    assert not joined.complaints


def test_what_is_there_to_test_with_within_one_file_is_not_read(tmp_path):
    path = tmp_path / "all.json"
    rows = {name: [{"text": f"{name} {n} of them"} for n in range(9)] for name in ("train", "dev", "test")}
    path.write_text(json.dumps(rows), encoding="utf-8")
    corpus = load_corpus(path)
    assert len(corpus.training_documents) == len(corpus.validation_documents) == 9
    assert "test not read" in " ".join(corpus.complaints)


@pytest.mark.parametrize(
    "content",
    ['{"train": [{"text": "a b"}]}', '{"train": [{"text": "a b c"}], "test": [', '{"train": 1, "test": [2]}'],
)
def test_a_file_without_both_parts_has_none(content):
    assert parts_within(content.encode()) is None
