"""What packs a text is taken off, whatever it is; what is missing or damaged is said in a sentence."""

import bz2
import gzip
import io
import json
import lzma
import sys
import zipfile
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text import packing
from lmviz.text.corpus import Corpus, load_corpus
from lmviz.text.reading import find_files, read_raw

STORIES = [f"Once there was a fox number {n}.\nIt was réd." for n in range(8)]
LINES = "".join(json.dumps({"text": story, "id": n}) + "\n" for n, story in enumerate(STORIES)).encode()


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return made.getvalue()


def table() -> bytes:
    made = io.BytesIO()
    columns = {"text": STORIES, "id": list(range(8)), "picture": [b"\0" * 9] * 8}
    pyarrow.parquet.write_table(pyarrow.table(columns), made)
    return made.getvalue()


packed = {
    "a.jsonl.gz": gzip.compress(LINES),
    "a.jsonl.bz2": bz2.compress(LINES),
    "a.jsonl.xz": lzma.compress(LINES),
    "a.jsonl.zst": zstandard.compress(LINES[:200]) + zstandard.compress(LINES[200:]),
    "a.zip": zipped(**{"data/a.jsonl": LINES, "__MACOSX/._a.jsonl": b"x", "README.md": b"read me"}),
    "a.parquet": table(),
}


def written(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def documents_of(corpus: Corpus) -> list[str]:
    return sorted([*corpus.training_documents, *corpus.validation_documents])


@pytest.mark.parametrize("name", packed)
@pytest.mark.parametrize("given", ["file", "folder"])
def test_what_packs_a_text_is_taken_off(tmp_path, name, given):
    if given == "folder" and name == "a.zip":
        pytest.skip("what a zip file in a folder holds is not known from its beginning")
    path = written(tmp_path, name, packed[name])
    corpus = load_corpus(path if given == "file" else tmp_path)
    assert documents_of(corpus) == STORIES
    assert corpus.options.columns == "text=text"
    assert load_corpus(corpus.sources, options=corpus.options).fingerprint == corpus.fingerprint


def test_a_table_in_parquet_says_what_it_is(tmp_path):
    corpus = load_corpus(written(tmp_path, "a.parquet", packed["a.parquet"]))
    assert corpus.recognised == "Parquet: 8 documents. The text is in text."
    assert corpus.complaints == ("2 columns are not read: id (0), picture ((9 bytes)).",)


def test_the_text_in_a_zip_file_has_its_own_name(tmp_path):
    rows = b"wording\n" + b"it was a fox\n" * 3 + b"it was a cat, or two\n"
    path = written(tmp_path, "a.zip", zipped(**{"poems.csv": b"text\n" + rows}))
    assert documents_of(load_corpus(path))[-1] == "wording"


@pytest.mark.parametrize(("name", "library"), [("a.parquet", "pyarrow"), ("a.jsonl.zst", "zstandard")])
def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        LmvizError, match=rf"needs the package {library}: .*pip install {library}.*\[tables\]"
    ):
        load_corpus(written(tmp_path, name, packed[name]))


def test_several_texts_in_an_archive_are_named(tmp_path):
    path = written(tmp_path, "two.zip", zipped(**{"a.txt": b"one", "b.txt": b"two"}))
    with pytest.raises(LmvizError, match=r"holds 2 files \(a.txt, b.txt\)"):
        load_corpus(path)
    with pytest.raises(LmvizError, match="holds no file"):
        load_corpus(written(tmp_path, "none.zip", zipped(**{"a/": b""})))


@pytest.mark.parametrize("name", packed)
def test_what_unpacks_to_more_than_fits_is_refused(tmp_path, monkeypatch, name):
    path = written(tmp_path, name, packed[name])
    monkeypatch.setattr(packing, "machine_memory", lambda: 300)
    with pytest.raises(LmvizError, match="has no memory for"):
        read_raw(path)


@given(data=st.data(), name=st.sampled_from(sorted(packed)))
@settings(max_examples=60)
def test_a_damaged_one_is_read_or_refused_in_a_sentence(tmp_path_factory, data, name):
    whole = packed[name]
    cut = data.draw(st.integers(4, len(whole)))
    place = data.draw(st.integers(4, max(4, cut - 1)))
    spoilt = whole[:place] + data.draw(st.binary(max_size=3)) + whole[place + 1 : cut]
    path = written(tmp_path_factory.getbasetemp(), name, spoilt)
    try:
        found = load_corpus(path).recognised
    except LmvizError as error:
        found = str(error)
    assert found


def test_packed_texts_in_a_folder_are_found_by_name_and_content(tmp_path):
    for name in ("a.jsonl.xz", "a.parquet"):
        written(tmp_path, name, packed[name])
    written(tmp_path, "b.xz", b"\0\0\0\0")
    assert [path.name for path in find_files(tmp_path)[0]] == ["a.jsonl.xz", "a.parquet"]
