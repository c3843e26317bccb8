"""A file is judged by its texts, in whatever form it has them: as it would be learned from."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import lmviz
from lmviz.models.model import EVERY_LINE, Model
from lmviz.training.judged_file import lines_in, text_in

TEXTS = [f"Maya put the {color} stone in the barrel." for color in ("green", "brown", "red")] * 4
PLAIN = "\n".join(TEXTS) + "\n"


def write_jsonl(folder: Path, texts: Sequence[str]) -> Path:
    file = folder / "texts.jsonl"
    file.write_text("\n".join(json.dumps({"id": at, "text": text}) for at, text in enumerate(texts)))
    return file


def write_json(folder: Path, texts: Sequence[str]) -> Path:
    file = folder / "texts.json"
    file.write_text(json.dumps([{"title": f"no. {at}", "text": text} for at, text in enumerate(texts)]))
    return file


def write_table(folder: Path, texts: Sequence[str]) -> Path:
    file = folder / "texts.csv"
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([["id", "text"], *enumerate(texts)])
    return file


def write_parquet(folder: Path, texts: Sequence[str]) -> Path:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = folder / "texts.parquet"
    parquet.write_table(arrow.table({"id": list(range(len(texts))), "text": list(texts)}), file)
    return file


def write_labels(folder: Path, texts: Sequence[str]) -> Path:
    file = folder / "labels.tsv"
    file.write_text("".join(f"{('good', 'bad')[at % 2]}\t{text}\n" for at, text in enumerate(texts)))
    return file


FORMS = [write_jsonl, write_json, write_table, write_parquet, write_labels]


@pytest.fixture(scope="module")
def model():
    return lmviz.open_model("stories-gru")


@pytest.mark.parametrize("write", FORMS)
def test_a_file_in_any_form_is_judged_by_its_texts_alone(
    write: Callable[[Path, Sequence[str]], Path], model: Model, tmp_path: Path
) -> None:
    file = write(tmp_path, TEXTS)
    rows = lmviz.text_set(TEXTS)
    wanted, found = lmviz.evaluate(model, rows), lmviz.evaluate(model, file)
    # a text of a set has no END behind it
    assert found.tokens == wanted.tokens + len(TEXTS)
    assert found.unknown == wanted.unknown == 0
    losses = lmviz.loss_map(model, file)
    assert losses.mean == pytest.approx(found.negative_log_likelihood, rel=1e-5)
    start, end = losses.span_of(1)
    assert losses.ids[start : end - 1].tolist() == model.tokenizer.encode_prefix(TEXTS[1]).ids.tolist()
    assert list(text_in(model, file).training_documents) == TEXTS


@pytest.mark.parametrize("write", FORMS)
def test_whatever_reads_texts_of_a_file_reads_these(
    write: Callable[[Path, Sequence[str]], Path], model: Model, tmp_path: Path
) -> None:
    file = write(tmp_path, TEXTS)
    whole = lmviz.evaluate(model, file)
    intact = lmviz.ablate(model, str(file), parts=["layers/0/hidden"], each=()).intact
    assert intact == pytest.approx(whole.negative_log_likelihood, rel=1e-5)
    of_file, of_texts = (lmviz.features_plan(model, given, size=8, k=2) for given in (file, TEXTS))
    assert of_file.read == of_texts.read
    change = lmviz.difference(model, lmviz.open_model("stories-gru", step=0), file, inside=False)
    assert np.nanmean(change.text.before) == pytest.approx(whole.negative_log_likelihood, rel=1e-5)


def test_a_model_of_lines_reads_the_texts_as_lines(model: Model, tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_bytes(PLAIN.replace("\n", "\r\n").encode())
    of_lines = lmviz.open_model("stories-gru")
    of_lines.documents = EVERY_LINE
    assert lines_in(text_in(of_lines, plain), plain) == PLAIN.replace("\n", "\r\n")
    file = write_jsonl(tmp_path, TEXTS)
    assert lines_in(text_in(of_lines, file), file) == PLAIN
    assert lmviz.evaluate(of_lines, file).tokens == lmviz.evaluate(model, file).tokens


def test_where_it_is_not_clear_which_column_has_the_texts_it_asks(model: Model, tmp_path: Path) -> None:
    file = tmp_path / "two.csv"
    rows = [["first", "second"], *([f"{text} Yes.", f"{text} No."] for text in TEXTS)]
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows(rows)
    told = lmviz.evaluate(model, file, columns="text=2")
    assert told.tokens == lmviz.evaluate(model, write_jsonl(tmp_path, [f"{t} No." for t in TEXTS])).tokens
    assert np.isfinite(told.negative_log_likelihood)
