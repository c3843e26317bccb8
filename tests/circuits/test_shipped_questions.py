"""Questions as text files: each that comes with lmviz can be asked, and one's own lie beside them."""

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.circuits.patching import patch
from lmviz.circuits.shipped_questions import (
    is_question,
    open_question,
    own_folder,
    read_question,
    shipped_questions,
)

QUESTION = "title: Two words\ntext: the cat\nchanged: the dog\nmeasure: logit:sat-ran\n"


def test_of_each_task_of_the_sample_models_there_is_one_whose_texts_differ_in_the_answer():
    asked = {"stories-transformer", "ambiguous-gru-both", "reviews-lstm", "twin-gru-attention-short"}
    for name in asked:
        [question] = [question for question in shipped_questions() if question.is_for(name, is_foreign=False)]
        effect = patch(lmviz.open_model(name), question.contrast)
        assert effect.clean - effect.changed > 1, question.title
        assert effect.clean > 0 > effect.changed, question.title


def test_the_model_that_repeats_is_asked_for_both_of_its_heads():
    asked = [
        question for question in shipped_questions() if question.is_for("echo-transformer", is_foreign=False)
    ]
    strongest = []
    for question in asked:
        found = patch(lmviz.open_model("echo-transformer"), question.contrast, "layers/*/attention/heads")
        assert found.clean > 1 > found.changed
        strongest.append({tuple(at) for at in np.argwhere(found.array > 0.5).tolist()})
    assert strongest == [{(1, 2)}, {(0, 1), (1, 2)}]


def test_checkpoints_of_other_programs_are_asked_in_their_language():
    english = [question.title for question in shipped_questions() if question.language == "English"]
    assert len(english) == 3
    for_all = [question for question in shipped_questions() if question.is_for("SmolLM2", is_foreign=True)]
    assert [question.title for question in for_all] == english


def test_ones_own_lie_in_a_folder_and_what_is_none_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("LMVIZ_DATA", str(tmp_path))
    own_folder().mkdir()
    before = len(shipped_questions())
    (own_folder() / "mine.txt").write_text(QUESTION)
    (own_folder() / "broken.txt").write_bytes(b"\xff\xfe no question")
    [*_, last] = shipped_questions()
    assert len(shipped_questions()) == before + 1
    assert last.title == "Two words"
    assert last.contrast == lmviz.contrast("the cat", "the dog", measure="logit:sat-ran")
    assert last.is_for("anything", is_foreign=False)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (QUESTION, True),
        ("# by me\n\n" + QUESTION, True),
        (QUESTION.replace("measure: ", "mesure: "), True),  # badly written, and still meant as one
        ("Once upon a time\n" + QUESTION, False),
        ("title: The cat\nThe cat sat.\n", False),
        (QUESTION + "The cat sat.\n" * 60, False),
        ("", False),
    ],
)
def test_a_file_is_told_from_a_text_by_its_form(tmp_path, text, is_one):
    path = tmp_path / "mine.txt"
    path.write_text(text, encoding="utf-8")
    assert is_question(path) == is_one
    assert not is_question(path.rename(tmp_path / "mine.csv"))
    assert not is_question(tmp_path)


def test_what_is_no_text_is_no_question(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_bytes(b"title: a\ntext: \xff\nmeasure: b")
    assert not is_question(path)
    with pytest.raises(LmvizError, match="choose a short text in UTF-8"):
        open_question(path)


def test_blanks_before_a_token_are_kept():
    question = read_question(QUESTION.replace("logit:sat-ran", "logit: sat- ran"))
    assert question.contrast.measure == "logit: sat- ran"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("title: one\nhello\n", "mine: line 2 is none of “title: …”"),
        (QUESTION.replace("measure", "#"), "mine has no line “measure: …”"),
        (QUESTION.replace("changed", "#"), "mine must change either the text or the source"),
        (QUESTION + "changed source: a\n", "either the text or the source"),
    ],
)
def test_a_file_that_is_no_question_says_why(text, sentence):
    with pytest.raises(LmvizError, match=sentence):
        read_question(text, "mine")
