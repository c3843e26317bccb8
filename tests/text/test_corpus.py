from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text import stream
from lmviz.text.corpus import Corpus, load_corpus, text_corpus
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.tokenizer import Tokenizer

LINES = "\n".join(f"the cow number {n} eats corn and hay." for n in range(20)) + "\n"
KINDS = ("characters", "words", "spaces", "bpe:300")


@pytest.mark.parametrize("kind", KINDS)
def test_several_documents_stand_between_start_and_end(kind):
    corpus = text_corpus(LINES, tokenizer=kind, documents="line")
    tokenizer = corpus.tokenizer
    assert corpus.marks_boundaries
    assert len(corpus.training_documents) == 18
    assert len(corpus.validation_documents) == 2
    expected = [
        [tokenizer.start_id, *tokenizer.encode(text), tokenizer.end_id] for text in corpus.training_documents
    ]
    assert corpus.training.tolist() == list(chain.from_iterable(expected))


@pytest.mark.parametrize("kind", KINDS)
def test_a_single_document_is_one_plain_stream(kind):
    corpus = text_corpus(LINES, tokenizer=kind)
    assert not corpus.marks_boundaries
    assert corpus.training.tolist() == corpus.tokenizer.encode(corpus.training_text).tolist()
    assert corpus.training_text + corpus.validation_documents.text == LINES
    assert len(corpus.validation_documents.text) == pytest.approx(len(LINES) / 10, abs=9)


def test_ids_take_the_smallest_type():
    assert text_corpus(LINES, tokenizer="characters").training.dtype == np.uint8
    many = " ".join(f"w{n}" for n in range(300))
    assert text_corpus(many, validation=0).training.dtype == np.uint16


@pytest.mark.parametrize("documents", ["file", "line"])
@pytest.mark.parametrize("kind", KINDS)
def test_large_ids_lie_in_a_file_and_are_the_same(monkeypatch, kind, documents):
    small = text_corpus(LINES, tokenizer=kind, documents=documents)
    monkeypatch.setattr("lmviz.text.documents._PIECE", 40)
    pieces = text_corpus(LINES, tokenizer=kind, documents=documents)
    monkeypatch.setattr(stream, "LARGE", 100)
    large = text_corpus(LINES, tokenizer=kind, documents=documents)
    assert isinstance(large.training, np.memmap)
    for corpus in (pieces, large):
        assert np.array_equal(corpus.training, small.training)
        assert corpus.validation_stream.characters == small.validation_stream.characters
        assert corpus.fingerprint == small.fingerprint
    with pytest.raises(ValueError, match="read-only"):
        large.training[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        small.training[0] = 1


def test_no_place_for_large_ids_is_said(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path / "file" / "folder"))
    monkeypatch.setattr(stream, "LARGE", 100)
    with pytest.raises(LmvizError, match="name another folder in LMVIZ_DATA"):
        text_corpus(LINES)


def test_characters_are_those_that_a_model_predicts():
    single = text_corpus("abcdefghij", tokenizer="characters")
    assert single.training_stream.characters == 8
    assert single.validation_stream.characters == 0
    words = text_corpus("alpha beta gamma", validation=0)
    assert words.training_stream.characters == len("alpha beta gamma") - len("alpha")
    lines = text_corpus("ab\ncd\nef", documents="line", validation=0)
    assert lines.training_stream.characters == len("ab\ncd\nef\n")
    paragraphs = text_corpus("ab\n\ncd", documents="blank line", validation=0)
    assert paragraphs.training_stream.characters == len("ab\n\ncd\n\n")


def test_only_the_training_part_makes_the_vocabulary():
    corpus = text_corpus("a a a a a a a a a zebra")
    assert "zebra" not in corpus.tokenizer.tokens()
    assert corpus.statistics().unknown_rate == 1.0


def test_a_given_tokenizer_is_used_as_it_is(tmp_path):
    learned = text_corpus(LINES, documents="line")
    learned.tokenizer.save(tmp_path / "tokenizer.json")
    tokenizer = Tokenizer.load(tmp_path / "tokenizer.json")
    other = text_corpus("the cow eats corn.", tokenizer=tokenizer, validation=0)
    assert other.marks_boundaries
    assert other.training[0] == tokenizer.start_id
    assert other.training[-1] == tokenizer.end_id
    plain = text_corpus(LINES, validation=0).tokenizer
    joined = text_corpus(LINES, tokenizer=plain, documents="line", validation=0)
    assert not joined.marks_boundaries
    assert joined.training.tolist() == plain.encode(LINES).tolist()


def test_the_fingerprint_tells_texts_and_options_apart():
    first = text_corpus(LINES).fingerprint
    assert text_corpus(LINES).fingerprint == first
    others = [text_corpus(LINES, seed=1), text_corpus(LINES + "x"), text_corpus(LINES, documents="line")]
    assert first not in [corpus.fingerprint for corpus in others]


def test_files_folders_and_several_files_are_read(tmp_path):
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text(f"text of {name} is here", encoding="utf-8")
    folder = load_corpus(tmp_path)
    assert folder.name == tmp_path.name
    assert len(folder.sources) == 3
    assert len(folder.training_documents) == 2
    several = load_corpus([tmp_path / "a.txt", str(tmp_path / "b.txt")])
    assert several.name == "a and 1 more"
    for language, words in (("en", "a dog\na cat\n"), ("de", "ein Hund\neine Katze\n")):
        (tmp_path / f"pets.{language}").write_text(words * 4, encoding="utf-8")
    assert load_corpus([tmp_path / "pets.en", tmp_path / "pets.de"]).name == "pets"  # one text in two files
    single = load_corpus(str(tmp_path / "a.txt"), "characters")
    assert single.name == "a"
    assert single.tokenizer.kind == "characters"


def test_a_file_in_another_encoding(tmp_path):
    (tmp_path / "a.txt").write_bytes("ein Bär und ein Haus".encode("latin-1"))
    assert "Bär" in load_corpus(tmp_path / "a.txt", encoding="latin-1").training_text
    with pytest.raises(LmvizError, match="0xE4"):
        load_corpus(tmp_path / "a.txt", encoding="utf-8")
    guessed = load_corpus(tmp_path / "a.txt")
    assert "Bär" in guessed.training_text
    assert guessed.options.encoding == "cp1252"
    assert guessed.recognised == (
        "Plain text. Its characters are read as Windows-1252, which is likely but not certain."
    )


def test_settings_stand_above_options():
    options = CorpusOptions(documents="line", lower_case=True)
    corpus = text_corpus("The A\nthe a\nthe b", options=options, validation=0, tokenizer="characters")
    assert corpus.options == CorpusOptions(
        documents="line", lower_case=True, validation=0, tokenizer="characters", encoding="utf-8"
    )
    with pytest.raises(LmvizError, match="There is no setting 'document'"):
        text_corpus("a b c", document="line")


@pytest.mark.parametrize(
    "settings",
    [
        {"tokenizer": "syllables"},
        {"documents": "page"},
        {"validation": 1},
        {"encoding": "utf-9"},
        {"seed": -1},
    ],
)
def test_options_that_cannot_be_are_refused(settings):
    with pytest.raises(LmvizError):
        CorpusOptions(**settings)


def test_progress_rises_to_one_and_may_cancel(tmp_path):
    (tmp_path / "a.txt").write_text(LINES, encoding="utf-8")
    shares: list[float] = []
    load_corpus(tmp_path / "a.txt", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    for stop in shares[:-1]:

        def cancel(share: float, stop: float = stop) -> None:
            if share >= stop:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            load_corpus(tmp_path / "a.txt", progress=cancel)


@pytest.mark.parametrize("text", ["", " \n", "word"])
def test_too_little_text_is_refused(text):
    with pytest.raises(LmvizError):
        text_corpus(text)


def test_what_is_held_out_of_too_little_text_is_said():
    with pytest.raises(LmvizError, match="as 10 % are held out for validation: give a longer text"):
        text_corpus("a b")
    assert len(text_corpus("a b", validation=0.0).training) == 2


@given(
    data=st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)),
    kind=st.sampled_from(KINDS),
    documents=st.sampled_from(["file", "blank line", "line"]),
    validation=st.sampled_from([0, 0.1, 0.9]),
    lower_case=st.booleans(),
)
@settings(max_examples=150)
def test_any_bytes_are_a_corpus_or_a_clear_sentence(
    tmp_path_factory, data, kind, documents, validation, lower_case
):
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes(data)
    options = {"documents": documents, "validation": validation, "lower_case": lower_case}
    try:
        corpus = load_corpus(path, kind, **options)
    except LmvizError:
        return
    assert isinstance(corpus, Corpus)
    assert len(corpus.training) >= 2
    assert corpus.validation_stream.characters >= 0
    assert corpus.statistics().tokens >= 1
    for ids in (corpus.training, corpus.validation):
        assert not len(ids) or int(ids.max()) < corpus.tokenizer.vocabulary_size


@given(text=st.text())
@settings(max_examples=50)
def test_any_string_is_a_corpus_or_a_clear_sentence(text):
    try:
        corpus = text_corpus(text + "\ud800", tokenizer="characters", validation=0)
    except LmvizError:
        return
    assert corpus.training_text.endswith("\ufffd")


def test_what_is_no_tokenizer_is_refused():
    with pytest.raises(LmvizError, match="There is no tokenizer 5"):
        text_corpus(LINES, tokenizer=5)


@pytest.mark.parametrize("source", [None, 5, [None], b"name"])
def test_what_names_no_text_is_refused(source):
    with pytest.raises(LmvizError, match="names no text"):
        load_corpus(source)


@pytest.mark.parametrize(
    "settings",
    [
        {"tokenizer": "words"},
        {"tokenizer": "characters", "lower_case": True},
        {"tokenizer": "words", "minimum_count": 2},
        {"tokenizer": "words", "vocabulary": 9},
        {"tokenizer": "bpe:260"},
    ],
)
def test_a_text_read_with_the_tokenizer_of_a_corpus_is_that_corpus(small_text, settings):
    """So that a training on one can be resumed on the other."""
    corpus = load_corpus(small_text, **settings)
    again = load_corpus(small_text, corpus.tokenizer)
    assert again.options == corpus.options
    assert again.fingerprint == corpus.fingerprint


@pytest.mark.parametrize("specification", ["words", "characters", "bpe:260"])
def test_a_tokenizer_from_a_file_says_what_it_is(small_text, specification, tmp_path):
    corpus = load_corpus(small_text, specification, lower_case=True)
    corpus.tokenizer.save(tmp_path / "tokenizer.json")
    again = load_corpus(small_text, Tokenizer.load(tmp_path / "tokenizer.json"))
    assert again.options == corpus.options
    assert again.fingerprint == corpus.fingerprint


def test_a_corpus_is_shown_in_a_short_table(small_text):
    corpus = load_corpus(small_text)
    for shown in (repr(corpus), repr(corpus.training_documents), repr(corpus.tokenizer)):
        assert len(shown) < 1500
    assert "small" in repr(corpus)
