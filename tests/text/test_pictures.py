"""Pictures as they are written, and the corpus of all pictures with one or two shapes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmviz.base.errors import LmvizError
from lmviz.text.catalogue import corpus_path
from lmviz.text.corpus_options import CorpusOptions
from lmviz.text.own_corpora import SHAPES
from lmviz.text.pictures import (
    PIXELS,
    SIDE,
    is_picture,
    picture_of,
    picture_tokenizer,
    pixels_of,
)
from lmviz.text.task_reading import FoundExamples, read_examples
from lmviz.text.tokenizer import Tokenizer

EMPTY = "/".join(["......."] * 7)
DOT = "......./..#..../......./......./......./......./......."

pixels = st.lists(st.booleans(), min_size=PIXELS, max_size=PIXELS)


@given(pixels)
def test_what_is_painted_is_what_is_read(painted):
    written = picture_of(painted)
    assert pixels_of(written) == tuple(painted)
    assert picture_tokenizer().encode(written).tolist() == [int(pixel) for pixel in painted]
    digits = written.replace("#", "1").replace(".", "0")
    assert pixels_of(digits) == tuple(painted)
    assert picture_tokenizer().encode_prefix(digits).ids.tolist() == [int(pixel) for pixel in painted]


@given(st.text(alphabet="./#01x \n", max_size=80))
def test_any_other_text_is_no_picture(text):
    rows = text.strip().split("/")
    assert is_picture(text) == (
        len(rows) == SIDE and all(len(row) == SIDE and set(row) <= set(".#01") for row in rows)
    )


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        ("", "A picture has 7 rows with / between them, and '' has 1."),
        (EMPTY + "/.......", "has 8."),
        (DOT.replace("..#....", "..#..."), "Row 2 of a picture has 7 pixels, and '..#...' has 6."),
        (DOT.replace("..#", "..x"), "A pixel is # (painted) or . (blank), and row 2 has 'x'."),
    ],
)
def test_what_is_wrong_with_a_picture_is_said(picture, said):
    with pytest.raises(LmvizError) as raised:
        pixels_of(picture)
    assert said in str(raised.value)


def test_a_spoilt_line_is_named_and_the_others_are_kept():
    lines = [f"{DOT}\ta dot", "", "no tab", f"{DOT[1:]}\ta dot", f"{EMPTY}\t", f" {EMPTY} \t nothing "]
    found = read_examples([("any", "\n".join(lines).encode())], CorpusOptions(form="captions"))
    assert isinstance(found, FoundExamples)
    text = found.text
    assert text is not None
    assert text.task == "captioning"
    assert list(zip(text.sources, text.targets, strict=True)) == [(DOT, "a dot"), (EMPTY, "nothing")]
    assert found.complaints.sentences == (
        "Line 3 has not a picture and a caption with one tab between them.",
        "Line 4 has no picture. Row 1 of a picture has 7 pixels, and '......' has 6.",
        "Line 5 has not a picture and a caption with one tab between them.",
    )


def test_the_tokenizer_is_the_same_from_its_file(tmp_path):
    path = tmp_path / "tokenizer.json"
    picture_tokenizer().save(path)
    read = Tokenizer.load(path)
    assert read.json == picture_tokenizer().json
    assert read.encode(DOT).tolist() == 9 * [0] + [1] + 39 * [0]
    assert read.decode(read.encode(DOT)) == DOT.replace("/", "")


def test_each_picture_is_there_once_and_shows_what_its_caption_says():
    lines = [line.split("\t") for line in corpus_path("pictures").read_text(encoding="utf-8").splitlines()]
    assert len({picture for picture, _ in lines}) == len(lines)
    assert {word for _, caption in lines for word in caption.split()} == {*SHAPES, "above", "left", "of"}
    assert {len(caption.split()) for _, caption in lines} == {1, 3, 4}
    painted = {name: "".join(rows).count("#") for name, rows in SHAPES.items()}
    for picture, caption in lines:
        first, *relation, last = caption.split() * (2 if " " not in caption else 1)
        shown = pixels_of(picture)
        rows = [sum(shown[row * SIDE : row * SIDE + SIDE]) for row in range(SIDE)]
        columns = [sum(shown[column::SIDE]) for column in range(SIDE)]
        if not relation:
            assert sum(rows) == painted[first]
            continue
        along = rows if relation == ["above"] else columns
        assert sum(along) == painted[first] + painted[last]
        start = next(place for place, count in enumerate(along) if count)
        assert sum(along[start : start + 3]) == painted[first]
