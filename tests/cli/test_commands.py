"""The commands end to end, in this process where that shows the same."""

import math

import numpy as np
import pytest
from command_line import said, train_words
from covering import others_slow
from trained_series import transformers_series

from lmviz.cli import run
from lmviz.desktop.scene import Scene, SceneModel, save_scene
from lmviz.families import FAMILIES
from lmviz.pages.page import values_in


@pytest.mark.parametrize("family", others_slow(FAMILIES, "ngram", "transformer"))
def test_a_text_becomes_a_model_that_can_be_asked(family, small_text, tmp_path, capsys):
    out = tmp_path / "run"
    assert run(train_words(family, small_text, out, "--steps", "15", "--seed", "1", "--json")) == 0
    trained, _ = said(capsys)
    assert (trained["family"], trained["step"], trained["stopped"]) == (family, 15, "finished")
    assert trained["parameters"] > 0
    assert trained["validation_loss"] > 0

    assert run(["evaluate", str(out), str(small_text), "--json"]) == 0
    score, _ = said(capsys)
    figures = {"tokens", "negative_log_likelihood", "perplexity", "known_perplexity", "bits_per_character"}
    assert set(score) == figures | {"unknown", "unknown_share"}
    assert score["perplexity"] == pytest.approx(math.exp(score["negative_log_likelihood"]))

    assert run(["sample", str(out), "--prefix", "The cow", "--tokens", "5", "--top-k", "3", "--json"]) == 0
    sample, _ = said(capsys)
    assert sample["text"].startswith("The cow")
    assert len(sample["tokens"]) == 5
    assert all(0 < token["probability"] <= 1 and 0 <= token["draw"] < 1 for token in sample["tokens"])

    assert (
        run(["trace", str(out), "--text", "The cow eats", "--out", str(tmp_path / "trace.npz"), "--json"])
        == 0
    )
    trace, _ = said(capsys)
    assert trace["arrays"]["logits"]["axes"] == ["position", "token"]
    with np.load(tmp_path / "trace.npz") as arrays:
        assert [str(token) for token in arrays["tokens"]] == ["The", "cow", "eats"]
        assert arrays["probabilities"].sum(axis=1) == pytest.approx(1, abs=1e-4)


def test_what_a_trace_leaves_out_is_said_beside_it(small_text, tmp_path, capsys):
    out = tmp_path / "run"
    assert run(train_words("transformer", small_text, out, "--steps", "2", "--json")) == 0
    said(capsys)
    asked = ["--text", "The cow eats " * 9, "--out", str(tmp_path / "trace.npz"), "--json"]
    assert run(["trace", str(out), *asked]) == 0
    trace, told = said(capsys)
    assert trace["dropped"] == 27 - len(trace["tokens"]) > 0
    assert told.strip() == (
        f"run reads {len(trace['tokens'])} tokens at once, so the first {trace['dropped']} of this text were "
        "left out (trace.dropped): ask about a shorter text."
    )


def test_without_json_people_read_sentences(small_text, tmp_path, capsys):
    out = tmp_path / "run"
    assert run(train_words("rnn", small_text, out, "--steps", "3")) == 0
    assert run(["evaluate", str(out), str(small_text)]) == 0
    assert run(["sample", str(out), "--prefix", "The"]) == 0
    assert (
        run(["trace", str(out), "--text", "The", "--out", str(tmp_path / "t.npz"), "--taps", "*/hidden"]) == 0
    )
    assert run(["models", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert f"{out}: rnn, " in captured.out
    assert "nats per token" in captured.out
    assert "layers/0/hidden" in captured.out
    assert "logits" not in captured.out
    assert "validation" in captured.err


def test_a_probability_of_zero_is_null_in_json(small_text, tmp_path, capsys):
    out, other = tmp_path / "run", tmp_path / "other.txt"
    run(train_words("ngram", small_text, out, "--set", "smoothing=maximum-likelihood", "--steps", "2"))
    other.write_text("corn eats The cow . cow cow\n" * 2, encoding="utf-8")
    capsys.readouterr()
    assert run(["evaluate", str(out), str(other), "--json"]) == 0
    score, _ = said(capsys)
    assert score["perplexity"] is None


def test_the_lists_are_one_object_each(capsys):
    assert run(["families", "--json"]) == 0
    families = {each["name"]: each for each in said(capsys)[0]["families"]}
    assert families.keys() == FAMILIES.keys()
    assert "translation" in families["gru"]["tasks"]
    [width] = [each for each in families["lstm"]["settings"] if each["name"] == "width"]
    assert width["default"] == FAMILIES["lstm"].configuration().width
    assert run(["families", "ngram", "--json"]) == 0
    assert [each["name"] for each in said(capsys)[0]["families"]] == ["ngram"]
    assert run(["models", "--json"]) == 0
    assert isinstance(said(capsys)[0]["models"], list)
    assert run(["corpora", "--json"]) == 0
    tasks = {entry["name"]: entry["task"] for entry in said(capsys)[0]["corpora"]}
    assert tasks.items() >= {"farm": "next-token", "ambiguous": "tagging", "twin": "translation"}.items()
    run(["doctor", "--json"])
    assert {"python", "torch", "libraries"} <= {finding["name"] for finding in said(capsys)[0]["findings"]}


def test_a_loss_that_is_infinite_is_said_and_one_that_was_not_measured_is_a_dash(tmp_path, capsys):
    text, out = tmp_path / "text.txt", tmp_path / "runs" / "ml"
    text.write_text("\n".join(f"line {number} says {number * number}" for number in range(100)))
    settings = ["--set", "order=2", "--set", "smoothing=maximum-likelihood", "--set", "documents=line"]
    assert run(["train", "--corpus", str(text), "--family", "ngram", *settings, "--out", str(out)]) == 0
    assert "Validation loss ∞" in capsys.readouterr().out
    listed = []
    for forget in ((), ("metrics.jsonl",)):
        for name in forget:
            (out / name).unlink()
        assert run(["models", str(out.parent)]) == 0
        [line] = [line for line in capsys.readouterr().out.splitlines() if str(out) in line]
        listed.append(line.split())
    assert [line[3:5] for line in listed] == [["2,000", "∞"], ["2,000", "–"]]


def test_a_page_is_written_and_its_size_said(small_text, tmp_path, capsys):
    out, page = tmp_path / "run", tmp_path / "page.html"
    assert run(train_words("rnn", small_text, out, "--steps", "3")) == 0
    capsys.readouterr()
    assert run(["page", str(out), "--text", "The", "--out", str(page), "--json"]) == 0
    written, _ = said(capsys)
    assert written["bytes"] == page.stat().st_size
    assert values_in(page.read_text(encoding="utf-8"))["title"] == "The"
    assert run(["page", str(out), "--text", "The", "--steps", "all", "--out", str(page)]) == 0
    assert "It loads nothing." in capsys.readouterr().out
    for words in (["--steps", "x"], ["--heads", "1"], ["--step", "1", "--steps", "1"], []):
        text = ["--text", "The"] if words else []
        assert run(["page", str(out), *text, *words, "--out", str(page)]) == 2


def test_a_scene_becomes_a_page(tmp_path, capsys):
    scene, page = tmp_path / "a.lmviz", tmp_path / "page.html"
    save_scene(Scene(models=(SceneModel(sample="stories-gru", step=2500),), prefix="Maya owned"), scene)
    assert run(["page", str(scene), "--out", str(page)]) == 0
    values = values_in(page.read_text(encoding="utf-8"))
    assert dict(values["sections"][0]["about"])["text"] == "Maya owned"
    save_scene(Scene(), scene)
    assert run(["page", str(scene), "--out", str(page)]) == 2
    assert "shows no model" in capsys.readouterr().err


def test_a_series_of_another_program_is_one_row_with_its_steps(tmp_path, capsys):
    transformers_series(tmp_path / "theirs" / "training", steps=4)
    for folder in (tmp_path / "theirs", tmp_path / "theirs" / "training"):
        assert run(["models", str(folder), "--json"]) == 0
        rows = [row for row in said(capsys)[0]["models"] if "training" in row["name"]]
        assert [(row["family"], row["steps"], row["snapshots"]) for row in rows] == [("transformer", 4, 3)]
