"""An open corpus is judged by what it asks, as its file is."""

import numpy as np
import pytest

import lmviz
from lmviz.base.errors import LmvizError
from lmviz.runs.evaluating import evaluate_corpus, part_to_judge

TAGGED = "the/d cat/n runs/v\nthe/d old/n man/v the/d boats/n\nthe/d old/a man/n runs/v\ncats/n run/v\n"
REVIEWS = "good\ta fine film\nbad\ta dull film\ngood\tnot dull at all\nbad\tnot fine\n"
PAIRS = "one two\tuno dos\ntwo three\tdos tres\nthree\ttres\none three\tuno tres\n"
PLAIN = "the cat runs\nthe old man runs\nthe cats run\nthe men run\n"
MEASURES = ("accuracy", "exact_match", "bleu", "bits_per_character")
SETTINGS = {"steps": 6, "batch": 2, "width": 6, "learning_rate": 0.02, "length": 4}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    for name, text in (("tagging", TAGGED), ("classification", REVIEWS), ("translation", PAIRS)):
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
        corpus = lmviz.load_corpus(folder / f"{name}.txt", validation=0)
        assert corpus.task == name
        lmviz.train("gru", corpus, folder / name, **SETTINGS)
    (folder / "next-token.txt").write_text(PLAIN, encoding="utf-8")
    corpus = lmviz.load_corpus(folder / "next-token.txt", documents="line", validation=0)
    lmviz.train("gru", corpus, folder / "next-token", **SETTINGS)
    return folder


@pytest.mark.parametrize("task", ["tagging", "classification", "translation", "next-token"])
def test_a_corpus_is_judged_as_its_file_is(folder, task):
    model = lmviz.open_model(folder / task)
    options = {"documents": "line"} if task == "next-token" else {}
    corpus = lmviz.load_corpus(folder / f"{task}.txt", validation=0, **options)
    heard = []
    found = evaluate_corpus(model, corpus, "training", heard.append)
    wanted = lmviz.evaluate(model, folder / f"{task}.txt")
    assert found.tokens == wanted.tokens > 0
    assert found.negative_log_likelihood == pytest.approx(wanted.negative_log_likelihood, rel=1e-6)
    assert heard[-1] == pytest.approx(1.0)
    measures = [name for name in MEASURES if hasattr(wanted, name)]
    assert measures
    for name in measures:
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-6), name
    if task == "tagging":
        np.testing.assert_array_equal(found.confusion, wanted.confusion)


def test_a_model_is_not_judged_on_another_task(folder):
    tagged = lmviz.load_corpus(folder / "tagging.txt", validation=0)
    for task in ("classification", "translation"):
        with pytest.raises(LmvizError, match=r"read for tagging"):
            evaluate_corpus(lmviz.open_model(folder / task), tagged, "training")


def test_what_is_held_out_is_judged_and_few_examples_as_they_are(folder):
    def part(task, validation, **options):
        return part_to_judge(lmviz.load_corpus(folder / f"{task}.txt", validation=validation, **options))

    assert part("tagging", 0.5) == "validation"
    assert part("tagging", 0) == "training"
    assert part("next-token", 0, documents="line") is None
    assert part("next-token", 0.5, documents="line") == "validation"
